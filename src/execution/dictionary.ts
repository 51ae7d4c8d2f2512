import type { KernelMemory } from '../kernels/memory.js';
import type { DictionaryView, GlobalDictionaryView } from '../storage/view.js';

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

/** All entries, by id. */
export function allTexts(memory: KernelMemory, dictionary: DictionaryView): (string | null)[] {
  const texts: (string | null)[] = new Array(dictionary.count);
  for (let id = 0; id < dictionary.count; id++) texts[id] = textAt(memory, dictionary, id);
  return texts;
}

/** First id whose text is >= `text`; `count` when there is none. Null comes before every text. */
export function lowerBoundText(memory: KernelMemory, dictionary: DictionaryView, text: string): number {
  let low = dictionary.hasNull ? 1 : 0;
  let high = dictionary.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((textAt(memory, dictionary, middle) ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
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
