// The engine of a task, created on first use.

import path from 'node:path';
import { createEngine, type ProcessingEngine } from '../execution/run/local-engine.js';
import { KernelMemory } from '../kernels/memory.js';
import { createSegmentStore, type IndexedSegmentStore } from '../storage/segment-store.js';
import { uploadFrame } from '../storage/uploaded-frame.js';
import { FrameEngine } from './builder/frame-engine.js';
import type { TaskContext } from './contract.js';

/** Segment files that a task has open at a time. */
const OPEN_FILES_MAX = 64;

interface Opened {
  readonly memory: KernelMemory;
  readonly engine: ProcessingEngine;
  readonly frames: FrameEngine;
}

/** The engine of a task, made when something is to be computed: most loads only parse and store. */
export class LazyEngine {
  readonly #context: TaskContext;
  #opened: Opened | null = null;
  readonly #threads: number;
  #store: IndexedSegmentStore | null = null;

  /** @param threads  on which queries run beside the task; 0: what it computes runs where it is asked for */
  constructor(context: TaskContext, threads = 0) {
    this.#context = context;
    this.#threads = threads;
  }

  /** Name of the kernel set. */
  get kernels(): string {
    return this.#context.kernels;
  }

  get(): FrameEngine {
    return this.#open().frames;
  }

  /** The segments that the task has open; their columns lie in the memory of the engine. */
  segments(): IndexedSegmentStore {
    const { memory, engine } = this.#open();
    this.#store ??= createSegmentStore({
      memory,
      cacheBytes: this.#context.maxBytesInMemory,
      openFilesMax: OPEN_FILES_MAX,
      run: (name, request) => engine.runJob(name, request),
    });
    return this.#store;
  }

  /** The engine itself, for queries of others. */
  processing(): ProcessingEngine {
    return this.#open().engine;
  }

  async close(): Promise<void> {
    await this.#opened?.frames.close();
    this.#opened = null;
  }

  #open(): Opened {
    if (this.#opened !== null) return this.#opened;
    const { kernels, signal, maxKernelBytes, maxBytesInMemory, workDirectory } = this.#context;
    // A run of rows, its dictionaries and the groups made of it; grows as it is used.
    const memory = KernelMemory.create({ maximumBytes: maxKernelBytes, property: 'svc.indexer.task.maxKernelBytes' });
    const engine = createEngine({
      kernels,
      memory,
      threads: this.#threads,
      groupBytesMax: maxKernelBytes / 4,
      spillDirectory: path.join(workDirectory, 'spill'),
      spillDirectoryProperty: 'svc.indexer.task.directory',
      sortBytes: maxBytesInMemory / 8,
      heldBytes: { max: maxBytesInMemory / 2, property: 'svc.indexer.task.maxBytesInMemory' },
    });
    const frames = new FrameEngine(engine, (frame) => uploadFrame(frame, memory), kernels, signal);
    this.#opened = { memory, engine, frames };
    return this.#opened;
  }
}
