import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { parseFilter } from '../../../../src/planner/native/filter/filter.js';
import * as names from '../../../../src/planner/native/names.js';
import { parseQuery } from '../../../../src/planner/native/query/query.js';
import type { KnownTables } from '../../../../src/planner/plan.js';

const tables: KnownTables = {
  table: (name) =>
    name !== 'wiki'
      ? undefined
      : {
          interval: { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) },
          columns: [
            { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
            { name: 'page', type: 'STRING', multiValue: false, hasNulls: true },
            { name: 'added', type: 'LONG', multiValue: false, hasNulls: false },
            { name: 'price', type: 'DOUBLE', multiValue: false, hasNulls: false },
          ],
        },
};
const parse = (body: unknown, lenient = false) => parseQuery(body, lenient, tables);

const timeseries = {
  queryType: 'timeseries',
  dataSource: 'wiki',
  intervals: '2015-09-12/2015-09-13',
  granularity: 'hour',
  aggregations: [{ type: 'count', name: 'rows' }],
};
const topN = { ...timeseries, queryType: 'topN', dimension: 'page', metric: 'rows', threshold: 5 };
const groupBy = { ...timeseries, queryType: 'groupBy', dimensions: ['page'] };
const scan = { queryType: 'scan', dataSource: 'wiki', intervals: ['2015-09-12/P1D'] };
const filtered = (filter: unknown) => ({ ...timeseries, filter });
const aggregated = (aggregation: unknown) => ({ ...timeseries, aggregations: [aggregation] });
const posted = (postAggregation: unknown) => ({ ...timeseries, postAggregations: [postAggregation] });

const refusals = suite('refused by name');

const refused: readonly { name: string; body: unknown; code?: string; message: RegExp }[] = [
  { name: 'not an object', body: [1], message: /query: expected an object, found \[1\]/ },
  { name: 'no query type', body: {}, message: /queryType: expected a string, found nothing/ },
  {
    name: 'unknown query type',
    body: { queryType: 'timeserie' },
    message: /unknown query type "timeserie" \(did you mean "timeseries"\?\); accepted: timeseries, topN/,
  },
  { name: 'documented query type', body: { queryType: 'movingAverage' }, code: 'unsupported', message: /movingAverage/ },
  { name: 'no datasource', body: { ...timeseries, dataSource: undefined }, message: /dataSource/ },
  {
    name: 'documented datasource',
    body: { ...timeseries, dataSource: { type: 'globalTable' } },
    code: 'unsupported',
    message: /dataSource\.type: datasource "globalTable"/,
  },
  { name: 'unknown datasource', body: { ...timeseries, dataSource: { type: 'tabel', name: 'wiki' } }, message: /did you mean "table"/ },
  { name: 'unknown key', body: { ...timeseries, descendign: true }, message: /unknown key "descendign"; did you mean "descending"\?/ },
  {
    name: 'unknown key deep down',
    body: aggregated({ type: 'count', name: 'rows', fieldNames: 'x' }),
    message: /aggregations\[0\]: unknown key "fieldNames"/,
  },
  { name: 'no intervals', body: { ...timeseries, intervals: undefined }, message: /intervals: expected/ },
  {
    name: 'reversed interval',
    body: { ...timeseries, intervals: ['2015-09-13/2015-09-12'] },
    message: /intervals\[0\]: expected an ISO 8601 interval/,
  },
  { name: 'no granularity', body: { ...timeseries, granularity: null }, message: /granularity/ },
  { name: 'unknown granularity', body: { ...timeseries, granularity: 'hours' }, message: /granularity: unknown granularity "hours"/ },
  { name: 'descending as a number', body: { ...timeseries, descending: 1 }, message: /descending: expected true or false, found 1/ },
  { name: 'limit of 0', body: { ...timeseries, limit: 0 }, message: /limit: expected an integer of at least 1, found 0/ },
  {
    name: 'unknown aggregator',
    body: aggregated({ type: 'noSuch', name: 'x' }),
    message: /aggregations\[0\]\.type: unknown aggregator "noSuch"; accepted: count/,
  },
  { name: 'aggregator without a name', body: aggregated({ type: 'count' }), message: /aggregations\[0\]\.name: expected a string/ },
  { name: 'aggregator without a field', body: aggregated({ type: 'longSum', name: 'x' }), message: /either a fieldName or an expression/ },
  {
    name: 'two outputs of one name',
    body: {
      ...timeseries,
      aggregations: [
        { type: 'count', name: 'x' },
        { type: 'count', name: 'x' },
      ],
    },
    message: /two outputs of the query are called "x"/,
  },
  { name: 'output called __time', body: aggregated({ type: 'count', name: '__time' }), message: /__time/ },
  {
    name: 'post-aggregator over nothing',
    body: posted({ type: 'fieldAccess', name: 'x', fieldName: 'nowhere' }),
    message: /postAggregations\[0\]\.fieldName: "nowhere"/,
  },
  {
    name: 'arithmetic with one field',
    body: posted({ type: 'arithmetic', name: 'x', fn: '+', fields: [{ type: 'constant', value: 1 }] }),
    message: /at least 2/,
  },
  {
    name: 'arithmetic of another kind',
    body: posted({ type: 'arithmetic', name: 'x', fn: '%', fields: [] }),
    message: /fn: expected one of \+/,
  },
  { name: 'filter without dimension', body: filtered({ type: 'selector', value: 'x' }), message: /filter\.dimension/ },
  {
    name: 'filter with code',
    body: filtered({ type: 'selector', dimension: 'page', value: 'x', extractionFn: { type: 'javascript', function: 'x' } }),
    code: 'unsupported',
    message: /filter\.extractionFn\.type: extraction function "javascript"/,
  },
  { name: 'and of nothing', body: filtered({ type: 'and', fields: [] }), message: /filter\.fields: expected at least one/ },
  { name: 'bound without bounds', body: filtered({ type: 'bound', dimension: 'page' }), message: /lower or an upper/ },
  {
    name: 'equals without value',
    body: filtered({ type: 'equals', column: 'page', matchValueType: 'STRING' }),
    message: /matchValue: expected a value/,
  },
  {
    name: 'equals of arrays of LONG with a fraction',
    body: filtered({ type: 'equals', column: 'page', matchValueType: 'ARRAY<LONG>', matchValue: [1, 1.5] }),
    message: /matchValue\[1\]: expected a LONG/,
  },
  {
    name: 'equals of arrays with a single value',
    body: filtered({ type: 'equals', column: 'page', matchValueType: 'ARRAY<LONG>', matchValue: 1 }),
    message: /matchValue: expected an ARRAY<LONG>/,
  },
  {
    name: 'equals of a type that is none',
    body: filtered({ type: 'equals', column: 'page', matchValueType: 'ARRAY<WORD>', matchValue: [1] }),
    message: /matchValueType: expected one of STRING, .*ARRAY<WORD>/,
  },
  {
    name: 'equals of sketches',
    body: filtered({ type: 'equals', column: 'page', matchValueType: 'COMPLEX<HLLSketch>', matchValue: 'AAAA' }),
    code: 'unsupported',
    message: /matchValueType: .*COMPLEX<HLLSketch>/,
  },
  {
    name: 'a range of JSON',
    body: filtered({ type: 'range', column: 'page', matchValueType: 'COMPLEX<json>', lower: {} }),
    message: /matchValueType: .* no order/,
  },
  {
    name: 'equals of a fraction as LONG',
    body: filtered({ type: 'equals', column: 'added', matchValueType: 'LONG', matchValue: 1.5 }),
    message: /matchValue: expected a LONG, found 1\.5/,
  },
  {
    name: 'regular expression that backtracks',
    body: filtered({ type: 'regex', dimension: 'page', pattern: '(a)\\1' }),
    message: /regular expression/,
  },
  { name: 'expression with an unknown function', body: filtered({ type: 'expression', expression: 'nosuch(page)' }), message: /nosuch/ },
  {
    name: 'virtual columns that read each other',
    body: {
      ...timeseries,
      virtualColumns: [
        { type: 'expression', name: 'own', expression: "concat(own, 'x')" },
        { type: 'expression', name: 'a', expression: 'own + b' },
        { type: 'expression', name: 'b', expression: 'c', outputType: 'STRING' },
        { type: 'expression', name: 'c', expression: 'a' },
      ],
    },
    message: /^virtualColumns: a, b, c read each other in a circle$/,
  },
  {
    name: 'virtual column with an unsupported kind',
    body: { ...timeseries, virtualColumns: [{ type: 'nested-merge', name: 'v' }] },
    code: 'unsupported',
    message: /nested-merge/,
  },
  {
    name: 'nested field without a path',
    body: { ...timeseries, virtualColumns: [{ type: 'nested-field', columnName: 'page', outputName: 'v' }] },
    message: /virtualColumns\[0\]\.path: expected a path/,
  },
  {
    name: 'nested field with a part of no kind',
    body: {
      ...timeseries,
      virtualColumns: [{ type: 'nested-field', columnName: 'page', outputName: 'v', pathParts: [{ type: 'member', field: 'a' }] }],
    },
    message: /virtualColumns\[0\]\.pathParts\[0\]\.type: expected one of field, arrayElement/,
  },
  {
    name: 'topN of arrays',
    body: { ...topN, dimension: { type: 'default', dimension: 'page', outputType: 'ARRAY<STRING>' } },
    code: 'unsupported',
    message: /dimension: "page" is of type ARRAY<STRING>/,
  },
  {
    name: 'virtual column that does not type',
    body: { ...timeseries, virtualColumns: [{ type: 'expression', name: 'v', expression: 'page * page' }] },
    message: /two strings/,
  },
  { name: 'topN without threshold', body: { ...topN, threshold: undefined }, message: /threshold/ },
  { name: 'topN with threshold as text', body: { ...topN, threshold: 'many' }, message: /threshold: expected an integer/ },
  { name: 'topN by an unknown metric', body: { ...topN, metric: 'clicks' }, message: /metric: "clicks"/ },
  {
    name: 'topN by a metric of another type',
    body: { ...topN, metric: { type: 'colour' } },
    message: /unknown topN metric "colour"; accepted: numeric, dimension, lexicographic, alphaNumeric, inverted/,
  },
  {
    name: 'extraction without a function',
    body: { ...topN, dimension: { type: 'extraction', dimension: 'page' } },
    message: /dimension\.extractionFn: expected an object/,
  },
  { name: '__time as a dimension without a name', body: { ...groupBy, dimensions: ['__time'] }, message: /give an outputName/ },
  {
    name: 'order by nothing known',
    body: { ...groupBy, limitSpec: { type: 'default', columns: ['nowhere'] } },
    message: /limitSpec\.columns\[0\]: "nowhere"/,
  },
  {
    name: 'having on nothing known',
    body: { ...groupBy, having: { type: 'greaterThan', aggregation: 'nowhere', value: 1 } },
    message: /having\.aggregation: "nowhere"/,
  },
  { name: 'scan in another order', body: { ...scan, order: 'random' }, message: /order: expected one of none, ascending, descending/ },
  { name: 'scan in another format', body: { ...scan, resultFormat: 'csv' }, message: /resultFormat: expected one of list, compactedList/ },
  { name: 'timeBoundary with another bound', body: { queryType: 'timeBoundary', dataSource: 'wiki', bound: 'middle' }, message: /bound/ },
  {
    name: 'segmentMetadata with another analysis',
    body: { queryType: 'segmentMetadata', dataSource: 'wiki', analysisTypes: ['colour'] },
    message: /analysisTypes\[0\]: expected one of cardinality/,
  },
  { name: 'context that is no object', body: { ...timeseries, context: [] }, message: /context: expected an object/ },
  {
    name: 'timeout below 0',
    body: { ...timeseries, context: { timeout: -1 } },
    message: /context\.timeout: expected an integer of at least 0/,
  },
  { name: 'bySegment', body: { ...timeseries, context: { bySegment: 'maybe' } }, code: 'query_invalid', message: /context\.bySegment/ },
  {
    name: 'brokerService',
    body: { ...timeseries, context: { brokerService: 'hot' } },
    code: 'unsupported',
    message: /context\.brokerService/,
  },
];
for (const { name, body, code = 'query_invalid', message } of refused) {
  refusals(name, () => {
    assert.throws(
      () => parse(body),
      (error: unknown) => error instanceof ServiceError && error.code === code && message.test(error.message),
    );
  });
}

for (const type of names.UNSUPPORTED_FILTERS)
  refusals(`filter ${type}`, () => assert.throws(() => parse(filtered({ type })), isUnsupported));
for (const type of names.UNSUPPORTED_AGGREGATORS)
  refusals(`aggregator ${type}`, () => assert.throws(() => parse(aggregated({ type })), isUnsupported));
for (const type of names.UNSUPPORTED_POST_AGGREGATORS)
  refusals(`post-aggregator ${type}`, () => assert.throws(() => parse(posted({ type })), isUnsupported));

function isUnsupported(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unsupported';
}

refusals('deep nesting is refused, not a stack overflow', () => {
  let filter: unknown = { type: 'true' };
  for (let depth = 0; depth < 100_000; depth++) filter = { type: 'not', field: filter };
  assert.throws(
    () => parse(filtered(filter)),
    (error: unknown) => error instanceof ServiceError && /nested deeper/.test(error.message),
  );
});

refusals('a value nested without end is described, not followed', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = { a: [deep] };
  for (const body of [
    { ...timeseries, granularity: deep },
    { ...timeseries, intervals: [deep] },
    { ...timeseries, descending: deep },
    { ...timeseries, context: { timeout: deep } },
    filtered({ type: 'selector', dimension: 'page', value: deep }),
  ]) {
    assert.throws(
      () => parse(body),
      (error: unknown) => error instanceof ServiceError && error.message.length < 500,
    );
  }
});

refusals('a filter outside of a query names its path', () => {
  assert.throws(
    () => parseFilter({ type: 'selector', dim: 'x' }, 'spec.transformSpec.filter'),
    (error: unknown) => error instanceof ServiceError && error.message.startsWith('spec.transformSpec.filter.dimension'),
  );
});
refusals.run();

const reading = suite('read');

reading('defaults are filled in', () => {
  assert.equal(parse(timeseries).query, {
    queryType: 'timeseries',
    dataSource: 'wiki',
    intervals: [{ start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) }],
    filter: null,
    virtualColumns: [],
    granularity: { kind: 'period', period: 'PT1H', timeZone: 'UTC', origin: null },
    aggregators: [{ kind: 'count', name: 'rows', filter: null }],
    postAggregators: [],
    descending: false,
    limit: null,
    skipEmptyBuckets: false,
    grandTotal: false,
  });
});

reading('both spellings of the types, a table as an object, intervals in each form', () => {
  assert.is(parse({ queryType: 'timeBoundaries', dataSource: { type: 'table', name: 'wiki' } }).query.queryType, 'timeBoundary');
  assert.is(parse({ queryType: 'datasourceMetadata', dataSource: 'wiki' }).query.queryType, 'dataSourceMetadata');
  for (const intervals of ['2015-09-12T00Z/2015-09-13', ['2015-09-12/P1D'], { type: 'intervals', intervals: ['2015-09-12/2015-09-13'] }]) {
    assert.equal(parse({ ...timeseries, intervals }).query.intervals, [{ start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) }]);
  }
});

const filters: readonly { name: string; filter: unknown; read: unknown }[] = [
  {
    name: 'selector on text',
    filter: { type: 'selector', dimension: 'page', value: 'x' },
    read: { kind: 'equals', column: 'page', type: 'STRING', value: 'x' },
  },
  {
    name: 'selector on a number',
    filter: { type: 'selector', dimension: 'added', value: '7' },
    read: { kind: 'equals', column: 'added', type: 'LONG', value: 7n },
  },
  {
    name: 'selector by number on text',
    filter: { type: 'selector', dimension: 'page', value: 7 },
    read: { kind: 'equals', column: 'page', type: 'STRING', value: '7' },
  },
  {
    name: 'selector on a number by text',
    filter: { type: 'selector', dimension: 'added', value: 'x' },
    read: { kind: 'equals', column: 'added', type: 'STRING', value: 'x' },
  },
  {
    name: 'selector on an unknown column',
    filter: { type: 'selector', dimension: 'other', value: '7' },
    read: { kind: 'equals', column: 'other', type: 'STRING', value: '7' },
  },
  { name: 'selector of null', filter: { type: 'selector', dimension: 'page', value: null }, read: { kind: 'null', column: 'page' } },
  {
    name: 'in',
    filter: { type: 'in', dimension: 'page', values: ['a', 'b', 'a'] },
    read: { kind: 'in', column: 'page', type: 'STRING', values: ['a', 'b', 'a'] },
  },
  {
    name: 'in with a null',
    filter: { type: 'in', dimension: 'added', values: [1, null] },
    read: {
      kind: 'or',
      filters: [
        { kind: 'in', column: 'added', type: 'LONG', values: [1n] },
        { kind: 'null', column: 'added' },
      ],
    },
  },
  {
    name: 'bound',
    filter: { type: 'bound', dimension: 'page', lower: 'a', upperStrict: true, upper: 'f' },
    read: {
      kind: 'range',
      column: 'page',
      type: 'STRING',
      ordering: 'lexicographic',
      lower: 'a',
      upper: 'f',
      lowerStrict: false,
      upperStrict: true,
    },
  },
  {
    name: 'numeric bound on a number',
    filter: { type: 'bound', dimension: 'added', lower: '10', ordering: 'numeric' },
    read: {
      kind: 'range',
      column: 'added',
      type: 'LONG',
      ordering: 'numeric',
      lower: 10n,
      upper: null,
      lowerStrict: false,
      upperStrict: false,
    },
  },
  {
    name: 'numeric bound with a fraction on a LONG',
    filter: { type: 'bound', dimension: 'added', upper: '1.5', ordering: { type: 'numeric' } },
    read: {
      kind: 'range',
      column: 'added',
      type: 'DOUBLE',
      ordering: 'numeric',
      lower: null,
      upper: 1.5,
      lowerStrict: false,
      upperStrict: false,
    },
  },
  {
    name: 'numeric bound on text',
    filter: { type: 'bound', dimension: 'page', upper: '9', ordering: 'numeric' },
    read: {
      kind: 'or',
      filters: [
        { kind: 'null', column: 'page' },
        {
          kind: 'range',
          column: 'page',
          type: 'STRING',
          ordering: 'numeric',
          lower: null,
          upper: '9',
          lowerStrict: false,
          upperStrict: false,
        },
      ],
    },
  },
  {
    name: 'range',
    filter: { type: 'range', column: 'price', matchValueType: 'DOUBLE', lower: 1, lowerOpen: true },
    read: {
      kind: 'range',
      column: 'price',
      type: 'DOUBLE',
      ordering: 'numeric',
      lower: 1,
      upper: null,
      lowerStrict: true,
      upperStrict: false,
    },
  },
  {
    name: 'equals',
    filter: { type: 'equals', column: 'added', matchValueType: 'LONG', matchValue: 9007199254740993n },
    read: { kind: 'equals', column: 'added', type: 'LONG', value: 9007199254740993n },
  },
  {
    name: 'interval',
    filter: { type: 'interval', dimension: '__time', intervals: ['2015-09-12/P1D'] },
    read: {
      kind: 'range',
      column: '__time',
      type: 'LONG',
      ordering: 'numeric',
      lower: BigInt(Date.UTC(2015, 8, 12)),
      upper: BigInt(Date.UTC(2015, 8, 13)),
      lowerStrict: false,
      upperStrict: true,
    },
  },
  {
    name: 'like',
    filter: { type: 'like', dimension: 'page', pattern: 'D%' },
    read: { kind: 'like', column: 'page', pattern: 'D%', escape: null },
  },
  {
    name: 'not, and, or',
    filter: { type: 'not', field: { type: 'and', fields: [{ type: 'true' }, { type: 'or', fields: [{ type: 'false' }] }] } },
    read: { kind: 'not', filter: { kind: 'and', filters: [{ kind: 'true' }, { kind: 'or', filters: [{ kind: 'false' }] }] } },
  },
];
for (const { name, filter, read } of filters) reading(`filter: ${name}`, () => assert.equal(parse(filtered(filter)).query.filter, read));

reading('a filtered aggregator keeps the inner name, and filters within filters add up', () => {
  const count = {
    type: 'filtered',
    filter: { type: 'true' },
    aggregator: { type: 'filtered', name: 'n', filter: { type: 'false' }, aggregator: { type: 'count', name: 'rows' } },
  };
  const { query } = parse(aggregated(count));
  assert.equal(query.queryType === 'timeseries' && query.aggregators, [
    { kind: 'count', name: 'n', filter: { kind: 'and', filters: [{ kind: 'true' }, { kind: 'false' }] } },
  ]);
});

reading('an aggregator over an expression reads a virtual column', () => {
  const { query } = parse(aggregated({ type: 'longSum', name: 'x', expression: 'added * 2' }));
  assert.equal(query.queryType === 'timeseries' && query.aggregators[0], {
    kind: 'sum',
    name: 'x',
    filter: null,
    column: query.virtualColumns[0]?.name,
    type: 'LONG',
  });
});

reading('keys under the alias are accepted and named', () => {
  const { ignoredKeys } = parse({ ...timeseries, descendign: true, aggregations: [{ type: 'count', name: 'rows', extra: 1 }] }, true);
  assert.equal(ignoredKeys, ['aggregations[0].extra', 'descendign']);
});

reading('context: text for numbers and booleans, own keys, a warning for a misspelt one', () => {
  const { context, query } = parse({
    ...timeseries,
    context: { timeout: '500', priority: -1, skipEmptyBuckets: 'true', queryId: 'q1', tiemout: 3, team: 'blue', useCache: false },
  });
  assert.is(context.timeoutMs, 500);
  assert.is(context.priority, -1);
  assert.is(context.queryId, 'q1');
  assert.is(query.queryType === 'timeseries' && query.skipEmptyBuckets, true);
  assert.equal(context.other, { tiemout: 3, team: 'blue' });
  assert.equal(context.warnings, ['context.tiemout is not a known key and has no effect; did you mean "timeout"?']);
});

reading('any mutation of a good query is a query or a typed error', () => {
  const good = {
    ...groupBy,
    filter: {
      type: 'and',
      fields: [
        { type: 'selector', dimension: 'page', value: 'x' },
        { type: 'bound', dimension: 'added', lower: '1', ordering: 'numeric' },
      ],
    },
    limitSpec: { type: 'default', limit: 3, columns: [{ dimension: 'rows', direction: 'descending' }] },
    context: { timeout: 5 },
  };
  const paths = pathsOf(good);
  const junk = fc.oneof(
    fc.constantFrom(null, '', 'x', -1, 0, 1.5, true, [], {}, [[]], { type: 'x' }, 'timeseries', 'default', 10n ** 30n),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.constantFrom(...paths), junk, (path, value) => {
      try {
        parse(replaced(good, path, value));
      } catch (error) {
        assert.instance(error, ServiceError);
      }
    }),
    { numRuns: 3000 },
  );
});

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((inner: unknown, index) => (String(index) === key ? replaced(inner, rest, by) : inner));
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [key]: replaced(fields[key], rest, by) };
}
reading.run();
