// Takes scans with windows over whole partitions apart into a query with these, and a reader of its rows.

import { ETERNITY } from '../../base/instant.js';
import { extended } from '../../base/names.js';
import { keptAfter } from '../../execution/post/kept-columns.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { PostStep, ScanPlan, SortKey } from '../../model/plan.js';
import type { RowSource, RowsPlan } from '../../model/row-source.js';
import { canBeTotals } from './held-rows.js';
import { hasTotals, type WindowStep } from './partition-totals.js';
import type { HeldLimits } from './row-limits.js';
import type { SourceRunnerOptions } from './runner-options.js';
import { type QuerySource, scanOf } from './source-plans.js';

interface Split {
  readonly reader: ScanPlan;
  readonly query: QuerySource;
}

/** The steps of a scan up to the one that orders its rows. */
interface Parts {
  readonly windows: readonly WindowStep[];
  readonly filters: readonly PostStep[];
  readonly computed: readonly VirtualColumn[];
  readonly sort: Extract<PostStep, { step: 'sort' }>;
  readonly rest: readonly PostStep[];
}

function partsOf({ post }: ScanPlan): Parts | undefined {
  const windows: WindowStep[] = [];
  const filters: PostStep[] = [];
  const computed: VirtualColumn[] = [];
  for (const [at, step] of post.entries()) {
    if (step.step === 'window' && hasTotals(step) && filters.length + computed.length === 0)
      windows.push(extended(step, { inAnyOrder: true as const }));
    else if (step.step === 'filter' && windows.length > 0 && computed.length === 0) filters.push(step);
    else if (step.step === 'compute' && windows.length > 0)
      computed.push({ name: step.name, expression: step.expression, outputType: step.type });
    else
      return step.step === 'sort' && windows.length > 0 ? { windows, filters, computed, sort: step, rest: post.slice(at + 1) } : undefined;
  }
  return undefined;
}

/** Whether `splitWindows` may take a plan apart. */
export function maySplit(plan: RowsPlan): boolean {
  return plan.operator === 'scan' && partsOf(plan) !== undefined;
}

/**
 * The scan as a reader that orders the rows of a query, where the groups of that one's partitions can be made in memory. Rows that are alike in the
 * order come by partition, as they come out of windows.
 */
export function splitWindows(plan: RowsPlan, source: RowSource, options: SourceRunnerOptions, limits: HeldLimits): Split | undefined {
  if (plan.operator !== 'scan' || limits.areSet) return undefined;
  const parts = partsOf(plan);
  if (parts === undefined) return undefined;
  const { windows, filters, computed, sort, rest } = parts;
  const { upload, post: _, ...scan } = plan;
  const steps: readonly PostStep[] = [{ ...sort, by: [...sort.by, ...partitionKeys(windows, sort.by)] }, ...rest];
  const made = [...windows.flatMap(({ functions }) => functions), ...computed].map(({ name }) => name);
  const kept = keptAfter([sort, ...steps])[0];
  const names = [...scan.columns, ...made].filter((name) => kept === undefined || kept.has(name));
  const ordered = { ...scanOf(names, [ETERNITY], computed), post: steps };
  const reader = upload === undefined ? ordered : extended(ordered, { upload });
  const query: QuerySource = { kind: 'query', plan: { ...scan, post: [...windows, ...filters] }, source };
  return canBeTotals(reader, query, options, limits.sides.bytesMax) ? { reader, query } : undefined;
}

/** The order of the partitions of windows, the last of which has put the rows in order. */
function partitionKeys(windows: readonly WindowStep[], by: readonly SortKey[]): SortKey[] {
  const names = windows.toReversed().flatMap(({ partition }) => partition);
  const known = new Set(by.flatMap(({ column, ordering }) => (ordering === 'lexicographic' ? [column] : [])));
  return [...new Set(names)].flatMap((column) =>
    known.has(column) ? [] : [{ column, descending: false, nulls: 'first', ordering: 'lexicographic' } as const],
  );
}
