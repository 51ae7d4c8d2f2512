// The part of the kernel contract that is over lists of values by group.

import type { Address } from '../base/layout.js';
import type { ArrayKernels } from './array-contract.js';
import type { StretchKernels } from './stretch-contract.js';

/**
 * Kernels over entries of lists, in any number. An entry is a key of one word: a group (low half) and the id of a string (high half),
 * of which 0 is null; or of two: a group, in the high half 1 where its number is null, then the 64 bits of the number. `strings`: {u32 address,
 * u32 bytes} by id. The rows of list g are those of its entries, rows[starts[g] .. starts[g + 1]), as `joinLists` writes them.
 */
export interface ListKernels extends ArrayKernels, StretchKernels {
  /**
   * state[group], {u32 elements, u32 bytes}, grows by each entry: a number and a null have 8 bytes, and bytes stay below 2 ** 32. `most`, of the
   * same form, takes the largest of both that an entry leads to.
   */
  readonly listSizes: (keys: Address, n: number, words: number, strings: Address, state: Address, most: Address) => void;
  /** Orders the rows of lists [0, count): null first, strings by code units, numbers as LONGs. No two entries of a list are equal. */
  readonly listSort: (keys: Address, words: number, strings: Address, starts: Address, count: number, rows: Address) => void;
  /**
   * The text of the list of each of n groups, null of an empty one; wide where it has strings. Form 0: the strings, a null empty, with the separator between
   * them; 1: an array of strings; 2: of LONGs; 3: of DOUBLEs, as `model/array-text.ts` writes them. Behind the separator 16 bytes are readable, behind the texts 16 are
   * writable.
   */
  readonly listTexts: (
    keys: Address,
    words: number,
    strings: Address,
    starts: Address,
    rows: Address,
    groups: Address,
    n: number,
    form: number,
    separator: Address,
    separatorBytes: number,
    out: Address,
    buffer: Address,
  ) => void;
}
