// Collects the numbers of a segment's rows by group, for quantiles sketches.

import { Quantiles } from '../../../sketch/quantiles.js';
import type { SegmentScope } from '../../expression/scope.js';
import { widenedNumbers } from '../number-feed.js';
import type { Feed, SharedWork } from '../state-operations.js';
import { ValuePieces } from './value-pieces.js';

/** Values that are collected before those of large groups go to their sketches. */
const COLLECTED = 1 << 18;

/** Quantiles of the same values are read from the same pieces: aggregators with the same filter collect them once. */
export function quantilesFeed(scope: SegmentScope, column: string, k: number, shared: SharedWork): Feed<Quantiles> | undefined {
  const name = `quantiles ${k} ${column}`;
  const known = shared.get(name);
  if (known instanceof SharedPieces) return known.follower();
  const feed = collectingFeed(scope, column, k);
  if (feed === undefined) return undefined;
  const pieces = new SharedPieces(feed);
  shared.set(name, pieces);
  return { nulls: feed.nulls, add: feed.add, bytesOf: () => feed.bytesOf?.() ?? 0, endPieces: pieces.give };
}

/** Pieces that one feed collects, for all that ask. */
class SharedPieces {
  readonly #feed: CollectingFeed;
  #pieces: ValuePieces | undefined;

  constructor(feed: CollectingFeed) {
    this.#feed = feed;
  }

  /** @param order  place of the segment in the query */
  readonly give = (order: number, add: (pieces: ValuePieces) => void): void => add((this.#pieces ??= this.#feed.end(order)));

  /** A feed that gives them without collecting anything. */
  follower(): Feed<Quantiles> {
    return { nulls: this.#feed.nulls, add: () => undefined, endPieces: this.give };
  }
}

type CollectingFeed = Pick<Feed<Quantiles>, 'nulls' | 'add' | 'bytesOf'> & { end(order: number): ValuePieces };

/** The values that are numbers, in their order and in place. */
function withoutNaN(values: Float64Array): Float64Array {
  let count = 0;
  for (const value of values) if (!Number.isNaN(value)) values[count++] = value;
  return values.subarray(0, count);
}

/** Values of a segment with the numbers of their groups, in the order of rows. A group with as many as a sketch's buffer holds gets a sketch. */
function collectingFeed(scope: SegmentScope, column: string, k: number): CollectingFeed | undefined {
  const numbers = widenedNumbers(scope, column);
  if (numbers === undefined) return undefined;
  const { memory } = scope.context;
  const large = new Map<number, Quantiles>();
  let [groupsOf, values] = [new Uint32Array(0), new Float64Array(0)];
  let [count, limit, groupCount] = [0, COLLECTED, 0];

  const reserve = (room: number): void => {
    if (room <= values.length) return;
    const grown = Math.max(room, values.length * 2);
    const [moreGroups, moreValues] = [new Uint32Array(grown), new Float64Array(grown)];
    moreGroups.set(groupsOf);
    moreValues.set(values);
    [groupsOf, values] = [moreGroups, moreValues];
  };
  /** Gives large groups their values in the order of rows, and those of the others to `keep`. */
  const settle = (keep: (group: number, placed: Float64Array, from: number, to: number) => void): void => {
    const [starts, placed] = [new Uint32Array(groupCount), new Float64Array(count)];
    for (let at = 0; at < count; at++) {
      const group = groupsOf[at] ?? 0;
      starts[group] = (starts[group] ?? 0) + 1;
    }
    let end = 0;
    for (let group = 0; group < groupCount; group++) {
      const n = starts[group] ?? 0;
      starts[group] = end;
      end += n;
    }
    for (let at = 0; at < count; at++) {
      const group = groupsOf[at] ?? 0;
      const place = starts[group] ?? 0;
      placed[place] = values[at] ?? 0;
      starts[group] = place + 1;
    }
    const scratch = new Float64Array(count);
    count = 0;
    // Starts have become ends.
    for (let [group, from] = [0, 0]; group < groupCount; group++) {
      const to = starts[group] ?? 0;
      let sketch = large.get(group);
      if (sketch === undefined && to - from >= 2 * k) {
        sketch = new Quantiles(k);
        large.set(group, sketch);
      }
      if (sketch !== undefined) sketch.addMany(withoutNaN(placed.subarray(from, to)), scratch);
      else if (from < to) keep(group, placed, from, to);
      from = to;
    }
  };

  return {
    nulls: numbers.nulls,
    bytesOf: () => values.length * 12 + large.size * k * 32,
    add(block, rows, groups, n) {
      const read = memory.f64(numbers.read(block, rows, n), n);
      const groupsRead = memory.u32(groups, n);
      reserve(count + n);
      for (let i = 0; i < n; i++) {
        const group = groupsRead[i] ?? 0;
        if (group >= groupCount) groupCount = group + 1;
        values[count] = read[i] ?? 0;
        groupsOf[count++] = group;
      }
      if (count < limit) return;
      settle((group, placed, from, to) => {
        for (let at = from; at < to; at++) {
          values[count] = placed[at] ?? 0;
          groupsOf[count++] = group;
        }
      });
      limit = Math.max(COLLECTED, count * 4);
    },
    end(order) {
      const pieces = new ValuePieces(k);
      settle((group, placed, from, to) => pieces.add(group, order, placed, from, to));
      for (const [group, sketch] of large) pieces.addSketch(group, order, sketch);
      return pieces;
    },
  };
}
