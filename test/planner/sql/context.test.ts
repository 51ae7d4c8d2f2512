import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CONTEXT_KEY_NAMES, CONTEXT_KEYS, refusedKeys } from '../../../src/planner/context-keys.js';
import { readSqlContext } from '../../../src/planner/sql/context.js';

const context = suite('SQL context');

context('every key is in exactly one row', () => {
  assert.equal(CONTEXT_KEY_NAMES, [...CONTEXT_KEYS.keys()]);
});

context('no documented key is the user’s own: none is passed on or warned of', () => {
  for (const key of CONTEXT_KEY_NAMES.filter((name) => !refusedKeys('sql').some(([refused]) => refused === name))) {
    const { warnings, other } = readSqlContext({ [key]: null });
    assert.equal({ warnings, other }, { warnings: [], other: {} }, key);
  }
});

context('honoured keys are read, numbers also as strings', () => {
  const read = readSqlContext({ sqlQueryId: 'q', sqlTimeZone: 'Asia/Tokyo', timeout: '5000', priority: -3, kernels: 'scalar' });
  assert.is(read.sqlQueryId, 'q');
  assert.is(read.timeZone, 'Asia/Tokyo');
  assert.is(read.timeoutMs, 5000);
  assert.is(read.priority, -3);
  assert.is(read.kernels, 'scalar');
});

context('ids of queries fit a header, under both names', () => {
  for (const key of ['queryId', 'sqlQueryId'] as const) {
    for (const id of ['q', ' ', 'a'.repeat(256), '{"a": "b"}', '__proto__']) assert.is(readSqlContext({ [key]: id })[key], id);
    for (const id of ['', 'a'.repeat(257), 'a'.repeat(60_000), 'é', 'a\r\nSet-Cookie: b', '\u0000', 7, {}, ['q']]) {
      let message = '';
      try {
        readSqlContext({ [key]: id });
      } catch (error) {
        message = String(error);
      }
      assert.match(message, new RegExp(`context\\.${key}: expected 1 to 256 characters of printable ASCII`));
      assert.ok(message.length < 500);
    }
  }
});

context('the largest long is a limit that is never met', () => {
  for (const limit of [9_223_372_036_854_775_807n, '9223372036854775807'])
    assert.is(readSqlContext({ maxScatterGatherBytes: limit }).limits.maxScatterGatherBytes, Number.MAX_SAFE_INTEGER);
  for (const limit of [9_223_372_036_854_775_808n, '9223372036854775808', '-1', '1.5'])
    assert.throws(
      () => readSqlContext({ maxScatterGatherBytes: limit }),
      /context\.maxScatterGatherBytes: expected an integer of at least 0/,
    );
});

context('refused keys are refused, except with the value that asks for nothing', () => {
  for (const [key, accepted] of refusedKeys('sql')) {
    for (const value of accepted) assert.not.throws(() => readSqlContext({ [key]: value }));
    assert.throws(() => readSqlContext({ [key]: 'something else' }), new RegExp(`context\\.${key}`));
  }
});

context("the benchmark's context is accepted", () => {
  const read = readSqlContext({
    useApproximateCountDistinct: false,
    useApproximateTopN: false,
    useCache: false,
    populateCache: false,
    sqlTimeZone: 'UTC',
  });
  assert.equal(read.warnings, []);
});

/** Context keys that the stock console sends: its defaults, and additions for statements, explanations and tasks. */
const CONSOLE_CONTEXT = {
  useCache: true,
  populateCache: true,
  useApproximateCountDistinct: true,
  useApproximateTopN: true,
  sqlTimeZone: 'Etc/UTC',
  finalizeAggregations: true,
  selectDestination: 'taskReport',
  durableShuffleStorage: false,
  maxParseExceptions: 0,
  groupByEnableMultiValueUnnesting: true,
  taskAssignment: 'max',
  sqlJoinAlgorithm: 'broadcast',
  failOnEmptyInsert: false,
  waitUntilSegmentsLoad: false,
  useConcurrentLocks: false,
  forceSegmentSortByTime: true,
  includeAllCounters: false,
  sqlOuterLimit: 1001,
  sqlStringifyArrays: false,
  useNativeQueryExplain: true,
  sqlQueryId: 'c',
  queryId: 'c',
  executionMode: 'ASYNC',
  engine: 'native',
  maxNumTasks: 2,
  arrayIngestMode: 'array',
};

/** Context of the examples in pydruid's documentation; pydruid adds no keys of its own. */
const PYDRUID_CONTEXT = { timeout: 1000 };

for (const [key, value] of Object.entries({ ...CONSOLE_CONTEXT, ...PYDRUID_CONTEXT }))
  context(`${key} of a client is known and accepted`, () => {
    const read = readSqlContext({ [key]: value });
    assert.equal(read.other, {});
    assert.equal(read.warnings, []);
  });

for (const [key, value] of [
  ['sqlQueryId', 7],
  ['sqlQueryId', 'a\nb'],
  ['sqlTimeZone', 'Mars'],
  ['timeout', -1],
  ['priority', 'high'],
] as const) {
  context(`${key}: ${JSON.stringify(value)}`, () => assert.throws(() => readSqlContext({ [key]: value }), new RegExp(`context\\.${key}`)));
}
context.run();
