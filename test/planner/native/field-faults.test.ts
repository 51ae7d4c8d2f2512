import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import { TABLES } from './answers.js';

/*
 * Every field of every query type, spoilt in every way. The bodies below name as many fields as their type has; each
 * place in them is then left out, given another type, an unknown name, a number out of range, an unknown key, or a
 * value without end, one at a time.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Path = readonly (string | number)[];

const filter: Json = {
  type: 'and',
  fields: [
    { type: 'selector', dimension: 'page', value: 'Paris', extractionFn: { type: 'upper', locale: 'en' } },
    { type: 'in', dimension: 'page', values: ['a', 'b'] },
    { type: 'bound', dimension: 'added', lower: '1', upper: '9', lowerStrict: true, upperStrict: false, ordering: 'numeric' },
    { type: 'range', column: 'price', matchValueType: 'DOUBLE', lower: 1, upper: 2, lowerOpen: true, upperOpen: false },
    { type: 'equals', column: 'added', matchValueType: 'LONG', matchValue: 10 },
    { type: 'null', column: 'page' },
    { type: 'like', dimension: 'page', pattern: 'P%', escape: '!' },
    { type: 'regex', dimension: 'page', pattern: 'P.*' },
    { type: 'search', dimension: 'page', query: { type: 'contains', value: 'ar', caseSensitive: true } },
    { type: 'interval', dimension: '__time', intervals: ['2024-01-01/P1D'] },
    { type: 'columnComparison', dimensions: ['page', { type: 'default', dimension: 'tags' }] },
    { type: 'expression', expression: 'added > 1' },
    { type: 'not', field: { type: 'true' } },
    { type: 'or', fields: [{ type: 'false' }, { type: 'true' }] },
  ],
};

const shared: { readonly [key: string]: Json } = {
  dataSource: { type: 'table', name: 'edits' },
  intervals: ['2024-01-01/P2D'],
  filter,
  virtualColumns: [{ type: 'expression', name: 'v', expression: 'added + 1', outputType: 'LONG' }],
  context: { timeout: 1000, priority: 1, lane: 'low', queryId: 'q', useCache: false, populateCache: false },
};

const aggregated: { readonly [key: string]: Json } = {
  aggregations: [
    { type: 'count', name: 'rows' },
    { type: 'longSum', name: 'added', fieldName: 'added' },
    { type: 'doubleMax', name: 'price', fieldName: 'price' },
    { type: 'filtered', filter: { type: 'true' }, aggregator: { type: 'count', name: 'some' } },
    { type: 'stringFirst', name: 'first', fieldName: 'page', timeColumn: '__time', maxStringBytes: 10 },
    { type: 'cardinality', name: 'pages', fields: ['page'], byRow: false, round: true },
  ],
  postAggregations: [
    {
      type: 'arithmetic',
      name: 'ratio',
      fn: '/',
      fields: [
        { type: 'fieldAccess', name: 'a', fieldName: 'added' },
        { type: 'constant', name: 'two', value: 2 },
      ],
    },
    { type: 'expression', name: 'more', expression: 'rows + 1', outputType: 'LONG' },
  ],
};

const constant = (value: number): Json => ({ type: 'constant', name: 'c', value });
const users: Json = { type: 'fieldAccess', name: 'u', fieldName: 'users' };
const further: { readonly [key: string]: Json } = {
  aggregations: [
    { type: 'arrayOfDoublesSketch', name: 'users', fieldName: 'page', metricColumns: ['added'], nominalEntries: 1024, numberOfValues: 1 },
    { type: 'approxHistogram', name: 'free', fieldName: 'price', resolution: 20, numBuckets: 5, lowerLimit: 0, upperLimit: 9 },
    { type: 'approxHistogramFold', name: 'fold', fieldName: 'page', finalizeAsBase64Binary: true },
    {
      type: 'fixedBucketsHistogram',
      name: 'fixed',
      fieldName: 'price',
      lowerLimit: 0,
      upperLimit: 9,
      numBuckets: 3,
      outlierHandlingMode: 'clip',
      finalizeAsBase64Binary: false,
    },
    { type: 'bloom', name: 'pages', field: { type: 'default', dimension: 'page' }, maxNumEntries: 10 },
    {
      type: 'expression',
      name: 'sum',
      fields: ['added'],
      accumulatorIdentifier: 'acc',
      initialValue: '0',
      initialCombineValue: '0',
      fold: 'acc + added',
      combine: 'acc + sum',
      compare: 'o1 - o2',
      finalize: 'o + 1',
      isNullUnlessAggregated: false,
      shouldAggregateNullInputs: false,
      shouldCombineAggregateNullInputs: false,
      maxSizeBytes: '1KiB',
    },
    { type: 'grouping', name: 'left', groupings: ['page'] },
  ],
  postAggregations: [
    { type: 'arrayOfDoublesSketchToEstimateAndBounds', name: 'bounds', field: users, numStdDevs: 2 },
    {
      type: 'quantilesDoublesSketchToQuantile',
      name: 'median',
      fraction: 0.5,
      field: { type: 'arrayOfDoublesSketchToQuantilesSketch', field: users, column: 1, k: 32 },
    },
    {
      type: 'arrayOfDoublesSketchToMeans',
      name: 'means',
      field: { type: 'arrayOfDoublesSketchSetOp', operation: 'UNION', fields: [users, users], nominalEntries: 64, numberOfValues: 1 },
    },
    {
      type: 'arrayOfDoublesSketchTTest',
      name: 't',
      fields: [users, { type: 'arrayOfDoublesSketchConstant', value: 'AQEJAxQBzJP/////////fw==' }],
    },
    { type: 'quantiles', name: 'quantiles', fieldName: 'free', probabilities: [0.1, 0.9] },
    { type: 'quantile', name: 'quantile', fieldName: 'fixed', probability: 0.5 },
    { type: 'equalBuckets', name: 'equal', fieldName: 'free', numBuckets: 4 },
    { type: 'buckets', name: 'wide', fieldName: 'free', bucketSize: 2 },
    { type: 'customBuckets', name: 'custom', fieldName: 'free', breaks: [0, 1, 2] },
    {
      type: 'pvalue2tailedZtest',
      name: 'p',
      zScore: {
        type: 'zscore2sample',
        successCount1: constant(1),
        sample1Size: constant(2),
        successCount2: constant(1),
        sample2Size: constant(3),
      },
    },
  ],
};
const membership: Json = {
  type: 'or',
  fields: [
    { type: 'bloom', dimension: 'page', bloomKFilter: `BAAAAAg${'A'.repeat(85)}=`, extractionFn: { type: 'upper' } },
    { type: 'spatial', dimension: 'page', bound: { type: 'rectangular', minCoords: [0, 0], maxCoords: [1, 1] } },
    { type: 'spatial', dimension: 'page', bound: { type: 'radius', coords: [0, 0], radius: 2, radiusUnit: 'miles' } },
    { type: 'spatial', dimension: 'page', bound: { type: 'polygon', abscissa: [0, 1, 1], ordinate: [0, 0, 1] } },
  ],
};

const period: Json = { type: 'period', period: 'P1D', timeZone: 'Europe/Berlin', origin: '2024-01-01' };

const BODIES: readonly { readonly [key: string]: Json }[] = [
  { queryType: 'timeseries', ...shared, ...aggregated, granularity: period, descending: true, limit: 5 },
  {
    queryType: 'topN',
    ...shared,
    ...aggregated,
    granularity: { type: 'duration', duration: 3600000, origin: '2024-01-01' },
    dimension: { type: 'default', dimension: 'page', outputName: 'p', outputType: 'STRING' },
    threshold: 3,
    metric: { type: 'inverted', metric: { type: 'numeric', metric: 'rows' } },
  },
  {
    queryType: 'topN',
    ...shared,
    ...aggregated,
    granularity: 'all',
    dimension: 'page',
    threshold: 3,
    metric: { type: 'dimension', ordering: 'lexicographic', previousStop: 'a' },
  },
  {
    queryType: 'groupBy',
    ...shared,
    ...aggregated,
    granularity: 'day',
    dimensions: [
      'page',
      { type: 'extraction', dimension: 'page', outputName: 'short', extractionFn: { type: 'substring', index: 0, length: 2 } },
      { type: 'listFiltered', delegate: 'tags', values: ['a'], isWhitelist: true },
      { type: 'prefixFiltered', delegate: { type: 'default', dimension: 'tags', outputName: 't' }, prefix: 'a' },
    ],
    having: {
      type: 'and',
      havingSpecs: [
        { type: 'greaterThan', aggregation: 'rows', value: 0 },
        { type: 'dimSelector', dimension: 'page', value: 'Paris' },
        { type: 'filter', filter: { type: 'true' } },
      ],
    },
    limitSpec: {
      type: 'default',
      limit: 5,
      offset: 1,
      columns: [{ dimension: 'rows', direction: 'descending', dimensionOrder: 'numeric' }],
    },
    subtotalsSpec: [['page'], []],
  },
  {
    queryType: 'groupBy',
    ...shared,
    ...further,
    filter: membership,
    granularity: 'all',
    dimensions: ['page'],
    limitSpec: { type: 'default', columns: ['sum', { dimension: 'pages', direction: 'descending' }] },
  },
  {
    queryType: 'scan',
    ...shared,
    columns: ['__time', 'page'],
    orderBy: [{ columnName: '__time', order: 'descending' }],
    limit: 5,
    offset: 1,
    batchSize: 10,
    resultFormat: 'compactedList',
  },
  {
    queryType: 'search',
    ...shared,
    granularity: 'all',
    searchDimensions: ['page'],
    query: { type: 'fragment', values: ['a', 'r'], caseSensitive: false },
    sort: { type: 'lexicographic' },
    limit: 5,
  },
  { queryType: 'timeBoundary', dataSource: 'edits', bound: 'maxTime', filter: { type: 'true' }, context: {} },
  { queryType: 'dataSourceMetadata', dataSource: 'edits', context: {} },
  {
    queryType: 'segmentMetadata',
    dataSource: 'edits',
    intervals: ['2024-01-01/P2D'],
    toInclude: { type: 'list', columns: ['page'] },
    merge: true,
    analysisTypes: ['cardinality', 'minmax'],
    aggregatorMergeStrategy: 'strict',
    context: {},
  },
];

/** Every place of a value, parents first. */
function* places(value: Json, at: Path = []): Generator<Path> {
  if (at.length > 0) yield at;
  if (typeof value !== 'object' || value === null) return;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) yield* places((value as Record<string | number, Json>)[key] ?? null, [...at, key]);
}

const LEFT_OUT = Symbol('left out');

function replaced(value: Json, [key, ...rest]: Path, change: (old: Json) => unknown): unknown {
  if (key === undefined) return change(value);
  const inner = replaced((value as Record<string | number, Json>)[key] ?? null, rest, change);
  if (Array.isArray(value)) return value.flatMap((each: unknown, index) => (index !== key ? [each] : inner === LEFT_OUT ? [] : [inner]));
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).flatMap(([name, each]) =>
      name !== key ? [[name, each]] : inner === LEFT_OUT ? [] : [[name, inner]],
    ),
  );
}

/** `undefined`: it was planned. Anything but a typed error is thrown on. */
function refusal(body: unknown): ServiceError | undefined {
  try {
    planNative(body, false, TABLES);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.code !== 'internal') return error;
    throw error;
  }
}

function deep(): unknown {
  let value: unknown = 'x';
  for (let depth = 0; depth < 10_000; depth++) value = depth % 2 === 0 ? [value] : { type: 'not', field: value };
  return value;
}

/** Whether a message names the faulty field or, for an element, the list it is in. */
function names(message: string, at: Path): boolean {
  return at.some((key, index) => index >= at.length - 2 && typeof key === 'string' && message.includes(key));
}

/** The context belongs to the user as well: keys that are unknown there are no mistakes. */
function isInContext([first]: Path): boolean {
  return first === 'context';
}

const faults = suite('fields of native queries');

for (const body of BODIES) {
  const { queryType } = body;
  const title = `${queryType}${typeof body['granularity'] === 'string' ? ` (${body['granularity']})` : ''}`;
  const all = [...places(body)];

  faults(`${title}: the whole body is planned`, () => assert.is(refusal(body)?.message, undefined));

  faults(`${title}: a field left out is a default, or a typed error that names it`, () => {
    for (const at of all) {
      const error = refusal(replaced(body, at, () => LEFT_OUT));
      if (error !== undefined) assert.ok(error.message.length > 10, `${at.join('.')}: ${error.message}`);
    }
  });

  faults(`${title}: an object without sense is refused wherever it stands, by name`, () => {
    for (const at of all) {
      if (isInContext(at) && at.length > 2) continue;
      const error = refusal(replaced(body, at, () => ({ wombat: { wombat: 1 } })));
      if (isInContext(at) && at.length === 1) continue;
      assert.ok(error !== undefined, `${at.join('.')} took an object nobody knows`);
      assert.ok(names(error.message, at) || error.message.includes('wombat'), `${at.join('.')} is not named by: ${error.message}`);
    }
  });

  faults(`${title}: an unknown key is refused in every object, by name`, () => {
    for (const at of [[], ...all]) {
      if (isInContext(at)) continue;
      let isObject = false;
      const spoilt = replaced(body, at, (old) => {
        isObject = typeof old === 'object' && old !== null && !Array.isArray(old);
        return isObject ? { ...(old as object), wombat: 1 } : old;
      });
      if (!isObject) continue;
      const error = refusal(spoilt);
      assert.ok(error?.message.includes('wombat'), `${at.join('.')}: ${error?.message ?? 'an unknown key was accepted'}`);
    }
  });

  faults(`${title}: a type nobody knows is refused, naming it`, () => {
    for (const at of all) {
      if (at.at(-1) !== 'type' && at.at(-1) !== 'queryType') continue;
      const error = refusal(replaced(body, at, () => 'wombat'));
      assert.ok(error?.message.includes('wombat'), `${at.join('.')}: ${error?.message ?? 'it was accepted'}`);
    }
  });

  faults(`${title}: values of other types, out of range, without end: an answer or a typed error`, () => {
    const values = [null, true, '', 'wombat', '\ud800', -1, 0.5, 1e300, Number.NaN, 2n ** 70n, [], [[]], [null], {}, deep()];
    for (const at of all) for (const value of values) refusal(replaced(body, at, () => value));
  });

  faults(`${title}: numbers of rows are no fractions, and not negative`, () => {
    for (const at of all) {
      if (!['limit', 'offset', 'threshold', 'batchSize', 'maxStringBytes', 'duration'].includes(String(at.at(-1)))) continue;
      for (const value of [-1, 0.5, 'wombat', true]) {
        const error = refusal(replaced(body, at, () => value));
        assert.ok(error !== undefined && names(error.message, at), `${at.join('.')} = ${value}: ${error?.message ?? 'it was accepted'}`);
      }
    }
  });
}

faults.run();
