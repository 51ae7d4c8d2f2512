// Strings without the difference of upper and lower case.

import type { Automaton } from '../base/pattern/automaton.js';
import type { Range } from '../base/pattern/code-points.js';
import { keptAutomaton } from '../base/pattern/pattern-automaton.js';

/** The string as Java compares it without case: each UTF-16 unit in upper case and then in lower case, so that `ı`, `İ` and `I` are `i`. */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at);
    const upper = unit.toUpperCase();
    folded += (upper.length === 1 ? upper : unit).toLowerCase().charAt(0);
  }
  return folded;
}

const ASCII = /^[\0-\x7f]*$/;

/** Characters beyond ASCII that fold to a letter of it. */
const FOLDED_TO_ASCII: ReadonlyMap<string, readonly number[]> = new Map([
  ['i', [0x130, 0x131]],
  ['k', [0x212a]],
  ['s', [0x17f]],
]);

/** The automaton of strings that contain this one, in whichever case; undefined for an empty one and for characters beyond ASCII. */
export function foldedAutomaton(text: string): Automaton | undefined {
  if (text === '' || !ASCII.test(text)) return undefined;
  const key = `folded ${text.toLowerCase()}`;
  return keptAutomaton(key, () => ({ kind: 'sequence', parts: [...text.toLowerCase()].map(inEitherCase) }), null);
}

function inEitherCase(letter: string): { readonly kind: 'characters'; readonly ranges: readonly Range[] } {
  const points = new Set([...letter, letter.toUpperCase()].map((each) => each.charCodeAt(0)));
  for (const point of FOLDED_TO_ASCII.get(letter) ?? []) points.add(point);
  return { kind: 'characters', ranges: [...points].map((point) => [point, point]) };
}
