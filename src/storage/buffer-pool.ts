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
  /** The table without which it says nothing; it is freed with it. */
  readonly table: KeptTable | undefined;
}

/** Something that several allocations are made of, and that is kept between queries as they are; its bytes are reserved. */
export interface KeptTable {
  readonly bytes: number;
  /** Whether someone reads or changes it, beside those who have pinned what belongs to it. */
  readonly isHeld: boolean;
  /** Frees it, and takes back its reservation. */
  free(): void;
}

/** Something that others have put into kernel memory, which stays there as long as somebody holds it or there is room. */
export interface KeptRoom {
  hold(): void;
  letGo(): void;
  /** Gives it up as soon as nobody holds it. */
  giveUp(): void;
}

class KeptThing implements KeptTable, KeptRoom {
  readonly bytes: number;
  readonly #pool: BufferPool;
  readonly #free: () => void;
  #holders = 0;
  #isGivenUp = false;
  #isFreed = false;

  constructor(pool: BufferPool, bytes: number, free: () => void) {
    this.#pool = pool;
    this.bytes = bytes;
    this.#free = free;
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  hold(): void {
    this.#holders++;
    this.#pool.use(this);
  }

  letGo(): void {
    this.#holders--;
    if (this.#isGivenUp) this.giveUp();
  }

  giveUp(): void {
    this.#isGivenUp = true;
    if (!this.isHeld && !this.#isFreed) this.#pool.dropTable(this);
  }

  free(): void {
    this.#isFreed = true;
    this.#pool.unreserve(this.bytes);
    this.#free();
  }
}

/**
 * Allocations of kernel memory under a byte budget, found by key, and tables. Those that nobody has pinned are freed, least
 * recently used first, when room is needed. Used from one thread.
 */
export class BufferPool {
  readonly #memory: KernelMemory;
  readonly budgetBytes: number;
  /** Least recently used first. */
  readonly #entries = new Map<string | KeptTable, Entry | KeptTable>();
  #bytes = 0;

  constructor(memory: KernelMemory, budgetBytes: number) {
    this.#memory = memory;
    this.budgetBytes = budgetBytes;
  }

  /** Bytes kept and reserved. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Finds the allocation of `key`, or makes it and has `fill` write to it; callers that come meanwhile wait for the
   * same `fill`. Pinned for the caller, who unpins it once.
   * @param table  it belongs to, if any
   * @throws ServiceError `resource_limit`, or what `fill` throws
   */
  async pin(key: string, bytes: number, fill: (address: Address) => Promise<void>, table?: KeptTable): Promise<Resident> {
    const entry = this.#at(key) ?? this.#add({ key, bytes, table }, fill);
    entry.pins++;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (table !== undefined) this.use(table);
    try {
      await entry.filled;
      return entry;
    } catch (error) {
      entry.pins--;
      throw error;
    }
  }

  /**
   * Takes over an allocation that someone else filled, and pins it for the caller.
   * @param reserved  bytes that were reserved for it before, and count as its own from now on
   * @throws ServiceError `resource_limit` where it takes more, for which there is no room: the allocation is freed, the bytes are reserved still
   */
  adopt(key: string, address: Address, bytes: number, reserved = bytes): Resident {
    try {
      if (bytes > reserved) this.reserve(bytes - reserved);
      else this.unreserve(reserved - bytes);
    } catch (error) {
      this.#memory.free(address);
      throw error;
    }
    const entry: Entry = { key, address, bytes, pins: 1, isFreed: false, filled: Promise.resolve(), table: undefined };
    this.#entries.set(key, entry);
    return entry;
  }

  /** The allocation kept under a key, pinned for the caller. */
  find(key: string): Resident | undefined {
    const entry = this.#at(key);
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
      const entry = this.#at(resident.key);
      if (entry === undefined) continue;
      this.#entries.delete(entry.key);
      this.#entries.set(entry.key, entry);
      if (entry.table !== undefined) this.use(entry.table);
    }
    return true;
  }

  unpin(resident: Resident): void {
    resident.pins--;
  }

  /**
   * Keeps something that lies in the memory already, held once by the caller.
   * @param free    called once, when nobody holds it
   * @returns       undefined when there is no room for it: it is the caller's still
   */
  keep(bytes: number, free: () => void): KeptRoom | undefined {
    try {
      this.reserve(bytes);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'resource_limit') return undefined;
      throw error;
    }
    const kept = new KeptThing(this, bytes, free);
    kept.hold();
    return kept;
  }

  /** Has a table be the most recently used one. */
  use(table: KeptTable): void {
    this.#entries.delete(table);
    this.#entries.set(table, table);
  }

  /** Frees a table and what belongs to it. Nobody may hold it, or have any of that pinned. */
  dropTable(table: KeptTable): void {
    for (const [key, entry] of this.#entries) if (isEntry(entry) && entry.table === table) this.#free(key, entry);
    this.#entries.delete(table);
    table.free();
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Frees what `key` names, if anything. Nobody may have it pinned. */
  drop(key: string): void {
    const entry = this.#at(key);
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
    if (this.#bytes + bytes > this.budgetBytes) {
      // A request that cannot succeed must not evict anything.
      if (this.#pinnedBytes() + bytes > this.budgetBytes) throw this.#overBudget(bytes);
      while (this.#bytes + bytes > this.budgetBytes) this.#evictOne();
    }
    this.#bytes += bytes;
  }

  /** Takes back a reservation, or part of it. */
  unreserve(bytes: number): void {
    this.#bytes -= bytes;
  }

  #at(key: string): Entry | undefined {
    return this.#entries.get(key) as Entry | undefined;
  }

  #add({ key, bytes, table }: Pick<Entry, 'key' | 'bytes' | 'table'>, fill: (address: Address) => Promise<void>): Entry {
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
    const entry: Entry = { key, address, bytes, pins: 0, isFreed: false, filled, table };
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

  /** Reservations count as pinned, unless they are those of tables that nobody uses. */
  #pinnedBytes(): number {
    let pinned = this.#bytes;
    const used = this.#usedTables();
    for (const entry of this.#entries.values())
      if (isEntry(entry) ? entry.pins === 0 : !entry.isHeld && !used.has(entry)) pinned -= entry.bytes;
    return pinned;
  }

  /** Tables of which something is pinned. */
  #usedTables(): ReadonlySet<KeptTable> {
    const used = new Set<KeptTable>();
    for (const entry of this.#entries.values()) if (isEntry(entry) && entry.pins > 0 && entry.table !== undefined) used.add(entry.table);
    return used;
  }

  #evictOne(): boolean {
    let used: ReadonlySet<KeptTable> | undefined;
    for (const [key, entry] of this.#entries) {
      if (isEntry(entry)) {
        if (entry.pins > 0) continue;
        this.#free(key, entry);
        return true;
      }
      used ??= this.#usedTables();
      if (entry.isHeld || used.has(entry)) continue;
      this.dropTable(entry);
      return true;
    }
    return false;
  }

  #free(key: string | KeptTable, entry: Entry): void {
    entry.isFreed = true;
    this.#entries.delete(key);
    this.#memory.free(entry.address);
    this.unreserve(entry.bytes);
  }

  #overBudget(bytes: number): ServiceError {
    return new ServiceError(
      'resource_limit',
      `columns: ${bytes} bytes are needed while queries hold ${this.#pinnedBytes()} of ${this.budgetBytes}; the limit is svc.processing.columnCacheBytes`,
    );
  }
}

function isEntry(entry: Entry | KeptTable): entry is Entry {
  return 'pins' in entry;
}
