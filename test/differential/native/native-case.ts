import { stringifyJson } from '../../../src/base/json.js';
import type { DifferentialCase, Fields, Json } from '../case.js';
import { shrinkJson } from '../json-shrink.js';
import type { Random } from '../random.js';
import { aggregations } from './aggregators.js';
import { filter, searchSpec } from './filters.js';
import {
  anyColumn,
  buckets,
  dataSource,
  dimension,
  EVERYTHING,
  intervals,
  ORDERINGS,
  SORT_ORDERINGS,
  STRING_COLUMNS,
  virtualColumns,
} from './parts.js';

/** Native queries of all types over `nasty`. */
export function nativeCase(random: Random): DifferentialCase {
  const make = random.pick([
    timeseries,
    topN,
    topN,
    groupBy,
    groupBy,
    groupBy,
    scan,
    scan,
    search,
    segmentMetadata,
    timeBoundary,
    timeseries,
  ]);
  const query = make(random);
  return nativeCaseOf(isComparable(query) ? query : { ...query, dataSource: 'nasty' });
}

/** Whether docs/differences.md names nothing that the query asks of its datasource. */
function isComparable({ dataSource, ...asked }: Fields): boolean {
  if (!isFields(dataSource)) return true;
  const [rows, text] = [stringifyJson(dataSource), stringifyJson(asked)];
  const { queryType, intervals } = asked;
  const isWhole = stringifyJson(intervals ?? null) === stringifyJson([EVERYTHING]);
  switch (dataSource['type']) {
    case 'union':
      // Each table has its limit, and the null of a column that it lacks is a string.
      return !(queryType === 'timeseries' && 'limit' in asked) && !/(First|Last)"|"bound"/.test(text);
    case 'inline':
    case 'lookup':
    case 'query':
      if (queryType === 'search' && stringifyJson(asked['searchDimensions'] ?? []) === '[]') return false;
      if (queryType === 'search' && 'virtualColumns' in asked) return false;
      // The original has groups at 1970, unless for a groupBy.
      if (rows.includes('"groupBy"') && queryType !== 'groupBy' && (text.includes('"__time"') || !isWhole)) return false;
      // Rows in no order of time are lost where an interval cuts, and have no first and last; numbers of strings, integers of doubles.
      if (/"(inline|scan)"/.test(rows) && !isWhole) return false;
      return !/(First|Last|Any)"|"(float|double|long)(Sum|Min|Max)","name":"\w+","fieldName":"[bk]"|"[dfx]"[^{}]*"outputType":"LONG"/.test(
        text,
      );
    default:
      return true;
  }
}

/** The same query, and what is smaller than it. */
function nativeCaseOf(query: Fields): DifferentialCase {
  return {
    kind: 'native',
    request: query,
    tags: tagsOf(query),
    order: hasOrder(query) ? 'list' : 'bag',
    *shrink() {
      for (const smaller of shrinkJson(query))
        if (isFields(smaller) && 'queryType' in smaller && isComparable(smaller)) yield nativeCaseOf(smaller);
    },
  };
}

/** Groups without a limit spec and rows of a scan without an order come in any order. */
function hasOrder(query: Fields): boolean {
  if (query['queryType'] === 'groupBy') return 'limitSpec' in query;
  return query['queryType'] !== 'scan' || (query['order'] ?? 'none') !== 'none';
}

/** The query's type and the types of everything within it. */
function tagsOf(query: Json): string[] {
  const tags: string[] = [];
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item);
      return;
    }
    for (const [name, part] of Object.entries(value)) {
      if ((name === 'queryType' || name === 'type') && typeof part === 'string') tags.push(part);
      if (['having', 'subtotalsSpec', 'limitSpec', 'skipEmptyBuckets', 'ordering'].includes(name))
        tags.push(typeof part === 'string' ? part : name);
      visit(part);
    }
  };
  visit(query);
  return tags;
}

/**
 * The datasource, virtual columns and filter of a query whose times are given.
 * @param unknown  chance of a datasource that does not exist
 * @param isUnnested  as in `dataSource`; negations over what is made of a table may be true for null: docs/differences.md
 */
function common(random: Random, times: Fields, unknown = 0.03, isUnnested = true): Fields {
  const columns = random.chance(0.35) ? { virtualColumns: virtualColumns(random) } : {};
  const wanted = random.chance(0.6) ? { filter: filter(random, 2) } : {};
  const text = stringifyJson(wanted);
  const isNegated = /"(not|isfalse)"/.test(text);
  if (isNegated && text.includes('"or"') && text.includes('"bound"')) return common(random, times, unknown, isUnnested);
  const source = dataSource(random, { isUnnested, isTimeless: isTimeless(times) });
  return { dataSource: random.chance(unknown) ? 'nowhere' : isNegated ? 'nasty' : source, ...columns, ...wanted, ...times };
}

/** No buckets, no order, one interval. */
function isTimeless({ granularity, intervals, order }: Fields): boolean {
  const name = isFields(granularity) ? granularity['type'] : (granularity ?? 'all');
  return String(name).toLowerCase() === 'all' && order === undefined && Array.isArray(intervals) && intervals.length === 1;
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function timeseries(random: Random): Fields {
  const { aggregations: aggregators, postAggregations } = aggregations(random);
  return {
    queryType: 'timeseries',
    ...common(random, buckets(random), 0),
    aggregations: aggregators,
    postAggregations,
    // Sketches of descending buckets are not asked for: docs/differences.md.
    ...(random.chance(0.2) && !/Sketch/.test(stringifyJson(aggregators)) ? { descending: true } : {}),
    ...(random.chance(0.2) ? { limit: 1 + random.below(5) } : {}),
    ...(random.chance(0.5)
      ? { context: { skipEmptyBuckets: random.chance(0.7), ...(random.chance(0.2) ? { grandTotal: true } : {}) } }
      : {}),
  };
}

function topN(random: Random): Fields {
  const { aggregations: aggregators, postAggregations, numeric } = aggregations(random);
  const named = random.below(3);
  const counts = (aggregators as Fields[]).filter(({ type }) => type === 'count').map(({ name }) => String(name));
  const ranked = dimension(random, 'd0');
  // Other orders of doubles depend on their digits: docs/differences.md.
  const isDouble = /"outputType":"(FLOAT|DOUBLE)"|"[dfx]"|"w0"/.test(JSON.stringify(ranked));
  const ordering = random.pick(isDouble ? (['numeric', 'lexicographic'] as const) : ORDERINGS);
  const metric: Json =
    named === 0 && numeric.length > 0
      ? random.pick<Json>([
          random.pick(numeric),
          { type: 'numeric', metric: random.pick(numeric) },
          // Not one that may be null: docs/differences.md.
          ...counts.map((name) => ({ type: 'inverted', metric: { type: 'numeric', metric: name } })),
        ])
      : random.pick<Json>([
          { type: 'dimension', ordering },
          { type: 'dimension', ordering, previousStop: random.pick(['a', '1', 'B', '']) },
          { type: 'inverted', metric: { type: 'dimension', ordering } },
        ]);
  return {
    queryType: 'topN',
    ...common(random, buckets(random)),
    dimension: ranked,
    metric,
    threshold: random.pick([1, 2, 3, 5, 1000]),
    aggregations: aggregators,
    postAggregations,
  };
}

function groupBy(random: Random): Fields {
  const { aggregations: aggregators, postAggregations, numeric, all } = aggregations(random, true);
  const dimensions = Array.from({ length: random.below(4) }, (_, at) => dimension(random, `d${at}`));
  const names = dimensions.map((one) => (typeof one === 'string' ? one : outputNameOf(one as Fields)));
  const distinct = new Set(names).size === names.length;
  const kept = distinct ? dimensions : dimensions.slice(0, 1);
  const keptNames = distinct ? names : names.slice(0, 1);
  const whole = { queryType: 'groupBy', ...common(random, buckets(random)), dimensions: kept, aggregations: aggregators, postAggregations };
  // The order of lists is not asked for: docs/differences.md.
  if (distinct && random.chance(0.06)) return { ...whole, dimensions: [...kept, listDimension(random, 'list')] };
  return {
    ...whole,
    ...(random.chance(0.3) && numeric.length > 0 && keptNames.length > 0
      ? {
          having: having(
            random,
            numeric,
            kept.flatMap((one, at) => (isShownAsNumber(one) ? [] : [keptNames[at] ?? ''])),
            1,
          ),
        }
      : {}),
    // One or the other: docs/differences.md.
    ...(random.chance(0.12) && keptNames.length > 0 && kept.every(isSingle)
      ? { subtotalsSpec: random.list(1, 3, () => (random.chance(0.3) ? [] : keptNames.filter(() => random.chance(0.6)))) }
      : random.chance(0.5)
        ? {
            limitSpec: limitSpec(random, [...keptNames, ...all], new Map(kept.map((one, at) => [keptNames[at] ?? '', ordersOf(one)]))),
          }
        : {}),
  };
}

/** Words are not looked for among numbers: docs/differences.md. */
function isShownAsNumber(one: Json): boolean {
  return /"outputType":"(LONG|FLOAT|DOUBLE)"/.test(JSON.stringify(one));
}

/** A list as a whole. */
function listDimension(random: Random, outputName: string): Json {
  const [column, outputType] = random.pick([
    ['al', 'ARRAY<LONG>'],
    ['ad', 'ARRAY<DOUBLE>'],
    ['as', 'ARRAY<STRING>'],
  ] as const);
  return { type: 'default', dimension: column, outputName, outputType };
}

/** Not several values in a row: docs/differences.md, subtotals. */
function isSingle(one: Json): boolean {
  return !/"(mv|mv2|v0|w0)"/.test(JSON.stringify(one));
}

function outputNameOf(one: Fields): string {
  const delegate = one['delegate'] as Fields | undefined;
  return String(delegate?.['outputName'] ?? one['outputName']);
}

/** Orders that may be asked of a dimension, and whether one must be. */
interface Orders {
  readonly among: readonly ('numeric' | 'lexicographic' | 'strlen')[];
  readonly always?: true;
}

/** Doubles are ordered as numbers, since their digits differ, and strings are not, since `0` and `00` tie: docs/differences.md. */
function ordersOf(one: Json): Orders {
  const text = JSON.stringify(one);
  if (/"outputType":"(FLOAT|DOUBLE)"/.test(text)) return { among: ['numeric'], always: true };
  return {
    among: /"outputType":"LONG"/.test(text) ? SORT_ORDERINGS : /"[df]"/.test(text) ? ['lexicographic'] : ['lexicographic', 'strlen'],
  };
}

function orderOf(random: Random, { among, always }: Orders, isFirst: boolean): Fields {
  return always === true || (isFirst && random.chance(0.6)) ? { dimensionOrder: random.pick(among) } : {};
}

/** Ordered by every output in the end, so that the order is whole. */
function limitSpec(random: Random, names: readonly string[], orders: ReadonlyMap<string, Orders>): Json {
  const first = random.some(names.length > 0 ? names : ['none'], 2);
  const ordered = [...first, ...names.filter((name) => !first.includes(name))];
  const columns = ordered.map((name, at) => ({
    dimension: name,
    direction: random.pick(['ascending', 'descending']),
    ...orderOf(random, orders.get(name) ?? { among: SORT_ORDERINGS }, at < first.length),
  }));
  return {
    type: 'default',
    ...(names.length > 0 ? { columns } : {}),
    ...(random.chance(0.7) ? { limit: 1 + random.below(20) } : {}),
    ...(random.chance(0.2) ? { offset: random.below(5) } : {}),
  };
}

function having(random: Random, numeric: readonly string[], names: readonly string[], depth: number): Json {
  const at = random.below(depth > 0 ? 7 : 4);
  const aggregation = numeric.length > 0 ? random.pick(numeric) : 'a0';
  if (at < 2) return { type: random.pick(['greaterThan', 'equalTo', 'lessThan']), aggregation, value: random.pick([0, 1, 5, 2.5, -1]) };
  if (at < 3 && names.length > 0) return { type: 'dimSelector', dimension: names[0] ?? '', value: random.pick(['a', 'b', '1']) };
  if (at < 4)
    return {
      type: 'filter',
      filter: random.chance(0.5)
        ? { type: 'bound', dimension: aggregation, lower: '1', ordering: 'numeric' }
        : {
            type: 'selector',
            dimension: names[0] ?? aggregation,
            value: names.length > 0 ? random.pick(['a', '1', null]) : random.pick(['1', null]),
          },
    };
  if (at === 4) return { type: 'not', havingSpec: having(random, numeric, names, depth - 1) };
  return { type: random.pick(['and', 'or']), havingSpecs: random.list(1, 2, () => having(random, numeric, names, depth - 1)) };
}

function scan(random: Random): Fields {
  const order = random.pick(['none', 'ascending', 'descending']);
  const cut =
    order === 'none'
      ? {}
      : { ...(random.chance(0.5) ? { limit: 1 + random.below(30) } : {}), ...(random.chance(0.2) ? { offset: random.below(10) } : {}) };
  return {
    queryType: 'scan',
    ...common(random, { intervals: intervals(random), ...(order === 'none' ? {} : { order }) }),
    columns: [
      '__time',
      'id',
      ...random.some(['s', 'k', 'mv', 'mv2', 'n', 'l', 'd', 'f', 'x', 'b', 'al', 'ad', 'as', 'j', 'v0', 'w0', 'missing'], 5),
    ],
    resultFormat: random.pick(['list', 'compactedList']),
    ...cut,
  };
}

function search(random: Random): Fields {
  const { granularity, intervals: within } = buckets(random);
  // No limit: the servers may choose different hits (docs/differences.md).
  return {
    queryType: 'search',
    ...common(random, { granularity: random.chance(0.7) ? 'all' : granularity, intervals: within }, 0.03, false),
    query: searchSpec(random),
    ...(random.chance(0.8)
      ? {
          searchDimensions: random.chance(0.7)
            ? random.some<Json>([...STRING_COLUMNS, 'n', 'x', 'v0', 'w0'], 3)
            : [searchDimension(random)],
        }
      : {}),
    ...(random.chance(0.6) ? { sort: { type: random.pick(SORT_ORDERINGS) } } : {}),
    ...(random.chance(0.3) ? { limit: 1000 + random.below(10) } : {}),
  };
}

/** Not a filtered one: docs/differences.md. */
function searchDimension(random: Random): Json {
  for (;;) {
    const found = dimension(random, 'd0');
    if (typeof found === 'string' || !('delegate' in (found as Fields))) return found;
  }
}

/** Over one interval: the original's frame of tests reads a segment anew for each. */
function segmentMetadata(random: Random): Fields {
  return {
    queryType: 'segmentMetadata',
    dataSource: 'nasty',
    intervals: [random.pick([EVERYTHING, '2015-09-12/2015-09-13', '2000-01-01/2020-01-01', '1900-01-01/1900-01-02'])],
    merge: true,
    analysisTypes: random.some<Json>(
      ['cardinality', 'minmax', 'interval', 'timestampSpec', 'queryGranularity', 'aggregators', 'rollup'],
      4,
    ),
    ...(random.chance(0.5) ? { toInclude: { type: 'list', columns: random.some<Json>([anyColumn(random), 's', 'n', 'd', 'mv'], 3) } } : {}),
    ...(random.chance(0.4) ? { aggregatorMergeStrategy: random.pick(['strict', 'lenient', 'earliest', 'latest']) } : {}),
  };
}

function timeBoundary(random: Random): Fields {
  return {
    queryType: 'timeBoundary',
    dataSource: 'nasty',
    ...(random.chance(0.5) ? { intervals: intervals(random) } : {}),
    ...(random.chance(0.5) ? { bound: random.pick(['minTime', 'maxTime']) } : {}),
    ...(random.chance(0.5) ? { filter: filter(random, 1) } : {}),
  };
}
