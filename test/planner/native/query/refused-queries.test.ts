import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { parseFilter } from '../../../../src/planner/native/filter/filter.js';
import * as names from '../../../../src/planner/native/names.js';
import { aggregated, filtered, groupBy, parse, posted, scan, timeseries, topN } from './bodies.js';

const refusals = suite('refused by name');

const refused: readonly { name: string; body: unknown; code?: string; message: RegExp }[] = [
  { name: 'not an object', body: [1], message: /query: expected an object, found \[1\]/ },
  { name: 'no query type', body: {}, message: /queryType: expected a string, found nothing/ },
  ...(
    [
      [{ type: 'segments' }, /intervals\.segments: expected an array/],
      [{ type: 'segments', segments: ['x'] }, /intervals\.segments\[0\]: expected an object/],
      [{ type: 'segments', segments: [{ itvl: 'x', ver: 'v' }] }, /intervals\.segments\[0\]\.itvl: expected an ISO 8601 interval/],
      [{ type: 'segments', segments: [{ itvl: '2015/2016' }] }, /intervals\.segments\[0\]\.ver: expected a string/],
      [{ type: 'segments', segments: [{ itvl: '2015/2016', ver: 'v', part: -1 }] }, /intervals\.segments\[0\]\.part: expected an integer/],
      [
        { type: 'segments', segments: [{ itvl: '2015/2016', ver: 'v', partition: 1 }] },
        /intervals\.segments\[0\]: unknown key "partition"/,
      ],
    ] as const
  ).map(([intervals, message]) => ({ name: `segments: ${JSON.stringify(intervals)}`, body: { ...timeseries, intervals }, message })),
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
  ...['$bucket', '$state of a', '$strings of a', '$rank of a', '$order of a'].flatMap((name) =>
    [
      aggregated({ type: 'count', name }),
      { ...timeseries, postAggregations: [{ type: 'constant', name, value: 1 }] },
      { ...topN, dimension: { type: 'default', dimension: 'page', outputName: name } },
      { ...groupBy, dimensions: [{ type: 'default', dimension: 'page', outputName: name }] },
    ].map((body, at) => ({ name: `an output called ${name}, ${at}`, body, message: /"\$.*" cannot be the name of an output/ })),
  ),
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
    name: 'equals of arrays with an object',
    body: filtered({ type: 'equals', column: 'page', matchValueType: 'ARRAY<LONG>', matchValue: { one: 1 } }),
    message: /matchValue\[0\]: expected a LONG/,
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
