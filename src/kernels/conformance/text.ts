// Conformance checks of the kernels over texts.

import { likeBytes, parseLike } from '../../base/like-pattern.js';
import { isLike, uploadStrings } from './dictionary.js';
import type { Lab } from './lab.js';
import { bytesIn, expectPacked, expectTexts, found, isWide, lay, randomTexts, roomFor, type Text } from './text-lab.js';

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

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const SLICES = ['0,0,3', '0,2,4294967295', '0,3,2', '1,0,4', '1,0,0', '2,0,4', '2,0,0', '2,0,100'] as const;
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
      const [kind = 0, from = 0, count = 0] = variant.split(',').map(Number);
      const texts = randomTexts(lab, rows);
      const laid = lay(lab, texts);
      const out = lab.output('I64', texts.length);
      const splits = lab.call(() => lab.kernels.textSlice(laid.at, texts.length, kind, from, count, out));
      const expected = texts.map((text) => {
        if (text === null || (kind === 0 && from >= text.length)) return null;
        const part = kind === 2 ? text.slice(Math.max(0, text.length - count)) : text.slice(from, from + count);
        return Buffer.from(part).toString() === part ? part : undefined;
      });
      lab.expectResult(splits, expected.filter((part) => part === undefined).length);
      expectTexts(lab, out, expected, laid.isWide);
      for (const [i, each] of lab.read('I64', out, texts.length).entries()) {
        const [at, was] = [Number(BigInt(each) & 0xffffffffn), Number((laid.words[i] ?? 0n) & 0xffffffffn)];
        if (each !== 0n && (at < was || at > was + Buffer.byteLength(texts[i] ?? ''))) lab.fail(`part ${i} lies outside its text`);
      }
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
      const make = (text: string): string => (upper === 1 ? text.toUpperCase() : text.toLowerCase());
      changes(lab, rows, make, (at, n, out, buffer) => lab.kernels.textCase(at, n, upper, out, buffer));
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
  textIntern(lab: Lab) {
    lab.each(['copied', 'referred to'], (rows, variant) => {
      const batches = [randomTexts(lab, rows), randomTexts(lab, rows)];
      let capacity = 16;
      while (capacity < (batches.flat().length + 1) * 2) capacity *= 2;
      const slots = lab.output('U32', capacity, new Array<number>(capacity).fill(0));
      const entries = lab.output('U32', (batches.flat().length + 1) * 2, [0, 0]);
      const arena = variant === 'copied' ? lab.output('U8', bytesIn(batches.flat()) + batches.flat().length * 4) : 0;
      const counters = lab.output('U32', 2, [1, 0]);
      const out = lab.output('U32', rows);
      const known: Text[] = [null];
      for (const texts of batches) {
        const { at } = lay(lab, texts);
        lab.call(() => lab.kernels.textIntern(at, texts.length, slots, capacity, entries, arena, counters, out));
        for (const text of texts) if (!known.includes(text)) known.push(text);
        lab.expect(
          'U32',
          out,
          texts.map((text) => known.indexOf(text)),
          'id',
        );
      }
      const [count = 0, used = 0] = lab.read('U32', counters, 2).map(Number);
      lab.expectResult(count, known.length);
      lab.expectResult(used, arena === 0 ? 0 : known.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text ?? '') / 4) * 4, 0));
      expectTexts(
        lab,
        entries + 8,
        known.slice(1).map((text) => (text === '' && arena === 0 ? undefined : text)),
        () => false,
      );
    });
  },
  textBest(lab: Lab) {
    lab.each([0, 1], (rows, largest) => {
      const texts = randomTexts(lab, rows);
      const laid = lay(lab, texts);
      const groups = texts.map(() => lab.random(7));
      const at = lab.place('U32', groups);
      const state = lab.output('I64', 7, new Array<bigint>(7).fill(0n));
      const buffer = roomFor(lab, texts);
      const written = lab.call(() => lab.kernels.textBest(laid.at, at, texts.length, largest, state, buffer));
      const taken = texts.filter((text, i) => {
        const before = texts.slice(0, i).filter((each, at): each is string => groups[at] === groups[i] && each !== null);
        return text !== null && before.every((each) => (largest === 1 ? order(text, each) > 0 : order(text, each) < 0));
      });
      lab.expectResult(written, bytesIn(taken));
      const best = Array.from({ length: 7 }, (_, group) => {
        const of = texts.filter((text, i): text is string => groups[i] === group && text !== null).sort(order);
        return (largest === 1 ? of.at(-1) : of[0]) ?? null;
      });
      const actual = found(lab, state, 7);
      for (const [group, text] of best.entries())
        if (actual[group]?.text !== text)
          lab.fail(`group ${group} has ${JSON.stringify(actual[group]?.text)}, expected ${JSON.stringify(text)}`);
    });
  },
  textSort(lab: Lab) {
    for (const first of [0, 1]) {
      // Texts that begin alike for more than a word, and end where a word does.
      lab.each(['', 'alike so ', 'ähnlich, und das mit 31 Bytes', 'eight by'], (rows, beginning) => {
        const texts = randomTexts(lab, rows).map((text) => (text === null ? beginning : beginning + text));
        const laid = lay(lab, texts);
        const distinct = [...new Set(texts)].sort(order);
        const room = lab.output('U8', texts.length * 40 + 1088);
        const [ranks, ends] = [lab.output('U32', texts.length), lab.output('U32', first + distinct.length)];
        const out = roomFor(lab, distinct);
        const behind = lab.call(() => lab.kernels.textSort(laid.at, texts.length, first, room, ranks, ends, out));
        lab.expectResult(behind, first + distinct.length);
        lab.expect(
          'U32',
          ranks,
          texts.map((text) => first + distinct.indexOf(text)),
          'rank',
        );
        let end = 0;
        const expected = [...(first === 1 ? [0] : []), ...distinct.map((text) => (end += Buffer.byteLength(text)))];
        lab.expect('U32', ends, expected, 'end');
        lab.expect('U8', out, [...Buffer.from(distinct.join(''))], 'byte');
      });
    }
  },
  textTop(lab: Lab) {
    for (const descending of [0, 1]) {
      lab.each([0, 1, 2, 10, 1000], (rows, k) => {
        const texts = randomTexts(lab, rows).map((text) => text ?? '');
        const laid = lay(lab, texts);
        const heap = lab.output('U32', k);
        const out = lab.output('U32', k);
        const expected = [...texts.keys()]
          .sort((a, b) => order(texts[a] ?? '', texts[b] ?? '') * (descending === 1 ? -1 : 1) || a - b)
          .slice(0, k);
        lab.expectResult(
          lab.call(() => lab.kernels.textTop(laid.at, texts.length, k, descending, heap, out)),
          expected.length,
        );
        lab.expect('U32', out, expected, 'position');
      });
    }
  },
};
