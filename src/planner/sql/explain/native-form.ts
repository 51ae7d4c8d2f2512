// Writes a plan as the native query that gives the same rows.

import { formatInterval } from '../../../base/interval.js';
import type { VirtualColumn } from '../../../model/aggregator.js';
import type { Expression } from '../../../model/expression.js';
import type { Filter } from '../../../model/filter.js';
import type { Granularity } from '../../../model/granularity.js';
import type { GroupPlan, PostStep, ScanPlan, SortKey } from '../../../model/plan.js';
import type { RowSource, RowsPlan } from '../../../model/row-source.js';
import { type ColumnType, isArrayType, isNumberType, TIME_COLUMN } from '../../../model/schema.js';
import type { PlannedQuery } from '../../../model/statement.js';
import { aggregation, type Json, NoNativeForm, nativeFilter, none, printed, virtualColumn } from './native-parts.js';
import { nativeSource, type Output } from './native-source.js';

/** The native query that gives the rows of a plan, and which of its columns are those of the statement; or why there is none. */
export type NativeForm =
  | { readonly query: Json; readonly columns: readonly { readonly queryColumn: string; readonly outputColumn: string }[] }
  | { readonly none: string };

/** A plan as the native query that `planner/native` reads as the same plan. */
export function nativeForm({ plan, source, columns }: PlannedQuery): NativeForm {
  try {
    const { query, outputs } = nativeQuery(plan, source);
    return {
      query,
      columns: outputs.map(({ from }, index) => ({ queryColumn: from, outputColumn: columns[index]?.name ?? from })),
    };
  } catch (error) {
    if (error instanceof NoNativeForm) return { none: error.message };
    throw error;
  }
}

function nativeQuery(plan: RowsPlan, source: RowSource): { readonly query: Json; readonly outputs: readonly Output[] } {
  if (plan.operator === 'timeBoundary') return none('a plan that reads the bounds of time');
  if (plan.stages !== undefined && plan.stages.length > 0) return none('stages');
  return plan.operator === 'scan' ? scanQuery(plan, source) : groupQuery(plan, source);
}

/** The post-processing steps in the order that a native query has them, whatever is computed late being computed early. */
interface Ending {
  readonly having: readonly Filter[];
  readonly computed: readonly Extract<PostStep, { step: 'compute' }>[];
  readonly by: readonly SortKey[];
  readonly offset: number;
  readonly limit: number | null;
  readonly outputs: readonly Output[];
}

function endingOf(steps: readonly PostStep[], produced: readonly string[]): Ending {
  const having: Filter[] = [];
  const computed: Extract<PostStep, { step: 'compute' }>[] = [];
  let sort: Pick<Ending, 'by' | 'offset' | 'limit'> | null = null;
  let outputs: readonly Output[] | null = null;
  for (const step of steps) {
    if (outputs !== null) return none('steps behind the choice of columns');
    if (step.step === 'filter') {
      if (sort !== null) return none('a condition on rows that were ordered or limited');
      having.push(step.filter);
    } else if (step.step === 'compute') computed.push(step);
    else if (step.step === 'sort' || step.step === 'limit') {
      if (sort !== null) return none('a second order or limit');
      sort = { by: step.step === 'sort' ? step.by : [], offset: step.offset, limit: step.limit };
    } else if (step.step === 'project') outputs = step.columns;
    else return none(step.step === 'window' ? 'window functions' : `the step ${step.step}`);
  }
  const names = [...produced, ...computed.map(({ name }) => name)];
  const ending = {
    having,
    computed,
    ...(sort ?? { by: [], offset: 0, limit: null }),
    outputs: outputs ?? names.map((name) => ({ name, from: name })),
  };
  if (ending.limit === 0) return none('LIMIT 0');
  if (ending.by.some(({ descending, nulls }) => nulls !== (descending ? 'last' : 'first')))
    return none('nulls ordered as the highest values');
  return ending;
}

function scanQuery(plan: ScanPlan, source: RowSource): ReturnType<typeof nativeQuery> {
  const { having, computed, by, offset, limit, outputs } = endingOf(plan.post, plan.columns);
  if (having.length > 0 || computed.length > 0) return none('values computed from rows of a scan');
  if (plan.columns.length === 0) return none('rows without columns');
  if (plan.limit === 0) return none('LIMIT 0');
  const sorted = by.map(({ column, descending }) => ({ columnName: column, order: descending ? 'descending' : 'ascending' }));
  return {
    query: {
      queryType: 'scan',
      ...leaf(plan, source),
      resultFormat: 'compactedList',
      columns: plan.columns,
      ...(plan.timeOrder === null ? {} : { order: plan.timeOrder }),
      ...(sorted.length === 0 ? {} : { orderBy: sorted }),
      ...limits(by.length > 0 ? offset : plan.offset + offset, by.length > 0 ? limit : smaller(plan.limit, limit)),
    },
    outputs,
  };
}

function smaller(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function groupQuery(plan: GroupPlan, source: RowSource): ReturnType<typeof nativeQuery> {
  const { keys, aggregators } = plan;
  const { having, computed, by, offset, limit, outputs } = endingOf(
    plan.post,
    [...keys, ...aggregators].map(({ name }) => name),
  );
  const times: VirtualColumn[] = [];
  const dimensions = keys.map((key) => {
    if (key.kind === 'column') return { type: 'default', dimension: key.column, outputName: key.name, outputType: outputType(key.type) };
    const time = `${key.name}:time`;
    times.push({ name: time, expression: flooredTime(key.granularity), outputType: 'LONG' });
    return { type: 'default', dimension: time, outputName: key.name, outputType: 'LONG' };
  });
  const aggregations = aggregators.map(aggregation);
  const postAggregations = computed.map(({ name, type, expression }) => ({
    type: 'expression',
    name,
    expression: printed(expression),
    ...(isNumberType(type) || type === 'STRING' ? { outputType: type } : {}),
  }));
  const common = {
    ...leaf({ ...plan, virtualColumns: [...plan.virtualColumns, ...times] }, source),
    granularity: { type: 'all' },
    aggregations,
    ...(postAggregations.length === 0 ? {} : { postAggregations }),
  };
  const isOneRow = keys.length === 0 && having.length === 0 && by.length === 0 && offset === 0 && limit === null;
  if (isOneRow) return { query: { queryType: 'timeseries', ...common }, outputs };
  const filter = having.length > 1 ? { type: 'and', fields: having.map(nativeFilter) } : having[0] && nativeFilter(having[0]);
  const columns = by.map(({ column, descending, ordering }) => ({
    dimension: column,
    direction: descending ? 'descending' : 'ascending',
    dimensionOrder: { type: ordering },
  }));
  const isLimited = columns.length > 0 || offset > 0 || limit !== null;
  return {
    query: {
      queryType: 'groupBy',
      ...common,
      dimensions,
      ...(filter === undefined ? {} : { having: { type: 'filter', filter } }),
      ...(isLimited ? { limitSpec: { type: 'default', columns, ...limits(offset, limit) } } : {}),
    },
    outputs,
  };
}

function outputType(type: ColumnType | null): ColumnType {
  if (type === null || isNumberType(type) || type === 'STRING' || isArrayType(type)) return type ?? 'STRING';
  return none(`groups by values of type ${type}`);
}

function limits(offset: number, limit: number | null): Json {
  return { ...(offset === 0 ? {} : { offset }), ...(limit === null ? {} : { limit }) };
}

function leaf(plan: Pick<RowsPlan, 'intervals' | 'filter' | 'virtualColumns'>, source: RowSource): Json {
  return {
    dataSource: nativeSource(source, nativeQuery),
    intervals: { type: 'intervals', intervals: plan.intervals.map(formatInterval) },
    ...(plan.virtualColumns.length === 0 ? {} : { virtualColumns: plan.virtualColumns.map(virtualColumn) }),
    ...(plan.filter === null ? {} : { filter: nativeFilter(plan.filter) }),
  };
}

/** The expression by which a plan groups the sorted time of a datasource. */
function flooredTime(granularity: Granularity): Expression {
  if (granularity.kind !== 'period') return none(`groups by a granularity of kind ${granularity.kind}`);
  const { period, timeZone, origin } = granularity;
  const literal = (type: 'STRING' | 'LONG', value: string | bigint | null): Expression => ({ kind: 'literal', type, value });
  return {
    kind: 'call',
    function: 'timestamp_floor',
    arguments: [
      { kind: 'column', name: TIME_COLUMN },
      literal('STRING', period),
      literal('LONG', origin === null ? null : BigInt(origin)),
      literal('STRING', timeZone),
    ],
  };
}
