// Starts and feeds the thread that renews leases and announcements.

import { Worker } from 'node:worker_threads';
import type { MetadataSettings } from '../../metadata/open-database.js';
import type { HeldLease } from './membership-store.js';

export interface PulseOptions {
  /** The metadata store, to which the thread has a connection of its own. */
  readonly settings: MetadataSettings;
  readonly session: string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** Silence of the event loop after which the process counts as hung and is not kept alive. */
  readonly stallMs: number;
}

/** Start-up data of the thread. */
export interface PulseWorkerData extends PulseOptions {
  /** Epoch milliseconds: when the event loop gave a sign last, and when the thread renewed last. */
  readonly shared: SharedArrayBuffer;
}

export const ALIVE_AT = 0;
export const RENEWED_AT = 1;

export type ToPulse = { readonly kind: 'leases'; readonly leases: readonly HeldLease[] } | { readonly kind: 'end' };

/**
 * A thread that renews the announcements and leases of this process, so that they do not lapse while the event loop is
 * busy with a request. It stops when the event loop has given no sign for too long.
 */
export class Pulse {
  readonly #worker: Worker;
  readonly #shared: Float64Array;
  readonly #ended: Promise<void>;

  constructor(options: PulseOptions, onError: (error: unknown) => void) {
    const shared = new SharedArrayBuffer(16);
    this.#shared = new Float64Array(shared);
    this.alive();
    const workerData: PulseWorkerData = { ...options, shared };
    this.#worker = new Worker(new URL('./pulse-worker.js', import.meta.url), { workerData });
    this.#worker.on('message', (message: string) => onError(new Error(message)));
    this.#worker.on('error', onError);
    this.#worker.unref();
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
  }

  /** Time of the last renewal; 0: not yet. */
  get renewedMs(): number {
    return this.#shared[RENEWED_AT] ?? 0;
  }

  /** The event loop is alive. */
  alive(): void {
    this.#shared[ALIVE_AT] = Date.now();
  }

  hold(leases: readonly HeldLease[]): void {
    this.#send({ kind: 'leases', leases });
  }

  /** Resolves when it renews nothing any more. */
  async end(): Promise<void> {
    // A connection that is cut off while it closes takes the process down: somebody must wait for it.
    this.#worker.ref();
    this.#send({ kind: 'end' });
    await this.#ended;
  }

  #send(message: ToPulse): void {
    this.#worker.postMessage(message);
  }
}
