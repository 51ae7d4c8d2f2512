// Served segments and datasources, for Coordinator routes.

import type { ClusterPicture, Coordinator } from '../../../cluster/coordinator/coordinator.js';
import type { ServerInventory } from '../../../cluster/rpc/services.js';
import type { SegmentDescriptor } from '../../../model/segment.js';
import { segmentIdText } from '../../../model/segment-id.js';

/** A segment that some server serves, with those servers. */
export interface ServedSegment {
  readonly id: string;
  readonly segment: SegmentDescriptor;
  readonly servers: readonly ServerInventory[];
}

/** Visible segments of a datasource that are served somewhere, by start of their interval: "as seen by the Coordinator". */
export function servedSegments(coordinator: Coordinator, dataSource: string): readonly ServedSegment[] {
  const serversOf = indexServers(coordinator.picture);
  return coordinator.catalog.chunks(dataSource).flatMap((chunk) =>
    chunk.segments.flatMap((segment): ServedSegment[] => {
      const id = segmentIdText(segment.id);
      const servers = serversOf.get(id);
      return servers === undefined ? [] : [{ id, segment, servers }];
    }),
  );
}

/** Names of datasources with a served segment; sorted. */
export function servedDataSources(coordinator: Coordinator): readonly string[] {
  const serversOf = indexServers(coordinator.picture);
  return coordinator.catalog
    .dataSources()
    .filter((dataSource) =>
      coordinator.catalog.chunks(dataSource).some((chunk) => chunk.segments.some((segment) => serversOf.has(segmentIdText(segment.id)))),
    );
}

function indexServers(picture: ClusterPicture): ReadonlyMap<string, readonly ServerInventory[]> {
  const serversOf = new Map<string, ServerInventory[]>();
  for (const server of picture.servers) {
    for (const id of server.segmentIds) {
      const known = serversOf.get(id);
      if (known === undefined) serversOf.set(id, [server]);
      else known.push(server);
    }
  }
  return serversOf;
}
