// A stored column whose values are looked up.

import type { LookupTable } from './lookup-table.js';

/** Values of a stored column as a lookup maps them. */
export interface LookedUpColumn {
  /** Unlike any other, whatever the columns and lookups. */
  readonly name: string;
  readonly column: string;
  readonly table: LookupTable;
  /** The value of null, and of what is not among the keys. */
  readonly missing: string | null;
}
