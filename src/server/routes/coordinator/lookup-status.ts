// Coordinator routes for the status of lookups.

import { ServiceError } from '../../../base/errors.js';
import { stringifyJson } from '../../../base/json.js';
import { own } from '../../../base/names.js';
import { type Lookup, type Lookups, shownLookups } from '../../../cluster/coordinator/lookups.js';
import type { Peers } from '../../../cluster/rpc/peers.js';
import type { LookupReport } from '../../../cluster/rpc/services.js';
import type { HttpRequest, Route } from '../../http.types.js';
import { CONFIG_READ, json, route } from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';

const BASE = '/svc/coordinator/v1/lookups';

/** Lookup status of one process: loaded, to load, to drop. */
interface NodeState {
  readonly host: string;
  readonly tier: string;
  readonly current: Readonly<Record<string, Lookup>>;
  readonly toLoad: Readonly<Record<string, Lookup>>;
  readonly toDrop: readonly string[];
  /** Why a lookup is not as its configuration or its source has it, and since when. */
  readonly failed: Readonly<Record<string, string>>;
}

/** Lookup status by process. Brokers and Historicals load lookups. */
export function lookupStatusRoutes({ coordinator, peers }: CoordinatorSource): readonly Route[] {
  const read = async (): Promise<{ readonly lookups: Lookups; readonly nodes: readonly NodeState[] }> => {
    const lookups = await coordinator.settings.lookups();
    return {
      lookups,
      nodes: (await lookupReports(peers)).map(({ host, report }) => stateOf(host, report, own(lookups, report.tier) ?? {})),
    };
  };
  const status = (nodes: readonly NodeState[], tier: string, name: string, detailed: boolean): object => {
    const pendingNodes = nodes.filter((node) => node.tier === tier && Object.hasOwn(node.toLoad, name)).map(({ host }) => host);
    const failing = nodes.flatMap((node) => {
      const reason = node.tier === tier ? own(node.failed, name) : undefined;
      return reason === undefined ? [] : [[node.host, reason] as const];
    });
    const failed = failing.length === 0 ? {} : { failed: Object.fromEntries(failing) };
    return { loaded: pendingNodes.length === 0, ...(detailed ? { pendingNodes, ...failed } : {}) };
  };
  const tierStatus = (nodes: readonly NodeState[], lookups: Lookups, tier: string, detailed: boolean): object =>
    Object.fromEntries(Object.keys(own(lookups, tier) ?? {}).map((name) => [name, status(nodes, tier, name, detailed)]));
  const nodesOf = (nodes: readonly NodeState[], tier: string, detailed: boolean): object =>
    Object.fromEntries(nodes.filter((node) => node.tier === tier).map((node) => [node.host, stateBody(node, detailed)]));
  const unknown = (what: string): never => {
    throw new ServiceError('not_found', `no ${what}`);
  };

  return [
    route('GET', `${BASE}/status`, CONFIG_READ, async (request) => {
      const { lookups, nodes } = await read();
      const detailed = isOn(request, 'detailed');
      return json(200, Object.fromEntries(Object.keys(lookups).map((tier) => [tier, tierStatus(nodes, lookups, tier, detailed)])));
    }),
    route('GET', `${BASE}/status/{tier}`, CONFIG_READ, async (request, { tier = '' }) => {
      const { lookups, nodes } = await read();
      if (own(lookups, tier) === undefined) unknown(`lookup tier ${tier}`);
      return json(200, tierStatus(nodes, lookups, tier, isOn(request, 'detailed')));
    }),
    route('GET', `${BASE}/status/{tier}/{name}`, CONFIG_READ, async (request, { tier = '', name = '' }) => {
      const { lookups, nodes } = await read();
      if (own(own(lookups, tier), name) === undefined) unknown(`lookup ${name} in tier ${tier}`);
      return json(200, status(nodes, tier, name, isOn(request, 'detailed')));
    }),
    route('GET', `${BASE}/nodeStatus`, CONFIG_READ, async (request) => {
      const { lookups, nodes } = await read();
      const tiers = new Set([...Object.keys(lookups), ...(isOn(request, 'discover') ? nodes.map(({ tier }) => tier) : [])]);
      const detailed = isOn(request, 'detailed', true);
      return json(200, Object.fromEntries([...tiers].map((tier) => [tier, nodesOf(nodes, tier, detailed)])));
    }),
    route('GET', `${BASE}/nodeStatus/{tier}`, CONFIG_READ, async (request, { tier = '' }) => {
      const { lookups, nodes } = await read();
      if (own(lookups, tier) === undefined && !nodes.some((node) => node.tier === tier)) unknown(`lookup tier ${tier}`);
      return json(200, nodesOf(nodes, tier, isOn(request, 'detailed', true)));
    }),
    route('GET', `${BASE}/nodeStatus/{tier}/{host}`, CONFIG_READ, async (request, { tier = '', host = '' }) => {
      const node = (await read()).nodes.find((each) => each.tier === tier && each.host === host);
      return json(200, stateBody(node ?? unknown(`process ${host} in lookup tier ${tier}`), isOn(request, 'detailed', true)));
    }),
  ];
}

/** Loaded lookups of every Broker and Historical that answers. */
export async function lookupReports(
  peers: Pick<Peers, 'all'>,
): Promise<readonly { readonly host: string; readonly report: LookupReport }[]> {
  const holders = [...peers.all('broker'), ...peers.all('historical')];
  const reports = holders.map(async ({ host, service }) => ({ host, report: await service.lookupReport().catch(() => null) }));
  return (await Promise.all(reports)).flatMap(({ host, report }) => (report === null ? [] : [{ host, report }]));
}

/** A flag is on in any form but `false`. */
export function isOn(request: HttpRequest, name: string, absent = false): boolean {
  return request.query.has(name) ? request.query.get(name) !== 'false' : absent;
}

function stateOf(host: string, { tier, current, failed }: LookupReport, configured: Readonly<Record<string, Lookup>>): NodeState {
  const toLoad = Object.entries(configured).filter(([name, lookup]) => stringifyJson(own(current, name)) !== stringifyJson(lookup));
  const toDrop = Object.keys(current).filter((name) => !Object.hasOwn(configured, name));
  return { host, tier, current, toLoad: Object.fromEntries(toLoad), toDrop, failed };
}

function stateBody({ current, toLoad, toDrop }: NodeState, detailed: boolean): object {
  const shown = (lookups: Readonly<Record<string, Lookup>>): object =>
    detailed ? shownLookups(lookups) : Object.fromEntries(Object.entries(lookups).map(([name, { version }]) => [name, version ?? '']));
  return { current: shown(current), toLoad: shown(toLoad), toDrop };
}
