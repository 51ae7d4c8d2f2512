// The Coordinator: its duties while it leads, and the picture of the cluster that its endpoints show.

import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { bumpRevision, markUnused } from '../../metadata/segments.js';
import type { DeepStorage } from '../../storage/contract.js';
import type { ClusterCompactionConfig } from '../compaction/cluster-config.js';
import { Compaction, type CompactionOptions } from '../compaction/compaction.js';
import type { CompactionReport, IntervalStatus } from '../compaction/snapshot.js';
import { Inventories } from '../inventories.js';
import type { Candidate } from '../membership/coordination.js';
import type { RoleOptions } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import type {
  BrokerService,
  CoordinatorService,
  HistoricalService,
  InventoryUpdate,
  LookupSnapshot,
  SegmentsSnapshot,
  SnapshotUpdate,
  UsedSegment,
} from '../rpc/services.js';
import { SegmentMarking } from '../segment-marking.js';
import { ServerLooks } from '../server-looks.js';
import type { StorageOwner } from '../storage-owner.js';
import { Ticker } from '../ticker.js';
import { assignedServer, assignSegments, type ClusterPicture } from './assignment.js';
import { SegmentCatalog } from './catalog.js';
import type { DynamicConfig } from './dynamic-config.js';
import { KillDuty, type KillSettings } from './kill-duty.js';
import { calmServers, Moves } from './moves.js';
import { OldRecordsDuty, type OldRecordsSettings } from './old-records-duty.js';
import { Orders } from './orders.js';
import { OrphanDuty } from './orphan-duty.js';
import { PlanAge } from './plan-age.js';
import { Retention } from './retention.js';
import { CoordinatorSettings } from './settings.js';
import { onEveryServer, Targets, tierNames } from './targets.js';
import { Unneeded } from './unneeded.js';
import { Unsettled } from './unsettled.js';
import { Unwanted } from './unwanted.js';
import { usedSegments } from './used-segments.js';

export interface CoordinatorOptions extends RoleOptions {
  readonly database: Database;
  readonly storage: DeepStorage;
  readonly owner: StorageOwner;
  readonly peers: Pick<Peers, 'all' | 'leading'>;
  readonly readTask: CompactionOptions['readTask'];
  readonly periodMs: number;
  readonly cleanupPeriodMs: number;
  readonly compactionPeriodMs: number;
  readonly kill: KillSettings | null;
  readonly oldRecords: OldRecordsSettings;
  /** Age at which a file of unknown origin in deep storage counts as forgotten. */
  readonly orphanAgeMs: number;
  /** A server that failed to load a segment is not asked again for so long. */
  readonly loadRetryMs: number;
}

/** Changed targets that one run of the duties looks at. */
const TARGETS_PER_RUN = 2000;

/** Leads the data servers: what is used gets loaded by the rules, what is not gets dropped once no query reads it. */
export class Coordinator implements CoordinatorService, Candidate {
  readonly catalog: SegmentCatalog;
  readonly settings: CoordinatorSettings;
  readonly marking: SegmentMarking;
  readonly moves = new Moves();
  readonly #options: CoordinatorOptions;
  readonly orphans: OrphanDuty;
  readonly compaction: Compaction;
  readonly #kill: KillDuty;
  readonly #oldRecords: OldRecordsDuty;
  readonly #duties: Ticker;
  readonly #looks: ServerLooks<HistoricalService, InventoryUpdate | null>;
  readonly #brokers: ServerLooks<BrokerService, Readonly<Record<string, number>>>;
  readonly #orders: Orders;
  #inventories = new Inventories();
  #targets = new Targets();
  #unsettled = new Unsettled();
  #unwanted = new Unwanted();
  readonly #unneeded: Unneeded;
  /** Time of the last request to a server for a segment that it then failed to load. */
  readonly #failures = new Map<string, number>();
  #fence: Fence | null = null;
  #drops: ClusterPicture['drops'] = new Map();
  #decommissioned = '';
  #refreshing: Promise<unknown> = Promise.resolve();
  #retention: Retention | null = null;
  #age = new PlanAge();
  /** Revision of the segments that the targets were planned for; null before the first plan. */
  #plannedRevision: number | null = null;
  /** Streams as of the same revision. */
  #plannedStreams: SegmentCatalog['streams'] = [];
  #plannedTiers: string | undefined;
  #leadingSinceMs = 0;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    this.catalog = new SegmentCatalog(options.database);
    this.#unneeded = new Unneeded(this.catalog);
    const { database, now } = options;
    this.settings = new CoordinatorSettings({ database, fence: () => this.fence(), now });
    this.marking = new SegmentMarking({ database, fence: () => this.fence(), wake: () => this.#duties.wake(), now });
    const report = (what: string) => (error: unknown) => {
      const { code, message } = toServiceError(error);
      // Leadership ended in the middle of a run: the next leader does the rest.
      if (code !== 'not_leader') options.log(`coordinator ${what}: ${code}: ${message}`);
    };
    this.#duties = new Ticker(() => this.#runDuties(), options.periodMs, report('duties'), options.clock);
    const looked = { late: () => this.#duties.wake(), clock: options.clock };
    this.#looks = new ServerLooks({
      ask: ({ host, service }) => service.inventoryAfter(this.#inventories.find(host)?.generation ?? null),
      failed: (host, error) => {
        this.#removeServer(host);
        options.log(`coordinator: no inventory of ${host}: ${toServiceError(error).message}`);
      },
      ...looked,
    });
    this.#brokers = new ServerLooks({ ask: ({ service }) => service.revisionsInUse(), failed: () => undefined, ...looked });
    this.#orders = new Orders(options.log, options.clock);
    const fence = (): Fence => this.fence();
    this.orphans = new OrphanDuty({ ...options, fence, failed: report('cleanup') });
    this.#kill = new KillDuty({ ...options, dynamicConfig: () => this.settings.dynamicConfig(), failed: report('kill') });
    this.compaction = new Compaction({ ...options, catalog: this.catalog, fence, periodMs: options.compactionPeriodMs });
    this.#oldRecords = new OldRecordsDuty({ ...options, fence, configs: this.compaction.configs, failed: report('old records') });
  }

  get leading(): boolean {
    return this.#fence !== null;
  }

  get picture(): ClusterPicture {
    return { servers: this.#inventories.servers, targets: this.#targets.byId, drops: this.#drops };
  }

  /** Runs of the duties of this process, and how long the last one took. */
  get runs(): { readonly runs: number; readonly lastMs: number } {
    return this.#duties.ended;
  }

  /** Begins anew: what another leader has planned meanwhile is not known. */
  async gained(fence: Fence): Promise<void> {
    await this.#refreshing;
    this.#looks.clear();
    this.#brokers.clear();
    this.#inventories = new Inventories();
    this.#targets = new Targets();
    this.#unsettled = new Unsettled();
    this.#unwanted = new Unwanted();
    this.#fence = fence;
    this.#retention = null;
    this.#age = new PlanAge();
    this.#leadingSinceMs = this.#options.now();
    void this.#duties.start();
    this.orphans.start();
    this.compaction.start();
    this.#kill.start();
    this.#oldRecords.start();
  }

  async lost(): Promise<void> {
    this.#fence = null;
    await Promise.all([this.#duties.stop(), this.orphans.stop(), this.compaction.stop(), this.#kill.stop(), this.#oldRecords.stop()]);
  }

  async wake(): Promise<void> {
    this.#duties.wake();
  }

  async cleanUp(): Promise<void> {
    this.orphans.wake();
  }

  snapshot(): Promise<SegmentsSnapshot> {
    return this.#refreshed(() => this.#snapshotSince(null));
  }

  snapshotAfter(revision: number | null, term: number | null = null): Promise<SnapshotUpdate | null> {
    return this.#refreshed(async () =>
      this.#plannedRevision === revision ? null : this.#snapshotSince(term === this.#fence?.epoch ? revision : null),
    );
  }

  async #snapshotSince(revision: number | null): Promise<SnapshotUpdate> {
    const retention = this.#retention;
    const facts = { revision: this.#plannedRevision ?? 0, term: this.fence().epoch, streams: this.#plannedStreams };
    const segments = await this.#targets.segmentsSince(revision);
    const unreadable = this.catalog.unreadable().filter((segment) => retention?.mayKeep(segment, this.#options.now()) !== false);
    return { ...facts, ...segments, unreadable };
  }

  usedSegments(dataSources: readonly string[]): Promise<readonly UsedSegment[]> {
    return this.#refreshed(() => usedSegments(dataSources, this.catalog, this.#targets.byId, this.#inventories.servers));
  }

  async lookupsAfter(tier: string, generation: string | null): Promise<LookupSnapshot | null> {
    const snapshot = await this.settings.lookupsOf(tier);
    return snapshot.generation === generation ? null : snapshot;
  }

  /** The fence of this leader, for changes that its endpoints make. */
  fence(): Fence {
    if (this.#fence === null) throw new ServiceError('not_leader', 'this Coordinator does not lead');
    return this.#fence;
  }

  async #runDuties(): Promise<void> {
    const config = await this.settings.dynamicConfig();
    await this.#refreshTargets();
    await this.#readServers();
    // Segments that are wanted everywhere go to all tiers there are.
    if (tierNames(this.#inventories.servers) !== this.#plannedTiers) await this.#refreshTargets();
    if (config.pauseCoordination) return;
    await this.#markUnneeded(config);
    const decommissioned = JSON.stringify(config.decommissioningNodes);
    if (decommissioned !== this.#decommissioned) this.#unsettled.addAll(this.#targets.byId);
    this.#decommissioned = decommissioned;
    const unneeded = await this.#findDroppable();
    const now = this.#options.now();
    const servers = this.#inventories.servers.map((server) =>
      assignedServer(server, {
        targets: this.#targets.byId,
        isDecommissioned: config.decommissioningNodes.includes(server.host),
        isSilent: this.#looks.silent.has(server.host) || this.#orders.isOpen(server.host),
      }),
    );
    const mayLoad = (host: string, id: string): boolean => (this.#failures.get(`${host} ${id}`) ?? 0) < now - this.#options.loadRetryMs;
    const { loads, drops, settled } = assignSegments({
      targets: this.#unsettled.next(this.#targets.byId, {
        changed: TARGETS_PER_RUN,
        waiting: servers.reduce((sum, { places }) => sum + Math.max(0, places), 0),
      }),
      unneeded,
      servers,
      mayLoad,
    });
    this.#unsettled.settle(settled);
    this.#drops = drops;
    // Segments move in tiers where nothing else is to be done: the copies that become surplus are dropped like any others.
    const calm = this.#unsettled.hasChanged ? [] : calmServers(servers, { loads, drops });
    const moving = { targets: this.#targets.byId, servers: calm, mayLoad, most: config.maxSegmentsToMove };
    const moves = await this.moves.plan(this.#plannedRevision, moving);
    await this.#orders.give(this.#options.peers.all('historical'), new Map([...loads, ...moves]), drops);
    // Waiting ones are looked at again when a server tells that it has loaded something.
    if (this.#unsettled.hasChanged) this.#duties.wake();
  }

  /**
   * Plans which visible segments are loaded where. When the plan changes without a change of the segments (a rule
   * was written, a period moved on), the revision is raised so that brokers learn of it. So it is by a new leader: the one before
   * may have told the newest revision, and planned otherwise by its clock. One at a time.
   */
  #refreshTargets(): Promise<void> {
    return this.#refreshed(async () => undefined);
  }

  /** Does something with targets that are as new as metadata, and do not change until it is done. */
  #refreshed<Result>(use: () => Promise<Result>): Promise<Result> {
    const refreshed = this.#refreshing.then(async () => {
      await this.#refreshTargetsOnce();
      return use();
    });
    this.#refreshing = refreshed.catch(() => undefined);
    return refreshed;
  }

  async #refreshTargetsOnce(): Promise<void> {
    const { database, now } = this.#options;
    const fence = this.fence();
    await this.catalog.refresh();
    const retention = await Retention.read(database);
    // Compared by revision, so that changes count no matter who refreshed the catalog.
    const changed = this.catalog.revision !== this.#plannedRevision;
    const tiers = tierNames(this.#inventories.servers);
    const ofRules = this.#retention === null ? null : retention.changedSince(this.#retention);
    const isWider = retention.hasBroadcasts && tiers !== this.#plannedTiers;
    const timed = () => this.catalog.dataSources().filter((dataSource) => retention.hangsOnTime(dataSource));
    const nowMs = now();
    const due = this.#age.due(nowMs, isWider ? null : ofRules, timed);
    if (due !== null) this.#plannedTiers = tiers;
    if (!changed && due?.length === 0) return this.#age.note(nowMs, due);
    const rules = { catalog: this.catalog, retention, nowMs, everywhere: onEveryServer(this.#inventories.servers) };
    // Segments touched until now are among all that are planned, and looked at later.
    if (due === null) this.catalog.takeTouched();
    if (due === null) await this.#targets.planAll(rules);
    for (const dataSource of due ?? []) {
      await this.#targets.plan(this.catalog.used(dataSource), rules);
      this.#unneeded.touchDataSource(dataSource);
    }
    if (this.#retention === null ? this.catalog.revision > 0 : !changed && this.#targets.hasUnnoted) {
      await fencedTransaction(database, fence, bumpRevision);
      await this.catalog.refresh();
    }
    // Also what was published meanwhile, which the newest revision has as well.
    for (;;) {
      await this.catalog.applying;
      const touched = this.catalog.takeTouched();
      // The newest revision is that of all that has been planned: it must not be one that is only made in part.
      if (touched.size === 0 && this.catalog.applying === undefined) break;
      this.#unneeded.touch(touched);
      await this.#targets.plan(touched.values(), rules);
    }
    this.#plannedRevision = this.catalog.revision;
    this.#plannedStreams = this.catalog.streams;
    this.#targets.noteRevision(this.#plannedRevision);
    await this.#lookAgain(this.#targets.takeChanged());
    this.#retention = retention;
    this.#age.note(nowMs, due);
    if (due !== null) return;
    this.#plannedTiers = tiers;
    this.#unneeded.touchAll();
    this.#unsettled.addAll(this.#targets.byId);
  }

  /**
   * Used segments that a drop rule meets become unused, and so do, a while after this Coordinator began to lead, those
   * that newer ones hide for good.
   */
  async #markUnneeded({ millisToWaitBeforeDeleting }: DynamicConfig): Promise<void> {
    const nowMs = this.#options.now();
    if (this.#retention === null) return;
    const unneeded = await this.#unneeded.find(this.#retention, nowMs, nowMs >= this.#leadingSinceMs + millisToWaitBeforeDeleting);
    if (unneeded.size === 0) return;
    await fencedTransaction(this.#options.database, this.fence(), async (queries) => {
      for (const [dataSource, ids] of unneeded) await markUnused(queries, dataSource, { kind: 'ids', ids }, nowMs);
    }).catch((error: unknown) => this.#unneeded.failed(error));
    // The visible segments stay the same, without those of drop rules, which are not targets any more.
    await this.catalog.refresh();
  }

  async #readServers(): Promise<void> {
    const members = this.#options.peers.all('historical');
    for (const host of this.#inventories.hosts) if (!members.some((member) => member.host === host)) await this.#removeServer(host);
    for (let look = await this.#looks.look(members); ; look = await this.#looks.look(members)) {
      for (const update of look.told) if (update !== null) await this.#learn(update);
      if (!look.isOld) break;
    }
    for (const [key, failedMs] of this.#failures)
      if (failedMs < this.#options.now() - this.#options.loadRetryMs) this.#failures.delete(key);
  }

  async #learn(update: InventoryUpdate): Promise<void> {
    const { host } = update;
    const changed = await this.#inventories.update(update);
    for (const id of Object.keys(update.failed))
      this.#failures.set(`${host} ${id}`, this.#failures.get(`${host} ${id}`) ?? this.#options.now());
    if (changed === undefined) this.#unsettled.addAll(this.#targets.byId);
    await this.#lookAgain(changed ?? this.#inventories.find(host)?.served ?? []);
  }

  async #removeServer(host: string): Promise<void> {
    const served = this.#inventories.find(host)?.served ?? [];
    if (!this.#inventories.remove(host)) return;
    this.#unsettled.addAll(this.#targets.byId);
    await this.#lookAgain(served);
  }

  /** Looks at segments at the next assignment: they, or who holds them, have changed. Gives the event loop its turns. */
  async #lookAgain(ids: Iterable<string>): Promise<void> {
    const turns = new LoopTurns();
    for (const id of ids) {
      this.#noteChanged(id);
      if (turns.isDue) await turns.give();
    }
  }

  #noteChanged(id: string): void {
    const isTarget = this.#targets.byId.has(id);
    if (isTarget) this.#unsettled.add([id]);
    const isUnwanted = !isTarget && this.#inventories.servers.some(({ served }) => served.has(id));
    this.#unwanted.note(id, isUnwanted, this.catalog.revision);
  }

  /** Segments beyond the targets that nobody reads any more. */
  async #findDroppable(): Promise<readonly string[]> {
    if (this.#unwanted.size === 0) return [];
    const brokers = this.#options.peers.all('broker');
    const { told, isOld } = await this.#brokers.look(brokers);
    return this.#unwanted.unread(isOld || told.length < brokers.length ? [null] : told);
  }

  /** The configuration and the status of automatic compaction, for other roles. */
  async compactionReport(dataSource: string | null): Promise<CompactionReport> {
    return this.compaction.report(dataSource);
  }

  async simulateCompaction(cluster: ClusterCompactionConfig): Promise<readonly IntervalStatus[]> {
    return this.compaction.simulate(cluster);
  }

  async wakeCompaction(): Promise<void> {
    this.compaction.wake();
  }
}
