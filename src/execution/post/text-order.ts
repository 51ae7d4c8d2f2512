// Orders texts by words made of their characters, and compares only those whose words are the same.

import { type Check, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { mergeSort } from './merge-sort.js';
import { rowsByWords } from './radix-order.js';

/** Bits of a character in a word, and words of a text: few where all characters are narrow. */
const NARROW = { bits: 8, words: 3 } as const;
const WIDE = { bits: 16, words: 4 } as const;
/** Texts of the same words are compared where they are no more than this, or have been divided so often. */
const COMPARED_MAX = 32;
const DIVIDED_MAX = 12;

export interface TextOrder {
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/**
 * Numbers of texts in the order of their UTF-16 code units; equal ones in the order in which they come.
 * @param numbers  those of the texts to order; not modified
 * @param text     the text of a number, asked for several times
 */
export function orderedTexts(numbers: Uint32Array, text: (number: number) => string | null, order: TextOrder, check: Check): Uint32Array {
  return divided(numbers, text, order, check, 0);
}

function divided(
  numbers: Uint32Array,
  text: (number: number) => string | null,
  order: TextOrder,
  check: Check,
  depth: number,
): Uint32Array {
  const compare = comparison(text, order);
  if (numbers.length <= COMPARED_MAX || depth === DIVIDED_MAX) return mergeSort(numbers.slice(), compare, check);
  const words = wordsOfTexts(numbers, text, order, check);
  const places = rowsByWords(words, numbers.length, check);
  const sorted = places.map((place) => numbers[place] ?? 0);
  const isLikeNext = (at: number): boolean => {
    const [place, next] = [places[at] ?? 0, places[at + 1] ?? 0];
    for (let index = words.length - 1; index >= 0; index--) if (words[index]?.[place] !== words[index]?.[next]) return false;
    return true;
  };
  for (let start = 0; start < sorted.length; ) {
    let end = start + 1;
    while (end < sorted.length && isLikeNext(end - 1)) end++;
    if (start % ROWS_PER_CHECK === 0) check();
    const alike = sorted.subarray(start, end);
    if (alike.length > 1)
      sorted.set(
        alike.length < sorted.length ? divided(alike, text, order, check, depth + 1) : mergeSort(alike.slice(), compare, check),
        start,
      );
    start = end;
  }
  return sorted;
}

/** Words that are ordered as the first characters in which texts may differ are; a text that ends before comes first. */
function wordsOfTexts(numbers: Uint32Array, text: (number: number) => string | null, order: TextOrder, check: Check): Uint32Array[] {
  const from = commonLength(numbers, text, check);
  return wordsFrom(from, NARROW, numbers, text, order, check) ?? wordsFrom(from, WIDE, numbers, text, order, check) ?? [];
}

/** @returns undefined where characters are not narrow */
function wordsFrom(
  from: number,
  { bits, words: wordCount }: typeof NARROW | typeof WIDE,
  numbers: Uint32Array,
  text: (number: number) => string | null,
  { descending, nullsFirst }: TextOrder,
  check: Check,
): Uint32Array[] | undefined {
  const flip = descending ? -1 : 0;
  const most = 2 ** bits - 1;
  const nulls = new Uint32Array(numbers.length).fill(nullsFirst ? 1 : 0);
  const words = Array.from({ length: wordCount }, () => new Uint32Array(numbers.length));
  for (let at = 0; at < numbers.length; at++) {
    if (at % ROWS_PER_CHECK === 0) check();
    const each = text(numbers[at] ?? 0);
    if (each === null) {
      nulls[at] = nullsFirst ? 0 : 1;
      continue;
    }
    let place = from;
    for (const word of words) {
      let packed = 0;
      for (let shift = 32 - bits; shift >= 0; shift -= bits) {
        // Characters are from 1 on: where a text has ended stands 0.
        const character = place < each.length ? each.charCodeAt(place++) + 1 : 0;
        if (character >= most && bits === NARROW.bits) return undefined;
        packed |= Math.min(most, character) << shift;
        // The last two characters are one, after which nothing is told of a text.
        if (character >= most) place = Infinity;
      }
      word[at] = packed ^ flip;
    }
  }
  return [nulls, ...words];
}

/** Number of characters that all texts begin with. */
function commonLength(numbers: Uint32Array, text: (number: number) => string | null, check: Check): number {
  let first: string | undefined;
  let length = 0;
  for (let at = 0; at < numbers.length; at++) {
    if (at % ROWS_PER_CHECK === 0) check();
    const each = text(numbers[at] ?? 0);
    if (each === null) continue;
    if (first === undefined) [first, length] = [each, each.length];
    let same = 0;
    while (same < length && same < each.length && each.charCodeAt(same) === first.charCodeAt(same)) same++;
    length = same;
    if (length === 0) break;
  }
  return length;
}

function comparison(text: (number: number) => string | null, { descending, nullsFirst }: TextOrder): (a: number, b: number) => number {
  const sign = descending ? -1 : 1;
  const nullSign = nullsFirst ? -1 : 1;
  return (a, b) => {
    const [left, right] = [text(a), text(b)];
    if (left === null || right === null) return left === right ? 0 : left === null ? nullSign : -nullSign;
    return left < right ? -sign : left > right ? sign : 0;
  };
}
