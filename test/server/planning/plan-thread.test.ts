import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { parseJson } from '../../../src/base/json.js';
import { describeKillTask } from '../../../src/cluster/overlord/kill-task.js';
import { validateTask } from '../../../src/ingestion/task.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import type { SqlSchema } from '../../../src/planner/sql/catalog/schema.js';
import { planSql, type SqlRequest } from '../../../src/planner/sql/plan-sql.js';
import { PlanWatch } from '../../../src/planner/sql/plan-watch.js';
import { PlanThread } from '../../../src/server/planning/plan-thread.js';
import { schemaOf, takeSnapshot } from '../../../src/server/planning/schema-snapshot.js';
import { NOW, SCHEMA as WIKI } from '../../planner/sql/plan-text.js';

const threads = suite('planning on a thread');

const SCHEMA: SqlSchema = { ...WIKI, lookups: () => [], systemRows: () => [] };
const thread = new PlanThread(100);
const requestOf = (query: string): SqlRequest => ({ query, context: {}, parameters: [] });
const LONG_LIST = Array.from({ length: 10_000 }, (_, index) => `'page ${index}'`).join(', ');
const LONG = `SELECT COUNT(*) FROM wiki WHERE page IN (${LONG_LIST})`;

function planned(query: string, schema: SqlSchema = SCHEMA, limits: { watch?: PlanWatch; signal?: AbortSignal } = {}) {
  const { watch = new PlanWatch(), signal = new AbortController().signal } = limits;
  return thread.plan(requestOf(query), schema, NOW, { watch, signal });
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'nothing thrown';
  } catch (error) {
    return error instanceof ServiceError ? `${error.code}: ${error.message}` : String(error);
  }
}

threads('plans are the same as those that are made where the statement came in', async () => {
  for (const query of [
    "SELECT page, COUNT(*) AS n FROM wiki WHERE __time >= TIMESTAMP '2024-01-01' GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
    "SELECT * FROM (VALUES (1, 'a', 1.5), (9007199254740993, NULL, 2)) AS t (n, s, d)",
    'SELECT a.page FROM wiki AS a JOIN wiki AS b ON a.page = b.page UNION ALL SELECT city FROM wiki',
    'SELECT TABLE_NAME, COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS',
    LONG,
  ]) {
    const watch = new PlanWatch();
    assert.equal(await planned(query, SCHEMA, { watch }), planSql(requestOf(query), SCHEMA, NOW), query.slice(0, 80));
    assert.is(watch.stages[0]?.stage, 'parse');
  }
});

threads('a request is refused while the queue is full, and accepted again once it has drained', async () => {
  const narrow = new PlanThread(2);
  try {
    const plan = () =>
      narrow.plan(requestOf('SELECT COUNT(*) FROM wiki'), SCHEMA, NOW, { watch: new PlanWatch(), signal: new AbortController().signal });
    const both = [plan(), plan()];
    assert.match(await failureOf(plan()), /^capacity_exceeded: .*svc\.broker\.planning\.maxQueued/);
    await Promise.all(both);
    assert.is(await failureOf(plan()), 'nothing thrown');
  } finally {
    await narrow.stop();
  }
});

threads('payloads of tasks are read as they are where a task runs', async () => {
  const spec = {
    ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: '' }, inputFormat: { type: 'json' } },
    dataSchema: { dataSource: 'w', timestampSpec: { column: 't' }, dimensionsSpec: { dimensions: ['a'] } },
  };
  const index = `{"type":"index_parallel", "id":"one", "spec":${JSON.stringify(spec)}, "context":{"long":9007199254740993}}`;
  const kill = '{"type":"kill","dataSource":"w","interval":"2024/2025"}';
  for (const [text, description] of [
    [index, validateTask(parseJson(index), NOW)],
    [kill, describeKillTask({ type: 'kill', dataSource: 'w', interval: '2024/2025' })],
  ] as const) {
    const read = await thread.readTask(text, NOW);
    assert.equal(read.description, description);
    assert.equal(parseJson(read.document), parseJson(text));
  }
  assert.match(await failureOf(thread.readTask('{"type":', NOW)), /^input_invalid: body: /);
  assert.match(await failureOf(thread.readTask('{"type":"index_parallel","spek":1}', NOW)), /^input_invalid: .*spek/);
  assert.match(await failureOf(thread.readTask(`{"type":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, NOW)), /^input_invalid: body: /);
});

const TABLES = {
  tables: () => ['wiki'],
  table: (name: string) => {
    const table = SCHEMA.table(name);
    return table === undefined ? undefined : { ...table, interval: { start: 0, end: NOW } };
  },
};
const SERIES = { queryType: 'timeseries', dataSource: 'wiki', intervals: 'eternity', granularity: 'all' };
const COUNT = { type: 'count', name: 'n' };
const NATIVE: readonly object[] = [
  { ...SERIES, aggregations: [COUNT, { type: 'doubleSum', name: 's', expression: 'score * 2' }] },
  {
    ...SERIES,
    queryType: 'groupBy',
    dimensions: ['page'],
    aggregations: [COUNT],
    having: { type: 'greaterThan', aggregation: 'n', value: 1 },
  },
  { ...SERIES, queryType: 'topN', dimension: 'page', metric: 'n', threshold: 3, aggregations: [COUNT] },
  {
    queryType: 'scan',
    dataSource: {
      type: 'inline',
      columnNames: ['a', 'b'],
      rows: [
        [1, 'x'],
        [2, null],
      ],
    },
    intervals: 'eternity',
  },
  { ...SERIES, dataSource: { type: 'query', query: { ...SERIES, queryType: 'groupBy', dimensions: ['page'] } }, aggregations: [COUNT] },
  { ...SERIES, aggregations: [COUNT], filter: { type: 'in', dimension: 'added', values: ['1', '9007199254740993'] }, unknown: 1 },
  { ...SERIES, aggregations: [{ type: 'nothing', name: 'n' }] },
  { ...SERIES, aggregations: [COUNT, COUNT] },
  { queryType: 'scan' },
];
threads('native queries are planned, or refused, as where they came in', async () => {
  for (const query of NATIVE) {
    const watch = new PlanWatch();
    const there = async () =>
      thread.planNative(Buffer.from(JSON.stringify(query)), true, TABLES, { watch, signal: new AbortController().signal });
    const here = async () => planNative(query, true, TABLES);
    const failure = await failureOf(here());
    if (failure === 'nothing thrown') assert.equal(await there(), await here());
    assert.is(await failureOf(there()), failure);
    assert.is(watch.stages[0]?.stage, 'parse');
  }
});

threads('failures are the same, with their positions', async () => {
  for (const query of [
    'SELECT page FROM',
    'SELECT pages FROM wiki',
    'SELECT page FROM wikis',
    'SELECT page FROM wiki TABLESAMPLE BERNOULLI (5)',
  ]) {
    const here = await failureOf((async () => planSql(requestOf(query), SCHEMA, NOW))());
    assert.is(await failureOf(planned(query)), here);
    assert.match(here, /^\w+: /);
  }
});

threads('input nested too deeply is refused', async () => {
  for (const deep of [`SELECT ${'('.repeat(100_000)}1${')'.repeat(100_000)}`, `SELECT ${'1 + '.repeat(20_000)}1`])
    assert.match(await failureOf(planned(deep)), /^resource_limit: /);
});

threads('rows of sys go along', async () => {
  const schema: SqlSchema = { ...SCHEMA, systemRows: (table) => (table === 'queries' ? [['id 7', 'native', 'RUNNING', '{}']] : []) };
  const query = 'SELECT id FROM sys.queries';
  assert.equal(await planned(query, schema), planSql(requestOf(query), schema, NOW));
});

/** Statements that take a hundred times as long as the limits below allow, each another one. */
const slow = (name: string): string =>
  `SELECT ${Array.from({ length: 20_000 }, (_, index) => `SUM(added + ${index}) AS ${name}${index}`).join(', ')} FROM wiki`;

threads('planning ends in the middle of a stage when its time is over, and the next statement is planned', async () => {
  const [late, next] = [planned(slow('late'), SCHEMA, { watch: new PlanWatch(performance.now() + 15) }), planned('SELECT page FROM wiki')];
  assert.match(await failureOf(late), /^timeout: /);
  assert.is((await next).kind, 'select');
  assert.match(await failureOf(planned('SELECT page FROM wiki', SCHEMA, { watch: new PlanWatch(performance.now() - 1) })), /^timeout: /);
});

threads('planning can be cancelled, before and after it began', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const works = [planned(slow('a'), SCHEMA, { signal: first.signal }), planned(slow('b'), SCHEMA, { signal: second.signal })].map(
    failureOf,
  );
  second.abort(new ServiceError('cancelled', 'second'));
  setTimeout(() => first.abort(new ServiceError('cancelled', 'first')), 5);
  assert.equal(await Promise.all(works), ['cancelled: first', 'cancelled: second']);
  assert.is((await planned('SELECT page FROM wiki')).kind, 'select');
});

threads('a snapshot holds the tables that the text may name, however it spells them', () => {
  const names = ['plain', 'with "quotes"', "with 'quotes'", 'appended', '2024', 'not named', 'plai'];
  const table = { columns: [] };
  const schema: SqlSchema = { tables: () => names, table: () => table, lookups: () => ['l'] };
  const query = `SELECT * FROM plain, "with ""quotes""", TABLE(APPEND('with ''quotes''', 'appended')), "2024"`;
  const snapshot = takeSnapshot(query, schema);
  assert.equal([...snapshot.tables.keys()], names.slice(0, 5));
  const { tables, table: find, lookups, systemRows } = schemaOf(snapshot);
  assert.equal([tables(), find('plain'), find('not named'), lookups?.(), systemRows?.('tasks')], [names, table, undefined, ['l'], []]);
  assert.equal([...takeSnapshot('SELECT * FROM INFORMATION_SCHEMA.TABLES', schema).tables.keys()], names);
});

threads.after(() => thread.stop());

threads.run();
