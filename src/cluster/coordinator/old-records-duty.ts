// The Coordinator's duty that removes old records of the metadata store.

import { LoopTurns } from '../../base/loop-turns.js';
import type { Database, Queries } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { removeOldAudit, removeOldRules } from '../../metadata/old-records.js';
import { dataSourceNames } from '../../metadata/segments.js';
import type { CompactionConfigs } from '../compaction/compaction-configs.js';
import type { RoleOptions } from '../role-options.js';
import { Ticker } from '../ticker.js';
import { DEFAULT_RULES_NAME } from './rules.js';

/** Time between two removals of records of a kind, and their age; null: they are kept. */
export interface OldRecordsSettings {
  readonly lookMs: number;
  readonly audit: { readonly periodMs: number; readonly retainMs: number } | null;
  readonly rules: { readonly periodMs: number; readonly retainMs: number } | null;
  readonly compaction: { readonly periodMs: number } | null;
}

interface OldRecordsOptions extends RoleOptions {
  readonly database: Database;
  readonly fence: () => Fence;
  readonly oldRecords: OldRecordsSettings;
  readonly configs: Pick<CompactionConfigs, 'all' | 'remove'>;
  readonly failed: (error: unknown) => void;
}

/** Records that one transaction removes. */
const RECORDS_TOGETHER = 500;

/** Removes old entries of the audit history, and rules and compaction configurations of datasources that are gone. */
export class OldRecordsDuty {
  readonly #options: OldRecordsOptions;
  readonly #ticker: Ticker;
  /** Time of the last removal of each kind. */
  readonly #lastMs = new Map<string, number>();

  constructor(options: OldRecordsOptions) {
    this.#options = options;
    this.#ticker = new Ticker(() => this.run(), options.oldRecords.lookMs, options.failed, options.clock);
  }

  start(): void {
    void this.#ticker.start();
  }

  stop(): Promise<void> {
    return this.#ticker.stop();
  }

  async run(): Promise<void> {
    const { oldRecords, now, log } = this.#options;
    const { audit, rules, compaction } = oldRecords;
    if (audit !== null && this.#isDue('audit', audit)) {
      const beforeMs = now() - audit.retainMs;
      const count = await this.#removeAll((queries) => removeOldAudit(queries, beforeMs, RECORDS_TOGETHER));
      if (count > 0) log(`removed ${count} old entries of the audit history`);
    }
    if (rules !== null && this.#isDue('rules', rules)) {
      const selection = { beforeMs: now() - rules.retainMs, except: DEFAULT_RULES_NAME, countMax: RECORDS_TOGETHER };
      const count = await this.#removeAll(async (queries) => (await removeOldRules(queries, selection)).length);
      if (count > 0) log(`removed the rules of ${count} datasources that have no segments`);
    }
    if (compaction !== null && this.#isDue('compaction', compaction)) await this.#removeConfigs();
  }

  #isDue(kind: string, { periodMs }: { readonly periodMs: number }): boolean {
    const nowMs = this.#options.now();
    if (nowMs - (this.#lastMs.get(kind) ?? Number.NEGATIVE_INFINITY) < periodMs) return false;
    this.#lastMs.set(kind, nowMs);
    return true;
  }

  /** Removes some at a time, between which others may write. */
  async #removeAll(removeSome: (queries: Queries) => Promise<number>): Promise<number> {
    const { database, fence } = this.#options;
    const turns = new LoopTurns();
    let count = 0;
    for (;;) {
      const removed = await fencedTransaction(database, fence(), removeSome);
      count += removed;
      if (removed < RECORDS_TOGETHER) return count;
      if (turns.isDue) await turns.give();
    }
  }

  async #removeConfigs(): Promise<void> {
    const { database, configs, log } = this.#options;
    const { dataSources } = await configs.all();
    if (dataSources.size === 0) return;
    const known = new Set(await dataSourceNames(database, 'all'));
    for (const dataSource of dataSources.keys()) {
      if (known.has(dataSource)) continue;
      await configs.remove(dataSource, { author: 'coordinator', comment: 'the datasource has no segments', ip: '' });
      log(`removed the compaction configuration of ${dataSource}, which has no segments`);
    }
  }
}
