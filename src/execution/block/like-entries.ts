// Finds the entries of a dictionary that match a LIKE pattern.

import type { Address } from '../../base/layout.js';
import { type LikePattern, likeBytes, likePrefix } from '../../base/like-pattern.js';
import type { DictionaryView } from '../../storage/view.js';
import type { Scratch } from './context.js';
import { lowerBoundText } from './dictionary.js';

const LAST_ASCII = 0x7f;

/**
 * Entries that match a pattern: what it begins with is a range of them, [lower, upper).
 * @param takeBits  room for a bit per entry, cleared
 * @returns         `bits` 0: all of the range, else those of it whose bit is set
 */
export function entriesLike(
  { context: { memory, kernels }, arena }: Scratch,
  dictionary: DictionaryView,
  parts: LikePattern,
  takeBits: () => Address,
): { readonly lower: number; readonly upper: number; readonly bits: Address } {
  const { prefix, isAll } = likePrefix(parts);
  // The end of the range begins with the next character, which is sure to be one in ASCII.
  let length = prefix.length;
  while (length > 0 && prefix.charCodeAt(length - 1) >= LAST_ASCII) length--;
  const known = prefix.slice(0, length);
  const last = known.charCodeAt(length - 1);
  const lower = known === '' ? (dictionary.hasNull ? 1 : 0) : lowerBoundText(memory, dictionary, known);
  const upper = known === '' ? dictionary.count : lowerBoundText(memory, dictionary, known.slice(0, -1) + String.fromCharCode(last + 1));
  if (lower >= upper || (isAll && known === prefix)) return { lower, upper, bits: 0 };
  const pattern = likeBytes(parts);
  const at = arena.take(pattern.byteLength + 16);
  memory.u8(at, pattern.byteLength).set(pattern);
  const bits = takeBits();
  kernels.dictionaryLike(dictionary.bytes, dictionary.offsets, lower, upper, at, pattern.byteLength, bits);
  return { lower, upper, bits };
}
