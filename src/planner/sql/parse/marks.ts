// Remembers what rewritten tokens meant, by their offset.

import type { SqlType } from '../../../model/statement.js';
import type { ExternColumn, SqlExpression } from './syntax.js';

/**
 * The meaning of an edit, keyed by source offset. Without it a user's own `FLOOR(x, DAY)` would look like
 * `FLOOR(x TO DAY)` once rewritten.
 */
type Mark =
  /** On FLOOR and CEIL: the call's last argument is this unit. On EXTRACT: the unit to extract. */
  | { readonly kind: 'unit'; readonly unit: string }
  /** On INTERVAL: its units. */
  | { readonly kind: 'interval'; readonly from: string; readonly to: string | null }
  /** On a function's name: the name that it stands for. */
  | { readonly kind: 'function'; readonly name: string; readonly swapped: boolean }
  /** On JSON_VALUE: the type of RETURNING. */
  | { readonly kind: 'returning'; readonly type: SqlType }
  /** On a string: its real value. */
  | { readonly kind: 'text'; readonly value: string }
  /** On VALUES: all of its rows, which are literals. */
  | { readonly kind: 'rows'; readonly rows: readonly (readonly SqlExpression[])[] }
  /** On the first item of an IN list of literals: all items. */
  | { readonly kind: 'items'; readonly items: readonly SqlExpression[] }
  /** On the first token of a chain of conditions: the whole chain. */
  | { readonly kind: 'condition'; readonly expression: SqlExpression }
  /** On the unit of a frame: GROUPS. */
  | { readonly kind: 'groups' }
  /** On the first word after NATURAL. */
  | { readonly kind: 'natural' }
  /** On EXTERN: its columns. */
  | { readonly kind: 'columns'; readonly columns: readonly ExternColumn[] };

export type Marks = Map<number, Mark>;
