import { type Address, BLOCK_ROWS } from '../../src/base/layout.js';
import type { KernelName, KernelSet } from '../../src/kernels/contract.js';
import type { KernelMemory } from '../../src/kernels/memory.js';

/** One kernel (or a pair that belongs together) over one data set that lies in kernel memory. */
export interface BenchCase {
  readonly name: string;
  readonly kernels: readonly KernelName[];
  readonly rows: number;
  /** Bytes of values that one pass reads: what GB/s are counted in. */
  readonly bytes: number;
  /** One call of each kernel; a pass is calls 0 … blocks - 1. */
  readonly blocks: number;
  call(kernels: KernelSet, block: number): void;
  /** Set where the case is nothing but reading: then the read bandwidth is measured in the same rounds. */
  readonly againstBandwidth?: true;
  /** Memory that a call writes; compared between sets after the first calls. */
  readonly outputs: readonly { readonly at: Address; readonly bytes: number }[];
  /** Brings states back to where they began; run before each pass when given. */
  readonly reset?: () => void;
  /** The same work in plain TypeScript with nothing general about it: what a programmer would write by hand. */
  readonly plain?: (block: number) => void;
}

/** Allocates and fills the data of the cases. Everything is seeded: two runs see the same values. */
export class Bench {
  readonly memory: KernelMemory;
  /** 1 for a full run; smaller for a smoke test, where only the answers matter. */
  readonly scale: number;
  #seed = 12345;

  constructor(memory: KernelMemory, scale: number) {
    this.memory = memory;
    this.scale = scale;
  }

  /** Rows of `fullRows` after scaling: whole blocks, at least two. */
  rows(fullRows: number): number {
    return Math.max(2, Math.floor((fullRows * this.scale) / BLOCK_ROWS)) * BLOCK_ROWS;
  }

  allocate(bytes: number): Address {
    const at = this.memory.allocate(bytes + 64);
    this.memory.u8(at, bytes + 64).fill(0);
    return at;
  }

  u8(count: number, value: (i: number) => number): Address {
    const at = this.allocate(count);
    this.memory.u8(at, count).forEach((_, i, view) => (view[i] = value(i)));
    return at;
  }
  u16(count: number, value: (i: number) => number): Address {
    const at = this.allocate(count * 2);
    this.memory.u16(at, count).forEach((_, i, view) => (view[i] = value(i)));
    return at;
  }
  u32(count: number, value: (i: number) => number): Address {
    const at = this.allocate(count * 4);
    this.memory.u32(at, count).forEach((_, i, view) => (view[i] = value(i)));
    return at;
  }
  i64(count: number, value: (i: number) => bigint): Address {
    const at = this.allocate(count * 8);
    this.memory.i64(at, count).forEach((_, i, view) => (view[i] = value(i)));
    return at;
  }
  f32(count: number, value: (i: number) => number): Address {
    const at = this.allocate(count * 4);
    this.memory.f32(at, count).forEach((_, i, view) => (view[i] = value(i)));
    return at;
  }
  f64(count: number, value: (i: number) => number): Address {
    const at = this.allocate(count * 8);
    this.memory.f64(at, count).forEach((_, i, view) => (view[i] = value(i)));
    return at;
  }

  /** Bits set with probability `density`. */
  bits(count: number, density: number): Address {
    const words = Math.ceil(count / 64) * 2;
    return this.u32(words, () => {
      let bits = 0;
      for (let bit = 0; bit < 32; bit++) if (this.random() < density) bits |= 1 << bit;
      return bits;
    });
  }

  /** Uniform in [0, 1). */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }
}
