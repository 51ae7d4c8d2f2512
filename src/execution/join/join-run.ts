// Runs one join over a view of rows on one thread.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { createByName, own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { columnsOfExpression } from '../../model/columns-read.js';
import type { JoinStage } from '../../model/stage.js';
import type { ColumnView, SegmentView } from '../../storage/view.js';
import { blockAt, clear, type RunContext, takeBits } from '../block/context.js';
import { openScope } from '../expression/open-scope.js';
import { virtualColumnsByName } from '../expression/scope.js';
import { bindFilter } from '../filter/bind.js';
import { ALL, NONE } from '../filter/predicate.js';
import type { BuildSide } from './build-side.js';
import { ABSENT, KeyReader, keyName } from './join-keys.js';
import { listedRows } from './listed-keys.js';
import { gatherColumn, markColumn, type RowNumbers } from './view-rows.js';

/** Pairs of rows at a time: of those that are put out as they are, and of those on which a condition is tried first. */
const PAIRS = 1 << 18;
const TRIED_PAIRS = 1 << 16;
/** Partners of a row that are tried first where one is enough, and how many times as many are tried after them. */
const FIRST_PARTNERS = 2;
const MORE_PARTNERS = 8;

/** Numbers of the join kinds in the kernel `joinPairs`. */
const PAIR_KINDS = { inner: 0, left: 1, right: 0, full: 1, semi: 2, anti: 3, mark: 2 } as const;

/** A row of the probe side and one of the build side, or absent. */
interface Pairs {
  readonly left: Address;
  readonly right: Address;
  readonly count: number;
}

/** Numbers of keys, of the rows of a view; or of `rows`, u32, of them, each as often as its keys have values. */
interface KeyedRows {
  readonly rowCount: number;
  readonly numbers: Address;
  readonly rows: Address | undefined;
}

/** Rows, u32, each with two places, u32, and one behind its last partner, u32. */
interface Lists {
  readonly rows: Address;
  readonly places: Address;
  readonly ends: Address;
}

/**
 * One join on one thread: key numbers of all rows of a view, pairs of rows, then the needed columns gathered by them. A
 * condition is tried on pairs, of which only its columns are gathered; rows of which no pair was left come after the
 * pairs.
 */
export class JoinRun {
  readonly #context: RunContext;
  readonly #stage: JoinStage;
  readonly #needed: ReadonlySet<string>;
  readonly #build: BuildSide;
  readonly #keys: KeyReader;
  /** Memory of one view. */
  readonly #arena: Arena;
  /** Memory of one batch. */
  readonly #piece: Arena;

  constructor(context: RunContext, stage: JoinStage, needed: ReadonlySet<string>, build: BuildSide) {
    this.#context = context;
    this.#stage = stage;
    this.#needed = needed;
    this.#build = build;
    this.#keys = new KeyReader(context, stage.keys, build.numbering);
    this.#arena = context.memory.arena();
    this.#piece = context.memory.arena();
  }

  *run(view: SegmentView): Generator<SegmentView> {
    try {
      const listed = listedRows(this.#context, this.#arena, view, this.#stage.keys);
      const keyed = {
        rowCount: listed?.view.rowCount ?? view.rowCount,
        numbers: this.#numberRows(listed?.view ?? view),
        rows: listed?.rows,
      };
      if (this.#stage.mark !== undefined) yield this.#marked(view, keyed, this.#stage.mark);
      else if (this.#stage.condition === null && listed === undefined) yield* this.#pairs(view, keyed);
      else yield* this.#triedPairs(view, keyed);
    } finally {
      this.#piece.release();
      this.#arena.release();
    }
  }

  /** Rows of the build side that nothing met, where the join keeps them. */
  *rest(): Generator<SegmentView> {
    const { type } = this.#stage;
    const { view, marks } = this.#build;
    if (type !== 'right' && type !== 'full') return;
    const { kernels } = this.#context;
    const at = this.#arena.take(BLOCK_ROWS * 4);
    const bits = takeBits(this.#arena);
    try {
      for (let start = 0; start < view.rowCount; start += BLOCK_ROWS) {
        this.#context.check();
        const block = blockAt(start, view.rowCount);
        kernels.filterEqU8(marks + start, block.rows, 0, bits);
        const count = kernels.bitsToRows(bits, 0, block.rows, at);
        if (count === 0) continue;
        this.#shift(at, count, start);
        yield {
          ...view,
          id: '',
          timeMin: -Infinity,
          timeMax: Infinity,
          rowCount: count,
          columns: this.#rightColumns({ at, count }, this.#needed),
        };
        this.#piece.release();
      }
    } finally {
      this.#piece.release();
      this.#arena.release();
    }
  }

  forget(): void {
    this.#keys.forget();
  }

  close(): void {
    this.#keys.forget();
    this.#arena.release();
    this.#piece.release();
  }

  #numberRows(view: SegmentView): Address {
    const columns = this.#stage.keys.map(
      ({ probe, type }, index): VirtualColumn => ({ name: keyName(index), expression: probe, outputType: type }),
    );
    const numbers = this.#arena.take(view.rowCount * 4);
    this.#keys.number(openScope(this.#context, view, virtualColumnsByName(columns), this.#arena), numbers);
    return numbers;
  }

  *#pairs(view: SegmentView, keyed: KeyedRows): Generator<SegmentView> {
    const { type } = this.#stage;
    const { marks } = this.#build;
    // The view's columns stay as they are when every row has one partner.
    const room = Math.min(PAIRS, Math.max(view.rowCount, BLOCK_ROWS));
    for (const { pairs, isOneEach } of this.#cut(keyed, PAIR_KINDS[type], room)) {
      if (marks !== 0) this.#context.kernels.joinMark(pairs.right, pairs.count, marks);
      yield this.#output(view, pairs, isOneEach && pairs.count === view.rowCount);
      this.#piece.release();
    }
  }

  /** All pairs of the view's rows, as many at a time as there is room for. */
  *#cut(
    { rowCount, numbers, rows: given }: KeyedRows,
    kind: number,
    room: number,
    starts = this.#build.starts,
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
  *#untilMet(keyed: KeyedRows, met: Address): Generator<Pairs> {
    const { starts } = this.#build;
    if (starts === 0) {
      yield* this.#allPairs(keyed);
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
      for (const { pairs } of this.#cut({ rowCount: left, numbers, rows }, PAIR_KINDS.inner, TRIED_PAIRS, places)) yield pairs;
      left = this.#unmet(left, met, { rows, places, ends });
    }
  }

  /** Lists the rows that have partners, with the places of these; returns how many. */
  #allPartners({ rowCount, numbers: given, rows: own }: KeyedRows, to: Lists & { readonly numbers: Address }): number {
    const { memory } = this.#context;
    const [keys, starts] = [memory.u32(given, rowCount), memory.u32(this.#build.starts)];
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

  /** All rows of the view, with a column that says which have a partner. */
  #marked(view: SegmentView, keyed: KeyedRows, name: string): SegmentView {
    const { kernels } = this.#context;
    const met = this.#arena.take(Math.ceil(view.rowCount / 64) * 64);
    clear(this.#context, met, view.rowCount);
    const isTried = this.#stage.condition !== null;
    const kept = { left: this.#arena.take(TRIED_PAIRS * 4), right: this.#arena.take(TRIED_PAIRS * 4) };
    if (isTried)
      for (const pairs of this.#untilMet(keyed, met)) {
        kernels.joinMark(kept.left, this.#try(view, pairs, kept), met);
        this.#piece.release();
      }
    else for (const { pairs } of this.#cut(keyed, PAIR_KINDS.mark, TRIED_PAIRS)) kernels.joinMark(pairs.left, pairs.count, met);
    const columns = Object.entries(view.columns).filter(([own]) => this.#needed.has(own));
    return { ...view, columns: { ...Object.fromEntries(columns), [name]: markColumn(met) } };
  }

  /** Pairs tried on the condition. Whether a row that is looked up by several values has a partner is known after the last one. */
  *#triedPairs(view: SegmentView, keyed: KeyedRows): Generator<SegmentView> {
    const { type, condition } = this.#stage;
    const { kernels } = this.#context;
    const { marks } = this.#build;
    const keepsPairs = type !== 'semi' && type !== 'anti';
    const met = type === 'inner' || type === 'right' ? 0 : this.#arena.take(view.rowCount);
    if (met !== 0) clear(this.#context, met, view.rowCount);
    const kept = { left: this.#arena.take(TRIED_PAIRS * 4), right: this.#arena.take(TRIED_PAIRS * 4) };
    for (const pairs of keepsPairs ? this.#allPairs(keyed) : this.#untilMet(keyed, met)) {
      const partners: Pairs = condition === null ? pairs : { left: kept.left, right: kept.right, count: this.#try(view, pairs, kept) };
      this.#piece.release();
      if (partners.count === 0) continue;
      if (met !== 0) kernels.joinMark(partners.left, partners.count, met);
      if (marks !== 0) kernels.joinMark(partners.right, partners.count, marks);
      if (!keepsPairs) continue;
      yield this.#output(view, partners, false);
      this.#piece.release();
    }
    if (met !== 0) yield* this.#byMark(view, met, type === 'semi' ? 1 : 0);
  }

  *#allPairs(keyed: KeyedRows): Generator<Pairs> {
    for (const { pairs } of this.#cut(keyed, PAIR_KINDS.inner, TRIED_PAIRS)) yield pairs;
  }

  /** Writes the pairs for which the condition is true; returns how many. */
  #try(view: SegmentView, pairs: Pairs, kept: Omit<Pairs, 'count'>): number {
    const { condition } = this.#stage;
    if (condition === null) return 0;
    const { kernels } = this.#context;
    const piece = this.#columnsOf(view, pairs, columnsOfExpression(condition), false);
    const scope = openScope(this.#context, piece, {}, this.#piece);
    const predicate = bindFilter(scope, { kind: 'expression', expression: condition }, false);
    if (predicate.constant === NONE) return 0;
    const positions = this.#piece.take(BLOCK_ROWS * 4);
    const all = takeBits(this.#piece);
    let count = 0;
    for (let start = 0; start < pairs.count; start += BLOCK_ROWS) {
      this.#context.check();
      const block = blockAt(start, pairs.count);
      const match = predicate.test(block);
      if (match === NONE) continue;
      if (match === ALL) kernels.bitsFill(all, Math.ceil(block.rows / 64), 0, block.rows);
      const found = kernels.bitsToRows(match === ALL ? all : match, 0, block.rows, positions);
      kernels.gather32(pairs.left + start * 4, positions, found, kept.left + count * 4);
      kernels.gather32(pairs.right + start * 4, positions, found, kept.right + count * 4);
      count += found;
    }
    return count;
  }

  /** Rows of the view with this mark, and no row of the build side. */
  *#byMark(view: SegmentView, marks: Address, mark: number): Generator<SegmentView> {
    const { kernels, memory } = this.#context;
    const bits = takeBits(this.#arena);
    const [left, right] = [this.#arena.take(BLOCK_ROWS * 4), this.#arena.take(BLOCK_ROWS * 4)];
    memory.u32(right, BLOCK_ROWS).fill(ABSENT);
    for (let start = 0; start < view.rowCount; start += BLOCK_ROWS) {
      const block = blockAt(start, view.rowCount);
      kernels.filterEqU8(marks + start, block.rows, mark, bits);
      const count = kernels.bitsToRows(bits, 0, block.rows, left);
      if (count === 0) continue;
      this.#shift(left, count, start);
      yield this.#output(view, { left, right, count }, false);
      this.#piece.release();
    }
  }

  #shift(rows: Address, count: number, by: number): void {
    if (by === 0) return;
    const numbers = this.#context.memory.u32(rows, count);
    for (let at = 0; at < count; at++) numbers[at] = (numbers[at] ?? 0) + by;
  }

  /** @param isWhole  the left rows are those of the view, each once */
  #output(view: SegmentView, pairs: Pairs, isWhole: boolean): SegmentView {
    return this.#columnsOf(view, pairs, this.#needed, isWhole);
  }

  #columnsOf(view: SegmentView, { left, right, count }: Pairs, names: ReadonlySet<string>, isWhole: boolean): SegmentView {
    const { type } = this.#stage;
    const columns = createByName<ColumnView>();
    for (const [stored, column] of Object.entries(view.columns)) {
      const name = this.#stage.probePrefix + stored;
      if (!names.has(name)) continue;
      columns[name] = isWhole ? column : gatherColumn(this.#context, this.#piece, column, { at: left, count });
    }
    return {
      ...view,
      rowCount: count,
      columns: { ...columns, ...this.#rightColumns({ at: right, count, mayBeAbsent: type !== 'inner' && type !== 'right' }, names) },
    };
  }

  #rightColumns(rows: RowNumbers, names: ReadonlySet<string>): Record<string, ColumnView> {
    const columns = createByName<ColumnView>();
    for (const { name, from } of this.#stage.columns) {
      const column = own(this.#build.view.columns, from);
      if (column !== undefined && names.has(name)) columns[name] = gatherColumn(this.#context, this.#piece, column, rows);
    }
    return columns;
  }
}
