// Coordinator routes for the progress of segment loading.

import { ServiceError } from '../../../base/errors.js';
import { intersect } from '../../../base/interval.js';
import type { ClusterPicture, Target } from '../../../cluster/coordinator/assignment.js';
import type { HttpRequest, Route } from '../../http.types.js';
import { segmentBody } from '../../results/segment-body.js';
import { DATASOURCE_READ, isFlagged, isTrue, json, readInterval, route, STATE_READ } from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';

const WEEK_MS = 7 * 86_400_000;

/** Routes that report the progress of segment loading. */
export function loadingRoutes({ coordinator, now }: CoordinatorSource): readonly Route[] {
  return [
    route('GET', '/svc/coordinator/v1/loadstatus', STATE_READ, async (request) =>
      json(200, loadStatus(coordinator.picture, [...coordinator.picture.targets.values()], request)),
    ),
    route('GET', '/svc/coordinator/v1/loadqueue', STATE_READ, async (request) => json(200, loadQueue(coordinator.picture, request))),
    route('GET', '/svc/coordinator/v1/datasources/{dataSource}/loadstatus', DATASOURCE_READ, async (request, { dataSource = '' }) => {
      if (!request.query.has('forceMetadataRefresh'))
        throw new ServiceError('input_invalid', 'forceMetadataRefresh: found nothing, expected true or false');
      if (isTrue(request, 'forceMetadataRefresh')) await coordinator.snapshot();
      const written = request.query.get('interval');
      const interval = written === null ? { start: now() - 2 * WEEK_MS, end: now() } : readInterval('interval', written);
      const targets = [...coordinator.picture.targets.values()].filter(
        ({ segment }) => segment.id.dataSource === dataSource && intersect(segment.id.interval, interval) !== undefined,
      );
      return targets.length === 0 ? { status: 204 } : json(200, loadStatus(coordinator.picture, targets, request));
    }),
  ];
}

/** Percent served, or with `simple` segments and with `full` copies still to load. */
function loadStatus({ servers }: ClusterPicture, targets: readonly Target[], request: HttpRequest): Readonly<Record<string, unknown>> {
  if (isFlagged(request, 'full')) return copiesToLoad(servers, targets, isFlagged(request, 'computeUsingClusterView'));
  const totals = new Map<string, { total: number; loaded: number }>();
  for (const { id, segment } of targets) {
    const known = totals.get(segment.id.dataSource) ?? { total: 0, loaded: 0 };
    totals.set(segment.id.dataSource, {
      total: known.total + 1,
      loaded: known.loaded + (servers.some(({ served }) => served.has(id)) ? 1 : 0),
    });
  }
  const simple = isFlagged(request, 'simple');
  return Object.fromEntries(
    [...totals].map(([dataSource, { total, loaded }]) => [dataSource, simple ? total - loaded : (100 * loaded) / total]),
  );
}

/** Copies still to load, by tier and datasource. The cluster view asks for no more copies than a tier has servers. */
function copiesToLoad(
  servers: ClusterPicture['servers'],
  targets: readonly Target[],
  clusterView: boolean,
): Readonly<Record<string, Record<string, number>>> {
  const missing = new Map<string, Map<string, number>>();
  for (const { id, segment, tieredReplicants } of targets) {
    for (const [tier, wanted] of Object.entries(tieredReplicants)) {
      const members = servers.filter((server) => server.tier === tier);
      const copies = members.filter((server) => server.served.has(id)).length;
      const count = Math.max(0, (clusterView ? Math.min(wanted, members.length) : wanted) - copies);
      const ofTier = missing.get(tier) ?? new Map<string, number>();
      missing.set(tier, ofTier.set(segment.id.dataSource, (ofTier.get(segment.id.dataSource) ?? 0) + count));
    }
  }
  return Object.fromEntries([...missing].map(([tier, counts]) => [tier, Object.fromEntries(counts)]));
}

function loadQueue({ servers, targets, drops }: ClusterPicture, request: HttpRequest): Readonly<Record<string, unknown>> {
  const sizeOf = (ids: readonly string[]) => ids.reduce((size, id) => size + (targets.get(id)?.segment.sizeBytes ?? 0), 0);
  const bodies = (ids: readonly string[]) => ids.flatMap((id) => targets.get(id)?.segment ?? []).map(segmentBody);
  return Object.fromEntries(
    servers.map(({ host, loading: coming }) => {
      const loading = [...coming];
      const dropping = drops.get(host) ?? [];
      if (isFlagged(request, 'full')) return [host, { segmentsToLoad: bodies(loading), segmentsToDrop: bodies(dropping) }];
      if (!isFlagged(request, 'simple')) return [host, { segmentsToLoad: loading, segmentsToDrop: dropping }];
      return [
        host,
        {
          segmentsToLoad: loading.length,
          segmentsToDrop: dropping.length,
          segmentsToLoadSize: sizeOf(loading),
          segmentsToDropSize: sizeOf(dropping),
        },
      ];
    }),
  );
}
