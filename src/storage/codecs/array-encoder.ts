// Encodes arrays into a segment file.

import { BLOCK_ROWS, type Physical } from '../../base/layout.js';
import { onFirstUse } from '../../base/on-first-use.js';
import { BLOCK_HEADER_BYTES, encodeBlockHeader, LAYOUT, type StoredArray, TEXT_BLOCK_BYTES, TRANSFORM } from '../format.js';
import { checksum } from './checksum.js';
import { decimalPower } from './decimals.js';
import { type Elements, physicalOf } from './elements.js';
import { Words } from './words.js';
import { compressInto, frameBytesMax } from './zstd.js';

/** Sink of encoded bytes: the end of a segment file being written. */
export interface ByteSink {
  readonly offset: number;
  /** `bytes` may be overwritten after the call. */
  append(bytes: Uint8Array): void;
}

/** Plain blocks decode fastest, then packed bits, then planes; a slower layout has to be smaller by this factor. */
const FASTER_BIAS = 0.95;

/** Memory for one block; no call leaves anything in it, so that all encoders of a thread share it. */
const workspace = onFirstUse(() => {
  const bytes = BLOCK_HEADER_BYTES + 8 * frameBytesMax(BLOCK_ROWS) + frameBytesMax(TEXT_BLOCK_BYTES);
  return {
    words: new Words(BLOCK_ROWS),
    plane: new Uint8Array(BLOCK_ROWS),
    packed: new Uint32Array(BLOCK_ROWS),
    /** Candidate blocks, header included. */
    candidates: [Buffer.alloc(bytes), Buffer.alloc(bytes)] as const,
  };
});

/** Encodes arrays into blocks as `format.ts` draws them. One encoder serves one file. */
export class ArrayEncoder {
  readonly #sink: ByteSink;
  readonly #words: Words;
  readonly #plane: Uint8Array;
  readonly #packed: Uint32Array;
  #best: Buffer;
  #other: Buffer;

  constructor(sink: ByteSink) {
    const { words, plane, packed, candidates } = workspace();
    this.#sink = sink;
    this.#words = words;
    this.#plane = plane;
    this.#packed = packed;
    [this.#best, this.#other] = candidates;
  }

  /** Unsigned integers or i64. `ascending`: never less than the element before; stored as differences. */
  integers(elements: Uint8Array | Uint16Array | Uint32Array | BigInt64Array, ascending = false): StoredArray {
    const physical = physicalOf(elements);
    const delta = ascending && (physical === 'U32' || physical === 'I64');
    return this.#blocks(elements, physical, BLOCK_ROWS, (block, start) => {
      this.#words.load(block);
      if (!delta) return this.#smallest(block, { transform: TRANSFORM.none, power: 0, base: 0n });
      const before = BigInt(elements[Math.max(start - 1, 0)] ?? 0);
      this.#words.differences(Number(before & 0xffffffffn), Number((before >> 32n) & 0xffffffffn));
      return this.#smallest(null, { transform: TRANSFORM.delta, power: 0, base: before });
    });
  }

  floats(elements: Float32Array | Float64Array): StoredArray {
    return this.#blocks(elements, physicalOf(elements), BLOCK_ROWS, (block) => {
      const decimal = block instanceof Float64Array ? toDecimal(block, this.#words) : null;
      if (decimal !== null) return this.#smallest(null, { transform: TRANSFORM.decimal, ...decimal });
      this.#words.load(block);
      return this.#smallest(block, { transform: TRANSFORM.none, power: 0, base: 0n });
    });
  }

  /** Bytes without inner structure: text, serialized bitmaps. */
  bytes(elements: Uint8Array): StoredArray {
    return this.#blocks(elements, 'U8', TEXT_BLOCK_BYTES, (block) =>
      this.#plain(block, this.#best, { transform: TRANSFORM.none, power: 0, base: 0n }),
    );
  }

  #blocks<Block extends Elements>(
    elements: Block,
    physical: Physical,
    blockLength: number,
    encode: (block: Block, start: number) => number,
  ): StoredArray {
    const start = this.#sink.offset;
    const bytes: number[] = [];
    const checksums: number[] = [];
    for (let at = 0; at < elements.length; at += blockLength) {
      const size = encode(elements.subarray(at, at + blockLength) as Block, at);
      const block = this.#best.subarray(0, size);
      bytes.push(size);
      checksums.push(checksum(block));
      this.#sink.append(block);
    }
    return { physical, length: elements.length, blockLength, start, bytes, checksums };
  }

  /** Leaves the smallest encoding of the loaded words in `#best` and returns its size. `plain`: the same as elements, or null. */
  #smallest(plain: Elements | null, transform: Transform): number {
    const width = this.#words.bitWidth();
    const planes = Math.ceil(width / 8);
    let size = plain === null ? Number.POSITIVE_INFINITY : this.#plain(plain, this.#best, transform);
    const isFloat = plain instanceof Float32Array || plain instanceof Float64Array;
    const packedBytes = BLOCK_HEADER_BYTES + Math.ceil((this.#words.length * width) / 8);
    // Packed bits hardly compress further, so they are made only where they already are about as small.
    if (!isFloat && width <= 32 && packedBytes * FASTER_BIAS < size)
      size = this.#keepSmaller(size, this.#pack(width, this.#other, transform));
    const isBytes = plain !== null && plain.BYTES_PER_ELEMENT === 1;
    if (!isBytes) size = this.#keepSmaller(size, this.#planes(planes, this.#other, transform));
    return size;
  }

  #keepSmaller(size: number, otherSize: number): number {
    if (otherSize >= size * FASTER_BIAS) return size;
    [this.#best, this.#other] = [this.#other, this.#best];
    return otherSize;
  }

  #plain(elements: Elements, out: Buffer, transform: Transform): number {
    encodeBlockHeader({ layout: LAYOUT.plain, width: elements.BYTES_PER_ELEMENT, elements: elements.length, ...transform }, out);
    const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
    return BLOCK_HEADER_BYTES + compressInto(out.subarray(BLOCK_HEADER_BYTES), bytes);
  }

  #planes(width: number, out: Buffer, transform: Transform): number {
    encodeBlockHeader({ layout: LAYOUT.planes, width, elements: this.#words.length, ...transform }, out);
    let size = BLOCK_HEADER_BYTES;
    const plane = this.#plane.subarray(0, this.#words.length);
    for (let p = 0; p < width; p++) {
      this.#words.writePlane(p, plane);
      size += compressInto(out.subarray(size), plane);
    }
    return size;
  }

  #pack(width: number, out: Buffer, transform: Transform): number {
    encodeBlockHeader({ layout: LAYOUT.packed, width, elements: this.#words.length, ...transform }, out);
    const count = this.#words.pack(width, this.#packed);
    return BLOCK_HEADER_BYTES + compressInto(out.subarray(BLOCK_HEADER_BYTES), new Uint8Array(this.#packed.buffer, 0, count * 4));
  }
}

interface Transform {
  readonly transform: number;
  readonly power: number;
  readonly base: bigint;
}

/**
 * The doubles as integers over a power of ten, when every one of them is exactly that: prices, percentages, whole
 * numbers. Leaves the integers less their smallest in `words`; null when there is no such power.
 */
function toDecimal(block: Float64Array, words: Words): { power: number; base: bigint } | null {
  const power = decimalPower(block);
  if (power === null) return null;
  const scale = 10 ** power;
  let smallest = Number.POSITIVE_INFINITY;
  let largest = Number.NEGATIVE_INFINITY;
  for (const value of block) {
    const integer = Math.round(value * scale);
    if (integer < smallest) smallest = integer;
    if (integer > largest) largest = integer;
  }
  if (largest - smallest > 0xffffffff) return null;
  words.length = block.length;
  words.high.fill(0, 0, block.length);
  for (let i = 0; i < block.length; i++) words.low[i] = Math.round((block[i] ?? 0) * scale) - smallest;
  return { power, base: BigInt(smallest) };
}
