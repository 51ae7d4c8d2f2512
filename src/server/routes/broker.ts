// Routes of the Broker.

import { ServiceError } from '../../base/errors.js';
import type { Broker } from '../../cluster/broker/broker.js';
import type { Route } from '../http.types.js';
import { json, PUBLIC, route } from './exchange.js';
import { lookupListenRoutes } from './lookup-listen.js';

/** Routes that answer 503 until the Broker has its first view of the cluster, rather than that there are no datasources. */
export function whenReady(broker: Pick<Broker, 'ready'>, routes: readonly Route[]): readonly Route[] {
  return routes.map((each) => ({
    ...each,
    handle: (request, parameters) => {
      if (!broker.ready)
        throw new ServiceError('unavailable', 'the Broker has just started and does not know the segments of the cluster yet');
      return each.handle(request, parameters);
    },
  }));
}

export function brokerRoutes(broker: Pick<Broker, 'ready' | 'lookupReport'>): readonly Route[] {
  return [
    ...lookupListenRoutes(async () => (await broker.lookupReport()).current),
    route('GET', '/svc/broker/v1/loadstatus', PUBLIC, async () => json(200, { inventoryInitialized: broker.ready })),
    route('GET', '/svc/broker/v1/readiness', PUBLIC, async () =>
      broker.ready ? { status: 200 } : json(503, { error: 'the segments of the cluster are not known yet' }),
    ),
  ];
}
