import type { SegmentDescriptor } from '../../src/model/segment.js';
import { randomSource } from '../data/random.js';

export const DAY = 86_400_000;
const VERSION = '2026-01-01T00:00:00.000Z';
const DIMENSIONS = ['country', 'device', 'page', 'user', 'campaign', 'status'];
const METRICS = ['added', 'duration'];

/** Records of segments as a cluster has them: days of many datasources, with counts of values that differ from segment to segment. */
export function* segmentRecords(segments: number, dataSources: number): Generator<SegmentDescriptor> {
  const next = randomSource(14);
  for (let at = 0; at < segments; at++) yield segmentRecord(tableName(at % dataSources), Math.floor(at / dataSources), next);
}

export function tableName(number: number): string {
  return `table_${String(number).padStart(5, '0')}`;
}

export function segmentRecord(dataSource: string, day: number, next: () => number): SegmentDescriptor {
  const count = (most: number): number => 1 + Math.floor(next() * most);
  return {
    id: { dataSource, interval: { start: day * DAY, end: (day + 1) * DAY }, version: VERSION, partitionNumber: 0 },
    shardSpec: { type: 'numbered', partitionNum: 0, partitions: 1 },
    loadSpec: { type: 'local', path: `${dataSource}/${day}/${VERSION}/0` },
    sizeBytes: 300_000 + count(400_000),
    rowCount: count(5_000_000),
    dimensions: DIMENSIONS,
    metrics: METRICS,
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
      ...DIMENSIONS.map((name) => ({ name, type: 'STRING' as const, multiValue: false, hasNulls: false })),
      ...METRICS.map((name) => ({ name, type: 'LONG' as const, multiValue: false, hasNulls: false })),
    ],
    distinctCounts: [-1, ...DIMENSIONS.map(() => count(10_000)), ...METRICS.map(() => -1)],
  };
}
