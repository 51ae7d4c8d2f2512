// Schema that the SQL planner reads.

import type { ColumnSchema } from '../../../model/schema.js';
import type { AccessedTable } from '../../table-access.js';
import type { SystemRows, SystemTableName } from './system-schema.js';

/** Schema of the served datasources, for planning; the broker's `SchemaSource` implements it. */
export interface SqlSchema {
  tables(): readonly string[];
  /** Names of the tables that the reader may not read; `table` says so of each. Left out: none. */
  forbidden?(): readonly string[];
  table(name: string): SqlTable | undefined;
  /** Names of the lookups that are loaded; left out: none. */
  lookups?(): readonly string[];
  /** Rows of a table of `sys`; left out where statements cannot read them. */
  systemRows?(table: SystemTableName): SystemRows;
}

/** `__time` first. */
export interface SqlTable extends AccessedTable {
  readonly columns: readonly ColumnSchema[];
  /** Number of rows, if known. */
  readonly rowCount?: number;
}
