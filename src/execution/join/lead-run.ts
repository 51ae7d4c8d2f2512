// Reduces rows to those that the first conditions and the keys of later joins let through.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { Filter } from '../../model/filter.js';
import type { Stage } from '../../model/stage.js';
import { nameThrough } from '../../model/stage-columns.js';
import type { NumberColumnView, SegmentView } from '../../storage/view.js';
import { blockAt, type RunContext, wordsOf } from '../block/context.js';
import { openScope } from '../expression/open-scope.js';
import { bindFilter } from '../filter/bind.js';
import { ALL, NONE } from '../filter/predicate.js';
import type { BuildSide } from './build-side.js';
import type { KeyBits } from './key-bits.js';
import { KeyLookup } from './key-lookup.js';
import type { RowNumbers } from './view-rows.js';

/** A column whose value must be among the keys of a build side, or the row is gone once it comes to that join. */
interface KeyFilter {
  readonly column: string;
  readonly keys: KeyBits;
  readonly lookup: KeyLookup;
  /** Rows so far, and those that were let through. */
  tested: number;
  passed: number;
}

/** A filter that lets more than this part through costs more than it saves. */
const PASSED_MAX = 0.8;

/**
 * The begin of the stages: the conditions before all other stages, and for joins that drop rows without a partner a look at the key. All of it
 * is over before the first column is gathered, so that rows which no later join keeps cost a few bits.
 */
export class LeadRun {
  /** Stages that are done with it. */
  readonly stageCount: number;
  readonly #context: RunContext;
  readonly #filters: readonly Filter[];
  readonly #keys: readonly KeyFilter[];
  /** Memory of the look-ups. */
  readonly #arena: Arena;

  constructor(context: RunContext, stages: readonly Stage[], builds: Readonly<Record<string, BuildSide>>) {
    this.#context = context;
    const end = stages.findIndex(({ kind }) => kind !== 'filter');
    this.stageCount = end < 0 ? stages.length : end;
    this.#filters = stages.slice(0, this.stageCount).flatMap((stage) => (stage.kind === 'filter' ? [stage.filter] : []));
    this.#arena = context.memory.arena();
    this.#keys = stages.flatMap((stage, at) =>
      keyColumns(stage, stages.slice(0, at), builds).map(({ column, keys }) => {
        return { column, keys, lookup: new KeyLookup(context, this.#arena, keys), tested: 0, passed: 0 };
      }),
    );
  }

  close(): void {
    this.#arena.release();
  }

  /** Rows of the view that may come out of the stages; undefined: all of them, or nearly. They lie in the arena. */
  select(view: SegmentView, arena: Arena): RowNumbers | undefined {
    const { rowCount } = view;
    const keys = this.#keys
      .flatMap((filter) => boundTo(view, filter))
      .sort((a, b) => a.expected - b.expected)
      .filter(({ expected, filter: { tested, passed } }) => (tested === 0 ? expected : passed / tested) <= PASSED_MAX);
    if (this.#filters.length === 0 && keys.length === 0) return undefined;
    const state = new Selection(this.#context, arena, rowCount);
    this.#test(view, arena, state);
    for (const { filter, column } of keys) {
      if (state.count === 0) break;
      filter.tested += state.count;
      state.keep(column, filter.lookup);
      filter.passed += state.count;
    }
    return state.count === rowCount ? undefined : state.rows();
  }

  #test(view: SegmentView, arena: Arena, state: Selection): void {
    const [first, second] = this.#filters;
    if (first === undefined) return;
    const filter: Filter = second === undefined ? first : { kind: 'and', filters: this.#filters };
    const predicate = bindFilter(openScope(this.#context, view, {}, arena), filter, false);
    if (predicate.constant === ALL) return;
    state.test((block) => (predicate.constant === NONE ? NONE : predicate.test(block)));
  }
}

function keyColumns(
  stage: Stage,
  before: readonly Stage[],
  builds: Readonly<Record<string, BuildSide>>,
): readonly Pick<KeyFilter, 'column' | 'keys'>[] {
  if (stage.kind !== 'join' || !DROPS.has(stage.type)) return [];
  const side = own(builds, stage.build.id);
  return stage.keys.flatMap(({ probe, type }, part) => {
    const column = probe.kind === 'column' && type === 'LONG' ? nameThrough(before, probe.name) : undefined;
    const keys = side?.keyBits[part] ?? null;
    return column === undefined || keys === null ? [] : [{ column, keys }];
  });
}

/** Joins that keep no row of the left side without a partner. */
const DROPS: ReadonlySet<string> = new Set(['inner', 'semi', 'right']);

interface BoundKeys {
  readonly filter: KeyFilter;
  readonly column: NumberColumnView;
  /** Part of the rows that is expected to pass, were all values as frequent. */
  readonly expected: number;
}

function boundTo({ columns }: SegmentView, filter: KeyFilter): readonly BoundKeys[] {
  const column = own(columns, filter.column);
  if (column?.kind !== 'number' || column.type !== 'LONG') return [];
  const { min, max } = column;
  const range = typeof min === 'bigint' && typeof max === 'bigint' ? Number(max - min) + 1 : filter.keys.count;
  return [{ filter, column, expected: filter.keys.values / range }];
}

/** Rows of a view that are left, as bits of all rows. */
class Selection {
  count: number;
  readonly #context: RunContext;
  readonly #arena: Arena;
  readonly #rowCount: number;
  readonly #words: number;
  #bits: Address = 0;

  constructor(context: RunContext, arena: Arena, rowCount: number) {
    this.#context = context;
    this.#arena = arena;
    this.#rowCount = rowCount;
    this.#words = Math.ceil(rowCount / 64);
    this.count = rowCount;
  }

  /** Keeps what matches, of all rows. */
  test(match: (block: { readonly start: number; readonly rows: number }) => number): void {
    const { kernels } = this.#context;
    this.#bits = this.#arena.take(this.#words * 8);
    this.count = 0;
    for (let start = 0; start < this.#rowCount; start += BLOCK_ROWS) {
      this.#context.check();
      const block = blockAt(start, this.#rowCount);
      const out = this.#bits + start / 8;
      const found = match(block);
      if (found === NONE || found === ALL) kernels.bitsFill(out, wordsOf(block), 0, found === NONE ? 0 : block.rows);
      else kernels.bitsAnd(found, found, wordsOf(block), out);
      this.count += found === NONE ? 0 : found === ALL ? block.rows : kernels.bitsCount(out, wordsOf(block));
    }
  }

  /** Keeps rows whose value is among the keys. */
  keep(column: NumberColumnView, lookup: KeyLookup): void {
    const { kernels, check } = this.#context;
    check();
    if (this.#bits === 0) {
      this.#bits = this.#arena.take(this.#words * 8);
      kernels.bitsFill(this.#bits, this.#words, 0, this.#rowCount);
    }
    lookup.keep(column, this.#rowCount, this.#bits);
    this.count = kernels.bitsCount(this.#bits, this.#words);
  }

  rows(): RowNumbers {
    if (this.#bits === 0) throw new Error('no row was tested');
    const at = this.#arena.take(Math.max(1, this.count) * 4);
    this.#context.kernels.bitsToRows(this.#bits, 0, this.#rowCount, at);
    return { at, count: this.count };
  }
}
