// Reads strings of dictionaries in kernel memory.

import type { KernelMemory } from '../../kernels/memory.js';
import type { DictionaryView, GlobalDictionaryView } from '../../storage/view.js';

/** Entry `id` of a segment's dictionary as a JS string. */
export function textAt(memory: KernelMemory, dictionary: DictionaryView, id: number): string | null {
  if (id === 0 && dictionary.hasNull) return null;
  const bounds = memory.u32(dictionary.offsets + id * 4, 2);
  const start = bounds[0] ?? 0;
  return decode(memory, dictionary.bytes + start, (bounds[1] ?? 0) - start);
}

export function globalTextAt(memory: KernelMemory, dictionary: GlobalDictionaryView, id: number): string | null {
  if (id === 0) return null;
  const entry = memory.u32(dictionary.entries + id * 8, 2);
  return decode(memory, entry[0] ?? 0, entry[1] ?? 0);
}

/** First id whose text is >= `text`; `count` when there is none. Null comes before every text. */
export function lowerBoundText(memory: KernelMemory, dictionary: DictionaryView, text: string): number {
  const wanted = Buffer.from(text);
  const offsets = memory.u32(dictionary.offsets, dictionary.count + 1);
  const bytes = memory.u8(dictionary.bytes, offsets[dictionary.count] ?? 0);
  let low = dictionary.hasNull ? 1 : 0;
  let high = dictionary.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAsUtf16(bytes, offsets[middle] ?? 0, offsets[middle + 1] ?? 0, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Order of UTF-16 code units from UTF-8: that of the bytes, but characters beyond the basic plane (lead bytes from 0xf0)
 * are written with surrogates, which come before U+E000 to U+FFFF (lead bytes 0xee and 0xef).
 */
function compareAsUtf16(bytes: Uint8Array, start: number, end: number, wanted: Uint8Array): number {
  const length = Math.min(end - start, wanted.length);
  for (let at = 0; at < length; at++) {
    const a = bytes[start + at] ?? 0;
    const b = wanted[at] ?? 0;
    if (a === b) continue;
    const order = a < b ? -1 : 1;
    return a >= 0xee && b >= 0xee && a >= 0xf0 !== b >= 0xf0 ? -order : order;
  }
  return end - start - wanted.length;
}

/** Id of a text; undefined when the segment does not have it. */
export function findText(memory: KernelMemory, dictionary: DictionaryView, text: string): number | undefined {
  const id = lowerBoundText(memory, dictionary, text);
  return id < dictionary.count && textAt(memory, dictionary, id) === text ? id : undefined;
}

// Unlike TextDecoder, Buffer reads shared memory without a copy.
function decode(memory: KernelMemory, at: number, length: number): string {
  const bytes = memory.u8(at, length);
  return Buffer.from(bytes.buffer, at, length).toString('utf8');
}
