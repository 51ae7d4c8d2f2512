// Finds the rows of a build side that the comparisons of a join leave for each row.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import type { StageRange } from '../../../model/stage.js';
import type { SegmentView } from '../../../storage/view.js';
import { blockAt, type RunContext } from '../../block/context.js';
import { openScope } from '../../expression/open-scope.js';
import { type SegmentScope, virtualColumnsByName } from '../../expression/scope.js';
import { ABSENT } from '../join-keys.js';
import { needsAbove, type RangeOrder, rangeName } from './range-order.js';
import { type RangeValues, type Ranking, RankReader, rangeSource } from './range-values.js';

/** The places of a build side that each row of a view may meet. */
export interface RangeWindows {
  /** Two u32 for each row: the first place and the one behind the last. */
  readonly places: Address;
  /** i64 for each row: what numbers of places must be at least; 0: places alone decide. */
  readonly limits: Address;
}

/** Comparisons on one thread. */
export class RangeReader {
  readonly #context: RunContext;
  readonly #ranges: readonly StageRange[];
  readonly #order: RangeOrder;
  readonly #ranks: RankReader;

  constructor(context: RunContext, ranges: readonly StageRange[], order: RangeOrder) {
    this.#context = context;
    this.#ranges = ranges;
    this.#order = order;
    this.#ranks = new RankReader(context);
  }

  /** Numbers of the condition's parts that windows answer. */
  get parts(): ReadonlySet<number> {
    const { bounds, reach } = this.#order;
    const answered = reach === null ? bounds : [...bounds, reach.range];
    return new Set(answered.map((index) => this.#ranges[index]?.part ?? -1));
  }

  /**
   * The windows of the rows of a view; undefined where a value of theirs does not compare as the order has it.
   * @param numbers  u32 of each row, that of its key, or absent
   * @param starts   of the keys' lists
   */
  windows(view: SegmentView, numbers: Address, starts: Address, arena: Arena): RangeWindows | undefined {
    const { memory, check, kernels } = this.#context;
    const { bounds, ranking, ranks, reach } = this.#order;
    const { rowCount } = view;
    const columns = this.#ranges.map(({ probe }, index) => ({ name: rangeName(index), expression: probe, outputType: null }));
    const scope = openScope(this.#context, view, virtualColumnsByName(columns), arena);
    const within = bounds.map((index) => this.#read(scope, index, ranking));
    const beside = reach === null ? undefined : this.#read(scope, reach.range, reach.ranking);
    if (within.includes('other') || beside === 'other') return undefined;
    const places = arena.take(rowCount * 8);
    const limits = beside === undefined ? 0 : arena.take(rowCount * 8);
    if (within.includes('missing') || beside === 'missing') {
      memory.u32(places, rowCount * 2).fill(0);
      return { places, limits };
    }
    for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
      check();
      const block = blockAt(start, rowCount);
      const own = places + start * 8;
      this.#listed(numbers + start * 4, block.rows, starts, own);
      within.forEach((values, at) => {
        const range = this.#ranges[bounds[at] ?? 0];
        if (range === undefined || typeof values === 'string') return;
        const [longs, nulls] = [values.values(block), values.nulls(block)];
        // Above a value, or not below it, is where the window begins; below it, or not above it, where it ends.
        const isAbove = range.operator === '<' || range.operator === '>=' ? 1 : 0;
        kernels.rangeNarrow(longs, nulls, block.rows, ranks, isAbove, needsAbove(range) ? 0 : 1, own);
      });
      const range = reach === null ? undefined : this.#ranges[reach.range];
      if (range === undefined || beside === undefined || typeof beside === 'string') continue;
      const [longs, nulls] = [beside.values(block), beside.nulls(block)];
      const isStrict = range.operator === '<' || range.operator === '>' ? 1 : 0;
      kernels.rangeLimits(longs, nulls, block.rows, needsAbove(range) ? 0 : 1, isStrict, own, limits + start * 8);
    }
    return { places, limits };
  }

  /** The dictionaries met so far do not come again. */
  forget(): void {
    this.#ranks.forget();
  }

  #read(scope: SegmentScope, index: number, ranking: Ranking): RangeValues | 'missing' | 'other' {
    const range = this.#ranges[index];
    return range === undefined ? 'other' : this.#ranks.read(scope, rangeSource(scope, rangeName(index), range.probe), ranking);
  }

  #listed(numbers: Address, rows: number, starts: Address, places: Address): void {
    const { memory } = this.#context;
    const [keys, bounds, written] = [memory.u32(numbers, rows), memory.u32(starts), memory.u32(places, rows * 2)];
    for (let row = 0; row < rows; row++) {
      const key = keys[row] ?? ABSENT;
      written[row * 2] = key === ABSENT ? 0 : (bounds[key] ?? 0);
      written[row * 2 + 1] = key === ABSENT ? 0 : (bounds[key + 1] ?? 0);
    }
  }
}
