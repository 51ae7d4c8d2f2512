// Limits, memory account and cancellation of each run.

import { rm } from 'node:fs/promises';
import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { peakBytes } from '../../kernels/memory.js';
import { KERNEL_SETS } from '../../kernels/registry.js';
import { cancelledError } from '../block/context.js';
import { hasFolder, type SpillPlace } from '../spill/spill-space.js';
import { ACCOUNT_OFFSET, FLAG_BYTES, type RunControl } from '../threads/thread-context.js';
import type { RunOptions } from './engine.js';
import type { EngineOptions } from './engine-options.js';

const DEFAULT_GROUP_BYTES = 1 << 30;
const DEFAULT_HELD_ROWS = 20_000_000;
const DEFAULT_SORT_BYTES = 1 << 28;

/** Makes the control of each run: its limits, its memory account, and the flag that cancels it on every thread. */
export class RunControls {
  readonly #options: EngineOptions;
  readonly #threads: number;
  #runs = 0;

  constructor(options: EngineOptions, threads: number) {
    this.#options = options;
    this.#threads = threads;
  }

  /** Runs `work` with shared flags that the signal raises; they live until all threads are through with them. */
  async *during<Item>(options: RunOptions, signal: CancelSignal, work: (control: RunControl) => AsyncIterable<Item>): AsyncGenerator<Item> {
    if (signal.aborted) throw endedBy(signal);
    refuseUnknownKernels(options.kernels, this.#options.kernels);
    const { memory, kernels, groupBytesMax = DEFAULT_GROUP_BYTES, queryBytesMax = Infinity } = this.#options;
    const flags = memory.allocate(FLAG_BYTES);
    memory.i32(flags, FLAG_BYTES / 4).fill(0);
    const spill = this.#spillPlace(options, flags);
    const control: RunControl = {
      flags,
      deadlineMs: options.deadlineMs,
      kernels: options.kernels ?? kernels,
      batchRows: options.batchRows ?? BLOCK_ROWS,
      groupBytesMax: Math.floor(groupBytesMax / Math.max(1, this.#threads)),
      spill,
      heldRowsMax: this.#heldRowsMax(options),
      priority: options.priority ?? 0,
      rows: 0,
      limits: options.limits ?? {},
      account: { at: flags + ACCOUNT_OFFSET, bytesMax: queryBytesMax, limit: 'svc.query.maxMemoryBytes' },
    };
    const abort = (): void => this.cancel(control);
    signal.addEventListener('abort', abort, { once: true });
    try {
      yield* work(control);
    } catch (error) {
      // A thread only sees that the flag was raised, not why.
      throw signal.aborted && isCancelled(error) ? endedBy(signal) : error;
    } finally {
      signal.removeEventListener('abort', abort);
      if (options.profile !== undefined)
        options.profile.peakMemoryBytes = Math.max(options.profile.peakMemoryBytes, peakBytes(memory, control.account));
      // Failed threads leave files.
      const leftFiles = spill !== null && hasFolder(spill, memory);
      memory.free(flags);
      if (leftFiles) await rm(spill.folder, { recursive: true, force: true });
    }
  }

  /** Rows of a scan that a run may hold to sort them. */
  #heldRowsMax({ limits }: RunOptions): number {
    return Math.min(this.#options.heldRowsMax ?? DEFAULT_HELD_ROWS, limits?.maxRowsQueuedForOrdering ?? Infinity);
  }

  cancel({ flags }: RunControl): void {
    Atomics.store(this.#options.memory.i32(flags, 1), 0, 1);
  }

  #spillPlace({ limits }: RunOptions, flags: Address): SpillPlace | null {
    const { spillDirectory, spillBytesMax = Infinity, sortBytes = DEFAULT_SORT_BYTES, heldBytes = null } = this.#options;
    const { spillDirectoryProperty: directoryProperty = 'svc.query.groupBy.spillDirectory' } = this.#options;
    const bytesMax = Math.min(spillBytesMax, limits?.maxOnDiskStorage ?? Infinity);
    if (spillDirectory === undefined || bytesMax === 0) return null;
    return { folder: `${spillDirectory}/${++this.#runs}`, directoryProperty, bytesMax, sortBytes, heldBytes, used: flags + 8 };
  }
}

export function checkOf(signal: CancelSignal): () => void {
  return () => {
    if (signal.aborted) throw endedBy(signal);
  };
}

/** The error of an aborted signal: a passed deadline differs from a cancellation. */
export function endedBy({ reason }: CancelSignal): ServiceError {
  return reason instanceof ServiceError ? reason : cancelledError();
}

function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'cancelled';
}

/** A query chooses among the sets of this program and the configured one; it does not name files to be run. */
function refuseUnknownKernels(asked: string | null, configured: string): void {
  if (asked === null || asked === configured || Object.hasOwn(KERNEL_SETS, asked)) return;
  const names = [...new Set([...Object.keys(KERNEL_SETS), configured])].join(', ');
  throw new ServiceError('query_invalid', `context.kernels: found "${asked}", expected one of ${names}`);
}
