// The Coordinator's duty that finds intervals to compact and submits tasks for them.

import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ETERNITY, type Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { formatInstant } from '../../base/time.js';
import type { Database } from '../../metadata/database.js';
import { locksOfDataSource } from '../../metadata/locks.js';
import { chunksOfRows } from '../../metadata/tombstones.js';
import type { SegmentCatalog } from '../coordinator/catalog.js';
import type { ReadTask } from '../overlord/submission.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import { type Candidate, findCandidates } from './candidates.js';
import type { ClusterCompactionConfig } from './cluster-config.js';
import { type CompactionConfig, taskPayload } from './compaction-config.js';
import type { CompactionConfigs, CompactionSettings } from './compaction-configs.js';
import { CompactionTaskReader, type CompactionTasks, ISSUED_PREFIX } from './compaction-tasks.js';
import { inOrder, rejectedBecause } from './policy.js';
import { type CompactionSnapshot, type IntervalStatus, intervalStatus, snapshotOf } from './snapshot.js';

export interface CompactionDutyOptions {
  readonly database: Database;
  readonly catalog: SegmentCatalog;
  readonly configs: Pick<CompactionConfigs, 'all'>;
  readonly readTask: ReadTask;
  readonly peers: Pick<Peers, 'all' | 'leading'>;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** All candidates of a look, by datasource. */
interface Look {
  readonly settings: CompactionSettings;
  readonly tasks: CompactionTasks;
  readonly candidates: ReadonlyMap<string, readonly Candidate[]>;
  /** Datasources whose configuration cannot be kept to any more, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Finds intervals to compact and submits tasks for them, no more than there are slots for; remembers its last look. */
export class CompactionDuty {
  readonly #options: CompactionDutyOptions;
  readonly #tasks: CompactionTaskReader;
  #last: Look | null = null;
  /** Parts of states that configurations decide, by the text of the task that they make. */
  #wanted = new Map<string, Readonly<Record<string, unknown>>>();

  constructor(options: CompactionDutyOptions) {
    this.#options = options;
    this.#tasks = new CompactionTaskReader(options.database);
  }

  /** Forgets what an earlier leadership has seen. */
  reset(): void {
    this.#last = null;
  }

  async run(): Promise<void> {
    const look = await this.#look();
    this.#last = look;
    await this.#cancelOutdated(look);
    const queue = queueOf(look);
    if (queue.length === 0) return;
    const { cluster } = look.settings;
    const free = slotsOf(cluster, await this.#capacity()) - look.tasks.activeCount;
    for (const candidate of queue.slice(0, Math.max(0, free))) await this.#submit(candidate, look.settings);
  }

  /** Status of each configured datasource, as of the last run. */
  snapshots(): readonly CompactionSnapshot[] {
    return [...(this.#last?.candidates ?? [])].map(([dataSource, candidates]) =>
      snapshotOf(dataSource, candidates, this.#last?.refused.get(dataSource) ?? null),
    );
  }

  /** Intervals of a datasource, as of the last run, newest first. */
  intervals(dataSource: string): readonly IntervalStatus[] {
    return (this.#last?.candidates.get(dataSource) ?? []).toReversed().map(intervalStatus);
  }

  /** Candidates as they would be under another configuration of the cluster; pending ones in the order of their tasks. */
  async simulate(cluster: ClusterCompactionConfig): Promise<readonly Candidate[]> {
    const look = await this.#look(cluster);
    const others = [...look.candidates.values()].flat().filter(({ status }) => status.state !== 'PENDING');
    return [...others, ...queueOf(look)];
  }

  async #look(cluster?: ClusterCompactionConfig): Promise<Look> {
    const { configs, catalog, database, now } = this.#options;
    const stored = await configs.all();
    const settings = cluster === undefined ? stored : { ...stored, cluster };
    // Tasks first: one that ends between both looks has changed segments already.
    const tasks = await this.#tasks.read(now());
    await catalog.refresh();
    const candidates = new Map<string, readonly Candidate[]>();
    const refused = new Map<string, string>();
    const turns = new LoopTurns();
    const unreadable = catalog.unreadable();
    for (const [dataSource, config] of settings.dataSources) {
      const running = tasks.active.filter(({ task }) => task.dataSource === dataSource);
      const ids = new Set(running.map(({ task }) => task.id));
      const locks = (await locksOfDataSource(database, dataSource)).filter(({ taskId }) => !ids.has(taskId));
      const wanted = await this.#wantedBy(config, settings.cluster).catch((error: unknown) => {
        refused.set(dataSource, toServiceError(error).message);
        return undefined;
      });
      const found: Candidate[] = [];
      const { compactionPolicy } = settings.cluster;
      for (const candidate of findCandidates({
        config,
        wanted: wanted ?? {},
        chunks: chunksOfRows(catalog.chunks(dataSource)),
        running: running.map(({ interval }) => interval),
        // Appends, whose locks reach everywhere, are waited for, or go on beside the task.
        locked: locks.flatMap(({ kind, interval }) => (kind === 'exclusive' || kind === 'replace' ? [interval] : [])),
        unreadable: unreadable.flatMap((each) => (each.dataSource === dataSource ? [each.interval ?? ETERNITY] : [])),
        rest: (interval: Interval) => refused.get(dataSource) ?? tasks.rest(dataSource, interval, now()),
      })) {
        if (turns.isDue) await turns.give();
        const reason = rejectedBecause(compactionPolicy, candidate);
        found.push(reason === undefined ? candidate : { ...candidate, status: { state: 'SKIPPED', reason } });
      }
      candidates.set(dataSource, found);
    }
    return { settings, tasks, candidates, refused };
  }

  async #wantedBy(config: CompactionConfig, cluster: ClusterCompactionConfig): Promise<Readonly<Record<string, unknown>>> {
    const payload = taskPayload(config, cluster.engine, null);
    const known = this.#wanted.get(payload);
    if (known !== undefined) return known;
    const { description } = await this.#options.readTask(payload);
    const wanted = description.compactionState ?? {};
    this.#wanted = new Map([...this.#wanted, [payload, wanted] as const].slice(-WANTED_MAX));
    return wanted;
  }

  async #capacity(): Promise<number> {
    const workers = this.#options.peers.all('middleManager').map(({ service }) => service.status().catch(() => null));
    return (await Promise.all(workers)).reduce((sum, status) => sum + (status?.enabled === true ? status.capacity : 0), 0);
  }

  /** Tasks for time chunks of another length than the configuration asks for by now would be done over at once. */
  async #cancelOutdated({ settings, tasks }: Look): Promise<void> {
    const { peers, log } = this.#options;
    for (const { task, segmentGranularity } of tasks.active) {
      const wanted = settings.dataSources.get(task.dataSource)?.granularitySpec?.['segmentGranularity'] ?? null;
      if (wanted === null || isDeepStrictEqual(wanted, segmentGranularity)) continue;
      log(`compaction: task ${task.id} is shut down, for the segment granularity of ${task.dataSource} has changed`);
      await peers
        .leading('overlord')
        .shutdownTask(task.id, 'the segment granularity of the compaction configuration has changed')
        .catch((error: unknown) => log(`compaction: ${toServiceError(error).message}`));
    }
  }

  async #submit({ dataSource, interval, segments }: Candidate, { cluster, dataSources }: CompactionSettings): Promise<void> {
    const { peers, now, log } = this.#options;
    const config = dataSources.get(dataSource);
    if (config === undefined) return;
    const readable = dataSource.replace(/[/\\\s\p{Cc}]/gu, '-').slice(0, 80);
    const id = `${ISSUED_PREFIX}${readable}_${randomBytes(5).toString('hex')}_${formatInstant(now())}`;
    await peers.leading('overlord').submit(taskPayload(config, cluster.engine, { id, interval }));
    log(`compaction: task ${id} for ${segments.length} segments of ${dataSource}, ${formatInterval(interval)}`);
  }
}

/** Configurations that are kept read. */
const WANTED_MAX = 1000;

/** Candidates to submit, in order. */
function queueOf({ settings, candidates }: Look): readonly Candidate[] {
  const pending = [...candidates.values()].flat().filter(({ status }) => status.state === 'PENDING');
  return inOrder(settings.cluster.compactionPolicy, pending);
}

/** Tasks that may run at a time: a share of all slots, at least one, unless none are wanted. */
export function slotsOf({ compactionTaskSlotRatio, maxCompactionTaskSlots }: ClusterCompactionConfig, capacity: number): number {
  if (capacity === 0 || compactionTaskSlotRatio === 0 || maxCompactionTaskSlots === 0) return 0;
  return Math.max(1, Math.min(Math.floor(compactionTaskSlotRatio * capacity), maxCompactionTaskSlots));
}
