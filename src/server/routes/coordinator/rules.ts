// Coordinator routes for retention rules.

import type { HttpRequest, Route } from '../../http.types.js';
import {
  auditBody,
  DATASOURCE_READ,
  DATASOURCE_WRITE,
  isFlagged,
  json,
  readAuthor,
  readHistorySelection,
  readJson,
  route,
  STATE_READ,
} from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';

const BASE = '/svc/coordinator/v1/rules';

/** Retention rules and their history. */
export function ruleRoutes({ coordinator, auditHistoryMs, now }: CoordinatorSource): readonly Route[] {
  const { settings } = coordinator;
  const history = async (request: HttpRequest, key: string | null) => {
    const entries = await settings.history({ type: 'rules', key, ...readHistorySelection(request, now(), auditHistoryMs) });
    return json(200, entries.map(auditBody));
  };
  return [
    route('GET', BASE, STATE_READ, async () => json(200, (await settings.retention()).all())),
    route('GET', `${BASE}/history`, STATE_READ, (request) => history(request, null)),
    route('GET', `${BASE}/{dataSource}`, DATASOURCE_READ, async (request, { dataSource = '' }) => {
      const retention = await settings.retention();
      return json(200, isFlagged(request, 'full') ? retention.withDefaults(dataSource) : retention.of(dataSource));
    }),
    route('GET', `${BASE}/{dataSource}/history`, DATASOURCE_READ, (request, { dataSource = '' }) => history(request, dataSource)),
    route('POST', `${BASE}/{dataSource}`, DATASOURCE_WRITE, async (request, { dataSource = '' }) => {
      await settings.writeRules(dataSource, readJson(request), readAuthor(request));
      await coordinator.wake();
      return { status: 200 };
    }),
  ];
}
