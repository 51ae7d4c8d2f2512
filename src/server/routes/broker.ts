// Routes of the Broker.

import { setTimeout as sleep } from 'node:timers/promises';
import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { Broker } from '../../cluster/broker/broker.js';
import type { Route } from '../http.types.js';
import { json, PUBLIC, route, STATE_READ } from './exchange.js';
import { lookupIntrospectRoutes } from './lookup-introspect.js';
import { lookupListenRoutes } from './lookup-listen.js';

/** Time a request waits for the first view of the cluster, and time between two looks. */
const FIRST_VIEW_MS_MAX = 10_000;
const LOOK_MS = 50;

/**
 * Routes that wait until the Broker has its first view of the cluster, rather than answer that there are no datasources.
 * Those that have waited for `waitMs` answer 503.
 */
export function whenReady(broker: Pick<Broker, 'ready'>, routes: readonly Route[], waitMs = FIRST_VIEW_MS_MAX): readonly Route[] {
  return routes.map((each) => ({
    ...each,
    handle: (request, parameters) => {
      if (broker.ready) return each.handle(request, parameters);
      return untilReady(broker, waitMs, request.signal).then(() => each.handle(request, parameters));
    },
  }));
}

async function untilReady(broker: Pick<Broker, 'ready'>, waitMs: number, signal: CancelSignal): Promise<void> {
  for (const limitMs = performance.now() + waitMs; !broker.ready; ) {
    if (performance.now() >= limitMs)
      throw new ServiceError('unavailable', 'the Broker has just started and does not know the segments of the cluster yet');
    signal.throwIfAborted();
    await sleep(LOOK_MS);
  }
}

export function brokerRoutes(broker: Pick<Broker, 'ready' | 'lookups'>): readonly Route[] {
  return [
    ...lookupIntrospectRoutes((name) => broker.lookups.find(name)),
    ...lookupListenRoutes(() => broker.lookups.current()),
    route('GET', '/svc/broker/v1/loadstatus', STATE_READ, async () => json(200, { inventoryInitialized: broker.ready })),
    route('GET', '/svc/broker/v1/readiness', PUBLIC, async () =>
      broker.ready ? { status: 200 } : json(503, { error: 'the segments of the cluster are not known yet' }),
    ),
  ];
}
