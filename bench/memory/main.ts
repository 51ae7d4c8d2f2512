import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { runTask, startDolmen, waitForCount } from '../server.js';

/**
 * Growth of a process while it answers questions with very many groups: resident memory (Linux only) above its level once the
 * columns were loaded, the whole answer read as fast as it comes. Every row of the table must be counted.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    only: { type: 'string' },
    data: { type: 'string' },
    json: { type: 'string' },
  },
});
const PORT_OFFSET = 11_800;
const GROUP_BYTES = '64MiB';
const MEBIBYTE = 2 ** 20;
const TIMEOUT_MS = 1_800_000;

interface Question {
  readonly id: string;
  readonly path: string;
  readonly body: object;
  /** The rows of the table that the answer accounts for. */
  readonly counted: (lines: AsyncIterable<string>) => Promise<number>;
}

const context = { useCache: false, populateCache: false, timeout: TIMEOUT_MS };
const all = (...keys: string[]): Omit<Question, 'id'> => ({
  path: '/svc/v2/sql',
  body: {
    query: `SELECT ${keys.join(', ')}, COUNT(*) AS n FROM wiki GROUP BY ${keys.join(', ')} ORDER BY n DESC`,
    resultFormat: 'csv',
    context,
  },
  counted: async (lines) => {
    let sum = 0;
    for await (const line of lines) sum += Number(line.slice(line.lastIndexOf(',') + 1));
    return sum;
  },
});
const leaf = { dataSource: 'wiki', granularity: 'all', intervals: ['1000/3000'], context };
const inner = { ...leaf, queryType: 'groupBy', dimensions: ['user', 'page'], aggregations: [{ type: 'count', name: 'n' }] };
const QUESTIONS: readonly Question[] = [
  { id: 'pages_sorted', ...all('"page"') },
  { id: 'pairs_sorted', ...all('"user"', '"page"') },
  {
    id: 'nested',
    path: '/svc/v2',
    body: {
      ...leaf,
      queryType: 'timeseries',
      dataSource: { type: 'query', query: inner },
      aggregations: [{ type: 'longSum', name: 'n', fieldName: 'n' }],
    },
    counted: async (lines) => {
      let text = '';
      for await (const line of lines) text += line;
      return Number(/"n":(\d+)/.exec(text)?.[1]);
    },
  },
];

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-'));
try {
  if (values.data === undefined) await load(folder, Number(values.rows));
  else cpSync(values.data, folder, { recursive: true });
  const flags = ['--property', `svc.query.groupBy.maxMemoryBytes=${GROUP_BYTES}`];
  const server = await startDolmen({ dataDir: folder, portOffset: PORT_OFFSET, flags });
  try {
    const pid = server.child.pid ?? 0;
    const rows = await waitForRows(server.url);
    const figures = [];
    for (const question of QUESTIONS.filter(({ id }) => values.only === undefined || values.only.split(',').includes(id))) {
      await ask(server.url, warmed(question));
      figures.push(await measure(server.url, pid, question, rows));
    }
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows, figures }, null, 2)}\n`);
  } finally {
    await server.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The columns of a question, loaded by one that gives a single row. */
function warmed(question: Question): Question {
  const query = `SELECT COUNT(DISTINCT "page"), COUNT(DISTINCT "user") FROM wiki`;
  return { ...question, path: '/svc/v2/sql', body: { query, resultFormat: 'csv', context } };
}

async function load(into: string, rows: number): Promise<void> {
  const input = path.join(into, 'input');
  mkdirSync(input, { recursive: true });
  writeWikiCsv(path.join(input, 'wiki.csv'), rows, 1);
  const server = await startDolmen({ dataDir: into, portOffset: PORT_OFFSET });
  try {
    await runTask(server.url, wikiIngestion(input));
    await waitForCount(server.url, 'wiki', rows);
  } finally {
    await server.stop();
  }
}

async function firstNumber(lines: AsyncIterable<string>): Promise<number> {
  for await (const line of lines) return Number(line);
  return 0;
}

/** A data folder says by itself how many there are. */
async function waitForRows(url: string): Promise<number> {
  for (let same = 0, last = 0; ; ) {
    const body = { query: 'SELECT COUNT(*) FROM wiki', resultFormat: 'csv' };
    const found = await ask(url, { id: '', path: '/svc/v2/sql', body, counted: firstNumber }).catch(() => 0);
    same = found === last && found > 0 ? same + 1 : 0;
    if (same === 3) return found;
    last = found;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function measure(
  url: string,
  pid: number,
  question: Question,
  rows: number,
): Promise<{ id: string; milliseconds: number; grownBytes: number }> {
  const before = residentBytes(pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, 100);
  const began = performance.now();
  try {
    const counted = await ask(url, question);
    if (counted !== rows) throw new Error(`${question.id}: ${counted} of ${rows} rows were counted`);
  } finally {
    clearInterval(timer);
  }
  const milliseconds = performance.now() - began;
  const figure = { id: question.id, milliseconds, grownBytes: most - before };
  const mebibytes = Math.round(figure.grownBytes / MEBIBYTE);
  console.log(`${question.id.padEnd(16)} ${(milliseconds / 1000).toFixed(1).padStart(8)} s   grew by ${String(mebibytes).padStart(6)} MiB`);
  return figure;
}

/** `fetch` gives up on answers that take longer than five minutes to begin. */
function ask(url: string, { path: route, body, counted }: Question): Promise<number> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const request = http.request(new URL(route, url), { method: 'POST', headers, timeout: TIMEOUT_MS }, (response) => {
      if (response.statusCode === 200) counted(linesOf(response)).then(resolve, reject);
      else reject(new Error(`HTTP ${response.statusCode}`));
    });
    request.on('error', reject);
    request.end(text);
  });
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function residentBytes(pid: number): number {
  const [, kibibytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
