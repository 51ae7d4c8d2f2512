// Deep storage and the disks of servers in a simulation: files are lists of rows.

import { ServiceError } from '../../src/base/errors.js';
import type { LocalSegments } from '../../src/cluster/historical/local-segments.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { DeepStorage, SegmentStore } from '../../src/storage/contract.js';
import type { Process } from './world.js';

/** A file of a segment; its rows are numbered over the whole simulation. */
export interface StoredFile {
  readonly rows: readonly number[];
  readonly modifiedMs: number;
}

/** Files by path, those that were removed, and the record beside them. */
export class Files {
  readonly files = new Map<string, StoredFile>();
  /** Rows of everything that was ever written. */
  readonly rowsOf = new Map<string, readonly number[]>();
  record: string | undefined;
  /** Share of requests that fail. */
  failures = 0;

  write(path: string, file: StoredFile): void {
    this.files.set(path, file);
    this.rowsOf.set(path, file.rows);
  }

  /** Deep storage as a process reaches it. */
  storageOf(process: Process, removed: (path: string) => void): DeepStorage {
    const { files } = this;
    const { chance } = process.world;
    const request = async <Result>(work: () => Result): Promise<Result> => {
      await process.sleep(chance.between(1, 20));
      if (chance.is(this.failures)) throw new ServiceError('unavailable', 'deep storage does not answer');
      const result = work();
      await process.sleep(chance.between(1, 5));
      return result;
    };
    return {
      type: 'local',
      push: () => Promise.reject(new Error('not asked')),
      pull: () => Promise.reject(new Error('not asked')),
      size: () => Promise.reject(new Error('not asked')),
      read: () => {
        throw new Error('not asked');
      },
      remove: ({ path }) =>
        request(() => {
          if (files.delete(path)) removed(path);
        }),
      async *list() {
        const listed = await request(() => [...files]);
        for (const [path, { modifiedMs }] of listed) yield { path, sizeBytes: 100, modifiedMs };
      },
      readRecord: () => request(() => this.record),
      writeRecord: (text) =>
        request(() => {
          this.record = text;
        }),
    };
  }
}

/** The disk of a server, which outlives its processes. */
export type Disk = Map<string, SegmentDescriptor>;

export interface ServedFiles {
  readonly segments: Pick<LocalSegments, 'recovered' | 'fetch' | 'remove' | 'stop'>;
  readonly store: SegmentStore;
}

/** The open segments of a process, over its disk and deep storage. */
export function servedFiles(process: Process, disk: Disk, deep: Files): ServedFiles {
  const open = new Map<string, SegmentDescriptor>();
  const { chance } = process.world;
  const recover = async (): Promise<{ served: readonly SegmentDescriptor[]; failed: [] }> => {
    await process.sleep(chance.between(5, 300));
    for (const [id, descriptor] of disk) open.set(id, descriptor);
    return { served: [...disk.values()], failed: [] };
  };
  const store: Partial<SegmentStore> = {
    has: (id) => open.has(id),
    isPinned: () => chance.is(0.02),
    onDamage: () => undefined,
    async close(id) {
      await process.sleep(chance.between(0, 5));
      open.delete(id);
    },
    async analyze(id): Promise<SegmentAnalysis> {
      await process.sleep(chance.between(0, 30));
      if (!open.has(id)) throw new ServiceError('segments_unavailable', `segment ${id} is not open`);
      const nothing = { intervals: [], columns: {}, sizeBytes: 1, numRows: 1, aggregators: null };
      return { ...nothing, id, timestampSpec: null, queryGranularity: null, rollup: null };
    },
  };
  return {
    // The rest of it is for plans over rows, of which there are none here.
    store: store as SegmentStore,
    segments: {
      recovered: recover(),
      async fetch(descriptor) {
        await process.sleep(chance.is(0.05) ? chance.between(200, 4000) : chance.between(2, 60));
        if (chance.is(deep.failures)) throw new ServiceError('unavailable', 'deep storage does not answer');
        if (!deep.files.has(descriptor.loadSpec.path)) throw new ServiceError('not_found', `no file ${descriptor.loadSpec.path}`);
        disk.set(segmentIdText(descriptor.id), descriptor);
        open.set(segmentIdText(descriptor.id), descriptor);
      },
      async remove(descriptor) {
        disk.delete(segmentIdText(descriptor.id));
      },
      stop: () => undefined,
    },
  };
}
