// Views of an open segment's columns.

import { ETERNITY, type Interval } from '../base/instant.js';
import type { Address, Physical } from '../base/layout.js';
import type { NumberType, TextType } from '../model/schema.js';

/*
 * Addresses of an open segment's columns in kernel memory: plain data, sent to processing threads as it is. Valid while
 * the pin it came with is held.
 */

/** The rows of a segment as a whole. */
export interface SegmentRows {
  readonly id: string;
  readonly dataSource: string;
  readonly interval: Interval;
  readonly rowCount: number;
  /** Time range of the rows, both ends inclusive. */
  readonly timeMin: number;
  readonly timeMax: number;
}

export interface SegmentView extends SegmentRows {
  /** Set by execution: rows for which conditions of the plan's filter are true, since an index has answered them. */
  readonly selection?: RowSelection;
  /** Set by execution, where the rows are those of several segments: ids of strings in the query by those in their column, for what rows have. */
  readonly queryIds?: Readonly<Record<string, Address>>;
  /** Only the columns that were asked for and exist. `__time` is a number column sorted ascending. */
  readonly columns: Readonly<Record<string, ColumnView>>;
}

/** A view of no segment, to be given rows that come from elsewhere. */
export const NO_ROWS: SegmentView = {
  id: '',
  dataSource: '',
  interval: ETERNITY,
  rowCount: 0,
  timeMin: ETERNITY.start,
  timeMax: ETERNITY.end,
  columns: {},
};

export interface RowSelection {
  /** Positions among the parts of the filter, when it is an `and`; else 0. */
  readonly answered: readonly number[];
  /** Ascending. */
  readonly rows: Uint32Array;
}

export type ColumnView = NumberColumnView | StringColumnView;

export interface NumberColumnView {
  readonly kind: 'number';
  readonly type: NumberType;
  /** LONG: U8, U16, U32 (with `base`) or I64 (base 0). FLOAT: F32. DOUBLE: F64, or as narrow integers (`power`). */
  readonly physical: Physical;
  /** DOUBLE in U8, U16 or U32: the value is (base + stored) / 10^power, exactly what was written. Else 0. */
  readonly power: number;
  readonly values: Address;
  readonly base: bigint;
  /** Bit i set: row i is null and its stored value 0. 0 when the column has no nulls. 64-bit words, lowest bit first. */
  readonly nulls: Address;
  /** Minimum of the non-null values that were uploaded, a bound for some of them; null when there are none. bigint for LONG, otherwise number. */
  readonly min: bigint | number | null;
  readonly max: bigint | number | null;
  /** The rows are some of those that `min` and `max` were found of: no row need have either. */
  readonly isPart?: true;
  /** Two numbers per block, [min, max] as f64 (rounded outwards for LONG); +Infinity/-Infinity for a block of nulls. 0: absent. */
  readonly blockRanges: Address;
}

export interface StringColumnView {
  readonly kind: 'string';
  /** Type that the strings of the dictionary stand for. */
  readonly type: TextType;
  readonly physical: 'U8' | 'U16' | 'U32';
  /** Dictionary ids: one per row, or the concatenated values when `offsets` is not 0. */
  readonly ids: Address;
  /** Multi-value only: u32[rowCount + 1] into `ids`; an empty range is null. Else 0. */
  readonly offsets: Address;
  readonly dictionary: DictionaryView;
  /** The rows are some of those that the dictionary was made for: not every entry has a row. */
  readonly isPart?: true;
}

/** Distinct values, each of some row, sorted as JS compares strings (UTF-16 code units); null, when present, is id 0. */
export interface DictionaryView {
  readonly count: number;
  readonly hasNull: boolean;
  /** u32[count + 1] relative to `bytes`; null takes no bytes. */
  readonly offsets: Address;
  /** UTF-8. */
  readonly bytes: Address;
}

/**
 * Datasource-wide ids of one string column, shared by all its segments: `globalId = remap[localId]`. Append-only:
 * an id never changes while any segment of the datasource is open. Not sorted. Id 0 is always null.
 */
export interface GlobalDictionaryView {
  readonly count: number;
  /** {u32 address, u32 length}[count] of UTF-8. */
  readonly entries: Address;
  /** Remaps by segment id of the query: u32[local count]. */
  readonly remaps: Readonly<Record<string, Address>>;
}
