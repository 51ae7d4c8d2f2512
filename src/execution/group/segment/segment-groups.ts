// Groups the rows of one segment.

import { assert } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { append, flatMapped } from '../../../base/lists.js';
import { STRETCH_ROWS, TALLY_ROWS } from '../../../kernels/contract.js';
import type { SharedWork } from '../../aggregate-state/state-operations.js';
import { type Block, clear, kernelFor, takeBits, takeZeroed, wordsOf } from '../../block/context.js';
import { asNumbers } from '../../expression/convert.js';
import type { SegmentScope } from '../../expression/scope.js';
import { RUN_BYTES } from '../../expression/time/runs.js';
import type { NumberVector } from '../../expression/vector.js';
import { bindFilter } from '../../filter/bind.js';
import { filterText } from '../../filter/filter-text.js';
import { ALL, type Match, NONE, type Predicate } from '../../filter/predicate.js';
import { denseCellsMax, denseGroupIndex, type GroupIndex, hashGroupIndex, type NarrowIds } from '../key/group-index.js';
import type { GroupLayout } from '../key/layout.js';
import { roomForGroups } from '../key/local-hash.js';
import { bindColumn, bindGroupKey, type LocalKey } from '../key/local-key.js';
import type { GroupTable } from '../table/group-table.js';
import { countAccumulator, extremeAccumulator, sumAccumulator } from './accumulator.js';
import { combineSegment, remapsOf } from './combine.js';
import { distinctAccumulator } from './distinct-accumulator.js';
import { linearSum, StoredSums } from './linear-sum.js';
import type { Accumulator, LocalStates, Tallying } from './local-states.js';
import { type ComingRows, type RowClass, sameNulls, takesStretches } from './row-class.js';
import { stateAccumulator } from './state-accumulator.js';

/** Groups that `tallyPair` takes. */
const PAIR_GROUPS_MAX = 512;
/** Largest segment whose rows are counted in the upper bits of words (`countSumGroups`). */
const WORD_ROWS_MAX = (1 << 23) - 1;

/** The groups of one segment: local ids, local states; combined into the thread's table when its rows are through. */
export class SegmentGroups {
  readonly scope: SegmentScope;
  readonly layout: GroupLayout;
  readonly keys: readonly LocalKey[];
  readonly groupIndex: GroupIndex;
  readonly classes: RowClass[] = [];
  /** Rows of a block that `addRows` takes when all of them pass the query's filter. */
  readonly blockRows: number;
  readonly #states: LocalStates & { capacity: number };
  readonly #usesRuns: boolean;
  /** Keys, and columns whose distinct values are counted: their values go into pools of the table. */
  readonly #pooled: LocalKey[] = [];
  /** Set when blocks whose rows all take part go through `tally` kernels. */
  #tallying: Tallying | undefined;
  readonly #rows: Address;
  readonly #keptRows: Address;
  readonly #keptGroups: Address;
  readonly #mask: Address;
  readonly #runs: Address;
  /** Ids of the table by local ids, for each key; known from the first combine on. */
  #remaps: readonly Address[] | undefined;

  constructor(scope: SegmentScope, layout: GroupLayout, coming: ComingRows) {
    this.scope = scope;
    this.layout = layout;
    const { arena } = scope;
    this.keys = layout.plan.keys.map((key, index) => bindGroupKey(scope, key, domainAt(layout, index), layout.columns));
    append(this.#pooled, this.keys);
    const cells = this.keys.reduce((product, key) => product * key.card, 1);
    const dense =
      cells <= denseCellsMax(scope, layout, coming.areAll) &&
      this.keys.every((key) => key.kind !== 'numbers') &&
      !this.keys.some((key, index) => key.kind === 'constant' && domainAt(layout, index).kind === 'wide');
    this.#usesRuns = dense && this.keys.every((key) => key.kind === 'runs' || key.kind === 'constant');
    this.groupIndex = dense ? denseGroupIndex(scope, this.keys) : hashGroupIndex(scope, layout, this.keys);
    this.#states = {
      capacity: dense ? cells : roomForGroups(scope),
      copies: dense && !this.#usesRuns && (cells <= 256 || this.#narrow !== undefined) ? 4 : 1,
    };
    this.#rows = arena.take(BLOCK_ROWS * 4);
    this.#keptRows = arena.take(BLOCK_ROWS * 4);
    this.#keptGroups = arena.take(BLOCK_ROWS * 4);
    this.#mask = takeBits(arena);
    this.#bindAggregators(dense ? cells : Infinity, coming);
    if (coming.areAll) this.#chooseShortcuts(cells);
    this.#shareWords();
    this.blockRows = this.classes.every(takesStretches) ? this.#stretchRows() : BLOCK_ROWS;
    this.#runs = arena.take((this.#usesRuns ? this.blockRows : BLOCK_ROWS) * RUN_BYTES);
    this.#allocate();
  }

  /** Rows [start, end) of a block, of which those in `match` pass the query's filter. */
  addRows(block: Block, start: number, end: number, match: Match): void {
    if (match === NONE || start === end) return;
    const selected = match === ALL ? block : { start: block.start, rows: block.rows, selection: match };
    if (this.#usesRuns) this.#addRuns(selected, start, end, match);
    else this.#addScattered(selected, start, end, match);
  }

  get #narrow(): ((block: Block) => NarrowIds) | undefined {
    return this.groupIndex.kind === 'dense' ? this.groupIndex.narrow : undefined;
  }

  /** Size of what goes into the table and is not in the arena: objects of the heap, and values for its pools. */
  get bytesBeside(): number {
    const heap = this.classes.reduce((sum, { readers }) => sum + readers.reduce((bytes, { heapBytes = 0 }) => bytes + heapBytes, 0), 0);
    return heap + this.#pooled.reduce((sum, { valueBytes = 0 }) => sum + valueBytes, 0);
  }

  /** Most values that go into one pool of the table. */
  get valueCount(): number {
    return this.#pooled.reduce((most, { valueCount = 0 }) => Math.max(most, valueCount), 0);
  }

  combineInto(table: GroupTable): void {
    const { groupCount } = this.groupIndex;
    if (groupCount === 0) return;
    for (const { accumulators, state, counts } of this.classes)
      for (const accumulator of accumulators) accumulator.finish(groupCount, counts ? state : 0);
    this.#remaps ??= remapsOf(this, table);
    combineSegment(this, table, this.#remaps);
  }

  /** Forgets the groups, which are hashed and without interned values, after they have been combined. */
  reset(): void {
    if (this.groupIndex.kind === 'hash') this.groupIndex.table.reset();
    for (const each of this.classes) this.#initialise(each, 0, this.#states.capacity);
  }

  #addRuns(block: Block, start: number, end: number, match: Match): void {
    const { kernels } = this.scope.context;
    const runCount = this.groupIndex.runs(block, start, end, this.#runs);
    for (const each of this.classes) {
      const mask = this.#maskOf(each, block, match);
      if (mask === NONE) continue;
      const bits = mask === ALL ? 0 : mask;
      if (each.counts) kernels.countRuns(bits, this.#runs, runCount, each.state);
      else if (each.state !== 0) kernels.presentRuns(bits, this.#runs, runCount, each.state);
      for (const accumulator of each.accumulators) accumulator.addRuns(block, bits, this.#runs, runCount);
      if (each.readers.length === 0) continue;
      const { rows, n } = this.#rowsOf(block, start, end, mask);
      kernels.keyRuns(this.#runs, runCount, rows, n, 1, 0, this.#keptGroups);
      for (const reader of each.readers) reader.addGroups(block, rows, this.#keptGroups, n);
    }
  }

  #addScattered(block: Block, start: number, end: number, match: Match): void {
    if (this.#tallying !== undefined && match === ALL && start === 0 && end === block.rows) {
      this.#tally(block, this.#tallying);
      return;
    }
    const { rows, n } = this.#rowsOf(block, start, end, match);
    if (n === 0) return;
    this.groupIndex.number(block, rows, n, (positionRows, groups, count) => {
      this.#reserve(this.groupIndex.groupCount);
      for (const each of this.classes) this.#addPositions(each, block, positionRows, groups, count);
    });
  }

  #tally(block: Block, tallying: Tallying): void {
    const ids = this.#narrow?.(block);
    const [everyRow] = this.classes;
    if (ids === undefined || everyRow === undefined) return;
    const { kernels } = this.scope.context;
    const { groupCount, scratch } = tallying;
    // Whoever adds first counts by the way.
    let counts = everyRow.state;
    for (const [first, second] of tallying.steps) {
      if (second === undefined) first.tally?.(block, ids, tallying, counts);
      else {
        const [a, b] = [first.narrowValues?.(block) ?? 0, second.narrowValues?.(block) ?? 0];
        kernelFor(kernels, 'tallyPair', ids.type)(ids.at, a, b, block.rows, groupCount, scratch, counts, first.state, second.state);
      }
      counts = 0;
    }
    if (counts !== 0) kernelFor(kernels, 'tally', ids.type)(ids.at, block.rows, groupCount, scratch, counts);
  }

  #addPositions(each: RowClass, block: Block, allRows: Address, allGroups: Address, all: number): void {
    const { kernels } = this.scope.context;
    let [rows, groups, n] = [allRows, allGroups, all];
    const filter = each.filter?.test(block) ?? ALL;
    if (filter === NONE) return;
    if (filter !== ALL) {
      n = kernels.compactMask(filter, rows, groups, n, this.#keptRows, this.#keptGroups);
      [rows, groups] = [this.#keptRows, this.#keptGroups];
    }
    const nulls = each.nulls?.nulls(block) ?? 0;
    if (nulls !== 0) {
      n = kernels.compactNotMask(nulls, rows, groups, n, this.#keptRows, this.#keptGroups);
      [rows, groups] = [this.#keptRows, this.#keptGroups];
    }
    if (n === 0) return;
    if (each.words === undefined) {
      if (each.counts) kernels.countGroups(groups, n, each.state);
      else if (!each.allPresent) kernels.presentGroups(groups, n, each.state);
    }
    for (const accumulator of each.accumulators) accumulator.addGroups(block, rows, groups, n);
    for (const reader of each.readers) reader.addGroups(block, rows, groups, n);
  }

  /** The selected row numbers; 0 for all rows of the block. */
  #rowsOf(block: Block, start: number, end: number, match: Match): { readonly rows: Address; readonly n: number } {
    const { kernels, memory } = this.scope.context;
    if (match !== ALL) return { rows: this.#rows, n: kernels.bitsToRows(match, start, end, this.#rows) };
    const n = end - start;
    return { rows: n === block.rows ? 0 : memory.rowNumbers + start * 4, n };
  }

  #maskOf(each: RowClass, block: Block, match: Match): Match {
    const { kernels } = this.scope.context;
    const filter = each.filter?.test(block) ?? ALL;
    if (filter === NONE) return NONE;
    let mask = filter === ALL ? match : filter;
    if (filter !== ALL && match !== ALL) {
      kernels.bitsAnd(match, filter, wordsOf(block), this.#mask);
      mask = this.#mask;
    }
    const nulls = each.nulls?.nulls(block) ?? 0;
    if (nulls === 0) return mask;
    if (mask === ALL) kernels.bitsNot(nulls, block.rows, this.#mask);
    else kernels.bitsAndNot(mask, nulls, wordsOf(block), this.#mask);
    return this.#mask;
  }

  #bindAggregators(groupCountMax: number, { areAll, areStored, order }: ComingRows): void {
    const { scope, layout } = this;
    const everyRow = this.#classOf(undefined, undefined, undefined);
    const filters = new Map<string, Predicate>();
    const shared = new Map<Predicate | undefined, SharedWork>();
    const sharedWith = (filter: Predicate | undefined): SharedWork => {
      const work = shared.get(filter) ?? new Map<string, unknown>();
      shared.set(filter, work);
      return work;
    };
    const sums = new StoredSums(scope);
    layout.aggregators.forEach((each, index) => {
      const { aggregator } = each;
      const filterKey = aggregator.filter === null ? '' : filterText(aggregator.filter);
      const predicate = aggregator.filter === null ? undefined : (filters.get(filterKey) ?? bindFilter(scope, aggregator.filter, false));
      if (predicate !== undefined) filters.set(filterKey, predicate);
      const filter = predicate?.constant === ALL ? undefined : predicate;
      if (each.kind === 'count') {
        const rows = this.#classOf(filter, undefined, everyRow);
        rows.counts = true;
        rows.accumulators.push(countAccumulator(scope, index, rows));
        return;
      }
      if (each.kind === 'distinct') {
        const key = bindColumn(scope, each.aggregator.kind === 'distinct' ? each.aggregator.column : '', each.domain, layout.columns);
        this.#pooled.push(key);
        const rows = this.#classOf(filter, undefined, everyRow);
        const distinct = distinctAccumulator(scope, index, each, key, { groupCountMax, everyRow: areAll && filter === undefined });
        rows.distincts.push(distinct);
        if (distinct.readsRows) rows.readers.push(distinct);
        return;
      }
      if (each.kind === 'state') {
        if (aggregator.kind !== 'state') return;
        const collect = stateAccumulator(scope, index, aggregator, { order, groupCountMax }, sharedWith(filter));
        if (collect === undefined) return;
        const rows = this.#classOf(filter, collect.nulls, everyRow);
        rows.distincts.push(collect.accumulator);
        rows.readers.push(collect.accumulator);
        return;
      }
      const column = aggregator.kind === 'count' ? '' : 'column' in aggregator ? aggregator.column : '';
      const linear = each.kind === 'sum' && each.state === 'I64' ? linearSum(scope, index, column) : undefined;
      const vector = linear === undefined ? asNumbers(scope, scope.source(column), each.state === 'I64' ? 'LONG' : 'DOUBLE') : linear.nulls;
      if (linear === undefined && vector === undefined) return;
      const rows = this.#classOf(filter, vector?.mayBeNull === true ? vector : undefined, everyRow);
      if (each.nullable) rows.seen.push(index);
      if (linear !== undefined) {
        rows.counts ||= linear.needsCounts;
        rows.addsBases ||= linear.needsCounts;
        rows.accumulators.push(linear.bind(sums.of(rows)));
      } else if (vector !== undefined) {
        if (each.kind === 'sum' && (vector.decimals ?? vector).base !== 0n) [rows.counts, rows.addsBases] = [true, true];
        rows.accumulators.push(
          each.kind === 'sum'
            ? sumAccumulator(scope, index, vector, this.#states)
            : extremeAccumulator(scope, index, vector, each.kind, areStored && filter === undefined && groupCountMax === 1),
        );
      }
    });
  }

  #classOf(filter: Predicate | undefined, nulls: NumberVector | undefined, everyRow: RowClass | undefined): RowClass {
    if (filter === undefined && nulls === undefined && everyRow !== undefined) return everyRow;
    const same = this.classes.find((each) => each.filter === filter && sameNulls(each.nulls, nulls));
    if (same !== undefined) return same;
    const created: RowClass = {
      filter,
      nulls,
      accumulators: [],
      distincts: [],
      readers: [],
      counts: false,
      allPresent: false,
      state: 0,
      words: undefined,
      addsBases: false,
      seen: [],
    };
    this.classes.push(created);
    return created;
  }

  /** Chooses the shortcuts that apply when all rows of the segment take part. */
  #chooseShortcuts(cells: number): void {
    const [everyRow, filtered] = this.classes;
    if (everyRow === undefined || filtered !== undefined || everyRow.readers.length > 0) return;
    const { arena, context } = this.scope;
    const adding = everyRow.accumulators.filter(({ bytesPerGroup }) => bytesPerGroup > 0);
    if (this.#narrow !== undefined && adding.every(({ tally }) => tally !== undefined)) {
      everyRow.counts = true;
      this.#tallying = { groupCount: cells, scratch: takeZeroed(arena, context, cells * 32), steps: tallySteps(adding, cells) };
      return;
    }
    // A stored dictionary has no entry without a row. Sums may be combined before that row came, in another thread's part.
    const [key, second] = this.keys;
    everyRow.allPresent = key?.kind === 'ids' && key.usesAll && second === undefined && adding.every(({ sums }) => sums);
  }

  /** Shares words between counts and a sum: with many groups, reaching a state is the cost of a row. */
  #shareWords(): void {
    const [everyRow] = this.classes;
    if (everyRow === undefined || this.#usesRuns || this.#tallying !== undefined) return;
    const { allPresent, addsBases, accumulators } = everyRow;
    const rowsRepeat = this.keys.some(({ kind }) => kind === 'multi');
    if (allPresent || addsBases || rowsRepeat || this.scope.view.rowCount > WORD_ROWS_MAX) return;
    everyRow.words = accumulators.find(({ pack }) => pack !== undefined);
    if (everyRow.words === undefined) return;
    everyRow.words.pack?.();
    everyRow.counts = true;
  }

  #allocate(): void {
    const { arena, context } = this.scope;
    const { capacity } = this.#states;
    for (const each of this.classes) {
      // Groups of a hash table exist because a row was put in them; of a dense one only the first class can tell.
      if (each.words === undefined) each.state = arena.take(capacity * (each.counts ? 8 : 1));
      for (const accumulator of each.accumulators)
        if (accumulator.bytesPerGroup > 0) accumulator.state = arena.take(capacity * accumulator.bytesPerGroup);
      if (each.words !== undefined) each.state = each.words.state;
      this.#initialise(each, 0, capacity);
      if (each.allPresent && !each.counts) context.memory.u8(each.state, capacity).fill(1);
    }
  }

  #stretchRows(): number {
    if (this.#usesRuns) return STRETCH_ROWS;
    return this.#tallying === undefined ? BLOCK_ROWS : TALLY_ROWS;
  }

  /** Doubles the room for states when a hash table outgrew it. */
  #reserve(groupCount: number): void {
    const old = this.#states.capacity;
    if (groupCount <= old) return;
    let capacity = old;
    while (capacity < groupCount) capacity *= 2;
    this.#states.capacity = capacity;
    const { arena, context } = this.scope;
    const { memory } = context;
    const enlarge = (at: Address, bytes: number): Address => {
      const larger = arena.take(capacity * bytes);
      memory.u8(larger, old * bytes).set(memory.u8(at, old * bytes));
      return larger;
    };
    for (const each of this.classes) {
      if (each.words === undefined) each.state = enlarge(each.state, each.counts ? 8 : 1);
      for (const accumulator of each.accumulators)
        if (accumulator.bytesPerGroup > 0) accumulator.state = enlarge(accumulator.state, accumulator.bytesPerGroup);
      if (each.words !== undefined) each.state = each.words.state;
      this.#initialise(each, old, capacity);
    }
  }

  #initialise(each: RowClass, from: number, to: number): void {
    const bytes = each.counts ? 8 : 1;
    if (each.words === undefined) clear(this.scope.context, each.state + from * bytes, (to - from) * bytes);
    for (const accumulator of each.accumulators) if (accumulator.bytesPerGroup > 0) accumulator.initialise(from, to);
  }
}

function domainAt(layout: GroupLayout, index: number) {
  const key = layout.keys[index];
  assert(key !== undefined, `no group key ${index}`);
  return key.domain;
}

/** Two sums of 16-bit values go in one step where a kernel takes so many groups. */
function tallySteps(accumulators: readonly Accumulator[], groupCount: number): Tallying['steps'] {
  const narrow = groupCount > PAIR_GROUPS_MAX ? [] : accumulators.filter(({ narrowValues }) => narrowValues !== undefined);
  const paired = narrow.slice(0, narrow.length - (narrow.length % 2));
  const pairs = flatMapped(paired, (first, index) => (index % 2 === 0 ? [[first, paired[index + 1]] as const] : []));
  return [...pairs, ...accumulators.filter((each) => !paired.includes(each)).map((each) => [each, undefined] as const)];
}
