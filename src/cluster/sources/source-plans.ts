// Plans that read the rows of sources, and parts of them.

import { ETERNITY, type Interval } from '../../base/instant.js';
import { extended } from '../../base/names.js';
import type { WantedColumn } from '../../execution/join/rows.js';
import { isRowWise } from '../../execution/post/stream.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { columnsOfFilter } from '../../model/columns-read.js';
import type { Filter } from '../../model/filter.js';
import type { Frame } from '../../model/frame.js';
import type { GroupPlan, PostStep, ScanPlan } from '../../model/plan.js';
import type { RowSource, RowsPlan } from '../../model/row-source.js';
import { type ColumnSchema, TIME_COLUMN } from '../../model/schema.js';
import type { FilterStage, JoinStage, Stage } from '../../model/stage.js';
import type { Upload, UploadColumn } from '../../model/upload.js';

/** Tables that can be read as one set of segments: one that stands there twice gives its rows twice, so it cannot. */
export function tablesOf(source: RowSource): readonly string[] | undefined {
  if (source.kind === 'table') return [source.name];
  if (source.kind !== 'union') return undefined;
  const tables = source.sources.flatMap((each) => (each.kind === 'table' ? [each.name] : []));
  return new Set(tables).size === source.sources.length ? tables : undefined;
}

/** Rows that went through stages, or came as frames, are in no order of time, so that is a step after they have met. */
export function inOrder(plan: RowsPlan): RowsPlan {
  if (plan.operator !== 'scan' || plan.timeOrder === null) return plan;
  const { offset, limit, columns } = plan;
  const by = [{ column: TIME_COLUMN, descending: plan.timeOrder === 'descending', nulls: 'first', ordering: 'numeric' }] as const;
  const steps: PostStep[] = [{ step: 'sort', by, offset, limit }];
  if (!columns.includes(TIME_COLUMN)) steps.push({ step: 'project', columns: columns.map((name) => ({ name, from: name })) });
  return {
    ...plan,
    columns: columns.includes(TIME_COLUMN) ? columns : [...columns, TIME_COLUMN],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [...steps, ...plan.post],
  };
}

/** Whether a plan has to see all rows before it gives any. */
export function isWhole(plan: RowsPlan): boolean {
  return plan.operator === 'group' || (plan.operator === 'scan' && plan.post.some(({ step }) => step === 'window'));
}

/** Whether a plan gives its first rows, and maybe all that are wanted, before it has read all. */
export function endsEarly(plan: RowsPlan): boolean {
  return plan.operator === 'scan' && (plan.limit !== null || plan.post.find((step) => !isRowWise(step))?.step === 'limit');
}

/** States to which the order of rows makes no difference. */
const ORDERLESS: ReadonlySet<AggregateState['type']> = new Set([
  'min',
  'max',
  'timeMin',
  'timeMax',
  'hll',
  'cardinality',
  'theta',
  'bloom',
  'exactSum',
  'list',
]);

/** Whether the answer of a plan may depend on the order of the rows that it reads. */
function seesOrder(plan: RowsPlan): boolean {
  if (plan.operator !== 'group') return true;
  const isOrdered = plan.keys.length === 0 || plan.post.find((step) => !isRowWise(step))?.step === 'sort';
  return !isOrdered || hasOrderedStates(plan);
}

function hasOrderedStates({ aggregators }: GroupPlan): boolean {
  return aggregators.some((each) => each.kind === 'state' && !ORDERLESS.has(each.aggregateState.type));
}

export type QuerySource = Extract<RowSource, { kind: 'query' }>;

/** The rows that a plan reads: where it does not see their order, windows need not order their partitions. */
export function unordered<Source extends RowSource>(reader: RowsPlan, source: Source): Source | QuerySource {
  return source.kind !== 'query' || seesOrder(reader) ? source : inAnyOrder(source);
}

/** Queries whose rows may come in any order, and what they stand for. */
const ORIGINALS = new WeakMap<QuerySource, QuerySource>();

/** The query as it stands in the statement. */
export function originalOf(source: QuerySource): QuerySource {
  return ORIGINALS.get(source) ?? source;
}

/** A query of whose rows nobody sees the order: nor does it of those that it groups. */
function inAnyOrder(source: QuerySource): QuerySource {
  const { plan } = source;
  const below = source.source;
  if (plan.operator === 'group') {
    if (below.kind !== 'query' || !plan.post.every(isRowWise) || hasOrderedStates(plan)) return source;
    const changed = inAnyOrder(below);
    if (changed === below) return source;
    const found = { ...source, source: changed };
    ORIGINALS.set(found, originalOf(source));
    return found;
  }
  const ordered = plan.post.findLastIndex((step) => step.step !== 'window' && !isRowWise(step));
  if (plan.operator !== 'scan' || !plan.post.some((step, at) => at > ordered && step.step === 'window')) return source;
  const post = plan.post.map((step, at) => (at > ordered && step.step === 'window' ? ({ ...step, inAnyOrder: true } as const) : step));
  return { ...source, plan: { ...plan, post } };
}

export function scanOf(columns: readonly string[], intervals: readonly Interval[], virtualColumns: readonly VirtualColumn[]): ScanPlan {
  const rest = { filter: null, virtualColumns, timeOrder: null, offset: 0, limit: null, post: [] };
  return { operator: 'scan', dataSource: '', intervals, columns, ...rest };
}

/** Whether a filter of the source would read a virtual column of the plan instead of the source's own. */
export function shadows(virtualColumns: readonly VirtualColumn[], filter: Filter): boolean {
  const names = new Set(virtualColumns.map(({ name }) => name));
  return [...columnsOfFilter(filter)].some((name) => names.has(name));
}

/** Conditions before all other stages, and what is left. */
export function leading(stages: readonly Stage[]): readonly [readonly FilterStage[], readonly Stage[]] {
  const end = stages.findIndex(({ kind }) => kind !== 'filter');
  const count = end < 0 ? stages.length : end;
  return [stages.slice(0, count).flatMap((stage) => (stage.kind === 'filter' ? [stage] : [])), stages.slice(count)];
}

export function both(second: Filter | null, first: Filter): Filter {
  return second === null ? first : { kind: 'and', filters: [first, second] };
}

export function typed(names: readonly string[], schema: readonly ColumnSchema[]): readonly (WantedColumn & ColumnSchema)[] {
  const known = new Map(schema.map((column) => [column.name, column]));
  return names.flatMap((name) => {
    const column = known.get(name);
    if (column !== undefined) return [column];
    return name === TIME_COLUMN ? [{ name, type: 'LONG', multiValue: false, hasNulls: true } as const] : [];
  });
}

/** The plan without outputs that nobody reads, so that their texts are not decoded; as it is where not all are known. */
export function narrowed(plan: RowsPlan, outputs: readonly ColumnSchema[], wanted: readonly string[]): RowsPlan {
  const known = new Set(outputs.map(({ name }) => name));
  if (wanted.some((name) => name !== TIME_COLUMN && !known.has(name))) return plan;
  const kept = outputs.filter(({ name }) => wanted.includes(name)).map(({ name }) => name);
  if (kept.length === outputs.length) return plan;
  if (plan.operator === 'scan' && plan.post.length === 0) return { ...plan, columns: plan.columns.filter((name) => kept.includes(name)) };
  return { ...plan, post: [...plan.post, { step: 'project', columns: kept.map((name) => ({ name, from: name })) }] };
}

export function renamed(from: readonly string[], names: readonly string[]): readonly UploadColumn[] {
  return names.map((name, at) => ({ name, from: from[at] ?? name }));
}

/** Joined rows that take more are made again for each plan that reads them, and so are those that joins leave most of. */
const KEPT_BYTES_MAX = 32 << 20;
const LEFT_PART_MAX = 0.5;

/** Leaves these columns of rows in memory, where kernels gather them and they are not too many. */
export function keptScan(names: readonly string[], id: string): ScanPlan {
  const side = { keys: [], keysOnly: false, marked: false, bytesMax: KEPT_BYTES_MAX, limit: '', rowsMax: null, subject: 'joined rows' };
  return { ...scanOf(names, [ETERNITY], []), upload: { ...side, id, columns: renamed(names, names), orFrames: false, orNothing: true } };
}

/** @param left  part of so many rows that is expected to come out of the joins */
export function isWorthKeeping({ columns }: Upload, rows: number | null, left: number): boolean {
  return rows !== null && left <= LEFT_PART_MAX && rows * left * columns.length * VALUE_BYTES <= KEPT_BYTES_MAX;
}

const VALUE_BYTES = 8;

export function uploading(plan: RowsPlan, upload: Upload | undefined): RowsPlan {
  return upload === undefined ? plan : extended(plan, { upload });
}

/** Reads columns of what lies in memory under other names: `from` gives the name there of each that is wanted, undefined for one that is not there. */
export function readKept(
  wanted: readonly string[],
  from: (name: string) => string | undefined,
  upload: Upload | undefined,
): { readonly plan: RowsPlan; readonly rename: (frame: Frame) => Frame } {
  const found = wanted.flatMap((name) => {
    const own = from(name);
    return own === undefined ? [] : [{ name, from: own }];
  });
  const plan = scanOf([...new Set(found.map((column) => column.from))], [ETERNITY], []);
  const columns = upload?.columns.flatMap((column) => {
    const own = from(column.from);
    return own === undefined ? [] : [{ name: column.name, from: own }];
  });
  const rename = (frame: Frame): Frame => ({
    ...frame,
    columns: found.flatMap(({ name, from: own }) => {
      const column = frame.columns.find((each) => each.name === own);
      return column === undefined ? [] : [{ ...column, name }];
    }),
  });
  return { plan: columns === undefined ? plan : uploading(plan, upload && { ...upload, columns }), rename };
}

/** Joins that give rows of the left side, whatever the right one has beside its keys. */
const KEEPS_LEFT: ReadonlySet<string> = new Set(['semi', 'anti', 'mark']);

/** Whether a join asks its right side for nothing but the keys that occur. */
export function asksKeysOnly({ type, condition, columns }: JoinStage): boolean {
  return condition === null && columns.length === 0 && KEEPS_LEFT.has(type);
}
