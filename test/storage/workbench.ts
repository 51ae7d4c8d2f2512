import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Interval } from '../../src/base/instant.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import { type SegmentDescriptor, segmentColumns } from '../../src/model/segment.js';
import { type RunStorageJob, runHere } from '../../src/storage/jobs.js';
import { createSegmentStore, type IndexedSegmentStore } from '../../src/storage/segment-store.js';
import { type WrittenSegment, writeSegment } from '../../src/storage/segment-writer.js';
import { frameOf, type Table } from './table.js';

export const DAY: Interval = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2024, 0, 2) };

/** A directory, a memory and a store over it; `close` removes the directory. */
export interface Workbench {
  readonly directory: string;
  readonly memory: KernelMemory;
  readonly run: RunStorageJob;
  readonly store: IndexedSegmentStore;
  close(): void;
}

export function openWorkbench(
  options: {
    kernels?: string;
    cacheBytes?: number;
    memoryBytes?: number;
    openFilesMax?: number;
    wrap?: (run: RunStorageJob) => RunStorageJob;
  } = {},
): Workbench {
  const directory = mkdtempSync(join(tmpdir(), 'dolmen-storage-'));
  const memory = KernelMemory.create({ maximumBytes: options.memoryBytes ?? 512 * 1024 * 1024 });
  const kernels = instantiateKernels(options.kernels ?? 'reference', memory);
  const here: RunStorageJob = runHere(memory, () => kernels);
  const run = options.wrap?.(here) ?? here;
  const cacheBytes = options.cacheBytes ?? 256 * 1024 * 1024;
  const store = createSegmentStore({ memory, cacheBytes, openFilesMax: options.openFilesMax ?? 16, run });
  return { directory, memory, run, store, close: () => rmSync(directory, { recursive: true }) };
}

export async function writeTable(file: string, table: Table, dimensions: readonly string[]): Promise<WrittenSegment> {
  return await writeSegment(file, {
    frame: frameOf(table),
    dimensions,
    metrics: [],
    aggregators: null,
    timestampSpec: null,
    queryGranularity: null,
    rollup: false,
  });
}

export function descriptorOf(
  written: WrittenSegment,
  options: { dataSource?: string; interval?: Interval; partitionNumber?: number } = {},
): SegmentDescriptor {
  const partitionNumber = options.partitionNumber ?? 0;
  return {
    id: {
      dataSource: options.dataSource ?? 'test',
      interval: options.interval ?? DAY,
      version: '2026-01-01T00:00:00.000Z',
      partitionNumber,
    },
    shardSpec: { type: 'numbered', partitionNum: partitionNumber, partitions: 0 },
    loadSpec: { type: 'local', path: '' },
    sizeBytes: written.sizeBytes,
    rowCount: written.rowCount,
    dimensions: [],
    metrics: [],
    ...segmentColumns(written.columns),
  };
}
