import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LETTER_CASE_BYTES, lowerCases, upperCases } from '../../src/kernels/letter-cases.js';

const cases = suite('letter cases');

const WAYS = [
  { table: upperCases, change: (text: string) => text.toUpperCase() },
  { table: lowerCases, change: (text: string) => text.toLowerCase() },
] as const;

for (const [way, { table, change }] of WAYS.entries())
  cases(`code points become what JavaScript makes of them (${way === 0 ? 'upper' : 'lower'})`, () => {
    const bytes = table();
    assert.is(bytes.length, LETTER_CASE_BYTES);
    for (let point = 0x80; point < 0x20000; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const text = String.fromCodePoint(point);
      const found =
        point < 0x800
          ? (bytes[(point - 0x80) * 2] ?? 0) + (bytes[(point - 0x80) * 2 + 1] ?? 0) * 256
          : bytes[(0x800 - 0x80) * 2 + Math.floor(point / 64)] === 1
            ? point
            : 0;
      if (found !== 0) assert.is(String.fromCodePoint(found), change(text), point.toString(16));
      else if (point < 0x800)
        assert.ok([...change(text)].length > 1 || Buffer.byteLength(change(text)) !== 2 || point === 0x3a3, point.toString(16));
    }
  });

cases('letters of European languages and signs between words are told of', () => {
  for (const letter of 'äöüàéèçñøåŽжяЖαωє') {
    const at = ((letter.codePointAt(0) ?? 0) - 0x80) * 2;
    assert.ok(upperCases()[at] !== 0 || upperCases()[at + 1] !== 0, letter);
    assert.ok(lowerCases()[at] !== 0 || lowerCases()[at + 1] !== 0, letter);
  }
  for (const sign of '–—’“”…日本語한글😀') {
    const at = (0x800 - 0x80) * 2 + Math.floor((sign.codePointAt(0) ?? 0) / 64);
    assert.is(sign.length === 1 && upperCases()[at], sign.length === 1 && 1, sign);
  }
});

cases.run();
