// Storage job: adds the strings of a segment to the dictionary of its datasource.

import type { Address } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { DictionaryView } from '../view.js';

/**
 * A datasource-wide dictionary in kernel memory. Changed only by `internDictionary`, one call at a time; what queries
 * read of it (`entries` up to their count, and the text) is never written again.
 */
export interface InternTable {
  /** Hash table: u32 [capacity], a power of two. */
  readonly slots: Address;
  readonly capacity: number;
  /** {u32 address, u32 length} [entryCapacity]; entry 0 is null. */
  readonly entries: Address;
  readonly entryCapacity: number;
  readonly entryCount: number;
  /** Text of the entries, in chunks; the last one has room left. */
  readonly chunks: readonly { readonly address: Address; readonly bytes: number }[];
  readonly chunkUsed: number;
}

export const EMPTY_TABLE: InternTable = { slots: 0, capacity: 0, entries: 0, entryCapacity: 0, entryCount: 0, chunks: [], chunkUsed: 0 };

export interface InternDictionaryRequest {
  readonly table: InternTable;
  readonly dictionary: DictionaryView;
  /** u32 [dictionary.count], written: the datasource-wide id of each local one. */
  readonly remap: Address;
}

const CHUNK_BYTES_MIN = 64 * 1024;

/**
 * Adds the values a segment has and the datasource had not.
 * @returns the table to use from now on. When its `entries` differ from those of the request, the old ones are the
 *          caller's to free once no query reads them; old slots are freed already.
 * @throws ServiceError `resource_limit`, with the table of the request unchanged
 */
export function internDictionary(
  { table, dictionary, remap }: InternDictionaryRequest,
  memory: KernelMemory,
  kernels: KernelSet,
): InternTable {
  const counters = memory.allocate(8);
  try {
    const room = makeRoom(table, roomNeeded(dictionary, memory), memory, kernels);
    const chunk = room.chunks.at(-1) ?? { address: 0, bytes: 0 };
    memory.u32(counters, 2).set([room.entryCount, room.chunkUsed]);
    kernels.dictionaryIntern(
      dictionary.bytes,
      dictionary.offsets,
      dictionary.count,
      dictionary.hasNull ? 0 : -1,
      room.slots,
      room.capacity,
      room.entries,
      chunk.address,
      counters,
      remap,
    );
    const [entryCount = 0, chunkUsed = 0] = memory.u32(counters, 2);
    return { ...room, entryCount, chunkUsed };
  } finally {
    memory.free(counters);
  }
}

/** Most bytes of kernel memory that interning may add to what `table` has. */
export function internBytesMax(table: InternTable, dictionary: { readonly count: number; readonly textBytes: number }): number {
  const grown = sizesFor(table, { count: dictionary.count, textBytes: dictionary.textBytes + 3 * dictionary.count });
  return (
    (grown.capacity === table.capacity ? 0 : grown.capacity * 4) +
    (grown.entryCapacity === table.entryCapacity ? 0 : grown.entryCapacity * 8) +
    grown.chunkBytes
  );
}

export function tableBytes(table: InternTable): number {
  return table.capacity * 4 + table.entryCapacity * 8 + table.chunks.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function freeTable(table: InternTable, memory: KernelMemory): void {
  if (table.capacity === 0) return;
  memory.free(table.slots);
  memory.free(table.entries);
  for (const { address } of table.chunks) memory.free(address);
}

interface Room {
  readonly count: number;
  /** Every text rounded up to 4 bytes. */
  readonly textBytes: number;
}

/** For the case that every value is new. */
function roomNeeded(dictionary: DictionaryView, memory: KernelMemory): Room {
  const textBytes = memory.u32(dictionary.offsets, dictionary.count + 1)[dictionary.count] ?? 0;
  return { count: dictionary.count, textBytes: textBytes + 3 * dictionary.count };
}

function sizesFor(table: InternTable, room: Room): { capacity: number; entryCapacity: number; chunkBytes: number } {
  const entryCount = Math.max(table.entryCount, 1) + room.count;
  const free = (table.chunks.at(-1)?.bytes ?? 0) - table.chunkUsed;
  return {
    capacity: entryCount * 2 <= table.capacity ? table.capacity : 2 ** Math.ceil(Math.log2(entryCount * 2)),
    entryCapacity: entryCount <= table.entryCapacity ? table.entryCapacity : 2 ** Math.ceil(Math.log2(entryCount)),
    chunkBytes: room.textBytes <= free ? 0 : Math.max(room.textBytes, CHUNK_BYTES_MIN),
  };
}

/** Everything that may fail happens before anything of the old table changes. */
function makeRoom(table: InternTable, room: Room, memory: KernelMemory, kernels: KernelSet): InternTable {
  const { capacity, entryCapacity, chunkBytes } = sizesFor(table, room);
  const made: Address[] = [];
  const make = (bytes: number): Address => {
    const address = memory.allocate(bytes);
    made.push(address);
    return address;
  };
  let { slots, entries, chunks, chunkUsed } = table;
  try {
    if (entryCapacity !== table.entryCapacity) entries = make(entryCapacity * 8);
    if (capacity !== table.capacity) slots = make(capacity * 4);
    if (chunkBytes > 0) {
      chunks = [...chunks, { address: make(chunkBytes), bytes: chunkBytes }];
      chunkUsed = 0;
    }
  } catch (error) {
    for (const address of made) memory.free(address);
    throw error;
  }
  const entryCount = Math.max(table.entryCount, 1);
  if (entries !== table.entries) {
    const copy = memory.u32(entries, entryCount * 2);
    copy.fill(0, 0, 2); // null
    if (table.entryCount > 0) copy.set(memory.u32(table.entries, table.entryCount * 2));
  }
  if (slots !== table.slots) {
    memory.u32(slots, capacity).fill(0);
    kernels.dictionaryRehash(entries, entryCount, slots, capacity);
    if (table.slots !== 0) memory.free(table.slots);
  }
  return { slots, capacity, entries, entryCapacity, entryCount, chunks, chunkUsed };
}
