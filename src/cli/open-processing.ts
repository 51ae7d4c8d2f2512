// First step of a start: opens kernel memory, processing threads and the segment store.

import { LocalSegments } from '../cluster/historical/local-segments.js';
import { SegmentCache } from '../cluster/historical/segment-cache.js';
import type { Configuration } from '../configuration/configuration.js';
import { ThreadPool } from '../execution/threads/pool.js';
import { acceptKernels } from '../kernels/conformance/accept.js';
import type { KernelSet } from '../kernels/contract.js';
import { KernelMemory } from '../kernels/memory.js';
import type { DeepStorage } from '../storage/contract.js';
import { openDeepStorage } from '../storage/deep/open-deep-storage.js';
import { deepStoragePlaces } from '../storage/deep/storage-places.js';
import { runHere } from '../storage/jobs.js';
import { createSegmentStore, type IndexedSegmentStore } from '../storage/segment-store.js';

/** Kernel memory, the threads over it, and the segments in it: one of each per process, for every role that computes. */
export interface Processing {
  readonly memory: KernelMemory;
  /** undefined: everything runs where it is asked for (`svc.processing.numThreads=0`). */
  readonly threads: ThreadPool | undefined;
  readonly store: IndexedSegmentStore;
  readonly storage: DeepStorage;
  /** Segments of a Historical. */
  readonly segments: LocalSegments | undefined;
  /** Whether columns gave way to an allocation of so many bytes. */
  makeRoom(bytes: number): boolean;
  close(): Promise<void>;
}

/**
 * The first step of a start, on purpose with few modules: while this thread loads all the others (`open-roles.ts`),
 * those of the pool already verify the segments that an earlier process left.
 * @throws ServiceError `input_invalid` for a kernel set that cannot be used; the threads would find out at the first query
 */
export async function openProcessing(configuration: Configuration): Promise<Processing> {
  const memory = KernelMemory.create({ maximumBytes: configuration.get('svc.processing.memoryBytes') });
  const kernels = configuration.get('svc.processing.kernels');
  const count = configuration.get('svc.processing.numThreads');
  // Asked for when queries run, that is, once there is a store.
  const makeRoom = (bytes: number): boolean => store.makeRoom(bytes) > 0;
  const threads = count > 0 ? new ThreadPool({ memory, kernels, threads: count, makeRoom }) : undefined;
  let kernelSet: KernelSet;
  try {
    kernelSet = await acceptKernels(kernels, memory);
  } catch (error) {
    await threads?.close();
    throw error;
  }
  const store = createSegmentStore({
    memory,
    cacheBytes: configuration.get('svc.processing.columnCacheBytes'),
    openFilesMax: configuration.get('svc.segmentCache.maxOpenFiles'),
    run: threads === undefined ? runHere(memory, () => kernelSet) : (name, request) => threads.runJob(name, request),
  });
  const storage = openDeepStorage(deepStoragePlaces(configuration));
  const segments = configuration.roles().includes('historical')
    ? new LocalSegments(new SegmentCache(configuration.get('svc.segmentCache.directory'), storage), store)
    : undefined;
  const close = async (): Promise<void> => {
    segments?.stop();
    await threads?.close();
  };
  return { memory, threads, store, storage, segments, makeRoom, close };
}
