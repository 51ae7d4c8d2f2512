import { setTimeout as wait } from 'node:timers/promises';
import { Broker } from '../../src/cluster/broker/broker.js';
import { Coordinator } from '../../src/cluster/coordinator/coordinator.js';
import { Historical } from '../../src/cluster/historical/historical.js';
import { type Peers, TASK_ROLE } from '../../src/cluster/rpc/peers.js';
import { StorageOwner } from '../../src/cluster/storage-owner.js';
import type { Engine } from '../../src/execution/run/engine.js';
import type { Database } from '../../src/metadata/database.js';
import { takeLease } from '../../src/metadata/leadership.js';
import { releaseLocks } from '../../src/metadata/locks.js';
import { publishSegments } from '../../src/metadata/publish.js';
import { bumpRevision, insertSegments } from '../../src/metadata/segments.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { SegmentStore } from '../../src/storage/contract.js';
import { memoryStorage, scanPlan, segmentOf } from '../../test/cluster/fakes.js';
import { openMetadata, pushed, runningTask } from '../../test/metadata/fixture.js';
import { heldLookups } from '../lookup-settings.js';
import { LoopStretch } from './loop-stretch.js';

const HOUR = 3_600_000;
const ROWS_INSERTED_AT_A_TIME = 5000;

export interface KnownSegments {
  /** Longest stretches on the event loop, in milliseconds: while all became known, and while one more did. */
  readonly longestOfAll: number;
  readonly longestOfOne: number;
  /** Processor time of one more, in milliseconds. */
  readonly processorMs: number;
}

/**
 * Segments that metadata knows and no file has, in this process: a Coordinator, a historical that loads nothing, a Broker. One more is
 * published, loaded and queried together with all the others.
 */
export async function measureKnown(count: number): Promise<KnownSegments> {
  const { database, close } = await openMetadata();
  for (let from = 0; from < count; from += ROWS_INSERTED_AT_A_TIME) {
    const segments = Array.from({ length: Math.min(ROWS_INSERTED_AT_A_TIME, count - from) }, (_, at) => hourly(from + at));
    await database.transaction(async (queries) => insertSegments(queries, segments, 0, await bumpRevision(queries)));
  }
  const roles = openRoles(database);
  const stretch = new LoopStretch();
  const leader = await takeLease(database, { role: 'coordinator', host: 'c', heldEpoch: null, nowMs: Date.now(), leaseMs: 3_600_000 });
  await roles.coordinator.gained({ role: 'coordinator', epoch: leader.epoch });
  while ((await roles.historical.inventory()).segmentIds.length < count) await wait(100);
  await roles.broker.start();
  await seen(roles.broker, count);
  const longestOfAll = stretch.end();

  await wait(500);
  const one = new LoopStretch();
  const began = process.cpuUsage();
  await publishOne(database, count);
  await roles.coordinator.wake();
  await roles.broker.wake();
  await seen(roles.broker, count + 1);
  const { user, system } = process.cpuUsage(began);
  const longestOfOne = one.end();
  await roles.broker.stop();
  await roles.coordinator.lost();
  roles.historical.stop();
  await close();
  return { longestOfAll, longestOfOne, processorMs: (user + system) / 1000 };
}

/** Waits until a query reads so many segments. */
async function seen(broker: Broker, count: number): Promise<void> {
  for (let query = 0; ; query++) {
    let segments = 0;
    const options = {
      queryId: `q${query}`,
      deadlineMs: Date.now() + 60_000,
      priority: 0,
      kernels: null,
      signal: new AbortController().signal,
    };
    for await (const frame of broker.run(PLAN, options)) segments += frame.rowCount;
    if (segments === count) return;
    await wait(20);
  }
}

const PLAN: GroupPlan = { ...scanPlan('ds'), operator: 'group', keys: [], aggregators: [], emptyGroup: false };

async function publishOne(database: Database, hour: number): Promise<void> {
  const interval = { start: hour * HOUR, end: (hour + 1) * HOUR };
  await runningTask(database, 'one', 'shared', [interval], 'ds', Date.now());
  const request = { taskId: 'one', dataSource: 'ds', segments: [pushed(interval)], mode: { kind: 'append' } } as const;
  await database.transaction((queries) => publishSegments(queries, request, Date.now()));
  await database.transaction((queries) => releaseLocks(queries, 'one'));
}

function hourly(hour: number): SegmentDescriptor {
  const segment = segmentOf('ds', hour, '2026-01-01T00:00:00.000Z');
  return { ...segment, id: { ...segment.id, interval: { start: hour * HOUR, end: (hour + 1) * HOUR } } };
}

function openRoles(database: Database) {
  const storage = memoryStorage();
  const open = new Set<string>();
  const store: Partial<SegmentStore> = { has: (id) => open.has(id), onDamage: () => undefined };
  const engine: Partial<Engine> = {
    async *run(_plan, _store, segmentIds) {
      yield { rowCount: segmentIds.length, columns: [] };
    },
    async *merge(_plan, partials) {
      for (const partial of partials) yield* partial;
    },
  };
  const wake = (): void => {
    void coordinator.wake();
    void broker.wake();
  };
  const facts = { host: 'h', tier: '_default_tier', priority: 0, maxSizeBytes: 1e12 };
  const historical = new Historical({
    ...facts,
    // Nothing is read: the parts of the historical that the measured ones do not use are left out.
    segments: {
      recovered: Promise.resolve({ served: [], failed: [] }),
      fetch: async ({ id }: SegmentDescriptor) => void open.add(segmentIdText(id)),
      stop: () => undefined,
    } as never,
    store: store as SegmentStore,
    engine: engine as Engine,
    results: { serves: () => false } as never,
    gate: { through: (frames: AsyncIterable<unknown>) => frames } as never,
    lookups: heldLookups(),
    loadsAtATime: 4,
    dropDelayMs: 0,
    session: 's',
    onChange: wake,
    log: console.error,
  });
  const options = { now: Date.now, log: console.error };
  const peers = {
    all: (role: string) => (role === TASK_ROLE ? [] : [{ host: 'h', session: 's', service: role === 'historical' ? historical : broker }]),
    at: () => historical,
    isHere: () => true,
    leading: () => coordinator,
  } as unknown as Peers;
  const coordinator = new Coordinator({
    ...options,
    database,
    storage,
    owner: new StorageOwner(storage),
    peers,
    periodMs: 1000,
    cleanupPeriodMs: 3_600_000,
    orphanAgeMs: 3_600_000,
    loadRetryMs: 1000,
    compactionPeriodMs: 3_600_000,
    kill: null,
    oldRecords: { lookMs: 3_600_000, audit: null, rules: null, compaction: null },
    readTask: async () => {
      throw new Error('no task is submitted here');
    },
  });
  const broker = new Broker({
    ...options,
    engine: engine as Engine,
    peers,
    retries: 1,
    exactSums: false,
    results: null,
    gatherBytesMax: null,
    heldBytesMax: Infinity,
    lookups: heldLookups(),
    pollMs: 1000,
  });
  return { coordinator, broker, historical };
}
