// Finds the best groups before any other result column is made.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { PostStep } from '../../../model/plan.js';
import type { Scratch } from '../../block/context.js';
import type { GroupTable } from './group-table.js';

const TOP_MAX = 1_000_000;

/**
 * The groups among which the first `sort` with a limit finds its rows, when it goes by one aggregate that is never null
 * (steps before it only add columns): the best, and all that tie with the last of them, since ties are broken by keys.
 * @param values  state of each aggregator
 * @returns undefined when the steps are of another kind
 */
export function bestGroups(
  scope: Scratch,
  table: GroupTable,
  values: readonly Address[],
  steps: readonly PostStep[],
): Uint32Array | undefined {
  const sort = steps.find((step) => step.step !== 'compute');
  if (sort?.step !== 'sort' || sort.limit === null) return undefined;
  const [key] = sort.by;
  const index = table.layout.aggregators.findIndex((aggregator) => aggregator.name === key?.column);
  const aggregator = table.layout.aggregators[index];
  const count = sort.offset + sort.limit;
  if (
    key === undefined ||
    aggregator === undefined ||
    aggregator.kind === 'state' ||
    (aggregator.kind === 'distinct' && aggregator.fold !== undefined) ||
    aggregator.type === 'FLOAT' ||
    count === 0 ||
    count > TOP_MAX ||
    count * 4 > table.groupCount
  )
    return undefined;
  const seen = table.states[index]?.seen ?? 0;
  if (seen !== 0 && (key.nulls === 'first' || aggregator.aggregator.emptyIsZero === true)) return undefined;
  const { arena, context } = scope;
  const { kernels, memory } = context;
  const state = values[index] ?? 0;
  const isLong = aggregator.type === 'LONG';
  // A group of which no row took part has not been seen, so `seen` also tells which exist.
  const present = seen !== 0 ? seen : table.present;
  const out = arena.take(count * 4);
  const top = isLong ? kernels.topI64 : kernels.topF64;
  const found = top(state, present, table.groupCount, count, key.descending ? 1 : 0, arena.take(count * 4), out);
  // With fewer, rows of null would follow.
  if (found < count) return seen === 0 ? memory.u32(out, found).slice() : undefined;
  const best = memory.u32(out, found).slice();
  const last = best[found - 1] ?? 0;
  if (!isLong && Number.isNaN(memory.f64(state + last * 8, 1)[0])) return undefined;
  const groups: number[] = Array.from(best);
  const isBest = new Set(groups);
  const limit = arena.take(8);
  memory.u8(limit, 8).set(memory.u8(state + last * 8, 8).slice());
  const equal = arena.take(BLOCK_ROWS / 8);
  const exists = arena.take(BLOCK_ROWS / 8);
  const rows = arena.take(BLOCK_ROWS * 4);
  const compare = isLong ? kernels.compareI64 : kernels.compareF64;
  for (let base = 0; base < table.groupCount; base += BLOCK_ROWS) {
    const n = Math.min(BLOCK_ROWS, table.groupCount - base);
    compare(state + base * 8, limit, 1, n, 0, equal);
    if (present !== 0) {
      kernels.filterRangeU8(present + base, n, 1, 255, exists);
      kernels.bitsAnd(equal, exists, Math.ceil(n / 64), equal);
    }
    const ties = kernels.bitsToRows(equal, 0, n, rows);
    for (const row of memory.u32(rows, ties)) if (!isBest.has(row + base)) groups.push(row + base);
  }
  return Uint32Array.from(groups);
}
