import { assert, ServiceError } from '../base/errors.js';
import type { Address } from '../base/layout.js';

/*
 * One bank: a shared WebAssembly memory of at most 4 GiB and the allocator that lends it out. The state of the
 * allocator lies in the memory itself, so that every thread that has the memory can allocate and free.
 *
 *   0        unused: address 0 means "absent"
 *   1,024    static data of kernel modules (asserts of the debug builds; release kernels have none)
 *   65,536   allocator state: i32 words, see the constants below
 *   heap     blocks, without gaps, up to a sentinel that is always in use
 *
 * A block is a header of 16 bytes followed by its payload; payloads are 64-byte aligned, sizes multiples of 64:
 *
 *   0  u32  size in bytes with header; bit 0: in use
 *   4  u32  address of the block before it in memory, 0 for the first
 *   8  u32  next free block of its size class, 0 for none    (free blocks only)
 *   12 u32  previous free block of its size class, 0 if head (free blocks only)
 *
 * Free blocks are kept in lists by size: a power of two of 64-byte units, cut into 16 classes each; bitmaps tell
 * which lists have blocks, so finding one takes constant time. Neighbouring free blocks are always merged.
 */
const PAGE_BYTES = 65536;
const STATE = PAGE_BYTES;
const LOCK = STATE >> 2; //              0 free, 1 held, 2 held and someone waits
const ALLOCATED = LOCK + 1; //           u32 bytes in use, headers included
const HEAP_END = LOCK + 2; //            u32 address of the sentinel block
const POWERS = LOCK + 3; //              bit p: a class of power p has blocks
const POWER_COUNT = 27;
const CLASSES = POWERS + 1; //           per power: bit c: class c has blocks
const LISTS = CLASSES + POWER_COUNT; //  per power and class: address of the first free block
const STATE_BYTES = (LISTS + POWER_COUNT * 16 - LOCK) * 4;

const HEADER_BYTES = 16;
const FIRST_BLOCK = ((STATE + STATE_BYTES + 63) & ~63) + 64 - HEADER_BYTES;
/** Vector loads that begin inside an allocation may run this far past its end without leaving the memory. */
const GUARD_BYTES = 64;
const GROWTH_BYTES = 16 * 1024 * 1024;
const ARENA_CHUNK_BYTES = 256 * 1024;
export const MEMORY_BYTES_MAX = 65536 * PAGE_BYTES;

/** Structured-cloneable: what another thread needs to `attach`. */
export interface KernelMemoryHandle {
  readonly memory: WebAssembly.Memory;
  readonly maximumBytes: number;
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

/** Asked by a thread that found the bank full: whether anything was freed, so that trying again makes sense. */
export type MakeRoom = (bytes: number) => boolean;

/**
 * The owner of kernel memory. Addresses are byte offsets, 64-byte aligned. Contents of an allocation are undefined.
 * Views (`u8` … `f64`) are made fresh for each use and dropped at once: the memory is never detached, but an old view
 * does not see growth. Without a count a view reaches to the present end of the memory.
 */
export class KernelMemory {
  readonly memory: WebAssembly.Memory;
  readonly maximumBytes: number;
  /** The whole memory as far as this thread has needed it. Only read and written under the lock, LOCK itself apart. */
  #words: Int32Array;
  readonly #account: MemoryAccount | undefined;
  readonly #room: { make: MakeRoom };

  private constructor(handle: KernelMemoryHandle, account?: MemoryAccount, room: { make: MakeRoom } = { make: () => false }) {
    this.memory = handle.memory;
    this.maximumBytes = handle.maximumBytes;
    this.#words = new Int32Array(this.memory.buffer);
    this.#account = account;
    this.#room = room;
  }

  /**
   * @param maximumBytes  the most the bank may grow to, state included; rounded up to pages of 64 KiB
   * @throws ServiceError `input_invalid` beyond 4 GiB
   */
  static create(options: { readonly maximumBytes: number }): KernelMemory {
    const { maximumBytes } = options;
    if (!(maximumBytes > 0 && maximumBytes <= MEMORY_BYTES_MAX)) {
      throw new ServiceError('input_invalid', `svc.processing.memoryBytes: found ${maximumBytes}, expected 1 to ${MEMORY_BYTES_MAX}`);
    }
    const initial = 3;
    const maximum = Math.max(initial, Math.ceil(maximumBytes / PAGE_BYTES));
    const memory = new KernelMemory({
      memory: new WebAssembly.Memory({ initial, maximum, shared: true }),
      maximumBytes: maximum * PAGE_BYTES,
    });
    memory.#layOutHeap();
    return memory;
  }

  static attach(handle: KernelMemoryHandle): KernelMemory {
    return new KernelMemory(handle);
  }

  handle(): KernelMemoryHandle {
    return { memory: this.memory, maximumBytes: this.maximumBytes };
  }

  /** The same bank; what is allocated and freed through it is counted. */
  charging(account: MemoryAccount): KernelMemory {
    return new KernelMemory(this.handle(), account, this.#room);
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
    return Atomics.load(this.#words, ALLOCATED) >>> 0;
  }

  /** @throws ServiceError `resource_limit` when the account is used up, or the bank is full and nobody can make room */
  allocate(bytes: number): Address {
    assert(Number.isInteger(bytes) && bytes >= 0, `allocate(${bytes})`);
    const size = Math.ceil((bytes + HEADER_BYTES) / 64) * 64;
    for (;;) {
      const block = this.#take(size);
      if (block === 0) {
        // A request that can never fit must not evict anything.
        if (size > this.maximumBytes || !this.#room.make(size)) throw this.#full(bytes);
        continue;
      }
      const address = block + HEADER_BYTES;
      if (this.#account === undefined || this.#charge(this.#account, block)) return address;
      this.#giveBack(block);
      throw new ServiceError(
        'resource_limit',
        `the query needs more than ${this.#account.bytesMax} bytes of kernel memory at once; the limit is ${this.#account.limit}`,
      );
    }
  }

  /** Any thread may free what any thread allocated; once, and by an account when it was allocated by it. */
  free(address: Address): void {
    const block = address - HEADER_BYTES;
    const size = this.#giveBack(block);
    if (this.#account === undefined) return;
    this.#see(this.#account.at);
    Atomics.sub(this.#words, this.#account.at >>> 2, size / 64);
  }

  /** A block of at least `size` bytes, in use from now on; 0 when the bank has none. */
  #take(size: number): number {
    this.#lock();
    try {
      const block = this.#findFree(size) || this.#growHeap(size);
      if (block === 0) return 0;
      this.#unlink(block);
      this.#split(block, size);
      const taken = this.#sizeOf(block);
      this.#setField(block, 0, taken | 1);
      this.#words[ALLOCATED] = (this.#word(ALLOCATED) + taken) | 0;
      return block;
    } finally {
      this.#unlock();
    }
  }

  /** Returns the size of the block. */
  #giveBack(block: number): number {
    this.#lock();
    try {
      this.#see(block);
      assert(
        block >= FIRST_BLOCK && ((block + HEADER_BYTES) & 63) === 0 && this.#isUsed(block),
        `free(${block + HEADER_BYTES}) of nothing allocated`,
      );
      const size = this.#sizeOf(block);
      this.#words[ALLOCATED] = (this.#word(ALLOCATED) - size) | 0;
      this.#addFree(block, size);
      return size;
    } finally {
      this.#unlock();
    }
  }

  /** False when the account does not allow it: nothing is counted then. */
  #charge({ at, bytesMax }: MemoryAccount, block: number): boolean {
    const units = this.#sizeOf(block) / 64;
    this.#see(at);
    const word = at >>> 2;
    const held = Atomics.add(this.#words, word, units) + units;
    if (held * 64 > bytesMax) {
      Atomics.sub(this.#words, word, units);
      return false;
    }
    for (let peak = Atomics.load(this.#words, word + 1); peak < held; ) {
      const found = Atomics.compareExchange(this.#words, word + 1, peak, held);
      if (found === peak) break;
      peak = found;
    }
    return true;
  }

  #full(bytes: number): ServiceError {
    return new ServiceError(
      'resource_limit',
      `kernel memory: ${bytes} bytes asked for while ${this.allocatedBytes} of ${this.maximumBytes} are in use; the limit is svc.processing.memoryBytes`,
    );
  }

  arena(): Arena {
    return new Arena(this);
  }

  u8(at: Address, count?: number): Uint8Array {
    const buffer = this.#bufferTo(at + (count ?? 0));
    return new Uint8Array(buffer, at, count ?? buffer.byteLength - at);
  }
  u16(at: Address, count?: number): Uint16Array {
    const buffer = this.#bufferTo(at + (count ?? 0) * 2);
    return new Uint16Array(buffer, at, count ?? Math.floor((buffer.byteLength - at) / 2));
  }
  u32(at: Address, count?: number): Uint32Array {
    const buffer = this.#bufferTo(at + (count ?? 0) * 4);
    return new Uint32Array(buffer, at, count ?? Math.floor((buffer.byteLength - at) / 4));
  }
  i32(at: Address, count?: number): Int32Array {
    const buffer = this.#bufferTo(at + (count ?? 0) * 4);
    return new Int32Array(buffer, at, count ?? Math.floor((buffer.byteLength - at) / 4));
  }
  i64(at: Address, count?: number): BigInt64Array {
    const buffer = this.#bufferTo(at + (count ?? 0) * 8);
    return new BigInt64Array(buffer, at, count ?? Math.floor((buffer.byteLength - at) / 8));
  }
  u64(at: Address, count?: number): BigUint64Array {
    const buffer = this.#bufferTo(at + (count ?? 0) * 8);
    return new BigUint64Array(buffer, at, count ?? Math.floor((buffer.byteLength - at) / 8));
  }
  f32(at: Address, count?: number): Float32Array {
    const buffer = this.#bufferTo(at + (count ?? 0) * 4);
    return new Float32Array(buffer, at, count ?? Math.floor((buffer.byteLength - at) / 4));
  }
  f64(at: Address, count?: number): Float64Array {
    const buffer = this.#bufferTo(at + (count ?? 0) * 8);
    return new Float64Array(buffer, at, count ?? Math.floor((buffer.byteLength - at) / 8));
  }

  /** A thread learns of another's growth late; growing by nothing makes it look. */
  #bufferTo(end: number): ArrayBufferLike {
    if (this.memory.buffer.byteLength < end) this.memory.grow(0);
    return this.memory.buffer;
  }

  #see(address: number): void {
    if (address + HEADER_BYTES > this.#words.byteLength) this.#words = new Int32Array(this.#bufferTo(address + HEADER_BYTES));
  }

  // A thread that is terminated while it holds the lock leaves it held: processing threads end by message instead.
  #lock(): void {
    if (Atomics.compareExchange(this.#words, LOCK, 0, 1) === 0) return;
    while (Atomics.exchange(this.#words, LOCK, 2) !== 0) Atomics.wait(this.#words, LOCK, 2);
  }

  #unlock(): void {
    if (Atomics.exchange(this.#words, LOCK, 0) === 2) Atomics.notify(this.#words, LOCK, 1);
  }

  #word(index: number): number {
    return (this.#words[index] ?? 0) >>> 0;
  }

  // Fields of a block; addresses reach 2^32, so they are divided rather than shifted as signed numbers.
  #field(block: number, offset: number): number {
    this.#see(block);
    return this.#word((block + offset) >>> 2);
  }
  #setField(block: number, offset: number, value: number): void {
    this.#see(block);
    this.#words[(block + offset) >>> 2] = value | 0;
  }
  #sizeOf(block: number): number {
    return (this.#field(block, 0) & ~63) >>> 0;
  }
  #isUsed(block: number): boolean {
    return (this.#field(block, 0) & 1) !== 0;
  }

  #layOutHeap(): void {
    const end = sentinelOf(this.memory.buffer.byteLength);
    this.#setField(end, 0, 1);
    this.#words[HEAP_END] = end | 0;
    this.#setField(end, 4, 0);
    this.#setField(FIRST_BLOCK, 4, 0);
    this.#addFree(FIRST_BLOCK, end - FIRST_BLOCK);
  }

  /** Joins `block` with free neighbours and lists it. Its header need only hold the address of the block before. */
  #addFree(block: number, size: number): void {
    let start = block;
    let bytes = size;
    const before = this.#field(block, 4);
    if (before !== 0 && !this.#isUsed(before)) {
      this.#unlink(before);
      start = before;
      bytes += this.#sizeOf(before);
    }
    const after = block + size;
    if (!this.#isUsed(after)) {
      this.#unlink(after);
      bytes += this.#sizeOf(after);
    }
    this.#setField(start, 0, bytes);
    this.#setField(start + bytes, 4, start);
    this.#link(start, bytes);
  }

  /** Returns what lies past `size` to the free lists. */
  #split(block: number, size: number): void {
    const rest = this.#sizeOf(block) - size;
    if (rest < 128) return;
    this.#setField(block, 0, size | 1);
    this.#setField(block + size, 4, block);
    this.#addFree(block + size, rest);
  }

  #link(block: number, size: number): void {
    const list = listOf(size);
    const head = this.#word(LISTS + list);
    this.#setField(block, 8, head);
    this.#setField(block, 12, 0);
    if (head !== 0) this.#setField(head, 12, block);
    this.#words[LISTS + list] = block | 0;
    this.#words[CLASSES + (list >> 4)] = this.#word(CLASSES + (list >> 4)) | (1 << (list & 15));
    this.#words[POWERS] = this.#word(POWERS) | (1 << (list >> 4));
  }

  #unlink(block: number): void {
    const next = this.#field(block, 8);
    const previous = this.#field(block, 12);
    if (next !== 0) this.#setField(next, 12, previous);
    if (previous !== 0) {
      this.#setField(previous, 8, next);
      return;
    }
    const list = listOf(this.#sizeOf(block));
    this.#words[LISTS + list] = next | 0;
    if (next !== 0) return;
    const classes = this.#word(CLASSES + (list >> 4)) & ~(1 << (list & 15));
    this.#words[CLASSES + (list >> 4)] = classes;
    if (classes === 0) this.#words[POWERS] = this.#word(POWERS) & ~(1 << (list >> 4));
  }

  /** A free block of at least `size` bytes, still listed; 0 when there is none. */
  #findFree(size: number): number {
    // Every block of a class above the one of `size` fits …
    const above = listOf(size) + 1;
    const power = above >> 4;
    const classes = this.#word(CLASSES + power) & (-1 << (above & 15));
    if (power < POWER_COUNT && classes !== 0) return this.#word(LISTS + power * 16 + lowestBit(classes));
    const powers = power + 1 < POWER_COUNT ? this.#word(POWERS) & (-1 << (power + 1)) : 0;
    if (powers !== 0) {
      const found = lowestBit(powers);
      return this.#word(LISTS + found * 16 + lowestBit(this.#word(CLASSES + found)));
    }
    // … of its own class only some do.
    let block = this.#word(LISTS + listOf(size));
    while (block !== 0 && this.#sizeOf(block) < size) block = this.#field(block, 8);
    return block;
  }

  /** 0 when the bank may not grow so far. */
  #growHeap(size: number): number {
    const end = this.#word(HEAP_END);
    this.#see(end);
    const last = this.#field(end, 4);
    const spare = last !== 0 && !this.#isUsed(last) ? this.#sizeOf(last) : 0;
    const present = end + HEADER_BYTES + GUARD_BYTES;
    const neededPages = Math.ceil((size - spare) / PAGE_BYTES);
    const pages = Math.min(Math.max(neededPages, GROWTH_BYTES / PAGE_BYTES), (this.maximumBytes - present) / PAGE_BYTES);
    if (pages < neededPages || !this.#growPages(pages)) return 0;
    const newEnd = sentinelOf(present + pages * PAGE_BYTES);
    this.#setField(newEnd, 0, 1);
    this.#words[HEAP_END] = newEnd | 0;
    this.#addFree(end, newEnd - end);
    return this.#findFree(size);
  }

  /** False when the operating system has no more to give. */
  #growPages(pages: number): boolean {
    try {
      this.memory.grow(pages);
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
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

/** Takes regions for one piece of work and gives them all back together. Belongs to the thread that made it. */
export class Arena {
  readonly #memory: KernelMemory;
  readonly #taken: Address[] = [];
  #at = 0;
  #end = 0;
  #bytes = 0;

  constructor(memory: KernelMemory) {
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
    return this.take(bytes);
  }

  /** Frees everything taken; the arena is then empty and may be used again. */
  release(): void {
    for (const address of this.#taken.splice(0)) this.#memory.free(address);
    this.#at = this.#end = this.#bytes = 0;
  }

  #own(bytes: number): Address {
    const address = this.#memory.allocate(bytes);
    this.#bytes += bytes;
    this.#taken.push(address);
    return address;
  }
}

function sentinelOf(memoryBytes: number): number {
  return memoryBytes - GUARD_BYTES - HEADER_BYTES;
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/** Number of the free list for blocks of `size` bytes: 16 classes per power of two of 64-byte units. */
function listOf(size: number): number {
  const units = size / 64;
  const power = 31 - Math.clz32(units);
  const fraction = power >= 4 ? units >>> (power - 4) : units << (4 - power);
  return power * 16 + (fraction & 15);
}
