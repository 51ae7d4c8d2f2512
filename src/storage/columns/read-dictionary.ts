// Reads all strings of a dictionary in kernel memory.

import type { KernelMemory } from '../../kernels/memory.js';
import type { DictionaryView } from '../view.js';

/** Reader of many entries, null for the id of null: makes its views of the memory once; valid as long as the dictionary. */
export function textReader(memory: KernelMemory, { offsets, bytes, count, hasNull }: DictionaryView): (id: number) => string | null {
  const bounds = memory.u32(offsets, count + 1);
  const length = bounds[count] ?? 0;
  const text = Buffer.from(memory.u8(bytes, length).buffer, bytes, length);
  return (id) => (id === 0 && hasNull ? null : text.toString('utf8', bounds[id] ?? 0, bounds[id + 1] ?? 0));
}

const DECODED_TOGETHER = 256;

/** All entries, by id. */
export function allTexts(memory: KernelMemory, dictionary: DictionaryView): (string | null)[] {
  const { offsets, bytes, count, hasNull } = dictionary;
  const read = textReader(memory, dictionary);
  const bounds = memory.u32(offsets, count + 1);
  const text = Buffer.from(memory.u8(bytes, bounds[count] ?? 0).buffer, bytes, bounds[count] ?? 0);
  const texts: (string | null)[] = [];
  for (let first = 0; first < count; first += DECODED_TOGETHER) {
    const last = Math.min(count, first + DECODED_TOGETHER);
    const [start, end] = [bounds[first] ?? 0, bounds[last] ?? 0];
    const together = text.toString('utf8', start, end);
    // ASCII has as many code units as bytes; cutting a string out is faster than decoding it.
    const isAscii = together.length === end - start;
    for (let id = first; id < last; id++)
      texts.push(isAscii ? together.slice((bounds[id] ?? 0) - start, (bounds[id + 1] ?? 0) - start) : read(id));
  }
  if (hasNull && count > 0) texts[0] = null;
  return texts;
}
