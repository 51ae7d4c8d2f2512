// Remembers what rewritten tokens meant, by their offset.

import type { SqlType } from '../../../model/statement.js';
import type { ExternColumn, SqlExpression } from './syntax.js';

/**
 * The meaning of an edit, keyed by source offset. Without it a user's own `FLOOR(x, DAY)` would look like
 * `FLOOR(x TO DAY)` once rewritten.
 */
type Mark =
  /** At FLOOR, CEIL: the call's last argument is this unit. At EXTRACT: the unit to extract. */
  | { readonly kind: 'unit'; readonly unit: string }
  /** At INTERVAL. */
  | { readonly kind: 'interval'; readonly from: string; readonly to: string | null }
  /** At a function's name: it is called by another one. */
  | { readonly kind: 'function'; readonly name: string; readonly swapped: boolean }
  /** At JSON_VALUE: the type of RETURNING. */
  | { readonly kind: 'returning'; readonly type: SqlType }
  /** At a string: its real value. */
  | { readonly kind: 'text'; readonly value: string }
  /** At VALUES: all of its rows, of literals. */
  | { readonly kind: 'rows'; readonly rows: readonly (readonly SqlExpression[])[] }
  /** At the first item of an IN list of literals: all of its items. */
  | { readonly kind: 'items'; readonly items: readonly SqlExpression[] }
  /** At the first token of a chain of conditions: all of it. */
  | { readonly kind: 'condition'; readonly expression: SqlExpression }
  /** At the unit of a frame: GROUPS. */
  | { readonly kind: 'groups' }
  /** At the first word after NATURAL. */
  | { readonly kind: 'natural' }
  /** At EXTERN. */
  | { readonly kind: 'columns'; readonly columns: readonly ExternColumn[] };

export type Marks = Map<number, Mark>;
