// Rows of unions and tables that stay in kernel memory for the plan that reads them.

import { ETERNITY } from '../../base/instant.js';
import { extended } from '../../base/names.js';
import { columnsRead } from '../../execution/expression/columns-of-plan.js';
import type { WantedColumn } from '../../execution/join/rows.js';
import type { UploadedRows } from '../../execution/run/engine.js';
import type { Filter } from '../../model/filter.js';
import type { Frame } from '../../model/frame.js';
import type { RowsPlan } from '../../model/row-source.js';
import { type ColumnSchema, TIME_COLUMN } from '../../model/schema.js';
import type { Stage } from '../../model/stage.js';
import type { Upload } from '../../model/upload.js';
import { leftInMemory, NO_FRAMES, type PeekedFrames } from './frame-streams.js';
import { type PartitionTotals, partitionTotals, totalsStages } from './partition-totals.js';
import { type HeldLimits, unlessFull } from './row-limits.js';
import type { SourceRunnerOptions } from './runner-options.js';
import { endsEarly, isWhole, type QuerySource, scanOf, tablesOf, unordered } from './source-plans.js';
import { asksForTime, isBesideTables, type SourceSteps } from './source-steps.js';
import { areGathered, unionUploaded } from './union-rows.js';

export interface HeldRowsOptions {
  readonly options: SourceRunnerOptions;
  readonly limits: HeldLimits;
  /** Bytes that right sides have left of their limit. */
  readonly sideBytesMax: number;
  /** Takes what is let go when the plan is through. */
  readonly placed: UploadedRows[];
  /** An upload of columns, which is let go when the plan is through. */
  readonly upload: (names: readonly string[]) => Upload;
  /** Rows with these columns, for which the conditions are true. */
  readonly rows: (
    source: SourceSteps['base'],
    names: readonly string[],
    upload: Upload | undefined,
    conditions: readonly Filter[],
  ) => AsyncIterable<Frame>;
}

interface Reading extends SourceSteps {
  readonly plan: RowsPlan;
  /** Columns that are read of what the source begins with. */
  readonly columns: readonly (WantedColumn & ColumnSchema)[];
  /** Conditions on its rows, which are its first steps. */
  readonly conditions: readonly Filter[];
}

/** Rows in memory, and stages over them before all others. */
interface HeldFrames extends PeekedFrames {
  readonly stages?: readonly Stage[];
}

/** Rows that a source begins with in memory, on the same terms as those of a subquery; undefined: they come in another way. */
export async function heldRows(reading: Reading, held: HeldRowsOptions): Promise<HeldFrames | undefined> {
  const totals = await heldTotals(reading, held);
  if (totals !== undefined) return totals;
  return reading.base.kind === 'union' && tablesOf(reading.base) === undefined ? heldUnion(reading, held) : heldScan(reading, held);
}

async function heldUnion(
  { plan, base, steps, columns }: Reading,
  { options, limits, upload, rows }: HeldRowsOptions,
): Promise<PeekedFrames | undefined> {
  if (base.kind !== 'union' || asksForTime(plan, steps) || endsEarly(plan)) return undefined;
  const { columnsOf, engine, runOptions, signal } = options;
  return unionUploaded(base.sources, columns, {
    columnsOf,
    canGather: (sources, names) => areGathered(options, sources, limits.nestedBytesMax / names.length),
    upload: (names, used) => {
      const made = upload(names);
      return { ...made, bytesMax: made.bytesMax - used };
    },
    rows: (source, names, made) => rows(unordered(plan, source), names, made, []),
    kept: (names, id) => engine.runUploaded(scanOf(names, [ETERNITY], []), [id], { ...runOptions, ending: 'final' }, signal),
  });
}

/** Whether rows of a query may meet the groups of their partitions, as far as is known before they are read. */
export function canBeTotals(reader: RowsPlan, query: QuerySource, options: SourceRunnerOptions, bytesMax: number): boolean {
  return !asksForTime(reader, []) && totalsOf(query, columnsRead(reader), options, bytesMax) !== undefined;
}

function totalsOf(
  query: QuerySource,
  names: readonly string[],
  options: SourceRunnerOptions,
  bytesMax: number,
): PartitionTotals | undefined {
  const wanted = names.filter((name) => name !== TIME_COLUMN);
  const totals = partitionTotals(query, wanted, options.columnsOf);
  const isGathered = totals !== undefined && areGathered(options, [totals.rows], bytesMax / Math.max(1, totals.columns.length));
  return isGathered ? totals : undefined;
}

/** Rows of a scan that meet the groups of their partitions. */
async function heldTotals(
  { plan, base, steps, columns }: Reading,
  { options, limits, sideBytesMax, upload, rows, placed }: HeldRowsOptions,
): Promise<HeldFrames | undefined> {
  const query = unordered(plan, base);
  if (query.kind !== 'query' || limits.areSet || asksForTime(plan, steps)) return undefined;
  const names = columns.map(({ name }) => name);
  const totals = totalsOf(query, names, options, sideBytesMax);
  if (totals === undefined) return undefined;
  return unlessFull(async () => {
    const placedRows = { columns: totals.columns, bytesMax: sideBytesMax, orFrames: false, orNothing: true } as const;
    const asked = extended(upload([]), placedRows);
    const uploaded = await leftInMemory(rows(totals.rows, totals.rows.plan.columns, asked, []));
    if (uploaded === undefined) return undefined;
    const makeSide = (sides: readonly string[]): Upload => ({ ...upload(sides), bytesMax: sideBytesMax - uploaded.bytes });
    const stages = await totalsStages(totals, uploaded.id, options, makeSide, placed);
    return { uploaded, ids: [uploaded.id], frames: NO_FRAMES, end: async () => undefined, stages };
  });
}

/**
 * Rows that kernels gather from tables, where they are not too many: joins that give rows which only their right side has need all rows of
 * the left one in the same run.
 */
async function heldScan(
  { plan, base, steps, columns, conditions }: Reading,
  { options, limits, sideBytesMax, upload, rows }: HeldRowsOptions,
): Promise<PeekedFrames | undefined> {
  const names = columns.flatMap(({ name }) => (name === TIME_COLUMN ? [] : [name]));
  const isPrefixed = steps.some((step) => step.kind === 'join' && (step.probePrefix ?? '') !== '');
  if (isBesideTables(steps) || names.length === 0 || isPrefixed || endsEarly(plan) || asksForTime(plan, steps.slice(conditions.length)))
    return undefined;
  // Rows of subqueries that are counted come by ones that can be refused.
  if (base.kind === 'query' && (isWhole(base.plan) || limits.areSet)) return undefined;
  const read = base.kind === 'query' ? base : ({ kind: 'query', plan: scanOf(names, [ETERNITY], []), source: base } as const);
  // Rows of a scan may leave one by one; those that are grouped take the place of a right side.
  const bytesMax = plan.operator === 'group' ? sideBytesMax : Math.min(sideBytesMax, limits.nestedBytesMax);
  if (!areGathered(options, [read], bytesMax / names.length)) return undefined;
  const asked = { ...upload(names), bytesMax, orFrames: false, orNothing: true } as const;
  const uploaded = await unlessFull(() => leftInMemory(rows(unordered(plan, base), names, asked, conditions)));
  return uploaded && { uploaded, ids: [uploaded.id], frames: NO_FRAMES, end: async () => undefined };
}
