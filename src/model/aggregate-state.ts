// Settings of aggregators that keep a state of more than one number.

import type { Expression } from './expression.js';
import type { ColumnType, TextType } from './schema.js';

/**
 * Settings of an aggregator whose state per group is more than one number. Plain data; `columns` of the
 * aggregator are what it reads, in the order named here.
 */
export type AggregateState =
  /**
   * [value, time] → the value at the smallest or largest time. Nulls are values, rows without a time do not count. At
   * equal times the smallest (`first`) or largest (`last`) value that is not null wins, so that the answer does not
   * depend on the order of rows. Without a time column all times are equal: any value, namely the smallest. Several
   * values of a row are one text, or with `firstOnly` the first of them counts.
   */
  | { readonly type: 'first' | 'last'; readonly valueType: ColumnType; readonly maxStringBytes: number; readonly firstOnly?: true }
  /** [text] → the smallest or largest text or array; nulls do not count, of a row of several values each does. */
  | { readonly type: 'min' | 'max'; readonly valueType: TextType }
  /** [instant in ms] → the earliest or latest, as ISO 8601; nulls do not count. */
  | { readonly type: 'timeMin' | 'timeMax' }
  /** [number] → count, mean and squared deviations; nulls do not count. */
  | { readonly type: 'moments'; readonly result: 'mean' | 'populationVariance' | 'sampleVariance' }
  /** [number] → the exact sum, rounded once, or the mean of it; nulls do not count. */
  | { readonly type: 'exactSum'; readonly result: 'DOUBLE' | 'FLOAT' | 'mean' }
  /** [column] → about how many distinct values; nulls do not count, every value of a row does. `round`: a LONG, else a DOUBLE. */
  | {
      readonly type: 'hll';
      readonly lgK: number;
      readonly target: 4 | 6 | 8;
      readonly round: boolean;
      readonly stringEncoding: 'utf8' | 'utf16le';
    }
  /** The same over the values of all columns together, or over their combinations, of which null may be a part. */
  | { readonly type: 'cardinality'; readonly byRow: boolean; readonly round: boolean }
  /** [column] → about how many distinct values, as a set that can be intersected with others. `size`: a power of 2. */
  | { readonly type: 'theta'; readonly size: number }
  /** [number] → how many values, or the quantile at the fraction, NaN of no values; post-aggregators ask for quantiles. */
  | { readonly type: 'quantiles'; readonly k: number; readonly fraction?: number }
  | { readonly type: 'kll'; readonly k: number; readonly valueType: 'DOUBLE' | 'FLOAT' }
  /** [column, number ...] → about how many distinct values, each with the sums of `width` numbers. `size`: a power of 2. */
  | { readonly type: 'tuple'; readonly size: number; readonly width: number }
  /** [number] → counts by `buckets` buckets of one width, or bytes. Values beyond a limit count together; null: no limit. */
  | {
      readonly type: 'histogram';
      readonly resolution: number;
      readonly buckets: number;
      readonly lower: number | null;
      readonly upper: number | null;
      readonly asBytes: boolean;
    }
  /** [number] → counts by the buckets given, and of nulls; or bytes. */
  | {
      readonly type: 'fixedHistogram';
      /** Buckets of one width over [lower, upper); values outside are left out, counted apart, or at the nearer end. */
      readonly shape: {
        readonly lower: number;
        readonly upper: number;
        readonly number: number;
        readonly outliers: 'ignore' | 'overflow' | 'clip';
      };
      readonly asBytes: boolean;
    }
  /** [number] → counts between the bounds given; nulls do not count. */
  | { readonly type: 'breaksHistogram'; readonly breaks: readonly number[] }
  /** [value] → the value of the only row, null included; a second row is an error. */
  | { readonly type: 'single'; readonly valueType: ColumnType }
  /** [column] → a Bloom filter of its values, null among them, made for so many `entries`. */
  | { readonly type: 'bloom'; readonly entries: number }
  /**
   * [value, key ...] → the values in the order of the keys, as a list of `listType`: all of them, or each once; arrays put
   * together where it `flattens` them. `finalize` makes the result of the list, `o`.
   */
  | {
      readonly type: 'list';
      readonly order: readonly { readonly descending: boolean; readonly nulls: 'first' | 'last' }[];
      readonly distinct: boolean;
      readonly flattens: boolean;
      readonly listType: ColumnType;
      readonly finalize: Expression | null;
      readonly resultType: ColumnType;
      /** Size limit of the values. */
      readonly maxBytes: number;
    }
  | ExpressionFold;

/**
 * [fields ...] → what `fold` makes of the accumulator and the fields of a row, row by row; `combine` of the accumulator and
 * the result of other rows, which has the aggregator's name; `finalize` of the result, `o`.
 */
export interface ExpressionFold {
  readonly type: 'expression';
  readonly name: string;
  readonly fields: readonly string[];
  readonly accumulator: string;
  readonly fold: Expression;
  readonly combine: Expression;
  readonly finalize: Expression | null;
  /** Comparison of unfinalized results `o1` and `o2`: below 0, 0 or above 0; null: they compare as values do. */
  readonly compare: Expression | null;
  readonly initial: Expression;
  readonly initialCombine: Expression;
  /** Type of the accumulator and of the result. */
  readonly valueType: ColumnType;
  readonly resultType: ColumnType;
  readonly isNullUnlessAggregated: boolean;
  /** Whether rows with a null among their fields take part; and results that are null. */
  readonly foldsNulls: boolean;
  readonly combinesNulls: boolean;
  /** Size limit of an accumulator that is a string or a list. */
  readonly maxBytes: number;
}

/** Name of the column in which a `state` aggregator puts out its state beside its value. */
export function stateColumn(name: string): string {
  return `${STATE_PREFIX}${name}`;
}

/** Whether a column is there for aggregators to read, not for people. */
export function isStateColumn(name: string): boolean {
  return name.startsWith(STATE_PREFIX);
}

const STATE_PREFIX = '$state of ';
