import { WORKER_CONFIG_NAME as NAME, parseWorkerConfig, readWorkerConfig } from '../../cluster/overlord/worker-config.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { audit, auditHistory, findConfig, writeConfig } from '../../metadata/settings.js';
import type { Route } from '../http.types.js';
import { auditBody, CONFIG_READ, CONFIG_WRITE, json, readAuthor, readHistorySelection, readObject, route } from './exchange.js';

export interface WorkerConfigSource {
  readonly database: Database;
  fence(): Fence;
  /** `svc.audit.manager.auditHistoryMillis`. */
  readonly auditHistoryMs: number;
  readonly now: () => number;
}

const BASE = '/svc/indexer/v1/worker';

/** The Overlord's dynamic configuration and its history. */
export function workerConfigRoutes({ database, fence, auditHistoryMs, now }: WorkerConfigSource): readonly Route[] {
  return [
    route('GET', BASE, CONFIG_READ, async () => json(200, readWorkerConfig(await findConfig(database, NAME)))),
    route('POST', BASE, CONFIG_WRITE, async (request) => {
      const payload = JSON.stringify(parseWorkerConfig(readObject(request)));
      await fencedTransaction(database, fence(), async (queries) => {
        await writeConfig(queries, NAME, payload);
        await audit(queries, { type: NAME, key: NAME }, readAuthor(request), payload, now());
      });
      return { status: 200 };
    }),
    route('GET', `${BASE}/history`, CONFIG_READ, async (request) => {
      const entries = await auditHistory(database, { type: NAME, key: null, ...readHistorySelection(request, now(), auditHistoryMs) });
      return json(200, entries.map(auditBody));
    }),
  ];
}
