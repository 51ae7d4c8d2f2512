// Routes of the Historical.

import type { Historical } from '../../cluster/historical/historical.js';
import type { Route } from '../http.types.js';
import { json, PUBLIC, route, STATE_READ } from './exchange.js';
import { lookupIntrospectRoutes } from './lookup-introspect.js';
import { lookupListenRoutes } from './lookup-listen.js';

export function historicalRoutes(historical: Pick<Historical, 'ready' | 'lookups'>): readonly Route[] {
  return [
    ...lookupIntrospectRoutes((name) => historical.lookups.find(name)),
    ...lookupListenRoutes(() => historical.lookups.current()),
    route('GET', '/svc/historical/v1/loadstatus', STATE_READ, async () => json(200, { cacheInitialized: historical.ready })),
    route('GET', '/svc/historical/v1/readiness', PUBLIC, async () =>
      historical.ready ? { status: 200 } : json(503, { error: 'segments of the local cache are still being verified' }),
    ),
  ];
}
