import { ETERNITY, type Interval } from '../../src/base/instant.js';
import { QueryScheduler } from '../../src/cluster/broker/query-scheduler.js';
import type { HistoricalService, ServerInventory } from '../../src/cluster/rpc/services.js';
import type { ScanPlan } from '../../src/model/plan.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import type { DeepStorage } from '../../src/storage/contract.js';

/** A historical without segments; tests replace the methods they are about. */
export function emptyHistorical(): HistoricalService {
  return {
    async *runPlan() {},
    async *runNamed() {},
    analyzeSegments: async () => [],
    inventory: async () => inventoryOf('127.0.0.1:1', []),
    inventoryAfter: async () => null,
    loadSegments: async () => undefined,
    dropSegments: async () => undefined,
    lookupReport: async () => ({ tier: '__default', current: {}, failed: {} }),
  };
}

let generations = 0;

export function inventoryOf(host: string, segmentIds: readonly string[], rest: Partial<ServerInventory> = {}): ServerInventory {
  return {
    host,
    tier: '_default_tier',
    priority: 0,
    maxSizeBytes: 1e9,
    currentSizeBytes: segmentIds.length * 100,
    generation: String(generations++),
    segmentIds,
    loading: [],
    failed: {},
    ...rest,
  };
}

export function scanPlan(dataSource: string, intervals: readonly Interval[] = [ETERNITY]): ScanPlan {
  return {
    operator: 'scan',
    dataSource,
    intervals,
    filter: null,
    virtualColumns: [],
    post: [],
    columns: ['__time'],
    timeOrder: null,
    offset: 0,
    limit: null,
  };
}

/** Deep storage in memory: the time of the last change by path. */
export function memoryStorage(files = new Map<string, number>()): DeepStorage & { readonly files: Map<string, number> } {
  let record: string | undefined;
  return {
    files,
    type: 'local',
    push: () => Promise.reject(new Error('not asked')),
    pull: () => Promise.reject(new Error('not asked')),
    size: () => Promise.reject(new Error('not asked')),
    // biome-ignore lint/correctness/useYield: nothing is read
    read: async function* () {
      throw new Error('not asked');
    },
    remove: async ({ path }) => void files.delete(path),
    async *list() {
      for (const [path, modifiedMs] of [...files]) yield { path, sizeBytes: 1, modifiedMs };
    },
    readRecord: async () => record,
    writeRecord: async (text) => {
      record = text;
    },
  };
}

export const DAY = 86_400_000;

/** A whole-day segment of 10 rows and 100 bytes. */
export function segmentOf(dataSource: string, day: number, version: string, partition = 0, partitions = 1): SegmentDescriptor {
  return {
    id: { dataSource, interval: { start: day * DAY, end: (day + 1) * DAY }, version, partitionNumber: partition },
    shardSpec: { type: 'numbered', partitionNum: partition, partitions },
    loadSpec: { type: 'local', path: `${dataSource}/${day}/${version}/${partition}` },
    sizeBytes: 100,
    rowCount: 10,
    dimensions: ['page'],
    metrics: [],
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
      { name: 'page', type: 'STRING', multiValue: false, hasNulls: false },
    ],
  };
}

/** Lets every query run with the priority it asks for. */
export function unlimited(): QueryScheduler {
  return new QueryScheduler({ capacity: null, laning: { strategy: 'none' }, thresholds: null, now: () => 0, segmentsOf: () => [] });
}
