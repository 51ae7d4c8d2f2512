// Turns a parsed native query into plans.

import { ETERNITY, type Interval } from '../base/instant.js';
import { condenseIntervals } from '../base/interval.js';
import { append } from '../base/lists.js';
import { extended } from '../base/names.js';
import { isStateColumn, stateColumn } from '../model/aggregate-state.js';
import type { Aggregator } from '../model/aggregator.js';
import { call, type Expression, long, text } from '../model/expression.js';
import type { Filter } from '../model/filter.js';
import type { GroupKey, GroupPlan, Plan, PostStep, ScanPlan, SegmentMetadataPlan, SortKey } from '../model/plan.js';
import type {
  DataSourceMetadataQuery,
  DimensionSpec,
  GroupByQuery,
  Grouping,
  PostAggregator,
  Query,
  ScanQuery,
  SearchQuery,
  SegmentMetadataQuery,
  TimeBoundaryQuery,
  TimeseriesQuery,
  TopNMetric,
  TopNQuery,
} from '../model/query.js';
import { type ColumnSchema, type ColumnType, isNumberType, TIME_COLUMN } from '../model/schema.js';
import { stateTraits } from '../model/state-traits.js';
import { bucketColumn, orderColumn, rankColumn } from './inner-names.js';
import { dimensionKey, outputsOnly, parsedDimensions } from './parsed-dimensions.js';
import type { AccessedTable } from './table-access.js';

/** Schema of the tables, for planning; the broker's schema implements it. */
export interface KnownTables {
  table(name: string): TableColumns | undefined;
}

export interface TableColumns extends AccessedTable {
  readonly columns: readonly ColumnSchema[];
  readonly interval: Interval;
}

/** One query type's way to plans. */
type PlannerOf<Type extends Query['queryType']> = (query: Extract<Query, { queryType: Type }>, tables: KnownTables) => readonly Plan[];

/** A query type without a planner does not compile. */
const PLANNERS: { readonly [Type in Query['queryType']]: PlannerOf<Type> } = {
  timeseries: planTimeseries,
  topN: (query) => [planTopN(query)],
  groupBy: planGroupBy,
  scan: (query, tables) => [planScan(query, tables)],
  search: planSearch,
  timeBoundary: (query) => [planTimeBoundary(query)],
  segmentMetadata: (query, tables) => [planSegmentMetadata(query, tables)],
  dataSourceMetadata: (query) => [planDataSourceMetadata(query)],
};

/** A query to what answers it, mostly one plan; see `PlannedNative`. Plain data, the same on every machine. */
export function planQuery(query: Query, tables: KnownTables): readonly Plan[] {
  // TypeScript does not see that the planner looked up by a query's type takes that query.
  const plan = PLANNERS[query.queryType] as (query: Query, tables: KnownTables) => readonly Plan[];
  return plan(query, tables);
}

/** The key of the time bucket, unless the granularity is `all`: then every row is in the one bucket. */
function timeKeys({ granularity }: { readonly granularity: TimeseriesQuery['granularity'] }, name: string = TIME_COLUMN): GroupKey[] {
  return granularity.kind === 'all' ? [] : [{ kind: 'time', name, granularity }];
}

function computeSteps(postAggregators: readonly PostAggregator[]): PostStep[] {
  return postAggregators.map(({ name, type, expression }) => ({ step: 'compute', name, type, expression }));
}

function leafOf(
  query: Exclude<Query, SegmentMetadataQuery | DataSourceMetadataQuery>,
): Pick<GroupPlan, 'dataSource' | 'intervals' | 'segments' | 'filter' | 'virtualColumns'> {
  return extended(tableOf(query, query.intervals ?? [ETERNITY]), { filter: query.filter, virtualColumns: query.virtualColumns });
}

/** The part of a table that a query reads. */
function tableOf(
  { dataSource, segments }: Query,
  intervals: readonly Interval[],
): Pick<GroupPlan, 'dataSource' | 'intervals' | 'segments'> {
  return { dataSource, intervals: condenseIntervals(intervals), ...(segments === undefined ? {} : { segments }) };
}

const BY_TIME: SortKey = { column: TIME_COLUMN, descending: false, nulls: 'first', ordering: 'numeric' };

function planTimeseries(query: TimeseriesQuery): readonly Plan[] {
  const leaf = leafOf(query);
  const keys = timeKeys(query);
  const fills = keys.length > 0 && !query.skipEmptyBuckets;
  const post: PostStep[] = [];
  if (fills) post.push({ step: 'fillBuckets', bucket: TIME_COLUMN, granularity: query.granularity });
  if (keys.length > 0 && (query.descending || !fills))
    post.push({ step: 'sort', by: [{ ...BY_TIME, descending: query.descending }], offset: 0, limit: query.limit });
  else if (query.limit !== null) post.push({ step: 'limit', offset: 0, limit: query.limit });
  const plan: GroupPlan = {
    operator: 'group',
    ...leaf,
    // Buckets outside of what the table covers are not filled, else eternity by hour would have no end.
    withinData: true,
    keys,
    aggregators: query.aggregators,
    emptyGroup: keys.length === 0 && !query.skipEmptyBuckets,
    post: [...post, ...computeSteps(query.postAggregators)],
  };
  if (!query.grandTotal) return [plan];
  // Totals of no buckets are null, which is for who writes them.
  return [plan, { ...plan, keys: [], emptyGroup: !query.skipEmptyBuckets, post: computeSteps(query.postAggregators) }];
}

function planTopN(query: TopNQuery): Plan {
  const { metric, dimension, threshold, postAggregators } = query;
  const bucket = bucketColumn(dimension.name);
  const keys = timeKeys(query, bucket);
  const post: PostStep[] = parsedDimensions([dimension]);
  // Post-aggregators that the ranking does not need are computed for the best rows only.
  const needed = metric.kind === 'numeric' ? postAggregators.findIndex(({ name }) => name === metric.column) + 1 : 0;
  append(post, computeSteps(postAggregators.slice(0, needed)));
  // The orders of dimensions are orders of strings.
  const ranked = isNumberType(dimension.type) ? orderColumn(dimension.name) : dimension.name;
  if (metric.kind === 'dimension' && ranked !== dimension.name)
    post.push({ step: 'compute', name: ranked, type: 'STRING', expression: asString(dimension.name, dimension.type) });
  if (metric.kind === 'dimension' && metric.previousStop !== null)
    post.push({ step: 'filter', filter: pastStop(ranked, metric, metric.previousStop) });
  const ranks = rankSteps(query, metric.kind === 'numeric' ? [metric.column] : []);
  append(post, ranks);
  const by: SortKey[] =
    metric.kind === 'numeric'
      ? [
          {
            column: rankedBy(ranks)(metric.column),
            descending: !metric.inverted,
            nulls: metric.inverted ? 'first' : 'last',
            ordering: 'numeric',
          },
        ]
      : [{ column: ranked, descending: metric.inverted, nulls: 'first', ordering: metric.ordering }];
  // Groups of strings that are shown as numbers tie in the order of numbers.
  if (dimension.isParsed === true) by.push({ column: dimension.name, descending: false, nulls: 'first', ordering: 'numeric' });
  post.push(keys.length === 0 ? { step: 'sort', by, offset: 0, limit: threshold } : { step: 'topPerBucket', bucket, by, limit: threshold });
  append(post, computeSteps(postAggregators.slice(needed)));
  const aggregators = withRankedStates(query, ranks);
  if (isNumberType(dimension.type)) post.push(outputsOnly(keys, [dimension], aggregators, postAggregators));
  return {
    operator: 'group',
    ...leafOf(query),
    keys: [...keys, dimensionKey(dimension)],
    aggregators,
    emptyGroup: false,
    post,
  };
}

type RankStep = Extract<PostStep, { step: 'rank' }>;

/** Results that do not order by their values are ordered by the places of their states. */
function rankSteps({ aggregators }: { readonly aggregators: readonly Aggregator[] }, columns: readonly string[]): RankStep[] {
  const ordered = new Set(columns);
  return aggregators.flatMap((each) => {
    if (each.kind !== 'state' || !stateTraits(each.aggregateState).isRanked(each.aggregateState) || !ordered.has(each.name)) return [];
    const { aggregateState, name } = each;
    return [{ step: 'rank', name: rankColumn(name), state: stateColumn(name), aggregateState } as const];
  });
}

/** The column that orders by the place of a state, where there is one. */
function rankedBy(ranks: readonly RankStep[]): (column: string) => string {
  const names = new Set(ranks.map(({ name }) => name));
  return (column) => (names.has(rankColumn(column)) ? rankColumn(column) : column);
}

/** States that are ranked are put out beside the values. */
function withRankedStates(
  { aggregators }: { readonly aggregators: readonly Aggregator[] },
  ranks: readonly RankStep[],
): readonly Aggregator[] {
  const states = new Set(ranks.map(({ state }) => state));
  return aggregators.map((each) => (each.kind === 'state' && states.has(stateColumn(each.name)) ? { ...each, output: 'both' } : each));
}

/** A number as the string that an order of strings compares; a FLOAT has digits of its own. */
function asString(name: string, type: ColumnType): Expression {
  const column: Expression = { kind: 'column', name };
  return type === 'FLOAT' ? call('number_text', column, text(type)) : call('cast', column, text('STRING'));
}

/** Values after the one where the page before ended. */
function pastStop(column: string, metric: Extract<TopNMetric, { kind: 'dimension' }>, stop: string): Filter {
  const range = { kind: 'range', column, type: 'STRING', ordering: metric.ordering, lowerStrict: true, upperStrict: true } as const;
  return metric.inverted ? { ...range, lower: null, upper: stop } : { ...range, lower: stop, upper: null };
}

/** One plan for each set of subtotals. */
function planGroupBy(query: GroupByQuery): readonly Plan[] {
  return (query.subtotals ?? [query.dimensions.map(({ name }) => name)]).map((names) => planGrouping(query, names));
}

/** The first dimension is the highest bit: 1 where the rows are not grouped by it, which only happens among subtotals. */
function groupingNumber({ columns }: Grouping, groupedBy: ReadonlySet<string>): bigint {
  return columns.reduce((bits, outputs) => (bits << 1n) | (outputs.some((name) => groupedBy.has(name)) ? 0n : 1n), 0n);
}

/** @param names  of the dimensions to group by; the others are null in every row, for what comes after to read */
function planGrouping(query: GroupByQuery, names: readonly string[]): Plan {
  const groupedBy = new Set(names);
  const dimensions = query.dimensions.filter(({ name }) => groupedBy.has(name));
  const absent = query.dimensions.filter(({ name }) => !groupedBy.has(name));
  const keys = [...timeKeys(query), ...dimensions.map(dimensionKey)];
  const hasTime = query.granularity.kind !== 'all';
  const post: PostStep[] = parsedDimensions(dimensions);
  append(
    post,
    absent.map(({ name, type }) => ({ step: 'compute', name, type, expression: { kind: 'literal', type, value: null } })),
  );
  for (const grouping of query.groupings) {
    const value = query.subtotals === null ? 0n : groupingNumber(grouping, groupedBy);
    post.push({ step: 'compute', name: grouping.name, type: 'LONG', expression: long(value) });
  }
  append(post, computeSteps(query.postAggregators));
  if (query.having !== null) post.push({ step: 'filter', filter: query.having });
  const ranks = rankSteps(
    query,
    query.orderBy.map(({ column }) => column),
  );
  append(post, ranks);
  const keyOf = rankedBy(ranks);
  // Numbers of dimensions are ordered as strings too, unless their order is that of numbers.
  const numbers = new Map(dimensions.flatMap(({ name, type }) => (isNumberType(type) ? [[name, type] as const] : [])));
  const computedStrings = new Set(
    [...query.aggregators, ...query.postAggregators].flatMap((each) => ('type' in each && each.type === 'STRING' ? [each.name] : [])),
  );
  const asStrings = query.orderBy.flatMap(({ column, ordering }) => {
    const type = numbers.get(column);
    return type === undefined || ordering === 'numeric' ? [] : [{ column, type }];
  });
  append(
    post,
    asStrings.map(({ column, type }) => ({
      step: 'compute',
      name: orderColumn(column),
      type: 'STRING',
      expression: asString(column, type),
    })),
  );
  const ordered = query.orderBy.map(
    ({ column, descending, ordering }): SortKey => ({
      column: asStrings.some((each) => each.column === column) ? orderColumn(column) : keyOf(column),
      descending,
      nulls: descending ? 'last' : 'first',
      // Strings that are computed have one order, whatever is asked for.
      ordering: computedStrings.has(column) ? 'lexicographic' : ordering,
    }),
  );
  // Rows that the query leaves unordered come by its dimensions; time comes first unless it was asked to come later.
  const orderedColumns = new Set(query.orderBy.map(({ column }) => column));
  const rest = dimensions
    .filter(({ name }) => !orderedColumns.has(name))
    .map(
      ({ name, type }): SortKey => ({
        column: name,
        descending: false,
        nulls: 'first',
        ordering: isNumberType(type) ? 'numeric' : 'lexicographic',
      }),
    );
  const byTime = hasTime ? [BY_TIME] : [];
  const by = query.sortByDimensionsFirst ? [...ordered, ...rest, ...byTime] : [...byTime, ...ordered, ...rest];
  if (by.length > 0) post.push({ step: 'sort', by, offset: query.offset, limit: query.limit });
  else if (query.limit !== null || query.offset > 0) post.push({ step: 'limit', offset: query.offset, limit: query.limit });
  const aggregators = withRankedStates(query, ranks);
  if (asStrings.length > 0 || dimensions.some(({ isParsed }) => isParsed === true))
    post.push(outputsOnly(keys, dimensions, aggregators, [...absent, ...query.groupings, ...query.postAggregators]));
  return {
    operator: 'group',
    ...leafOf(query),
    keys,
    aggregators,
    // Subtotals of dimensions have no rows where there is nothing to group.
    emptyGroup: keys.length === 0 && (query.subtotals === null || query.dimensions.length === 0),
    post,
  };
}

function planScan(query: ScanQuery, tables: KnownTables): Plan {
  const known = tables.table(query.dataSource)?.columns.map(({ name }) => name);
  const stored = known?.filter((name) => !isStateColumn(name)) ?? [TIME_COLUMN];
  const columns = query.columns ?? [...new Set([...stored, ...query.virtualColumns.map(({ name }) => name)])];
  const { timeOrder, orderBy, offset, limit } = query;
  if (orderBy.length === 0) return { operator: 'scan', ...leafOf(query), columns, timeOrder, offset, limit, post: [] };
  const by = orderBy.map(
    ({ column, descending }): SortKey => ({ column, descending, nulls: descending ? 'last' : 'first', ordering: 'lexicographic' }),
  );
  const read = [...new Set([...columns, ...by.map(({ column }) => column)])];
  const post: PostStep[] = [{ step: 'sort', by, offset, limit }];
  if (read.length !== columns.length) post.push({ step: 'project', columns: columns.map((name) => ({ name, from: name })) });
  return { operator: 'scan', ...leafOf(query), columns: read, timeOrder: null, offset: 0, limit: null, post };
}

/** The columns that a scan puts out, in order. */
export function scanColumns(plan: ScanPlan): readonly string[] {
  const last = plan.post.at(-1);
  return last?.step === 'project' ? last.columns.map(({ name }) => name) : plan.columns;
}

/** One plan for each dimension: its values that pass all tests, with their number of rows, up to the limit. */
function planSearch(query: SearchQuery, tables: KnownTables): readonly Plan[] {
  const dimensions =
    query.dimensions ??
    (tables.table(query.dataSource)?.columns ?? [])
      .filter(({ type }) => type === 'STRING')
      .map(({ name }): DimensionSpec => ({ column: name, name, type: 'STRING' }));
  return dimensions.map((dimension) => {
    const { name } = dimension;
    const tests = query.tests.map(
      (test): Filter => ({
        kind: 'expression',
        expression: {
          kind: 'call',
          function: test.function,
          arguments: [{ kind: 'column', name }, text(test.text)],
        },
      }),
    );
    // Tested after grouping: once for each value, and a row of many values counts for those that pass only.
    const bucket = bucketColumn(name);
    const keys = timeKeys(query, bucket);
    const by: SortKey[] = [{ column: name, descending: false, nulls: 'first', ordering: query.ordering }];
    return {
      operator: 'group',
      ...leafOf(query),
      keys: [...keys, { kind: 'column', name, column: dimension.column, type: 'STRING' }],
      aggregators: [{ kind: 'count', name: name === SEARCH_COUNT ? `${SEARCH_COUNT}_` : SEARCH_COUNT, filter: null }],
      emptyGroup: false,
      post: [
        ...(tests.length === 0 ? [] : [{ step: 'filter', filter: { kind: 'and', filters: tests } } as const]),
        keys.length === 0 ? { step: 'sort', by, offset: 0, limit: query.limit } : { step: 'topPerBucket', bucket, by, limit: query.limit },
      ],
    };
  });
}

const SEARCH_COUNT = 'count';

function planTimeBoundary(query: TimeBoundaryQuery): Plan {
  return { operator: 'timeBoundary', ...leafOf(query), post: [] };
}

const WEEK_MS = 7 * 86_400_000;

function planSegmentMetadata(query: SegmentMetadataQuery, tables: KnownTables): Plan {
  // Without intervals, the last week of the table.
  const end = tables.table(query.dataSource)?.interval.end;
  const intervals = query.intervals ?? (end === undefined ? [] : [{ start: end - WEEK_MS, end }]);
  return {
    operator: 'segmentMetadata',
    ...tableOf(query, intervals),
    filter: null,
    virtualColumns: [],
    post: [],
    // Segments have no projections to look at.
    analyses: query.analysisTypes.filter((type): type is SegmentMetadataPlan['analyses'][number] => type !== 'projections'),
    columns: query.toInclude,
    merge: query.merge,
  };
}

function planDataSourceMetadata(query: DataSourceMetadataQuery): Plan {
  return {
    operator: 'timeBoundary',
    ...tableOf(query, query.intervals ?? [ETERNITY]),
    filter: null,
    virtualColumns: [],
    post: [],
  };
}
