// The part of the kernel contract that is over arrays, and over lists whose values lie one behind the other.

import type { Address } from '../base/layout.js';

/**
 * Kernels over any number of texts of arrays (`model/array-text.ts`), by reference as the text kernels take them, and over lists: the values of list i
 * are those from starts[i] - starts[0] to starts[i + 1] - starts[0] (u32). A value is a number of 64 bits, of which bits tell the nulls, or a text.
 * Lists are null where bits `nulls` say so (0: none is). Behind separators and words 16 bytes are readable.
 */
export interface ArrayKernels {
  /** starts[0 .. n] of the elements of all texts, from 0 on; a null has none. `numbers` is 1 where all are arrays of numbers. Returns how many there are. */
  readonly arrayStarts: (texts: Address, n: number, numbers: number, starts: Address) => number;
  /** The elements of arrays of LONGs, or where `doubles` is 1 DOUBLEs, and the bits of those that are null (whole words). Returns how many these are; -1 where a text is no such array. */
  readonly arrayNumbers: (texts: Address, n: number, doubles: number, numbers: Address, nulls: Address) => number;
  /** The elements of arrays of strings: parts of the same bytes, but those whose 0 and 1 are written as two. Wide exactly where a byte is beyond ASCII. */
  readonly arrayStrings: (texts: Address, n: number, out: Address, buffer: Address) => void;
  /** Arrays of strings: text of each list. Wide where a string is. */
  readonly arrayTexts: (starts: Address, texts: Address, n: number, nulls: Address, out: Address, buffer: Address) => void;
  /** The texts of each list, `word` for null, with the separator between them; a list of one null is null. Wide where a text, or a separator in it, is. */
  readonly listJoin: (
    starts: Address,
    texts: Address,
    n: number,
    nulls: Address,
    separator: Address,
    separatorBytes: number,
    word: Address,
    wordBytes: number,
    out: Address,
    buffer: Address,
  ) => void;
  /** The 64 bits of the value at a place of each list, 0 where there is none; `absent` (0: not wanted) i64: 1 where there is none, or it is null (bits `nulls`), else 0. */
  readonly listPick: (starts: Address, values: Address, nulls: Address, n: number, place: number, out: Address, absent: Address) => void;
  /** i64 place of the first value of each list whose bit is set; -1 for none. */
  readonly listFirst: (starts: Address, bits: Address, n: number, out: Address) => void;
  /** u32 `row` + i for each value of list i. */
  readonly listRows: (starts: Address, n: number, row: number, out: Address) => void;
}
