// Types of the columns that a native query names.

import { ServiceError } from '../../../base/errors.js';
import type { Expression } from '../../../model/expression.js';
import type { ColumnType } from '../../../model/schema.js';

/** The type of a column where it is known; undefined otherwise. Comparisons with numbers are then made as numbers. */
export type ColumnTypes = (name: string) => ColumnType | undefined;

/** The columns a filter reads, and those that it needs computed. */
export interface FilterColumns {
  readonly typeOf: ColumnTypes;
  /** A virtual column for an expression, whose name is given back. `keeps`: as in `VirtualColumn`. */
  compute(expression: Expression, keeps?: Expression): string;
  /** Whether the name is that of an expression which gives arrays, and whose type the query does not state. */
  isComputedArray(name: string): boolean;
}

/** Columns of which none can be computed: outside of queries, and over the rows of a result. */
export function givenColumns(typeOf: ColumnTypes): FilterColumns {
  return {
    typeOf,
    compute() {
      throw new ServiceError('unsupported', 'extraction functions are supported in the filters of queries and aggregators only');
    },
    isComputedArray: () => false,
  };
}
