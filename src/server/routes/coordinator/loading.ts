// Coordinator routes for the progress of segment loading.

import { ServiceError } from '../../../base/errors.js';
import { intersect } from '../../../base/interval.js';
import { LoopTurns } from '../../../base/loop-turns.js';
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
      json(200, await loadStatus(coordinator.picture, () => true, request)),
    ),
    route('GET', '/svc/coordinator/v1/loadqueue', STATE_READ, async (request) => json(200, loadQueue(coordinator.picture, request))),
    route('GET', '/svc/coordinator/v1/datasources/{dataSource}/loadstatus', DATASOURCE_READ, async (request, { dataSource = '' }) => {
      if (!request.query.has('forceMetadataRefresh'))
        throw new ServiceError('input_invalid', 'forceMetadataRefresh: found nothing, expected true or false');
      if (isTrue(request, 'forceMetadataRefresh')) await coordinator.snapshot();
      const written = request.query.get('interval');
      const interval = written === null ? { start: now() - 2 * WEEK_MS, end: now() } : readInterval('interval', written);
      let isAny = false;
      const isMeant = ({ segment }: Target): boolean => {
        const isOne = segment.id.dataSource === dataSource && intersect(segment.id.interval, interval) !== undefined;
        isAny ||= isOne;
        return isOne;
      };
      const body = await loadStatus(coordinator.picture, isMeant, request);
      return isAny ? json(200, body) : { status: 204 };
    }),
  ];
}

/** Percent served, or with `simple` segments and with `full` copies still to load. Gives the event loop its turns. */
async function loadStatus(
  picture: ClusterPicture,
  isMeant: (target: Target) => boolean,
  request: HttpRequest,
): Promise<Readonly<Record<string, unknown>>> {
  if (isFlagged(request, 'full')) return copiesToLoad(picture, isMeant, isFlagged(request, 'computeUsingClusterView'));
  const turns = new LoopTurns();
  const totals = new Map<string, { total: number; loaded: number }>();
  for (const target of picture.targets.values()) {
    if (turns.isDue) await turns.give();
    if (!isMeant(target)) continue;
    const { dataSource } = target.segment.id;
    const known = totals.get(dataSource) ?? { total: 0, loaded: 0 };
    totals.set(dataSource, known);
    known.total++;
    if (picture.servers.some(({ served }) => served.has(target.id))) known.loaded++;
  }
  const simple = isFlagged(request, 'simple');
  return Object.fromEntries(
    [...totals].map(([dataSource, { total, loaded }]) => [dataSource, simple ? total - loaded : (100 * loaded) / total]),
  );
}

/** Copies still to load, by tier and datasource. The cluster view asks for no more copies than a tier has servers. */
async function copiesToLoad(
  { servers, targets }: ClusterPicture,
  isMeant: (target: Target) => boolean,
  clusterView: boolean,
): Promise<Readonly<Record<string, Record<string, number>>>> {
  const turns = new LoopTurns();
  const missing = new Map<string, Map<string, number>>();
  for (const target of targets.values()) {
    if (turns.isDue) await turns.give();
    if (!isMeant(target)) continue;
    const { id, segment, tieredReplicants } = target;
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
