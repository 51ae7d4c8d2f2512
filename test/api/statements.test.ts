import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';

/** Statements that run as tasks, over one server: rows of VALUES and of files, whose results are known by arithmetic. */
interface Context {
  server: DolmenProcess;
  folder: string;
}

const statements = suite<Context>('statements');
const LINES = 3500;

statements.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-statements-'));
  const input = path.join(context.folder, 'data', 'input');
  mkdirSync(input, { recursive: true });
  writeFileSync(path.join(input, 'numbers.csv'), Array.from({ length: LINES }, (_, n) => `${n},n${n % 7}\n`).join(''));
  context.server = await startDolmen({ dataDir: path.join(context.folder, 'data'), portOffset: 20_900 });
});

statements.after(async (context) => {
  await context.server?.stop();
  rmSync(context.folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function call({ server }: Context, method: string, tail: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${server.url}/svc/v2/sql/statements${tail}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are compared with what they should be
const parsed = ({ text }: Answer): any => JSON.parse(text);

const ASYNC = { executionMode: 'ASYNC' };

/** Sends a statement and waits until it is through. Gives its id, its first body and its last. */
async function run(context: Context, query: string, more: object = {}) {
  const sent = await call(context, 'POST', '', { query, context: ASYNC, ...more });
  assert.is(sent.status, 200, sent.text);
  const accepted = parsed(sent);
  for (;;) {
    const body = parsed(await call(context, 'GET', `/${accepted.queryId}?detail=true`));
    if (body.state === 'SUCCESS' || body.state === 'FAILED') return { id: accepted.queryId as string, accepted, body };
    assert.ok(body.state === 'ACCEPTED' || body.state === 'RUNNING', body.state);
    assert.is(body.durationMs, -1);
    await wait(50);
  }
}

const EXTERN = `TABLE(EXTERN('{"type":"local","baseDir":"BASE","filter":"numbers.csv"}', '{"type":"csv","columns":["n","name"]}')) EXTEND (n BIGINT, name VARCHAR)`;
const numbersOf = ({ folder }: Context): string => EXTERN.replace('BASE', path.join(folder, 'data', 'input'));

const ROWS = `SELECT * FROM (VALUES
  (1, 'a', 0.5e0, TIMESTAMP '2024-02-29 01:02:03', TRUE, ARRAY['x', 'y']),
  (9007199254740993, U&'"\\2028,', 1e300, TIMESTAMP '1970-01-01 00:00:00', FALSE, ARRAY['z']),
  (CAST(NULL AS BIGINT), CAST(NULL AS VARCHAR), CAST(NULL AS DOUBLE), CAST(NULL AS TIMESTAMP), CAST(NULL AS BOOLEAN), ARRAY['']))
  AS t (l, s, d, t, b, a)`;

statements('a SELECT is accepted, runs, and gives its rows in every format, as the SQL endpoint does', async (context) => {
  const { id, accepted, body } = await run(context, ROWS);
  assert.is(accepted.state, 'ACCEPTED');
  assert.is(accepted.durationMs, -1);
  assert.equal(accepted.schema, [
    { name: 'l', type: 'BIGINT', nativeType: 'LONG' },
    { name: 's', type: 'VARCHAR', nativeType: 'STRING' },
    { name: 'd', type: 'DOUBLE', nativeType: 'DOUBLE' },
    { name: 't', type: 'TIMESTAMP', nativeType: 'LONG' },
    { name: 'b', type: 'BOOLEAN', nativeType: 'LONG' },
    { name: 'a', type: 'ARRAY', nativeType: 'ARRAY<STRING>' },
  ]);
  assert.is(body.state, 'SUCCESS', JSON.stringify(body));
  assert.equal(body.schema, accepted.schema);
  assert.is(body.result.numTotalRows, 3);
  assert.is(body.result.resultsTruncated, false);
  assert.equal(body.pages, [{ id: 0, numRows: 3, sizeInBytes: body.result.totalSizeInBytes }]);
  assert.ok(body.stages.length > 0 && typeof body.counters === 'object');
  assert.equal(body.warnings, []);
  for (const resultFormat of ['object', 'array', 'objectLines', 'arrayLines', 'csv']) {
    const direct = await fetch(`${context.server.url}/svc/v2/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: ROWS, resultFormat }),
    });
    const results = await call(context, 'GET', `/${id}/results?resultFormat=${resultFormat}&page=0`);
    assert.is(results.status, 200);
    assert.is(results.headers.get('content-type'), direct.headers.get('content-type'));
    assert.is(results.text, await direct.text(), resultFormat);
  }
});

statements('rows of every type, and times of a zone, are those of the SQL endpoint, kept in either place', async (context) => {
  const query = `SELECT * FROM (VALUES
    (CAST('NaN' AS DOUBLE), ARRAY[1, 2], PARSE_JSON('{"a":[1,{"b":null}],"c":"x"}'), TIMESTAMP '2024-07-01 00:00:00', DATE '2024-07-01', 9223372036854775807),
    (CAST('-Infinity' AS DOUBLE), ARRAY[3], PARSE_JSON('7'), TIMESTAMP '1969-12-31 23:59:59', DATE '1969-12-31', -9223372036854775807),
    (5e0, ARRAY[4], PARSE_JSON('"text"'), TIMESTAMP '9999-12-31 00:00:00', DATE '2000-02-29', 0))
    AS t (d, longs, j, at, day, l)`;
  for (const [selectDestination, sqlTimeZone] of [
    ['taskReport', 'UTC'],
    ['taskReport', 'Asia/Tokyo'],
    ['durableStorage', 'America/Los_Angeles'],
  ] as const) {
    const { id, body } = await run(context, query, { context: { ...ASYNC, selectDestination, sqlTimeZone } });
    assert.is(body.state, 'SUCCESS', JSON.stringify(body));
    for (const resultFormat of ['object', 'array', 'csv']) {
      const direct = await fetch(`${context.server.url}/svc/v2/sql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, resultFormat, context: { sqlTimeZone } }),
      });
      const results = await call(context, 'GET', `/${id}/results?resultFormat=${resultFormat}`);
      assert.is(results.text, await direct.text(), `${selectDestination} ${sqlTimeZone} ${resultFormat}`);
    }
  }
});

statements('a header that is asked for is said to have no effect', async (context) => {
  const sent = await call(context, 'POST', '', { query: 'SELECT 1', context: ASYNC, header: true });
  assert.is(sent.status, 200, sent.text);
  assert.match(sent.headers.get('x-svc-warning') ?? '', /header has no effect/);
});

statements('results come in the format that the statement asked for, and as a download', async (context) => {
  const { id } = await run(context, 'SELECT 1 AS one, 2 AS two', { resultFormat: 'arrayLines' });
  assert.is((await call(context, 'GET', `/${id}/results`)).text, '[1,2]\n\n');
  const download = await call(context, 'GET', `/${id}/results?resultFormat=csv&filename=one%20two.csv`);
  assert.is(download.text, '1,2\n\n');
  assert.is(download.headers.get('content-disposition'), 'attachment; filename="one two.csv"');
  for (const [tail, message] of [
    ['?page=1', /page: found 1, expected one below 1/],
    ['?page=-1', /page: found '-1'/],
    ['?resultFormat=xml', /resultFormat: found 'xml', expected one of object/],
    ['?filename=a%2Fb', /filename: found 'a\/b'/],
    ['?filename=', /filename: found ''/],
    [`?filename=${'x'.repeat(256)}`, /filename: /],
    ['?filename=a%0D%0Ab', /filename: /],
  ] as const) {
    const refused = await call(context, 'GET', `/${id}/results${tail}`);
    assert.is(refused.status, 400, tail);
    assert.match(parsed(refused).errorMessage, message);
    assert.equal(Object.keys(parsed(refused)).sort(), ['category', 'context', 'error', 'errorCode', 'errorMessage', 'persona']);
  }
});

statements('a statement that writes has a count and no results; its rows can be read', async (context) => {
  const insert = `REPLACE INTO numbers OVERWRITE ALL SELECT TIMESTAMP '2024-01-01' AS __time, n, name FROM ${numbersOf(context)} PARTITIONED BY DAY`;
  const { id, accepted, body } = await run(context, insert, { context: { ...ASYNC, waitUntilSegmentsLoad: true } });
  assert.is(body.state, 'SUCCESS', JSON.stringify(body));
  assert.is(accepted.schema, undefined);
  assert.equal(body.result, { numTotalRows: LINES, dataSource: 'numbers' });
  const results = await call(context, 'GET', `/${id}/results`);
  assert.is(results.status, 200);
  assert.is(results.text, '');
  const read = await run(context, 'SELECT name, SUM(n) AS total FROM numbers GROUP BY 1 ORDER BY 1 LIMIT 2');
  const total = (rest: number): number => {
    let sum = 0;
    for (let n = rest; n < LINES; n += 7) sum += n;
    return sum;
  };
  assert.equal(parsed(await call(context, 'GET', `/${read.id}/results?resultFormat=array`)), [
    ['n0', total(0)],
    ['n1', total(1)],
  ]);
});

statements('results that end before the rows do say so', async (context) => {
  const { id, body } = await run(context, `SELECT n FROM ${numbersOf(context)}`);
  assert.is(body.state, 'SUCCESS', JSON.stringify(body));
  assert.is(body.result.numTotalRows, 3000);
  assert.is(body.result.resultsTruncated, true);
  assert.match(body.warnings[0].errorMessage, /end after 3000 rows/);
  const results = await call(context, 'GET', `/${id}/results?resultFormat=arrayLines`);
  assert.match(results.headers.get('x-svc-warning') ?? '', /end after 3000 rows/);
  assert.is(results.text.split('\n').length, 3002);
});

statements('durable results are whole, page by page and together', async (context) => {
  const more = { context: { ...ASYNC, selectDestination: 'durableStorage', rowsPerPage: 1000 } };
  const { id, body } = await run(context, `SELECT n FROM ${numbersOf(context)}`, more);
  assert.is(body.state, 'SUCCESS', JSON.stringify(body));
  assert.is(body.result.numTotalRows, LINES);
  assert.is(body.result.resultsTruncated, false);
  assert.equal(body.warnings, []);
  assert.equal(body.result.pages, body.pages);
  const read = async (tail: string): Promise<number[]> =>
    parsed(await call(context, 'GET', `/${id}/results?resultFormat=array${tail}`)).map(([n]: [number]) => n);
  const all = Array.from({ length: LINES }, (_, n) => n);
  assert.equal(await read(''), all);
  let from = 0;
  for (const { id: page, numRows } of body.pages) {
    assert.equal(await read(`&page=${page}`), all.slice(from, from + numRows));
    from += numRows;
  }
  assert.is(from, LINES);
  assert.is((await call(context, 'GET', `/${id}/results?page=${body.pages.length}`)).status, 400);
  const none = await run(context, `SELECT n FROM ${numbersOf(context)} WHERE n < 0`, more);
  assert.is(none.body.result.numTotalRows, 0);
  assert.is((await call(context, 'GET', `/${none.id}/results?resultFormat=array&page=0`)).text, '[]\n');
  rmSync(path.join(context.folder, 'data', 'query-results'), { recursive: true });
  assert.is((await call(context, 'GET', `/${id}/results`)).status, 404, 'results that are gone are said to be');
});

statements('segments that the rules load nowhere are read by statements, joins and reindexing among them', async (context) => {
  const rows =
    "SELECT TIME_PARSE(t) AS __time, s, n FROM (VALUES ('2024-01-01', 'a', 1), ('2024-01-02', 'b', 2), ('2024-01-02', 'c', 4)) AS v (t, s, n)";
  const { body } = await run(context, `REPLACE INTO cold OVERWRITE ALL ${rows} PARTITIONED BY DAY`);
  assert.is(body.state, 'SUCCESS', JSON.stringify(body.errorDetails));
  const { url } = context.server;
  const sum = async (): Promise<unknown> => {
    const found = await fetch(`${url}/svc/v2/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'SELECT SUM(n) AS n FROM cold', resultFormat: 'array' }),
    });
    return found.status === 200 ? ((await found.json()) as unknown[][])[0]?.[0] : found.status;
  };
  while ((await sum()) !== 7) await wait(50);
  const ruled = await fetch(`${url}/svc/coordinator/v1/rules/cold`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([{ type: 'loadByInterval', interval: '2024-01-02/P1D', tieredReplicants: {} }, { type: 'loadForever' }]),
  });
  assert.is(ruled.status, 200);
  while ((await sum()) !== 1) await wait(50);
  const rowsOf = async (query: string): Promise<unknown> => {
    const { id, body: through } = await run(context, query);
    assert.is(through.state, 'SUCCESS', JSON.stringify(through.errorDetails));
    return parsed(await call(context, 'GET', `/${id}/results?resultFormat=array`));
  };
  assert.equal(await rowsOf('SELECT s, n FROM cold ORDER BY s'), [
    ['a', 1],
    ['b', 2],
    ['c', 4],
  ]);
  assert.equal(await rowsOf('SELECT SUM(n), COUNT(*) FROM cold'), [[7, 3]]);
  assert.equal(await rowsOf('SELECT a.s, b.n FROM cold a JOIN cold b ON a.n = b.n WHERE a.n > 1 ORDER BY 1'), [
    ['b', 2],
    ['c', 4],
  ]);
  const again = await run(context, 'REPLACE INTO warm OVERWRITE ALL SELECT __time, s, n FROM cold PARTITIONED BY ALL');
  assert.is(again.body.result.numTotalRows, 3);
  assert.is(await sum(), 1);
});

statements('a statement that fails tells why, and has no results', async (context) => {
  const missing = numbersOf(context).replace('numbers.csv', 'missing.csv');
  const { id, body } = await run(context, `SELECT n FROM ${missing}`);
  assert.is(body.state, 'FAILED');
  assert.match(body.errorDetails.errorMessage, /missing\.csv/);
  assert.ok(body.durationMs >= 0);
  assert.is((await call(context, 'GET', `/${id}/results`)).status, 404);
  assert.is((await call(context, 'DELETE', `/${id}`)).status, 200);
});

statements('a statement is cancelled, and is then not found among results', async (context) => {
  const { queryId } = parsed(await call(context, 'POST', '', { query: `SELECT n FROM ${numbersOf(context)}`, context: ASYNC }));
  assert.is((await call(context, 'GET', `/${queryId}/results`)).status, 400);
  assert.is((await call(context, 'DELETE', `/${queryId}`)).status, 202);
  for (let look = 0; ; look++) {
    const { state } = parsed(await call(context, 'GET', `/${queryId}`));
    if (state === 'FAILED') break;
    assert.ok(look < 600 && state !== 'SUCCESS', state);
    await wait(50);
  }
  assert.is((await call(context, 'GET', `/${queryId}/results`)).status, 404);
});

statements('bad requests are refused by name, and unknown ids are not found', async (context) => {
  for (const [body, message] of [
    [{ query: 'SELEKT 1', context: ASYNC }, /SELEKT/],
    [{ query: 'SELECT 1' }, /executionMode: found nothing, expected "ASYNC"/],
    [{ query: 'SELECT 1', context: { executionMode: 'SYNC' } }, /executionMode: found "SYNC", expected "ASYNC"/],
    [{ query: 'SELECT 1', context: { executionMode: 7 } }, /executionMode: found 7/],
    [{ query: 'SELECT 1', context: ASYNC, resultFormat: 'xml' }, /resultFormat/],
    [{ query: 'SELECT 1', context: { ...ASYNC, selectDestination: 'elsewhere' } }, /selectDestination/],
    [{ query: 'SELECT 1', context: { ...ASYNC, selectDestination: 'durableStorage', rowsPerPage: 0 } }, /rowsPerPage/],
    [{ query: 'SELECT 1', context: ASYNC, unknown: 1 }, /unknown/],
    [{ context: ASYNC }, /query/],
  ] as const) {
    const refused = await call(context, 'POST', '', body);
    assert.is(refused.status, 400, refused.text);
    const error = parsed(refused);
    assert.match(error.errorMessage, message);
    for (const key of ['error', 'errorClass', 'host', 'errorCode', 'persona', 'category', 'context']) assert.ok(key in error, key);
  }
  const id = 'no-such-thing';
  for (const [method, tail] of [
    ['GET', `/${id}`],
    ['GET', `/${id}/results`],
    ['DELETE', `/${id}`],
  ] as const)
    assert.is((await call(context, method, tail)).status, 404);
  assert.equal(parsed(await call(context, 'GET', '/enabled')), { enabled: true });
});

statements('EXPLAIN is answered at once', async (context) => {
  const explained = await call(context, 'POST', '', { query: 'EXPLAIN PLAN FOR SELECT 1', context: ASYNC });
  assert.is(explained.status, 200);
  assert.ok('PLAN' in parsed(explained)[0]);
});

statements.run();
