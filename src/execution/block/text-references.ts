// References to strings in kernel memory, read and written one by one: address, length in bytes, and a bit that is set where not all is ASCII. 0 is null.

import type { Address } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { KernelMemory } from '../../kernels/memory.js';

/** Masks of the upper half of a reference. */
export const WIDE = 0x80000000;
export const LENGTH = 0x7fffffff;

/** The string that the reference at an address stands for. */
export function referredText(memory: KernelMemory, reference: Address): string | null {
  const [at = 0, size = 0] = memory.u32(reference, 2);
  if (at === 0) return null;
  const bytes = memory.u8(at, size & LENGTH);
  return Buffer.from(bytes.buffer, at, bytes.length).toString();
}

/** Reader of strings by the position of their reference among `count`: makes its views of the memory once. */
export function referredTexts(memory: KernelMemory, references: Address, count: number): (position: number) => string | null {
  const words = memory.u32(references, count * 2);
  let bytes: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  return (position) => {
    const at = words[position * 2] ?? 0;
    if (at === 0) return null;
    const end = at + ((words[position * 2 + 1] ?? 0) & LENGTH);
    if (end > bytes.length) bytes = Buffer.from(memory.u8(0, end).buffer, 0, end);
    return bytes.toString('utf8', at, end);
  };
}

/** Writes strings to memory of `arena`, as UTF-8: halves of surrogate pairs become U+FFFD. @returns address of their references */
export function layTexts(memory: KernelMemory, arena: Arena, texts: readonly (string | null)[]): Address {
  const references = arena.take(Math.max(1, texts.length) * 8);
  const size = texts.reduce((sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)), 0);
  // An empty string needs an address as well, and kernels may read 16 bytes past their strings.
  const start = arena.take(size + 16);
  const words = memory.u32(references, texts.length * 2);
  const bytes = Buffer.from(memory.u8(start, size).buffer, start, size);
  let at = 0;
  texts.forEach((text, index) => {
    const length = text === null ? 0 : writeText(bytes, at, text);
    words[index * 2] = text === null ? 0 : start + at;
    words[index * 2 + 1] = text === null || length === text.length ? length : (length | WIDE) >>> 0;
    at += length;
  });
  return references;
}

/** Characters of strings that are written one by one, which for few is less than a call. */
const FEW_CHARACTERS = 24;

/** @returns the bytes written */
function writeText(bytes: Buffer<ArrayBufferLike>, at: number, text: string): number {
  if (text.length > FEW_CHARACTERS) return bytes.write(text, at);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return bytes.write(text, at);
    bytes[at + index] = code;
  }
  return text.length;
}
