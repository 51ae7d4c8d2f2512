// Texts that the conformance checks make.

import type { Lab } from '../lab.js';

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

/** Strings that the references at `out` point to; `null` where there is none. */
export function found(lab: Lab, out: number, count: number): { readonly text: Text; readonly isWide: boolean }[] {
  return lab.read('I64', out, count).map((each) => {
    const word = BigInt.asUintN(64, BigInt(each));
    if (word === 0n) return { text: null, isWide: false };
    const [at, length] = [Number(word & 0xffffffffn), Number((word >> 32n) & 0x7fffffffn)];
    return { text: Buffer.from(lab.read('U8', at, length).map(Number)).toString(), isWide: word >= WIDE };
  });
}

export function expectTexts(lab: Lab, out: number, expected: readonly (Text | undefined)[], wide: (i: number) => boolean): void {
  for (const [i, { text, isWide: isMarked }] of found(lab, out, expected.length).entries()) {
    const wanted = expected[i];
    if (wanted === undefined) continue;
    if (text !== wanted) lab.fail(`text ${i} is ${JSON.stringify(text)}, expected ${JSON.stringify(wanted)}`);
    if (isMarked !== (wanted !== null && wide(i))) lab.fail(`text ${i}, ${JSON.stringify(text)}, is ${isMarked ? 'wide' : 'not wide'}`);
  }
}

/** New texts lie one behind the other, in order. */
export function expectPacked(lab: Lab, out: number, buffer: number, written: readonly boolean[]): void {
  let at = BigInt(buffer);
  for (const [i, each] of lab.read('I64', out, written.length).entries()) {
    const word = BigInt.asUintN(64, BigInt(each));
    if (written[i] !== true || word === 0n) continue;
    if ((word & 0xffffffffn) !== at) lab.fail(`text ${i} lies at ${word & 0xffffffffn}, expected ${at}`);
    at += (word >> 32n) & 0x7fffffffn;
  }
}

export const bytesIn = (texts: readonly Text[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
export const roomFor = (lab: Lab, texts: readonly Text[]): number => lab.output('U8', bytesIn(texts) + 16);

/** The order of code units. */
export const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
