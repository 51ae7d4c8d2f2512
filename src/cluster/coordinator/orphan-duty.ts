// The Coordinator's duty that removes files of deep storage which nobody refers to.

import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { type Author, audit } from '../../metadata/settings.js';
import type { DeepStorage } from '../../storage/contract.js';
import type { RoleOptions } from '../role-options.js';
import type { Ownership, StorageOwner } from '../storage-owner.js';
import { Ticker } from '../ticker.js';
import { removeOrphans } from './cleanup.js';

export interface OrphanDutyOptions extends RoleOptions {
  readonly database: Database;
  readonly storage: DeepStorage;
  readonly owner: StorageOwner;
  readonly fence: () => Fence;
  readonly cleanupPeriodMs: number;
  /** Age at which a file of unknown origin in deep storage counts as forgotten. */
  readonly orphanAgeMs: number;
  readonly failed: (error: unknown) => void;
}

/** Result of the last clean-up. */
export interface DeepStorageReport {
  readonly ownership: Ownership;
  /** Files that no segment refers to, kept because they may belong to a publish that this metadata store has not seen. */
  readonly keptFiles: number;
  readonly keptBytes: number;
}

const DEEP_STORAGE_PATH = '/svc/coordinator/v1/deepStorage';

/** Removes orphans now and then, and when a task has ended without a publish. */
export class OrphanDuty {
  readonly #options: OrphanDutyOptions;
  readonly #ticker: Ticker;
  #report: DeepStorageReport = { ownership: { state: 'unconfirmed', reason: 'not looked at yet' }, keptFiles: 0, keptBytes: 0 };

  constructor(options: OrphanDutyOptions) {
    this.#options = options;
    this.#ticker = new Ticker(() => this.#run(), options.cleanupPeriodMs, options.failed, options.clock);
  }

  start(): void {
    void this.#ticker.start();
  }

  stop(): Promise<void> {
    return this.#ticker.stop();
  }

  wake(): void {
    this.#ticker.wake();
  }

  /** Whether deep storage belongs to this metadata store, and which files of it the last clean-up kept. */
  get report(): DeepStorageReport {
    return this.#report;
  }

  /** A person says that this metadata store is the one that counts. */
  async confirm(author: Author): Promise<void> {
    const { database, owner, fence, now } = this.#options;
    await owner.confirm(database, fence(), now());
    await fencedTransaction(database, fence(), (queries) => audit(queries, { type: 'deepStorage', key: 'confirm' }, author, '{}', now()));
    await this.#run();
  }

  async #run(): Promise<void> {
    const { database, storage, owner, fence, now, orphanAgeMs, log } = this.#options;
    const ownership = await owner.check(database, fence());
    const { removed, kept, keptBytes } = await removeOrphans({ database, storage, ownership, nowMs: now(), orphanAgeMs });
    if (removed > 0) log(`removed ${removed} files from deep storage that no segment refers to`);
    const report: DeepStorageReport = { ownership, keptFiles: kept, keptBytes };
    const isNews = JSON.stringify(report) !== JSON.stringify(this.#report);
    this.#report = report;
    if (!isNews || (ownership.state === 'confirmed' && kept === 0)) return;
    const why = ownership.state === 'unconfirmed' ? ownership.reason : 'their tasks are unknown to this metadata store, or unsettled';
    log(`clean-up keeps ${kept} files (${keptBytes} bytes) of deep storage that no segment refers to: ${why}; see ${DEEP_STORAGE_PATH}`);
  }
}
