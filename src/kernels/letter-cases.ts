// Upper and lower case of code points as tables that kernels read.

import { onFirstUse } from '../base/on-first-use.js';

/** Code points below this have one or two bytes in UTF-8. */
const LONG_FROM = 0x800;
const NARROW = 0x80;
/** Code points are told of up to this one; those above are rare. */
const END = 0x20000;
const GROUP = 64;
const [SURROGATES, SURROGATES_END] = [0xd800, 0xe000];
/** It has another lower case at the end of a word. */
const SIGMA = 0x3a3;

/** Bytes of a table: u16 of what each code point from 0x80 to 0x7ff becomes, 0 where that does not have two bytes; then u8 of each 64 code points, 1 where all stay as they are. */
export const LETTER_CASE_BYTES = (LONG_FROM - NARROW) * 2 + END / GROUP;

export const upperCases = onFirstUse(() => tableOf((text) => text.toUpperCase()));
export const lowerCases = onFirstUse(() => tableOf((text) => text.toLowerCase()));

function tableOf(change: (text: string) => string): Uint8Array {
  const table = new Uint8Array(LETTER_CASE_BYTES);
  const points = new Uint16Array(table.buffer, 0, LONG_FROM - NARROW);
  for (let point = NARROW; point < LONG_FROM; point++) {
    const [changed = '', ...others] = change(String.fromCharCode(point));
    const code = changed.codePointAt(0) ?? 0;
    const isSame = others.length === 0 && code >= NARROW && code < LONG_FROM && (point !== SIGMA || code === SIGMA);
    points[point - NARROW] = isSame ? code : 0;
  }
  const groups = table.subarray(points.byteLength);
  for (let first = LONG_FROM; first < END; first += GROUP) {
    if (first >= SURROGATES && first < SURROGATES_END) continue;
    const text = Array.from({ length: GROUP }, (_, at) => String.fromCodePoint(first + at)).join('');
    groups[first / GROUP] = change(text) === text ? 1 : 0;
  }
  return table;
}
