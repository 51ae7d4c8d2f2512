// Writes groups to a spill file and reads them back.

import { deserialize, serialize } from 'node:v8';
import type { Address } from '../../../base/layout.js';
import type { EncodedStates } from '../../aggregate-state/state-operations.js';
import type { RunContext } from '../../block/context.js';
import type { SpillFile } from '../../spill/spill-file.js';
import type { SpillSpace } from '../../spill/spill-space.js';
import type { AggregatorLayout, GroupLayout } from '../key/layout.js';
import type { GroupTableParts, SpilledChunk, SpilledGroups } from '../table/group-parts.js';
import { listGroups } from '../table/list-groups.js';
import { PARTITIONS, PartitionedGroups } from './partition.js';

/*
 * Groups on disk. Each time a table spills it appends, for each partition it has groups of, one chunk: arrays after
 * each other, each beginning at a multiple of 64 bytes, as `planesOf` says:
 *
 *   dense: u32[groups] cells; hash: u64[groups][words] packed keys
 *   per aggregator: i64 or f64[groups] states, u8[groups] seen, u64[groups][] bits, or u64[pairs][words] pairs, the group
 *   of which counts from the first of the chunk
 *
 * Aggregate states follow after all of them, those of an aggregator and partition as one serialised value, since they are
 * objects of the heap. Byte order is the machine's: a file never outlives its process. Ids of interned values are those of the pools of the
 * table that wrote them.
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
      for (let partition = 0; partition < PARTITIONS; partition++) this.#writePartition(parts, groups, partition);
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

  #writePartition(parts: GroupTableParts, groups: PartitionedGroups, partition: number): void {
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
      const { at: offset } = this.file.append(memory.u8(at, planes.bytes));
      const objects = parts.states.map((_, index) => {
        const states = groups.collectedOf(partition, index);
        return states === undefined ? null : this.file.append(serialize(states));
      });
      this.#chunks.push({ partition, offset, groupCount, pairCounts, objects });
    } finally {
      arena.release();
    }
  }
}

/** Reads a chunk back, as a table to be merged into another. Its memory goes with it. */
export function readChunk(layout: GroupLayout, { memory }: RunContext, file: SpillFile, chunk: SpilledChunk): GroupTableParts {
  const { groupCount, pairCounts, offset } = chunk;
  const planes = planesOf(layout, groupCount, pairCounts);
  const at = memory.allocate(planes.bytes);
  try {
    file.readInto(offset, memory.u8(at, planes.bytes));
  } catch (error) {
    memory.free(at);
    throw error;
  }
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
    pools: [],
    distinctPools: [],
    owned: [at],
    spilled: null,
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
