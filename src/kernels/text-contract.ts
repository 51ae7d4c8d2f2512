// The part of the kernel contract that is over texts.

import type { Address } from '../base/layout.js';

/**
 * Kernels over texts by reference, any number. A text is a u64: the address of its UTF-8 in the low half, its bytes in
 * the 31 bits above, bit 63 where a byte may be beyond ASCII ("wide"; never clear where one is). Null is 0. Positions and
 * lengths count UTF-16 code units. `buffer` takes the bytes of new texts, in order, and is writable 16 bytes past them.
 */
export interface TextKernels {
  /** Texts of packed strings (as above): of entry ids[i] (u32), or of entry i where `ids` is 0; entry 0 is null where `hasNull` is 1. Wide exactly where a byte is beyond ASCII; returns how many have a surrogate pair. */
  readonly textEntries: (bytes: Address, offsets: Address, ids: Address, n: number, hasNull: number, out: Address) => number;
  /** i64 code units; of null 0. */
  readonly textUnits: (texts: Address, n: number, out: Address) => void;
  /** Bytes of all texts. */
  readonly textBytes: (texts: Address, n: number) => number;
  /** Bits of the texts that are null; returns how many. */
  readonly textNulls: (texts: Address, n: number, out: Address) => number;
  /** Bits: operation 0 equal, 1 less, 2 less or equal, in the order of code units; null is none of them. `b` is one text when `one` is 1. */
  readonly textCompare: (a: Address, b: Address, one: number, n: number, operation: number, out: Address) => void;
  /** Bits: LIKE, by a pattern as in `dictionaryLike`; 0 for null. */
  readonly textLike: (texts: Address, n: number, pattern: Address, patternBytes: number, out: Address) => void;
  /** i64 position of the first occurrence, from 0; -1 for none, 0 for null. */
  readonly textFind: (texts: Address, n: number, wanted: Address, wantedBytes: number, out: Address) => void;
  /**
   * i64 position of the first occurrence of `wanted` (one text when `oneWanted` is 1) that begins at the unit froms[i] (i64, one when
   * `oneFrom` is 1) or later; -1 for none, 0 where a text is null. A start before the text is its start, one past it its end.
   */
  readonly textFindEach: (
    texts: Address,
    wanted: Address,
    oneWanted: number,
    froms: Address,
    oneFrom: number,
    n: number,
    out: Address,
  ) => void;
  /**
   * Parts of the same bytes, by i64 froms[i] and counts[i] (one each when `oneFrom`, `oneCount` is 1). Kind 0: `count` units from `from`
   * on, all where the count is negative, null where the text ends before them; 1: the same, empty there; 2: the last `count`. Null
   * where a number is no i32, or `from`, or a count of kinds 1 and 2, is negative. Returns how many had to cut a surrogate pair: what these are is undefined.
   */
  readonly textSlice: (
    texts: Address,
    n: number,
    kind: number,
    froms: Address,
    oneFrom: number,
    counts: Address,
    oneCount: number,
    out: Address,
  ) => number;
  /** The text that comes first, or (`largest`) last, in the order of code units; of a text and null the text. `a`, `b` are one text when `oneA`, `oneB` is 1. */
  readonly textExtreme: (a: Address, oneA: number, b: Address, oneB: number, n: number, largest: number, out: Address) => void;
  /** Without the ASCII characters of `set` (128 bits) at its start (ends & 1) and end (ends & 2); the same bytes. */
  readonly textTrim: (texts: Address, n: number, set: Address, ends: number, out: Address) => void;
  /**
   * Letters changed to upper or lower case, by `table` for those that are not ASCII (`letter-cases.ts`, aligned to 2); texts with
   * others, which it does not tell of, stay where they are: returns how many. The buffer has room for these as well.
   */
  readonly textCase: (texts: Address, n: number, upper: number, table: Address, out: Address, buffer: Address) => number;
  /** Code points in opposite order. */
  readonly textReverse: (texts: Address, n: number, out: Address, buffer: Address) => void;
  /** `parts`: {u32 texts, u32 step} each; text i of a part lies at texts + i * step. Null where a part is; wide where a part is. */
  readonly textConcat: (parts: Address, partCount: number, n: number, out: Address, buffer: Address) => void;
  /** Cut or padded with ASCII characters, at the start or end, to `length`, not padded with none; wide texts stay as they are: returns how many. */
  readonly textPad: (
    texts: Address,
    n: number,
    length: number,
    padding: Address,
    paddingBytes: number,
    atStart: number,
    out: Address,
    buffer: Address,
  ) => number;
  /** Every occurrence replaced, from the left; texts without one stay as they are. `wanted` is not empty. */
  readonly textReplace: (
    texts: Address,
    n: number,
    wanted: Address,
    wantedBytes: number,
    replacement: Address,
    replacementBytes: number,
    out: Address,
    buffer: Address,
  ) => void;
  /** Decimal digits; null where `nulls` (bits, or 0) says so. */
  readonly textOfLongs: (values: Address, nulls: Address, n: number, out: Address, buffer: Address) => void;
  /**
   * f64 as Java prints them (`doubleText` of `base/number-text.ts`), where `float` is 1 as FLOATs (`floatText`). `powers`: {u64 low, u64 high} of
   * ten to -292 … 324, the upper 128 bits plus 1 in the last (`powersOfTen`). A text takes 26 bytes at most.
   */
  readonly textOfDoubles: (
    values: Address,
    nulls: Address,
    n: number,
    float: number,
    powers: Address,
    out: Address,
    buffer: Address,
  ) => void;
  /**
   * i64 milliseconds of a wall clock: copies of the ASCII text `template`, with digits written over its `fields`, {u16 unit, u16 offset} each: unit
   * 0 year (four digits), 1 month, 2 day, 3 hour, 4 minute, 5 second (two), 6 millisecond (three). Returns how many are not of the years 0 to
   * 9999: they become null as well.
   */
  readonly textOfTimes: (
    values: Address,
    nulls: Address,
    n: number,
    template: Address,
    length: number,
    fields: Address,
    fieldCount: number,
    out: Address,
    buffer: Address,
  ) => number;
  /** i64 of each text of at most 18 digits, after a minus or not. Bits `others` (whole words): any other text, and null, whose value is 0; returns how many. */
  readonly textLongs: (texts: Address, n: number, out: Address, others: Address) => number;
  /** The same as f64: at most 15 digits, with a point after the first or a later one, or none. */
  readonly textDoubles: (texts: Address, n: number, out: Address, others: Address) => number;
  /**
   * i64 instant in UTC of each text that is written as a template of so many `steps`, u32 each: in bits 16 to 19 the unit of a field (1 year to
   * 7 millisecond) and in bits 20 to 23 its number of digits; without a unit a byte, in the lowest bits, or the one above them. Bit 31: the
   * text may end before the step, bit 30: `Z` and the end may come instead. A field that is not there is the least. Bits `others`
   * as of `textLongs`, those of no such day and of the year 0 among them; returns how many.
   */
  readonly textTimes: (texts: Address, n: number, template: Address, steps: number, out: Address, others: Address) => number;
  /** i64 of each IPv4 address: four numbers from 0 to 255 without leading zeros and dots between them. Bits `others` as of `textLongs`; returns how many. */
  readonly textAddresses: (texts: Address, n: number, out: Address, others: Address) => number;
  /** IPv4 addresses of i64; null where `nulls` (bits, or 0) says so, and beyond 32 bits. A text takes 15 bytes at most. */
  readonly textOfAddresses: (values: Address, nulls: Address, n: number, out: Address, buffer: Address) => void;
  /**
   * Like `dictionaryIntern`, of texts; where `arena` is 0 entries point to the texts' own bytes. `slots`: u64[capacity], an entry's number and one with
   * its hash in the upper half. `hashes`: u32 of each text (0 for null), as another table has them in `known`; 0: they are made here. `known[entry]` = the hash of a new one.
   */
  readonly textIntern: (
    texts: Address,
    hashes: Address,
    n: number,
    slots: Address,
    capacity: number,
    entries: Address,
    known: Address,
    arena: Address,
    counters: Address,
    out: Address,
  ) => void;
  /** Fills the slots of a larger table of `textIntern`, all 0 before, from the hashes of its entries. */
  readonly textRehash: (known: Address, entryCount: number, slots: Address, capacity: number) => void;
  /** state[groups[i]] (a text each, at first 0) = the smaller, or larger, of it and text i, if that is not null. What is taken is copied to `buffer`; returns the bytes written there. */
  readonly textBest: (texts: Address, groups: Address, n: number, largest: number, state: Address, buffer: Address) => number;
  /**
   * Different texts in the order of code units: bytes to `out`, ends to `ends[id]`, and to `ranks[i]` the id of text i, from `first` (0, or 1
   * behind an id of no bytes) on; returns the id behind the last. No text is null. `room`: 40 bytes for each text and 1088 more, aligned to 8; `out` has 16
   * bytes more than the texts.
   */
  readonly textSort: (texts: Address, n: number, first: number, room: Address, ranks: Address, ends: Address, out: Address) => number;
  /** Writes the positions of the first (last) `k` texts in the order of code units, equal ones by position; returns how many. No text is null. `heap`: u32[k]. */
  readonly textTop: (texts: Address, n: number, k: number, descending: number, heap: Address, out: Address) => number;
}
