// Dictionaries of a datasource, shared by its segments.

import type { Address } from '../base/layout.js';
import type { KernelMemory } from '../kernels/memory.js';
import type { BufferPool, KeptTable, Resident } from './buffer-pool.js';
import { EMPTY_TABLE, freeTable, type InternTable, internBytesMax, tableBytes } from './jobs/intern-dictionary.js';
import type { RunStorageJob } from './jobs.js';
import type { DictionaryView } from './view.js';

/** The entries that a pin reads; kept until its last holder lets go, however much the dictionary grows meanwhile. */
export interface HeldEntries {
  readonly address: Address;
  readonly count: number;
  release(): void;
}

/**
 * The datasource-wide ids of one string column. Grows only, until nobody uses it and its memory is needed: then it begins anew,
 * and what segments knew of its ids is freed with it. Calls of `intern` take their turn.
 */
export class GlobalDictionary implements KeptTable {
  readonly #memory: KernelMemory;
  readonly #resident: BufferPool;
  readonly #run: RunStorageJob;
  readonly #onFree: () => void;
  #table: InternTable = EMPTY_TABLE;
  #last: Promise<void> = Promise.resolve();
  /** Calls of `intern` that have not ended. */
  #interning = 0;
  /** Pins that read entries at an address. */
  readonly #holders = new Map<Address, number>();
  /** Entries that were outgrown but are still read, and their bytes. */
  readonly #outgrown = new Map<Address, number>();

  /** @param onFree  told when it begins anew */
  constructor(memory: KernelMemory, resident: BufferPool, run: RunStorageJob, onFree: () => void = () => undefined) {
    this.#memory = memory;
    this.#resident = resident;
    this.#run = run;
    this.#onFree = onFree;
  }

  get bytes(): number {
    return tableBytes(this.#table);
  }

  get isHeld(): boolean {
    return this.#interning > 0 || this.#holders.size > 0;
  }

  /**
   * u32 [dictionary count]: the id of every value of a segment's dictionary, which stays where it is meanwhile; pinned.
   * @throws ServiceError `resource_limit`
   */
  pinRemap(key: string, dictionary: DictionaryView): Promise<Resident> {
    return this.#resident.pin(key, Math.max(dictionary.count, 1) * 4, (remap) => this.intern(dictionary, remap), this);
  }

  /** Writes to `remap` the id of every value of a dictionary. */
  intern(dictionary: DictionaryView, remap: Address): Promise<void> {
    this.#interning++;
    const turn = this.#last.then(() => this.#intern(dictionary, remap)).finally(() => this.#interning--);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  hold(): HeldEntries {
    const { entries: address, entryCount: count } = this.#table;
    this.#holders.set(address, (this.#holders.get(address) ?? 0) + 1);
    return { address, count, release: () => this.#letGo(address) };
  }

  /** Whether a pin taken now would read these entries. */
  isAt(entries: Address, entryCount: number): boolean {
    return this.#table.entries === entries && this.#table.entryCount === entryCount;
  }

  /** Frees the dictionary after the datasource's last segment was closed, when nobody holds entries any more. */
  close(): void {
    this.#resident.dropTable(this);
  }

  free(): void {
    this.#resident.unreserve(tableBytes(this.#table));
    freeTable(this.#table, this.#memory);
    this.#table = EMPTY_TABLE;
    this.#onFree();
  }

  async #intern(dictionary: DictionaryView, remap: Address): Promise<void> {
    const old = this.#table;
    const textBytes = this.#memory.u32(dictionary.offsets + dictionary.count * 4, 1)[0] ?? 0;
    const reserved = internBytesMax(old, { count: dictionary.count, textBytes });
    this.#resident.reserve(reserved);
    try {
      this.#table = await this.#run('internDictionary', { table: old, dictionary, remap });
    } catch (error) {
      this.#resident.unreserve(reserved);
      throw error;
    }
    const oldEntriesBytes = old.entries === this.#table.entries ? 0 : old.entryCapacity * 8;
    if (oldEntriesBytes > 0) this.#outgrown.set(old.entries, oldEntriesBytes);
    this.#resident.unreserve(reserved + tableBytes(old) - tableBytes(this.#table) - oldEntriesBytes);
    this.#freeUnread(old.entries);
  }

  #letGo(address: Address): void {
    const left = (this.#holders.get(address) ?? 0) - 1;
    if (left > 0) this.#holders.set(address, left);
    else this.#holders.delete(address);
    this.#freeUnread(address);
  }

  #freeUnread(address: Address): void {
    const bytes = this.#outgrown.get(address);
    if (bytes === undefined || this.#holders.has(address)) return;
    this.#outgrown.delete(address);
    this.#memory.free(address);
    this.#resident.unreserve(bytes);
  }
}
