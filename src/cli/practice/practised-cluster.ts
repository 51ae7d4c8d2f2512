// A Broker and a Historical over the practice table, in this process, which nobody else sees.

import { mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { Broker, type BrokerOptions } from '../../cluster/broker/broker.js';
import { QueryScheduler } from '../../cluster/broker/query-scheduler.js';
import { FrameCache } from '../../cluster/frame-cache.js';
import { Historical } from '../../cluster/historical/historical.js';
import { RunGate } from '../../cluster/historical/run-gate.js';
import { SegmentResults } from '../../cluster/historical/segment-results.js';
import type { ConfiguredLookups } from '../../cluster/lookups/configured-lookups.js';
import type { RpcRole, RpcServices } from '../../cluster/rpc/descriptions.js';
import type { CoordinatorService } from '../../cluster/rpc/services.js';
import type { Engine } from '../../execution/run/engine.js';
import { createEngine, type ProcessingEngine } from '../../execution/run/local-engine.js';
import { type SegmentDescriptor, segmentColumns } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import type { Route } from '../../server/http.types.js';
import type { PlanThread } from '../../server/planning/plan-thread.js';
import { QueryLog } from '../../server/queries/query-log.js';
import { SqlStatements } from '../../server/queries/sql-statements.js';
import { createQueryIds } from '../../server/query-id.js';
import { nativeRoutes } from '../../server/routes/native.js';
import { sqlRoutes } from '../../server/routes/sql.js';
import type { SegmentStore } from '../../storage/contract.js';
import { createSegmentStore } from '../../storage/segment-store.js';
import { writeSegment } from '../../storage/segment-writer.js';
import type { Processing } from '../open-processing.js';
import { DAY_MS, DAYS, DIMENSIONS, FIRST_DAY, practiceRows, TABLE } from './practice-rows.js';

export interface PractisedOptions {
  readonly processing: Pick<Processing, 'memory' | 'threads' | 'makeRoom'>;
  readonly kernels: string;
  /** Folder for the segments, which is made and removed. */
  readonly folder: string;
  readonly planThread: PlanThread;
  readonly lookups: Pick<ConfiguredLookups, 'store' | 'report'>;
  /** Lets others have the event loop. */
  pause(): Promise<void>;
}

/** Routes over the practice table. */
export interface PractisedCluster {
  /** Two routes of each path: of an engine that runs all where it is asked, and of one that gives all to the processing threads. */
  readonly routes: readonly (readonly Route[])[];
  close(): Promise<void>;
}

/** Columns of the table that are in memory. */
const CACHE_BYTES = 2 ** 25;
const HOST = 'practice:0';
const TIMEOUT_MS = 10_000;
/** Rows of a morsel: some for each thread. */
const MORSEL_ROWS = 2048;
/** There is nothing to look at again. */
const POLL_MS = 3_600_000;
const RUNS_AT_A_TIME = 4;
/** Bytes of plans that are kept, and of bodies. */
const PLANS_BYTES_MAX = 2 ** 20;

/** Puts together what answers queries as it is put together for users, over a table of its own: without logs, metrics and kept results. */
export async function openPractised(options: PractisedOptions): Promise<PractisedCluster> {
  const { processing, kernels, folder, pause } = options;
  const { memory, threads, makeRoom } = processing;
  const engineOf = (rowsRunInline: number): ProcessingEngine =>
    createEngine({ memory, kernels, threads: threads ?? 0, makeRoom, rowsRunInline, morselRows: MORSEL_ROWS });
  const [here, onThreads] = [engineOf(Infinity), engineOf(0)];
  const store = createSegmentStore({
    memory,
    cacheBytes: CACHE_BYTES,
    openFilesMax: DAYS,
    run: (name, request) => here.runJob(name, request),
  });
  const segments: SegmentDescriptor[] = [];
  const brokers: Broker[] = [];
  const close = async (): Promise<void> => {
    for (const broker of brokers) await broker.stop();
    for (const engine of [here, onThreads]) await engine.close();
    for (const { id } of segments) await store.close(segmentIdText(id));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    mkdirSync(folder, { recursive: true });
    for (let day = 0; day < DAYS; day++) {
      segments.push(await openDay(day, folder, store));
      await pause();
    }
    const routes: (readonly Route[])[] = [];
    for (const engine of [here, onThreads]) {
      const broker = await brokerOver(options, { engine, store, segments });
      brokers.push(broker);
      routes.push(routesOf(broker, options.planThread));
    }
    return { routes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Writes the segment of a day, and opens it. */
async function openDay(day: number, folder: string, store: SegmentStore): Promise<SegmentDescriptor> {
  const file = path.join(folder, `${day}.segment`);
  const start = FIRST_DAY + day * DAY_MS;
  const written = await writeSegment(file, {
    frame: practiceRows(day),
    dimensions: DIMENSIONS,
    metrics: [],
    aggregators: null,
    timestampSpec: null,
    queryGranularity: null,
    rollup: false,
  });
  const descriptor: SegmentDescriptor = {
    id: { dataSource: TABLE, interval: { start, end: start + DAY_MS }, version: new Date(FIRST_DAY).toISOString(), partitionNumber: 0 },
    shardSpec: { type: 'numbered', partitionNum: 0, partitions: 1 },
    loadSpec: { type: 'local', path: file },
    sizeBytes: statSync(file).size,
    rowCount: written.rowCount,
    dimensions: DIMENSIONS,
    metrics: [],
    ...segmentColumns(written.columns),
  };
  await store.open(file, descriptor);
  return descriptor;
}

/** A Broker that knows one Historical, which serves all segments. */
async function brokerOver(
  { lookups }: PractisedOptions,
  { engine, store, segments }: { readonly engine: Engine; readonly store: SegmentStore; readonly segments: readonly SegmentDescriptor[] },
): Promise<Broker> {
  const historical = new Historical({
    host: HOST,
    tier: TABLE,
    priority: 0,
    maxSizeBytes: Number.MAX_SAFE_INTEGER,
    segments: {
      recovered: Promise.resolve({ served: segments, failed: [] }),
      fetch: async () => undefined,
      remove: async () => undefined,
      stop: () => undefined,
    },
    store,
    engine,
    results: new SegmentResults({ frames: new FrameCache(0), reads: false, writes: false }),
    gate: new RunGate(RUNS_AT_A_TIME, RUNS_AT_A_TIME),
    lookups,
    loadsAtATime: 1,
    dropDelayMs: 0,
    session: TABLE,
    onChange: () => undefined,
    log: () => undefined,
  });
  await historical.start();
  const broker = new Broker({
    engine,
    peers: peersOf(historical, segments),
    retries: 0,
    exactSums: false,
    gatherBytesMax: null,
    heldBytesMax: Infinity,
    results: null,
    lookups: { ...lookups, known: async () => undefined },
    pollMs: POLL_MS,
    now: Date.now,
    log: () => undefined,
  });
  await broker.start();
  return broker;
}

/** The Historical alone, and a Coordinator that tells of its segments. */
function peersOf(historical: Historical, segments: readonly SegmentDescriptor[]): BrokerOptions['peers'] {
  const coordinator: Pick<CoordinatorService, 'snapshotAfter'> = {
    snapshotAfter: async (revision) => (revision === null ? { revision: 1, segments } : null),
  };
  const of = (role: RpcRole): object | undefined => (role === 'historical' ? historical : role === 'coordinator' ? coordinator : undefined);
  const found = <Role extends RpcRole>(role: Role): RpcServices[Role] => {
    const service = of(role);
    if (service === undefined) throw new ServiceError('internal', `practice has no ${role}`);
    // The Broker asks a Coordinator for snapshots alone as long as it is asked for rows.
    return service as RpcServices[Role];
  };
  return {
    all: (role) => (role === 'historical' ? [{ host: HOST, session: TABLE, service: found(role) }] : []),
    at: found,
    leading: found,
    isHere: () => true,
  };
}

function routesOf(broker: Broker, planThread: PlanThread): readonly Route[] {
  const options = {
    planThread,
    now: Date.now,
    newQueryId: createQueryIds(),
    defaultTimeoutMs: TIMEOUT_MS,
    maxTimeoutMs: TIMEOUT_MS,
    scheduler: new QueryScheduler({ capacity: null, laning: { strategy: 'none' }, thresholds: null, now: Date.now, segmentsOf: () => [] }),
    log: new QueryLog({ kept: 1, now: Date.now }),
  };
  const statements = new SqlStatements(broker, {
    ...options,
    plansBytesMax: PLANS_BYTES_MAX,
    lookups: () => [],
    systemRows: () => Promise.reject(new ServiceError('internal', 'practice has no tables of the system')),
  });
  const overlord = (): never => {
    throw new ServiceError('internal', 'practice has no overlord');
  };
  return [...sqlRoutes(statements, { overlord, results: null, bodiesBytesMax: PLANS_BYTES_MAX }), ...nativeRoutes(broker, options)];
}
