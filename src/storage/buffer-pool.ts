// Keeps columns in kernel memory between queries, and evicts unused ones.

import { ServiceError } from '../base/errors.js';
import type { Address } from '../base/layout.js';
import type { KernelMemory } from '../kernels/memory.js';

/** One allocation that is kept between queries. While `pins` is above 0 someone reads it. */
export interface Resident {
  readonly key: string;
  readonly address: Address;
  readonly bytes: number;
  pins: number;
  /** Gone from memory: the address belongs to someone else. */
  isFreed: boolean;
}

interface Entry extends Resident {
  readonly filled: Promise<void>;
}

/**
 * Allocations of kernel memory under a byte budget, found by key. Those that nobody has pinned are freed, least
 * recently used first, when room is needed. Used from one thread.
 */
export class BufferPool {
  readonly #memory: KernelMemory;
  readonly #budgetBytes: number;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(memory: KernelMemory, budgetBytes: number) {
    this.#memory = memory;
    this.#budgetBytes = budgetBytes;
  }

  /** Bytes kept and reserved. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Finds the allocation of `key`, or makes it and has `fill` write to it; callers that come meanwhile wait for the
   * same `fill`. Pinned for the caller, who unpins it once.
   * @throws ServiceError `resource_limit`, or what `fill` throws
   */
  async pin(key: string, bytes: number, fill: (address: Address) => Promise<void>): Promise<Resident> {
    const entry = this.#entries.get(key) ?? this.#add(key, bytes, fill);
    entry.pins++;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    try {
      await entry.filled;
      return entry;
    } catch (error) {
      entry.pins--;
      throw error;
    }
  }

  /**
   * Takes over an allocation that someone else filled, and pins it for the caller. Its bytes were reserved before: they are what it takes.
   */
  adopt(key: string, address: Address, bytes: number): Resident {
    const entry: Entry = { key, address, bytes, pins: 1, isFreed: false, filled: Promise.resolve() };
    this.#entries.set(key, entry);
    return entry;
  }

  /** The allocation kept under a key, pinned for the caller. */
  find(key: string): Resident | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.pins++;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  /** Pins at once what was pinned earlier, each as often as it is named; does nothing, and is false, when some of it is gone. */
  pinAgain(residents: readonly Resident[]): boolean {
    if (residents.some((resident) => resident.isFreed)) return false;
    for (const resident of residents) {
      resident.pins++;
      const entry = this.#entries.get(resident.key);
      if (entry === undefined) continue;
      this.#entries.delete(entry.key);
      this.#entries.set(entry.key, entry);
    }
    return true;
  }

  unpin(resident: Resident): void {
    resident.pins--;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Frees what `key` names, if anything. Nobody may have it pinned. */
  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#free(key, entry);
  }

  /** Frees what nobody has pinned, least recently used first, until so many bytes are free. Returns how many are. */
  makeRoom(bytes: number): number {
    const before = this.#bytes;
    while (before - this.#bytes < bytes && this.#evictOne());
    return before - this.#bytes;
  }

  /**
   * Counts bytes that someone else allocates, freeing others to make room.
   * @throws ServiceError `resource_limit`
   */
  reserve(bytes: number): void {
    if (this.#bytes + bytes > this.#budgetBytes) {
      // A request that cannot succeed must not evict anything.
      if (this.#pinnedBytes() + bytes > this.#budgetBytes) throw this.#overBudget(bytes);
      while (this.#bytes + bytes > this.#budgetBytes) this.#evictOne();
    }
    this.#bytes += bytes;
  }

  /** Takes back a reservation, or part of it. */
  unreserve(bytes: number): void {
    this.#bytes -= bytes;
  }

  #add(key: string, bytes: number, fill: (address: Address) => Promise<void>): Entry {
    this.reserve(bytes);
    let address: Address;
    try {
      address = this.#allocate(bytes);
    } catch (error) {
      this.unreserve(bytes);
      throw error;
    }
    const filled = fill(address).catch((error: unknown) => {
      this.#entries.delete(key);
      this.#memory.free(address);
      this.unreserve(bytes);
      throw error;
    });
    const entry: Entry = { key, address, bytes, pins: 0, isFreed: false, filled };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Queries share the memory: when they fill it, columns give way before the allocation fails. */
  #allocate(bytes: number): Address {
    for (;;) {
      try {
        return this.#memory.allocate(bytes);
      } catch (error) {
        const isFull = error instanceof ServiceError && error.code === 'resource_limit';
        if (!isFull || !this.#evictOne()) throw error;
      }
    }
  }

  /** Reservations count as pinned. */
  #pinnedBytes(): number {
    let pinned = this.#bytes;
    for (const entry of this.#entries.values()) if (entry.pins === 0) pinned -= entry.bytes;
    return pinned;
  }

  #evictOne(): boolean {
    for (const [key, entry] of this.#entries) {
      if (entry.pins > 0) continue;
      this.#free(key, entry);
      return true;
    }
    return false;
  }

  #free(key: string, entry: Entry): void {
    entry.isFreed = true;
    this.#entries.delete(key);
    this.#memory.free(entry.address);
    this.unreserve(entry.bytes);
  }

  #overBudget(bytes: number): ServiceError {
    return new ServiceError(
      'resource_limit',
      `columns: ${bytes} bytes are needed while queries hold ${this.#pinnedBytes()} of ${this.#budgetBytes}; the limit is svc.processing.columnCacheBytes`,
    );
  }
}
