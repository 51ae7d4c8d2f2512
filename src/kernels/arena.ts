// Lends regions of kernel memory that are taken back together.

import type { Address } from '../base/layout.js';

const ARENA_CHUNK_BYTES = 256 * 1024;

/** The memory that an arena takes its regions of. */
interface Allocator {
  allocate(bytes: number): Address;
  free(address: Address): void;
}

/** Regions for one piece of work, given back all together. Belongs to the thread that made it. */
export class Arena {
  readonly #memory: Allocator;
  /** Bytes of each region of the memory. */
  readonly #taken = new Map<Address, number>();
  /** Regions that are lent in parts. */
  readonly #chunks = new Set<Address>();
  #at = 0;
  #end = 0;
  #bytes = 0;

  constructor(memory: Allocator) {
    this.#memory = memory;
  }

  /** Bytes taken from the memory and not released yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** 64-byte aligned; contents undefined. @throws ServiceError `resource_limit` */
  take(bytes: number): Address {
    const size = Math.ceil(bytes / 64) * 64;
    if (this.#at + size <= this.#end) {
      const at = this.#at;
      this.#at += size;
      return at;
    }
    if (size * 4 > ARENA_CHUNK_BYTES) return this.#own(size);
    this.#at = this.#own(ARENA_CHUNK_BYTES);
    this.#end = this.#at + ARENA_CHUNK_BYTES;
    this.#chunks.add(this.#at);
    return this.take(bytes);
  }

  /** Frees everything taken; the arena is then empty and may be used again. */
  release(): void {
    for (const address of this.handOver()) this.#memory.free(address);
  }

  /** Everything taken, for another owner to free; the arena is then empty and may be used again. */
  handOver(): readonly Address[] {
    const taken = [...this.#taken.keys()];
    this.#taken.clear();
    this.#chunks.clear();
    this.#at = this.#end = this.#bytes = 0;
    return taken;
  }

  /** Leaves a region that was taken to the caller to free; false for one of few bytes, which shares its memory with others. */
  letGo(address: Address): boolean {
    const bytes = this.#taken.get(address);
    // A chunk begins with a region of few bytes.
    if (bytes === undefined || this.#chunks.has(address)) return false;
    this.#taken.delete(address);
    this.#bytes -= bytes;
    return true;
  }

  /** The same of several regions: all of them, or none. */
  letGoAll(addresses: readonly Address[]): boolean {
    if (!addresses.every((address) => this.#taken.has(address) && !this.#chunks.has(address))) return false;
    for (const address of addresses) this.letGo(address);
    return true;
  }

  /** Takes a region that was let go elsewhere. */
  adopt(address: Address, bytes: number): void {
    this.#bytes += bytes;
    this.#taken.set(address, bytes);
  }

  #own(bytes: number): Address {
    const address = this.#memory.allocate(bytes);
    this.#bytes += bytes;
    this.#taken.set(address, bytes);
    return address;
  }
}
