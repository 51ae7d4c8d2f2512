import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { showProgress } from '../../src/cli/progress-bar.js';
import { migrate } from '../../src/metadata/migrations.js';
import { openDatabase } from '../../src/metadata/open-database.js';
import { bumpRevision, insertSegments } from '../../src/metadata/segments.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { randomSource } from '../data/random.js';
import { median } from '../harness.js';
import { processorTime } from '../processor-time.js';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../server.js';
import { residentBytes, simulateCluster, until } from './cluster.js';
import { segmentRecord, segmentRecords, tableName } from './records.js';

/*
 * npm run bench -- catalogue: a Coordinator and a Broker, each a process, over a metadata store with very many records of segments. The
 * Historicals are simulated by this process: they speak the protocol and have no rows. With --starts: both starts alone.
 */
const { values: flags } = parseArgs({
  options: {
    segments: { type: 'string', default: '500000' },
    datasources: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '5' },
    starts: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const [segments, dataSources, rounds] = [Number(flags.segments), Number(flags.datasources), Number(flags.rounds)];
const SERVERS = 3;
const REPLICAS = 2;
const PORT_OFFSET = 28_700;
const RECORDS_AT_A_TIME = 5000;
/** Stretches on an event loop that are logged. */
const LATE_MS = 15;
/** Processor time of both processes in three seconds of rest, at most: they watch their event loops, and look at each other. */
const RESTING_MS = 1000;
const coordinatorUrl = `http://127.0.0.1:${8081 + PORT_OFFSET}`;
const brokerUrl = `http://127.0.0.1:${8082 + PORT_OFFSET}`;

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-catalogue-'));
const [dataDir, logs] = [path.join(folder, 'data'), path.join(folder, 'logs')];
mkdirSync(path.join(dataDir), { recursive: true });
mkdirSync(logs);
const processes: DolmenProcess[] = [];
const figures: Record<string, number> = {};
const progress = showProgress('catalogue');
let done = 0;
const phase = (name: string): void => progress.update({ phase: name, fraction: done++ / 12, rows: segments, pace: '' });

phase('writing records');
const database = await openDatabase({ type: 'sqlite', file: path.join(dataDir, 'metadata.sqlite') });
await migrate(database);
const cluster = await simulateCluster(database, SERVERS);
let batch: SegmentDescriptor[] = [];
const write = async (): Promise<void> => {
  const now = batch;
  batch = [];
  await database.transaction(async (queries) => insertSegments(queries, now, Date.now(), await bumpRevision(queries)));
};
let written = 0;
for (const segment of segmentRecords(segments, dataSources)) {
  for (let copy = 0; copy < REPLICAS; copy++) cluster.historicals[(written + copy) % SERVERS]?.serve(segment);
  batch.push(segment);
  written++;
  if (batch.length === RECORDS_AT_A_TIME) await write();
}
if (batch.length > 0) await write();
await cluster.announce();

try {
  phase('starting the Coordinator');
  const began = performance.now();
  const coordinator = await start('coordinator');
  // Metrics go over all segments: asked for often, they would be what is measured.
  await until(async () => ((await runsOf()).runs > 0 ? true : undefined), 500);
  figures['coordinatorReadyMs'] = performance.now() - began;
  figures['coordinatorReadyProcessorMs'] = processorTime(pidOf(coordinator)) / 1e6;
  figures['coordinatorFirstRunMs'] = (await runsOf()).lastMs;
  await settled();
  phase('runs of the Coordinator');
  figures['coordinatorRunMs'] = (await runsOf()).lastMs;
  phase('starting the Broker');
  const brokerBegan = performance.now();
  const broker = await start('broker');
  // It listens before it has its first picture, when that takes long.
  await until(async () => {
    const answer = await fetch(`${brokerUrl}/svc/v2/datasources`);
    return answer.ok && ((await answer.json()) as unknown[]).length === dataSources ? true : undefined;
  });
  figures['brokerReadyMs'] = performance.now() - brokerBegan;
  figures['brokerReadyProcessorMs'] = processorTime(pidOf(broker)) / 1e6;
  await settled();
  figures['coordinatorBytes'] = residentBytes(pidOf(coordinator)) / segments;
  figures['brokerBytes'] = residentBytes(pidOf(broker)) / segments;
  figures['coordinatorStretchAtStart'] = longestStretch('coordinator', 0);
  figures['brokerStretchAtStart'] = longestStretch('broker', 0);

  if (!flags.starts) await measureChanges();
} finally {
  // Figures until then, also when something failed.
  progress.stop();
  print();
  for (const each of processes) await each.stop();
  await cluster.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
}
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify({ segments, dataSources, ...figures }, null, 2));

/** Questions, and changes of one thing, with all segments there. */
async function measureChanges(): Promise<void> {
  phase('sys.segments');
  const grouped = 'SELECT datasource, COUNT(*), SUM("size"), SUM(num_rows * num_replicas) FROM sys.segments GROUP BY 1 ORDER BY 1';
  await measured('sysSegments', async () => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      const rows = await sqlRows(brokerUrl, grouped, { useCache: false });
      times.push(performance.now() - started);
      if (round === 0) figures['sysSegmentsFirstMs'] = times[0] ?? 0;
      const counted = rows.reduce((sum, row) => sum + Number(row[1]), 0);
      if (rows.length !== dataSources || counted !== segments)
        throw new Error(`sys.segments: ${rows.length} datasources, ${counted} segments`);
    }
    figures['sysSegmentsMs'] = median(times);
  });

  phase('one segment more');
  const next = randomSource(15);
  const oneMore = segmentRecord(tableName(7), Math.ceil(segments / dataSources), next);
  await measured('one', async () => {
    await database.transaction(async (queries) => insertSegments(queries, [oneMore], Date.now(), await bumpRevision(queries)));
    const started = performance.now();
    cluster.wake();
    await until(async () => {
      const { start: from, end: to } = oneMore.id.interval;
      const interval = `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
      const path = `/svc/v2/datasources/${tableName(7)}/candidates?intervals=${encodeURIComponent(interval)}`;
      return ((await callJson('GET', brokerUrl + path)) as unknown[]).length > 0 ? true : undefined;
    });
    figures['oneMs'] = performance.now() - started;
  });

  phase('rules of one datasource');
  await measured('rule', async () => {
    const { runs: before } = await runsOf();
    await callJson('POST', `${coordinatorUrl}/svc/coordinator/v1/rules/${tableName(9)}`, [
      { type: 'loadForever', tieredReplicants: { _default_tier: 1 } },
    ]);
    const drops = () => cluster.historicals.reduce((sum, historical) => sum + historical.drops, 0);
    const started = performance.now();
    await until(() => (drops() >= Math.floor(segments / dataSources) ? true : undefined));
    figures['ruleMs'] = performance.now() - started;
    figures['ruleRuns'] = (await runsOf()).runs - before;
  });

  phase('routes');
  await measured('loadstatus', async () => {
    const started = performance.now();
    await callJson('GET', `${coordinatorUrl}/svc/coordinator/v1/loadstatus`);
    figures['loadstatusMs'] = performance.now() - started;
  });
  await measured('metadataSegments', async () => {
    const started = performance.now();
    const answer = await fetch(`${coordinatorUrl}/svc/coordinator/v1/metadata/segments`);
    let bytes = 0;
    for await (const chunk of answer.body ?? []) bytes += (chunk as Uint8Array).length;
    if (!answer.ok) throw new Error(`metadata/segments: ${answer.status}`);
    figures['metadataSegmentsMs'] = performance.now() - started;
    figures['metadataSegmentsMegabytes'] = bytes / 1e6;
  });

  phase('compaction');
  await measured('compaction', async () => {
    await callJson('POST', `${coordinatorUrl}/svc/coordinator/v1/config/compaction`, {
      dataSource: tableName(3),
      skipOffsetFromLatest: 'P0D',
    });
    await wait(3000);
  });

  phase('a Historical is lost');
  await measured('lost', async () => {
    const before = cluster.historicals.reduce((sum, { loads }) => sum + loads, 0);
    const missing = cluster.historicals.at(-1)?.segments ?? 0;
    const loads = () => cluster.historicals.reduce((sum, historical) => sum + historical.loads, 0);
    const started = performance.now();
    await cluster.loseOne();
    const pacer = setInterval(
      () => progress.update({ phase: 'a Historical is lost', fraction: (loads() - before) / missing, rows: loads() - before, pace: '' }),
      1000,
    );
    await until(() =>
      cluster.historicals.every((historical) => historical.segments >= segments - segments / dataSources) ? true : undefined,
    );
    clearInterval(pacer);
    figures['lostMs'] = performance.now() - started;
    figures['lostLoads'] = loads() - before;
  });
}

async function start(role: 'coordinator' | 'broker'): Promise<DolmenProcess> {
  const properties = [
    `svc.server.eventLoop.lateTime=${LATE_MS}`,
    `svc.log.file=${logFile(role)}`,
    'svc.processing.numThreads=1',
    'svc.coordinator.period.indexingPeriod=1000',
    `svc.metadata.file=${path.join(dataDir, 'metadata.sqlite')}`,
  ];
  const process_ = await startDolmen({
    dataDir: path.join(folder, role),
    portOffset: PORT_OFFSET,
    flags: ['--roles', role, ...properties.flatMap((each) => ['--property', each])],
  });
  processes.push(process_);
  return process_;
}

function logFile(role: string): string {
  return path.join(logs, `${role}.log`);
}

function pidOf({ child }: DolmenProcess): number {
  if (child.pid === undefined) throw new Error('the server has no process');
  return child.pid;
}

/** Runs of the Coordinator's duties, by its metrics. */
async function runsOf(): Promise<{ readonly runs: number; readonly lastMs: number }> {
  const text = await (await fetch(`${coordinatorUrl}/metrics`)).text();
  const value = (name: string): number => Number(new RegExp(`^\\w+_coordinator_global_${name} (\\S+)`, 'm').exec(text)?.[1] ?? 0);
  return { runs: value('runs'), lastMs: value('time') };
}

/** Waits until the processes do nothing. */
async function settled(): Promise<void> {
  const used = (): number => processes.reduce((sum, each) => sum + processorTime(pidOf(each)), 0) / 1e6;
  for (let before = used(); ; ) {
    await wait(3000);
    const now = used();
    if (now - before < RESTING_MS) return;
    before = now;
  }
}

/** Processor time of both processes and their longest stretches while something is done, and until they rest. */
async function measured(name: string, work: () => Promise<void>): Promise<void> {
  await settled();
  const sizes = ['coordinator', 'broker'].map((role) => statSync(logFile(role)).size);
  const before = processes.map((each) => processorTime(pidOf(each)));
  await work();
  await settled();
  const [ofCoordinator = 0, ofBroker = 0] = processes.map((each, at) => (processorTime(pidOf(each)) - (before[at] ?? 0)) / 1e6);
  figures[`${name}CoordinatorMs`] = ofCoordinator;
  figures[`${name}BrokerMs`] = ofBroker;
  figures[`${name}CoordinatorStretch`] = longestStretch('coordinator', sizes[0] ?? 0);
  figures[`${name}BrokerStretch`] = longestStretch('broker', sizes[1] ?? 0);
}

/** From the lines that the watch of the event loop wrote behind an offset of the log. */
function longestStretch(role: string, offset: number): number {
  const lines = readFileSync(logFile(role)).subarray(offset).toString().split('\n');
  const late = lines.filter((line) => line.includes('event loop late by')).map((line) => JSON.parse(line) as Record<string, number>);
  return Math.max(0, ...late.map(({ lateMs = 0, busyMs = lateMs }) => Math.min(lateMs, busyMs)));
}

function print(): void {
  console.log(`${segments} segments of ${dataSources} datasources, ${REPLICAS} copies each on ${SERVERS} simulated Historicals\n`);
  const line = (name: string, figure: string, unit: string, goal = ''): void => {
    const value = figures[figure];
    if (value !== undefined) console.log(`  ${name.padEnd(52)}${value.toFixed(0).padStart(9)} ${unit.padEnd(6)}${goal}`);
  };
  line('Coordinator, from its start to the end of its first run', 'coordinatorReadyMs', 'ms');
  line('  processor time', 'coordinatorReadyProcessorMs', 'ms');
  line('  the first run, which reads all records', 'coordinatorFirstRunMs', 'ms');
  line('  a later run', 'coordinatorRunMs', 'ms', 'goal 2000');
  line('  resident bytes a segment', 'coordinatorBytes', 'bytes');
  line('Broker, from its start to ready', 'brokerReadyMs', 'ms', 'goal 10000');
  line('  processor time', 'brokerReadyProcessorMs', 'ms');
  line('  resident bytes a segment', 'brokerBytes', 'bytes');
  line('sys.segments by datasource, median', 'sysSegmentsMs', 'ms', 'goal 500');
  line('  the first time', 'sysSegmentsFirstMs', 'ms');
  line('one segment more, until the Broker shows it', 'oneMs', 'ms');
  line('rules of one datasource, until its copies are gone', 'ruleMs', 'ms');
  line('GET loadstatus', 'loadstatusMs', 'ms');
  line('GET metadata/segments', 'metadataSegmentsMs', 'ms');
  line('  megabytes', 'metadataSegmentsMegabytes', 'MB');
  line('a Historical lost, until all has its copies again', 'lostMs', 'ms');
  line('  segments that were loaded', 'lostLoads', '');
  console.log('\n  milliseconds                       processor time      longest stretch on the event loop (one change: goal 50)');
  console.log('                                 Coordinator  Broker  Coordinator  Broker');
  const cells = (name: string): string =>
    ['CoordinatorMs', 'BrokerMs', 'CoordinatorStretch', 'BrokerStretch']
      .map((kind) => (figures[name + kind] ?? Number.NaN).toFixed(0).padStart(10))
      .join('');
  for (const name of ['sysSegments', 'one', 'rule', 'loadstatus', 'metadataSegments', 'compaction', 'lost'])
    if (figures[`${name}BrokerMs`] !== undefined) console.log(`  ${name.padEnd(30)}${cells(name)}`);
  console.log(
    `  ${'both starts'.padEnd(50)}${[figures['coordinatorStretchAtStart'], figures['brokerStretchAtStart']].map((each) => (each ?? 0).toFixed(0).padStart(10)).join('')}`,
  );
}
