// Reads and decodes arrays of a segment file.

import { readSync } from 'node:fs';
import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES, type Physical } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import {
  BLOCK_HEADER_BYTES,
  type BlockHeader,
  corrupt,
  corruptBlock,
  decodeBlockHeader,
  LAYOUT,
  type StoredArray,
  TRANSFORM,
} from '../format.js';
import { checksum } from './checksum.js';
import { joinPlanes } from './words.js';
import { decompressInto } from './zstd.js';

/** An open segment file: `descriptor` belongs to the store and is valid in every thread of the process. */
export interface SegmentFile {
  readonly file: string;
  readonly descriptor: number;
}

/** Room for the planes or packed bits of a block, and beside it for integers on their way to another type. */
const SCRATCH_BYTES = BLOCK_ROWS * 8 + 64;
/** Unpack kernels may write U32 for a block, and read 16 bytes past its packed bits. */
const INTEGERS_AT = BLOCK_ROWS * 8 + 64;

let readBuffer = Buffer.alloc(0);

/**
 * Reads blocks of one segment file and decodes them in kernel memory. Makes a scratch region at the first block;
 * `release` exactly once.
 */
export class ArrayDecoder {
  readonly #source: SegmentFile;
  readonly #memory: KernelMemory;
  readonly #kernels: KernelSet;
  #scratch: Address = 0;

  constructor(source: SegmentFile, memory: KernelMemory, kernels: KernelSet) {
    this.#source = source;
    this.#memory = memory;
    this.#kernels = kernels;
  }

  /**
   * Decodes the whole array to `out`.
   * @param column  and `name` say in an error what was being read
   * @throws ServiceError `segment_corrupt` naming file, column and block
   */
  decode(array: StoredArray, out: Address, column: string, name: string): void {
    const stride = array.blockLength * PHYSICAL_BYTES[array.physical];
    for (let block = 0, start = array.start; block < array.bytes.length; block++) {
      this.#decodeBlock(array, block, start, out + block * stride, column, name);
      start += array.bytes[block] ?? 0;
    }
  }

  /** Decodes the blocks that hold elements [start, end) to `out`; returns the element that lies there. */
  decodeRange(
    array: StoredArray,
    range: { readonly start: number; readonly end: number },
    out: Address,
    column: string,
    name: string,
  ): number {
    const first = Math.floor(range.start / array.blockLength);
    const stride = array.blockLength * PHYSICAL_BYTES[array.physical];
    for (let block = 0, start = array.start; block * array.blockLength < range.end; block++) {
      if (block >= first) this.#decodeBlock(array, block, start, out + (block - first) * stride, column, name);
      start += array.bytes[block] ?? 0;
    }
    return first * array.blockLength;
  }

  release(): void {
    if (this.#scratch !== 0) this.#memory.free(this.#scratch);
    this.#scratch = 0;
  }

  #decodeBlock(array: StoredArray, block: number, start: number, out: Address, column: string, name: string): void {
    const bytes = readAt(this.#source, start, array.bytes[block] ?? 0);
    const elements = Math.min(array.blockLength, array.length - block * array.blockLength);
    try {
      if (checksum(bytes) !== array.checksums[block]) throw new Error('it does not match its checksum');
      this.#place(bytes, array.physical, elements, out);
    } catch (error) {
      // Memory that is full says nothing about the file.
      if (error instanceof ServiceError) throw error;
      throw corruptBlock(this.#source.file, column, name, block, error instanceof Error ? error.message : String(error), error);
    }
  }

  #place(bytes: Buffer, physical: Physical, elements: number, out: Address): void {
    const header = decodeBlockHeader(bytes);
    const frames = bytes.subarray(BLOCK_HEADER_BYTES);
    if (header.elements !== elements) throw new Error(`it holds ${header.elements} elements where ${elements} belong`);
    if (header.transform === TRANSFORM.decimal) {
      const integers = this.#region() + INTEGERS_AT;
      this.#uploadIntegers(header, frames, 'U32', integers);
      const scale = this.#region();
      this.#kernels.toF64U32(integers, 0, elements, header.base, out);
      this.#memory.f64(scale, 1)[0] = 10 ** header.power;
      this.#kernels.divideF64(out, scale, 1, elements, out);
      return;
    }
    this.#uploadIntegers(header, frames, physical, out);
    if (header.transform !== TRANSFORM.delta) return;
    if (physical === 'U32') this.#kernels.prefixSumU32(out, elements, Number(header.base));
    else this.#kernels.prefixSumI64(out, elements, header.base);
  }

  #uploadIntegers(header: BlockHeader, frames: Buffer, physical: Physical, out: Address): void {
    const { layout, width, elements } = header;
    if (layout === LAYOUT.plain) return this.#decompress(frames, out, elements * PHYSICAL_BYTES[physical]);
    const scratch = this.#region();
    if (layout === LAYOUT.planes) {
      this.#decompress(frames, scratch, elements * width);
      uploadPlanes(this.#memory, scratch, width, physical, elements, out);
      return;
    }
    this.#decompress(frames, scratch, Math.ceil((elements * width) / 32) * 4);
    switch (physical) {
      case 'U8':
        return this.#kernels.unpackU8(scratch, elements, width, out);
      case 'U16':
        return this.#kernels.unpackU16(scratch, elements, width, out);
      case 'U32':
        return this.#kernels.unpackU32(scratch, elements, width, out);
      default: {
        const integers = scratch + INTEGERS_AT;
        this.#kernels.unpackU32(scratch, elements, width, integers);
        this.#kernels.toI64U32(integers, 0, elements, 0n, out);
      }
    }
  }

  #decompress(frames: Buffer, out: Address, bytes: number): void {
    const written = decompressInto(this.#memory.u8(out, bytes), frames);
    if (written !== bytes) throw new Error(`it decompresses to ${written} bytes where ${bytes} belong`);
  }

  #region(): Address {
    if (this.#scratch === 0) this.#scratch = this.#memory.allocate(SCRATCH_BYTES + BLOCK_ROWS * 4);
    return this.#scratch;
  }
}

function uploadPlanes(memory: KernelMemory, planes: Address, width: number, physical: Physical, elements: number, out: Address): void {
  const from = memory.u8(planes, elements * width);
  const elementBytes = PHYSICAL_BYTES[physical];
  if (elementBytes === 2 || elementBytes === 4 || elementBytes === 8) {
    // An odd number of 16-bit elements ends within a word, which is inside the padding of every array.
    joinPlanes(from, width, elements, elementBytes, memory.u32(out, Math.ceil((elements * elementBytes) / 4)));
  } else memory.u8(out, elements).set(from);
}

/** The bytes lie in a buffer that the next call overwrites. @throws ServiceError `segment_corrupt` when the file is shorter */
export function readAt(source: SegmentFile, offset: number, bytes: number): Buffer {
  if (readBuffer.length < bytes) readBuffer = Buffer.allocUnsafeSlow(Math.ceil(bytes / 65536) * 65536);
  const into = readBuffer.subarray(0, bytes);
  let filled = 0;
  while (filled < bytes) {
    const count = readFrom(source, into.subarray(filled), offset + filled);
    if (count === 0) throw corrupt(source.file, `it ends at ${offset + filled}, before ${offset + bytes}`);
    filled += count;
  }
  return into;
}

/** Reads from a file; a read error counts as damage, like wrong bytes. */
function readFrom(source: SegmentFile, into: Buffer, offset: number): number {
  try {
    return readSync(source.descriptor, into, 0, into.length, offset);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EIO') throw corrupt(source.file, 'the disk cannot read it', error);
    throw error;
  }
}
