// Routes of the Historical.

import type { Route } from '../http.types.js';
import { json, PUBLIC, route, STATE_READ } from './exchange.js';
import { lookupListenRoutes, NO_LOOKUPS } from './lookup-listen.js';

/** @param held  lookups of the process, which its Broker and its Historical share */
export function historicalRoutes(historical: { readonly ready: boolean }, held = NO_LOOKUPS): readonly Route[] {
  return [
    ...lookupListenRoutes(held),
    route('GET', '/svc/historical/v1/loadstatus', STATE_READ, async () => json(200, { cacheInitialized: historical.ready })),
    route('GET', '/svc/historical/v1/readiness', PUBLIC, async () =>
      historical.ready ? { status: 200 } : json(503, { error: 'segments of the local cache are still being verified' }),
    ),
  ];
}
