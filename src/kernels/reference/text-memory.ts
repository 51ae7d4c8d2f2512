// Texts by reference in the memory of reference kernels.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';

export const WIDE = 0x80000000;

/** A text of the memory, decoded. */
export interface Found {
  readonly at: Address;
  readonly length: number;
  readonly isWide: boolean;
  readonly text: string;
}

/** The order of code units. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Reads and writes of texts. */
export function textMemory(memory: KernelMemory) {
  const textAt = (texts: Address, i: number): Found | null => {
    const [at = 0, high = 0] = memory.u32(texts + i * 8, 2);
    const length = high & ~WIDE;
    return at === 0 ? null : { at, length, isWide: (high & WIDE) !== 0, text: Buffer.from(memory.u8(at, length)).toString() };
  };
  const put = (out: Address, i: number, at: Address, length: number, isWide: boolean): void => {
    memory.u32(out + i * 8, 2).set([at, (length | (isWide ? WIDE : 0)) >>> 0]);
  };
  const putNull = (out: Address, i: number): void => {
    memory.u32(out + i * 8, 2).fill(0);
  };
  /** Writes bytes behind those of the texts before. */
  const writer = (out: Address, buffer: Address) => {
    let free = buffer;
    return (i: number, text: string, isWide: boolean): void => {
      const bytes = Buffer.from(text);
      memory.u8(free, bytes.length).set(bytes);
      put(out, i, free, bytes.length, isWide);
      free += bytes.length;
    };
  };
  return { textAt, put, putNull, writer };
}
