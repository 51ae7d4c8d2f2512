// Partitions a group table by the hash of its keys.

import { assert } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import { encodedBits } from '../../aggregate-state/bit-groups.js';
import { encodedLists } from '../../aggregate-state/lists/encoded-lists.js';
import { encodedMoments } from '../../aggregate-state/moments/moment-groups.js';
import { encodedPieces } from '../../aggregate-state/quantiles/quantile-groups.js';
import { encodedHashes } from '../../aggregate-state/sketch/hash-groups.js';
import type { EncodedStates, StateParts } from '../../aggregate-state/state-operations.js';
import { encodedTexts } from '../../aggregate-state/text-extremes.js';
import { encodedTimed } from '../../aggregate-state/timed/timed-groups.js';
import { ascending } from '../../block/checked-loops.js';
import type { RunContext, Scratch } from '../../block/context.js';
import { hashesOf, NO_VALUES } from '../key/key-pool.js';
import type { AggregatorLayout, GroupLayout } from '../key/layout.js';
import type { GroupTableParts } from '../table/group-parts.js';

/** A power of two: a partition is some bits of the hash of a key. */
export const PARTITIONS = 32;
const PARTITION_SHIFT = 32 - Math.log2(PARTITIONS);

/** Groups between two looks at the cancel flag, in loops of JavaScript. */
const GROUPS_PER_CHECK = 1 << 16;

/**
 * The groups of a table in the order of their partitions. A partition depends on the values of the keys only, so every
 * thread puts a group into the same one, whatever ids it has there.
 */
export class PartitionedGroups {
  readonly #context: RunContext;
  readonly #layout: GroupLayout;
  readonly #parts: GroupTableParts;
  /** Group numbers by partition, in kernel memory and here. */
  readonly #order: Uint32Array;
  readonly #orderAt: Address;
  readonly #starts: Uint32Array;
  /** Position of each group within its partition. */
  readonly #placeOf: Uint32Array;
  readonly #pairs: readonly ({ readonly order: Uint32Array; readonly starts: Uint32Array; readonly words: 1 | 2 } | undefined)[];

  readonly #objects: readonly (
    | { readonly encoded: EncodedStates; readonly order: Uint32Array; readonly starts: Uint32Array }
    | undefined
  )[];

  /** @param listed  numbers of the groups that exist; undefined: all */
  constructor({ context, arena }: Scratch, layout: GroupLayout, parts: GroupTableParts, listed: Uint32Array | undefined, level: number) {
    this.#context = context;
    this.#layout = layout;
    this.#parts = parts;
    const partitionOf = partitionsOf(context, layout, parts, level);
    const groups = listed ?? ascending(parts.groupCount, context.check);
    const byPartition = sortByPartition(context, groups.length, (at) => partitionOf[groups[at] ?? 0] ?? 0);
    this.#starts = byPartition.starts;
    this.#order = byPartition.order;
    this.#placeOf = new Uint32Array(parts.groupCount);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const start = this.#starts[partition] ?? 0;
      for (let at = start; at < (this.#starts[partition + 1] ?? 0); at++) {
        if (at % GROUPS_PER_CHECK === 0) context.check();
        const group = groups[this.#order[at] ?? 0] ?? 0;
        this.#order[at] = group;
        this.#placeOf[group] = at - start;
      }
    }
    this.#orderAt = arena.take(Math.max(1, this.#order.length) * 4);
    context.memory.u32(this.#orderAt, this.#order.length).set(this.#order);
    this.#objects = parts.states.map(({ objects }, index) => {
      if (objects === undefined) return undefined;
      const encoded = asTexts(context, objects, layout.aggregators[index]);
      return { encoded, ...sortByPartition(context, encoded.groups.length, (at) => partitionOf[encoded.groups[at] ?? 0] ?? 0) };
    });
    this.#pairs = layout.aggregators.map((aggregator, index) => {
      const pairs = parts.states[index]?.pairs;
      if (aggregator.kind !== 'distinct' || aggregator.store.kind !== 'pairs' || pairs === undefined) return undefined;
      const { words } = aggregator.store;
      const halves = context.memory.u32(pairs.keys, pairs.count * words * 2);
      return { words, ...sortByPartition(context, pairs.count, (at) => partitionOf[halves[at * words * 2] ?? 0] ?? 0) };
    });
  }

  countOf(partition: number): number {
    return countAt(this.#starts, partition);
  }

  pairCountOf(partition: number, aggregator: number): number {
    const pairs = this.#pairs[aggregator];
    return pairs === undefined ? 0 : countAt(pairs.starts, partition);
  }

  /** Aggregate states of the partition, groups counted from its first; undefined: the aggregator has none. */
  collectedOf(partition: number, aggregator: number): EncodedStates | undefined {
    const found = this.#objects[aggregator];
    if (found === undefined) return undefined;
    const { encoded: objects, order, starts } = found;
    const places = [...order.subarray(starts[partition], starts[partition + 1])];
    return {
      kind: 'encoded',
      groups: places.map((place) => this.#placeOf[objects.groups[place] ?? 0] ?? 0),
      orders: places.map((place) => objects.orders[place] ?? 0),
      states: places.map((place) => objects.states[place] ?? ''),
    };
  }

  /** Copies the packed keys, or the cells, of a partition. */
  copyKeys({ arena }: { readonly arena: Arena }, partition: number, out: Address): void {
    const { kernels, memory } = this.#context;
    const { indexLayout } = this.#layout;
    if (indexLayout.kind === 'dense') {
      memory.u32(out, this.countOf(partition)).set(this.#order.subarray(this.#starts[partition], this.#starts[partition + 1]));
      return;
    }
    const { words } = indexLayout;
    const index = arena.take(BLOCK_ROWS * 4);
    const values = arena.take(BLOCK_ROWS * 8);
    this.#eachBlock(partition, (order, from, n) => {
      kernels.keyDenseU32(order, 0, n, words, 0, index);
      for (let word = 0; word < words; word++) {
        kernels.gather64(this.#parts.keys + word * 8, index, n, values);
        kernels.keyWordI64(values, 0, n, words, word, 0, 1, out + from * words * 8);
      }
    });
  }

  /** 64-bit states. */
  copyStates(partition: number, states: Address, out: Address): void {
    this.#eachBlock(partition, (order, from, n) => this.#context.kernels.gather64(states, order, n, out + from * 8));
  }

  copySeen(partition: number, seen: Address, out: Address): void {
    const { memory } = this.#context;
    const source = memory.u8(seen, this.#parts.groupCount);
    const target = memory.u8(out, this.countOf(partition));
    const start = this.#starts[partition] ?? 0;
    for (let at = 0; at < target.length; at++) {
      if (at % GROUPS_PER_CHECK === 0) this.#context.check();
      target[at] = source[this.#order[start + at] ?? 0] ?? 0;
    }
  }

  copyBits(partition: number, bits: Address, bytesPerGroup: number, out: Address): void {
    const { memory } = this.#context;
    const start = this.#starts[partition] ?? 0;
    const count = this.countOf(partition);
    for (let at = 0; at < count; at++) {
      if (at % GROUPS_PER_CHECK === 0) this.#context.check();
      const group = this.#order[start + at] ?? 0;
      memory.u8(out + at * bytesPerGroup, bytesPerGroup).set(memory.u8(bits + group * bytesPerGroup, bytesPerGroup));
    }
  }

  copyPairs(partition: number, aggregator: number, out: Address): void {
    const pairs = this.#pairs[aggregator];
    const from = this.#parts.states[aggregator]?.pairs;
    if (pairs === undefined || from === undefined) return;
    const halvesEach = pairs.words * 2;
    const { memory } = this.#context;
    const source = memory.u32(from.keys, from.count * halvesEach);
    const start = pairs.starts[partition] ?? 0;
    const count = countAt(pairs.starts, partition);
    const target = memory.u32(out, count * halvesEach);
    for (let at = 0; at < count; at++) {
      if (at % GROUPS_PER_CHECK === 0) this.#context.check();
      const pair = (pairs.order[start + at] ?? 0) * halvesEach;
      target[at * halvesEach] = this.#placeOf[source[pair] ?? 0] ?? 0;
      for (let half = 1; half < halvesEach; half++) target[at * halvesEach + half] = source[pair + half] ?? 0;
    }
  }

  #eachBlock(partition: number, visit: (order: Address, from: number, n: number) => void): void {
    const start = this.#starts[partition] ?? 0;
    const count = this.countOf(partition);
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      this.#context.check();
      visit(this.#orderAt + (start + from) * 4, from, Math.min(BLOCK_ROWS, count - from));
    }
  }
}

function countAt(starts: Uint32Array, partition: number): number {
  return (starts[partition + 1] ?? 0) - (starts[partition] ?? 0);
}

/** Positions 0 to n - 1, those of partition p at [starts[p], starts[p + 1]), ascending within it. */
function sortByPartition(
  context: RunContext,
  n: number,
  partitionAt: (position: number) => number,
): { readonly order: Uint32Array; readonly starts: Uint32Array } {
  const starts = new Uint32Array(PARTITIONS + 1);
  for (let at = 0; at < n; at++) {
    if (at % GROUPS_PER_CHECK === 0) context.check();
    const next = partitionAt(at) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  for (let partition = 1; partition <= PARTITIONS; partition++) starts[partition] = (starts[partition] ?? 0) + (starts[partition - 1] ?? 0);
  const ends = starts.slice();
  const order = new Uint32Array(n);
  for (let at = 0; at < n; at++) {
    if (at % GROUPS_PER_CHECK === 0) context.check();
    const partition = partitionAt(at);
    const place = ends[partition] ?? 0;
    order[place] = at;
    ends[partition] = place + 1;
  }
  return { order, starts };
}

/** The partition of each group. */
function partitionsOf(context: RunContext, layout: GroupLayout, parts: GroupTableParts, level: number): Uint8Array {
  const { memory } = context;
  const { indexLayout } = layout;
  const partitions = new Uint8Array(parts.groupCount);
  const seed = Math.imul(level + 1, 0x9e3779b1);
  if (indexLayout.kind === 'dense') {
    for (let cell = 0; cell < partitions.length; cell++) {
      if (cell % GROUPS_PER_CHECK === 0) context.check();
      partitions[cell] = finalMix(mix(seed, cell)) >>> PARTITION_SHIFT;
    }
    return partitions;
  }
  const halvesEach = indexLayout.words * 2;
  const halves = memory.u32(parts.keys, parts.groupCount * halvesEach);
  // Ids of interned values differ between threads; what they stand for does not.
  const hashes = Array.from({ length: halvesEach }, (): Uint32Array | undefined => undefined);
  layout.keys.forEach((key, index) => {
    const place = indexLayout.places[index];
    if (key.domain.kind !== 'interned' || place?.kind !== 'half') return;
    hashes[place.word * 2 + place.shift / 32] = hashesOf(context, parts.pools[index] ?? NO_VALUES);
  });
  for (let group = 0; group < partitions.length; group++) {
    if (group % GROUPS_PER_CHECK === 0) context.check();
    let hash = seed;
    for (let half = 0; half < halvesEach; half++) {
      const id = halves[group * halvesEach + half] ?? 0;
      const known = hashes[half];
      hash = mix(hash, known === undefined ? id : (known[id] ?? 0));
    }
    partitions[group] = finalMix(hash) >>> PARTITION_SHIFT;
  }
  return partitions;
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

function finalMix(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return mixed ^ (mixed >>> 13);
}

function asTexts(context: RunContext, objects: StateParts, aggregator: AggregatorLayout | undefined): EncodedStates {
  switch (objects.kind) {
    case 'encoded':
      return objects;
    case 'texts':
      return encodedTexts(context, objects);
    case 'timed':
      return encodedTimed(context, objects);
    case 'lists':
      return encodedLists(context, objects);
    case 'moments':
      return encodedMoments(context, objects);
    case 'pieces':
      return encodedPieces(context, objects);
    case 'bits':
      assert(aggregator?.kind === 'state', 'bits are those of states');
      return encodedBits(context, objects, aggregator.states);
    case 'hashes':
      assert(aggregator?.kind === 'state', 'hashes are those of states');
      return encodedHashes(context, objects, aggregator.states);
  }
}
