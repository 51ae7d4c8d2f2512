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

/** All entries, by id. */
export function allTexts(memory: KernelMemory, dictionary: DictionaryView): (string | null)[] {
  const read = textReader(memory, dictionary);
  return Array.from({ length: dictionary.count }, (_, id) => read(id));
}
