import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CLUSTER_KEY_HEADER } from '../../src/cluster/rpc/message.js';
import { openDatabase } from '../../src/metadata/open-database.js';
import { findConfig } from '../../src/metadata/settings.js';
import type { Plan } from '../../src/model/plan.js';
import { planNative } from '../../src/planner/native/plan-native.js';
import { csvIngestion } from '../data/csv.js';
import { median } from '../harness.js';
import { processorTime } from '../processor-time.js';
import { callJson, type DolmenProcess, runTask, startDolmen } from '../server.js';
import { DAY_MS, DAYS, type Question, questions, START, type Table, writeTable } from './questions.js';
import { type Wire, wireOf } from './wire.js';

/*
 * npm run bench -- scatter: the same questions over 1, 2 and 4 Historicals, each a process, as the Broker is: processor time of the Broker
 * and of the Historicals for a question, and what travels between them, beside the same rows as JSON. Answers must be those of arithmetic.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '9' },
    only: { type: 'string', default: '1,2,4' },
    json: { type: 'string' },
  },
});
const rounds = Number(flags.rounds);
const table: Table = { rows: Number(flags.rows), groups: Number(flags.rows) / 20 };
const counts = flags.only.split(',').map(Number);
const PORT_OFFSET = 25_300;
const CONTEXT = { useCache: false, populateCache: false, useResultLevelCache: false, populateResultLevelCache: false };
const coordinatorUrl = `http://127.0.0.1:${8081 + PORT_OFFSET}`;
const brokerUrl = `http://127.0.0.1:${8082 + PORT_OFFSET}`;

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-scatter-'));
const input = path.join(folder, 'input');
mkdirSync(input);
writeTable(path.join(input, 'rows.csv'), table);

interface Figure extends Wire {
  readonly question: string;
  readonly historicals: number;
  /** Milliseconds of processor time, and by the clock. */
  readonly brokerMs: number;
  readonly historicalsMs: number;
  readonly clockMs: number;
}

const figures: Figure[] = [];
const processes: DolmenProcess[] = [];
try {
  await start(['coordinator', 'overlord', 'middleManager'], 0);
  const broker = await start(['broker'], 0);
  const dimensions = ['k', { type: 'long', name: 'v' }];
  await runTask(coordinatorUrl, csvIngestion({ folder: input, file: 'rows.csv', dataSource: 't', dimensions, segmentGranularity: 'day' }));
  let next = 0;
  for (const count of counts) {
    const numbers = Array.from({ length: count }, () => next++);
    await callJson('POST', `${coordinatorUrl}/svc/coordinator/v1/rules/t`, numbers.map(ruleFor));
    const historicals = await Promise.all(numbers.map((number) => start(['historical'], number)));
    const hosts = numbers.map((number) => `127.0.0.1:${8083 + PORT_OFFSET + number}`);
    await spread(hosts);
    for (const question of questions(table)) figures.push(await measure(question, { broker, historicals, hosts }));
    for (const each of historicals) {
      processes.splice(processes.indexOf(each), 1);
      await each.stop();
    }
  }
} finally {
  for (const each of processes.reverse()) await each.stop();
  rmSync(folder, { recursive: true, force: true });
}
print();
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify({ ...table, figures }, null, 2));

/** Processes share metadata and deep storage; the ports of a further Historical are those behind the ones of the first. */
async function start(roles: readonly string[], number: number): Promise<DolmenProcess> {
  const shared = [
    `svc.metadata.file=${path.join(folder, 'metadata.sqlite')}`,
    `svc.storage.directory=${path.join(folder, 'deep-storage')}`,
    `svc.ingestion.local.allowedDirectories=${JSON.stringify([input])}`,
    'svc.processing.numThreads=1',
    'svc.coordinator.period.indexingPeriod=1000',
    `svc.server.tier=${tierOf(number)}`,
  ];
  const started = await startDolmen({
    dataDir: path.join(folder, `${roles[0]}${number}`),
    portOffset: PORT_OFFSET + number,
    flags: ['--roles', roles.join(','), ...shared.flatMap((each) => ['--property', each])],
  });
  processes.push(started);
  return started;
}

/** Days, as many for each Historical, which has a tier of its own: where each lies is known at once. */
function ruleFor(number: number, place: number, { length }: readonly number[]): unknown {
  const dayAt = (at: number): string => new Date(START + Math.floor((at * DAYS) / length) * DAY_MS).toISOString();
  return { type: 'loadByInterval', interval: `${dayAt(place)}/${dayAt(place + 1)}`, tieredReplicants: { [tierOf(number)]: 1 } };
}

function tierOf(number: number): string {
  return `tier${number}`;
}

/** Waits until the segments lie on all Historicals, about as many on each, and the Broker knows it. */
async function spread(hosts: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    await wait(200);
    const placed = await placesOfSegments().catch(() => []);
    const on = hosts.map((host) => placed.filter((each) => each === host).length);
    if (placed.length > 0 && Math.max(...on) - Math.min(...on) <= 1 && on.reduce((sum, own) => sum + own, 0) === placed.length) return;
  }
  throw new Error('the segments never lay on all Historicals');
}

/** Host of each segment, by the Broker. */
async function placesOfSegments(): Promise<readonly string[]> {
  const interval = encodeURIComponent('2026-01-01/2027-01-01');
  const found = (await callJson('GET', `${brokerUrl}/svc/v2/datasources/t/candidates?intervals=${interval}`)) as readonly {
    readonly locations: readonly { readonly host: string }[];
  }[];
  return found.flatMap(({ locations }) => (locations.length === 1 ? locations.map(({ host }) => host) : []));
}

async function measure(
  { name, query, isRight }: Question,
  { broker, historicals, hosts }: { broker: DolmenProcess; historicals: readonly DolmenProcess[]; hosts: readonly string[] },
): Promise<Figure> {
  const [ofBroker, ofHistoricals, byClock]: [number[], number[], number[]] = [[], [], []];
  const used = (each: DolmenProcess): number => processorTime(each.child.pid ?? 0) / 1e6;
  const all = (): number => historicals.reduce((sum, each) => sum + used(each), 0);
  // Timings hold this event loop: connections that were closed meanwhile are told of now.
  await wait(100);
  for (let round = -3; round < rounds; round++) {
    const [brokerBefore, historicalsBefore, before] = [used(broker), all(), performance.now()];
    const answer = await callJson('POST', `${brokerUrl}/svc/v2`, { ...query, context: CONTEXT }, { 'accept-encoding': 'identity' });
    const clockMs = performance.now() - before;
    const [brokerMs, historicalsMs] = [used(broker) - brokerBefore, all() - historicalsBefore];
    if (!isRight(answer)) throw new Error(`${name} over ${historicals.length} Historicals: ${JSON.stringify(answer).slice(0, 300)}`);
    if (round < 0) continue;
    ofBroker.push(brokerMs);
    ofHistoricals.push(historicalsMs);
    byClock.push(clockMs);
  }
  const wire = await wireOf(planOf(query), hosts, { [CLUSTER_KEY_HEADER]: await clusterKey() }, rounds);
  const medians = { brokerMs: median(ofBroker), historicalsMs: median(ofHistoricals), clockMs: median(byClock) };
  return { question: name, historicals: historicals.length, ...medians, ...wire };
}

function planOf(query: Question['query']): Plan {
  const columns = [
    { name: '__time', type: 'LONG' as const, multiValue: false, hasNulls: false },
    { name: 'k', type: 'STRING' as const, multiValue: false, hasNulls: false },
    { name: 'v', type: 'LONG' as const, multiValue: false, hasNulls: false },
  ];
  const interval = { start: Date.UTC(2026, 0, 1), end: Date.UTC(2027, 0, 1) };
  const known = { name: 't', columns, mixed: new Set<string>(), rowCount: table.rows, interval };
  const [plan] = planNative(query, false, { table: (name) => (name === 't' ? known : undefined) }).plans;
  if (plan === undefined) throw new Error('there is a plan');
  return plan;
}

async function clusterKey(): Promise<string> {
  const database = await openDatabase({ type: 'sqlite', file: path.join(folder, 'metadata.sqlite') });
  try {
    return (await findConfig(database, 'clusterKey')) ?? '';
  } finally {
    await database.close();
  }
}

function print(): void {
  console.log(`\n${table.rows} rows, milliseconds of processor time for a question, bytes between Historicals and Broker\n`);
  console.log('question      Historicals   Broker  Historicals   clock     typed MB  pack  unpack      JSON MB  pack  unpack');
  for (const each of figures) {
    const cells: readonly (readonly [number, number, number])[] = [
      [each.historicals, 12, 0],
      [each.brokerMs, 9, 1],
      [each.historicalsMs, 13, 1],
      [each.clockMs, 8, 1],
      [each.bytes / 1e6, 13, 3],
      [each.packMs, 6, 1],
      [each.unpackMs, 8, 1],
      [each.jsonBytes / 1e6, 13, 3],
      [each.jsonPackMs, 6, 1],
      [each.jsonUnpackMs, 8, 1],
    ];
    console.log(each.question.padEnd(13) + cells.map(([value, width, digits]) => value.toFixed(digits).padStart(width)).join(''));
  }
}
