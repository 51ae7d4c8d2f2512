// Coordinator routes for the configuration of lookups.

import { ServiceError } from '../../../base/errors.js';
import { own } from '../../../base/names.js';
import {
  type Lookups,
  mergeLookups,
  parseLookup,
  parseLookups,
  removeLookup,
  shownLookup,
  shownLookups,
} from '../../../cluster/coordinator/lookups.js';
import type { HttpRequest, Route } from '../../http.types.js';
import { CONFIG_READ, CONFIG_WRITE, json, readAuthor, readJson, route } from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';
import { isOn, lookupReports } from './lookup-status.js';

const BASE = '/svc/coordinator/v1/lookups/config';

/** The configuration of lookups. */
export function lookupRoutes({ coordinator, peers }: CoordinatorSource): readonly Route[] {
  const { settings } = coordinator;
  const change = (request: HttpRequest, alter: (current: Lookups) => Lookups) => settings.changeLookups(alter, readAuthor(request));
  const remove = (tier: string, name: string | null) => (current: Lookups) => {
    const rest = removeLookup(current, tier, name);
    if (rest === undefined) throw new ServiceError('not_found', `no lookup ${name === null ? `tier ${tier}` : `${name} in tier ${tier}`}`);
    return rest;
  };

  return [
    route('GET', BASE, CONFIG_READ, async (request) => {
      const configured = Object.keys(await settings.lookups());
      const active = isOn(request, 'discover') ? (await lookupReports(peers)).map(({ report }) => report.tier) : [];
      return json(200, [...new Set([...configured, ...active])]);
    }),
    route('GET', `${BASE}/all`, CONFIG_READ, async () => json(200, shownTiers(await settings.lookups()))),
    route('POST', BASE, CONFIG_WRITE, async (request) => {
      const lookups = parseLookups(readJson(request));
      await change(request, (current) => mergeLookups(current, lookups));
      return json(202, shownTiers(lookups));
    }),
    route('GET', `${BASE}/{tier}`, CONFIG_READ, async (_request, { tier = '' }) => {
      const lookups = own(await settings.lookups(), tier);
      if (lookups === undefined) throw new ServiceError('not_found', `no lookup tier ${tier}`);
      return json(200, Object.keys(lookups));
    }),
    route('DELETE', `${BASE}/{tier}`, CONFIG_WRITE, async (request, { tier = '' }) => {
      await change(request, remove(tier, null));
      return { status: 202 };
    }),
    route('GET', `${BASE}/{tier}/{name}`, CONFIG_READ, async (_request, { tier = '', name = '' }) => {
      const lookup = own(own(await settings.lookups(), tier), name);
      if (lookup === undefined) throw new ServiceError('not_found', `no lookup ${name} in tier ${tier}`);
      return json(200, shownLookup(lookup));
    }),
    route('POST', `${BASE}/{tier}/{name}`, CONFIG_WRITE, async (request, { tier = '', name = '' }) => {
      const lookup = parseLookup(readJson(request), name);
      await change(request, (current) => mergeLookups(current, { [tier]: { [name]: lookup } }));
      return { status: 202 };
    }),
    route('DELETE', `${BASE}/{tier}/{name}`, CONFIG_WRITE, async (request, { tier = '', name = '' }) => {
      await change(request, remove(tier, name));
      return { status: 202 };
    }),
  ];
}

function shownTiers(lookups: Lookups): Lookups {
  return Object.fromEntries(Object.entries(lookups).map(([tier, ofTier]) => [tier, shownLookups(ofTier)]));
}
