import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { HOURLY_ROWS, hourlyIngestion, writeHourlyCsv } from '../data/hourly.js';
import { processorTime } from '../processor-time.js';
import { runTask, sqlRows, startDolmen, waitForCount } from '../server.js';
import { measureKnown } from './known.js';

/*
 * npm run bench -- publish: hourly segments of 20 rows, made by one task, published, assigned, loaded, announced and seen by the broker:
 * milliseconds of processor time a segment in all processes together, of the first thousand that were loaded and of the last; then one
 * segment more: processor time, and the longest that anything ran in one piece on the event loop; and one more than very many that are
 * known by their metadata alone. Goals: 3 ms, as cheap, 50 ms.
 */
const { values: flags } = parseArgs({
  options: {
    segments: { type: 'string', default: '26304' },
    known: { type: 'string', default: '100000' },
    json: { type: 'string' },
  },
});
const segments = Number(flags.segments);
/** Loads whose processor time is compared. */
const SPAN = Math.min(1000, segments >> 2);
const LATE_MS = 4;

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-publish-'));
const [dataDir, input, logFile] = [path.join(folder, 'data'), path.join(folder, 'data', 'input'), path.join(folder, 'dolmen.log')];
mkdirSync(input, { recursive: true });
writeHourlyCsv(path.join(input, 'rows.csv'), 0, segments);
const properties = [`svc.server.eventLoop.lateTime=${LATE_MS}`, `svc.log.file=${logFile}`, 'svc.processing.numThreads=1'];
const server = await startDolmen({ dataDir, portOffset: 12_500, flags: properties.flatMap((each) => ['--property', each]) });
const figures: Record<string, number> = { segments };
try {
  const { pid } = server.child;
  if (pid === undefined) throw new Error('the server has no process');
  const used = (): number => processorTime(pid) / 1e6;
  const began = used();
  const looked = watchLoads(used);
  await runTask(server.url, hourlyIngestion(input, 'rows.csv'));
  await loaded(segments);
  await waitForCount(server.url, 't', segments * HOURLY_ROWS);
  const loads = looked.end();
  const serverMs = used() - began;
  const taskMs = childrenTime(pid);
  figures['server'] = serverMs / segments;
  figures['task'] = taskMs / segments;
  figures['together'] = figures['server'] + figures['task'];
  figures['firstLoads'] = timeBetween(loads, 0, SPAN);
  figures['lastLoads'] = timeBetween(loads, segments - SPAN, segments);
  figures['longestWhileLoading'] = longestStretch(0);
  console.log(`${segments} hourly segments of ${HOURLY_ROWS} rows, milliseconds of processor time a segment:`);
  console.log(`  all processes ${text('together')}: task process ${text('task')}, server ${text('server')} (wanted: 3)`);
  console.log(`  loads: first ${SPAN} ${text('firstLoads')}, last ${SPAN} ${text('lastLoads')} (wanted: as cheap)`);
  console.log(`  longest stretch on the event loop ${text('longestWhileLoading')} ms`);

  const question = 'SELECT a, SUM(n) FROM t GROUP BY 1';
  await sqlRows(server.url, question);
  writeHourlyCsv(path.join(input, 'one.csv'), segments, segments + 1);
  const offset = statSync(logFile).size;
  const before = used();
  await runTask(server.url, hourlyIngestion(input, 'one.csv', true));
  await waitForCount(server.url, 't', (segments + 1) * HOURLY_ROWS);
  await sqlRows(server.url, question);
  await wait(200);
  figures['addOne'] = used() - before;
  figures['longestAtAddOne'] = longestStretch(offset);
  console.log(`  one segment more: ${text('addOne')} ms in the server, longest stretch ${text('longestAtAddOne')} ms (wanted: under 50)`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
const { longestOfAll, longestOfOne, processorMs } = await measureKnown(Number(flags.known));
Object.assign(figures, { known: Number(flags.known), longestOfAll, longestOfOne, addOneToKnown: processorMs });
console.log(`one segment more than ${flags.known} of metadata, and a query of all: ${text('addOneToKnown')} ms of processor time,`);
console.log(`  longest stretch ${text('longestOfOne')} ms (wanted: under 50), ${text('longestOfAll')} while all of them became known`);
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(figures, null, 2));

function text(name: string): string {
  return (figures[name] ?? Number.NaN).toFixed(2);
}

interface Look {
  /** Segments on the historical's disk. */
  readonly loaded: number;
  readonly usedMs: number;
}

/** Waits until so many segments are on the historical's disk, or none has come for a while. */
async function loaded(count: number): Promise<void> {
  let [last, still] = [-1, 0];
  for (let now = countLoaded(); now < count && still < 60; now = countLoaded()) {
    still = now === last ? still + 1 : 0;
    last = now;
    await wait(500);
  }
}

function countLoaded(): number {
  return readdirSync(path.join(dataDir, 'segment-cache', 'info')).filter((name) => name.endsWith('.json')).length;
}

/** Looks at the folder of loaded segments now and then: to ask the server would take its time. */
function watchLoads(used: () => number): { end(): readonly Look[] } {
  const looks: Look[] = [];
  const look = (): void => void looks.push({ loaded: countLoaded(), usedMs: used() });
  const timer = setInterval(look, 250);
  return {
    end: () => {
      clearInterval(timer);
      look();
      return looks;
    },
  };
}

/** Processor time a segment while the loads from one number to another were done, between the looks next to them. */
function timeBetween(looks: readonly Look[], from: number, to: number): number {
  const first = looks.findLast(({ loaded }) => loaded <= from);
  const last = looks.find(({ loaded }) => loaded >= to);
  if (first === undefined || last === undefined) return Number.NaN;
  return (last.usedMs - first.usedMs) / (last.loaded - first.loaded);
}

/** Milliseconds of processor time of ended processes that this one has started (Linux, ticks of 10 ms). */
function childrenTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** From the lines that the watch of the event loop wrote behind an offset of the log. */
function longestStretch(offset: number): number {
  const lines = readFileSync(logFile).subarray(offset).toString().split('\n');
  const late = lines.filter((line) => line.includes('event loop late by')).map((line) => JSON.parse(line) as Record<string, number>);
  return Math.max(0, ...late.map(({ lateMs = 0, busyMs = lateMs }) => Math.min(lateMs, busyMs)));
}
