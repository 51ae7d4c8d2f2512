// Test bench of the conformance checks: lays out inputs, calls a kernel, verifies its outputs.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { KernelSet, Num } from '../contract.js';
import type { KernelMemory } from '../memory.js';

export type Value = number | bigint;
type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

/** Every tail of one and two words, and a whole block. */
const ROW_COUNTS: readonly number[] = [...Array.from({ length: 131 }, (_, rows) => rows), BLOCK_ROWS];
export const MASKS = ['none', 'all', 'alternating', 'random', 'sparse', 'dense'] as const;

const REGION_BYTES = 8 * 1024 * 1024;
const NOISE = 0xa5;

/** A failed check: the kernel set is refused. */
export class ConformanceFailure extends Error {}

/**
 * Test bench of a kernel: lays out inputs surrounded by noise, calls, and verifies that nothing but the outputs was
 * written. Every trial starts from the same random numbers.
 */
export class Lab {
  readonly kernels: KernelSet;
  readonly #memory: KernelMemory;
  readonly #region: Address;
  #used = 0;
  #seed = 0;
  #outputs: { at: Address; bytes: number }[] = [];
  #situation = '';

  constructor(kernels: KernelSet, memory: KernelMemory) {
    this.kernels = kernels;
    this.#memory = memory;
    this.#region = memory.allocate(REGION_BYTES);
  }

  close(): void {
    this.#memory.free(this.#region);
  }

  /** Begins a trial; `situation` names it in failures. */
  begin(situation: string): void {
    this.#memory.u8(this.#region, this.#used).fill(NOISE);
    this.#used = 0;
    this.#outputs = [];
    this.#situation = situation;
    this.#seed = situation.length;
  }

  /** One trial for each row count and each of `variants`. */
  each<Variant extends string | number>(
    variants: readonly Variant[],
    trial: (rows: number, variant: Variant) => void,
    rowCounts: readonly number[] = ROW_COUNTS,
  ): void {
    for (const rows of rowCounts) {
      for (const variant of variants) {
        this.begin(`${rows} rows, ${variant}`);
        this.#seed = rows;
        trial(rows, variant);
      }
    }
  }

  /** Uniform in 0 … below - 1. */
  random(below: number): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  }

  /** Values of a type, a third of them extremes. */
  values(type: Num, count: number): Value[] {
    const extremes = EXTREMES[type];
    const values: Value[] = [];
    for (let index = 0; index < count; index++)
      values.push(this.random(3) === 0 ? (extremes[this.random(extremes.length)] ?? 0) : this.#plain(type));
    return values;
  }

  /** Values whose sums and differences stay finite and are never NaN. */
  finite(type: Num, count: number): Value[] {
    return this.values(type, count).map((value) => (typeof value === 'number' && !(Math.abs(value) < 1e30) ? 0.5 : value));
  }

  #plain(type: Num): Value {
    switch (type) {
      case 'U8':
        return this.random(256);
      case 'U16':
        return this.random(65536);
      case 'U32':
        return this.random(4294967296);
      case 'I64':
        return BigInt.asIntN(64, (BigInt(this.random(4294967296)) << 32n) | BigInt(this.random(4294967296)));
      case 'F32':
        return Math.fround((this.random(2000001) - 1000000) / 128);
      case 'F64':
        return (this.random(2000001) - 1000000) / 1000;
    }
  }

  mask(pattern: (typeof MASKS)[number], rows: number): boolean[] {
    return Array.from({ length: rows }, (_, row) => {
      switch (pattern) {
        case 'none':
          return false;
        case 'all':
          return true;
        case 'alternating':
          return row % 2 === 1;
        case 'random':
          return this.random(2) === 0;
        case 'sparse':
          return this.random(40) === 0;
        case 'dense':
          return this.random(40) !== 0;
      }
    });
  }

  /** Lays values out, followed by noise up to the next 64 rows and beyond. */
  place(type: Num, values: readonly Value[]): Address {
    const at = this.#take(Math.ceil(values.length / 64) * 64 * BYTES[type]);
    this.#write(type, at, values);
    return at;
  }

  uploadBytes(bytes: Uint8Array): Address {
    const at = this.#take(bytes.length);
    this.#memory.u8(at, bytes.length).set(bytes);
    return at;
  }

  /** A bit array; bits past the last row are 0, as the contract has it. */
  uploadBits(bits: readonly boolean[]): Address {
    return this.place('I64', bitWords(bits));
  }

  /** Gives an output bits to start from. */
  fill(at: Address, bits: readonly boolean[]): void {
    this.#write('I64', at, bitWords(bits));
  }

  /** Between calls of one trial. */
  overwrite(type: Num, at: Address, values: readonly Value[]): void {
    this.#write(type, at, values);
  }

  /** Room for results, holding `initial` or noise. */
  output(type: Num, count: number, initial?: readonly Value[]): Address {
    const at = this.#take(count * BYTES[type]);
    if (initial !== undefined) this.#write(type, at, initial);
    this.#outputs.push({ at, bytes: count * BYTES[type] });
    return at;
  }

  /** Calls and verifies that only outputs were written. */
  call<Result>(kernel: () => Result): Result {
    const before = this.#memory.u8(this.#region, this.#used).slice();
    const result = kernel();
    const after = this.#memory.u8(this.#region, this.#used);
    let from = 0;
    // Outputs ascend, as they were taken.
    for (const { at, bytes } of [...this.#outputs, { at: this.#region + this.#used, bytes: 0 }]) {
      const end = at - this.#region;
      if (Buffer.compare(before.subarray(from, end), after.subarray(from, end)) !== 0) {
        const offset = before.findIndex((byte, index) => index >= from && byte !== after[index]);
        throw new ConformanceFailure(`${this.#situation}: wrote outside its outputs, ${offset} bytes into the trial's memory`);
      }
      from = end + bytes;
    }
    return result;
  }

  read(type: Num, at: Address, count: number): Value[] {
    return [...this.#view(type, at, count)];
  }

  /** Compares an output with what it must hold: the same numbers, zeros of the same sign, NaN where NaN. */
  expect(type: Num, at: Address, expected: readonly Value[], what = 'value'): void {
    const actual = this.#view(type, at, expected.length);
    for (let index = 0; index < expected.length; index++)
      if (!Object.is(actual[index], expected[index]))
        this.fail(`${what} ${index} of ${expected.length} is ${show(actual[index])}, expected ${show(expected[index])}`);
  }

  /** Compares outputs, each with the field of its name of the elements that the call must have given. */
  expectFields<Field extends string>(
    type: Num,
    outputs: Readonly<Record<Field, Address>>,
    expected: readonly Readonly<Record<Field, Value>>[],
  ): void {
    for (const field of Object.keys(outputs) as Field[]) {
      const values = expected.map((element) => element[field]);
      this.expect(type, outputs[field], values, field);
    }
  }

  /** The slots of a hash table hold `entries` in some order, each once, and else zeros. */
  expectSlots(at: Address, capacity: number, entries: readonly number[]): void {
    const found = this.read('U32', at, capacity)
      .filter((entry) => entry !== 0)
      .map(Number)
      .sort((a, b) => a - b);
    const wrong = found.findIndex((entry, index) => entry !== entries[index]);
    if (wrong >= 0 || found.length !== entries.length) this.fail(`the table has ${found.length} entries, expected ${entries.length}`);
  }

  expectBits(at: Address, expected: readonly boolean[]): void {
    this.expect('I64', at, bitWords(expected), 'word');
  }

  expectResult(actual: Value, expected: Value): void {
    if (!Object.is(actual, expected)) this.fail(`returned ${show(actual)}, expected ${show(expected)}`);
  }

  fail(message: string): never {
    throw new ConformanceFailure(`${this.#situation}: ${message}`);
  }

  #write(type: Num, at: Address, values: readonly Value[]): void {
    if (type === 'I64') {
      const view = this.#memory.i64(at, values.length);
      for (let index = 0; index < values.length; index++) view[index] = BigInt(values[index] ?? 0);
    } else {
      const view = this.#numbers(type, at, values.length);
      for (let index = 0; index < values.length; index++) view[index] = Number(values[index]);
    }
  }

  #view(type: Num, at: Address, count: number): Numbers | BigInt64Array {
    return type === 'I64' ? this.#memory.i64(at, count) : this.#numbers(type, at, count);
  }

  #numbers(type: Exclude<Num, 'I64'>, at: Address, count: number): Numbers {
    switch (type) {
      case 'U8':
        return this.#memory.u8(at, count);
      case 'U16':
        return this.#memory.u16(at, count);
      case 'U32':
        return this.#memory.u32(at, count);
      case 'F32':
        return this.#memory.f32(at, count);
      case 'F64':
        return this.#memory.f64(at, count);
    }
  }

  /** 64-byte aligned, with at least 64 bytes of noise behind. */
  #take(bytes: number): Address {
    const at = this.#region + this.#used;
    this.#used += Math.ceil(bytes / 64) * 64 + 64;
    if (this.#used > REGION_BYTES) throw new RangeError(`a trial takes more than ${REGION_BYTES} bytes`);
    this.#memory.u8(at, this.#region + this.#used - at).fill(NOISE);
    return at;
  }
}

export const BYTES: Readonly<Record<Num, number>> = { U8: 1, U16: 2, U32: 4, I64: 8, F32: 4, F64: 8 };

export const MIN_I64 = -(2n ** 63n);
export const MAX_I64 = 2n ** 63n - 1n;

const FLOAT_EXTREMES = [Number.NaN, 0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1, -1];

const EXTREMES: Readonly<Record<Num, readonly Value[]>> = {
  U8: [0, 1, 127, 128, 254, 255],
  U16: [0, 1, 255, 256, 32767, 32768, 65534, 65535],
  U32: [0, 1, 65535, 65536, 2147483647, 2147483648, 4294967294, 4294967295],
  I64: [0n, 1n, -1n, 2n ** 32n, -(2n ** 32n), 2n ** 53n + 1n, MIN_I64, MIN_I64 + 1n, MAX_I64, MAX_I64 - 1n],
  F32: [...FLOAT_EXTREMES, 2 ** -149, 3.4028234663852886e38, -3.4028234663852886e38, 16777216],
  F64: [...FLOAT_EXTREMES, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 0.1],
};

/** 64-bit words, lowest bit first. */
function bitWords(bits: readonly boolean[]): bigint[] {
  const words = new BigInt64Array(Math.ceil(bits.length / 64));
  const bytes = new Uint8Array(words.buffer);
  for (let bit = 0; bit < bits.length; bit++) if (bits[bit]) bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  return [...words];
}

function show(value: Value | undefined): string {
  return typeof value === 'bigint' ? `${value}n` : Object.is(value, -0) ? '-0' : String(value);
}
