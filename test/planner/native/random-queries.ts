import fc from 'fast-check';

/** Queries of every type over the table of `answers.ts`, from well-formed to nonsense: right names with wrong fields, right fields with wrong values. */
const column = fc.constantFrom('page', 'tags', 'added', 'price', '__time', 'nowhere', 'v0', 'v1', '__expression0', '');
const text = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'Paris',
    '',
    '10',
    '-7',
    '1.5',
    'NaN',
    '2024-01-01',
    'é',
    '\ud83d\ude00',
    '\ud83d',
    '(a+)+$',
    'a{1000}',
    '[',
    '%_',
    '__proto__',
  ),
  fc.string({ maxLength: 8 }),
);
const number = fc.oneof(
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0.5, -0, 1e300, 9007199254740993n, -9223372036854775808n, 2 ** 31),
);
const nonsense = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, {}, [], [null], '', 0, -1, 'x', { type: 'x' }, { type: null }, [[]], { type: 'javascript' }),
  text,
  number,
);

/** An object of a type whose fields are mostly there and mostly right. */
function spec(type: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  const shape: Record<string, fc.Arbitrary<unknown>> = { type: fc.constant(type) };
  for (const [name, value] of Object.entries(fields)) shape[name] = oftenRight(value);
  return fc.record(shape).map(withoutOmitted);
}

const OMITTED = Symbol('omitted');

function oftenRight(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: value, weight: 40 }, { arbitrary: nonsense, weight: 1 }, { arbitrary: fc.constant(OMITTED), weight: 2 });
}

function maybe(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: value, weight: 1 }, { arbitrary: fc.constant(OMITTED), weight: 2 });
}

function withoutOmitted(object: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== OMITTED));
}

const boolean = fc.boolean();
const texts = fc.array(text, { maxLength: 4 });
const ordering = fc.constantFrom('lexicographic', 'alphanumeric', 'numeric', 'strlen', 'version');
const granularity = fc.oneof(
  fc.constantFrom<unknown>('all', 'none', 'five_minute', 'hour', 'day', 'week', 'month', 'year', 'fortnight'),
  fc.constantFrom<unknown>(
    { type: 'period', period: 'PT7H', timeZone: 'Asia/Kathmandu', origin: '2020-02-29' },
    { type: 'duration', duration: 3_600_001 },
    { type: 'period', period: 'P0D' },
  ),
);
const interval = fc.constantFrom(
  '2024-01-01/P2D',
  '2024/2025',
  '2024-01-01/P2D',
  '2024/2025',
  '2024-01-01/P2D',
  '2024/2025',
  '2024-01-01/P2D',
  '2024-01-01/2024-01-02',
  '2024-01-02/2024-01-01',
  'eternity',
  '1000/3000',
  '2024-01-01T12/PT1S',
  '2024/P-1D',
  '9999/99999',
);
const pattern = fc.constantFrom('a', '(a)(b)?', '^(\\w+)\\d*$', '(a+)+b', '((a{0,9}){0,9}){0,9}', '(?=a)', '[', '(x){1001}', '.*');
const type = fc.constantFrom('STRING', 'LONG', 'FLOAT', 'DOUBLE', 'ARRAY<LONG>', 'long');

const leafExpression = fc.oneof(
  column.map((name) => `"${name}"`),
  fc.constantFrom('1', '-2', '0', '2.5', '9223372036854775807', "'a'", "''", 'null', "'2024-01-01'"),
);
const FUNCTION_CALLS = [
  'upper(_)',
  'strlen(_)',
  'concat(_, _)',
  'substring(_, 1, 2)',
  "regexp_extract(_, '(a)', 1)",
  "like(_, 'a%')",
  'if(_, _, _)',
  'nvl(_, _)',
  "cast(_, 'LONG')",
  "timestamp_floor(_, 'P1D')",
  "timestamp_format(_, 'yyyy')",
  'timestamp_parse(_)',
  "timestamp_extract(_, 'WEEK')",
  'case_searched(_, _, _)',
  'case_simple(_, _, _, _)',
  'abs(_)',
  'div(_, _)',
  'round(_, _)',
  'safe_divide(_, _)',
  'pow(_, _)',
  'repeat(_, _)',
  'lpad(_, _, _)',
  'greatest(_, _)',
  'isnull(_)',
  "format('%s %5.2f', _, _)",
  'bitwiseShiftLeft(_, _)',
  'scalb(_, _)',
  'ipv4_parse(_)',
  'human_readable_decimal_format(_)',
  '(_ + _)',
  '(_ - _)',
  '(_ * _)',
  '(_ / _)',
  '(_ % _)',
  '(_ ^ _)',
  '(_ == _)',
  '(_ < _)',
  '(_ && _)',
  '(_ || _)',
  '!(_)',
  '-(_)',
  'array(_)',
  'nosuch(_)',
  "lookup(_, 'x')",
  'resolved_lookup(_, _)',
  'map_value(_, _)',
  '_ _',
  'concat(',
] as const;
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leafExpression,
    fc
      .tuple(fc.constantFrom(...FUNCTION_CALLS), fc.array(tie('expression'), { minLength: 4, maxLength: 4 }))
      .map(([call, inputs]) => inputs.reduce<string>((filled, input) => filled.replace('_', () => input), call)),
  ),
}));

const { extraction } = fc.letrec<{ extraction: unknown }>((tie) => ({
  extraction: fc.oneof(
    { maxDepth: 2 },
    spec('upper', { locale: maybe(fc.constantFrom('en', 'tr')) }),
    spec('strlen', {}),
    spec('substring', { index: number, length: maybe(number) }),
    spec('regex', { expr: pattern, index: maybe(number), replaceMissingValue: maybe(boolean), replaceMissingValueWith: maybe(text) }),
    spec('partial', { expr: pattern }),
    spec('searchQuery', { query: spec('contains', { value: text }) }),
    spec('timeFormat', {
      format: maybe(fc.constantFrom('yyyy', 'EEE', 'QQ', "'x")),
      timeZone: maybe(fc.constantFrom('UTC', 'Mars')),
      granularity: maybe(granularity),
      asMillis: maybe(boolean),
    }),
    spec('time', { timeFormat: fc.constantFrom('yyyy', 'dd'), resultFormat: fc.constantFrom('MM', 'Y'), joda: maybe(boolean) }),
    spec('lookup', {
      lookup: spec('map', { map: fc.dictionary(text, text, { maxKeys: 3 }) }),
      retainMissingValue: maybe(boolean),
      replaceMissingValueWith: maybe(text),
    }),
    spec('stringFormat', {
      format: fc.constantFrom('[%s]', '%d', '%', '%9999999s'),
      nullHandling: maybe(fc.constantFrom('nullString', 'emptyString', 'returnNull')),
    }),
    spec('bucket', { size: maybe(number), offset: maybe(number) }),
    spec('cascade', { extractionFns: fc.array(tie('extraction'), { maxLength: 3 }) }),
  ),
}));

const searchSpec = fc.oneof(
  spec('insensitive_contains', { value: text }),
  spec('contains', { value: text, case_sensitive: maybe(boolean) }),
  spec('fragment', { values: texts, case_sensitive: maybe(boolean) }),
  spec('regex', { pattern }),
);

const { dimension } = fc.letrec<{ dimension: unknown }>((tie) => ({
  dimension: fc.oneof(
    { maxDepth: 2 },
    column,
    spec('default', { dimension: column, outputName: maybe(column), outputType: maybe(type) }),
    spec('extraction', { dimension: column, outputName: maybe(column), outputType: maybe(type), extractionFn: extraction }),
    spec('listFiltered', { delegate: tie('dimension'), values: texts, isWhitelist: maybe(boolean) }),
    spec('regexFiltered', { delegate: tie('dimension'), pattern }),
    spec('prefixFiltered', { delegate: tie('dimension'), prefix: text }),
    spec('lookup', {
      dimension: column,
      outputName: maybe(column),
      lookup: spec('map', { map: fc.dictionary(text, text, { maxKeys: 2 }) }),
    }),
  ),
}));

const dimensionOf = { dimension: column, extractionFn: maybe(extraction) };
const { filter } = fc.letrec<{ filter: unknown }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    spec('selector', { ...dimensionOf, value: fc.oneof(text, number, fc.constant(null)) }),
    spec('in', { ...dimensionOf, values: fc.array(fc.oneof(text, number, fc.constant(null)), { maxLength: 5 }) }),
    spec('bound', {
      ...dimensionOf,
      lower: maybe(text),
      upper: maybe(text),
      lowerStrict: maybe(boolean),
      upperStrict: maybe(boolean),
      ordering: maybe(ordering),
    }),
    spec('like', { ...dimensionOf, pattern: text, escape: maybe(text) }),
    spec('regex', { ...dimensionOf, pattern }),
    spec('search', { ...dimensionOf, query: searchSpec }),
    spec('interval', { ...dimensionOf, intervals: fc.array(interval, { maxLength: 2 }) }),
    spec('equals', { column, matchValueType: type, matchValue: fc.oneof(text, number) }),
    spec('range', {
      column,
      matchValueType: type,
      lower: maybe(fc.oneof(text, number)),
      upper: maybe(fc.oneof(text, number)),
      lowerOpen: maybe(boolean),
    }),
    spec('null', { column }),
    spec('columnComparison', { dimensions: fc.array(dimension, { maxLength: 3 }) }),
    spec('arrayContainsElement', { column, elementMatchValueType: type, elementMatchValue: fc.oneof(text, number, fc.constant(null)) }),
    spec('expression', { expression }),
    spec('bloom', { dimension: column, bloomKFilter: fc.constant(`BAAAAAg${'A'.repeat(85)}=`), extractionFn: maybe(extraction) }),
    spec('spatial', { dimension: column, bound: spec('rectangular', { minCoords: fc.tuple(number), maxCoords: fc.tuple(number) }) }),
    spec(fc.sample(fc.constantFrom('true', 'false'), 1)[0] ?? 'true', {}),
    spec('not', { field: tie('filter') }),
    spec('and', { fields: fc.array(tie('filter'), { maxLength: 3 }) }),
    spec('or', { fields: fc.array(tie('filter'), { maxLength: 3 }) }),
  ),
}));

const name = fc.constantFrom('m0', 'm1', 'm2', 'page', '__time');
const AGGREGATORS = [
  'longSum',
  'longMin',
  'longMax',
  'doubleSum',
  'doubleMin',
  'doubleMax',
  'floatSum',
  'floatMin',
  'floatMax',
  'longFirst',
  'stringLast',
  'doubleAny',
  'doubleMean',
  'variance',
  'thetaSketch',
  'approxHistogram',
];
const { aggregator } = fc.letrec<{ aggregator: unknown }>((tie) => ({
  aggregator: fc.oneof(
    { maxDepth: 2 },
    spec('count', { name }),
    fc.constantFrom(...AGGREGATORS).chain((kind) => spec(kind, { name, fieldName: column })),
    spec('longSum', { name, expression }),
    spec('arrayOfDoublesSketch', {
      name,
      fieldName: column,
      metricColumns: fc.array(column, { maxLength: 2 }),
      nominalEntries: fc.constant(16),
    }),
    spec('fixedBucketsHistogram', {
      name,
      fieldName: column,
      lowerLimit: number,
      upperLimit: number,
      outlierHandlingMode: fc.constantFrom('ignore', 'overflow', 'clip'),
    }),
    spec('bloom', { name, field: dimension, maxNumEntries: fc.constant(10) }),
    spec('filtered', { filter, aggregator: tie('aggregator'), name: maybe(name) }),
  ),
}));

const { postAggregator } = fc.letrec<{ postAggregator: unknown }>((tie) => ({
  postAggregator: fc.oneof(
    { maxDepth: 3 },
    spec('fieldAccess', { name, fieldName: name }),
    spec('constant', { name, value: number }),
    spec('expression', { name, expression }),
    spec('arithmetic', {
      name,
      fn: fc.constantFrom('+', '-', '*', '/', 'pow', 'quotient'),
      fields: fc.array(tie('postAggregator'), { maxLength: 3 }),
    }),
    spec('doubleGreatest', { name, fields: fc.array(tie('postAggregator'), { maxLength: 3 }) }),
  ),
}));

const { having } = fc.letrec<{ having: unknown }>((tie) => ({
  having: fc.oneof(
    { maxDepth: 2 },
    spec('greaterThan', { aggregation: name, value: number }),
    spec('equalTo', { aggregation: name, value: number }),
    spec('dimSelector', { dimension: column, value: text, extractionFn: maybe(extraction) }),
    spec('filter', { filter }),
    spec('not', { havingSpec: tie('having') }),
    spec('or', { havingSpecs: fc.array(tie('having'), { maxLength: 2 }) }),
  ),
}));

const virtualColumn = fc.oneof(
  spec('expression', { name: fc.constantFrom('v0', 'v1', 'page'), expression, outputType: maybe(type) }),
  spec('mv-filtered', { name: fc.constantFrom('v0', 'v1'), delegate: column, values: texts, isAllowList: maybe(boolean) }),
);

const leaf = {
  dataSource: fc.constantFrom<unknown>('edits', 'edits', 'edits', { type: 'table', name: 'edits' }, 'none'),
  intervals: fc.oneof<fc.Arbitrary<unknown>[]>(interval, fc.array(interval, { maxLength: 2 })),
  filter: maybe(filter),
  virtualColumns: maybe(fc.array(virtualColumn, { maxLength: 2 })),
  context: maybe(
    fc.constantFrom<unknown>(
      { skipEmptyBuckets: true },
      { grandTotal: true },
      { sortByDimsFirst: true },
      {},
      { skipEmptyBuckets: false },
      { bySegment: false },
      { bySegment: true },
    ),
  ),
};
const aggregation = {
  ...leaf,
  granularity,
  aggregations: fc.array(aggregator, { maxLength: 3 }),
  postAggregations: maybe(fc.array(postAggregator, { maxLength: 2 })),
};
const order = fc.record({
  dimension: fc.oneof(name, column),
  direction: fc.constantFrom('ascending', 'descending'),
  dimensionOrder: ordering,
});
const metric = fc.oneof(
  name,
  spec('numeric', { metric: name }),
  spec('dimension', { ordering: maybe(ordering), previousStop: maybe(text) }),
  spec('inverted', { metric: name }),
);

function query(queryType: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  return spec('', fields).map((made) => {
    const { type: _, ...rest } = made as Readonly<Record<string, unknown>>;
    return { queryType, ...rest };
  });
}

export const arbitraryQuery: fc.Arbitrary<unknown> = fc.oneof(
  query('timeseries', { ...aggregation, descending: maybe(boolean), limit: maybe(number) }),
  query('topN', { ...aggregation, dimension, threshold: number, metric }),
  query('groupBy', {
    ...aggregation,
    dimensions: fc.array(dimension, { maxLength: 3 }),
    having: maybe(having),
    limitSpec: maybe(
      spec('default', { columns: fc.array(fc.oneof(name, order), { maxLength: 2 }), offset: maybe(number), limit: maybe(number) }),
    ),
    subtotalsSpec: maybe(fc.array(fc.array(column, { maxLength: 2 }), { maxLength: 2 })),
  }),
  query('scan', {
    ...leaf,
    columns: maybe(fc.array(column, { maxLength: 4 })),
    order: maybe(fc.constantFrom('none', 'ascending', 'descending')),
    orderBy: maybe(fc.array(fc.record({ columnName: column, order: fc.constantFrom('ascending', 'descending') }), { maxLength: 2 })),
    offset: maybe(number),
    limit: maybe(number),
    batchSize: maybe(number),
    resultFormat: maybe(fc.constantFrom('list', 'compactedList', 'valueVector')),
  }),
  query('search', {
    ...leaf,
    granularity: maybe(granularity),
    query: searchSpec,
    searchDimensions: maybe(fc.array(dimension, { maxLength: 2 })),
    sort: maybe(spec('strlen', {})),
    limit: maybe(number),
  }),
  query('timeBoundary', { ...leaf, bound: maybe(fc.constantFrom('minTime', 'maxTime')) }),
  query('segmentMetadata', {
    ...leaf,
    analysisTypes: maybe(fc.array(fc.constantFrom('size', 'minmax', 'rollup', 'x'), { maxLength: 2 })),
    merge: maybe(boolean),
  }),
  query('dataSourceMetadata', { ...leaf }),
);
