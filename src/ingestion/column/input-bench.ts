// Kernel memory of a thread, in which input is taken apart and looked up.

import type { Address } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import { KernelMemory } from '../../kernels/memory.js';
import { instantiateKernels } from '../../kernels/registry.js';

/** Set of kernels where nobody names one. */
export const INPUT_KERNELS = 'simd';
const MEMORY_BYTES_MAX = 2 ** 32 - 2 ** 16;

/** An allocation that grows. */
export class Room {
  readonly #memory: KernelMemory;
  at: Address = 0;
  bytes = 0;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  /** Contents move along. */
  grow(bytes: number): void {
    if (bytes <= this.bytes) return;
    const larger = Math.max(bytes, this.bytes * 2);
    const at = this.#memory.allocate(larger);
    if (this.at !== 0) {
      this.#memory.u8(at, this.bytes).set(this.#memory.u8(this.at, this.bytes));
      this.#memory.free(this.at);
    }
    this.at = at;
    this.bytes = larger;
  }

  free(): void {
    if (this.at !== 0) this.#memory.free(this.at);
    this.at = 0;
    this.bytes = 0;
  }
}

/** Memory and kernels of this thread for all of its input. */
export interface InputBench {
  readonly memory: KernelMemory;
  readonly kernels: KernelSet;
  /** Contents are whoever's uses it: no longer than a call. */
  readonly scratch: Room;
}

const benches = new Map<string, InputBench>();

/** @param kernels  name of the set */
export function inputBench(kernels = INPUT_KERNELS): InputBench {
  const known = benches.get(kernels);
  if (known !== undefined) return known;
  const memory = KernelMemory.create({ maximumBytes: MEMORY_BYTES_MAX, property: 'svc.indexer.task.maxBytesInMemory' });
  const bench = { memory, kernels: instantiateKernels(kernels, memory), scratch: new Room(memory) };
  benches.set(kernels, bench);
  return bench;
}
