// Routes for the lookups that a process holds.

import { ServiceError } from '../../base/errors.js';
import { own } from '../../base/names.js';
import { type Lookup, shownLookup, shownLookups } from '../../cluster/coordinator/lookups.js';
import type { Route } from '../http.types.js';
import { CONFIG_READ, json, route } from './exchange.js';

/** The lookups that the addressed process holds. */
export function lookupListenRoutes(held: () => Readonly<Record<string, Lookup>>): readonly Route[] {
  return [
    route('GET', '/svc/listen/v1/lookups', CONFIG_READ, async () => json(200, shownLookups(held()))),
    route('GET', '/svc/listen/v1/lookups/{name}', CONFIG_READ, async (_request, { name = '' }) => {
      const lookups = held();
      const lookup = Object.hasOwn(lookups, name) ? own(lookups, name) : undefined;
      if (lookup === undefined) throw new ServiceError('not_found', `lookup ${name} is not held by this process`);
      return json(200, shownLookup(lookup));
    }),
  ];
}
