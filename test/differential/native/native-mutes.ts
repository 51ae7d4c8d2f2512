import { STRING_ORDERINGS } from '../../../src/expression/ordering.js';
import type { StringOrdering } from '../../../src/model/filter.js';
import type { DifferentialCase, Fields, Json, Mute } from '../case.js';

/** Differences in the answers to native queries that are meant. */
export const NATIVE_MUTES: readonly Mute[] = [
  { id: 'all-timestamp', equate: withoutTimesOfAll },
  { id: 'empty-buckets', equate: withoutEmptyBuckets },
  { id: 'float-digits', equate: asFloats },
  { id: 'native-strings', equate: (rows, one) => (one.kind === 'native' ? plainStrings(rows) : rows) },
  { id: 'mean-of-nothing', equate: withoutMeansOfNothing },
  { id: 'search-buckets', equate: withoutSearchBuckets },
  { id: 'search-counts', equate: leastSearchCounts },
  { id: 'search-orders', equate: withSearchHitsAlike },
  { id: 'subtotals-first-bucket', equate: withoutBucketsBefore },
  { id: 'topn-ties', equate: withTiesInOrder },
  { id: 'expression-of-nothing', equate: withoutFoldsOfNothing },
  { id: 'output-types', equate: asOutputTypes },
  { id: 'timeseries-limit', equate: withoutLastOfLimit },
];

function queryOf(one: DifferentialCase): Fields {
  return one.kind === 'native' ? one.request : {};
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfAll(query: Fields): boolean {
  const granularity = query['granularity'] ?? 'all';
  const name = isFields(granularity) ? granularity['type'] : granularity;
  return typeof name === 'string' && name.toLowerCase() === 'all';
}

function withoutTimesOfAll(rows: Json, one: DifferentialCase): Json {
  if (one.kind !== 'native' || !isOfAll(queryOf(one)) || !Array.isArray(rows)) return rows;
  return (rows as Json[]).map((row) => (isFields(row) && 'timestamp' in row ? { ...row, timestamp: null } : row));
}

function withoutEmptyBuckets(rows: Json, one: DifferentialCase): Json {
  const { queryType } = queryOf(one);
  if ((queryType !== 'topN' && queryType !== 'search') || !Array.isArray(rows)) return rows;
  return (rows as Json[]).filter((row) => !isFields(row) || !Array.isArray(row['result']) || row['result'].length > 0);
}

/** The aggregators of a query, those within a filter too. */
function aggregatorsOf(one: DifferentialCase): Fields[] {
  const listed = queryOf(one)['aggregations'];
  if (!Array.isArray(listed)) return [];
  return (listed as Json[]).filter(isFields).map((each) => {
    let inner = each;
    while (isFields(inner['aggregator'])) inner = inner['aggregator'];
    return inner;
  });
}

/** The values of some outputs in every row; rows of all query types have their values in `event`, in `result`, or in a list there. */
function mapOutputs(rows: Json, names: ReadonlySet<string>, map: (value: Json) => Json): Json {
  if (names.size === 0 || !Array.isArray(rows)) return rows;
  const values = (row: Json): Json =>
    isFields(row) ? Object.fromEntries(Object.entries(row).map(([name, value]) => [name, names.has(name) ? map(value) : value])) : row;
  return (rows as Json[]).map((row): Json => {
    if (!isFields(row)) return row;
    const { event, result } = row;
    if (event !== undefined) return { ...row, event: values(event) };
    return { ...row, result: Array.isArray(result) ? (result as Json[]).map(values) : values(result ?? null) };
  });
}

function namesOf(one: DifferentialCase, test: (type: string) => boolean): ReadonlySet<string> {
  return new Set(aggregatorsOf(one).flatMap(({ type, name }) => (typeof type === 'string' && test(type) ? [String(name)] : [])));
}

function asFloats(rows: Json, one: DifferentialCase): Json {
  const names = new Set([...namesOf(one, (type) => type.startsWith('float')), ...floatDimensions(one)]);
  return mapOutputs(rows, names, (value) => (typeof value === 'number' || typeof value === 'bigint' ? Math.fround(Number(value)) : value));
}

function floatDimensions(one: DifferentialCase): string[] {
  const { dimension, dimensions } = queryOf(one);
  const listed = Array.isArray(dimensions) ? (dimensions as Json[]) : [dimension ?? null];
  return listed
    .filter(isFields)
    .flatMap((each) => (each['outputType'] === 'FLOAT' ? [String(each['outputName'] ?? each['dimension'])] : []));
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const LONG_DOUBLE = /-?\d+\.\d{14,}(E-?\d+)?/g;

/** Without halves of characters, and doubles as strings with their shortest digits. */
function plainStrings(value: Json): Json {
  if (typeof value === 'string') return value.replace(LONG_DOUBLE, (digits) => String(Number(digits))).replace(LONE_SURROGATE, '\ufffd');
  if (Array.isArray(value)) return (value as Json[]).map(plainStrings);
  return isFields(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainStrings(item)])) : value;
}

function withoutMeansOfNothing(rows: Json, one: DifferentialCase): Json {
  return mapOutputs(
    rows,
    namesOf(one, (type) => type === 'doubleMean'),
    (value) => (value === 0 ? null : value),
  );
}

/** The hits of all buckets together, with the sums of their counts. */
function withoutSearchBuckets(rows: Json, one: DifferentialCase): Json {
  const query = queryOf(one);
  if (query['queryType'] !== 'search' || isOfAll(query) || !Array.isArray(rows)) return rows;
  const counts = new Map<string, { hit: Fields; count: number }>();
  for (const hit of hitsOf(rows)) {
    const key = JSON.stringify([hit['dimension'], hit['value']]);
    const known = counts.get(key);
    counts.set(key, { hit, count: (known?.count ?? 0) + Number(hit['count']) });
  }
  const result = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { hit, count }]): Json => ({ ...hit, count }));
  return result.length === 0 ? [] : [{ timestamp: null, result }];
}

function hitsOf(rows: Json): Fields[] {
  if (!Array.isArray(rows)) return [];
  return (rows as Json[]).flatMap((row) =>
    isFields(row) && Array.isArray(row['result']) ? (row['result'] as Json[]).filter(isFields) : [],
  );
}

/** Lists of the table have at most so many values. */
const LIST_MAX = 4;

/** The lower of two counts of one hit, where one may be of values and the other of rows. */
function leastSearchCounts(rows: Json, one: DifferentialCase, other: Json): Json {
  if (queryOf(one)['queryType'] !== 'search' || !Array.isArray(rows)) return rows;
  const others = new Map(hitsOf(other).map((hit) => [JSON.stringify([hit['dimension'], hit['value']]), Number(hit['count'])]));
  return mapHits(rows, (hits) =>
    hits.map((hit) => {
      const [count, found] = [Number(hit['count']), others.get(JSON.stringify([hit['dimension'], hit['value']]))];
      return found !== undefined && found < count && count <= found * LIST_MAX ? { ...hit, count: found } : hit;
    }),
  );
}

function mapHits(rows: readonly Json[], map: (hits: readonly Fields[]) => readonly Json[]): Json {
  return rows.map((row) =>
    isFields(row) && Array.isArray(row['result']) ? { ...row, result: map((row['result'] as Json[]).filter(isFields)) } : row,
  );
}

/** One hit for all values of a dimension that the order of the query takes for the same. */
function withSearchHitsAlike(rows: Json, one: DifferentialCase, other: Json): Json {
  const { queryType, sort } = queryOf(one);
  if (queryType !== 'search' || !isFields(sort) || !Array.isArray(rows)) return rows;
  const compare = STRING_ORDERINGS[sort['type'] as StringOrdering];
  const shown = [...hitsOf(rows), ...hitsOf(other)].map(({ value }) => value);
  const values = [...new Set(shown.filter((value) => typeof value === 'string'))].sort();
  const first = (value: Json | undefined): Json =>
    typeof value === 'string' ? (values.find((each) => compare(each, value) === 0) ?? value) : (value ?? null);
  return mapHits(rows, (hits) => {
    const merged = new Map<string, { hit: Fields; count: number }>();
    for (const hit of hits) {
      const alike: Fields = { ...hit, value: first(hit['value']) };
      const key = JSON.stringify([alike['dimension'], alike['value']]);
      merged.set(key, { hit: alike, count: (merged.get(key)?.count ?? 0) + Number(hit['count']) });
    }
    const isShared = (hit: Fields): boolean => values.some((each) => each !== hit['value'] && first(each) === hit['value']);
    return [...merged.values()].map(({ hit, count }) => ({ ...hit, count: isShared(hit) ? null : count }));
  });
}

/** Without the row in which the original falls short of the limit, and without the totals of the rows. */
function withoutLastOfLimit(rows: Json, one: DifferentialCase, other: Json): Json {
  const { queryType, limit } = queryOf(one);
  if (queryType !== 'timeseries' || typeof limit !== 'number' || !Array.isArray(rows) || !Array.isArray(other)) return rows;
  const [buckets, others] = [rows, other].map((each) => (each as Json[]).filter((row) => !isFields(row) || row['timestamp'] !== null));
  return buckets?.length === limit && others?.length === limit - 1 ? buckets.slice(0, -1) : (buckets ?? []);
}

/** Without the rows of subtotals whose bucket begins before the query's intervals. */
function withoutBucketsBefore(rows: Json, one: DifferentialCase): Json {
  const { subtotalsSpec, intervals } = queryOf(one);
  if (subtotalsSpec === undefined || !Array.isArray(rows) || !Array.isArray(intervals) || isOfAll(queryOf(one))) return rows;
  const starts = (intervals as string[]).map((each) => each.split('/')[0] ?? '');
  const first = Math.min(...starts.map((start) => Date.parse(start.includes('T') ? `${start}Z` : start)));
  return (rows as Json[]).filter((row) => !isFields(row) || Date.parse(String(row['timestamp'])) >= first);
}

/**
 * Entries of a topN that its order of dimensions takes for the same, ordered by themselves; where the threshold may have cut
 * some of them off, without their values.
 */
function withTiesInOrder(rows: Json, one: DifferentialCase, other: Json): Json {
  const query = queryOf(one);
  const ordering = orderingOf(query['metric'] ?? null);
  if (query['queryType'] !== 'topN' || ordering === undefined || !Array.isArray(rows)) return rows;
  const name = outputNameOf(query['dimension'] ?? null);
  const compare = STRING_ORDERINGS[ordering];
  const isTie = (a: Json | undefined, b: Json | undefined): boolean =>
    typeof a === 'string' && typeof b === 'string' && compare(a, b) === 0;
  const shown = new Set([...hitsOf(rows), ...hitsOf(other)].map((entry) => entry[name] ?? null));
  const least = (value: Json): Json => [...shown].filter((each) => isTie(each, value)).sort()[0] ?? value;
  return mapHits(rows, (entries) => {
    const runs: Fields[][] = [];
    for (const entry of entries) {
      const run = runs.at(-1);
      if (run !== undefined && isTie(run[0]?.[name], entry[name])) run.push(entry);
      else runs.push([entry]);
    }
    return runs.flatMap((run, at) => {
      const value = run[0]?.[name] ?? null;
      const isCut = at === runs.length - 1 && entries.length === query['threshold'];
      if (isCut && [...shown].some((each) => each !== value && isTie(each, value))) return run.map(() => ({ [name]: least(value) }));
      return run.toSorted((a, b) => (String(a[name]) < String(b[name]) ? -1 : 1));
    });
  });
}

/** The order of dimensions that a metric of a topN asks for; undefined for one of numbers. */
function orderingOf(metric: Json): StringOrdering | undefined {
  if (!isFields(metric)) return undefined;
  if (metric['type'] === 'inverted') return orderingOf(metric['metric'] ?? null);
  return metric['type'] === 'dimension' ? ((metric['ordering'] ?? 'lexicographic') as StringOrdering) : undefined;
}

function outputNameOf(dimension: Json): string {
  if (!isFields(dimension)) return String(dimension);
  if (isFields(dimension['delegate'])) return outputNameOf(dimension['delegate']);
  return String(dimension['outputName'] ?? dimension['dimension']);
}

/** The only row of a result without what an expression folds, where either side has nothing. */
function withoutFoldsOfNothing(rows: Json, one: DifferentialCase, other: Json): Json {
  const names = namesOf(one, (type) => type === 'expression');
  if (names.size === 0 || !Array.isArray(rows) || rows.length !== 1) return rows;
  const isNothing = (side: Json): boolean => {
    let found = false;
    mapOutputs(side, names, (value) => {
      found ||= value === null;
      return value;
    });
    return found;
  };
  return isNothing(rows) || isNothing(other) ? mapOutputs(rows, names, () => null) : rows;
}

/** The values of virtual columns in scans, in the type that the column says they have. */
function asOutputTypes(rows: Json, one: DifferentialCase): Json {
  const { queryType, virtualColumns, columns } = queryOf(one);
  if (queryType !== 'scan' || !Array.isArray(virtualColumns) || !Array.isArray(rows)) return rows;
  const types = new Map(
    (virtualColumns as Json[]).filter(isFields).flatMap((column) => {
      const type = column['outputType'] ?? column['expectedType'] ?? (column['type'] === 'nested-field' ? 'STRING' : undefined);
      return typeof type === 'string' ? [[String(column['name'] ?? column['outputName']), type] as const] : [];
    }),
  );
  const convert = (name: Json, value: Json): Json => {
    const type = types.get(String(name));
    return type === undefined || value === null ? value : valueAs(value, type);
  };
  return (rows as Json[]).map((row): Json => {
    if (Array.isArray(row)) return (row as Json[]).map((value, at) => convert((columns as Json[])[at] ?? null, value));
    return isFields(row) ? Object.fromEntries(Object.entries(row).map(([name, value]) => [name, convert(name, value)])) : row;
  });
}

function valueAs(value: Json, type: string): Json {
  if (typeof value === 'object') return value;
  if (type === 'STRING') return String(value);
  const number = Number(value);
  if (typeof value === 'string' && (value.trim() === '' || Number.isNaN(number))) return null;
  return type === 'LONG' ? Math.trunc(number) : number;
}
