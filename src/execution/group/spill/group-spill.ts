// Writes groups to a spill file and reads them back.

import { deserialize, serialize } from 'node:v8';
import { assert } from '../../../base/errors.js';
import type { Address } from '../../../base/layout.js';
import type { EncodedStates } from '../../aggregate-state/state-operations.js';
import type { RunContext } from '../../block/context.js';
import type { SpillFile } from '../../spill/spill-file.js';
import type { SpillSpace } from '../../spill/spill-space.js';
import { NO_VALUES } from '../key/key-pool.js';
import type { AggregatorLayout, GroupLayout } from '../key/layout.js';
import type { GroupTableParts, SpilledChunk, SpilledGroups } from '../table/group-parts.js';
import { listGroups } from '../table/list-groups.js';
import { PARTITIONS, PartitionedGroups } from './partition.js';
import { ChunkValues, type KeptValues, readValues, type SpilledValues, writeValues } from './spilled-values.js';

/*
 * Groups on disk. Each time a table spills it appends, for each partition it has groups of, one chunk: arrays after
 * each other, each beginning at a multiple of 64 bytes, as `planesOf` says:
 *
 *   dense: u32[groups] cells; hash: u64[groups][words] packed keys
 *   per aggregator: i64 or f64[groups] states, u8[groups] seen, u64[groups][] bits, or u64[pairs][words] pairs, the group
 *   of which counts from the first of the chunk
 *
 * Aggregate states follow after all of them, those of an aggregator and partition as one serialised value, since they are
 * objects of the heap; then the interned values that the chunk's groups have (`spilled-values.ts`), whose ids count from the first of them.
 * Byte order is the machine's: a file never outlives its process.
 */

/** Appends the groups of tables to a file of its own. */
export class GroupSpill {
  readonly #layout: GroupLayout;
  readonly #context: RunContext;
  readonly file: SpillFile;
  readonly #chunks: SpilledChunk[] = [];

  constructor(layout: GroupLayout, context: RunContext, space: SpillSpace) {
    this.#layout = layout;
    this.#context = context;
    this.file = space.create();
  }

  /** @param level  how many times these groups were partitioned before: each time by another hash */
  write(parts: GroupTableParts, level: number): void {
    const arena = this.#context.memory.arena();
    try {
      const scope = { context: this.#context, arena };
      const listed = this.#layout.indexLayout.kind === 'dense' ? listGroups(scope, parts) : undefined;
      const groups = new PartitionedGroups(scope, this.#layout, parts, listed, level);
      const { keys, aggregators } = this.#layout;
      const interned: InternedValues = {
        keys: keys.map(({ domain }, index) =>
          domain.kind === 'interned' ? new ChunkValues(this.#context, parts.pools[index] ?? NO_VALUES) : undefined,
        ),
        distinct: aggregators.map((each, index) =>
          each.kind === 'distinct' && each.domain.kind === 'interned'
            ? new ChunkValues(this.#context, parts.distinctPools[index] ?? NO_VALUES)
            : undefined,
        ),
      };
      for (let partition = 0; partition < PARTITIONS; partition++) this.#writePartition(parts, groups, interned, partition);
    } finally {
      arena.release();
    }
  }

  get chunks(): readonly SpilledChunk[] {
    return this.#chunks;
  }

  /** Hands the file over to another thread, which removes it. */
  handOver(): SpilledGroups {
    this.file.handOver();
    return { path: this.file.path, chunks: this.#chunks };
  }

  close(): void {
    this.file.remove();
  }

  #writePartition(parts: GroupTableParts, groups: PartitionedGroups, interned: InternedValues, partition: number): void {
    const { memory } = this.#context;
    const groupCount = groups.countOf(partition);
    if (groupCount === 0) return;
    this.#context.check();
    const pairCounts = this.#layout.aggregators.map((_, index) => groups.pairCountOf(partition, index));
    const planes = planesOf(this.#layout, groupCount, pairCounts);
    const arena = memory.arena();
    try {
      const at = arena.take(planes.bytes);
      const scope = { context: this.#context, arena };
      groups.copyKeys(scope, partition, at);
      this.#layout.aggregators.forEach((aggregator, index) => {
        const from = parts.states[index];
        const plane = planes.states[index];
        if (from === undefined || plane === undefined) return;
        if (plane.at !== undefined) groups.copyStates(partition, from.at, at + plane.at);
        if (plane.seen !== undefined) groups.copySeen(partition, from.seen, at + plane.seen);
        if (plane.bits !== undefined) groups.copyBits(partition, from.bits, bitBytesOf(aggregator), at + plane.bits);
        if (plane.pairs !== undefined) groups.copyPairs(partition, index, at + plane.pairs);
      });
      const pools = interned.keys.map((values, index) => values?.keep(...this.#idsOfKey(index, at, groupCount)));
      const distinctPools = interned.distinct.map((values, index) => {
        const pairs = planes.states[index]?.pairs;
        return pairs === undefined ? undefined : values?.keep(memory.u32(at + pairs, (pairCounts[index] ?? 0) * 2), 1, 2);
      });
      const { at: offset } = this.file.append(memory.u8(at, planes.bytes));
      const objects = parts.states.map((_, index) => {
        const states = groups.collectedOf(partition, index);
        return states === undefined ? null : this.file.append(serialize(states));
      });
      const write = (kept: KeptValues | undefined) => (kept === undefined ? null : writeValues(scope, this.file, kept));
      this.#chunks.push({
        partition,
        offset,
        groupCount,
        pairCounts,
        objects,
        pools: pools.map(write),
        distinctPools: distinctPools.map(write),
      });
    } finally {
      arena.release();
    }
  }

  /** Ids of a key in packed keys: the first of them, and the distance to the next. */
  #idsOfKey(index: number, keys: Address, groupCount: number): [ids: Uint32Array, first: number, step: number] {
    const { indexLayout } = this.#layout;
    const place = indexLayout.kind === 'hash' ? indexLayout.places[index] : undefined;
    assert(indexLayout.kind === 'hash' && place?.kind === 'half', 'ids of interned values are halves of packed keys');
    const step = indexLayout.words * 2;
    return [this.#context.memory.u32(keys, groupCount * step), place.word * 2 + place.shift / 32, step];
  }
}

/** Interned values by key and by aggregator; undefined where there are none. */
interface InternedValues {
  readonly keys: readonly (ChunkValues | undefined)[];
  readonly distinct: readonly (ChunkValues | undefined)[];
}

/** Reads a chunk back, as a table to be merged into another. Its memory goes with it. */
export function readChunk(layout: GroupLayout, { memory }: RunContext, file: SpillFile, chunk: SpilledChunk): GroupTableParts {
  const { groupCount, pairCounts, offset } = chunk;
  const planes = planesOf(layout, groupCount, pairCounts);
  const arena = memory.arena();
  try {
    const at = arena.take(planes.bytes);
    file.readInto(offset, memory.u8(at, planes.bytes));
    const read = (values: SpilledValues | null) => (values === null ? NO_VALUES : readValues({ memory, arena }, file, values));
    const [pools, distinctPools] = [chunk.pools.map(read), chunk.distinctPools.map(read)];
    return { ...partsAt(layout, file, chunk, at), pools, distinctPools, owned: arena.handOver() };
  } catch (error) {
    arena.release();
    throw error;
  }
}

/** Bytes of the interned values of a chunk. */
export function pooledBytes({ pools, distinctPools }: SpilledChunk): number {
  return [...pools, ...distinctPools].reduce((sum, values) => sum + (values?.bytes ?? 0), 0);
}

/** The groups of a chunk whose arrays were read back. */
function partsAt(
  layout: GroupLayout,
  file: SpillFile,
  chunk: SpilledChunk,
  at: Address,
): Omit<GroupTableParts, 'pools' | 'distinctPools' | 'owned'> {
  const { groupCount, pairCounts } = chunk;
  const planes = planesOf(layout, groupCount, pairCounts);
  const address = (plane: number | undefined): Address => (plane === undefined ? 0 : at + plane);
  const isDense = layout.indexLayout.kind === 'dense';
  return {
    groupCount,
    present: 0,
    cells: isDense ? at : 0,
    keys: isDense ? 0 : at,
    states: planes.states.map(({ at: states, seen, bits, pairs }, index) => ({
      at: address(states),
      seen: address(seen),
      bits: address(bits),
      pairs: pairs === undefined ? undefined : { keys: at + pairs, count: pairCounts[index] ?? 0 },
      objects: readCollected(file, chunk.objects[index] ?? null),
    })),
    spilled: null,
    division: undefined,
  };
}

function readCollected(file: SpillFile, place: SpilledChunk['objects'][number]): EncodedStates | undefined {
  if (place === null) return undefined;
  return deserialize(new Uint8Array(file.read(place))) as EncodedStates;
}

/** Bytes of sets of distinct values. @param pairCounts  per aggregator */
export function pairBytes({ aggregators }: GroupLayout, pairCounts: readonly number[]): number {
  return aggregators.reduce((sum, aggregator, index) => sum + (pairCounts[index] ?? 0) * pairWordsOf(aggregator) * 8, 0);
}

interface StatePlanes {
  readonly at: number | undefined;
  readonly seen: number | undefined;
  readonly bits: number | undefined;
  readonly pairs: number | undefined;
}

/** Offsets of a chunk's arrays; keys or cells begin at 0. */
function planesOf(
  layout: GroupLayout,
  groupCount: number,
  pairCounts: readonly number[],
): { readonly bytes: number; readonly states: readonly StatePlanes[] } {
  let bytes = 0;
  const plane = (size: number): number => {
    const at = bytes;
    // Kernels may read whole vectors, and masks whole words, where an array ends.
    bytes += Math.ceil(size / 64) * 64 + 64;
    return at;
  };
  plane(groupCount * (layout.indexLayout.kind === 'dense' ? 4 : layout.indexLayout.words * 8));
  const states = layout.aggregators.map((aggregator, index): StatePlanes => {
    const none = { at: undefined, seen: undefined, bits: undefined, pairs: undefined };
    switch (aggregator.kind) {
      case 'count':
        return { ...none, at: plane(groupCount * 8) };
      case 'sum':
      case 'min':
      case 'max':
        return { ...none, at: plane(groupCount * 8), seen: aggregator.nullable ? plane(groupCount) : undefined };
      case 'state':
        return none;
      case 'distinct':
        return aggregator.store.kind === 'bits'
          ? { ...none, bits: plane(groupCount * bitBytesOf(aggregator)) }
          : { ...none, pairs: plane((pairCounts[index] ?? 0) * aggregator.store.words * 8) };
    }
  });
  return { bytes, states };
}

function bitBytesOf(aggregator: AggregatorLayout): number {
  return aggregator.kind === 'distinct' && aggregator.store.kind === 'bits' ? aggregator.store.bitsPerGroup / 8 : 0;
}

function pairWordsOf(aggregator: AggregatorLayout): number {
  return aggregator.kind === 'distinct' && aggregator.store.kind === 'pairs' ? aggregator.store.words : 0;
}
