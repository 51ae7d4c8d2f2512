// Kernel memory that outlives the work it was taken for.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';

/** Allocations that outlive the work: whoever takes over their addresses frees them. */
export class OwnMemory {
  bytes = 0;
  readonly #memory: KernelMemory;
  readonly #sizes = new Map<Address, number>();

  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  take(bytes: number): Address {
    this.bytes += bytes;
    const at = this.#memory.allocate(bytes + PADDING_BYTES);
    this.#sizes.set(at, bytes);
    return at;
  }

  get addresses(): readonly Address[] {
    return [...this.#sizes.keys()];
  }

  /** Frees what was taken for something that is over; other memory stays. */
  give(at: Address): void {
    const bytes = this.#sizes.get(at);
    if (bytes === undefined) return;
    this.#sizes.delete(at);
    this.bytes -= bytes;
    this.#memory.free(at);
  }

  free(): void {
    for (const at of this.#sizes.keys()) this.#memory.free(at);
    this.#sizes.clear();
  }
}

/** Kernels read in whole words past the end. */
const PADDING_BYTES = 512;
