// Coordinator routes for datasources, intervals and servers.

import { ServiceError } from '../../../base/errors.js';
import type { Interval } from '../../../base/instant.js';
import { contains, intersect } from '../../../base/interval.js';
import { highest, lowest } from '../../../base/lists.js';
import { createByName } from '../../../base/names.js';
import type { HeldSegments } from '../../../cluster/inventories.js';
import { itself, readable } from '../../access/readable.js';
import type { HttpRequest, HttpResponse, Route } from '../../http.types.js';
import { segmentBody } from '../../results/segment-body.js';
import { DATASOURCE_READ, formatInstant, formatInterval, isFlagged, json, LISTED, readInterval, route, STATE_READ } from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';
import { dataSourceBody } from './metadata.js';
import { type ServedSegment, servedDataSources, servedSegments } from './served.js';

/** Datasources, intervals and servers as the Coordinator sees the cluster. */
export function catalogRoutes({ coordinator }: CoordinatorSource): readonly Route[] {
  const served = (dataSource: string) => servedSegments(coordinator, dataSource);
  const everywhere = ({ caller }: HttpRequest) =>
    readable(caller, servedDataSources(coordinator), itself).flatMap((dataSource) => served(dataSource));

  return [
    route('GET', '/svc/coordinator/v1/datasources', LISTED, async (request) => {
      const names = readable(request.caller, servedDataSources(coordinator), itself);
      if (isFlagged(request, 'full'))
        return json(
          200,
          names.map((name) => fullBody(name, served(name))),
        );
      if (isFlagged(request, 'simple'))
        return json(
          200,
          names.map((name) => simpleBody(name, served(name))),
        );
      return json(200, names);
    }),
    route('GET', '/svc/coordinator/v1/datasources/{dataSource}', DATASOURCE_READ, async (request, { dataSource = '' }) => {
      const segments = served(dataSource);
      if (segments.length === 0) return { status: 204 };
      return json(200, isFlagged(request, 'full') ? fullBody(dataSource, segments) : simpleBody(dataSource, segments));
    }),
    route('GET', '/svc/coordinator/v1/datasources/{dataSource}/intervals', DATASOURCE_READ, async (request, { dataSource = '' }) => {
      const segments = served(dataSource);
      if (isFlagged(request, 'full')) return json(200, byInterval(segments, servedById));
      if (isFlagged(request, 'simple')) return json(200, byInterval(segments, sizeAndCount));
      return json(200, Object.keys(byInterval(segments, sizeAndCount)));
    }),
    route(
      'GET',
      '/svc/coordinator/v1/datasources/{dataSource}/intervals/{interval}',
      DATASOURCE_READ,
      async (request, { dataSource = '', interval = '' }) => {
        const segments = within(served(dataSource), readInterval('interval', interval));
        if (isFlagged(request, 'full')) return json(200, byInterval(segments, servedById));
        if (isFlagged(request, 'simple')) return json(200, byInterval(segments, sizeAndCount));
        return json(
          200,
          segments.map(({ id }) => id),
        );
      },
    ),
    route(
      'GET',
      '/svc/coordinator/v1/datasources/{dataSource}/intervals/{interval}/serverview',
      DATASOURCE_READ,
      async (_request, { dataSource = '', interval = '' }) =>
        json(
          200,
          byInterval(within(served(dataSource), readInterval('interval', interval)), (segments) => segments.map(loadInfo)),
        ),
    ),
    route('GET', '/svc/coordinator/v1/datasources/{dataSource}/segments', DATASOURCE_READ, async (request, { dataSource = '' }) =>
      json(
        200,
        served(dataSource).map(({ id, segment }) => (isFlagged(request, 'full') ? segmentBody(segment) : id)),
      ),
    ),
    route(
      'GET',
      '/svc/coordinator/v1/datasources/{dataSource}/segments/{segmentId}',
      DATASOURCE_READ,
      async (_request, { dataSource = '', segmentId = '' }) => {
        const found = served(dataSource).find(({ id }) => id === segmentId);
        if (found === undefined) throw new ServiceError('not_found', `segment ${segmentId} of ${dataSource} is not served`);
        return json(200, withServers(found));
      },
    ),
    route('GET', '/svc/coordinator/v1/datasources/{dataSource}/tiers', DATASOURCE_READ, async (_request, { dataSource = '' }) =>
      json(200, [...new Set(served(dataSource).flatMap(({ servers }) => servers.map(({ tier }) => tier)))]),
    ),
    route('GET', '/svc/coordinator/v1/intervals', LISTED, async (request) => json(200, byInterval(everywhere(request), byDataSource))),
    route('GET', '/svc/coordinator/v1/intervals/{interval}', LISTED, async (request, { interval: written = '' }) =>
      intervalTotals(everywhere(request), readInterval('interval', written), request),
    ),
    route('GET', '/svc/coordinator/v1/tiers', STATE_READ, async () =>
      json(200, [...new Set(coordinator.picture.servers.map(({ tier }) => tier))].sort()),
    ),
    route('GET', '/svc/coordinator/v1/servers', STATE_READ, async (request) => {
      const { servers } = coordinator.picture;
      return json(200, isFlagged(request, 'simple') ? servers.map(serverBody) : servers.map(({ host }) => host));
    }),
  ];
}

function intervalTotals(segments: readonly ServedSegment[], interval: Interval, request: Parameters<typeof isFlagged>[0]): HttpResponse {
  if (isFlagged(request, 'full')) return json(200, byInterval(within(segments, interval), byDataSource));
  if (isFlagged(request, 'simple')) return json(200, byInterval(within(segments, interval), sizeAndCount));
  return json(200, sizeAndCount(segments.filter(({ segment }) => intersect(segment.id.interval, interval) !== undefined)));
}

function simpleBody(name: string, segments: readonly ServedSegment[]): Readonly<Record<string, unknown>> {
  const sizeOf = (list: readonly ServedSegment[]) => list.reduce((size, { segment }) => size + segment.sizeBytes, 0);
  const tiers = createByName<unknown>();
  for (const tier of new Set(segments.flatMap(({ servers }) => servers.map((server) => server.tier)))) {
    const inTier = segments.filter(({ servers }) => servers.some((server) => server.tier === tier));
    tiers[tier] = { size: sizeOf(inTier), segmentCount: inTier.length };
  }
  const totals = {
    count: segments.length,
    size: sizeOf(segments),
    replicatedSize: segments.reduce((size, { segment, servers }) => size + segment.sizeBytes * servers.length, 0),
    minTime: formatInstant(lowest(segments.map(({ segment }) => segment.id.interval.start))),
    maxTime: formatInstant(highest(segments.map(({ segment }) => segment.id.interval.end))),
  };
  const properties = { tiers, segments: totals };
  return { name, properties, ...properties };
}

function fullBody(name: string, segments: readonly ServedSegment[]): Readonly<Record<string, unknown>> {
  return dataSourceBody(
    name,
    segments.map(({ segment }) => segment),
  );
}

function within(segments: readonly ServedSegment[], interval: Interval): readonly ServedSegment[] {
  return segments.filter(({ segment }) => contains(interval, segment.id.interval));
}

/** Newest interval first, as the interface lists them. */
function byInterval<Value>(
  segments: readonly ServedSegment[],
  describe: (segments: readonly ServedSegment[]) => Value,
): Readonly<Record<string, Value>> {
  const groups = new Map<string, ServedSegment[]>();
  for (const each of segments.toSorted((a, b) => b.segment.id.interval.start - a.segment.id.interval.start)) {
    const key = formatInterval(each.segment.id.interval);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return Object.fromEntries([...groups].map(([interval, group]) => [interval, describe(group)]));
}

function sizeAndCount(segments: readonly ServedSegment[]): { readonly size: number; readonly count: number } {
  return { size: segments.reduce((size, { segment }) => size + segment.sizeBytes, 0), count: segments.length };
}

function byDataSource(segments: readonly ServedSegment[]): Readonly<Record<string, unknown>> {
  const names = new Set(segments.map(({ segment }) => segment.id.dataSource));
  return Object.fromEntries(
    [...names].map((name) => [name, sizeAndCount(segments.filter(({ segment }) => segment.id.dataSource === name))]),
  );
}

function servedById(segments: readonly ServedSegment[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(segments.map((each) => [each.id, withServers(each)]));
}

function withServers({ segment, servers }: ServedSegment): Readonly<Record<string, unknown>> {
  return { metadata: segmentBody(segment), servers: servers.map(({ host }) => host) };
}

function loadInfo({ segment, servers }: ServedSegment): Readonly<Record<string, unknown>> {
  return {
    segment: segmentBody(segment),
    servers: servers.map((server) => ({ name: server.host, hostAndTlsPort: null, ...serverBody(server) })),
  };
}

function serverBody({ host, tier, priority, currentSizeBytes, maxSizeBytes }: HeldSegments): Readonly<Record<string, unknown>> {
  return { host, type: 'historical', currSize: currentSizeBytes, maxSize: maxSizeBytes, priority, tier };
}
