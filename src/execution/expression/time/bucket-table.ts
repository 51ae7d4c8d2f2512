// Tables of buckets of time in kernel memory.

import { BoundedCache } from '../../../base/bounded-cache.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Scratch } from '../../block/context.js';
import type { Grain } from './grains.js';
import { nullTest, rangeFinder } from './range.js';
import type { Step } from './steps.js';

/** Buckets of a table in kernel memory. */
const TABLE_MAX = BLOCK_ROWS;

/** Beyond these instants doubles do not count milliseconds. */
const INSTANT_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The common buckets of grains that the instants of a block meet, as ascending starts in kernel memory. They are found
 * when a block needs others than the one before.
 */
export class BucketTable {
  readonly starts: Address;
  count = 0;
  readonly #scratch: Scratch;
  readonly #grains: readonly Grain[];
  readonly #changed: (starts: BigInt64Array) => void;
  /** Span of the table as it is: the first start, and the end of the last bucket. */
  #first = 0;
  #end = 0;
  /** Longest stretch known to have too many buckets. */
  #tooLong = Infinity;

  /** @param changed  is told the starts of a new table */
  constructor(scratch: Scratch, grains: readonly Grain[], changed: (starts: BigInt64Array) => void) {
    this.#scratch = scratch;
    this.#grains = grains;
    this.#changed = changed;
    this.starts = scratch.arena.take((TABLE_MAX + 1) * 8);
  }

  /** Makes the table one that has the buckets of [low, high]; false when they are more than `max`. */
  covers(low: bigint, high: bigint, max: number): boolean {
    if (low < -INSTANT_MAX || high > INSTANT_MAX) return false;
    const [from, to] = [Number(low), Number(high)];
    if (from >= this.#first && to < this.#end) return true;
    if (to - from >= this.#tooLong) return false;
    const most = Math.min(max, TABLE_MAX);
    // Blocks of instants in no order ask for about the same stretch each, blocks in order for one after the other.
    const common = Math.min(to, this.#end - 1) - Math.max(from, this.#first);
    const isSimilar = common * 2 > Math.min(to - from, this.#end - this.#first);
    const cuts =
      (isSimilar ? this.#cuts(Math.min(from, this.#first), Math.max(to, this.#end - 1), most) : undefined) ?? this.#cuts(from, to, most);
    if (cuts === undefined) {
      this.#tooLong = to - from;
      return false;
    }
    const { memory } = this.#scratch.context;
    const boundaries = BigInt64Array.from(cuts, BigInt);
    this.count = cuts.length - 1;
    this.#first = cuts[0] ?? 0;
    this.#end = cuts.at(-1) ?? 0;
    memory.i64(this.starts, cuts.length).set(boundaries);
    this.#changed(boundaries.subarray(0, this.count));
    return true;
  }

  /** Ascending, one more than there are buckets. */
  #cuts(low: number, high: number, max: number): readonly number[] | undefined {
    const [only, ...others] = this.#grains.map((grain) => cutsWithin(grain, low, high, max));
    if (only === undefined || others.includes(undefined)) return undefined;
    if (others.length === 0) return only;
    // Instants outside of one grain's buckets are not cut by that one.
    const all = [only, ...others].map((cuts) => cuts ?? []);
    const start = all.reduce((latest, [first = latest]) => Math.max(latest, first), -Infinity);
    const end = all.reduce((earliest, cuts) => Math.min(earliest, cuts.at(-1) ?? earliest), Infinity);
    const merged = [...new Set(all.flat())].filter((cut) => cut >= start && cut <= end).sort((a, b) => a - b);
    return merged.length - 1 > max ? undefined : merged;
  }
}

/** A grain's boundaries are kept, as those in zones with daylight saving take long to find. */
const KNOWN = new BoundedCache<string, number[]>(16 * 1024 * 1024);

const KNOWN_MAX = 100_000;

/** Starts of the buckets that meet [low, high], and the end of the last; undefined when they are more than `max`. */
export function cutsWithin(grain: Grain, low: number, high: number, max: number): readonly number[] | undefined {
  const { key, lengthMs, buckets } = grain;
  if ((high - low) / lengthMs > max * 1.5) return undefined;
  const known = KNOWN.find(key) ?? [];
  const [first, last] = [known[0], known.at(-1)];
  const isNear = first !== undefined && last !== undefined && (Math.max(high, last) - Math.min(low, first)) / lengthMs < KNOWN_MAX;
  const cuts = isNear ? known : [buckets.floor(low)];
  const before: number[] = [];
  for (let start = cuts[0] ?? 0; start > low; before.push(start)) start = buckets.floor(start - 1);
  const all = before.length === 0 ? cuts : [...before.reverse(), ...cuts];
  for (let end = all.at(-1) ?? 0; end <= high; all.push(end)) end = buckets.next(end);
  if (all !== known || all.at(-1) !== last) KNOWN.keep(key, all, all.length * 8);
  const from = upperBound(all, low) - 1;
  const to = upperBound(all, high);
  return to - from > max ? undefined : all.slice(from, to + 1);
}

/** Number of entries <= value. */
function upperBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The start or end of the bucket that each instant lies in; `each` computes one of them where a table would be longer than the block. */
export function bucketStep(
  scratch: Scratch,
  grain: Grain,
  { result, each }: { readonly result: 'start' | 'end'; readonly each: (ms: number) => number },
): Step {
  const { memory, kernels } = scratch.context;
  const table = new BucketTable(scratch, [grain], () => undefined);
  const results = table.starts + (result === 'start' ? 0 : 8);
  const findRange = rangeFinder(scratch);
  return (from, rows, out, { nulls }) => {
    const range = findRange(from, rows, nulls);
    if (range === undefined) return;
    if (table.covers(range.low, range.high, rows)) {
      kernels.step64(from, rows, table.starts, table.count, results, out);
      return;
    }
    const [values, floors] = [memory.i64(from, rows), memory.i64(out, rows)];
    const isNull = nullTest(scratch, nulls, rows);
    for (let row = 0; row < rows; row++) floors[row] = isNull(row) ? 0n : BigInt(each(Number(values[row])));
  };
}
