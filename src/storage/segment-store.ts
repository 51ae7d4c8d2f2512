// The store of open segments of a process.

import { fstatSync } from 'node:fs';
import { assert, ServiceError } from '../base/errors.js';
import type { Interval } from '../base/instant.js';
import type { KernelMemory } from '../kernels/memory.js';
import type { ColumnSchema } from '../model/schema.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../model/segment.js';
import { segmentIdText } from '../model/segment-id.js';
import { BufferPool, type KeptRoom } from './buffer-pool.js';
import type { SegmentFile } from './codecs/array-decoder.js';
import { CombinedColumns } from './combined/combined-segment.js';
import type { PinRequest, SegmentPin, SegmentSpan, SegmentStore, UnloadedColumn } from './contract.js';
import { corrupt, type Footer } from './format.js';
import { GlobalDictionary } from './global-dictionaries.js';
import type { HeldRows, HeldRowsParts } from './held-rows.js';
import type { RunStorageJob } from './jobs.js';
import { LookedUpColumns } from './looked-up.js';
import { OpenFiles } from './open-files.js';
import { OpenSegment } from './open-segment.js';
import { PinCache } from './pin-cache.js';
import { liesIn, type SegmentList, SegmentLists, type TimedSegments } from './segment-list.js';
import { takePin } from './segment-pin.js';
import type { StoreSegment } from './store-segment.js';

export interface SegmentStoreOptions {
  readonly memory: KernelMemory;
  /** Most bytes of kernel memory for columns and datasource-wide dictionaries. */
  readonly cacheBytes: number;
  /** Segment files that may be open at a time. */
  readonly openFilesMax: number;
  readonly run: RunStorageJob;
}

export interface IndexedSegmentStore extends SegmentStore {
  /**
   * Ascending rows of which some value is among the local dictionary `ids`; null when the column has no bitmap index,
   * or is none of the segment's string columns: then a scan of the ids tells.
   */
  findRows(segmentId: string, column: string, ids: readonly number[]): Promise<Uint32Array | null>;
  /** Opens rows that are in memory only, under an id that is nobody else's. `make` gets where their columns go: most processes never hold any, and load nothing of it. */
  hold(make: (parts: HeldRowsParts) => HeldRows): HeldRows;
  /** Keeps something that others have put into the memory of columns; see `BufferPool.keep`. */
  keep(bytes: number, free: () => void): KeptRoom | undefined;
  /** Frees columns that no pin has, least recently used first, until so many bytes are free. Returns how many are. */
  makeRoom(bytes: number): number;
}

/** State shared by the open segments of a datasource. */
interface OpenDataSource {
  segmentCount: number;
  readonly dictionaries: Map<string, GlobalDictionary>;
}

/** Creates a segment store. It never reads or decodes on the calling thread: all of that is jobs. */
export function createSegmentStore({ memory, cacheBytes, openFilesMax, run }: SegmentStoreOptions): IndexedSegmentStore {
  const resident = new BufferPool(memory, cacheBytes);
  const files = new OpenFiles(openFilesMax);
  const damage = new DamageWatch();
  const kept = new PinCache(resident);
  const combined = new CombinedColumns(resident, run);
  const lookedUp = new LookedUpColumns(memory, resident, run);
  const segments = new Map<string, StoreSegment>();
  const lists = new SegmentLists(get);
  const dataSources = new Map<string, OpenDataSource>();

  function get(segmentId: string): StoreSegment {
    const segment = segments.get(segmentId);
    if (segment === undefined) throw new ServiceError('segments_unavailable', `segment ${segmentId} is not served here`);
    return segment;
  }

  /** Runs with a segment whose file stays open meanwhile. */
  async function using<Result>(segmentId: string, run: (segment: StoreSegment) => Promise<Result>): Promise<Result> {
    const segment = get(segmentId);
    segment.use();
    try {
      return await run(segment);
    } finally {
      segment.letGo();
    }
  }

  /** A further segment of a datasource is open. */
  function share(dataSource: string): void {
    const shared = dataSources.get(dataSource) ?? { segmentCount: 0, dictionaries: new Map() };
    shared.segmentCount++;
    dataSources.set(dataSource, shared);
  }

  function dictionary(dataSource: string, column: string): GlobalDictionary {
    const shared = dataSources.get(dataSource);
    assert(shared !== undefined, 'a pinned segment keeps its datasource open');
    const found = shared.dictionaries.get(column) ?? new GlobalDictionary(memory, resident, run);
    shared.dictionaries.set(column, found);
    return found;
  }

  return {
    async open(file: string, descriptor: SegmentDescriptor): Promise<void> {
      const id = segmentIdText(descriptor.id);
      try {
        const footer = await files.use(file, async (source) => {
          const found = await run('verifySegment', source);
          checkAgainst(descriptor, found, source);
          return found;
        });
        assert(!segments.has(id), `segment ${id} is opened once`);
        segments.set(
          id,
          new OpenSegment({ descriptor, footer, file, files, resident, run, onDamage: (error) => damage.report(id, error) }),
        );
      } catch (error) {
        files.forget(file);
        throw error;
      }
      share(descriptor.id.dataSource);
    },

    hold(make: (parts: HeldRowsParts) => HeldRows): HeldRows {
      const rows = make({ resident, memory });
      assert(!segments.has(rows.id), `segment ${rows.id} is opened once`);
      segments.set(rows.id, rows);
      share(rows.dataSource);
      return rows;
    },

    async close(segmentId: string): Promise<void> {
      const segment = get(segmentId);
      segments.delete(segmentId);
      segment.end();
      await lists.left(segment);
      await segment.close();
      combined.forget(segment);
      const { dataSource } = segment;
      const shared = dataSources.get(dataSource);
      assert(shared !== undefined, 'an open segment keeps its datasource open');
      if (--shared.segmentCount > 0) return;
      dataSources.delete(dataSource);
      for (const global of shared.dictionaries.values()) global.close();
    },

    onDamage: (listener) => damage.listen(listener),

    has: (segmentId: string): boolean => segments.has(segmentId),

    isPinned(segmentId: string): boolean {
      const segment = get(segmentId);
      return segment.isUsed || lists.holds(segment);
    },

    schema: (segmentId: string): readonly ColumnSchema[] => get(segmentId).schema,

    span: (segmentId: string): SegmentSpan => get(segmentId),

    async pin(request: PinRequest): Promise<SegmentPin> {
      let list = lists.find(request.segmentIds);
      for (; list === undefined; list = lists.find(request.segmentIds)) await lists.make(request.segmentIds);
      const timed = timedOf(list, request.timeCutBy);
      const source = { resident, kept, combined, lists, lookedUp, dictionary };
      return kept.takeAgain(request, list, timed, lists) ?? (await takePin(list, timed, request, source));
    },

    async analyze(segmentId: string, columns: readonly string[] | 'all', analyses: readonly string[]): Promise<SegmentAnalysis> {
      return get(segmentId).analyze(columns, analyses);
    },

    async findRows(segmentId: string, column: string, ids: readonly number[]): Promise<Uint32Array | null> {
      return using(segmentId, (segment) => segment.findRows(column, ids));
    },

    async large(segmentIds: readonly string[]): Promise<readonly string[]> {
      let list = lists.find(segmentIds);
      for (; list === undefined; list = lists.find(segmentIds)) await lists.make(segmentIds);
      return list.large;
    },

    unloaded: (segmentId: string, column: string): UnloadedColumn | null => get(segmentId).unloaded(column),

    async findStrings(segmentId: string, column: string, texts: readonly string[]): Promise<Uint32Array> {
      return using(segmentId, (segment) => segment.findStrings(column, texts));
    },

    keep: (bytes: number, free: () => void): KeptRoom | undefined => resident.keep(bytes, free),

    makeRoom: (bytes: number): number => resident.makeRoom(bytes),

    get residentBytes(): number {
      return resident.bytes;
    },
  };
}

/** Segments of a list that do not lie in the intervals as a whole; of those `__time` is wanted. */
function timedOf(list: SegmentList, timeCutBy: readonly Interval[] | undefined): TimedSegments {
  if (timeCutBy === undefined) return 'all';
  if (liesIn(list, timeCutBy)) return NONE;
  const timed = list.segments.filter((segment) => !segment.liesIn(timeCutBy));
  return timed.length === list.segments.length ? 'all' : new Set(timed.map(({ id }) => id));
}

const NONE: ReadonlySet<string> = new Set();

/** Reports damaged files to whoever keeps them. */
class DamageWatch {
  #listener: (segmentId: string, error: ServiceError) => void = () => undefined;

  listen(listener: (segmentId: string, error: ServiceError) => void): void {
    this.#listener = listener;
  }

  report(segmentId: string, error: ServiceError): void {
    this.#listener(segmentId, error);
  }
}

/** @throws ServiceError `segment_corrupt` when the file is whole but not the one the descriptor was published with */
function checkAgainst(descriptor: SegmentDescriptor, footer: Footer, source: SegmentFile): void {
  const sizeBytes = fstatSync(source.descriptor).size;
  if (sizeBytes !== descriptor.sizeBytes)
    throw corrupt(source.file, `it has ${sizeBytes} bytes, its descriptor says ${descriptor.sizeBytes}`);
  if (footer.rowCount !== descriptor.rowCount)
    throw corrupt(source.file, `it has ${footer.rowCount} rows, its descriptor says ${descriptor.rowCount}`);
  const { start, end } = descriptor.id.interval;
  if (footer.timeMin < start || footer.timeMax >= end) {
    throw corrupt(source.file, `its rows reach from ${footer.timeMin} to ${footer.timeMax}, outside its interval ${start} to ${end}`);
  }
}
