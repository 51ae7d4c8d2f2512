// The Coordinator's duty that submits kill tasks for segments which have been unused for long.

import { randomBytes } from 'node:crypto';
import { ETERNITY, type Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { stringifyJson } from '../../base/json.js';
import { addPeriod, formatInstant, type Period } from '../../base/time.js';
import type { Database } from '../../metadata/database.js';
import { dataSourceNames, unusedIntervals } from '../../metadata/segments.js';
import { selectTasks } from '../../metadata/tasks.js';
import type { RoleOptions } from '../role-options.js';
import type { Peers } from '../rpc/peers.js';
import { Ticker } from '../ticker.js';
import type { DynamicConfig } from './dynamic-config.js';

/** `svc.coordinator.kill.…` */
export interface KillSettings {
  readonly periodMs: number;
  readonly durationToRetain: Period;
  readonly ignoreDurationToRetain: boolean;
  readonly bufferPeriod: Period;
  readonly maxSegments: number;
  readonly maxInterval: Period;
}

export interface KillDutyOptions extends RoleOptions {
  readonly database: Database;
  readonly peers: Pick<Peers, 'all' | 'leading'>;
  /** null: nothing is removed without being asked for. */
  readonly kill: KillSettings | null;
  readonly dynamicConfig: () => Promise<DynamicConfig>;
  readonly failed: (error: unknown) => void;
}

/** Begins the ids of the tasks that the duty submits. */
const ISSUED_PREFIX = 'coordinator-issued_kill_';
const ACTIVE = ['WAITING', 'PENDING', 'RUNNING'] as const;

/** Submits a kill task for one datasource after the other, no more at a time than slots are given to it. */
export class KillDuty {
  readonly #options: KillDutyOptions;
  readonly #ticker: Ticker | null;
  /** The datasource that had the last task: the next one in the order of names is the next to have one. */
  #last = '';
  /** End of the interval of the last task of each datasource: the next one begins there, and from the start once there is no more. */
  #ends = new Map<string, number>();

  constructor(options: KillDutyOptions) {
    this.#options = options;
    this.#ticker = options.kill === null ? null : new Ticker(() => this.run(), options.kill.periodMs, options.failed, options.clock);
  }

  start(): void {
    void this.#ticker?.start();
  }

  async stop(): Promise<void> {
    await this.#ticker?.stop();
  }

  async run(): Promise<void> {
    const { database, kill, dynamicConfig } = this.#options;
    if (kill === null) return;
    const config = await dynamicConfig();
    const active = (await selectTasks(database, { states: ACTIVE, type: 'kill' })).filter(({ id }) => id.startsWith(ISSUED_PREFIX));
    let free = killSlotsOf(config, await this.#capacity()) - active.length;
    const busy = new Set(active.map(({ dataSource }) => dataSource));
    const names = config.killDataSourceWhitelist.length > 0 ? config.killDataSourceWhitelist : await dataSourceNames(database, 'all');
    for (const dataSource of inTurn(names, this.#last)) {
      if (free <= 0) return;
      if (busy.has(dataSource) || !(await this.#submitFor(dataSource, kill))) continue;
      this.#last = dataSource;
      free--;
    }
  }

  /** False when it has no segment to remove. */
  async #submitFor(dataSource: string, kill: KillSettings): Promise<boolean> {
    const { database, peers, now, log } = this.#options;
    const nowMs = now();
    const unusedByMs = addPeriod(nowMs, kill.bufferPeriod, -1);
    const end = kill.ignoreDurationToRetain ? ETERNITY.end : addPeriod(nowMs, kill.durationToRetain, -1);
    const start = this.#ends.get(dataSource) ?? ETERNITY.start;
    const intervals =
      start >= end ? [] : await unusedIntervals(database, { dataSource, interval: { start, end }, unusedByMs }, kill.maxSegments);
    const interval = umbrellaOf(intervals, kill.maxInterval);
    if (interval === undefined) {
      this.#ends.delete(dataSource);
      return false;
    }
    const readable = dataSource.replace(/[/\\\s\p{Cc}]/gu, '-').slice(0, 80);
    const id = `${ISSUED_PREFIX}${readable}_${randomBytes(5).toString('hex')}_${formatInstant(nowMs)}`;
    const payload = { type: 'kill', id, dataSource, interval: formatInterval(interval), limit: kill.maxSegments };
    await peers.leading('overlord').submit(stringifyJson({ ...payload, maxUsedStatusLastUpdatedTime: formatInstant(unusedByMs) }));
    this.#ends.set(dataSource, interval.end);
    log(`kill: task ${id} for unused segments of ${dataSource}, ${formatInterval(interval)}`);
    return true;
  }

  async #capacity(): Promise<number> {
    const workers = this.#options.peers.all('middleManager').map(({ service }) => service.status().catch(() => null));
    return (await Promise.all(workers)).reduce((sum, status) => sum + (status?.capacity ?? 0), 0);
  }
}

/** Tasks that may run at a time: a share of all slots, at least one, unless none are wanted. They run at the Overlord and take no slot of a worker. */
export function killSlotsOf({ killTaskSlotRatio, maxKillTaskSlots }: DynamicConfig, capacity: number): number {
  if (killTaskSlotRatio === 0 || maxKillTaskSlots === 0) return 0;
  return Math.max(1, Math.min(Math.floor(capacity * killTaskSlotRatio), maxKillTaskSlots));
}

/** Names in order, beginning behind one. */
export function inTurn(names: readonly string[], last: string): readonly string[] {
  const sorted = [...new Set(names)].sort();
  return [...sorted.filter((name) => name > last), ...sorted.filter((name) => name <= last)];
}

/** The intervals from the first on as one, as far as a period reaches; the first always counts. */
export function umbrellaOf(intervals: readonly Interval[], longest: Period): Interval | undefined {
  const [first] = intervals;
  if (first === undefined) return undefined;
  const limit = addPeriod(first.start, longest, 1);
  const taken = limit === first.start ? intervals : intervals.filter(({ start, end }) => start === first.start || end <= limit);
  return { start: first.start, end: taken.reduce((last, { end }) => Math.max(last, end), first.end) };
}
