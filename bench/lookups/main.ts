import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import { channelName, cityName, pageName, userName, wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { median } from '../harness.js';
import { lookupSettings } from '../lookup-settings.js';
import { processorTime } from '../processor-time.js';
import { callJson, runTask, sqlRows, startDolmen, waitForCount } from '../server.js';

/*
 * npm run bench -- lookups: what loading a lookup takes in this process and how long it holds the event loop, how much memory polls
 * leave, and queries that use a lookup beside plain ones, in turn, over HTTP without caches.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    entries: { type: 'string', default: '1000000' },
    polls: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '7' },
    only: { type: 'string', default: 'channel,city,user,page' },
    forms: { type: 'string', default: '' },
    threads: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const [rows, entries, polls, rounds] = [flags.rows, flags.entries, flags.polls, flags.rounds].map(Number) as [
  number,
  number,
  number,
  number,
];
const PORT_OFFSET = 11_900;
const SLOWDOWN_MAX = 1.3;
/** Words of statements, by what they measure; those with a lookup beside those without it. */
const FORMS: Readonly<Record<string, { readonly plain: string; readonly looked: string }>> = {
  ...Object.fromEntries(
    ['city', 'user', 'page'].flatMap((column) => {
      const looked = `LOOKUP(${column}, 'l')`;
      const [plain, value] = [
        `${column} = '${column === 'city' ? cityName(3) : column === 'user' ? userName(3) : pageName(3)}'`,
        'value 13',
      ];
      const counted = (condition: string) => `SELECT COUNT(*) FROM wiki WHERE ${condition}`;
      return [
        [`= ${column}`, { plain: counted(plain), looked: counted(`${looked} = '${value}'`) }],
        [
          `IN ${column}`,
          {
            plain: counted(`${column} IN ('amber', '${cityName(9)}', 'b')`),
            looked: counted(`${looked} IN ('value 14', 'value 6000', 'value 200000')`),
          },
        ],
        [`LIKE ${column}`, { plain: counted(`${column} LIKE '%moon%'`), looked: counted(`${looked} LIKE '%77%'`) }],
        [`NULL ${column}`, { plain: counted(`${column} IS NULL`), looked: counted(`${looked} IS NULL`) }],
        [
          `sum = ${column}`,
          {
            plain: `SELECT channel, SUM(added) FROM wiki WHERE ${column} > 'm' GROUP BY 1`,
            looked: `SELECT channel, SUM(added) FROM wiki WHERE ${looked} > 'value 3' GROUP BY 1`,
          },
        ],
        [`retain ${column}`, { plain: top(column), looked: top(`COALESCE(${looked}, ${column})`) }],
        [`missing ${column}`, { plain: top(column), looked: top(`LOOKUP(${column}, 'l', 'none')`) }],
        [`of UPPER ${column}`, { plain: top(`UPPER(${column})`), looked: top(`LOOKUP(UPPER(${column}), 'l')`) }],
        [`UPPER of ${column}`, { plain: top(`UPPER(${column})`), looked: top(`UPPER(${looked})`) }],
        [
          `CASE of ${column}`,
          {
            plain: top(`CASE WHEN ${column} LIKE 'a%' THEN 'a' ELSE 'b' END`),
            looked: top(`CASE WHEN ${looked} LIKE '%1%' THEN 'a' ELSE 'b' END`),
          },
        ],
        [`join ${column}`, { plain: top(column), looked: top('l.v', `wiki LEFT JOIN lookup.l ON wiki.${column} = l.k`) }],
      ];
    }),
  ),
  'two columns': { plain: top(`CONCAT(channel, country)`), looked: top(`LOOKUP(CONCAT(channel, country), 'l')`) },
  number: { plain: top('deleted'), looked: top(`LOOKUP(CAST(deleted AS VARCHAR), 'l')`) },
  'behind a join': {
    plain: top('w.user', `wiki w JOIN (SELECT DISTINCT country FROM wiki LIMIT 100) c ON w.country = c.country`),
    looked: top(`LOOKUP(w.user, 'l')`, `wiki w JOIN (SELECT DISTINCT country FROM wiki LIMIT 100) c ON w.country = c.country`),
  },
  'FROM lookup': { plain: 'SELECT COUNT(*) FROM wiki', looked: `SELECT COUNT(*) FROM lookup.l WHERE v LIKE '%77%'` },
  'join, its value filtered': {
    plain: `SELECT COUNT(*) FROM wiki WHERE user LIKE '%moon%'`,
    looked: `SELECT COUNT(*) FROM wiki JOIN lookup.l ON wiki.user = l.k WHERE l.v LIKE '%77%'`,
  },
};

function top(key: string, from = 'wiki'): string {
  return `SELECT ${key}, SUM(added) FROM ${from} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`;
}

const CONTEXT = { useCache: false, populateCache: false, useResultLevelCache: false, populateResultLevelCache: false };

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-'));
const input = path.join(folder, 'input');
mkdirSync(input);
const figures: Record<string, unknown> = {};
try {
  const names = [channelName, cityName, userName, pageName];
  const lines = Array.from({ length: entries }, (_, entry) => {
    // Every name of the columns below is a key, most keys are pages.
    const name = entry < 10 ? names[0] : entry < 5010 ? names[1] : entry < 105_010 ? names[2] : names[3];
    const base = entry < 10 ? 0 : entry < 5010 ? 10 : entry < 105_010 ? 5010 : 105_010;
    return `"${name?.(entry - base)}","value ${entry}"`;
  });
  const file = path.join(input, 'lookup.csv');
  writeFileSync(file, `${lines.join('\n')}\n`);
  await load(file);
  await poll();
  await ask(file);
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function specOf(file: string, more: object = {}) {
  const namespaceParseSpec = { format: 'csv', columns: ['key', 'value'] };
  const extractionNamespace = { type: 'uri', uri: `file:${file}`, namespaceParseSpec, ...more };
  return { version: 'v1', lookupExtractorFactory: { type: 'cachedNamespace', extractionNamespace } };
}

async function loaded(store: LookupStore): Promise<void> {
  while (store.find('l') === undefined && store.failed()['l'] === undefined) await new Promise((done) => setTimeout(done, 1));
  if (store.failed()['l'] !== undefined) throw new Error(store.failed()['l']);
}

/** Time of one load, and the longest that it keeps a timer waiting. */
async function load(file: string): Promise<void> {
  const store = new LookupStore(lookupSettings({ allowedDirectories: [input] }));
  let [last, longestMs] = [performance.now(), 0];
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }, 1);
  const [began, processor] = [performance.now(), processorTime(process.pid)];
  await store.replace({ l: specOf(file) });
  await loaded(store);
  const [ms, processorMs] = [performance.now() - began, (processorTime(process.pid) - processor) / 1e6];
  clearInterval(timer);
  const { length, packed } = store.table('l');
  const text = readFileSync(file).length - 6 * entries;
  store.close();
  Object.assign(figures, { loadMs: ms, processorMs, longestMs, bytesPerEntry: packed.length / length, textPerEntry: text / length });
  console.log(
    `load of ${length} entries: ${ms.toFixed(0)} ms (${processorMs.toFixed(0)} ms of processor time), longest wait of a timer ${longestMs.toFixed(0)} ms`,
  );
  console.log(
    `memory of an entry: ${(packed.length / length).toFixed(1)} bytes, of which ${(text / length).toFixed(1)} are its key and value`,
  );
}

/** Growth of the process over polls of a file that is another each time. */
async function poll(): Promise<void> {
  const file = path.join(input, 'polled.csv');
  const write = (round: number): void =>
    writeFileSync(file, Array.from({ length: 1000 }, (_, key) => `key ${key},value ${key} ${round}\n`).join(''));
  write(0);
  const store = new LookupStore(lookupSettings({ allowedDirectories: [input] }));
  await store.replace({ l: specOf(file, { pollPeriod: 1 }) });
  await loaded(store);
  const resident: number[] = [];
  for (let seen = 0, before = store.table('l'); seen < polls; ) {
    write(seen + 1);
    while (store.table('l') === before) await new Promise((done) => setTimeout(done, 1));
    before = store.table('l');
    seen++;
    if (seen % Math.ceil(polls / 10) === 0) resident.push(process.memoryUsage().rss / 2 ** 20);
  }
  store.close();
  const half = resident.slice(resident.length / 2);
  figures['residentMiB'] = resident;
  console.log(
    `memory over ${polls} polls that find another file, MiB: ${resident.map((mib) => mib.toFixed(0)).join(' ')}; second half ${(Math.max(...half) - Math.min(...half)).toFixed(0)} apart`,
  );
}

async function ask(file: string): Promise<void> {
  writeWikiCsv(path.join(input, 'wiki.csv'), rows, 1);
  const threads = ['--property', `svc.processing.numThreads=${flags.threads}`];
  const server = await startDolmen({ dataDir: folder, portOffset: PORT_OFFSET, flags: threads });
  try {
    await runTask(server.url, wikiIngestion(input));
    await waitForCount(server.url, 'wiki', rows);
    await callJson('POST', `${server.url}/svc/coordinator/v1/lookups/config/__default/l`, specOf(file));
    const status = `${server.url}/svc/coordinator/v1/lookups/status/__default/l`;
    while (!((await callJson('GET', status)) as { loaded: boolean }).loaded) await new Promise((done) => setTimeout(done, 100));
    for (const [name, { plain, looked }] of Object.entries(FORMS)) {
      if (flags.forms === '' || !new RegExp(flags.forms).test(name)) continue;
      const times: [number[], number[]] = [[], []];
      const first: number[] = [];
      for (let round = -1; round < rounds; round++)
        for (const [at, statement] of [plain, looked].entries()) {
          const began = performance.now();
          try {
            await sqlRows(server.url, statement, CONTEXT);
          } catch (error) {
            console.log(`${name}: ${error}`);
          }
          const ms = performance.now() - began;
          if (round < 0) first.push(ms);
          else times[at]?.push(ms);
        }
      const [a, b] = times.map(median) as [number, number];
      console.log(
        `${name.padEnd(24)} plain ${a.toFixed(1).padStart(8)}  looked up ${b.toFixed(1).padStart(8)}  ${(b / a).toFixed(2)} times; first ${first.map((ms) => ms.toFixed(0)).join(' ')}`,
      );
    }
    const slowdowns: Record<string, number> = {};
    for (const column of flags.only.split(',')) {
      const grouped = (key: string, from = 'wiki'): string =>
        `SELECT ${key}, SUM(added) FROM ${from} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`;
      const statements = {
        plain: grouped(column),
        LOOKUP: grouped(`LOOKUP(${column}, 'l')`),
        join: grouped('l.v', `wiki LEFT JOIN lookup.l ON wiki.${column} = l.k`),
      };
      const times: Record<string, number[]> = {};
      for (let round = -2; round < rounds; round++)
        for (const [name, statement] of Object.entries(statements)) {
          const began = performance.now();
          const answer = await sqlRows(server.url, statement, CONTEXT);
          if (answer.length !== 10) throw new Error(`${statement}: ${answer.length} rows`);
          if (round >= 0) (times[name] ??= []).push(performance.now() - began);
        }
      const [plain, withLookup, join] = ['plain', 'LOOKUP', 'join'].map((name) => median(times[name] ?? [])) as [number, number, number];
      slowdowns[column] = withLookup / plain;
      figures[column] = { plain, withLookup, join };
      console.log(
        `GROUP BY ${column.padEnd(8)} plain ${plain.toFixed(1).padStart(7)} ms   LOOKUP ${withLookup.toFixed(1).padStart(7)} ms, ${(withLookup / plain).toFixed(2)} times (goal ${SLOWDOWN_MAX})   join ${join.toFixed(1).padStart(7)} ms`,
      );
    }
  } finally {
    await server.stop();
  }
}
