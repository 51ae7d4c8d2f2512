// The part of the kernel contract that is over arrays, and over lists whose values lie one behind the other.

import type { Address } from '../base/layout.js';

/**
 * Kernels over any number of texts of arrays (`model/array-text.ts`), by reference as the text kernels take them, and over lists: the values of list i
 * are those from starts[i] - starts[0] to starts[i + 1] - starts[0] (u32). A value is a number of 64 bits, of which bits tell the nulls, or a text.
 * Lists are null where bits `nulls` say so (0: none is). Behind separators and words 16 bytes are readable.
 */
export interface ArrayKernels extends MadeListKernels {
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

/** Lists that are made of others, and arrays of numbers, in the same form. */
export interface MadeListKernels {
  /** Arrays of LONGs, or where `doubles` is 1 DOUBLEs: text of each list, of which bits `listNulls` tell the nulls. */
  readonly arrayNumberTexts: (
    starts: Address,
    numbers: Address,
    nulls: Address,
    n: number,
    listNulls: Address,
    doubles: number,
    out: Address,
    buffer: Address,
  ) => void;
  /**
   * u32 out[0 .. n], from 0 on: the lists of just `size` values (0xffffffff: of all that there are) from place `from` of each list on. A null list has none.
   * Returns how many there are; below 2 ** 32.
   */
  readonly sliceStarts: (starts: Address, n: number, nulls: Address, from: number, size: number, out: Address) => number;
  /** The values of the lists that `sliceStarts` has made, null behind the last of a list, and the bits of the nulls (whole words; 0: not wanted). Returns how many these are; texts are null behind the last alone. */
  readonly sliceValues: (
    starts: Address,
    values: Address,
    nulls: Address,
    n: number,
    from: number,
    made: Address,
    out: Address,
    outNulls: Address,
  ) => number;
  /**
   * The same of lists that have the values of each of several sources, {u32 starts, values, nulls, offset} each: the values of a list lie `offset` behind where starts[0]
   * says; without starts (0) value i is all that there is. Bits `nulls` tell the lists that are null.
   */
  readonly concatStarts: (sources: Address, count: number, n: number, nulls: Address, out: Address) => number;
  /** The values of the lists that `concatStarts` has made, like `sliceValues`. */
  readonly concatValues: (sources: Address, count: number, n: number, made: Address, out: Address, outNulls: Address) => number;
}
