// Storage jobs: values of a lookup, and the ids of those that a dictionary's entries have, in kernel memory.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';
import { LookupReader, type LookupTable } from '../../model/lookup/lookup-table.js';
import type { DictionaryView } from '../view.js';

/*
 * The values of a lookup are entries {u32 address, u32 length}, null first, then those of the lookup, then `missing`, with the bytes of
 * all behind them. What is not among the keys has the id of the same value of the lookup, if there is one: equal texts have one id.
 *
 * What a dictionary's entries are looked up as, in u32:
 *
 *   number of different ids, id of what is not among the keys
 *   different ids
 *   place among these of each entry
 */

/** Values by id, and the entry of null. */
export function valueCountOf(table: LookupTable, missing: string | null): number {
  return new LookupReader(table).valueCount + (missing === null ? 1 : 2);
}

export function lookupValuesBytes(table: LookupTable, missing: string | null): number {
  const { values } = new LookupReader(table);
  return valueCountOf(table, missing) * 8 + values.bytes.length + Buffer.byteLength(missing ?? '') + READ_PAST;
}

/** Kernels may read so many bytes past a text. */
const READ_PAST = 16;

export interface LoadLookupRequest {
  readonly table: LookupTable;
  readonly missing: string | null;
  readonly address: Address;
}

export function loadLookup({ table, missing, address }: LoadLookupRequest, memory: KernelMemory): null {
  const { bytes, ends } = new LookupReader(table).values;
  const count = valueCountOf(table, missing);
  const entries = memory.u32(address, count * 2);
  const textAt = address + count * 8;
  entries.fill(0, 0, 2);
  memory.u8(textAt, bytes.length).set(bytes);
  let start = 0;
  for (let id = 0; id < ends.length; id++) {
    const end = ends[id] ?? 0;
    entries[id * 2 + 2] = textAt + start;
    entries[id * 2 + 3] = end - start;
    start = end;
  }
  if (missing !== null) {
    const added = Buffer.from(missing);
    memory.u8(textAt + bytes.length, added.length).set(added);
    entries.set([textAt + bytes.length, added.length], (count - 1) * 2);
  }
  return null;
}

/** Place of the different ids. */
export const LOOKED_UP_IDS = 8;

export function lookedUpBytes(count: number): number {
  return LOOKED_UP_IDS + (Math.max(1, count) + count) * 4;
}

export interface LookUpRequest {
  readonly table: LookupTable;
  readonly missing: string | null;
  readonly dictionary: DictionaryView;
  readonly address: Address;
}

export function lookUp({ table, missing, dictionary, address }: LookUpRequest, memory: KernelMemory): null {
  const reader = new LookupReader(table);
  const { count, hasNull } = dictionary;
  const ofMissing = missing === null ? 0 : idOfText(reader, missing);
  const offsets = count === 0 ? new Uint32Array(1) : memory.u32(dictionary.offsets, count + 1);
  const texts = memory.u8(dictionary.bytes, offsets[count] ?? 0);
  const out = memory.u32(address, 2 + Math.max(1, count) + count);
  const [ids, places] = [out.subarray(2), out.subarray(2 + Math.max(1, count))];
  const known = new Uint32Array(valueCountOf(table, missing));
  let different = 0;
  for (let entry = 0; entry < count; entry++) {
    const found = entry === 0 && hasNull ? -1 : reader.findBytes(texts, offsets[entry] ?? 0, offsets[entry + 1] ?? 0);
    const id = found < 0 ? ofMissing : found + 1;
    let place = known[id] ?? 0;
    if (place === 0) {
      ids[different] = id;
      place = ++different;
      known[id] = place;
    }
    places[entry] = place - 1;
  }
  out.set([different, ofMissing]);
  return null;
}

/** Values are not found by their texts otherwise: one after the other takes a millisecond or two for a million. */
function idOfText(reader: LookupReader, text: string): number {
  const wanted = Buffer.from(text);
  const { bytes, ends } = reader.values;
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = 0;
  for (let id = 0; id < ends.length; id++) {
    const end = ends[id] ?? 0;
    if (end - start === wanted.length && whole.compare(wanted, 0, wanted.length, start, end) === 0) return id + 1;
    start = end;
  }
  return ends.length + 1;
}
