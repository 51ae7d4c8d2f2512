// Looks of the Broker at all servers and the Coordinator, which bring its view up to date.

import type { Clock } from '../../../base/clock/clock.js';
import { ServiceError } from '../../../base/errors.js';
import { toServiceError } from '../../rpc/message.js';
import type { Peers } from '../../rpc/peers.js';
import type {
  CoordinatorService,
  HistoricalService,
  InventoryUpdate,
  LiveInventory,
  SnapshotUpdate,
  TaskService,
} from '../../rpc/services.js';
import { LOOK_WAIT_MS, ServerLooks } from '../../server-looks.js';
import { sealedInventory } from '../live-segments.js';
import type { ClusterView } from '../view.js';
import type { Silence } from './silence.js';

export interface BrokerLooksOptions {
  readonly peers: Pick<Peers, 'all' | 'leading'>;
  readonly view: ClusterView;
  readonly silence: Silence;
  /** Whether a query waits for rows of streams: tasks tell then how far they are even if nothing else has changed. */
  readonly isCovering: () => boolean;
  /** Left out: that of the machine. */
  readonly clock?: Clock | undefined;
  /** Has another look made. */
  readonly wake: () => void;
  readonly log: (line: string) => void;
}

/** The first picture is taken as it is, so servers have more time for it. */
const FIRST_LOOK_WAIT_MS = 10_000;
const COORDINATOR = 'coordinator';

/** Looks that wait for nobody who does not answer. */
export class BrokerLooks {
  readonly #options: BrokerLooksOptions;
  readonly #historicals: ServerLooks<HistoricalService, InventoryUpdate | null>;
  readonly #tasks: ServerLooks<TaskService, LiveInventory | null>;
  readonly #coordinator: ServerLooks<CoordinatorService, SnapshotUpdate | null>;
  #hosts: readonly string[] = [];
  /** Errors of Historicals at the last look. */
  #failures: unknown[] = [];
  /** Hosts that are there no more, of which a read still waits for its answer: nobody may ever close its connection. */
  #lost: readonly string[] = [];

  constructor(options: BrokerLooksOptions) {
    this.#options = options;
    const { view, isCovering, wake, log, clock } = options;
    const failed = (what: string) => (host: string, error: unknown) =>
      log(`broker: no ${what} of ${host}: ${toServiceError(error).message}`);
    this.#historicals = new ServerLooks({
      ask: ({ host, service }) => service.inventoryAfter(view.generationOf(host)),
      failed: (host, error) => {
        this.#failures.push(error);
        failed('inventory')(host, error);
      },
      late: wake,
      clock,
    });
    this.#tasks = new ServerLooks({
      ask: ({ host, service }) => service.liveAfter(isCovering() ? null : view.liveGenerationOf(host)),
      failed: failed('live segments'),
      late: wake,
      clock,
    });
    this.#coordinator = new ServerLooks({
      ask: ({ service }) => service.snapshotAfter(view.revision, view.term),
      failed: (_host, error) => log(`broker: ${toServiceError(error).message}`),
      late: wake,
      clock,
    });
  }

  /** Historicals and tasks that were there at the last look. */
  get hosts(): readonly string[] {
    return this.#hosts;
  }

  /** Error of a Historical that did not tell what it serves when it was last asked; undefined: all have. */
  faultOfHistoricals(): unknown {
    const [host] = this.#historicals.silent;
    return host === undefined ? this.#failures[0] : new ServiceError('unavailable', `no inventory of ${host}: it does not answer`);
  }

  /** Inventories first: a snapshot can only be adopted by what is known to be served. The first one is taken in behind them as well. */
  async look(): Promise<void> {
    const { peers, view } = this.#options;
    this.#failures = [];
    const waitMs = view.revision === null ? FIRST_LOOK_WAIT_MS : LOOK_WAIT_MS;
    const lookAtCoordinator = async () =>
      this.#coordinator.look([{ host: COORDINATOR, session: '', service: peers.leading('coordinator') }], waitMs);
    // The first snapshot is large, and is shown as it is: it comes beside what servers tell.
    let coming = view.revision === null ? lookAtCoordinator() : undefined;
    coming?.catch(() => undefined);
    if (await this.#lookAtServers(waitMs)) await this.#lookAtServers(waitMs);
    for (;;) {
      const { told, isOld } = await (coming ?? lookAtCoordinator());
      coming = undefined;
      for (const newer of told) if (newer !== null) await view.adopt(newer);
      if (!isOld) return;
    }
  }

  /** A task that fails has what it had. @returns whether something of it is to be looked at again */
  async #lookAtServers(waitMs: number): Promise<boolean> {
    const { peers, view, silence } = this.#options;
    const tasks = peers.all('task');
    const [served, live] = await Promise.all([this.#historicals.look(peers.all('historical'), waitMs), this.#tasks.look(tasks, waitMs)]);
    const taskHosts = tasks.map(({ host }) => host);
    const hosts = [...served.hosts, ...taskHosts];
    const there = new Set(hosts);
    this.#lost = [...this.#hosts, ...this.#lost].filter((host) => !there.has(host) && silence.isAwaited(host));
    // Before readers are told, who look for another server at once.
    for (const host of this.#tasks.silent) view.demote(host, this.#tasks.silent);
    silence.set(new Set([...this.#historicals.silent, ...this.#tasks.silent, ...this.#lost]));
    this.#hosts = hosts;
    const updates = live.told.flatMap((update) => update ?? []);
    await view.updateServers([...served.told.flatMap((update) => update ?? []), ...updates.map(sealedInventory)], hosts);
    view.updateLive(updates, taskHosts);
    await view.catchUp();
    return served.isOld || live.isOld;
  }
}
