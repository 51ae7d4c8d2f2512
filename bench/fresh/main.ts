import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { randomSource } from '../data/random.js';
import { wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { median } from '../harness.js';
import { type LoadFigure, load } from '../http/load.js';
import { startContender } from '../http/start-contender.js';
import { processorTime } from '../processor-time.js';
import { callJson, runTask, startDolmen, waitForCount } from '../server.js';
import { AnswerCheck } from './answer-check.js';
import { constants, knownShapes, type Statements, unknownShapes } from './statements.js';

/**
 * Statements whose text is new each time, from 32 connections, in turn with a bare echo of the same requests. Some of the answers
 * are compared with DuckDB's, over the same rows.
 *   --seconds N (3) --rounds N (5) --connections N (32) --rows N (10000) --json FILE
 */
interface Kind {
  readonly name: string;
  readonly next: Statements;
  /** Least part of the echo's requests per second. */
  readonly wanted: number;
}

interface Figure extends LoadFigure {
  readonly name: string;
  /** Processor time of the server for one request. */
  readonly serverMicroseconds: number;
  /** Requests per second over those of the echo in the same round; null for the echo. */
  readonly ofEcho: number | null;
  readonly wanted: number | null;
}

const ECHO = 'uWebSockets.js JSON echo';
const SEED = 7;
/** Statements whose stages are looked up. */
const PROFILED = 200;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    rows: { type: 'string', default: '10000' },
    'port-offset': { type: 'string', default: '11300' },
    json: { type: 'string' },
  },
});
const random = randomSource(SEED);
const kinds: readonly Kind[] = [
  { name: 'known shape, no table', next: constants(random), wanted: 0.06 },
  { name: 'known shapes', next: knownShapes(random), wanted: 0.06 },
  { name: 'unknown shapes', next: unknownShapes(random), wanted: 0.02 },
];
const rows = Number(values.rows);
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-fresh-'));
const input = path.join(folder, 'input');
mkdirSync(input, { recursive: true });
writeWikiCsv(path.join(input, 'wiki.csv'), rows, 1);
const echo = await startContender('echo');
const dolmen = await startDolmen({ dataDir: folder, portOffset: Number(values['port-offset']) });
const check = await AnswerCheck.over(path.join(input, 'wiki.csv'));
try {
  await runTask(dolmen.url, wikiIngestion(input, 'month'));
  await waitForCount(dolmen.url, 'wiki', rows);
  const figures = await measure();
  const compared = await check.compare();
  print(figures, compared);
  for (const kind of kinds) await printStages(kind);
  if (figures.some(({ ofEcho, wanted }) => ofEcho !== null && wanted !== null && ofEcho < wanted)) process.exitCode = 1;
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ rows, connections: Number(values.connections), figures }, null, 2)}\n`);
} finally {
  echo.stop();
  await dolmen.stop();
  check.close();
  rmSync(folder, { recursive: true });
}

function bodyOf(query: string): string {
  return JSON.stringify({ query, resultFormat: 'array' });
}

/** Rounds over all of them, the order turned every time; the first round does not count. */
async function measure(): Promise<readonly Figure[]> {
  const targets = [
    { name: ECHO, url: `${echo.url}/`, pid: echo.pid, next: knownShapes(random), wanted: null },
    ...kinds.map((kind) => ({ ...kind, url: `${dolmen.url}/svc/v2/sql`, pid: dolmen.child.pid ?? 0 })),
  ];
  const taken = new Map<string, Figure[]>(targets.map(({ name }) => [name, []]));
  for (let round = -1; round < Number(values.rounds); round++) {
    const figures = new Map<string, Figure>();
    for (const { name, url, pid, next, wanted } of round % 2 === 0 ? targets : targets.toReversed()) {
      process.stderr.write(`round ${round + 1}: ${name}\n`);
      const before = processorTime(pid);
      const figure = await load({
        url,
        body: () => bodyOf(next()),
        connections: Number(values.connections),
        seconds: Number(values.seconds),
        ...(name === ECHO ? {} : { onAnswer: (body, answer) => check.add(JSON.parse(body).query, answer) }),
      });
      const serverMicroseconds = (processorTime(pid) - before) / 1000 / figure.requests;
      figures.set(name, { name, ...figure, serverMicroseconds, ofEcho: null, wanted });
    }
    const bare = figures.get(ECHO)?.requestsPerSecond ?? Number.NaN;
    if (round < 0) continue;
    for (const [name, figure] of figures)
      taken.get(name)?.push({ ...figure, ofEcho: name === ECHO ? null : figure.requestsPerSecond / bare });
  }
  return [...taken.values()].flatMap((figures) => {
    const middle = figures.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[figures.length >> 1];
    if (middle === undefined) return [];
    const ofEcho = middle.ofEcho === null ? null : median(figures.map((figure) => figure.ofEcho ?? Number.NaN));
    return [{ ...middle, ofEcho, serverMicroseconds: median(figures.map((figure) => figure.serverMicroseconds)) }];
  });
}

function print(figures: readonly Figure[], compared: number): void {
  for (const { name, requestsPerSecond, p50Ms, p99Ms, serverMicroseconds, clientLoad, ofEcho, wanted } of figures) {
    const columns = [
      name.padEnd(26),
      `${String(requestsPerSecond).padStart(7)} requests/s`,
      `p50 ${p50Ms.toFixed(2)} ms`,
      `p99 ${p99Ms.toFixed(2)} ms`,
      `server ${serverMicroseconds.toFixed(1)} us each`,
      `client ${(clientLoad * 100).toFixed(0)} % busy`,
      ofEcho === null || wanted === null
        ? ''
        : `${ofEcho.toFixed(4)} of the echo, wanted ${wanted}: ${ofEcho >= wanted ? 'met' : 'MISSED'}`,
    ];
    console.log(columns.join('  '));
  }
  console.log(`${compared} answers are DuckDB's`);
}

/** Stages of answering, by the clock, one statement at a time. */
async function printStages({ name, next }: Kind): Promise<void> {
  const taken = new Map<string, number>();
  for (let count = 0; count < PROFILED; count++) {
    const query = next();
    const response = await fetch(`${dolmen.url}/svc/v2/sql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query, context: { profile: true, sqlQueryId: `profiled-${name}-${count}` } }),
    });
    await response.arrayBuffer();
    const profile = (await callJson('GET', `${dolmen.url}/svc/v2/profile/${encodeURIComponent(`profiled-${name}-${count}`)}`)) as Profile;
    const add = (stage: string, milliseconds: number): unknown => taken.set(stage, (taken.get(stage) ?? 0) + milliseconds);
    add('all', profile.milliseconds);
    for (const { stage, milliseconds } of profile.planning.stages) add(`planning: ${stage}`, milliseconds);
    for (const { stage, milliseconds } of profile.stages) add(stage, milliseconds);
  }
  const stages = [...taken].sort(([, a], [, b]) => b - a).slice(0, 16);
  console.log(`${name}, microseconds: ${stages.map(([stage, sum]) => `${stage} ${Math.round((sum / PROFILED) * 1000)}`).join(', ')}`);
}

interface Profile {
  readonly milliseconds: number;
  readonly planning: { readonly stages: readonly Stage[] };
  readonly stages: readonly Stage[];
}

interface Stage {
  readonly stage: string;
  readonly milliseconds: number;
}
