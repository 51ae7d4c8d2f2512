import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';

const PORT_OFFSET = 5_300;

interface Context {
  folder: string;
  server: DolmenProcess;
}

/** Context keys of statements that run as tasks, sent as clients send them: each has its effect or is refused by name. */
const tests = suite<Context>('context of statements');

tests.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-context-'));
  context.server = await startDolmen({ dataDir: path.join(context.folder, 'data'), portOffset: PORT_OFFSET });
});
tests.after(async ({ server, folder }) => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post({ server }: Context, where: string, query: string, context: Record<string, unknown>): Promise<Answer> {
  const answer = await fetch(`${server.url}/svc/v2/sql${where}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, context }),
  });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

/** The error of a statement's report; null: it has succeeded. */
async function run(context: Context, query: string, keys: Record<string, unknown>): Promise<Record<string, unknown> | null> {
  const { status, body } = await post(context, '/task', query, { waitUntilSegmentsLoad: true, ...keys });
  assert.is(status, 200, JSON.stringify(body));
  for (;;) {
    const answer = await fetch(`${context.server.url}/svc/indexer/v1/task/${String(body['taskId'])}/reports`);
    const report = (await answer.json()) as {
      readonly multiStageQuery?: {
        readonly payload: {
          readonly status: { readonly status: string; readonly errorReport?: { readonly error: Record<string, unknown> } };
        };
      };
    };
    const ended = report.multiStageQuery?.payload.status;
    if (ended?.status === 'SUCCESS') return null;
    if (ended?.status === 'FAILED') return ended.errorReport?.error ?? {};
    await new Promise((done) => setTimeout(done, 50));
  }
}

function extern(rows: readonly unknown[], signature: string): string {
  const data = rows.map((row) => JSON.stringify(row)).join('\n');
  return `TABLE(EXTERN('${JSON.stringify({ type: 'inline', data })}', '{"type":"json"}')) EXTEND (${signature})`;
}

const ROWS = [
  { a: 'x', b: '3', tags: ['p'] },
  { a: 'y', b: '1', tags: ['q', 'p'] },
  { a: 'z', b: '2', tags: [] },
];
const FROM = extern(ROWS, 'a VARCHAR, b VARCHAR, tags VARCHAR ARRAY');
const insert = (table: string, columns = 'a, b', from = FROM): string =>
  `INSERT INTO ${table} SELECT ${columns} FROM ${from} PARTITIONED BY ALL`;

tests('segmentSortOrder: rows lie in its order', async (context) => {
  assert.is(await run(context, insert('ordered'), { segmentSortOrder: '__time,b,a' }), null);
  assert.equal(await sqlRows(context.server.url, 'SELECT b FROM ordered'), [['1'], ['2'], ['3']]);
  assert.is(await run(context, insert('by_a'), { segmentSortOrder: '["a"]' }), null);
  assert.equal(await sqlRows(context.server.url, 'SELECT b FROM by_a'), [['3'], ['1'], ['2']]);
});

tests('failOnEmptyInsert, removeNullBytes', async (context) => {
  const empty = await run(context, insert('none', 'a', `${FROM} WHERE a = 'nobody'`), { failOnEmptyInsert: true });
  assert.equal([empty?.['errorCode'], empty?.['dataSource']], ['InsertCannotBeEmpty', 'none']);
  const nul = extern([{ a: 'x\0y' }], 'a VARCHAR');
  assert.is(await run(context, insert('cleaned', 'a', nul), { removeNullBytes: true }), null);
  assert.equal(await sqlRows(context.server.url, 'SELECT a FROM cleaned'), [['xy']]);
});

tests('maxRowsMaterializedInWindow, of windows that a broker computes and of queries answered at once', async (context) => {
  assert.is(await run(context, insert('windowed'), {}), null);
  const query = 'SELECT a, COUNT(*) OVER () AS n FROM windowed';
  const { errorMessage, ...fault } = (await run(context, query, { maxRowsMaterializedInWindow: 2 })) ?? {};
  assert.equal(fault, { errorCode: 'TooManyRowsInAWindow', numRows: 3, maxRows: 2 });
  assert.match(String(errorMessage), /context\.maxRowsMaterializedInWindow \(2\)/);
  assert.is(await run(context, query, { maxRowsMaterializedInWindow: 3 }), null);
  // Windows below others are limited as well.
  const inner = 'SELECT COUNT(*) FROM (SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS r FROM windowed) WHERE r = 1';
  assert.is((await run(context, inner, { maxRowsMaterializedInWindow: '2' }))?.['errorCode'], 'TooManyRowsInAWindow');
  const { status, body } = await post(context, '', query, { maxRowsMaterializedInWindow: 2 });
  assert.equal([status, body['error']], [400, 'Resource limit exceeded']);
  assert.is((await post(context, '', query, { maxRowsMaterializedInWindow: 3 })).status, 200);
  assert.match(String((await post(context, '', query, { maxRowsMaterializedInWindow: 0 })).body['errorMessage']), /at least 1/);
});

tests('skipTypeVerification: arrays and strings are mixed in a column only where it names that', async (context) => {
  assert.is(await run(context, insert('mixed', 'a, tags'), {}), null);
  for (const [columns, keys, says] of [
    ['a, b AS tags', {}, /the column "tags" is STRING, and ARRAY<STRING> in mixed/],
    ['a, tags', { arrayIngestMode: 'mvd' }, /the column "tags" is STRING, and ARRAY<STRING> in mixed/],
    ['tags AS a, tags', {}, /the column "a" is ARRAY<STRING>, and STRING in mixed: ARRAY_TO_MV/],
    ['tags AS a, tags', { skipTypeVerification: 'b,tags' }, /the column "a" is ARRAY<STRING>/],
  ] as const) {
    const { status, body } = await post(context, '/task', insert('mixed', columns), keys);
    assert.is(status, 400, JSON.stringify(body));
    assert.match(String(body['errorMessage']), says);
  }
  assert.is(await run(context, insert('mixed', 'a, b AS tags'), { skipTypeVerification: '["tags"]' }), null);
  assert.is(await run(context, insert('mixed', 'a, tags'), {}), null);
});

tests('more columns than the original has room for, and more to cluster by', async (context) => {
  const names = Array.from({ length: 2100 }, (_, at) => `c${at}`);
  const select = names.map((name, at) => `'${at}' AS ${name}`).join(', ');
  const query = `REPLACE INTO wide OVERWRITE ALL SELECT ${select} PARTITIONED BY ALL CLUSTERED BY ${names.slice(0, 1600).join(', ')}`;
  assert.is(await run(context, query, {}), null);
  assert.equal(await sqlRows(context.server.url, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'wide'"), [[2101]]);
  assert.equal(await sqlRows(context.server.url, 'SELECT c0, c1599, c2099 FROM wide'), [['0', '1599', '2099']]);
});

const refused: readonly (readonly [Record<string, unknown>, number, RegExp])[] = [
  [{ indexSpec: { dimensionCompression: 'lz4' } }, 501, /context\.indexSpec: .*dimensionCompression is not "lz4"/],
  [{ forceSegmentSortByTime: false }, 501, /context\.forceSegmentSortByTime: .*sorted by __time first/],
  [{ includeSegmentSource: 'REALTIME' }, 501, /context\.includeSegmentSource: .*expected NONE/],
  [{ storeCompactionState: true }, 501, /context\.storeCompactionState: .*expected false/],
  [{ uncoveredIntervalsLimit: 5 }, 501, /context\.uncoveredIntervalsLimit: .*expected 0/],
  [{ arrayIngestMode: 'list' }, 400, /context\.arrayIngestMode/],
  [{ faultTolerance: true, durableShuffleStorage: false }, 400, /context\.faultTolerance: true needs durableShuffleStorage/],
];
tests('what is asked for otherwise is refused by name, before there is a task', async (context) => {
  for (const [keys, status, says] of refused) {
    const answer = await post(context, '/task', insert('never'), keys);
    assert.is(answer.status, status, JSON.stringify(answer.body));
    assert.match(String(answer.body['errorMessage']), says);
  }
  const tasks = (await callJson('GET', `${context.server.url}/svc/indexer/v1/tasks?datasource=never`)) as readonly unknown[];
  assert.equal(tasks, []);
});

tests.run();
