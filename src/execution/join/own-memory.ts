// Kernel memory that outlives the work it was taken for.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';

/** Allocations that outlive the work: whoever takes over their addresses frees them. */
export class OwnMemory {
  readonly addresses: Address[] = [];
  bytes = 0;
  readonly #memory: KernelMemory;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  take(bytes: number): Address {
    this.bytes += bytes;
    const at = this.#memory.allocate(bytes + PADDING_BYTES);
    this.addresses.push(at);
    return at;
  }

  free(): void {
    for (const at of this.addresses.splice(0)) this.#memory.free(at);
  }
}

/** Kernels read in whole words past the end. */
const PADDING_BYTES = 512;
