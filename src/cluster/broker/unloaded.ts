// Segments in use that no Historical loads: statements that run as tasks read them as well.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import { SegmentTimeline } from '../../metadata/segment-timeline.js';
import { chunksOfRows } from '../../metadata/tombstones.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import type { Peers } from '../rpc/peers.js';
import type { SegmentServer, UsedSegment } from '../rpc/services.js';
import { untilLed } from '../rpc/until-led.js';
import type { DataSourceView } from './block-view.js';
import type { UnloadedSegments } from './contract.js';
import type { Serving } from './scatter.js';
import { tableSchema } from './table-schema.js';

/**
 * Segments of some tables that the Coordinator has loaded nowhere; undefined where there are none.
 * @param limitMs  time that a Coordinator is waited for
 */
export async function findUnloaded(
  tables: ReadonlySet<string>,
  { peers, limitMs, signal }: { readonly peers: Pick<Peers, 'leading'>; readonly limitMs: number; readonly signal: CancelSignal },
): Promise<UnloadedSegments | undefined> {
  if (tables.size === 0) return undefined;
  const find = async (): Promise<readonly UsedSegment[]> => peers.leading('coordinator').usedSegments([...tables]);
  return unloadedSegments(tables, await untilLed(find, { limitMs, keepsTrying: () => !signal.aborted }));
}

function unloadedSegments(tables: ReadonlySet<string>, used: readonly UsedSegment[]): UnloadedSegments | undefined {
  const byId = new Map<string, SegmentDescriptor>();
  const byTable = new Map<string, SegmentDescriptor[]>();
  for (const { segment, overshadowed, replicationFactor } of used) {
    const { dataSource } = segment.id;
    if (!tables.has(dataSource) || overshadowed || replicationFactor > 0) continue;
    byId.set(idTextOf(segment), segment);
    const list = byTable.get(dataSource);
    if (list === undefined) byTable.set(dataSource, [segment]);
    else list.push(segment);
  }
  return byId.size === 0 ? undefined : { byId, byTable };
}

/** A view of a table with those of its segments that are loaded nowhere; undefined where it has no segments. */
export function withUnloaded(dataSource: string, view: DataSourceView | undefined, unloaded: UnloadedSegments): DataSourceView | undefined {
  const added = unloaded.byTable.get(dataSource);
  if (added === undefined) return view;
  const timeline = new SegmentTimeline<SegmentDescriptor>();
  timeline.change([], [...(view?.chunks ?? []).flatMap(({ segments }) => segments), ...(view?.tombstones ?? []), ...added]);
  const { blocks } = timeline;
  const whole: DataSourceView = {
    dataSource,
    chunks: chunksOfRows(blocks.flatMap(({ chunks }) => chunks)),
    tombstones: [],
    unreadable: view?.unreadable ?? [],
    schema: tableSchema(dataSource, blocks),
    only: () => whole,
  };
  return whole;
}

/**
 * Every server may fetch a segment that is loaded nowhere.
 * @param servers  those that are there
 */
export function servingUnloaded(serving: Serving, { byId }: UnloadedSegments, servers: readonly SegmentServer[]): Serving {
  return {
    ...serving,
    of(id) {
      const found = serving.of(id);
      if (found.length > 0 || !byId.has(id)) return found;
      if (servers.length === 0)
        throw new ServiceError('segments_unavailable', `segment ${id} is loaded nowhere, and no Historical is there to fetch it`);
      return servers;
    },
  };
}
