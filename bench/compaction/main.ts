import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { csvIngestion, writeCsv } from '../data/csv.js';
import { processorTime } from '../processor-time.js';
import { callJson, runTask, sqlRows, startDolmen, waitForCount } from '../server.js';

/*
 * npm run bench -- compaction: many small segments, a hundred a day, compacted automatically into one a day while questions are asked:
 * segments, bytes and times of questions before and after, how long it takes; every answer must be that of before.
 */
const { values: flags } = parseArgs({
  options: {
    segments: { type: 'string', default: '10000' },
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '9' },
    json: { type: 'string' },
  },
});
const [segments, rows, rounds] = [Number(flags.segments), Number(flags.rows), Number(flags.rounds)];
const DAY_MS = 86_400_000;
const PER_DAY = 100;
const days = Math.ceil(segments / PER_DAY);
const START = Date.UTC(2024, 0, 1);

const QUESTIONS: readonly (readonly [name: string, statement: string])[] = [
  ['count', 'SELECT COUNT(*), SUM(v), MIN(__time), MAX(__time) FROM t'],
  ['by page', 'SELECT page, COUNT(*), SUM(v) FROM t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20'],
  ['by day', "SELECT TIME_FLOOR(__time, 'P1D'), SUM(v), COUNT(DISTINCT page) FROM t GROUP BY 1 ORDER BY 1"],
  ['by country and hour', "SELECT country, TIME_EXTRACT(__time, 'HOUR'), AVG(v) FROM t GROUP BY 1, 2 ORDER BY 1, 2"],
  ['filtered', "SELECT COUNT(*), SUM(v) FROM t WHERE page LIKE '%7' AND country <> 'c3'"],
  ['newest', 'SELECT __time, page, v FROM t ORDER BY __time DESC, v DESC LIMIT 20'],
];
const CONTEXT = { useCache: false, useResultLevelCache: false, populateCache: false, populateResultLevelCache: false };

function* lines(): Generator<string> {
  for (let row = 0; row < rows; row++) {
    const time = START + Math.floor((row / rows) * days * DAY_MS);
    yield `${new Date(time).toISOString()},page ${(row * 7919) % 997},c${row % 5},${(row * 31) % 1009}`;
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-compaction-'));
const [dataDir, input] = [path.join(folder, 'data'), path.join(folder, 'data', 'input')];
mkdirSync(input, { recursive: true });
writeCsv(path.join(input, 'rows.csv'), ['__time', 'page', 'country', 'v'], lines());
const properties = ['svc.processing.numThreads=1'];
const server = await startDolmen({ dataDir, portOffset: 12_900, flags: properties.flatMap((each) => ['--property', each]) });
const figures: Record<string, unknown> = { segments, rows };
try {
  const { pid } = server.child;
  if (pid === undefined) throw new Error('the server has no process');
  const dimensions = ['page', 'country', { type: 'long', name: 'v' }];
  const partitionsSpec = { type: 'dynamic', maxRowsPerSegment: Math.ceil(rows / segments) };
  await runTask(
    server.url,
    csvIngestion({ folder: input, file: 'rows.csv', dataSource: 't', dimensions, segmentGranularity: 'day', partitionsSpec }),
  );
  await waitForCount(server.url, 't', rows);
  const expected = await Promise.all(QUESTIONS.map(([, statement]) => sqlRows(server.url, statement, CONTEXT)));
  const before = await measure(pid);

  const began = performance.now();
  await callJson('POST', `${server.url}/svc/coordinator/v1/config/compaction/taskslots?ratio=1`);
  await callJson('POST', `${server.url}/svc/coordinator/v1/config/compaction`, { dataSource: 't', skipOffsetFromLatest: 'PT0S' });
  let asked = 0;
  while (!(await isDone())) {
    for (const [at, [name, statement]] of QUESTIONS.entries()) {
      check(name, await sqlRows(server.url, statement, CONTEXT), expected[at]);
      asked++;
    }
    await wait(250);
  }
  const seconds = (performance.now() - began) / 1000;
  // Segments that were replaced leave the servers a little later.
  await wait(10_000);
  const after = await measure(pid);
  for (const [at, [name, statement]] of QUESTIONS.entries()) check(name, await sqlRows(server.url, statement, CONTEXT), expected[at]);

  console.log(
    `${before.segments} segments of ${before.bytes} bytes → ${after.segments} of ${after.bytes} in ${seconds.toFixed(1)} s (${(seconds / days).toFixed(2)} s a day)`,
  );
  console.log(
    `${asked} answers meanwhile, ${QUESTIONS.length} after: all as before. Milliseconds of processor time, medians of ${rounds}:`,
  );
  for (const [at, [name]] of QUESTIONS.entries()) {
    const [earlier = 0, later = 0] = [before.times[at], after.times[at]];
    console.log(`  ${name.padEnd(22)} ${earlier.toFixed(2).padStart(8)} ${later.toFixed(2).padStart(8)}  ${(later / earlier).toFixed(3)}`);
  }
  Object.assign(figures, { before, after, seconds, asked });
  if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify({ compaction: figures }, null, 2));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function check(name: string, found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted))
    throw new Error(`${name}: ${JSON.stringify(found).slice(0, 300)} in place of ${JSON.stringify(wanted).slice(0, 300)}`);
}

async function isDone(): Promise<boolean> {
  const { latestStatus } = (await callJson('GET', `${server.url}/svc/coordinator/v1/compaction/status`)) as {
    latestStatus: readonly Readonly<Record<string, number>>[];
  };
  const [status] = latestStatus;
  return status !== undefined && status['segmentCountAwaitingCompaction'] === 0 && status['segmentCountCompacted'] === days;
}

async function measure(pid: number): Promise<{ segments: unknown; bytes: unknown; times: readonly number[] }> {
  const counted = await sqlRows(server.url, "SELECT COUNT(*), SUM(size) FROM sys.segments WHERE datasource = 't' AND is_active = 1");
  const times: number[] = [];
  for (const [, statement] of QUESTIONS) {
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const from = processorTime(pid);
      await sqlRows(server.url, statement, CONTEXT);
      taken.push((processorTime(pid) - from) / 1e6);
    }
    times.push(taken.sort((a, b) => a - b)[rounds >> 1] ?? 0);
  }
  return { segments: counted[0]?.[0], bytes: counted[0]?.[1], times };
}
