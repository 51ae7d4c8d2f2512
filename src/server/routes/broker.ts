import type { Broker } from '../../cluster/broker/broker.js';
import type { Route } from '../http.types.js';
import { json, PUBLIC, route } from './exchange.js';
import { lookupListenRoutes } from './lookup-listen.js';

export function brokerRoutes(broker: Pick<Broker, 'ready' | 'lookupReport'>): readonly Route[] {
  return [
    ...lookupListenRoutes(async () => (await broker.lookupReport()).current),
    route('GET', '/svc/broker/v1/loadstatus', PUBLIC, async () => json(200, { inventoryInitialized: broker.ready })),
    route('GET', '/svc/broker/v1/readiness', PUBLIC, async () =>
      broker.ready ? { status: 200 } : json(503, { error: 'the segments of the cluster are not known yet' }),
    ),
  ];
}
