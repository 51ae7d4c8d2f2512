import { tableSchema } from '../../src/cluster/broker/table-schema.js';
import type { ColumnSchema, ColumnType } from '../../src/model/schema.js';
import { type SegmentDescriptor, segmentColumns } from '../../src/model/segment.js';
import type { SqlSchema, SqlTable } from '../../src/planner/sql/catalog/schema.js';

const SEGMENTS = 1000;
const DIMENSIONS = 119;
const METRICS = 80;
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 9, 1);

/** Schema that planning sees: `events` (200 columns in 1,000 segments, one an hour) and `countries`. */
export function benchSchema(): SqlSchema {
  const events = [
    column('__time', 'LONG'),
    ...Array.from({ length: DIMENSIONS }, (_, index) => column(`dimension_${index + 1}`, 'STRING')),
    ...Array.from({ length: METRICS }, (_, index) => column(`metric_${index + 1}`, index % 2 === 0 ? 'LONG' : 'DOUBLE')),
  ];
  const countries = [column('__time', 'LONG'), ...['code', 'name', 'continent'].map((name) => column(name, 'STRING'))];
  const tables = new Map<string, SqlTable>([
    ['events', table('events', events, SEGMENTS)],
    ['countries', table('countries', countries, 1)],
  ]);
  return { tables: () => [...tables.keys()], table: (name) => tables.get(name), lookups: () => ['country_names'] };
}

function column(name: string, type: ColumnType): ColumnSchema {
  return { name, type, multiValue: false, hasNulls: name !== '__time' };
}

function table(dataSource: string, columns: readonly ColumnSchema[], segments: number): SqlTable {
  const chunks = Array.from({ length: segments }, (_, hour) => {
    const interval = { start: START_MS + hour * HOUR_MS, end: START_MS + (hour + 1) * HOUR_MS };
    return { interval, version: 'v1', segments: [segmentOf(dataSource, interval, columns)] };
  });
  return tableSchema(dataSource, [{ chunks }]);
}

function segmentOf(dataSource: string, interval: SegmentDescriptor['id']['interval'], columns: readonly ColumnSchema[]): SegmentDescriptor {
  return {
    id: { dataSource, interval, version: 'v1', partitionNumber: 0 },
    shardSpec: { type: 'numbered', partitionNum: 0, partitions: 1 },
    loadSpec: { type: 'local', path: '' },
    sizeBytes: 1,
    rowCount: 100_000,
    dimensions: [],
    metrics: [],
    ...segmentColumns(columns),
  };
}
