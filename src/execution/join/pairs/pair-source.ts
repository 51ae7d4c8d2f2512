// Pairs of rows of a view and rows of a build side that lists, or places in an order, lead to.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import type { RunContext } from '../../block/context.js';
import type { BuildSide } from '../build-side.js';
import { ABSENT } from '../join-keys.js';
import type { RangeWindows } from '../range/range-windows.js';

/** Pairs at a time on which a condition is tried. */
export const TRIED_PAIRS = 1 << 16;
/** Partners of a row that are tried first where one is enough, and how many times as many are tried after them. */
const FIRST_PARTNERS = 2;
const MORE_PARTNERS = 8;

/** Numbers of the join kinds in the kernel `joinPairs`. */
export const PAIR_KINDS = { inner: 0, left: 1, right: 0, full: 1, semi: 2, anti: 3, mark: 2 } as const;

/** A row of the probe side and one of the build side, or absent. */
export interface Pairs {
  readonly left: Address;
  readonly right: Address;
  readonly count: number;
}

/** Numbers of lists of the build side, of the rows of a view; or of `rows`, u32, of them, each as often as its keys have values. */
export interface KeyedRows {
  readonly rowCount: number;
  readonly numbers: Address;
  readonly rows: Address | undefined;
  /** Starts of the lists, as the build side has them by key; or first and last places of the rows, of which each then has twice its own number. */
  readonly starts: Address;
  readonly windows: RangeWindows | undefined;
}

/** Rows, u32, each with two places, u32, and one behind its last partner, u32. */
interface Lists {
  readonly rows: Address;
  readonly places: Address;
  readonly ends: Address;
}

/** Pairs of the rows of one view after another, on one thread. */
export class PairSource {
  readonly #context: RunContext;
  readonly #build: BuildSide;
  readonly #arena: Arena;

  /** @param arena  memory of one view */
  constructor(context: RunContext, build: BuildSide, arena: Arena) {
    this.#context = context;
    this.#build = build;
    this.#arena = arena;
  }

  /** All pairs of the view's rows, as many at a time as there is room for. */
  *cut(
    { rowCount, numbers, rows: given, starts }: Omit<KeyedRows, 'windows'>,
    kind: number,
    room: number,
  ): Generator<{ readonly pairs: Pairs; readonly isOneEach: boolean }> {
    const { memory, kernels } = this.#context;
    const { rows } = this.#build;
    const [left, right, cursor] = [this.#arena.take(room * 4), this.#arena.take(room * 4), this.#arena.take(12)];
    const own = given === undefined ? left : this.#arena.take(room * 4);
    memory.u32(cursor, 3).set([0, 0, 1]);
    for (let next = 0; next < rowCount; ) {
      this.#context.check();
      let [count, isOneEach] = [0, false];
      if (starts === 0) {
        const end = Math.min(rowCount, next + room);
        count = kernels.joinOnlyPairs(numbers, next, end, rows, kind, left, right);
        isOneEach = count === rowCount;
        next = end;
      } else {
        count = kernels.joinPairs(numbers, rowCount, starts, rows, kind, cursor, room, left, right);
        const [reached = 0, , oneEach] = memory.u32(cursor, 3);
        isOneEach = oneEach === 1 && reached === rowCount;
        next = reached;
      }
      if (given !== undefined) kernels.gather32(given, left, count, own);
      if (count > 0) yield { pairs: { left: own, right, count }, isOneEach };
    }
  }

  /** Pairs to be tried where one for each row is enough: of few partners, then of more for the rows that are not in `met`, bytes, by then. */
  *untilMet(keyed: KeyedRows, met: Address): Generator<Pairs> {
    if (keyed.starts === 0) {
      yield* this.allPairs(keyed);
      return;
    }
    if (keyed.windows !== undefined && keyed.windows.limits !== 0) {
      for (let partners = FIRST_PARTNERS, isLast = false; !isLast; partners *= MORE_PARTNERS) {
        isLast = true;
        for (const pairs of this.#reached(keyed.windows, keyed.rowCount, Math.min(partners, ABSENT), met)) {
          isLast = false;
          yield pairs;
        }
      }
      return;
    }
    const { memory } = this.#context;
    const { rowCount } = keyed;
    const [numbers, rows] = [this.#arena.take(rowCount * 4), this.#arena.take(rowCount * 4)];
    // Places of the partners of each row that are tried next, from and to; and the place behind the last one.
    const [places, ends] = [this.#arena.take(rowCount * 8), this.#arena.take(rowCount * 4)];
    let left = this.#allPartners(keyed, { numbers, rows, places, ends });
    for (let partners = FIRST_PARTNERS; left > 0; partners *= MORE_PARTNERS) {
      const [windows, last] = [memory.u32(places, left * 2), memory.u32(ends, left)];
      for (let at = 0; at < left; at++) windows[at * 2 + 1] = Math.min((windows[at * 2] ?? 0) + partners, last[at] ?? 0);
      for (const { pairs } of this.cut({ rowCount: left, numbers, rows, starts: places }, PAIR_KINDS.inner, TRIED_PAIRS)) yield pairs;
      left = this.#unmet(left, met, { rows, places, ends });
    }
  }

  /** Lists the rows that have partners, with the places of these; returns how many. */
  #allPartners({ rowCount, numbers: given, rows: own, starts: bounds }: KeyedRows, to: Lists & { readonly numbers: Address }): number {
    const { memory } = this.#context;
    const [keys, starts] = [memory.u32(given, rowCount), memory.u32(bounds)];
    const source = own === undefined ? undefined : memory.u32(own, rowCount);
    const [numbers, rows] = [memory.u32(to.numbers, rowCount), memory.u32(to.rows, rowCount)];
    const [places, ends] = [memory.u32(to.places, rowCount * 2), memory.u32(to.ends, rowCount)];
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      const key = keys[row] ?? ABSENT;
      if (key === ABSENT || starts[key] === starts[key + 1]) continue;
      numbers[count] = count * 2;
      rows[count] = source?.[row] ?? row;
      places[count * 2] = starts[key] ?? 0;
      ends[count++] = starts[key + 1] ?? 0;
    }
    return count;
  }

  /** Keeps the rows that are not met and have partners behind those that were tried; returns how many. */
  #unmet(count: number, met: Address, lists: Lists): number {
    const { memory } = this.#context;
    const [rows, places, ends] = [memory.u32(lists.rows, count), memory.u32(lists.places, count * 2), memory.u32(lists.ends, count)];
    const isMet = memory.u8(met);
    let kept = 0;
    for (let at = 0; at < count; at++) {
      const [row = 0, reached = 0, end = 0] = [rows[at], places[at * 2 + 1], ends[at]];
      if (isMet[row] === 1 || reached === end) continue;
      rows[kept] = row;
      places[kept * 2] = reached;
      ends[kept++] = end;
    }
    return kept;
  }

  /** All pairs that are to be tried. */
  *allPairs(keyed: KeyedRows): Generator<Pairs> {
    if (keyed.windows !== undefined && keyed.windows.limits !== 0) yield* this.#reached(keyed.windows, keyed.rowCount, ABSENT, 0);
    else for (const { pairs } of this.cut(keyed, PAIR_KINDS.inner, TRIED_PAIRS)) yield pairs;
  }

  /** Pairs of rows and places of their windows that are within their limits, at most so many of a row; only of rows that are not in `met`, bytes, or 0. */
  *#reached({ places, limits }: RangeWindows, rowCount: number, each: number, met: Address): Generator<Pairs> {
    const { memory, kernels, check } = this.#context;
    const { rows, order } = this.#build;
    const { levels = 0, levelCount = 0 } = order?.reach ?? {};
    const [left, right, cursor] = [this.#arena.take(TRIED_PAIRS * 4), this.#arena.take(TRIED_PAIRS * 4), this.#arena.take(4)];
    const next = (): number => memory.u32(cursor, 1)[0] ?? 0;
    memory.u32(cursor, 1)[0] = 0;
    for (let end = Math.min(BLOCK_ROWS, rowCount); next() < rowCount; ) {
      check();
      const count = kernels.rangePairs(places, limits, met, end, rows, levels, levelCount, each, cursor, TRIED_PAIRS, left, right);
      if (count > 0) yield { left, right, count };
      if (next() === end) end = Math.min(end + BLOCK_ROWS, rowCount);
    }
  }
}
