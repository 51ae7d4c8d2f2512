// Conformance checks of the kernels that match texts with automata of regular expressions.

import type { Address } from '../../../base/layout.js';
import { patternAutomaton } from '../../../base/pattern/pattern-automaton.js';
import type { Lab } from '../lab.js';
import { bytesIn, expectPacked, expectTexts, isWide, lay, randomTexts, type Text } from './text-lab.js';

/** JavaScript's own engine means the same by them. */
const PATTERNS = [
  'a',
  '^a',
  'ab$',
  '^$',
  'b.*b',
  'a|ab|Zz',
  '(ab)+-?',
  '([0-9]+) ?(a|b@)?',
  '(a*)(b*)',
  '(?:a|q)(.*?)(b|w)',
  '[^a-z]{2,3}(.)',
  '日|(é)',
  '(\\w+)-(\\w+)?$',
  '\\s|(\\d{3})',
  '.{4}',
  'ab[a-z]',
  '(\\w)ab',
  '(a.)*(ab)+$',
  '日é|日é',
  '.b(ab)',
  'x',
];

function automatonAt(lab: Lab, pattern: string, wanted: number | null): Address {
  const automaton = patternAutomaton(pattern, wanted);
  if (automaton === undefined) throw new Error(`${pattern} has no automaton`);
  return lab.output('U32', automaton.length, [...automaton]);
}

const engine = (pattern: string, flags = ''): RegExp => new RegExp(pattern, `u${flags}`);

export const PATTERN_CHECKS = {
  patternTest(lab: Lab) {
    lab.each(PATTERNS, (rows, pattern) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      const automaton = automatonAt(lab, pattern, null);
      const out = lab.output('I64', Math.ceil(texts.length / 64));
      lab.call(() => lab.kernels.patternTest(at, texts.length, automaton, out));
      lab.expectBits(
        out,
        texts.map((text) => text !== null && engine(pattern).test(text)),
      );
    });
  },
  patternExtract(lab: Lab) {
    lab.each(PATTERNS, (rows, pattern) => {
      const texts = randomTexts(lab, rows);
      const groups = engine(`${pattern}|`).exec('')?.length ?? 1;
      const wanted = rows % groups;
      const { at, isWide: isMarked } = lay(lab, texts);
      const automaton = automatonAt(lab, pattern, wanted);
      const out = lab.output('I64', texts.length);
      lab.call(() => lab.kernels.patternExtract(at, texts.length, automaton, out));
      const expected = texts.map((text): Text => (text === null ? null : (engine(pattern).exec(text)?.[wanted] ?? null)));
      expectTexts(lab, out, expected, isMarked);
    });
  },
  patternReplace(lab: Lab) {
    const neverEmpty = PATTERNS.filter((pattern) => !engine(pattern).test(''));
    lab.each(neverEmpty, (rows, pattern) => {
      const texts = randomTexts(lab, rows);
      const replacement = ['', '#', 'ß', '-- a longer one --'][rows % 4] ?? '';
      const { at, isWide: isMarked } = lay(lab, texts);
      const automaton = automatonAt(lab, pattern, 0);
      const bytes = Buffer.from(replacement);
      const replacementAt = lab.uploadBytes(bytes);
      const expected = texts.map((text): Text => text?.replace(engine(pattern, 'g'), replacement) ?? null);
      const isMade = texts.map((text) => text !== null && engine(pattern).test(text));
      const out = lab.output('I64', texts.length);
      const buffer = lab.output('U8', bytesIn(expected.filter((_, i) => isMade[i])) + 16);
      lab.call(() => lab.kernels.patternReplace(at, texts.length, automaton, replacementAt, bytes.length, out, buffer));
      expectTexts(lab, out, expected, (i) => isMarked(i) || (isMade[i] === true && isWide(replacement)));
      expectPacked(lab, out, buffer, isMade);
    });
  },
};
