// Routes of the Overlord's worker configuration.

import type { Overlord } from '../../cluster/overlord/overlord.js';
import type { Route } from '../http.types.js';
import { auditBody, CONFIG_READ, CONFIG_WRITE, json, readAuthor, readHistorySelection, readObject, route } from './exchange.js';

export interface WorkerConfigSource {
  readonly overlord: Pick<Overlord, 'workerConfigs'>;
  /** `svc.audit.manager.auditHistoryMillis`. */
  readonly auditHistoryMs: number;
  readonly now: () => number;
}

const BASE = '/svc/indexer/v1/worker';

/** The Overlord's dynamic configuration and its history. */
export function workerConfigRoutes({ overlord, auditHistoryMs, now }: WorkerConfigSource): readonly Route[] {
  return [
    route('GET', BASE, CONFIG_READ, async () => json(200, await overlord.workerConfigs.get())),
    route('POST', BASE, CONFIG_WRITE, async (request) => {
      await overlord.workerConfigs.change(readObject(request), readAuthor(request));
      return { status: 200 };
    }),
    route('GET', `${BASE}/history`, CONFIG_READ, async (request) => {
      const entries = await overlord.workerConfigs.history(readHistorySelection(request, now(), auditHistoryMs));
      return json(200, entries.map(auditBody));
    }),
  ];
}
