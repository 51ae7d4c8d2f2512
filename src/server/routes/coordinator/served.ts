// Served segments and datasources, for Coordinator routes.

import type { Coordinator } from '../../../cluster/coordinator/coordinator.js';
import type { HeldSegments } from '../../../cluster/inventories.js';
import type { SegmentDescriptor } from '../../../model/segment.js';
import { idTextOf } from '../../../model/segment-id.js';

/** A segment that some server serves, with those servers. */
export interface ServedSegment {
  readonly id: string;
  readonly segment: SegmentDescriptor;
  readonly servers: readonly HeldSegments[];
}

/** Visible segments of a datasource that are served somewhere, by start of their interval: "as seen by the Coordinator". */
export function servedSegments(coordinator: Coordinator, dataSource: string): readonly ServedSegment[] {
  const all = coordinator.picture.servers;
  return coordinator.catalog.chunks(dataSource).flatMap((chunk) =>
    chunk.segments.flatMap((segment): ServedSegment[] => {
      const id = idTextOf(segment);
      const servers = all.filter(({ served }) => served.has(id));
      return servers.length === 0 ? [] : [{ id, segment, servers }];
    }),
  );
}

/** Names of datasources with a served segment; sorted. */
export function servedDataSources(coordinator: Coordinator): readonly string[] {
  const { servers } = coordinator.picture;
  const isServed = (segment: SegmentDescriptor): boolean => servers.some(({ served }) => served.has(idTextOf(segment)));
  return coordinator.catalog
    .dataSources()
    .filter((dataSource) => coordinator.catalog.chunks(dataSource).some((chunk) => chunk.segments.some(isServed)));
}
