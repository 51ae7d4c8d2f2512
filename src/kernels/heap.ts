// Allocator of kernel memory.

import { assert } from '../base/errors.js';
import { type Address, BLOCK_ROWS } from '../base/layout.js';

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
export const PAGE_BYTES = 65536;
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

/** The memory and the most bytes that it may grow to: what another thread needs to use the same heap. */
export interface HeapHandle {
  readonly memory: WebAssembly.Memory;
  readonly maximumBytes: number;
}

/** The allocator of one bank, as one thread sees it. Any thread may free what any thread allocated; once. */
export class KernelHeap {
  readonly #memory: WebAssembly.Memory;
  readonly #maximumBytes: number;
  /** The whole memory as far as this thread has needed it. Only read and written under the lock, LOCK itself apart. */
  #words: Int32Array;
  // The buffer of `#words` and its size: to ask an array for either is a call that is not inlined.
  #buffer: ArrayBufferLike;
  #seenBytes: number;
  #rowNumbers = 0;

  constructor({ memory, maximumBytes }: HeapHandle) {
    this.#memory = memory;
    this.#maximumBytes = maximumBytes;
    this.#buffer = memory.buffer;
    this.#words = new Int32Array(this.#buffer);
    this.#seenBytes = this.#words.byteLength;
  }

  /** Makes all of a new memory one free block. Once, before any other thread sees it. */
  layOut(): void {
    const end = sentinelOf(this.#memory.buffer.byteLength);
    this.#setField(end, 0, 1);
    this.#words[HEAP_END] = end | 0;
    this.#setField(end, 4, 0);
    this.#setField(FIRST_BLOCK, 4, 0);
    this.#addFree(FIRST_BLOCK, end - FIRST_BLOCK);
  }

  /** Bytes lent out at the moment by all threads, with their headers. */
  get allocatedBytes(): number {
    return Atomics.load(this.#words, ALLOCATED) >>> 0;
  }

  /**
   * u32 0, 1, 2, … for the rows of a block, which nobody writes or frees; 0 when the bank has no room for them. Each thread has
   * its own from when it first asks; they do not count as lent out.
   */
  get rowNumbers(): Address {
    if (this.#rowNumbers !== 0) return this.#rowNumbers;
    const at = this.take(BLOCK_ROWS * 4);
    if (at === 0) return 0;
    const bytes = this.bytesAt(at);
    this.#lock();
    this.#words[ALLOCATED] = (this.#word(ALLOCATED) - bytes) | 0;
    this.#unlock();
    const numbers = new Uint32Array(this.bufferTo(at + BLOCK_ROWS * 4), at, BLOCK_ROWS);
    for (let row = 0; row < BLOCK_ROWS; row++) numbers[row] = row;
    this.#rowNumbers = at;
    return at;
  }

  /** The memory as i32 words, at least to the 16 bytes at `address`. */
  wordsTo(address: Address): Int32Array {
    this.#see(address);
    return this.#words;
  }

  /** Address of `bytes` bytes, in use from now on; 0 when the bank has none. */
  take(bytes: number): Address {
    const size = blockBytes(bytes);
    this.#lock();
    try {
      const block = this.#findFree(size) || this.#growHeap(size);
      if (block === 0) return 0;
      this.#unlink(block);
      this.#split(block, size);
      const taken = this.#sizeOf(block);
      this.#setField(block, 0, taken | 1);
      this.#words[ALLOCATED] = (this.#word(ALLOCATED) + taken) | 0;
      return block + HEADER_BYTES;
    } finally {
      this.#unlock();
    }
  }

  /** Frees what `take` gave. Returns its bytes, with the header. */
  giveBack(address: Address): number {
    const block = address - HEADER_BYTES;
    this.#lock();
    try {
      this.#see(block);
      assert(block >= FIRST_BLOCK && (address & 63) === 0 && this.#isUsed(block), `free(${address}) of nothing allocated`);
      const size = this.#sizeOf(block);
      this.#words[ALLOCATED] = (this.#word(ALLOCATED) - size) | 0;
      this.#addFree(block, size);
      return size;
    } finally {
      this.#unlock();
    }
  }

  /** Bytes of what lies at `address`, with the header. */
  bytesAt(address: Address): number {
    return this.#sizeOf(address - HEADER_BYTES);
  }

  #see(address: number): void {
    const end = address + HEADER_BYTES;
    if (end > this.#seenBytes) this.#look(end);
  }

  #look(end: number): void {
    this.#buffer = bufferTo(this.#memory, end);
    this.#words = new Int32Array(this.#buffer);
    this.#seenBytes = this.#words.byteLength;
  }

  /** The memory, at least up to `end`; of more only what has been asked for. */
  bufferTo(end: number): ArrayBufferLike {
    if (end > this.#seenBytes) this.#look(end);
    return this.#buffer;
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
    const pages = Math.min(Math.max(neededPages, GROWTH_BYTES / PAGE_BYTES), (this.#maximumBytes - present) / PAGE_BYTES);
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
      this.#memory.grow(pages);
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }
}

/** The memory up to `end`. A thread learns of another's growth late; growing by nothing makes it look. */
export function bufferTo(memory: WebAssembly.Memory, end: number): ArrayBufferLike {
  if (memory.buffer.byteLength < end) memory.grow(0);
  return memory.buffer;
}

/** Bytes that an allocation of `bytes` takes of the bank, with its header. */
export function blockBytes(bytes: number): number {
  return Math.ceil((bytes + HEADER_BYTES) / 64) * 64;
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
