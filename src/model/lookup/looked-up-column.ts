// A column made of a stored one by way of lookups.

import type { Expression } from '../expression.js';

/** The values that an expression with lookups in it makes of those of a stored column: always the same ones. */
export interface LookedUpColumn {
  /** Equal for equal expressions, and unlike any stored column. */
  readonly name: string;
  readonly column: string;
  /** Reads the column alone. */
  readonly expression: Expression;
}

/** A looked-up column that is there beside the stored ones. */
export interface LookedUpFound {
  /** Whether some row has several values. */
  readonly isMultiValue: boolean;
}
