// Puts the rows of a build side into the order of a value, for each of its keys.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { printExpression } from '../../../expression/print.js';
import type { Arena } from '../../../kernels/arena.js';
import type { StageRange } from '../../../model/stage.js';
import type { SegmentView } from '../../../storage/view.js';
import { blockAt, type RunContext } from '../../block/context.js';
import { openScope } from '../../expression/open-scope.js';
import { type SegmentScope, virtualColumnsByName } from '../../expression/scope.js';
import { wordsOfNumbers } from '../../post/number-words.js';
import { orderOfWords } from '../../post/radix-order.js';
import { rowsInOrder } from '../../post/row-order.js';
import { type Ranking, RankReader, rangeSource, rankingOf } from './range-values.js';

/*
 * The rows of a key lie in the order of one value, so that comparisons with it leave a stretch of them. A comparison with another value is answered
 * within the stretch: its numbers by place are the leaves of a tree of sixteen, of which each node has the largest below it.
 */

/** The order of the rows of a build side. */
export interface RangeOrder {
  /** Numbers of the comparisons that leave a stretch of the rows of a key. */
  readonly bounds: readonly number[];
  readonly ranking: Ranking;
  /** i64 by place, ascending within each key. */
  readonly ranks: Address;
  readonly reach: Reach | null;
}

/** A comparison that is answered within a stretch. */
interface Reach {
  readonly range: number;
  readonly ranking: Ranking;
  /** Addresses (u32) of the numbers by place (i64) and of what is above them. Where rows must have less than the other side, they are the complements. */
  readonly levels: Address;
  readonly levelCount: number;
}

/** Lists of rows by key, whose rows are put in their order. */
interface Lists {
  readonly starts: Address;
  readonly rows: Address;
}

interface Parts {
  readonly context: RunContext;
  readonly scratch: Arena;
  readonly owner: Pick<Arena, 'take'>;
}

/** Partners of a row, by the mean over rows that have as many, from which on they are put in order. */
const PARTNERS_MIN = 8;

/** Whether a comparison needs values of the build side above that of the other side, rather than below it. */
export function needsAbove({ operator }: Pick<StageRange, 'operator'>): boolean {
  return operator === '<' || operator === '<=';
}

/**
 * Orders the rows within the lists of their keys, and leaves out those that no comparison can hold for; null: they stay as they are.
 * @param numbers  u32 of each row, that of its key, or absent
 */
export function orderRows(
  parts: Parts,
  view: SegmentView,
  ranges: readonly StageRange[],
  keys: { readonly numbers: Address; readonly keyCount: number },
  lists: Lists,
): RangeOrder | null {
  const { context, scratch, owner } = parts;
  const { memory, kernels, check } = context;
  const { rowCount } = view;
  if (ranges.length === 0 || lists.starts === 0 || !hasLongLists(context, lists, keys.keyCount, rowCount)) return null;
  const chosen = choice(ranges);
  const reader = new RankReader(context);
  try {
    const columns = ranges.map(({ build }, index) => ({ name: rangeName(index), expression: build, outputType: null }));
    const scope = openScope(context, view, virtualColumnsByName(columns), scratch);
    const [first = 0] = chosen.bounds;
    const order = ranked(parts, scope, reader, ranges, first, keys.numbers);
    if (order === undefined) return null;
    const reach = chosen.reach === undefined ? undefined : ranked(parts, scope, reader, ranges, chosen.reach, keys.numbers);
    const words = wordsOfNumbers(
      { kind: 'long', name: '', values: memory.i64(order.longs, rowCount), nulls: null },
      { descending: false, nullsFirst: true },
      check,
    );
    const sorted = rowsInOrder(orderOfWords(words, rowCount, check) ?? {}, rowCount, check);
    const [inTurn, numbers, places] = [scratch.take(rowCount * 4), scratch.take(rowCount * 4), scratch.take(rowCount * 4)];
    memory.u32(inTurn, rowCount).set(sorted);
    kernels.gather32(keys.numbers, inTurn, rowCount, numbers);
    const listed = kernels.joinLists(numbers, rowCount, keys.keyCount, lists.starts, places);
    kernels.gather32(inTurn, places, listed, lists.rows);
    const ranks = owner.take(Math.max(1, listed) * 8);
    kernels.joinValuesI64(order.longs, lists.rows, listed, ranks);
    return {
      bounds: chosen.bounds,
      ranking: order.ranking,
      ranks,
      reach:
        reach === undefined || chosen.reach === undefined
          ? null
          : {
              range: chosen.reach,
              ranking: reach.ranking,
              ...levelsOf(parts, reach.longs, ranges[chosen.reach], lists.rows, listed, rowCount),
            },
    };
  } finally {
    reader.forget();
  }
}

/** Name of the virtual column that is a value of a comparison. */
export function rangeName(index: number): string {
  return `join range ${index}`;
}

/** Whether rows meet many of one key: they are what an order spares. */
function hasLongLists({ memory, check }: RunContext, { starts }: Lists, keyCount: number, rowCount: number): boolean {
  const bounds = memory.u32(starts, keyCount + 1);
  let pairs = 0;
  for (let key = 0; key < keyCount; key++) {
    if (key % BLOCK_ROWS === 0) check();
    const length = (bounds[key + 1] ?? 0) - (bounds[key] ?? 0);
    pairs += length * length;
  }
  return pairs >= rowCount * PARTNERS_MIN;
}

/** The comparisons with the value that rows are ordered by, and the one that is answered within stretches. */
function choice(ranges: readonly StageRange[]): { readonly bounds: readonly number[]; readonly reach: number | undefined } {
  const values = ranges.map(({ build, type }) => `${type} ${printExpression(build)}`);
  const others = ranges.map(({ probe }) => printExpression(probe));
  const boundsOf = (value: string | undefined): number[] => ranges.flatMap((_, index) => (values[index] === value ? [index] : []));
  const isBetween = (value: string): boolean => new Set(boundsOf(value).map((index) => needsAbove(ranges[index] ?? NONE))).size > 1;
  const bounds = boundsOf(values.find(isBetween) ?? values[0]);
  const rest = [...ranges.keys()].filter((index) => !bounds.includes(index));
  const ofOthers = new Set(bounds.map((index) => others[index]));
  return { bounds, reach: rest.find((index) => ofOthers.has(others[index])) ?? rest[0] };
}

const NONE: Pick<StageRange, 'operator'> = { operator: '<' };

/** The values of a comparison's build side as LONGs, in scratch memory; the numbers of null rows become absent. */
function ranked(
  { context, scratch }: Parts,
  scope: SegmentScope,
  reader: RankReader,
  ranges: readonly StageRange[],
  index: number,
  numbers: Address,
): { readonly ranking: Ranking; readonly longs: Address } | undefined {
  const { memory, kernels, check } = context;
  const { rowCount } = scope.view;
  const range = ranges[index];
  if (range === undefined) return undefined;
  const source = rangeSource(scope, rangeName(index), range.build);
  const ranking = rankingOf(source, range.type);
  const values = ranking && reader.read(scope, source, ranking);
  if (ranking === undefined || values === undefined || values === 'missing' || values === 'other') return undefined;
  const longs = scratch.take(rowCount * 8);
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    check();
    const block = blockAt(start, rowCount);
    const at = values.values(block);
    memory.u8(longs + start * 8, block.rows * 8).set(memory.u8(at, block.rows * 8));
    const nulls = values.nulls(block);
    if (nulls !== 0) kernels.joinDropNulls(nulls, block.rows, numbers + start * 4);
  }
  return { ranking, longs };
}

function levelsOf(
  { context, owner }: Parts,
  longs: Address,
  range: StageRange | undefined,
  rows: Address,
  listed: number,
  rowCount: number,
): Pick<Reach, 'levels' | 'levelCount'> {
  const { memory, kernels, check } = context;
  if (range !== undefined && !needsAbove(range)) kernels.rangeLimits(longs, 0, rowCount, 1, 0, 0, longs);
  let count = listed;
  const addresses = [owner.take(Math.max(1, count) * 8)];
  kernels.joinValuesI64(longs, rows, listed, addresses[0] ?? 0);
  while (count > 1) {
    check();
    const above = owner.take(Math.ceil(count / 16) * 8);
    kernels.rangeMost(addresses.at(-1) ?? 0, count, above);
    addresses.push(above);
    count = Math.ceil(count / 16);
  }
  const levels = owner.take(addresses.length * 4);
  memory.u32(levels, addresses.length).set(addresses);
  return { levels, levelCount: addresses.length };
}
