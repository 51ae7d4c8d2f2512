// Conformance checks of the kernels over texts.

import { likeBytes, parseLike } from '../../../base/like-pattern.js';
import { lowerCases, upperCases } from '../../letter-cases.js';
import { isLike, uploadStrings } from '../dictionary.js';
import type { Lab } from '../lab.js';
import { bytesIn, expectPacked, expectTexts, found, isWide, lay, order, randomTexts, roomFor, type Text } from './text-lab.js';

/** A kernel that makes a text of each that is not wide. */
function changes(
  lab: Lab,
  rows: number,
  make: (text: string) => string,
  call: (at: number, n: number, out: number, buffer: number) => number,
): void {
  const texts = randomTexts(lab, rows);
  const laid = lay(lab, texts);
  const expected = texts.map((text, i) => (text === null || laid.isWide(i) ? text : make(text)));
  const narrow = texts.map((text, i) => text !== null && !laid.isWide(i));
  const out = lab.output('I64', texts.length);
  const buffer = roomFor(
    lab,
    expected.filter((_, i) => narrow[i]),
  );
  const wide = lab.call(() => call(laid.at, texts.length, out, buffer));
  lab.expectResult(wide, laid.words.filter((word) => word < 0n).length);
  expectTexts(lab, out, expected, laid.isWide);
  expectPacked(lab, out, buffer, narrow);
}

/** Letters of one to four bytes, some of which change their length, or whose case depends on what is beside them. */
const LETTERS = [
  'Àéß',
  'éÀÿ×÷Ÿ',
  'ЖжЁё',
  'ΣΑΣ',
  'σας',
  'İıŉǆǅ',
  '日本–Az',
  '😀x',
  '\u{10400}\u{10428}',
  'ａＡ',
  'ⅷⅧ',
  'eins – Zwei',
  '\u{20000}a',
  'a\u0345',
];

/** Whether a position lies between the two units of a pair. */
const isMiddle = (text: string, at: number): boolean => /[\ud800-\udbff]/.test(text.charAt(at - 1)) && at < text.length;
const SLICES = [
  '0,0,3',
  '0,2,-1',
  '0,3,2',
  '0,each,each',
  '0,1,each',
  '0,each,3',
  '1,0,4',
  '1,0,0',
  '1,0,each',
  '2,0,4',
  '2,0,0',
  '2,0,100',
  '2,0,each',
] as const;
/** Positions and counts, some of which are none. */
const COUNTS = [
  0n,
  1n,
  2n,
  3n,
  5n,
  40n,
  2n ** 31n - 1n,
  2n ** 31n,
  -1n,
  -7n,
  -(2n ** 31n),
  -(2n ** 31n) - 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];
const REPLACEMENTS = ['ab,x', 'a,', 'é,ee', 'b,日', 'ab,abab', '0123456789,ß', '日本,本'] as const;
const PATTERNS = ['%ab%', 'a%', '%日%', '_', '%é_', '%', '', '%a%b%', 'Zz'] as const;
const WANTED = ['ab', 'a', '日本', '😀', '9', '', 'nowhere'] as const;

export const TEXT_CHECKS = {
  textEntries(lab: Lab) {
    lab.each(['as they come', 'by their ids', 'with null'], (rows, variant) => {
      const texts = ['', ...randomTexts(lab, rows).map((text) => text ?? '')];
      const { bytes, offsets } = uploadStrings(lab, texts);
      const ids = variant === 'as they come' ? null : Array.from({ length: Math.min(rows, 1000) }, () => lab.random(texts.length));
      const at = ids === null ? 0 : lab.place('U32', ids);
      const read = ids ?? texts.map((_, id) => id);
      const hasNull = variant === 'with null' ? 1 : 0;
      const out = lab.output('I64', read.length);
      const withPairs = lab.call(() => lab.kernels.textEntries(bytes, offsets, at, read.length, hasNull, out));
      const expected = read.map((id) => (id === 0 && hasNull === 1 ? null : (texts[id] ?? '')));
      expectTexts(lab, out, expected, (i) => isWide(expected[i] ?? ''));
      lab.expectResult(withPairs, expected.filter((text) => [...(text ?? '')].length !== (text ?? '').length).length);
    });
  },
  textUnits(lab: Lab) {
    lab.each(['texts'], (rows) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      const out = lab.output('I64', texts.length);
      lab.call(() => lab.kernels.textUnits(at, texts.length, out));
      lab.expect(
        'I64',
        out,
        texts.map((text) => BigInt(text?.length ?? 0)),
      );
    });
  },
  textBytes(lab: Lab) {
    lab.each(['texts'], (rows) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      lab.expectResult(
        lab.call(() => lab.kernels.textBytes(at, texts.length)),
        bytesIn(texts),
      );
    });
  },
  textNulls(lab: Lab) {
    lab.each(['texts'], (rows) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      const out = lab.output('I64', Math.ceil(texts.length / 64));
      const count = lab.call(() => lab.kernels.textNulls(at, texts.length, out));
      lab.expectBits(
        out,
        texts.map((text) => text === null),
      );
      lab.expectResult(count, texts.filter((text) => text === null).length);
    });
  },
  textCompare(lab: Lab) {
    lab.each(['0,0', '0,1', '1,0', '1,1', '2,0', '2,1'], (rows, variant) => {
      const [operation = 0, one = 0] = variant.split(',').map(Number);
      const a = randomTexts(lab, rows);
      // Some equal, some with a common beginning.
      const b = a.map((text) => (lab.random(3) === 0 ? text : `${lab.random(2) === 0 ? (text ?? '') : ''}${randomTexts(lab, 1)[0] ?? ''}`));
      const [left, right] = [lay(lab, a), lay(lab, b)];
      const out = lab.output('I64', Math.ceil(a.length / 64));
      lab.call(() => lab.kernels.textCompare(left.at, right.at, a.length === 0 ? 0 : one, a.length, operation, out));
      lab.expectBits(
        out,
        a.map((x, i) => {
          const y = b[one === 1 ? 0 : i] ?? null;
          if (x === null || y === null) return false;
          return operation === 0 ? x === y : operation === 1 ? order(x, y) < 0 : order(x, y) <= 0;
        }),
      );
    });
  },
  textLike(lab: Lab) {
    lab.each(PATTERNS, (rows, pattern) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      const compiled = likeBytes(parseLike(pattern, '\\'));
      const patternAt = lab.uploadBytes(compiled);
      const out = lab.output('I64', Math.ceil(texts.length / 64));
      lab.call(() => lab.kernels.textLike(at, texts.length, patternAt, compiled.length, out));
      lab.expectBits(
        out,
        texts.map((text) => text !== null && isLike(text, pattern)),
      );
    });
  },
  textFind(lab: Lab) {
    lab.each(WANTED, (rows, wanted) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      const bytes = Buffer.from(wanted);
      const wantedAt = lab.uploadBytes(bytes);
      const out = lab.output('I64', texts.length);
      lab.call(() => lab.kernels.textFind(at, texts.length, wantedAt, bytes.length, out));
      lab.expect(
        'I64',
        out,
        texts.map((text) => BigInt(text === null ? 0 : text.indexOf(wanted))),
      );
    });
  },
  textSlice(lab: Lab) {
    lab.each(SLICES, (rows, variant) => {
      const [kindWord, ...words] = variant.split(',');
      const kind = Number(kindWord);
      const texts = randomTexts(lab, rows);
      const laid = lay(lab, texts);
      const out = lab.output('I64', texts.length);
      const [froms = [], counts = []] = words.map((word) =>
        word === 'each' ? texts.map(() => COUNTS[lab.random(COUNTS.length)] ?? 0n) : [BigInt(word)],
      );
      const [fromsAt, countsAt] = [lab.place('I64', froms), lab.place('I64', counts)];
      const [oneFrom, oneCount] = words.map((word) => (word === 'each' ? 0 : 1));
      const splits = lab.call(() =>
        lab.kernels.textSlice(laid.at, texts.length, kind, fromsAt, oneFrom ?? 0, countsAt, oneCount ?? 0, out),
      );
      const expected = texts.map((text, i) => {
        const [fromLong, countLong] = [froms[oneFrom === 1 ? 0 : i] ?? 0n, counts[oneCount === 1 ? 0 : i] ?? 0n];
        if (text === null || BigInt.asIntN(32, fromLong) !== fromLong || BigInt.asIntN(32, countLong) !== countLong) return null;
        const [from, count] = [Number(fromLong), Number(countLong)];
        if (from < 0 || (kind === 0 ? from >= text.length : count < 0)) return null;
        const first = kind === 2 ? Math.max(0, text.length - count) : Math.min(from, text.length);
        const part = kind === 2 ? text.slice(Math.max(0, text.length - count)) : text.slice(from, count < 0 ? undefined : from + count);
        return isMiddle(text, first) || isMiddle(text, first + part.length) ? undefined : part;
      });
      lab.expectResult(splits, expected.filter((part) => part === undefined).length);
      expectTexts(lab, out, expected, laid.isWide);
      for (const [i, each] of lab.read('I64', out, texts.length).entries()) {
        const [at, was] = [Number(BigInt(each) & 0xffffffffn), Number((laid.words[i] ?? 0n) & 0xffffffffn)];
        if (each !== 0n && (at < was || at > was + Buffer.byteLength(texts[i] ?? ''))) lab.fail(`part ${i} lies outside its text`);
      }
    });
  },
  textFindEach(lab: Lab) {
    lab.each(['one', 'each', 'each of each'], (rows, variant) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      const wanted =
        variant === 'each of each' ? texts.map(() => WANTED[lab.random(WANTED.length)] ?? null) : [variant === 'one' ? 'ab' : '日'];
      const froms = variant === 'one' ? [1n] : texts.map(() => COUNTS[lab.random(COUNTS.length)] ?? 0n);
      const [wantedAt, fromsAt] = [lay(lab, wanted).at, lab.place('I64', froms)];
      const out = lab.output('I64', texts.length);
      const [oneWanted, oneFrom] = [variant === 'each of each' ? 0 : 1, variant === 'one' ? 1 : 0];
      lab.call(() => lab.kernels.textFindEach(at, wantedAt, oneWanted, fromsAt, oneFrom, texts.length, out));
      lab.expect(
        'I64',
        out,
        texts.map((text, i) => {
          const search = wanted[oneWanted === 1 ? 0 : i] ?? null;
          return text === null || search === null ? 0n : BigInt(text.indexOf(search, Number(froms[oneFrom === 1 ? 0 : i])));
        }),
      );
    });
  },
  textExtreme(lab: Lab) {
    lab.each(['0,0,0', '0,0,1', '1,0,1', '0,1,0'], (rows, variant) => {
      const [oneA = 0, oneB = 0, largest = 0] = variant.split(',').map(Number);
      const texts = randomTexts(lab, rows);
      const [a, b] = [oneA === 1 ? ['q w'] : texts, oneB === 1 ? ['日本'] : texts.map(() => randomTexts(lab, 1)[0] ?? null)];
      const [left, right] = [lay(lab, a), lay(lab, b)];
      const out = lab.output('I64', texts.length);
      lab.call(() => lab.kernels.textExtreme(left.at, oneA, right.at, oneB, texts.length, largest, out));
      const expected = texts.map((_, i) => {
        const [x = null, y = null] = [a[oneA === 1 ? 0 : i], b[oneB === 1 ? 0 : i]];
        if (x === null || y === null) return x ?? y;
        return order(x, y) === 0 || order(x, y) < 0 === (largest === 0) ? x : y;
      });
      const texted = found(lab, out, texts.length);
      for (const [i, wanted] of expected.entries())
        if (texted[i]?.text !== wanted) lab.fail(`text ${i} is ${JSON.stringify(texted[i]?.text)}, expected ${JSON.stringify(wanted)}`);
    });
  },
  textTrim(lab: Lab) {
    lab.each([1, 2, 3], (rows, ends) => {
      const texts = randomTexts(lab, rows);
      const laid = lay(lab, texts);
      const characters = ' a9-';
      const set = lab.uploadBits(Array.from({ length: 256 }, (_, code) => characters.includes(String.fromCharCode(code))));
      const out = lab.output('I64', texts.length);
      lab.call(() => lab.kernels.textTrim(laid.at, texts.length, set, ends, out));
      const expected = texts.map((text) => {
        const points = [...(text ?? '')];
        while ((ends & 1) !== 0 && points.length > 0 && characters.includes(points[0] ?? '')) points.shift();
        while ((ends & 2) !== 0 && points.length > 0 && characters.includes(points.at(-1) ?? '')) points.pop();
        return text === null ? null : points.join('');
      });
      expectTexts(lab, out, expected, laid.isWide);
    });
  },
  textCase(lab: Lab) {
    lab.each([0, 1], (rows, upper) => {
      const texts = [...randomTexts(lab, rows), ...(rows < LETTERS.length ? [] : LETTERS)];
      const laid = lay(lab, texts);
      const bytes = upper === 1 ? upperCases() : lowerCases();
      const table = lab.uploadBytes(Buffer.from(bytes));
      const isTold = (text: string): boolean =>
        Array.from(text, (each) => each.codePointAt(0) ?? 0).every((point) =>
          point < 0x800
            ? point < 0x80 || bytes[(point - 0x80) * 2] !== 0 || bytes[(point - 0x80) * 2 + 1] !== 0
            : bytes[0xf00 + (point >> 6)] === 1,
        );
      const isChanged = texts.map((text) => text !== null && isTold(text));
      const expected = texts.map((text, i) =>
        text === null || isChanged[i] !== true ? text : upper === 1 ? text.toUpperCase() : text.toLowerCase(),
      );
      const out = lab.output('I64', texts.length);
      const buffer = roomFor(lab, texts);
      const others = lab.call(() => lab.kernels.textCase(laid.at, texts.length, upper, table, out, buffer));
      lab.expectResult(others, texts.filter((text, i) => text !== null && isChanged[i] !== true).length);
      expectTexts(lab, out, expected, laid.isWide);
      expectPacked(lab, out, buffer, isChanged);
    });
  },
  textReverse(lab: Lab) {
    lab.each(['texts'], (rows) => {
      const texts = randomTexts(lab, rows);
      const laid = lay(lab, texts);
      const out = lab.output('I64', texts.length);
      const buffer = roomFor(lab, texts);
      lab.call(() => lab.kernels.textReverse(laid.at, texts.length, out, buffer));
      expectTexts(
        lab,
        out,
        texts.map((text) => (text === null ? null : [...text].reverse().join(''))),
        laid.isWide,
      );
      expectPacked(
        lab,
        out,
        buffer,
        texts.map(() => true),
      );
    });
  },
  textConcat(lab: Lab) {
    lab.each(['two', 'three', 'one of them constant'], (rows, variant) => {
      const a = randomTexts(lab, rows);
      const b = randomTexts(lab, a.length);
      const c = variant === 'three' ? randomTexts(lab, a.length) : ['+'];
      const [x, y, z] = [lay(lab, a), lay(lab, b), lay(lab, c)];
      const step = variant === 'three' ? 8 : 0;
      const count = variant === 'two' ? 2 : 3;
      const third = (i: number): Text => (variant === 'two' ? '' : (c[step === 0 ? 0 : i] ?? null));
      const parts = lab.place('U32', [x.at, 8, y.at, 8, z.at, step].slice(0, count * 2));
      const expected = a.map((text, i) => {
        const all = [text, b[i] ?? null, third(i)];
        return all.includes(null) ? null : all.join('');
      });
      const out = lab.output('I64', a.length);
      const buffer = lab.output('U8', bytesIn(expected) + bytesIn(a) + bytesIn(b) + bytesIn(c) + 16);
      lab.call(() => lab.kernels.textConcat(parts, count, a.length, out, buffer));
      expectTexts(lab, out, expected, (i) => x.isWide(i) || y.isWide(i) || (count === 3 && z.isWide(step === 0 ? 0 : i)));
      expectPacked(
        lab,
        out,
        buffer,
        expected.map(() => true),
      );
    });
  },
  textPad(lab: Lab) {
    lab.each(['0,0,-', '5,1,-', '5,0,xyz', '12,1,xyz', '12,0,', '3,1,'], (rows, variant) => {
      const [length = '', atStart = '', padding = ''] = variant.split(',');
      const bytes = lab.uploadBytes(Buffer.from(padding));
      const make = (text: string): string => {
        const kept = text.slice(0, Number(length));
        return atStart === '1' ? kept.padStart(Number(length), padding) : kept.padEnd(Number(length), padding);
      };
      changes(lab, rows, make, (at, n, out, buffer) =>
        lab.kernels.textPad(at, n, Number(length), bytes, padding.length, Number(atStart), out, buffer),
      );
    });
  },
  textReplace(lab: Lab) {
    lab.each(REPLACEMENTS, (rows, variant) => {
      const [wanted = '', replacement = ''] = variant.split(',').map((each) => Buffer.from(each));
      const [search, by] = [String(wanted), String(replacement)];
      const texts = randomTexts(lab, rows);
      const laid = lay(lab, texts);
      const expected = texts.map((text) => text?.replaceAll(search, by) ?? null);
      const written = texts.map((text) => text?.includes(search) ?? false);
      const [wantedAt, replacementAt] = [lab.uploadBytes(Buffer.from(wanted)), lab.uploadBytes(Buffer.from(replacement))];
      const out = lab.output('I64', texts.length);
      const buffer = roomFor(
        lab,
        expected.filter((_, i) => written[i]),
      );
      lab.call(() =>
        lab.kernels.textReplace(laid.at, texts.length, wantedAt, wanted.length, replacementAt, replacement.length, out, buffer),
      );
      expectTexts(lab, out, expected, (i) => laid.isWide(i) || (written[i] === true && isWide(by)));
      expectPacked(lab, out, buffer, written);
    });
  },
};
