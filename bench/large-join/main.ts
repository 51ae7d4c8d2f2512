import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { showProgress } from '../../src/cli/progress-bar.js';
import { callJson, sqlRows, startDolmen, waitForCount } from '../server.js';

/*
 * npm run bench -- large-join: two files of as many rows, joined by a key that each row has once on either side, into a new table: the
 * time, the bytes on disk meanwhile, and the memory of all processes together; counts and sums must be those of arithmetic.
 */
const { values: flags } = parseArgs({
  options: { rows: { type: 'string', default: '2000000' }, json: { type: 'string' } },
});
const rows = Number(flags.rows);
const GOAL_MEGABYTES = 1024;
const PORT_OFFSET = 13_300;
const LINES = 2000;
/** Primes that divide no power of ten: multiples of them go through all keys in another order on each side. */
const [LEFT_STEP, RIGHT_STEP] = [7919, 104_729];
const [A_VALUES, B_VALUES] = [1000, 977];
const TASK = [
  'svc.indexer.task.maxBytesInMemory=67108864',
  'svc.indexer.task.maxHeapBytes=268435456',
  'svc.indexer.task.maxKernelBytes=134217728',
];

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-large-join-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const progress = showProgress('large-join');
const figures: Record<string, number> = { rows };

async function write(name: string, line: (row: number) => string): Promise<void> {
  const file = createWriteStream(path.join(input, name));
  for (let row = 0; row < rows; row += LINES) {
    const count = Math.min(LINES, rows - row);
    const text = `${Array.from({ length: count }, (_, at) => line(row + at)).join('\n')}\n`;
    if (!file.write(text)) await new Promise((resolve) => file.once('drain', () => resolve(undefined)));
    progress.update({ phase: `writing ${name}`, fraction: row / rows, rows: row, pace: '' });
  }
  await new Promise((resolve) => file.end(() => resolve(undefined)));
}

/** Resident bytes of all processes below one (Linux). */
function residentBytes(pid: number): number {
  const parents = new Map<number, number>();
  const sizes = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/status`, 'utf8');
      parents.set(Number(name), Number(/PPid:\s+(\d+)/.exec(text)?.[1] ?? 0));
      sizes.set(Number(name), Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024);
    } catch {
      // It has ended.
    }
  }
  const isOwn = (one: number): boolean => one === pid || (one > 1 && isOwn(parents.get(one) ?? 0));
  return [...sizes].reduce((sum, [one, bytes]) => sum + (one !== pid && isOwn(one) ? bytes : 0), 0);
}

function folderBytes(where: string): number {
  let bytes = 0;
  for (const entry of readdirSync(where, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    bytes += statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

const keyOf = (row: number, step: number): number => (row * step) % rows;
await write('left.csv', (row) => `${keyOf(row, LEFT_STEP)},${row % A_VALUES}`);
await write('right.csv', (row) => `${keyOf(row, RIGHT_STEP)},${row % B_VALUES}`);
const server = await startDolmen({
  dataDir: path.join(folder, 'data'),
  portOffset: PORT_OFFSET,
  flags: TASK.flatMap((each) => ['--property', each]),
});
try {
  const side = (file: string, value: string): string => {
    const source = JSON.stringify({ type: 'local', baseDir: input, filter: file });
    return `TABLE(EXTERN('${source}', '{"type":"csv","columns":["k","${value}"]}')) EXTEND ("k" BIGINT, "${value}" BIGINT)`;
  };
  const query = `REPLACE INTO joined OVERWRITE ALL
    SELECT MILLIS_TO_TIMESTAMP(1700000000000 + MOD(l.k, 10) * 86400000) AS __time, l.k, l.a, r.b
    FROM (SELECT * FROM ${side('left.csv', 'a')}) AS l JOIN (SELECT * FROM ${side('right.csv', 'b')}) AS r ON l.k = r.k
    PARTITIONED BY DAY`;
  const began = performance.now();
  const { taskId } = (await callJson('POST', `${server.url}/svc/v2/sql/task`, { query, context: { sqlJoinAlgorithm: 'sortMerge' } })) as {
    readonly taskId: string;
  };
  const filesBefore = folderBytes(folder);
  let [memory, disk] = [0, 0];
  for (let look = 0; ; look++) {
    const { status } = (await callJson('GET', `${server.url}/svc/indexer/v1/task/${taskId}/status`)) as {
      readonly status: { readonly statusCode: string; readonly errorMsg: string | null };
    };
    if (status.statusCode === 'FAILED') throw new Error(status.errorMsg ?? 'the task failed');
    if (status.statusCode === 'SUCCESS') break;
    memory = Math.max(memory, residentBytes(server.child.pid ?? 0));
    if (look % 10 === 0) disk = Math.max(disk, folderBytes(folder) - filesBefore);
    const seconds = (performance.now() - began) / 1000;
    progress.update({ phase: 'joining', fraction: 0.5, rows, pace: `${seconds.toFixed(0)} s, ${(memory / 2 ** 20).toFixed(0)} MiB` });
    await wait(200);
  }
  figures['seconds'] = (performance.now() - began) / 1000;
  figures['memoryMegabytes'] = memory / 2 ** 20;
  figures['diskMegabytes'] = disk / 1e6;
  progress.stop();
  await waitForCount(server.url, 'joined', rows);
  const sumOf = (values: number): number => {
    const [whole, rest] = [Math.floor(rows / values), rows % values];
    return (whole * values * (values - 1)) / 2 + (rest * (rest - 1)) / 2;
  };
  const expected = [rows, (rows * (rows - 1)) / 2, sumOf(A_VALUES), sumOf(B_VALUES)];
  const [found = []] = await sqlRows(server.url, 'SELECT COUNT(*), SUM(k), SUM(a), SUM(b) FROM joined');
  if (JSON.stringify(found.map(Number)) !== JSON.stringify(expected)) throw new Error(`found ${found}, expected ${expected}`);
  console.log(`${rows} with ${rows} rows: ${figures['seconds'].toFixed(0)} s, ${(rows / figures['seconds']).toFixed(0)} rows/s`);
  console.log(`  tasks, all processes together, at most  ${figures['memoryMegabytes'].toFixed(0)} MiB   goal ${GOAL_MEGABYTES}`);
  console.log(`  on disk meanwhile, at most              ${figures['diskMegabytes'].toFixed(0)} MB`);
  console.log('  counts and sums are those of arithmetic');
} finally {
  progress.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(figures, null, 2));
