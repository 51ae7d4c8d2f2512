// Creates the roles of one process and wires them to each other and to those of other processes.

import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../base/log.js';
import type { Configuration } from '../configuration/configuration.js';
import type { Role } from '../configuration/properties.js';
import type { Engine } from '../execution/run/engine.js';
import { openStreamReader } from '../ingestion/stream/open-reader.js';
import type { Database } from '../metadata/database.js';
import { migrate } from '../metadata/migrations.js';
import { openDatabase } from '../metadata/open-database.js';
import { writeConfigOnce } from '../metadata/settings.js';
import type { Tracer } from '../model/tracing/span.js';
import type { DeepStorage } from '../storage/contract.js';
import { openStorage } from '../storage/deep/open-deep-storage.js';
import { logPlace, resultPlace } from '../storage/deep/storage-places.js';
import { createResultStorage, type ResultStorage } from '../storage/result-storage.js';
import type { IndexedSegmentStore } from '../storage/segment-store.js';
import { type ClusterAccess, openAccess } from './access/access.js';
import { Broker } from './broker/broker.js';
import type { MemberDetails } from './broker/system-tables.js';
import { Coordinator } from './coordinator/coordinator.js';
import { FrameCache } from './frame-cache.js';
import { Historical } from './historical/historical.js';
import type { LocalSegments } from './historical/local-segments.js';
import { RunGate } from './historical/run-gate.js';
import { SegmentResults } from './historical/segment-results.js';
import { ConfiguredLookups } from './lookups/configured-lookups.js';
import { LookupStore } from './lookups/lookup-store.js';
import type { Coordination } from './membership/coordination.js';
import { openCoordination } from './membership/open-membership.js';
import { metadataSettings } from './metadata-settings.js';
import { MiddleManager } from './middlemanager/middle-manager.js';
import { TASK_ENTRY } from './middlemanager/task-entry.js';
import { Overlord } from './overlord/overlord.js';
import type { ReadTask } from './overlord/submission.js';
import { killSettings, oldRecordsSettings, oldTasksSettings } from './retention-settings.js';
import { HttpClient } from './rpc/http-client.js';
import { CLUSTER_KEY_HEADER } from './rpc/message.js';
import { Peers } from './rpc/peers.js';
import { clientTls } from './rpc/tls-material.js';
import { Sampling } from './sampling.js';
import { configuredKinesisAccess, lookupSettings, taskSettings } from './source-settings.js';
import { StorageOwner } from './storage-owner.js';
import { taskServers, wakeReaders } from './task-servers.js';

/** Query processing of this process, shared by its broker and its historical. */
export interface Processing {
  readonly engine: Engine;
  readonly store: IndexedSegmentStore;
  readonly storage: DeepStorage;
  /** Segments on disk of this process's historical; undefined without one. */
  readonly segments: LocalSegments | undefined;
}

export interface ClusterOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  readonly processing: Processing;
  readonly readTask: ReadTask;
  /** Checks a request to the sampler away from the event loop. */
  readonly readSampleLimits: (body: Uint8Array) => Promise<{ readonly timeoutMs: number }>;
  /** Version of the program. */
  readonly version: string;
  /** Told of the work for each query; left out: nobody listens. */
  readonly tracer?: Tracer | undefined;
}

/**
 * The roles of one process, wired to each other and to those of other processes. They do not listen: `server/` makes
 * routes of them, listens, and then calls `start`.
 */
export interface Cluster {
  readonly database: Database;
  readonly coordination: Coordination;
  readonly peers: Peers;
  readonly client: HttpClient;
  /** Shared secret of the cluster's processes; created once, kept in metadata. */
  readonly clusterKey: string;
  readonly access: ClusterAccess;
  /** Kept results of the roles of this process. */
  readonly cache: Pick<FrameCache, 'entries' | 'bytes' | 'hits' | 'misses'>;
  readonly lookups: Pick<ConfiguredLookups, 'store' | 'report'>;
  readonly historical: Historical | undefined;
  readonly broker: Broker | undefined;
  readonly coordinator: Coordinator | undefined;
  readonly overlord: Overlord | undefined;
  readonly sampling: Sampling | undefined;
  readonly middleManager: MiddleManager | undefined;
  hostOf(role: Role): string;
  /** Announces the roles and sets them to work; resolves when each has had its first look at the cluster. */
  start(): Promise<void>;
  /** Withdraws, ends tasks that run here, closes the metadata store. */
  stop(): Promise<void>;
}

export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  const { configuration, log, processing, readTask, version } = options;
  const { storage, segments } = processing;
  const roles = configuration.roles();
  const plays = (role: Role): boolean => roles.includes(role);
  const tls = clientTls(configuration);
  const hostOf = (role: Role): string =>
    `${configuration.get('svc.host')}:${tls === undefined ? configuration.port(role) : configuration.tlsPort(role)}`;
  const logOf = (role: string): ((line: string) => void) => {
    const roleLog = log.with({ role });
    return (line) => roleLog.info(line);
  };
  const now = Date.now;

  const session = randomBytes(8).toString('hex');
  const settings = metadataSettings(configuration, session);
  const database = await openDatabase(settings);
  const [clusterKey, access] = await prepare(configuration, database, log).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  database.faults.onFault((fault) => log.error('a document of the metadata store cannot be read and is set aside', { ...fault }));
  const coordination = openCoordination(configuration, { settings, database, session }, (error) => log.warn('heartbeat failed', { error }));
  const client = new HttpClient({ processHeaders: { [CLUSTER_KEY_HEADER]: clusterKey, ...access.escalator.headers }, tls });
  const peers = new Peers({ client, coordination });

  const owner = new StorageOwner(storage);
  const frames = new FrameCache(configuration.get('svc.cache.sizeInBytes'));

  const lookups = new ConfiguredLookups({
    store: new LookupStore(lookupSettings(configuration, peers, log)),
    tier: configuration.get('svc.lookup.lookupTier'),
    peers,
    pollMs: configuration.get('svc.broker.period'),
    log: logOf('lookups'),
  });
  const historical = segments
    ? new Historical({
        host: hostOf('historical'),
        tier: configuration.get('svc.server.tier'),
        priority: configuration.get('svc.server.priority'),
        maxSizeBytes: configuration.get('svc.server.maxSize'),
        segments,
        store: processing.store,
        engine: processing.engine,
        results: new SegmentResults({
          frames,
          reads: configuration.get('svc.historical.cache.useCache'),
          writes: configuration.get('svc.historical.cache.populateCache'),
        }),
        gate: new RunGate(
          Math.max(1, configuration.get('svc.processing.numThreads')) * RUNS_PER_THREAD,
          configuration.get('svc.historical.queue.maxSize'),
        ),
        lookups,
        loadsAtATime: configuration.get('svc.segmentCache.numLoadingThreads'),
        dropDelayMs: configuration.get('svc.historical.dropDelay'),
        session,
        onChange: () => wakeReaders(peers, coordination),
        tracer: options.tracer,
        runFailed: (run) => log.with({ role: 'historical' }).warn('a run failed', { ...run }),
        log: logOf('historical'),
      })
    : undefined;
  const broker = plays('broker')
    ? new Broker({
        engine: processing.engine,
        peers,
        retries: configuration.get('svc.broker.retryPolicy.numTries'),
        exactSums: configuration.get('svc.query.exactSums'),
        gatherBytesMax: configuration.get('svc.server.http.maxScatterGatherBytes'),
        heldBytesMax: configuration.get('svc.query.maxHeldBytes'),
        results: {
          frames,
          reads: configuration.get('svc.broker.cache.useResultLevelCache'),
          writes: configuration.get('svc.broker.cache.populateResultLevelCache'),
        },
        lookups,
        keep: processing.store.keep,
        pollMs: configuration.get('svc.broker.period'),
        now,
        log: logOf('broker'),
      })
    : undefined;
  const oldTasks = oldTasksSettings(configuration);
  const coordinator = plays('coordinator')
    ? new Coordinator({
        database,
        storage,
        owner,
        peers,
        periodMs: configuration.get('svc.coordinator.period'),
        cleanupPeriodMs: configuration.get('svc.coordinator.kill.orphanPeriod'),
        orphanAgeMs: configuration.get('svc.coordinator.kill.orphanAge'),
        compactionPeriodMs: configuration.get('svc.coordinator.period.indexingPeriod'),
        kill: killSettings(configuration),
        oldRecords: oldRecordsSettings(configuration),
        loadRetryMs: configuration.get('svc.coordinator.load.retry'),
        readTask,
        now,
        log: logOf('coordinator'),
      })
    : undefined;
  const overlord = plays('overlord')
    ? new Overlord({
        database,
        storage,
        owner,
        coordination,
        peers,
        readTask,
        openReader: (source) =>
          openStreamReader(source, {
            allowedVariables: configuration.get('svc.ingestion.passwordVariables'),
            kinesis: configuredKinesisAccess(configuration, peers),
            now,
          }),
        results: resultStorage(configuration),
        resultsRetainMs: configuration.get('svc.msq.intermediate.storage.cleaner.durationToRetain'),
        oldTasks,
        periodMs: OVERLORD_PERIOD_MS,
        queueMax: configuration.get('svc.indexer.queue.maxSize'),
        assignmentTries: configuration.get('svc.indexer.runner.taskAssignmentTries'),
        assignmentTimeoutMs: configuration.get('svc.indexer.runner.taskAssignmentTimeout'),
        lossesMax: configuration.get('svc.indexer.runner.taskLossesMax'),
        now,
        log: logOf('overlord'),
      })
    : undefined;
  const sampling = plays('overlord')
    ? new Sampling({
        peers,
        workDirectory: join(configuration.get('svc.indexer.task.directory'), `samples-${configuration.port('overlord')}`),
        settings: taskSettings(configuration, clusterKey),
        taskEntry: TASK_ENTRY,
        limitsOf: options.readSampleLimits,
        now,
      })
    : undefined;
  const middleManager = plays('middleManager')
    ? new MiddleManager({
        host: hostOf('middleManager'),
        session,
        category: configuration.get('svc.worker.category'),
        capacity: configuration.get('svc.worker.capacity'),
        peers,
        // A folder of its own: several middle managers of one machine may share the configured one.
        workDirectory: join(configuration.get('svc.indexer.task.directory'), String(configuration.port('middleManager'))),
        logDirectory: configuration.get('svc.indexer.logs.directory'),
        logStorage: logStorage(configuration),
        oldTasks,
        publishTimeoutMs: configuration.get('svc.indexer.task.publishTimeout'),
        settings: taskSettings(configuration, clusterKey),
        taskEntry: TASK_ENTRY,
        taskServers: taskServers(peers, coordination, { startedMs: now(), version }, logOf('middleManager')),
        now,
        log: logOf('middleManager'),
      })
    : undefined;

  if (historical !== undefined) peers.offer('historical', hostOf('historical'), historical);
  if (broker !== undefined) peers.offer('broker', hostOf('broker'), broker);
  if (coordinator !== undefined) peers.offer('coordinator', hostOf('coordinator'), coordinator);
  if (overlord !== undefined) peers.offer('overlord', hostOf('overlord'), overlord);
  if (middleManager !== undefined) peers.offer('middleManager', hostOf('middleManager'), middleManager);

  return {
    database,
    coordination,
    peers,
    client,
    clusterKey,
    access,
    cache: frames,
    lookups,
    historical,
    broker,
    coordinator,
    overlord,
    sampling,
    middleManager,
    hostOf,
    async start() {
      access.directory.start();
      const details = {
        startedMs: now(),
        version,
        processors: availableParallelism(),
        memoryBytes: configuration.get('svc.memory.bytes'),
      } satisfies MemberDetails;
      const announce = (role: Role): Promise<void> => coordination.announce(role, hostOf(role), details);
      await middleManager?.start();
      await sampling?.start();
      await Promise.all(roles.filter((role) => role !== 'historical').map(announce));
      await Promise.all([
        coordinator && coordination.campaign('coordinator', hostOf('coordinator'), coordinator),
        overlord && coordination.campaign('overlord', hostOf('overlord'), overlord),
      ]);
      // Nobody hears of the historical before its segments are verified; the others need not wait for that.
      if (historical !== undefined) {
        await historical.start();
        await announce('historical');
        wakeReaders(peers, coordination);
      }
      if (broker !== undefined || historical !== undefined) await lookups.start();
      await broker?.start();
    },
    async stop() {
      access.directory.stop();
      await sampling?.stop();
      await middleManager?.stop();
      await broker?.stop();
      await coordination.close();
      historical?.stop();
      await lookups.stop();
      await client.close();
      await database.close();
    },
  };
}

/** Brings the schema up to date; gives the cluster's key, the one that is there or a new one, and who may call. */
async function prepare(configuration: Configuration, database: Database, log: Log): Promise<[string, ClusterAccess]> {
  await migrate(database);
  const key = await writeConfigOnce(database, 'clusterKey', randomBytes(32).toString('hex'));
  return [key, await openAccess(configuration, database, log.with({ part: 'access' }))];
}

/** Large runs that a Historical has under way for each processing thread: one computes while another reads its columns. */
const RUNS_PER_THREAD = 2;

/** Period of the overlord's look for lost workers and free slots when nothing wakes it. */
const OVERLORD_PERIOD_MS = 500;

/** Storage of the logs of ended tasks; null: they stay in the folder. */
export function logStorage(configuration: Configuration): DeepStorage | null {
  const place = logPlace(configuration);
  return place === null ? null : openStorage(place);
}

/** Durable storage of the results of statements; null: there is none. */
export function resultStorage(configuration: Configuration): ResultStorage | null {
  const place = resultPlace(configuration);
  return place === null ? null : createResultStorage(openStorage(place));
}
