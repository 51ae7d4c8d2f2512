// Writes a segment as management endpoints print it.

import { formatInterval } from '../../base/interval.js';
import { parseJson } from '../../base/json.js';
import { type SegmentDescriptor, shardSpecBody } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';

/** A segment as every management endpoint prints it. The two lists are comma-joined text. */
export function segmentBody(segment: SegmentDescriptor): Readonly<Record<string, unknown>> {
  const { id, loadSpec, dimensions, metrics, shardSpec, sizeBytes, lastCompactionState } = segment;
  return {
    dataSource: id.dataSource,
    interval: formatInterval(id.interval),
    version: id.version,
    loadSpec: shardSpec.type === 'tombstone' ? { ...loadSpec, path: null } : loadSpec,
    dimensions: dimensions.join(','),
    metrics: metrics.join(','),
    shardSpec: shardSpecBody(shardSpec),
    ...(lastCompactionState === undefined ? {} : { lastCompactionState: parseJson(lastCompactionState) }),
    binaryVersion: null,
    size: sizeBytes,
    identifier: segmentIdText(id),
  };
}
