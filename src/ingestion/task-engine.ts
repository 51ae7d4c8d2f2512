// The engine of a task, created on first use.

import { createEngine } from '../execution/run/local-engine.js';
import { KernelMemory } from '../kernels/memory.js';
import { uploadFrame } from '../storage/uploaded-frame.js';
import { FrameEngine } from './builder/frame-engine.js';
import type { TaskContext } from './contract.js';

/** The engine of a task, made when something is to be computed: most loads only parse and store. */
export class LazyEngine {
  readonly #context: TaskContext;
  #engine: FrameEngine | null = null;

  constructor(context: TaskContext) {
    this.#context = context;
  }

  get(): FrameEngine {
    this.#engine ??= this.#open();
    return this.#engine;
  }

  async close(): Promise<void> {
    await this.#engine?.close();
    this.#engine = null;
  }

  #open(): FrameEngine {
    const { kernels, signal } = this.#context;
    // A run of rows, its dictionaries and the groups made of it; grows as it is used.
    const memory = KernelMemory.create({ maximumBytes: 2 ** 32 - 2 ** 16 });
    const engine = createEngine({ kernels, memory, threads: 0 });
    return new FrameEngine(engine, (frame) => uploadFrame(frame, memory), kernels, signal);
  }
}
