import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Interval } from '../../src/base/instant.js';
import type { ProcessingEngine } from '../../src/execution/run/local-engine.js';
import type { KernelMemory } from '../../src/kernels/memory.js';
import { type Frame, frameColumnType } from '../../src/model/frame.js';
import { segmentColumns } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { createSegmentStore, type IndexedSegmentStore } from '../../src/storage/segment-store.js';
import { writeSegment } from '../../src/storage/segment-writer.js';

/** Frames written as segments of one datasource and opened, as a historical has them. */
export async function openFrames(
  frames: readonly Frame[],
  memory: KernelMemory,
  engine: ProcessingEngine,
  intervalOf: (number: number) => Interval = () => ({ start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) }),
  cacheBytes = 1 << 28,
): Promise<{ store: IndexedSegmentStore; ids: string[]; close(): Promise<void> }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-execution-'));
  const store = createSegmentStore({ memory, cacheBytes, openFilesMax: 16, run: (name, request) => engine.runJob(name, request) });
  const ids: string[] = [];
  for (const [number, frame] of frames.entries()) {
    const file = path.join(folder, `${number}.segment`);
    const dimensions = frame.columns.filter((column) => frameColumnType(column) === 'STRING').map((column) => column.name);
    const written = await writeSegment(file, {
      frame,
      dimensions,
      metrics: [],
      aggregators: null,
      timestampSpec: null,
      queryGranularity: null,
      rollup: false,
    });
    const id = {
      dataSource: 'random',
      interval: intervalOf(number),
      version: '2026-01-01T00:00:00.000Z',
      partitionNumber: number,
    };
    await store.open(file, {
      id,
      shardSpec: { type: 'numbered', partitionNum: number, partitions: frames.length },
      loadSpec: { type: 'local', path: file },
      sizeBytes: statSync(file).size,
      rowCount: written.rowCount,
      dimensions,
      metrics: [],
      ...segmentColumns(written.columns),
    });
    ids.push(segmentIdText(id));
  }
  const close = async (): Promise<void> => {
    for (const id of ids) if (store.has(id)) await store.close(id);
    rmSync(folder, { recursive: true });
  };
  return { store, ids, close };
}
