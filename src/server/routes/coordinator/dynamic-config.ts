// Coordinator routes for the dynamic configuration.

import { DYNAMIC_CONFIG_NAME as NAME } from '../../../cluster/coordinator/dynamic-config.js';
import type { Route } from '../../http.types.js';
import { auditBody, CONFIG_READ, CONFIG_WRITE, json, readAuthor, readHistorySelection, readObject, route } from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';

const BASE = '/svc/coordinator/v1/config';

/** The Coordinator's dynamic configuration and its history. */
export function dynamicConfigRoutes({ coordinator, auditHistoryMs, now }: CoordinatorSource): readonly Route[] {
  const { settings } = coordinator;
  return [
    route('GET', BASE, CONFIG_READ, async () => json(200, await settings.dynamicConfig())),
    route('POST', BASE, CONFIG_WRITE, async (request) => {
      await settings.changeDynamicConfig(readObject(request), readAuthor(request));
      await coordinator.wake();
      return { status: 200 };
    }),
    route('GET', `${BASE}/history`, CONFIG_READ, async (request) => {
      const entries = await settings.history({ type: NAME, key: null, ...readHistorySelection(request, now(), auditHistoryMs) });
      return json(200, entries.map(auditBody));
    }),
  ];
}
