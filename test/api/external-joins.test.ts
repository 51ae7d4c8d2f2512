import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForTask } from '../../bench/server.js';
import { caseCount } from '../case-count.js';

/** Rows of each of the large files. */
const ROWS = 400_000;

interface Context {
  folder: string;
  server: DolmenProcess;
}

/** EXTERN joined with tables and with EXTERN, by both ways to join, against the same statements over stored tables. */
const tests = suite<Context>('joins of EXTERN');

tests.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-extern-'));
  const input = path.join(context.folder, 'data', 'input');
  mkdirSync(input, { recursive: true });
  for (const [name, step] of [
    ['left', 7919],
    ['right', 104_729],
  ] as const) {
    const lines = Array.from({ length: ROWS }, (_, at) => `${(at * step) % ROWS},${name} ${(at * step) % ROWS}`);
    writeFileSync(path.join(input, `${name}.csv`), `k,${name}\n${lines.join('\n')}\n`);
  }
  const flags = ['svc.indexer.task.maxBytesInMemory=16MiB', 'svc.indexer.task.maxKernelBytes=16MiB'].flatMap((each) => [
    '--property',
    each,
  ]);
  context.server = await startDolmen({ dataDir: path.join(context.folder, 'data'), portOffset: 5_700, flags });
});
tests.after(async ({ server, folder }) => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface End {
  readonly statusCode: string;
  readonly errorMsg: string | null;
}

interface Report {
  readonly multiStageQuery: {
    readonly payload: {
      readonly results?: { readonly results: readonly (readonly unknown[])[] };
      readonly status: {
        readonly errorReport?: { readonly error: { readonly errorCode: string; readonly maxBroadcastTablesSize?: number } };
      };
    };
  };
}

async function submit({ server }: Context, query: string, context: Record<string, unknown> = {}): Promise<string> {
  return ((await callJson('POST', `${server.url}/svc/v2/sql/task`, { query, context })) as { readonly taskId: string }).taskId;
}

async function ended({ server }: Context, taskId: string): Promise<End> {
  for (;;) {
    const { status } = (await callJson('GET', `${server.url}/svc/indexer/v1/task/${taskId}/status`)) as { readonly status: End };
    if (status.statusCode === 'SUCCESS' || status.statusCode === 'FAILED') return status;
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function payloadOf({ server }: Context, taskId: string): Promise<Report['multiStageQuery']['payload']> {
  return ((await callJson('GET', `${server.url}/svc/indexer/v1/task/${taskId}/reports`)) as Report).multiStageQuery.payload;
}

interface Row {
  readonly k: number | null;
  readonly s: string | null;
  readonly v: number;
}

/** Rows with few different keys, some of them null. */
function drawn(count: number, draw: (below: number) => number): readonly Row[] {
  return Array.from({ length: count }, () => ({
    k: draw(8) === 0 ? null : draw(12),
    s: draw(8) === 0 ? null : `s${draw(5)}`,
    v: draw(1000),
  }));
}

const extern = (rows: readonly Row[]): string => {
  const data = rows.map((row) => JSON.stringify(row)).join('\n');
  return `TABLE(EXTERN('${JSON.stringify({ type: 'inline', data })}', '{"type":"json"}')) EXTEND (k BIGINT, s VARCHAR, v BIGINT)`;
};

/** Statements over sources A, B and C; each gives its rows in any order. */
const STATEMENTS = [
  'SELECT a.v, b.v AS w FROM A a JOIN B b ON a.k = b.k',
  'SELECT a.v, b.v AS w FROM A a LEFT JOIN B b ON a.k = b.k AND a.s = b.s',
  'SELECT a.v, b.v AS w FROM A a RIGHT JOIN B b ON a.s = b.s AND a.v < b.v',
  'SELECT a.s, b.s AS t, b.k FROM A a FULL JOIN B b ON a.k + 1 = b.k',
  'SELECT a.s, COUNT(*) AS n, SUM(b.v) AS w FROM A a JOIN B b ON a.k = b.k GROUP BY a.s HAVING COUNT(*) > 1',
  'SELECT a.v, b.v AS w, c.v AS x FROM A a JOIN B b ON a.k = b.k JOIN C c ON c.s = b.s WHERE a.v > 300',
  'SELECT v FROM A WHERE k IN (SELECT k FROM B WHERE v > 500)',
  'SELECT v FROM A WHERE NOT EXISTS (SELECT 1 FROM B WHERE B.k = A.k)',
  'SELECT s, SUM(v) AS v FROM (SELECT s, v FROM A UNION ALL SELECT s, v FROM B) GROUP BY s',
  'SELECT COUNT(*) AS n, SUM(m) AS m FROM (SELECT k, MAX(v) AS m FROM A GROUP BY k)',
  'SELECT a.s, b.n FROM A a JOIN (SELECT s, COUNT(*) AS n FROM B GROUP BY s) b ON a.s = b.s',
  'SELECT v FROM (SELECT v FROM A ORDER BY v DESC LIMIT 7) WHERE v > 10',
  'SELECT a.v, b.v AS w FROM A a CROSS JOIN (SELECT MAX(v) AS v FROM B) b',
];

tests('drawn rows, by both ways to join', async (context) => {
  let seed = 5;
  const draw = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  for (let round = 0; round < caseCount(1); round++) {
    const rows = { A: drawn(40, draw), B: drawn(25, draw), C: drawn(15, draw) };
    for (const [name, own] of Object.entries(rows)) {
      const query = `REPLACE INTO stored_${name} OVERWRITE ALL SELECT TIMESTAMP '2024-01-01' AS __time, k, s, v FROM ${extern(own)} PARTITIONED BY ALL`;
      await waitForTask(context.server.url, await submit(context, query, { waitUntilSegmentsLoad: true }));
      for (let look = 0; look < 100; look++) {
        const found = await sqlRows(context.server.url, `SELECT COUNT(*), SUM(v) FROM stored_${name}`).catch(() => []);
        if (JSON.stringify(found[0]) === JSON.stringify([own.length, own.reduce((sum, { v }) => sum + v, 0)])) break;
        await new Promise((done) => setTimeout(done, 50));
      }
    }
    const over = (statement: string, source: (name: 'A' | 'B' | 'C') => string): string =>
      statement.replaceAll(
        /\b(FROM|JOIN) ([ABC])\b(?! [abc]\b)|\b(FROM|JOIN) ([ABC])\b/g,
        (_, first: string | undefined, alone: 'A' | 'B' | 'C' | undefined, word: string, named: 'A' | 'B' | 'C') =>
          alone === undefined ? `${word} ${source(named)}` : `${first} ${source(alone)} AS ${alone}`,
      );
    const sorted = (found: readonly (readonly unknown[])[]): readonly string[] => found.map((row) => JSON.stringify(row)).sort();
    const checks = STATEMENTS.map(async (statement, at) => {
      const sqlJoinAlgorithm = (at + round) % 2 === 0 ? 'sortMerge' : null;
      const expected = await sqlRows(
        context.server.url,
        over(statement, (name) => `stored_${name}`),
      );
      // Tables take the place of some files.
      const isStored = (name: 'A' | 'B' | 'C'): boolean => name === 'ABC'[(at + round) % 4];
      const query = over(statement, (name) => (isStored(name) ? `stored_${name}` : extern(rows[name])));
      const taskId = await submit(context, query, sqlJoinAlgorithm === null ? {} : { sqlJoinAlgorithm });
      const { statusCode, errorMsg } = await ended(context, taskId);
      assert.is(statusCode, 'SUCCESS', `${statement}: ${errorMsg}`);
      const found = (await payloadOf(context, taskId)).results?.results ?? [];
      assert.equal(sorted(found), sorted(expected), `${statement}, ${sqlJoinAlgorithm ?? 'any way'}, round ${round}`);
    });
    await Promise.all(checks);
  }
});

tests('two files that do not fit into the memory of the task, into a table', async (context) => {
  const input = path.join(context.folder, 'data', 'input');
  const file = (name: string): string =>
    `TABLE(EXTERN('${JSON.stringify({ type: 'local', baseDir: input, filter: `${name}.csv` })}', '{"type":"csv","findColumnsFromHeader":true}')) EXTEND (k BIGINT, "${name}" VARCHAR)`;
  const query = `REPLACE INTO joined OVERWRITE ALL
    SELECT MILLIS_TO_TIMESTAMP(l.k * 1000) AS __time, l.k, l."left", r."right" FROM ${file('left')} l JOIN ${file('right')} r ON l.k = r.k PARTITIONED BY DAY`;
  const held = await submit(context, query, { sqlJoinAlgorithm: 'broadcast' });
  assert.is((await ended(context, held)).statusCode, 'FAILED');
  const fault = (await payloadOf(context, held)).status.errorReport?.error;
  assert.equal([fault?.errorCode, fault?.maxBroadcastTablesSize], ['BroadcastTablesTooLarge', 8 << 20]);
  const divided = await submit(context, query);
  const { statusCode, errorMsg } = await ended(context, divided);
  assert.is(statusCode, 'SUCCESS', errorMsg ?? '');
  const log = await fetch(`${context.server.url}/svc/indexer/v1/task/${divided}/log`).then((answer) => answer.text());
  assert.match(log, /both sides of a join, 400000 and 400000 rows, are divided/);
  const count = `SELECT COUNT(*), COUNT(DISTINCT k), SUM(k), COUNT(*) FILTER (WHERE "left" = 'left ' || k AND "right" = 'right ' || k) FROM joined`;
  const exact = { useApproximateCountDistinct: false };
  const expected = [ROWS, ROWS, (ROWS * (ROWS - 1)) / 2, ROWS];
  const found = async (): Promise<unknown> => (await sqlRows(context.server.url, count, exact).catch(() => []))[0];
  for (let look = 0; look < 100 && JSON.stringify(await found()) !== JSON.stringify(expected); look++)
    await new Promise((done) => setTimeout(done, 50));
  assert.equal(await found(), expected);
});

tests('keys with several values, which meet rows of several parts', async (context) => {
  const data = [{ m: ['a', 'b'] }, { m: ['a'] }, { m: null }].map((row) => JSON.stringify({ t: 0, ...row })).join('\n');
  const spec = {
    dataSchema: {
      dataSource: 'tagged',
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: ['m'] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data }, inputFormat: { type: 'json' } },
  };
  const { url } = context.server;
  const { task } = (await callJson('POST', `${url}/svc/indexer/v1/task`, { type: 'index_parallel', spec })) as { readonly task: string };
  await waitForTask(url, task);
  for (let look = 0; look < 100 && (await sqlRows(url, 'SELECT COUNT(*) FROM tagged').catch(() => []))[0]?.[0] !== 3; look++)
    await new Promise((done) => setTimeout(done, 50));
  const weights = [
    { k: 'a', w: 1 },
    { k: 'b', w: 2 },
    { k: 'a', w: 4 },
    { k: 'z', w: 8 },
  ].map((row) => JSON.stringify(row));
  const file = `TABLE(EXTERN('${JSON.stringify({ type: 'inline', data: weights.join('\n') })}', '{"type":"json"}')) EXTEND (k VARCHAR, w BIGINT)`;
  // Sums: a is 1 + 4, twice; b is 2.
  for (const [join, expected] of [
    [`tagged d JOIN ${file} x ON d.m = x.k`, [5, 12]],
    [`${file} x JOIN tagged d ON x.k = d.m`, [5, 12]],
    [`tagged d LEFT JOIN ${file} x ON d.m = x.k`, [6, 12]],
    [`${file} x LEFT JOIN tagged d ON x.k = d.m`, [6, 20]],
  ] as const)
    for (const sqlJoinAlgorithm of ['sortMerge', 'broadcast']) {
      const taskId = await submit(context, `SELECT COUNT(*), SUM(w) FROM ${join}`, { sqlJoinAlgorithm });
      const { statusCode, errorMsg } = await ended(context, taskId);
      assert.is(statusCode, 'SUCCESS', errorMsg ?? '');
      assert.equal((await payloadOf(context, taskId)).results?.results, [expected], `${sqlJoinAlgorithm}: ${join}`);
    }
});

tests('lookups, which a task reads through a Broker', async (context) => {
  const { url } = context.server;
  const lookups = `${url}/svc/coordinator/v1/lookups`;
  const lookup = { version: 'v1', lookupExtractorFactory: { type: 'map', map: { a: 'A', b: 'B', c: 'C' } } };
  await callJson('POST', `${lookups}/config/__default/letters`, lookup);
  const isLoaded = async () => ((await callJson('GET', `${lookups}/status/__default/letters`)) as { readonly loaded: boolean }).loaded;
  for (let look = 0; look < 100 && !(await isLoaded()); look++) await new Promise((done) => setTimeout(done, 50));
  const rows = [
    { k: 'a', w: 1 },
    { k: 'b', w: 2 },
    { k: 'a', w: 4 },
    { k: 'z', w: 8 },
  ].map((row) => JSON.stringify(row));
  const file = `TABLE(EXTERN('${JSON.stringify({ type: 'inline', data: rows.join('\n') })}', '{"type":"json"}')) EXTEND (k VARCHAR, w BIGINT)`;
  for (const [join, expected] of [
    [
      `${file} x JOIN lookup.letters l ON x.k = l.k`,
      [
        ['A', 5],
        ['B', 2],
      ],
    ],
    [
      `${file} x LEFT JOIN lookup.letters l ON x.k = l.k`,
      [
        [null, 8],
        ['A', 5],
        ['B', 2],
      ],
    ],
    [
      `lookup.letters l LEFT JOIN ${file} x ON x.k = l.k`,
      [
        ['A', 5],
        ['B', 2],
        ['C', null],
      ],
    ],
    [
      `${file} x JOIN lookup.letters l ON x.k = l.k JOIN lookup.letters m ON l.v = UPPER(m.k)`,
      [
        ['A', 5],
        ['B', 2],
      ],
    ],
  ] as const)
    for (const sqlJoinAlgorithm of ['sortMerge', 'broadcast']) {
      const taskId = await submit(context, `SELECT l.v, SUM(x.w) FROM ${join} GROUP BY 1 ORDER BY 1 NULLS FIRST`, { sqlJoinAlgorithm });
      const { statusCode, errorMsg } = await ended(context, taskId);
      assert.is(statusCode, 'SUCCESS', `${sqlJoinAlgorithm}: ${join}: ${errorMsg}`);
      assert.equal((await payloadOf(context, taskId)).results?.results, expected, `${sqlJoinAlgorithm}: ${join}`);
    }
});

tests.run();
