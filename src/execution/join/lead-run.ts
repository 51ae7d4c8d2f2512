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
import { ALL, NONE, type Predicate } from '../filter/predicate.js';
import type { BuildSide } from './build-side.js';
import type { KeyBits } from './key-bits.js';
import { KeyLookup } from './key-lookup.js';

/** A column whose value must be among the keys of a build side, or the row is gone once it comes to that join. */
interface KeyFilter {
  readonly column: string;
  readonly keys: KeyBits;
  readonly lookup: KeyLookup;
  /** Number of the stage that does nothing else than this; undefined: it has more to do. */
  readonly whole: number | undefined;
  /** Rows so far, and those that were let through. */
  tested: number;
  passed: number;
}

/** A filter that lets more than this part through costs more than it saves, unless it takes the place of its join. */
const PASSED_MAX = 0.8;

/** Conditions and keys, bound once to the view whose rows they are asked of. */
interface BoundView {
  readonly view: SegmentView;
  readonly predicate: Predicate | undefined;
  readonly keys: readonly BoundKeys[];
  readonly done: ReadonlySet<number>;
  /** Bits of rows that are left, of the stretch that was looked at last. */
  readonly bits: Address;
}

/**
 * The begin of the stages: the conditions before all other stages, and for joins that drop rows without a partner a look at the key. All of it
 * is over before the first column is gathered, so that rows which no later join keeps cost a few bits. Joins that ask for no more than a key, and add
 * nothing, are done with it.
 */
export class LeadRun {
  /** The first stages, which are done with it. */
  readonly stageCount: number;
  /** Later ones that are done with it too, in views whose rows have their keys as they are looked at. */
  readonly #whole: ReadonlySet<number>;
  readonly #context: RunContext;
  readonly #filters: readonly Filter[];
  readonly #keys: readonly KeyFilter[];
  /** Memory of one view. */
  readonly #viewArena: Arena;
  #bound: BoundView | undefined;

  constructor(context: RunContext, stages: readonly Stage[], builds: Readonly<Record<string, BuildSide>>) {
    this.#context = context;
    const end = stages.findIndex(({ kind }) => kind !== 'filter');
    this.stageCount = end < 0 ? stages.length : end;
    this.#filters = stages.slice(0, this.stageCount).flatMap((stage) => (stage.kind === 'filter' ? [stage.filter] : []));
    this.#viewArena = context.memory.arena();
    this.#keys = stages.flatMap((stage, at) =>
      keyColumns(stage, stages.slice(0, at), builds).map(({ column, keys }) => {
        const whole = isKeyAlone(stage, builds) && !stages.some(isOuter) ? at : undefined;
        return { column, keys, lookup: new KeyLookup(context, keys), whole, tested: 0, passed: 0 };
      }),
    );
    this.#whole = new Set(this.#keys.flatMap(({ whole }) => whole ?? []));
  }

  /** Numbers of the joins that have nothing left to do with rows of this view: the same set for all views, or none. */
  done(view: SegmentView): ReadonlySet<number> {
    return this.#whole.size === 0 ? NO_STAGES : this.#bindTo(view).done;
  }

  /**
   * Looks which rows [start, end) of a view may come out of the stages; `start` is a multiple of BLOCK_ROWS.
   * @returns how many
   */
  select(view: SegmentView, start: number, end: number): number {
    if (this.#filters.length === 0 && this.#keys.length === 0) return end - start;
    const { predicate, keys, done, bits } = this.#bindTo(view);
    if (predicate?.constant === NONE) return 0;
    let count = predicate === undefined ? end - start : this.#test(predicate, start, end, bits);
    let isBegun = predicate !== undefined;
    for (const { filter, column } of inOrder(keys, done)) {
      if (count === 0) break;
      this.#context.check();
      const [at, words] = [bits + start / 8, Math.ceil((end - start) / 64)];
      if (!isBegun) this.#context.kernels.bitsFill(at, words, 0, end - start);
      isBegun = true;
      filter.tested += count;
      filter.lookup.keep(column, start, end, at);
      if (isDone(filter, done) && column.nulls !== 0) this.#context.kernels.bitsAndNot(at, column.nulls + start / 8, words, at);
      count = this.#context.kernels.bitsCount(at, words);
      filter.passed += count;
    }
    return count;
  }

  /** Writes the numbers, u32, of the rows that `select` has found, when these are not all of the rows that it was asked for. */
  list(start: number, end: number, out: Address): void {
    if (this.#bound !== undefined) this.#context.kernels.bitsToRows(this.#bound.bits, start, end, out);
  }

  /** The view does not come again. */
  forget(): void {
    this.#bound = undefined;
    this.#viewArena.release();
  }

  close(): void {
    this.forget();
    for (const { lookup } of this.#keys) lookup.close();
  }

  #bindTo(view: SegmentView): BoundView {
    if (this.#bound?.view === view) return this.#bound;
    this.forget();
    const [first, second] = this.#filters;
    const filter: Filter | undefined = second === undefined ? first : { kind: 'and', filters: this.#filters };
    const predicate = filter && bindFilter(openScope(this.#context, view, {}, this.#viewArena), filter, false);
    const keys = this.#keys.flatMap((each) => boundTo(view, each));
    const done = keys.filter(({ filter }) => filter.whole !== undefined).length === this.#whole.size ? this.#whole : NO_STAGES;
    const bits = this.#viewArena.take(Math.ceil(view.rowCount / 64) * 8);
    this.#bound = { view, predicate: predicate?.constant === ALL ? undefined : predicate, keys, done, bits };
    return this.#bound;
  }

  #test(predicate: Predicate, from: number, end: number, bits: Address): number {
    const { kernels, check } = this.#context;
    let count = 0;
    for (let start = from; start < end; start += BLOCK_ROWS) {
      check();
      const block = blockAt(start, end);
      const out = bits + start / 8;
      const found = predicate.test(block);
      if (found === NONE || found === ALL) kernels.bitsFill(out, wordsOf(block), 0, found === NONE ? 0 : block.rows);
      else kernels.bitsAnd(found, found, wordsOf(block), out);
      count += found === NONE ? 0 : found === ALL ? block.rows : kernels.bitsCount(out, wordsOf(block));
    }
    return count;
  }
}

/**
 * Filters in their order: the one that has left least so far, or is expected to, comes first, and those that leave nearly all are passed over, but not where
 * their join is done with them.
 */
function inOrder(keys: readonly BoundKeys[], done: ReadonlySet<number>): readonly BoundKeys[] {
  const part = ({ expected, filter: { tested, passed } }: BoundKeys): number => (tested === 0 ? expected : passed / tested);
  return keys.filter((each) => isDone(each.filter, done) || part(each) <= PASSED_MAX).sort((a, b) => part(a) - part(b));
}

function isDone({ whole }: KeyFilter, done: ReadonlySet<number>): boolean {
  return whole !== undefined && done.has(whole);
}

/** No stage is done. */
export const NO_STAGES: ReadonlySet<number> = new Set();

/** Whether a join keeps each row once if its key is among those of the build side, and does nothing else. */
function isKeyAlone(stage: Stage, builds: Readonly<Record<string, BuildSide>>): boolean {
  if (stage.kind !== 'join' || stage.keys.length !== 1 || stage.condition !== null || stage.probePrefix !== '') return false;
  return stage.type === 'semi' || (stage.type === 'inner' && stage.columns.length === 0 && own(builds, stage.build.id)?.starts === 0);
}

/** Joins that also give rows which no row of the left side has led to: rows are left out before them no earlier than by their condition. */
function isOuter(stage: Stage): boolean {
  return stage.kind === 'join' && (stage.type === 'right' || stage.type === 'full');
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
  if (column?.kind !== 'number' || column.type !== 'LONG' || column.physical === 'F32' || column.physical === 'F64') return [];
  const { min, max } = column;
  const range = typeof min === 'bigint' && typeof max === 'bigint' ? Number(max - min) + 1 : filter.keys.count;
  return [{ filter, column, expected: filter.keys.values / range }];
}
