import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { planQuery } from '../../../../src/planner/plan.js';
import { aggregated, filtered, groupBy, parse, timeseries } from './bodies.js';

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

reading('the segments that a query names, and their intervals', () => {
  const day = { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) };
  const intervals = {
    type: 'segments',
    segments: [
      { itvl: '2015-09-12/2015-09-13', ver: 'v', part: 3 },
      { itvl: '2015-09-12/P1D', ver: 'w' },
    ],
  };
  for (const queryType of ['timeseries', 'scan', 'timeBoundary', 'segmentMetadata', 'dataSourceMetadata']) {
    const { query } = parse({ queryType, dataSource: 'wiki', intervals, ...(queryType === 'timeseries' ? { granularity: 'all' } : {}) });
    assert.equal(query.intervals, [day, day]);
    assert.equal(query.segments, [
      { interval: day, version: 'v', partitionNumber: 3 },
      { interval: day, version: 'w', partitionNumber: 0 },
    ]);
    for (const plan of planQuery(query, { table: () => undefined })) assert.equal([plan.intervals, plan.segments], [[day], query.segments]);
  }
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
