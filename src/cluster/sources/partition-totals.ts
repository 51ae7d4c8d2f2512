// Windows over whole partitions as joins of the rows with their groups, both read from the same rows in kernel memory.

import { ETERNITY } from '../../base/instant.js';
import { extended } from '../../base/names.js';
import { comparesMixed } from '../../execution/filter/mixed-comparison.js';
import { isWhole } from '../../execution/post/window/whole-partitions.js';
import type { UploadedRows } from '../../execution/run/engine.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import type { Aggregator } from '../../model/aggregator.js';
import type { Filter } from '../../model/filter.js';
import type { GroupPlan, PostStep, ScanPlan } from '../../model/plan.js';
import { renameFilter } from '../../model/rewrite/plan-names.js';
import { type ColumnSchema, isNumberType } from '../../model/schema.js';
import type { JoinStage, Stage } from '../../model/stage.js';
import type { Upload, UploadColumn } from '../../model/upload.js';
import type { WindowFunction } from '../../model/window.js';
import { peekUploaded } from './frame-streams.js';
import type { SourceRunnerOptions } from './runner-options.js';
import type { QuerySource } from './source-plans.js';

export type WindowStep = Extract<PostStep, { step: 'window' }>;

/** A query whose windows have one value for all rows of a partition, taken apart. */
export interface PartitionTotals {
  /** The query without its windows, and the columns of it that are read, by their names in memory. */
  readonly rows: QuerySource & { readonly plan: ScanPlan };
  readonly columns: Upload['columns'];
  readonly joins: readonly TotalsJoin[];
  /** Conditions of the query after its windows. */
  readonly filters: readonly Filter[];
}

/** The groups of one partitioning, and how the rows meet them. */
interface TotalsJoin {
  readonly groups: GroupPlan;
  readonly stage: JoinStage;
}

/**
 * A query taken apart, where its reader does not see the order of its rows (`unordered`) and kernels group by its partitions.
 * @param wanted  columns of the query that are read
 */
export function partitionTotals(
  query: QuerySource,
  wanted: readonly string[],
  columnsOf: SourceRunnerOptions['columnsOf'],
): PartitionTotals | undefined {
  const { plan } = query;
  if (plan.operator !== 'scan' || plan.timeOrder !== null || plan.offset > 0 || plan.limit !== null) return undefined;
  const steps = stepsOf(plan.post);
  if (steps === undefined) return undefined;
  const bare: QuerySource & { readonly plan: ScanPlan } = { ...query, plan: { ...plan, post: [] } };
  const types = new Map(columnsOf(bare).map((column) => [column.name, column]));
  const names = new HeldNames(wanted, steps.originOf);
  const joins: TotalsJoin[] = [];
  for (const [at, window] of steps.windows.entries()) {
    const join = joinOf(window, `w${at}`, types, names);
    if (join === undefined) return undefined;
    joins.push(join);
  }
  const made = new Map<string, ColumnSchema['type']>(
    steps.windows.flatMap(({ functions }) => functions.map(({ name, type }) => [name, type] as const)),
  );
  const typeOf = (name: string): ColumnSchema['type'] | undefined => made.get(name) ?? types.get(name)?.type;
  if (steps.filters.some((filter) => comparesMixed(filter, (name) => !isNumberType(typeOf(name))))) return undefined;
  const filters = steps.filters.map((filter) => renameFilter(filter, (name) => names.of(name)));
  const columns = names.columns.filter(({ from }) => !made.has(from));
  const read = new Set(columns.map(({ from }) => from));
  if ([...read].some((name) => !types.has(name))) return undefined;
  return { rows: { ...bare, plan: { ...bare.plan, columns: [...read] } }, columns, joins, filters };
}

/** The groups of each partitioning in memory, as the right sides of stages over the rows they were made of. */
export async function totalsStages(
  { joins, filters }: PartitionTotals,
  rows: string,
  { engine, runOptions, signal }: Pick<SourceRunnerOptions, 'engine' | 'runOptions' | 'signal'>,
  upload: (names: readonly string[]) => Upload,
  placed: UploadedRows[],
): Promise<readonly Stage[]> {
  const final = { ...runOptions, ending: 'final' } as const;
  const stages: Stage[] = [];
  for (const { groups, stage } of joins) {
    const keys = stage.keys.map(({ probe: _, ...key }) => key);
    const names = [...groups.keys, ...groups.aggregators].map(({ name }) => name);
    const side = { ...upload(names), keys, orFrames: false };
    const found = await peekUploaded(engine.runUploaded(extended(groups, { upload: side }), [rows], final, signal));
    try {
      let { id } = side;
      if (found.uploaded === undefined) {
        const made = await engine.build(found.frames, side, final, signal);
        placed.push(made);
        ({ id } = made);
      }
      stages.push({ ...stage, build: { id, frames: null } });
    } finally {
      await found.end();
    }
  }
  return [...stages, ...filters.map((filter) => ({ kind: 'filter', filter }) as const)];
}

/** Whether all functions of a window are over whole partitions, of any size. */
export function hasTotals({ order, functions, rowsMax }: WindowStep): boolean {
  return order.length === 0 && rowsMax === undefined && functions.every(({ frame }) => isWhole(frame));
}

interface Steps {
  readonly windows: readonly WindowStep[];
  readonly filters: readonly Filter[];
  /** The name that an output of the query has before its steps rename it. */
  readonly originOf: (name: string) => string;
}

/** Windows over whole partitions, conditions and other names, in this order; undefined for other steps. */
function stepsOf(post: readonly PostStep[]): Steps | undefined {
  const windows: WindowStep[] = [];
  const filters: Filter[] = [];
  let originOf = (name: string): string => name;
  for (const step of post) {
    if (step.step === 'window' && filters.length === 0 && step.inAnyOrder === true && hasTotals(step)) windows.push(step);
    else if (step.step === 'filter' && windows.length > 0) filters.push(step.filter);
    else if (step.step === 'project' && step === post.at(-1)) {
      const origins = new Map(step.columns.map(({ name, from }) => [name, from]));
      originOf = (name) => origins.get(name) ?? name;
    } else return undefined;
  }
  return windows.length === 0 ? undefined : { windows, filters, originOf };
}

/** Columns of the query by the names that they have in memory: those that are read by the names that its reader knows. */
class HeldNames {
  readonly columns: UploadColumn[] = [];
  readonly #names = new Map<string, string>();

  constructor(wanted: readonly string[], originOf: (name: string) => string) {
    for (const name of wanted) {
      const from = originOf(name);
      this.columns.push({ name, from });
      this.#names.set(from, name);
    }
  }

  of(from: string): string {
    const known = this.#names.get(from);
    if (known !== undefined) return known;
    const name = `window ${from}`;
    this.columns.push({ name, from });
    this.#names.set(from, name);
    return name;
  }

  /** The same, of doubles that groups take as windows do. */
  plain({ name: from, type }: ColumnSchema): string {
    if (type !== 'DOUBLE') return this.of(from);
    const name = this.of(from);
    const at = this.columns.findIndex((column) => column.name === name);
    this.columns[at] = { name, from, isPlain: true };
    return name;
  }

  /** The numbers of its strings. */
  numberOf(from: string): string {
    const name = `number ${from}`;
    if (!this.#names.has(name)) this.columns.push({ name, from, isNumbered: true });
    this.#names.set(name, name);
    return name;
  }

  /** Names under which a column is read. */
  allOf(from: string): readonly string[] {
    const name = this.of(from);
    return this.columns.flatMap((column) => (column.from === from ? [column.name] : name === column.name ? [name] : []));
  }
}

/** Types of keys whose groups are the partitions of a window. */
const KEYS: ReadonlySet<string> = new Set<ColumnSchema['type']>(['LONG', 'STRING']);

function joinOf(
  { partition, functions }: WindowStep,
  prefix: string,
  types: ReadonlyMap<string, ColumnSchema>,
  names: HeldNames,
): TotalsJoin | undefined {
  const keys: GroupPlan['keys'][number][] = [];
  const stageKeys: JoinStage['keys'][number][] = [];
  for (const [at, name] of partition.entries()) {
    const column = types.get(name);
    if (column === undefined || !KEYS.has(column.type)) return undefined;
    // Strings are numbered, so that groups need no dictionary of theirs.
    const [key, held] = [`${prefix} key ${at}`, column.type === 'STRING' ? names.numberOf(name) : names.of(name)];
    keys.push({ kind: 'column', name: key, column: held, type: 'LONG' });
    stageKeys.push({ probe: { kind: 'column', name: held }, build: key, type: 'LONG', nullsMeet: true });
  }
  const aggregators: Aggregator[] = [];
  const columns: JoinStage['columns'][number][] = [];
  for (const [at, each] of functions.entries()) {
    const from = `${prefix} value ${at}`;
    const aggregator = aggregatorOf(each, from, types, names);
    if (aggregator === undefined) return undefined;
    aggregators.push(aggregator);
    for (const name of names.allOf(each.name)) columns.push({ name, from, type: each.type });
  }
  const rest = { dataSource: '', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] };
  const build = { id: '', frames: null };
  return {
    groups: { operator: 'group', ...rest, keys, aggregators, emptyGroup: false },
    stage: { kind: 'join', type: 'inner', keys: stageKeys, condition: null, probePrefix: '', columns, build },
  };
}

/** States of numbers that are the same, whatever order these come in. */
const STATES: ReadonlySet<AggregateState['type']> = new Set(['moments', 'exactSum']);

function aggregatorOf(
  { call, columns, filter, type }: WindowFunction,
  name: string,
  types: ReadonlyMap<string, ColumnSchema>,
  names: HeldNames,
): Aggregator | undefined {
  if (filter !== null && types.get(filter)?.type !== 'LONG') return undefined;
  const taken = filter === null ? null : ({ kind: 'equals', column: names.of(filter), type: 'LONG', value: 1n } as const);
  if (call.kind === 'count') return { kind: 'count', name, filter: taken };
  const column = types.get(columns[0] ?? '');
  if (call.kind === 'distinct' && call.fold === null && column !== undefined && column.type !== 'FLOAT')
    return { kind: 'distinct', name, column: names.plain(column), filter: taken };
  if (call.kind === 'state') {
    const { kind, aggregateState, input, output } = call;
    const isOfNumber = columns.length === 1 && (column?.type === 'LONG' || column?.type === 'DOUBLE');
    if (!isOfNumber || input !== 'values' || output !== 'value' || !STATES.has(aggregateState.type)) return undefined;
    return { kind, aggregateState, name, columns: [names.plain(column)], input, output, type, filter: taken };
  }
  if (column === undefined || column.type === 'FLOAT' || !isNumberType(column.type) || !isNumberType(type)) return undefined;
  if (call.kind === 'sum') return { kind: 'sum', name, column: names.plain(column), type, filter: taken };
  if ((call.kind !== 'min' && call.kind !== 'max') || column.type !== type) return undefined;
  return { kind: call.kind, name, column: names.plain(column), type, filter: taken };
}
