// The part of the kernel contract that takes input text apart.

import type { Address } from '../base/layout.js';

/** Kinds of the members of a row that `scanJson` finds; 0: the row has none of that name. */
export const FIELD = { missing: 0, null: 1, string: 2, escapedString: 3, number: 4, true: 5, false: 6, nested: 7 } as const;

/** Words of the state of `scanJson`, u32. */
export const SCAN_STATE = {
  /** Position of the next line; before and after a call. */
  at: 0,
  nameCount: 1,
  /** Position of a name that is not among the names, and behind it; 0 and 0: there was none. */
  unknownStart: 2,
  unknownEnd: 3,
  /** Number of the rows looked at so far; never decreases. */
  stamp: 4,
  /** Rows of an earlier call that are there already; the next one follows them. */
  rows: 5,
  words: 6,
} as const;

/** Bytes of a name's record {u32 start in `nameBytes`, u32 length, u32 guess, u32 stamp}; a new one has guess 0 and stamp 0. */
export const NAME_RECORD_BYTES = 16;

/** Guess of a name whose rows are odd. */
export const ODD_NAME = 0xffffffff;

/** Bit of a row's end: the row is left to the host. */
export const ODD_ROW = 0x80000000;

/** Objects and lists within a member; a row with more is odd. */
export const SCAN_DEPTH_MAX = 32;

export interface ScanKernels {
  /**
   * Lines of JSON to rows of fields, from state.at on until `length`, or `rowsMax` rows, or a name that is not among the names: then
   * state.at is the beginning of its row, and state.unknown the bytes between its quotes. Returns the number of rows, with state.rows that were there. Positions count from
   * `bytes`, which are UTF-8, at most 2^31 of them, and readable 16 bytes past `length`, where a line feed stands.
   *
   * `rows`: {u32 start, u32 end} each. A row whose end has the bit ODD_ROW is left to the host, its fields undefined: lines that are not
   * exactly one JSON object, have a name twice, with an escape, or that is an ODD_NAME, a member nested deeper than SCAN_DEPTH_MAX, or an
   * integer of 16 digits and more beside or within an object or list. Blank lines (spaces, tabs, carriage returns) are no rows.
   *
   * `fields` of name c lie at fields + c * rowsMax * 9: i32 starts, i32 ends, u8 kinds (`FIELD`) of `rowsMax` rows. Of a string the bytes
   * between its quotes. A row without the name is not written to: the host puts -1 and `missing` there before. `rowsMax` is a multiple of 64.
   */
  readonly scanJson: (
    bytes: Address,
    length: number,
    state: Address,
    nameBytes: Address,
    names: Address,
    rows: Address,
    fields: Address,
    rowsMax: number,
  ) => number;
}
