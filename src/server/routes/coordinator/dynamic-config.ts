import { mergeDynamicConfig, DYNAMIC_CONFIG_NAME as NAME, readDynamicConfig } from '../../../cluster/coordinator/dynamic-config.js';
import { fencedTransaction } from '../../../metadata/leadership.js';
import { audit, auditHistory, findConfig, writeConfig } from '../../../metadata/settings.js';
import type { Route } from '../../http.types.js';
import type { CoordinatorSource } from '../coordinator.js';
import { auditBody, CONFIG_READ, CONFIG_WRITE, json, readAuthor, readHistorySelection, readObject, route } from '../exchange.js';

const BASE = '/svc/coordinator/v1/config';

/** The Coordinator's dynamic configuration and its history. */
export function dynamicConfigRoutes({ coordinator, database, auditHistoryMs, now }: CoordinatorSource): readonly Route[] {
  return [
    route('GET', BASE, CONFIG_READ, async () => json(200, readDynamicConfig(await findConfig(database, NAME)))),
    route('POST', BASE, CONFIG_WRITE, async (request) => {
      const changes = readObject(request);
      await fencedTransaction(database, coordinator.fence(), async (queries) => {
        const payload = JSON.stringify(mergeDynamicConfig(readDynamicConfig(await findConfig(queries, NAME)), changes));
        await writeConfig(queries, NAME, payload);
        await audit(queries, { type: NAME, key: NAME }, readAuthor(request), payload, now());
      });
      await coordinator.wake();
      return { status: 200 };
    }),
    route('GET', `${BASE}/history`, CONFIG_READ, async (request) => {
      const entries = await auditHistory(database, { type: NAME, key: null, ...readHistorySelection(request, now(), auditHistoryMs) });
      return json(200, entries.map(auditBody));
    }),
  ];
}
