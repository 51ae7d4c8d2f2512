// Processes of a simulated cluster: the real roles over the clock, the network and the store of the simulation.

import { parseJson } from '../../src/base/json.js';
import { Broker } from '../../src/cluster/broker/broker.js';
import { Coordinator } from '../../src/cluster/coordinator/coordinator.js';
import { Historical } from '../../src/cluster/historical/historical.js';
import { RunGate } from '../../src/cluster/historical/run-gate.js';
import type { Candidate } from '../../src/cluster/membership/coordination.js';
import { membershipOver } from '../../src/cluster/membership/membership-store.js';
import { StoredCoordination } from '../../src/cluster/membership/stored.js';
import { describeKillTask, isKillPayload } from '../../src/cluster/overlord/kill-task.js';
import { Overlord } from '../../src/cluster/overlord/overlord.js';
import type { ReadTask } from '../../src/cluster/overlord/submission.js';
import { Peers } from '../../src/cluster/rpc/peers.js';
import type { CoordinatorService } from '../../src/cluster/rpc/services.js';
import { StorageOwner } from '../../src/cluster/storage-owner.js';
import { wakeReaders } from '../../src/cluster/task-servers.js';
import type { Engine } from '../../src/execution/run/engine.js';
import type { Database } from '../../src/metadata/database.js';
import { type Disk, type Files, servedFiles } from './files.js';
import type { History } from './history.js';
import type { Network } from './network.js';
import type { Store } from './store.js';
import { type SimulatedTask, Worker } from './worker.js';
import { Process, type World } from './world.js';

const HEARTBEAT_MS = 3000;
const EXPIRY_MS = 9000;
/** A process that could not start is started again. */
const RESTART_MS = 1000;
export const REPLICANTS = 2;

/** Variants of a cluster that are broken on purpose: the checks must find each of them. */
export type Variant = 'sound' | 'fence' | 'locks' | 'view' | 'carried';

export type Kind = 'master' | 'historical' | 'broker' | 'worker';

export interface Parts {
  readonly world: World;
  readonly network: Network;
  readonly store: Store;
  readonly files: Files;
  readonly history: History;
  readonly variant: Variant;
}

/** A machine: its name, its disk, and the process that runs there. */
export class Machine {
  readonly kind: Kind;
  readonly name: string;
  readonly #parts: Parts;
  readonly #disk: Disk = new Map();
  #runs = 0;
  #process: Process;
  broker: Broker | undefined;
  historical: Historical | undefined;
  /** Ends the process as one that is told to. */
  #stop: (() => Promise<void>) | undefined;

  constructor(parts: Parts, kind: Kind, name: string) {
    this.#parts = parts;
    this.kind = kind;
    this.name = name;
    this.#process = new Process(parts.world, name, 0);
    this.#process.crash();
  }

  get process(): Process {
    return this.#process;
  }

  start(): void {
    if (this.#process.isAlive) return;
    const process = new Process(this.#parts.world, this.name, ++this.#runs);
    this.#process = process;
    this.#parts.world.note(`${process.session} starts`);
    this.#run(process).catch((error: unknown) => {
      this.#parts.world.note(`${process.session} cannot start: ${String(error)}`);
      this.crash();
      this.#parts.world.after(RESTART_MS, () => this.start());
    });
  }

  crash(): void {
    if (this.#process.isAlive) this.#parts.world.note(`${this.#process.session} crashes`);
    this.#process.crash();
    this.broker = undefined;
    this.historical = undefined;
  }

  /** Ends in order, and is gone then, whatever it still waits for. */
  leave(limitMs: number): void {
    const process = this.#process;
    this.#parts.world.note(`${process.session} leaves`);
    void this.#stop?.().then(
      () => this.#process === process && this.crash(),
      () => undefined,
    );
    this.#parts.world.after(limitMs, () => this.#process === process && this.crash());
  }

  async #run(process: Process): Promise<void> {
    const { world, network, store, history } = this.#parts;
    const { clock, name, session } = process;
    const log = (line: string): void => world.note(`${name}: ${line.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+/g, 'uuid')}`);
    const database = store.databaseOf(process);
    const coordination = new StoredCoordination({
      store: membershipOver(database, clock.now),
      session,
      heartbeatMs: HEARTBEAT_MS,
      expiryMs: EXPIRY_MS,
      clock,
      onError: (error) => log(`heartbeat: ${String(error)}`),
    });
    const peers = new Peers({ client: network.clientOf(process), coordination, clock });
    this.#stop = () => coordination.close();
    const common = { now: clock.now, clock, log };
    if (this.kind === 'master') {
      const [coordinator, overlord] = masterOf(this.#parts, { process, database, coordination, peers, common });
      for (const [role, service] of [
        ['coordinator', coordinator],
        ['overlord', overlord],
      ] as const) {
        peers.offer(role, name, service as never);
        network.offer(role, process, service as never);
        await coordination.announce(role, name, {});
      }
      const watched = (candidate: Candidate): Candidate => ({
        gained: async (fence) => {
          history.gained(process, fence);
          await candidate.gained(fence);
        },
        lost: () => candidate.lost(),
      });
      await Promise.all([
        coordination.campaign('coordinator', name, watched(coordinator)),
        coordination.campaign('overlord', name, watched(overlord)),
      ]);
      return;
    }
    if (this.kind === 'historical') return this.#startHistorical(process, peers, coordination, log);
    if (this.kind === 'worker') {
      const worker = new Worker({ process, peers, files: this.#parts.files, capacity: 3 });
      network.offer('middleManager', process, worker);
      return coordination.announce('middleManager', name, {});
    }
    const broker = new Broker({
      engine: NO_ENGINE,
      peers: this.#parts.variant === 'view' ? inParts(peers) : peers,
      retries: 1,
      results: null,
      gatherBytesMax: null,
      exactSums: false,
      heldBytesMax: 1e9,
      lookups: NO_LOOKUPS,
      pollMs: 3000,
      ...common,
    });
    network.offer('broker', process, broker);
    await coordination.announce('broker', name, {});
    await broker.start();
    this.broker = broker;
    const stop = this.#stop;
    this.#stop = async () => {
      await broker.stop();
      await stop();
    };
  }

  async #startHistorical(process: Process, peers: Peers, coordination: StoredCoordination, log: (line: string) => void): Promise<void> {
    const { network, files } = this.#parts;
    const historical = new Historical({
      host: process.name,
      tier: '_default_tier',
      priority: 0,
      maxSizeBytes: 1e9,
      ...servedFiles(process, this.#disk, files),
      engine: NO_ENGINE,
      results: undefined as never,
      gate: new RunGate(4, 100),
      lookups: NO_LOOKUPS,
      dropDelayMs: 3000,
      loadsAtATime: 2,
      session: process.session,
      onChange: () => wakeReaders(peers, coordination),
      log,
      clock: process.clock,
    });
    network.offer('historical', process, historical);
    await historical.start();
    await coordination.announce('historical', process.name, {});
    this.historical = historical;
    wakeReaders(peers, coordination);
  }
}

function masterOf(
  { files, store, history }: Parts,
  {
    process,
    database,
    coordination,
    peers,
    common,
  }: {
    readonly process: Process;
    readonly database: Database;
    readonly coordination: StoredCoordination;
    readonly peers: Peers;
    readonly common: { readonly now: () => number; readonly clock: Process['clock']; readonly log: (line: string) => void };
  },
): readonly [Coordinator, Overlord] {
  const storage = files.storageOf(process, (path) => history.removed(store, path));
  const owner = new StorageOwner(storage);
  const parts = { database, storage, owner, peers, readTask, ...common };
  const coordinator = new Coordinator({
    ...parts,
    periodMs: 4000,
    cleanupPeriodMs: 15_000,
    compactionPeriodMs: 3_600_000,
    kill: null,
    oldRecords: { lookMs: 3_600_000, audit: null, rules: null, compaction: null },
    orphanAgeMs: 10_000,
    loadRetryMs: 3000,
  });
  const overlord = new Overlord({
    ...parts,
    coordination,
    openReader: () => Promise.reject(new Error('there are no streams here')),
    results: null,
    resultsRetainMs: 1000,
    oldTasks: null,
    periodMs: 3000,
    queueMax: 1000,
    assignmentTries: 3,
    assignmentTimeoutMs: 60_000,
    lossesMax: 6,
  });
  return [coordinator, overlord];
}

const readTask: ReadTask = async (document) => {
  const payload = parseJson(document);
  if (isKillPayload(payload)) return { document, description: describeKillTask(payload) };
  const { id, kind, dataSource, chunks, isConcurrent, priority } = payload as SimulatedTask;
  const isAppend = kind === 'append' || kind === 'stream';
  return {
    document,
    description: {
      type: kind === 'stream' ? 'index_kafka' : 'index',
      dataSource,
      id,
      groupId: null,
      context: { priority, useConcurrentLocks: isConcurrent },
      mode: isAppend ? { kind: 'append' } : { kind: 'replace', intervals: chunks },
      spec: {},
    },
  };
};

/** Broken on purpose: of what has come, a Broker is shown a part, and later the rest. */
function inParts(peers: Peers): Pick<Peers, 'at' | 'all' | 'leading' | 'isHere'> {
  const leading = (role: 'coordinator' | 'overlord') => {
    const service = peers.leading(role);
    if (role !== 'coordinator') return service;
    const snapshotAfter: CoordinatorService['snapshotAfter'] = async (revision, term) => {
      const update = await (service as CoordinatorService).snapshotAfter(revision, term);
      return update === null ? null : { ...update, segments: update.segments.slice(0, Math.ceil(update.segments.length / 2)) };
    };
    return { ...service, snapshotAfter };
  };
  return {
    at: (role, host) => peers.at(role, host),
    all: (role) => peers.all(role),
    isHere: (role, host) => peers.isHere(role, host),
    leading: leading as Peers['leading'],
  };
}

/** No plan over rows runs here. */
const NO_ENGINE = {} as Engine;
const NO_LOOKUPS = {
  store: undefined as never,
  report: () => ({ tier: 'none', current: {}, failed: {} }),
  known: async () => undefined,
} as never;
