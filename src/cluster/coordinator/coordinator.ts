// The Coordinator: its duties while it leads, and the picture of the cluster that its endpoints show.

import { createHash } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { bumpRevision, markUnused } from '../../metadata/segments.js';
import { type Author, audit } from '../../metadata/settings.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { parseSegmentId, segmentIdText } from '../../model/segment-id.js';
import type { DeepStorage } from '../../storage/contract.js';
import type { Candidate } from '../membership/coordination.js';
import type { RoleOptions } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import type { CoordinatorService, LookupSnapshot, SegmentsSnapshot, ServerInventory, UsedSegment } from '../rpc/services.js';
import { SegmentMarking } from '../segment-marking.js';
import type { Ownership, StorageOwner } from '../storage-owner.js';
import { Ticker } from '../ticker.js';
import { assignSegments, type Target } from './assignment.js';
import { SegmentCatalog } from './catalog.js';
import { removeOrphans } from './cleanup.js';
import type { DynamicConfig } from './dynamic-config.js';
import { Retention } from './retention.js';
import { CoordinatorSettings } from './settings.js';

export interface CoordinatorOptions extends RoleOptions {
  readonly database: Database;
  readonly storage: DeepStorage;
  readonly owner: StorageOwner;
  readonly peers: Pick<Peers, 'all'>;
  readonly periodMs: number;
  readonly cleanupPeriodMs: number;
  /** Age at which a file of unknown origin in deep storage counts as forgotten. */
  readonly orphanAgeMs: number;
  /** A server that failed to load a segment is not asked again for so long. */
  readonly loadRetryMs: number;
}

/** Rules of periods move on with the clock: targets are planned anew after so long, whatever else happens. */
const TARGETS_AGE_MS = 60_000;
const DEEP_STORAGE_PATH = '/svc/coordinator/v1/deepStorage';
const DECOMMISSIONED_TIER = '(decommissioned)';

/** Last picture of the duties, for the endpoints that show it. */
export interface ClusterPicture {
  readonly servers: readonly ServerInventory[];
  readonly targets: readonly Target[];
  readonly drops: ReadonlyMap<string, readonly string[]>;
}

/** Result of the last clean-up. */
export interface DeepStorageReport {
  readonly ownership: Ownership;
  /** Files that no segment refers to, kept because they may belong to a publish that this metadata store has not seen. */
  readonly keptFiles: number;
  readonly keptBytes: number;
}

/** Leads the data servers: what is used gets loaded by the rules, what is not gets dropped once no query reads it. */
export class Coordinator implements CoordinatorService, Candidate {
  readonly catalog: SegmentCatalog;
  readonly settings: CoordinatorSettings;
  readonly marking: SegmentMarking;
  readonly #options: CoordinatorOptions;
  readonly #duties: Ticker;
  readonly #cleanup: Ticker;
  readonly #inventories = new Map<string, ServerInventory>();
  /** Segments that servers hold beyond the targets, with the revision at which that was first seen. */
  readonly #unwanted = new Map<string, { readonly dataSource: string; readonly revision: number }>();
  /** Time of the last request to a server for a segment that it then failed to load. */
  readonly #failures = new Map<string, number>();
  #fence: Fence | null = null;
  #picture: ClusterPicture = { servers: [], targets: [], drops: new Map() };
  #targets: readonly Target[] = [];
  #targetIds = '';
  #retention: Retention | null = null;
  #plannedMs = 0;
  /** Revision of the segments that the targets were planned for; null before the first plan. */
  #plannedRevision: number | null = null;
  #leadingSinceMs = 0;
  #unneededChecked = false;
  #mayDelete = false;
  #deepStorage: DeepStorageReport = { ownership: { state: 'unconfirmed', reason: 'not looked at yet' }, keptFiles: 0, keptBytes: 0 };

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    this.catalog = new SegmentCatalog(options.database);
    const { database, now } = options;
    this.settings = new CoordinatorSettings({ database, fence: () => this.fence(), now });
    this.marking = new SegmentMarking({ database, fence: () => this.fence(), wake: () => this.#duties.wake(), now });
    const report = (what: string) => (error: unknown) => {
      const { code, message } = toServiceError(error);
      // Leadership ended in the middle of a run: the next leader does the rest.
      if (code !== 'not_leader') options.log(`coordinator ${what}: ${code}: ${message}`);
    };
    this.#duties = new Ticker(() => this.#runDuties(), options.periodMs, report('duties'));
    this.#cleanup = new Ticker(() => this.#removeOrphans(), options.cleanupPeriodMs, report('cleanup'));
  }

  get leading(): boolean {
    return this.#fence !== null;
  }

  get picture(): ClusterPicture {
    return this.#picture;
  }

  /** Segments to load, as of the last read of metadata. */
  get targets(): readonly Target[] {
    return this.#targets;
  }

  async gained(fence: Fence): Promise<void> {
    this.#fence = fence;
    this.#retention = null;
    this.#plannedMs = 0;
    this.#leadingSinceMs = this.#options.now();
    void this.#duties.start();
    void this.#cleanup.start();
  }

  async lost(): Promise<void> {
    this.#fence = null;
    await Promise.all([this.#duties.stop(), this.#cleanup.stop()]);
  }

  async wake(): Promise<void> {
    this.#duties.wake();
  }

  async cleanUp(): Promise<void> {
    this.#cleanup.wake();
  }

  async snapshot(): Promise<SegmentsSnapshot> {
    await this.#refreshTargets();
    const retention = this.#retention;
    const unreadable = this.catalog.unreadable().filter((segment) => retention?.mayKeep(segment, this.#options.now()) !== false);
    return { revision: this.#plannedRevision ?? 0, segments: this.#targets.map((target) => target.segment), unreadable };
  }

  async snapshotAfter(revision: number | null): Promise<SegmentsSnapshot | null> {
    const snapshot = await this.snapshot();
    return snapshot.revision === revision ? null : snapshot;
  }

  async usedSegments(): Promise<readonly UsedSegment[]> {
    await this.#refreshTargets();
    const wanted = new Map(this.#targets.map(({ id, tieredReplicants }) => [id, tieredReplicants]));
    const serversOf = new Map<string, number>();
    for (const { tier } of this.#inventories.values()) serversOf.set(tier, (serversOf.get(tier) ?? 0) + 1);
    return this.catalog.allUsed().map((segment) => {
      const replicants = Object.entries(wanted.get(segmentIdText(segment.id)) ?? {});
      // A broadcast asks for more copies than there are servers.
      const copies = replicants.map(([tier, count]) => (count === Number.MAX_SAFE_INTEGER ? (serversOf.get(tier) ?? 0) : count));
      const replicationFactor = copies.reduce((sum, count) => sum + count, 0);
      return { segment, overshadowed: this.catalog.isOvershadowed(segment), replicationFactor };
    });
  }

  async lookupsAfter(tier: string, generation: string | null): Promise<LookupSnapshot | null> {
    const lookups = own(await this.settings.lookups(), tier) ?? {};
    const current = createHash('sha256').update(stringifyJson(lookups)).digest('base64');
    return current === generation ? null : { generation: current, lookups };
  }

  /** The fence of this leader, for changes that its endpoints make. */
  fence(): Fence {
    if (this.#fence === null) throw new ServiceError('not_leader', 'this Coordinator does not lead');
    return this.#fence;
  }

  async #runDuties(): Promise<void> {
    const config = await this.settings.dynamicConfig();
    await this.#refreshTargets();
    const servers = await this.#readServers();
    const targets = this.#targets;
    this.#picture = { servers, targets, drops: new Map() };
    if (config.pauseCoordination) return;
    await this.#markUnneeded(config);
    const droppable = await this.#findDroppable(servers, targets);
    const { loads, drops } = assignSegments({
      targets,
      // No rule names this tier: what its servers hold is wanted elsewhere, and leaves them once it is served there.
      servers: servers.map((server) =>
        config.decommissioningNodes.includes(server.host) ? { ...server, tier: DECOMMISSIONED_TIER } : server,
      ),
      mayDrop: (id) => droppable.has(id),
      mayLoad: (host, id) => (this.#failures.get(`${host} ${id}`) ?? 0) < this.#options.now() - this.#options.loadRetryMs,
    });
    this.#picture = { servers, targets, drops };
    const byHost = new Map(this.#options.peers.all('historical').map(({ host, service }) => [host, service]));
    await Promise.all([
      ...[...loads].map(([host, segments]) => byHost.get(host)?.loadSegments(segments)),
      ...[...drops].map(([host, ids]) => byHost.get(host)?.dropSegments(ids)),
    ]);
  }

  /**
   * Plans which visible segments are loaded where. When the plan changes without a change of the segments (a rule
   * was written, a period moved on), the revision is raised so that brokers learn of it.
   */
  async #refreshTargets(): Promise<void> {
    const { database, now } = this.#options;
    const fence = this.fence();
    await this.catalog.refresh();
    const retention = await Retention.read(database);
    // Compared by revision, so that changes count no matter who refreshed the catalog.
    const changed = this.catalog.revision !== this.#plannedRevision;
    const due = now() >= this.#plannedMs + TARGETS_AGE_MS || retention.text !== this.#retention?.text;
    if (!changed && !due) return;
    let targets = this.#planTargets(retention);
    if (!changed && this.#retention !== null && idsOf(targets) !== this.#targetIds) {
      await fencedTransaction(database, fence, bumpRevision);
      await this.catalog.refresh();
      // Something may have been published meanwhile, which the new revision has as well.
      targets = this.#planTargets(retention);
    }
    this.#targets = targets;
    this.#targetIds = idsOf(targets);
    this.#plannedRevision = this.catalog.revision;
    this.#retention = retention;
    this.#plannedMs = now();
    this.#unneededChecked = false;
  }

  #planTargets(retention: Retention): readonly Target[] {
    const nowMs = this.#options.now();
    return this.catalog.visible().flatMap((segment): Target[] => {
      const decision = retention.decide(segment, nowMs);
      if (decision.kind === 'drop') return [];
      const tieredReplicants = decision.kind === 'broadcast' ? this.#everywhere() : decision.tieredReplicants;
      const wanted = decision.kind === 'broadcast' || Object.values(tieredReplicants).some((count) => count > 0);
      return wanted ? [{ id: segmentIdText(segment.id), segment, tieredReplicants }] : [];
    });
  }

  /** More copies than a tier has servers means every server. */
  #everywhere(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#inventories.values()].map(({ tier }) => [tier, Number.MAX_SAFE_INTEGER]));
  }

  /**
   * Used segments that a drop rule meets become unused, and so do, a while after this Coordinator began to lead, those
   * that newer ones hide for good. Looked at anew whenever targets were planned.
   */
  async #markUnneeded({ millisToWaitBeforeDeleting }: DynamicConfig): Promise<void> {
    const nowMs = this.#options.now();
    const retention = this.#retention;
    const mayDelete = nowMs >= this.#leadingSinceMs + millisToWaitBeforeDeleting;
    if (retention === null || (this.#unneededChecked && this.#mayDelete === mayDelete)) return;
    this.#unneededChecked = true;
    this.#mayDelete = mayDelete;
    const unneeded = new Map<string, string[]>();
    for (const dataSource of this.catalog.dataSources()) {
      const ids = this.catalog
        .used(dataSource)
        .filter((segment) => retention.decide(segment, nowMs).kind === 'drop' || (mayDelete && this.#isHiddenForGood(segment)))
        .map((segment) => segmentIdText(segment.id));
      if (ids.length > 0) unneeded.set(dataSource, ids);
    }
    if (unneeded.size === 0) return;
    await fencedTransaction(this.#options.database, this.fence(), async (queries) => {
      for (const [dataSource, ids] of unneeded) await markUnused(queries, dataSource, { kind: 'ids', ids }, nowMs);
    });
    // The visible segments stay the same, without those of drop rules, which are not targets any more.
    await this.catalog.refresh();
  }

  /** Complete newer versions cover it. One that is only incomplete is hidden as well, but not for good. */
  #isHiddenForGood(segment: SegmentDescriptor): boolean {
    if (!this.catalog.isOvershadowed(segment)) return false;
    let at = segment.id.interval.start;
    const newer = this.catalog
      .chunks(segment.id.dataSource)
      .filter((chunk) => chunk.version > segment.id.version)
      .flatMap((chunk) => chunk.visible)
      .sort((a, b) => a.start - b.start);
    for (const piece of newer) if (piece.start <= at && piece.end > at) at = piece.end;
    return at >= segment.id.interval.end;
  }

  async #readServers(): Promise<readonly ServerInventory[]> {
    const members = this.#options.peers.all('historical');
    for (const host of this.#inventories.keys()) if (!members.some((member) => member.host === host)) this.#inventories.delete(host);
    await Promise.all(
      members.map(async ({ host, service }) => {
        try {
          const inventory = await service.inventoryAfter(this.#inventories.get(host)?.generation ?? null);
          if (inventory === null) return;
          this.#inventories.set(host, inventory);
          for (const id of Object.keys(inventory.failed))
            this.#failures.set(`${host} ${id}`, this.#failures.get(`${host} ${id}`) ?? this.#options.now());
        } catch (error) {
          this.#inventories.delete(host);
          this.#options.log(`coordinator: no inventory of ${host}: ${toServiceError(error).message}`);
        }
      }),
    );
    const retryBefore = this.#options.now() - this.#options.loadRetryMs;
    for (const [key, failedMs] of this.#failures) if (failedMs < retryBefore) this.#failures.delete(key);
    return [...this.#inventories.values()];
  }

  /** Segments beyond the targets that every broker has moved on from: no view and no running query can read them. */
  async #findDroppable(servers: readonly ServerInventory[], targets: readonly Target[]): Promise<ReadonlySet<string>> {
    const wanted = new Set(targets.map(({ id }) => id));
    const held = new Set(servers.flatMap((server) => server.segmentIds).filter((id) => !wanted.has(id)));
    for (const id of this.#unwanted.keys()) if (!held.has(id)) this.#unwanted.delete(id);
    for (const id of held)
      if (!this.#unwanted.has(id))
        this.#unwanted.set(id, { dataSource: parseSegmentId(id)?.dataSource ?? id, revision: this.catalog.revision });
    if (held.size === 0) return held;
    // A broker that does not answer may still read anything.
    const brokers = await Promise.all(this.#options.peers.all('broker').map(({ service }) => service.revisionsInUse().catch(() => null)));
    return new Set(
      [...held].filter((id) => {
        const unwanted = this.#unwanted.get(id);
        return (
          unwanted !== undefined &&
          brokers.every((inUse) => inUse !== null && (own(inUse, unwanted.dataSource) ?? unwanted.revision) >= unwanted.revision)
        );
      }),
    );
  }

  /** Whether deep storage belongs to this metadata store, and which files of it the last clean-up kept. */
  get deepStorage(): DeepStorageReport {
    return this.#deepStorage;
  }

  /** A person says that this metadata store is the one that counts. */
  async confirmDeepStorage(author: Author): Promise<void> {
    const { database, owner, now } = this.#options;
    await owner.confirm(database, this.fence(), now());
    await fencedTransaction(database, this.fence(), (queries) =>
      audit(queries, { type: 'deepStorage', key: 'confirm' }, author, '{}', now()),
    );
    await this.#removeOrphans();
  }

  async #removeOrphans(): Promise<void> {
    const { database, storage, owner, now, orphanAgeMs, log } = this.#options;
    const ownership = await owner.check(database, this.fence());
    const { removed, kept, keptBytes } = await removeOrphans({ database, storage, ownership, nowMs: now(), orphanAgeMs });
    if (removed > 0) log(`removed ${removed} files from deep storage that no segment refers to`);
    const report: DeepStorageReport = { ownership, keptFiles: kept, keptBytes };
    const isNews = JSON.stringify(report) !== JSON.stringify(this.#deepStorage);
    this.#deepStorage = report;
    if (!isNews || (ownership.state === 'confirmed' && kept === 0)) return;
    const why = ownership.state === 'unconfirmed' ? ownership.reason : 'their tasks are unknown to this metadata store, or unsettled';
    log(`clean-up keeps ${kept} files (${keptBytes} bytes) of deep storage that no segment refers to: ${why}; see ${DEEP_STORAGE_PATH}`);
  }
}

function idsOf(targets: readonly Target[]): string {
  return targets.map(({ id }) => id).join('\n');
}
