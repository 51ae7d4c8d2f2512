import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { ETERNITY } from '../../../src/base/instant.js';
import { parseJson, stringifyJson } from '../../../src/base/json.js';
import { bucketBoundaries, parseGranularity } from '../../../src/model/granularity.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import { caseCount } from '../../case-count.js';
import { type Asking, ask, EDITS, memory, TABLES } from './answers.js';
import { arbitraryQuery } from './random-queries.js';

/** The answer as text, or the code of a typed error. Everything else is thrown on. */
async function outcome(query: unknown, how: Asking = {}): Promise<string> {
  try {
    return stringifyJson(await ask(query, how));
  } catch (error) {
    if (error instanceof ServiceError && error.code !== 'internal') return `error ${error.code}`;
    throw error;
  }
}

const QUERIES = caseCount(4_000);

const random = suite('random native queries');

random(`every one of ${QUERIES} has an answer or a typed error`, async () => {
  let answers = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryQuery, async (query) => {
      if (!(await outcome(query)).startsWith('error')) answers++;
    }),
    { numRuns: QUERIES, endOnFailure: false },
  );
  // The grammar would show nothing if hardly any query were well-formed.
  assert.ok(answers > 0.2 * QUERIES, `only ${answers} were answered`);
  assert.is(memory.allocatedBytes, 0);
});

random('the batch size, the kernel set and the layout do not matter', async () => {
  const pieces = [EDITS.slice(0, 2), EDITS.slice(2)];
  await fc.assert(
    fc.asyncProperty(
      arbitraryQuery,
      fc.constantFrom(1, 7, 4096),
      fc.constantFrom('reference', 'scalar-debug', 'simd-debug'),
      async (query, batchRows, kernels) => {
        assert.is(await outcome(query, { batchRows, kernels, pieces }), await outcome(query, { pieces }));
      },
    ),
    { numRuns: caseCount(400) },
  );
});

random.run();

const extremes = suite('extreme native queries');
const base = { queryType: 'timeseries', dataSource: 'edits', intervals: '2024-01-01/P2D', granularity: 'all' };
const count = [{ type: 'count', name: 'rows' }];

function nested(depth: number, innermost: unknown, wrap: (inner: unknown) => unknown): unknown {
  let made = innermost;
  for (let level = 0; level < depth; level++) made = wrap(made);
  return made;
}

const deep: readonly { name: string; query: () => unknown }[] = [
  {
    name: 'filters',
    query: () => ({ ...base, aggregations: count, filter: nested(10_000, { type: 'true' }, (field) => ({ type: 'not', field })) }),
  },
  {
    name: 'filters in lists',
    query: () => ({
      ...base,
      aggregations: count,
      filter: nested(10_000, { type: 'true' }, (field) => ({ type: 'and', fields: [field] })),
    }),
  },
  {
    name: 'post-aggregators',
    query: () => ({
      ...base,
      postAggregations: [
        nested(10_000, { type: 'constant', value: 1 }, (field) => ({ type: 'doubleGreatest', name: 'x', fields: [field] })),
      ],
    }),
  },
  {
    name: 'aggregators',
    query: () => ({
      ...base,
      aggregations: [nested(10_000, count[0], (aggregator) => ({ type: 'filtered', filter: { type: 'true' }, aggregator }))],
    }),
  },
  { name: 'expressions in parentheses', query: () => expressionFilter(`${'('.repeat(10_000)}added${')'.repeat(10_000)}`) },
  { name: 'expressions in calls', query: () => expressionFilter(`${'abs('.repeat(10_000)}added${')'.repeat(10_000)}`) },
  { name: 'long sums', query: () => expressionFilter(Array.from({ length: 10_000 }, () => 'added').join(' + ')) },
  { name: 'signs', query: () => expressionFilter(`${'-!'.repeat(5_000)}added`) },
  {
    name: 'having',
    query: () => ({
      ...base,
      queryType: 'groupBy',
      dimensions: ['page'],
      aggregations: count,
      having: nested(10_000, { type: 'always' }, (havingSpec) => ({ type: 'not', havingSpec })),
    }),
  },
  {
    name: 'metrics',
    query: () => ({
      ...base,
      queryType: 'topN',
      dimension: 'page',
      threshold: 1,
      aggregations: count,
      metric: nested(10_000, 'rows', (metric) => ({ type: 'inverted', metric })),
    }),
  },
  {
    name: 'dimensions',
    query: () => ({
      ...base,
      queryType: 'groupBy',
      aggregations: count,
      dimensions: [nested(10_000, 'tags', (delegate) => ({ type: 'prefixFiltered', prefix: 'a', delegate }))],
    }),
  },
  {
    name: 'extraction functions',
    query: () => ({
      ...base,
      queryType: 'groupBy',
      aggregations: count,
      dimensions: [
        {
          type: 'extraction',
          dimension: 'page',
          extractionFn: nested(10_000, { type: 'upper' }, (inner) => ({ type: 'cascade', extractionFns: [inner] })),
        },
      ],
    }),
  },
];

function expressionFilter(expression: string): unknown {
  return { ...base, aggregations: count, filter: { type: 'expression', expression } };
}

for (const { name, query } of deep)
  extremes(`${name}, 10,000 deep, are refused`, () => {
    assert.throws(
      () => planNative(query(), false, TABLES),
      (error: unknown) => error instanceof ServiceError && error.code !== 'internal',
    );
  });

extremes('arrays as text, 10,000 deep, are refused or read', () => {
  try {
    parseJson('['.repeat(10_000) + ']'.repeat(10_000));
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'query_invalid');
  }
});

extremes('a million values to be in', async () => {
  const values = Array.from({ length: 1_000_000 }, (_, index) => `v${index}`);
  values[777_777] = 'parrot';
  const { plans } = planNative({ ...base, aggregations: count, filter: { type: 'in', dimension: 'page', values } }, false, TABLES);
  assert.is(plans.length, 1);
  assert.equal(await ask({ ...base, aggregations: count, filter: { type: 'in', dimension: 'page', values } }), [[1n]]);
});

extremes('patterns that make others backtrack for ever', async () => {
  for (const pattern of ['(a+)+$', '((a{0,20}){0,20}){0,20}b', '(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)x', '(a|a|a|aa)*c'])
    assert.match(
      await outcome({ ...base, aggregations: count, filter: { type: 'regex', dimension: 'page', pattern } }),
      /^\[\[\d\]\]$|^error query_invalid$/,
    );
});

extremes('seconds of eternity: as many buckets as there is data, and a limit where all would be made', async () => {
  assert.is((await ask({ ...base, aggregations: count, intervals: 'eternity', granularity: 'second' })).length, 2 * 86_400);
  assert.is(await outcome({ ...base, aggregations: count, intervals: '2025/2024', granularity: 'second' }), 'error query_invalid');
  assert.throws(
    () => bucketBoundaries(parseGranularity('second', 'granularity'), ETERNITY, 4_000_000),
    (error: unknown) => error instanceof ServiceError && error.code === 'resource_limit',
  );
});

extremes.run();
