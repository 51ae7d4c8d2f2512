// Collects the numbers of a segment's rows by group, for quantiles sketches.

import { BLOCK_ROWS } from '../../../base/layout.js';
import { STRETCH_COUNTS } from '../../../kernels/stretch-contract.js';
import { Quantiles } from '../../../sketch/quantiles.js';
import type { RunContext } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import { widenedNumbers } from '../number-feed.js';
import type { Feed, SharedWork } from '../state-operations.js';
import { ValuePieces } from './value-pieces.js';

/** Values that are collected before those of large groups go to their sketches. */
const COLLECTED = 1 << 19;

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

/** Values of a segment with the numbers of their groups, in the order of rows. A group with as many as a sketch's buffer holds gets a sketch. */
function collectingFeed(scope: SegmentScope, column: string, k: number): CollectingFeed | undefined {
  const numbers = widenedNumbers(scope, column);
  if (numbers === undefined) return undefined;
  const { memory } = scope.context;
  const large = new Map<number, Quantiles>();
  let [groupsOf, values] = [new Uint32Array(0), new Float64Array(0)];
  let [count, limit] = [0, COLLECTED];

  const reserve = (room: number): void => {
    if (room <= values.length) return;
    const grown = Math.max(room, values.length === 0 ? Math.min(scope.view.rowCount, COLLECTED + BLOCK_ROWS) : values.length * 2);
    const [moreGroups, moreValues] = [new Uint32Array(grown), new Float64Array(grown)];
    moreGroups.set(groupsOf);
    moreValues.set(values);
    [groupsOf, values] = [moreGroups, moreValues];
  };
  /** Gives large groups their values, and keeps those of the others, by group, each ascending. */
  const settle = (): Uint32Array => {
    const collected = { groups: groupsOf.subarray(0, count), values: values.subarray(0, count) };
    count = 0;
    return byGroup(scope.context, collected, (starts, placed) => {
      for (let group = 0, from = 0; group + 1 < starts.length; group++) {
        const to = starts[group + 1] ?? 0;
        starts[group] = count;
        let sketch = large.get(group);
        if (sketch === undefined && to - from >= 2 * k) {
          sketch = new Quantiles(k);
          large.set(group, sketch);
        }
        if (sketch !== undefined) sketch.addSorted(placed, from, to);
        else
          for (let at = from; at < to; at++) {
            values[count] = placed[at] ?? 0;
            groupsOf[count++] = group;
          }
        from = to;
      }
      starts[starts.length - 1] = count;
    });
  };

  return {
    nulls: numbers.nulls,
    bytesOf: () => values.length * 12 + large.size * k * 32,
    add(block, rows, groups, n) {
      const read = numbers.read(block, rows, n);
      reserve(count + n);
      values.set(memory.f64(read, n), count);
      groupsOf.set(memory.u32(groups, n), count);
      count += n;
      if (count < limit) return;
      settle();
      limit = Math.max(COLLECTED, count * 4);
    },
    end(order) {
      const pieces = new ValuePieces(k);
      pieces.addGroups(settle(), order, values);
      for (const [group, sketch] of large) pieces.addSketch(group, order, sketch);
      [groupsOf, values] = [new Uint32Array(0), new Float64Array(0)];
      return pieces;
    },
  };
}

/**
 * Values by group, those of each ascending, while `visit` looks at them: those of group g from `starts[g]` on, to where those of the next one begin. NaN is left out.
 * @returns the starts, as `visit` has left them
 */
function byGroup(
  { memory, kernels }: RunContext,
  { groups, values }: { readonly groups: Uint32Array; readonly values: Float64Array },
  visit: (starts: Uint32Array, placed: Float64Array) => void,
): Uint32Array {
  const n = values.length;
  let groupCount = 0;
  for (let at = 0; at < n; at++) groupCount = Math.max(groupCount, (groups[at] ?? 0) + 1);
  const arena = memory.arena();
  try {
    const [groupsAt, valuesAt, placedAt] = [arena.take(n * 4), arena.take(n * 8), arena.take(n * 8)];
    const [startsAt, counts] = [arena.take((groupCount + 1) * 4), arena.take(STRETCH_COUNTS * 4)];
    memory.u32(groupsAt, n).set(groups);
    memory.f64(valuesAt, n).set(values);
    const count = kernels.placeByGroup(groupsAt, valuesAt, n, groupCount, startsAt, placedAt);
    // The values are placed: their room is that of the longest group.
    kernels.sortStretches(placedAt, startsAt, groupCount, valuesAt, counts);
    const starts = memory.u32(startsAt, groupCount + 1).slice();
    visit(starts, memory.f64(placedAt, count));
    return starts;
  } finally {
    arena.release();
  }
}
