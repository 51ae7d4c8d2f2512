// Filters of a plan.

import type { Expression } from './expression.js';
import type { ColumnType } from './schema.js';
import type { FilterValue, ValueList } from './value-list.js';

export type StringOrdering = 'lexicographic' | 'alphanumeric' | 'numeric' | 'strlen' | 'version';

/**
 * A predicate over rows, three-valued as in SQL: a comparison with a null row is unknown, and NOT of unknown stays
 * unknown. Evaluated two-valued by carrying `includeUnknown` downwards and flipping it at every `not`.
 * `column` may name a virtual column. A multi-value row matches when any of its values does.
 */
export type Filter =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | { readonly kind: 'and'; readonly filters: readonly Filter[] }
  | { readonly kind: 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  /** True where `filter` is, else false: never unknown. */
  | { readonly kind: 'isTrue'; readonly filter: Filter }
  | { readonly kind: 'null'; readonly column: string }
  /** `type` is the type the comparison is made in; values are converted to it once, when the filter is bound. */
  | { readonly kind: 'equals'; readonly column: string; readonly type: ColumnType; readonly value: FilterValue }
  | { readonly kind: 'in'; readonly column: string; readonly type: ColumnType; readonly values: ValueList }
  | {
      readonly kind: 'range';
      readonly column: string;
      readonly type: ColumnType;
      readonly ordering: StringOrdering;
      readonly lower: FilterValue;
      readonly upper: FilterValue;
      readonly lowerStrict: boolean;
      readonly upperStrict: boolean;
    }
  | { readonly kind: 'like'; readonly column: string; readonly pattern: string; readonly escape: string | null }
  | { readonly kind: 'expression'; readonly expression: Expression };
