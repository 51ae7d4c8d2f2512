// Blocks of input rows on their way from a reader to column builders.

import type { KernelMemory } from '../../kernels/memory.js';
import type { FrameColumn } from '../../model/frame.js';
import type { PackedColumn } from '../../storage/columns/packed-column.js';
import type { RowPlace } from '../report/row-place.js';

/**
 * Some hundred rows of input, in columns, on their way from a format's reader to the column builders. Its memory
 * belongs to the reader: it is valid until the next block is asked for.
 */
export type InputBlock = (TextBlock | ValueBlock) & {
  /** Columns that have one value in all rows, which discovery does not find; they come before others of their names. */
  readonly constants?: ReadonlyMap<string, string>;
  /** Whether `__time` has the rows' times in milliseconds, whatever the timestampSpec says. */
  readonly hasOwnTimes?: true;
  /** Why rows cannot be stored though their format could read them: such as text that is not UTF-8; absent: all can. */
  readonly faults?: RowFaults;
  /** Line of the content that a row begins in, from 1; absent: it has no lines. It outlives the block. */
  readonly lineOf?: (row: number) => number;
  /** Place of a row in the input, set by whoever counts the records of it; absent: nobody does. It outlives the block. */
  placeOf?: (row: number) => RowPlace;
};

/** Reasons by the numbers of rows in their block. */
export type RowFaults = ReadonlyMap<number, string>;

/** Fields as they stand in the file: row i of column c is `bytes[starts[c][i] .. ends[c][i])`, UTF-8. */
export interface TextBlock {
  readonly kind: 'text';
  readonly rowCount: number;
  readonly columns: readonly string[];
  readonly bytes: Uint8Array;
  /** Memory that the bytes, starts and ends lie in; null: none of kernels. */
  readonly memory: KernelMemory | null;
  readonly starts: readonly Int32Array[];
  /** -1: the field is null (missing, or empty without quotes). */
  readonly ends: readonly Int32Array[];
  /** Splits a field into several values; null: never. */
  readonly listDelimiter: string | null;
  /** Whether a field may be a number where nobody says what it is. */
  readonly tryParseNumbers: boolean;
  /** The row as text, for reports. */
  sample(row: number): string;
}

/** Values as `JSON.parse` makes them; a long beyond 2^53 is a bigint. Missing is `undefined` or null. */
export interface ValueBlock {
  readonly kind: 'values';
  readonly rowCount: number;
  /** Every name that some row has. */
  readonly columns: readonly string[];
  /** One per row. */
  values(column: string): readonly unknown[];
  /** The same values as a typed column, where the reader has one. */
  readonly typed?: (column: string) => TypedColumn | undefined;
  /** The same values as they stand in JSON, where the reader has them. */
  readonly members?: (column: string) => Members | undefined;
  /** The row as its format read it, before it was flattened. */
  record(row: number): Readonly<Record<string, unknown>>;
  sample(row: number): string;
}

export type TypedColumn = FrameColumn | PackedColumn;

/** The members of one name in rows of JSON: of row i `bytes[starts[i] .. ends[i])`, of a string without its quotes. */
export interface Members {
  readonly bytes: Uint8Array;
  /** Memory that they lie in, as in `TextBlock`. */
  readonly memory: KernelMemory | null;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** `FIELD` of the kernels' contract; another number: only `value` tells. */
  readonly kinds: Uint8Array;
  /** The value of a row, as in `ValueBlock`. */
  value(row: number): unknown;
}

/**
 * Told of every row that its reader could not make sense of, in their order; throws once there are too many.
 * @param before  rows that stand before it in the block that comes next; none, unless given
 * @param line    line of the content that it begins in, from 1
 */
export type RejectRow = (reason: string, sample: string, before?: number, line?: number) => void;
