// The stored configuration of workers, with its history.

import type { EpochMs } from '../../base/instant.js';
import { stringifyJson } from '../../base/json.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { type AuditEntry, type AuditSelection, type Author, auditHistory, changeConfig } from '../../metadata/settings.js';
import { parseWorkerConfig, readWorkerConfig, WORKER_CONFIG_NAME, type WorkerConfig } from './worker-config.js';

interface WorkerConfigsOptions {
  readonly database: Database;
  readonly now: () => EpochMs;
  /** @throws ServiceError `not_leader` */
  fence(): Fence;
}

export class WorkerConfigs {
  readonly #options: WorkerConfigsOptions;

  constructor(options: WorkerConfigsOptions) {
    this.#options = options;
  }

  get(): Promise<WorkerConfig> {
    return readWorkerConfig(this.#options.database);
  }

  async change(fields: ReadonlyMap<string, unknown>, author: Author): Promise<void> {
    const { database, now } = this.#options;
    const payload = stringifyJson(parseWorkerConfig(Object.fromEntries(fields)));
    await fencedTransaction(database, this.#options.fence(), (queries) =>
      changeConfig(queries, WORKER_CONFIG_NAME, payload, author, now()),
    );
  }

  history(selection: Pick<AuditSelection, 'interval' | 'count'>): Promise<readonly AuditEntry[]> {
    return auditHistory(this.#options.database, { type: WORKER_CONFIG_NAME, key: null, ...selection });
  }
}
