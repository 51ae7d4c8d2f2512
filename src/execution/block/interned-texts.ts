// Distinct strings in kernel memory, as plain data.

import type { Address } from '../../base/layout.js';

/** A piece of kernel memory that texts lie in. */
export interface TextRegion {
  readonly at: Address;
  readonly bytes: number;
}

/** Distinct texts by id, as plain data. */
export interface InternedTexts {
  /** {u32 address, u32 length} by id, those of null 0; as references of texts they can be interned elsewhere. */
  readonly entries: Address;
  /** u32 by id, 0 for null; 0: they are not known. */
  readonly hashes: Address;
  readonly count: number;
  /** All memory that their bytes lie in, where that may be taken over; regions of their own in the arena. */
  readonly regions: readonly TextRegion[];
  /** Slots of their table; 0: there is none. */
  readonly slots: Address;
  readonly capacity: number;
}

/** Texts that no table has. */
export function textsWithoutTable(entries: Address, count: number): InternedTexts {
  return { entries, hashes: 0, count, regions: [], slots: 0, capacity: 0 };
}
