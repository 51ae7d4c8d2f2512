import { Retention } from '../../../cluster/coordinator/retention.js';
import { parseRules } from '../../../cluster/coordinator/rules.js';
import { fencedTransaction } from '../../../metadata/leadership.js';
import { audit, auditHistory, writeRules } from '../../../metadata/settings.js';
import type { HttpRequest, Route } from '../../http.types.js';
import type { CoordinatorSource } from '../coordinator.js';
import { auditBody, DATASOURCES, isFlagged, json, readAuthor, readHistorySelection, readJson, route } from '../exchange.js';

const BASE = '/svc/coordinator/v1/rules';

/** Retention rules and their history. */
export function ruleRoutes({ coordinator, database, auditHistoryMs, now }: CoordinatorSource): readonly Route[] {
  const history = async (request: HttpRequest, key: string | null) => {
    const entries = await auditHistory(database, { type: 'rules', key, ...readHistorySelection(request, now(), auditHistoryMs) });
    return json(200, entries.map(auditBody));
  };
  return [
    route('GET', BASE, DATASOURCES, async () => json(200, (await Retention.read(database)).all())),
    route('GET', `${BASE}/history`, DATASOURCES, (request) => history(request, null)),
    route('GET', `${BASE}/{dataSource}`, DATASOURCES, async (request, { dataSource = '' }) => {
      const retention = await Retention.read(database);
      return json(200, isFlagged(request, 'full') ? [...retention.of(dataSource), ...retention.defaults()] : retention.of(dataSource));
    }),
    route('GET', `${BASE}/{dataSource}/history`, DATASOURCES, (request, { dataSource = '' }) => history(request, dataSource)),
    route('POST', `${BASE}/{dataSource}`, DATASOURCES, async (request, { dataSource = '' }) => {
      const payload = JSON.stringify(parseRules(readJson(request)));
      await fencedTransaction(database, coordinator.fence(), async (queries) => {
        await writeRules(queries, dataSource, payload);
        await audit(queries, { type: 'rules', key: dataSource }, readAuthor(request), payload, now());
      });
      await coordinator.wake();
      return { status: 200 };
    }),
  ];
}
