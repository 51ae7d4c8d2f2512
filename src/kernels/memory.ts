// Kernel memory of a process: accounts of queries, and views for JavaScript.

import { assert, ServiceError } from '../base/errors.js';
import { type Address, BLOCK_ROWS } from '../base/layout.js';
import { Arena } from './arena.js';
import { blockBytes, bufferTo, type HeapHandle, KernelHeap, PAGE_BYTES } from './heap.js';

const MEMORY_BYTES_MAX = 65536 * PAGE_BYTES;

/** Structured-cloneable: what another thread needs to `attach`. */
export interface KernelMemoryHandle extends HeapHandle {
  /** Property that sets its size. */
  readonly property: string;
}

/** Memory that one query holds of the bank, over all threads; plain data. */
export interface MemoryAccount {
  /** i32[2] in the bank, zero at first: units of 64 bytes held now, and the most that were. */
  readonly at: Address;
  readonly bytesMax: number;
  /** Named when it is reached. */
  readonly limit: string;
}

/** Bytes of an account's words. */
export const ACCOUNT_BYTES = 8;

/** Frees memory for a thread that found the bank full; tells whether anything was freed, so that trying again makes sense. */
export type MakeRoom = (bytes: number) => boolean;

const FULL = 'kernel memory: ';

/** Whether an allocation failed because all of the memory is in use; errors of threads come as their code and message. */
export function isMemoryFull(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'resource_limit' && error.message.startsWith(FULL);
}

/**
 * The owner of kernel memory. Addresses are byte offsets, 64-byte aligned. Contents of an allocation are undefined.
 * Views (`u8` … `f64`) are made fresh for each use and dropped at once: the memory is never detached, but an old view
 * does not see growth. Without a count a view reaches to the present end of the memory.
 */
export class KernelMemory {
  readonly memory: WebAssembly.Memory;
  readonly maximumBytes: number;
  readonly #property: string;
  readonly #heap: KernelHeap;
  readonly #account: MemoryAccount | undefined;
  readonly #room: { make: MakeRoom };

  private constructor(
    { memory, maximumBytes, property }: KernelMemoryHandle,
    heap: KernelHeap,
    room: { make: MakeRoom },
    account?: MemoryAccount,
  ) {
    this.memory = memory;
    this.maximumBytes = maximumBytes;
    this.#property = property;
    this.#heap = heap;
    this.#room = room;
    this.#account = account;
  }

  /**
   * @param maximumBytes  the most the bank may grow to, state included; rounded up to pages of 64 KiB
   * @param property  configures it, and is named when the memory is full
   * @throws ServiceError `input_invalid` beyond 4 GiB
   */
  static create(options: { readonly maximumBytes: number; readonly property?: string }): KernelMemory {
    const { maximumBytes, property = 'svc.processing.memoryBytes' } = options;
    if (!(maximumBytes > 0 && maximumBytes <= MEMORY_BYTES_MAX)) {
      throw new ServiceError('input_invalid', `${property}: found ${maximumBytes}, expected 1 to ${MEMORY_BYTES_MAX}`);
    }
    const initial = 3;
    const maximum = Math.max(initial, Math.ceil(maximumBytes / PAGE_BYTES));
    const memory = new WebAssembly.Memory({ initial, maximum, shared: true });
    const created = KernelMemory.attach({ memory, maximumBytes: maximum * PAGE_BYTES, property });
    created.#heap.layOut();
    return created;
  }

  static attach(handle: KernelMemoryHandle): KernelMemory {
    return new KernelMemory(handle, new KernelHeap(handle), { make: () => false });
  }

  handle(): KernelMemoryHandle {
    return { memory: this.memory, maximumBytes: this.maximumBytes, property: this.#property };
  }

  /** The same bank; what is allocated and freed through it is counted. */
  charging(account: MemoryAccount): KernelMemory {
    return new KernelMemory(this.handle(), this.#heap, this.#room, account);
  }

  /** Sets who is asked, in this thread, before an allocation fails because the bank is full. */
  whenFull(make: MakeRoom): void {
    this.#room.make = make;
  }

  /** Whether `bytes` more are within the account and the bank, after others have made room where they could. */
  hasRoom(bytes: number): boolean {
    if (this.#account !== undefined && heldBytes(this, this.#account) + bytes > this.#account.bytesMax) return false;
    if (bytes > this.maximumBytes) return false;
    while (this.allocatedBytes + bytes > this.maximumBytes) if (!this.#room.make(bytes)) return false;
    return true;
  }

  /** Bytes lent out at the moment by all threads, with their headers. */
  get allocatedBytes(): number {
    return this.#heap.allocatedBytes;
  }

  /** u32 0, 1, 2, … for the rows of a block, only to be read. @throws ServiceError `resource_limit` as `allocate` */
  get rowNumbers(): Address {
    const bytes = BLOCK_ROWS * 4;
    while (this.#heap.rowNumbers === 0) if (!this.#room.make(blockBytes(bytes))) throw this.#full(bytes);
    return this.#heap.rowNumbers;
  }

  /** @throws ServiceError `resource_limit` when the account is used up, or the bank is full and nobody can make room */
  allocate(bytes: number): Address {
    assert(Number.isInteger(bytes) && bytes >= 0, `allocate(${bytes})`);
    for (;;) {
      const address = this.#heap.take(bytes);
      if (address === 0) {
        // A request that can never fit must not evict anything.
        const size = blockBytes(bytes);
        if (size > this.maximumBytes || !this.#room.make(size)) throw this.#full(bytes);
        continue;
      }
      if (this.#account === undefined || this.#charge(this.#account, address)) return address;
      this.#heap.giveBack(address);
      throw new ServiceError(
        'resource_limit',
        `the query needs more than ${this.#account.bytesMax} bytes of kernel memory at once; the limit is ${this.#account.limit}`,
      );
    }
  }

  /** Any thread may free what any thread allocated; once, and by an account when it was allocated by it. */
  free(address: Address): void {
    const bytes = this.#heap.giveBack(address);
    if (this.#account === undefined) return;
    const { at } = this.#account;
    Atomics.sub(this.#heap.wordsTo(at), at >>> 2, bytes / 64);
  }

  /** False when the account does not allow it: nothing is counted then. */
  #charge({ at, bytesMax }: MemoryAccount, address: Address): boolean {
    const units = this.#heap.bytesAt(address) / 64;
    const words = this.#heap.wordsTo(at);
    const word = at >>> 2;
    const held = Atomics.add(words, word, units) + units;
    if (held * 64 > bytesMax) {
      Atomics.sub(words, word, units);
      return false;
    }
    for (let peak = Atomics.load(words, word + 1); peak < held; ) {
      const found = Atomics.compareExchange(words, word + 1, peak, held);
      if (found === peak) break;
      peak = found;
    }
    return true;
  }

  #full(bytes: number): ServiceError {
    return new ServiceError(
      'resource_limit',
      `${FULL}${bytes} bytes asked for while ${this.allocatedBytes} of ${this.maximumBytes} are in use; the limit is ${this.#property}`,
    );
  }

  arena(): Arena {
    return new Arena(this);
  }

  u8(at: Address, count = this.#toEnd(at, 1)): Uint8Array {
    return new Uint8Array(this.#heap.bufferTo(at + count), at, count);
  }
  u16(at: Address, count = this.#toEnd(at, 2)): Uint16Array {
    return new Uint16Array(this.#heap.bufferTo(at + count * 2), at, count);
  }
  u32(at: Address, count = this.#toEnd(at, 4)): Uint32Array {
    return new Uint32Array(this.#heap.bufferTo(at + count * 4), at, count);
  }
  i32(at: Address, count = this.#toEnd(at, 4)): Int32Array {
    return new Int32Array(this.#heap.bufferTo(at + count * 4), at, count);
  }
  i64(at: Address, count = this.#toEnd(at, 8)): BigInt64Array {
    return new BigInt64Array(this.#heap.bufferTo(at + count * 8), at, count);
  }
  u64(at: Address, count = this.#toEnd(at, 8)): BigUint64Array {
    return new BigUint64Array(this.#heap.bufferTo(at + count * 8), at, count);
  }
  f32(at: Address, count = this.#toEnd(at, 4)): Float32Array {
    return new Float32Array(this.#heap.bufferTo(at + count * 4), at, count);
  }
  f64(at: Address, count = this.#toEnd(at, 8)): Float64Array {
    return new Float64Array(this.#heap.bufferTo(at + count * 8), at, count);
  }

  /** Elements from `at` to the present end of the memory. */
  #toEnd(at: Address, bytes: number): number {
    return Math.floor((bufferTo(this.memory, at).byteLength - at) / bytes);
  }
}

/** Bytes that an account holds. */
export function heldBytes(memory: KernelMemory, { at }: MemoryAccount): number {
  return Atomics.load(memory.i32(at, 1), 0) * 64;
}

/** The most bytes that an account has held at once. */
export function peakBytes(memory: KernelMemory, { at }: MemoryAccount): number {
  return Atomics.load(memory.i32(at, 2), 1) * 64;
}
