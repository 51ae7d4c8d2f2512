// Copies strings of kernel memory as bytes.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { PackedEntries } from '../../storage/columns/packed-column.js';
import type { DictionaryView } from '../../storage/view.js';
import { type Check, checkedLoop } from './checked-loops.js';
import { LENGTH } from './text-references.js';

/** The strings of ids, none of which is null, behind an entry for null. */
export type PackTexts = (ids: Uint32Array, check: Check) => PackedEntries;

/** Bytes up to which a loop copies faster than a call. */
const LOOP_BYTES_MAX = 48;

/** @param entries  {u32 address, u32 length} by id */
export function packEntries(memory: KernelMemory, entries: Address): PackTexts {
  return (ids, check) => {
    const places = memory.u32(entries, (highest(ids) + 1) * 2);
    return packed(
      memory,
      ids,
      (id) => places[id * 2] ?? 0,
      (id) => places[id * 2 + 1] ?? 0,
      check,
    );
  };
}

/** @param references  to texts, by id */
export function packReferences(memory: KernelMemory, references: Address): PackTexts {
  return (ids, check) => {
    const words = memory.u32(references, (highest(ids) + 1) * 2);
    return packed(
      memory,
      ids,
      (id) => words[id * 2] ?? 0,
      (id) => (words[id * 2 + 1] ?? 0) & LENGTH,
      check,
    );
  };
}

export function packDictionary(memory: KernelMemory, { bytes, offsets }: DictionaryView): PackTexts {
  return (ids, check) => {
    const bounds = memory.u32(offsets, highest(ids) + 2);
    return packed(
      memory,
      ids,
      (id) => bytes + (bounds[id] ?? 0),
      (id) => (bounds[id + 1] ?? 0) - (bounds[id] ?? 0),
      check,
    );
  };
}

/** Entries of dictionaries after each other. @param placeOf  the dictionary that an id is of, whose first is its base */
export function packStacked(
  memory: KernelMemory,
  dictionaries: readonly DictionaryView[],
  bases: Uint32Array,
  placeOf: (id: number) => number,
): PackTexts {
  return (ids, check) => {
    const bounds = dictionaries.map(({ offsets, count }) => memory.u32(offsets, count + 1));
    const startOf = (id: number): Address => {
      const place = placeOf(id);
      return (dictionaries[place]?.bytes ?? 0) + (bounds[place]?.[id - (bases[place] ?? 0)] ?? 0);
    };
    const lengthOf = (id: number): number => {
      const place = placeOf(id);
      const entry = id - (bases[place] ?? 0);
      return (bounds[place]?.[entry + 1] ?? 0) - (bounds[place]?.[entry] ?? 0);
    };
    return packed(memory, ids, startOf, lengthOf, check);
  };
}

function highest(ids: Uint32Array): number {
  let most = 0;
  for (let at = 0; at < ids.length; at++) most = Math.max(most, ids[at] ?? 0);
  return most;
}

function packed(
  memory: KernelMemory,
  ids: Uint32Array,
  startOf: (id: number) => Address,
  lengthOf: (id: number) => number,
  check: Check,
): PackedEntries {
  const ends = new Uint32Array(ids.length + 1);
  let end = 0;
  checkedLoop(ids.length, check, (from, to) => {
    for (let at = from; at < to; at++) ends[at + 1] = end += lengthOf(ids[at] ?? 0);
  });
  const bytes = new Uint8Array(end);
  const all = memory.u8(0);
  checkedLoop(ids.length, check, (from, to) => {
    for (let at = from; at < to; at++) {
      const start = startOf(ids[at] ?? 0);
      const out = ends[at] ?? 0;
      const length = (ends[at + 1] ?? 0) - out;
      if (length > LOOP_BYTES_MAX) bytes.set(all.subarray(start, start + length), out);
      else for (let byte = 0; byte < length; byte++) bytes[out + byte] = all[start + byte] ?? 0;
    }
  });
  return { bytes, ends, isSorted: false };
}
