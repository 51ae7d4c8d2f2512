// Runs one join over a view of rows on one thread.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { createByName, own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { columnsOfExpression } from '../../model/columns-read.js';
import { call, conjunctsOf, type Expression } from '../../model/expression.js';
import type { JoinStage } from '../../model/stage.js';
import type { ColumnView, SegmentView } from '../../storage/view.js';
import { blockAt, clear, type RunContext, takeBits } from '../block/context.js';
import { gatherColumn, markColumn, type RowNumbers } from '../block/view-rows.js';
import { openScope } from '../expression/open-scope.js';
import { virtualColumnsByName } from '../expression/scope.js';
import { bindFilter } from '../filter/bind.js';
import { ALL, NONE } from '../filter/predicate.js';
import type { BuildSide } from './build-side.js';
import { ABSENT, KeyReader, keyName } from './join-keys.js';
import { listedRows } from './listed-keys.js';
import { type KeyedRows, PAIR_KINDS, PairSource, type Pairs, TRIED_PAIRS } from './pairs/pair-source.js';
import { RangeReader } from './range/range-windows.js';

/** Pairs of rows at a time that are put out as they are. */
const PAIRS = 1 << 18;

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
  readonly #pairSource: PairSource;
  readonly #ranges: RangeReader | undefined;
  /** The rest of the condition where windows answer their part of it. */
  readonly #rest: Expression | null;
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
    const { condition, ranges = [] } = stage;
    this.#ranges = build.order === null ? undefined : new RangeReader(context, ranges, build.order);
    const answered = this.#ranges?.parts;
    this.#rest =
      condition === null || answered === undefined ? condition : allOf(conjunctsOf(condition).filter((_, part) => !answered.has(part)));
    this.#arena = context.memory.arena();
    this.#piece = context.memory.arena();
    this.#pairSource = new PairSource(context, build, this.#arena);
  }

  *run(view: SegmentView): Generator<SegmentView> {
    try {
      const listed = listedRows(this.#context, this.#arena, view, this.#stage.keys);
      const rowCount = listed?.view.rowCount ?? view.rowCount;
      const numbers = this.#numberRows(listed?.view ?? view);
      const { starts } = this.#build;
      const windows = listed === undefined ? this.#ranges?.windows(view, numbers, starts, this.#arena) : undefined;
      const keyed: KeyedRows =
        windows === undefined
          ? { rowCount, numbers, rows: listed?.rows, starts, windows }
          : { rowCount, numbers: this.#doubled(numbers, rowCount), rows: undefined, starts: windows.places, windows };
      if (this.#stage.mark !== undefined) yield this.#marked(view, keyed, this.#stage.mark);
      else if (this.#isWhole(keyed) && listed === undefined) yield* this.#pairs(view, keyed);
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
    this.#ranges?.forget();
  }

  close(): void {
    this.forget();
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

  #conditionOf({ windows }: KeyedRows): Expression | null {
    return windows === undefined ? this.#stage.condition : this.#rest;
  }

  /** Whether lists have the partners of a row, and nothing else. */
  #isWhole(keyed: KeyedRows): boolean {
    return this.#conditionOf(keyed) === null && (keyed.windows?.limits ?? 0) === 0;
  }

  /** Twice the numbers of the rows, in the place of others. */
  #doubled(numbers: Address, rowCount: number): Address {
    const written = this.#context.memory.u32(numbers, rowCount);
    for (let row = 0; row < rowCount; row++) written[row] = row * 2;
    return numbers;
  }

  *#pairs(view: SegmentView, keyed: KeyedRows): Generator<SegmentView> {
    const { type } = this.#stage;
    const { marks } = this.#build;
    // The view's columns stay as they are when every row has one partner.
    const room = Math.min(PAIRS, Math.max(view.rowCount, BLOCK_ROWS));
    for (const { pairs, isOneEach } of this.#pairSource.cut(keyed, PAIR_KINDS[type], room)) {
      if (marks !== 0) this.#context.kernels.joinMark(pairs.right, pairs.count, marks);
      yield this.#output(view, pairs, isOneEach && pairs.count === view.rowCount);
      this.#piece.release();
    }
  }

  /** All rows of the view, with a column that says which have a partner. */
  #marked(view: SegmentView, keyed: KeyedRows, name: string): SegmentView {
    const { kernels } = this.#context;
    const met = this.#arena.take(Math.ceil(view.rowCount / 64) * 64);
    clear(this.#context, met, view.rowCount);
    const condition = this.#conditionOf(keyed);
    const kept = { left: this.#arena.take(TRIED_PAIRS * 4), right: this.#arena.take(TRIED_PAIRS * 4) };
    if (!this.#isWhole(keyed))
      for (const pairs of this.#pairSource.untilMet(keyed, met)) {
        const partners = this.#try(view, pairs, condition, kept);
        kernels.joinMark(partners.left, partners.count, met);
        this.#piece.release();
      }
    else for (const { pairs } of this.#pairSource.cut(keyed, PAIR_KINDS.mark, TRIED_PAIRS)) kernels.joinMark(pairs.left, pairs.count, met);
    const columns = Object.entries(view.columns).filter(([own]) => this.#needed.has(own));
    return { ...view, columns: { ...Object.fromEntries(columns), [name]: markColumn(met) } };
  }

  /** Pairs tried on the condition. Whether a row that is looked up by several values has a partner is known after the last one. */
  *#triedPairs(view: SegmentView, keyed: KeyedRows): Generator<SegmentView> {
    const { type } = this.#stage;
    const { kernels } = this.#context;
    const { marks } = this.#build;
    const condition = this.#conditionOf(keyed);
    const keepsPairs = type !== 'semi' && type !== 'anti';
    const met = type === 'inner' || type === 'right' ? 0 : this.#arena.take(view.rowCount);
    if (met !== 0) clear(this.#context, met, view.rowCount);
    const kept = { left: this.#arena.take(TRIED_PAIRS * 4), right: this.#arena.take(TRIED_PAIRS * 4) };
    for (const pairs of keepsPairs ? this.#pairSource.allPairs(keyed) : this.#pairSource.untilMet(keyed, met)) {
      const partners = this.#try(view, pairs, condition, kept);
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

  /** The pairs for which the condition is true, at `kept` where some may not be. */
  #try(view: SegmentView, pairs: Pairs, condition: Expression | null, kept: Omit<Pairs, 'count'>): Pairs {
    return condition === null ? pairs : { left: kept.left, right: kept.right, count: this.#tried(view, pairs, condition, kept) };
  }

  /** Writes the pairs for which the condition is true; returns how many. */
  #tried(view: SegmentView, pairs: Pairs, condition: Expression, kept: Omit<Pairs, 'count'>): number {
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

function allOf(conditions: readonly Expression[]): Expression | null {
  const [first, ...others] = conditions;
  return first === undefined ? null : others.reduce((whole, each) => call('&&', whole, each), first);
}
