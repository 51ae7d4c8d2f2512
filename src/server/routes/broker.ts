import { ServiceError } from '../../base/errors.js';
import type { Broker } from '../../cluster/broker/broker.js';
import type { Route } from '../http.types.js';
import { CONFIG_READ, json, PUBLIC, route } from './exchange.js';

export function brokerRoutes(broker: Pick<Broker, 'ready' | 'lookupReport'>): readonly Route[] {
  return [
    route('GET', '/svc/listen/v1/lookups', CONFIG_READ, async () => json(200, (await broker.lookupReport()).current)),
    route('GET', '/svc/listen/v1/lookups/{name}', CONFIG_READ, async (_request, { name = '' }) => {
      const { current } = await broker.lookupReport();
      const lookup = Object.hasOwn(current, name) ? current[name] : undefined;
      if (lookup === undefined) throw new ServiceError('not_found', `lookup ${name} is not loaded here`);
      return json(200, lookup);
    }),
    route('GET', '/svc/broker/v1/loadstatus', PUBLIC, async () => json(200, { inventoryInitialized: broker.ready })),
    route('GET', '/svc/broker/v1/readiness', PUBLIC, async () =>
      broker.ready ? { status: 200 } : json(503, { error: 'the segments of the cluster are not known yet' }),
    ),
  ];
}
