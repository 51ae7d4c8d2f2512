// The part of the kernel contract that numbers the texts of input.

import type { Address } from '../base/layout.js';

/**
 * Words of the table of a dictionary, u32, 8-byte aligned. Texts have ids from 1 on, in order of arrival; 0 is null. Text `id` is
 * bytes [offsets[id], offsets[id + 1]) of the arena; offsets[1] is 0. A slot is {u32 hash, id, offset, length}, id 0: empty.
 */
export const TEXT_TABLE = {
  slots: 0,
  /** Slots that there are, a power of two; at most three quarters are taken. */
  capacity: 1,
  arena: 2,
  arenaBytes: 3,
  arenaUsed: 4,
  /** Ids are below it; 1 at first. */
  count: 5,
  offsets: 6,
  /** Words that there is room for. */
  offsetsMax: 7,
  /** Secret numbers of 64 bits by which texts are hashed; the multipliers are odd. */
  seed: 8,
  firstMultiplier: 10,
  secondMultiplier: 12,
  /** Length of the text for which there was no room. */
  needed: 14,
  /** Written to, whatever it is. */
  touched: 15,
  words: 16,
} as const;

/** Bytes of a slot. */
export const TEXT_SLOT_BYTES = 16;
/** Bytes that stay free in an arena, and are readable behind every text. */
export const TEXT_PADDING = 16;

export interface TextIdKernels {
  /**
   * Ids of fields [from, count), which are added where they are new: field i is that of row rows[i] (u32), or of row i where `rows` is 0,
   * bytes[starts[row] .. ends[row]) (i32); null where it ends below 0. Writes ids u32[count] at their places. Returns `count`; less: there
   * is no room for the text of the field of that number, nor are those behind it done. Any number of fields. A new text needs its length and
   * TEXT_PADDING in the arena, an offset, and a slot.
   *
   * The hash of a text: h = seed; h = mix(h ^ word) for each 8 bytes, lowest first, zeros behind the last; the low half of
   * mix(h ^ length). mix(x): x *= first; x = (x ^ x >> 32) * second; x ^ x >> 32, in 64 bits. Its low bits choose the slot; then come the ones behind.
   */
  readonly textIds: (
    bytes: Address,
    starts: Address,
    ends: Address,
    rows: Address,
    from: number,
    count: number,
    table: Address,
    ids: Address,
  ) => number;
  /** Puts what is in `slots`, `capacity` of them, into the slots of the table, which are empty. */
  readonly textIdSlots: (slots: Address, capacity: number, table: Address) => void;
}
