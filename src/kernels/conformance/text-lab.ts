// Texts that the conformance checks make.

import type { Lab } from './lab.js';

export type Text = string | null;

export const WIDE = 1n << 63n;
const FRAGMENTS = ['a', 'Zz', 'b@[`{', 'q w', '0123456789', ' ', 'é', 'ß', '日本', '\uffee', '😀', '𐐷', 'ab', 'ab', '-', ''];

export function randomTexts(lab: Lab, count: number): Text[] {
  return Array.from({ length: Math.min(count, 600) }, () =>
    lab.random(9) === 0 ? null : Array.from({ length: lab.random(6) }, () => FRAGMENTS[lab.random(FRAGMENTS.length)] ?? '').join(''),
  );
}

export const isWide = (text: string): boolean => Buffer.byteLength(text) !== text.length;

/** Texts in memory, with their references; some are called wide that are not. */
export function lay(
  lab: Lab,
  texts: readonly Text[],
): { readonly at: number; readonly words: readonly bigint[]; isWide(i: number): boolean } {
  let at = BigInt(lab.uploadBytes(Buffer.from(texts.map((text) => text ?? '').join(''))));
  const words = texts.map((text) => {
    if (text === null) return 0n;
    const length = BigInt(Buffer.byteLength(text));
    const word = at | (length << 32n) | (isWide(text) || lab.random(20) === 0 ? WIDE : 0n);
    at += length;
    return BigInt.asIntN(64, word);
  });
  return { at: lab.place('I64', words), words, isWide: (i) => (words[i] ?? 0n) < 0n };
}
