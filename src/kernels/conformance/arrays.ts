// Conformance checks of the kernels over texts of arrays, and over lists whose values lie one behind the other.

import { type ArrayElement, arrayText } from '../../model/array-text.js';
import type { Lab } from './lab.js';
import { expectPacked, expectTexts, isWide, lay, randomTexts, type Text } from './text/text-lab.js';

const LISTS_MAX = 300;
const SPECIAL = ['', '\u0000', '\u0001z', '\u0001\u0000', 'seventeen letters'];

/** Lists of no, one or a few values, now and then of more than a word has bits. */
export function lengthsOf(lab: Lab, rows: number): number[] {
  return Array.from({ length: Math.min(rows, LISTS_MAX) }, () => [0, 1, 1, 2, 3, lab.random(20) === 0 ? 70 : 4][lab.random(6)] ?? 0);
}

/** Starts begin anywhere: the first one is that of the first value. */
export function startsFrom(first: number, lengths: readonly number[]): number[] {
  let end = first;
  return [first, ...lengths.map((length) => (end += length))];
}

/** The values of each list. */
export function divided<Value>(values: readonly Value[], lengths: readonly number[]): Value[][] {
  const starts = startsFrom(0, lengths);
  return lengths.map((length, list) => values.slice(starts[list], (starts[list] ?? 0) + length));
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

export function stringsOf(lab: Lab, count: number): Text[] {
  const texts = randomTexts(lab, 60);
  return Array.from({ length: count }, () => {
    const text = texts[lab.random(texts.length)] ?? null;
    return text === null ? null : `${text}${SPECIAL[lab.random(9)] ?? ''}`;
  });
}

/** Lists of strings in memory. */
function layLists(lab: Lab, rows: number) {
  const lengths = lengthsOf(lab, rows);
  const values = stringsOf(lab, sum(lengths));
  const laid = lay(lab, values);
  const lists = divided(values, lengths);
  const places = divided(
    values.map((_, at) => at),
    lengths,
  );
  const areNull = lengths.map(() => lab.random(7) === 0);
  const hasNulls = lab.random(2) === 0;
  return {
    lists,
    texts: laid.at,
    starts: lab.place('U32', startsFrom(lab.random(3) * 5, lengths)),
    nulls: hasNulls ? lab.uploadBits(areNull) : 0,
    isNull: (list: number) => hasNulls && areNull[list] === true,
    isMarked: (list: number) => places[list]?.some((place) => laid.isWide(place)) === true,
  };
}

const padded = (text: string): Uint8Array => Buffer.concat([Buffer.from(text), Buffer.alloc(16)]);

/** Arrays of elements in memory, some of them null, some followed by bytes that are not theirs. */
function layArrays(lab: Lab, texts: readonly Text[]): number {
  return lay(lab, texts).at;
}

export const ARRAY_CHECKS = {
  arrayStarts(lab: Lab) {
    lab.each(['strings', 'longs'], (rows, variant) => {
      const lengths = lengthsOf(lab, rows);
      const lists = variant === 'strings' ? divided(stringsOf(lab, sum(lengths)), lengths) : numbersOf(lab, lengths, false).lists;
      const areNull = lists.map(() => lab.random(9) === 0);
      const texts = lists.map((list, at) =>
        areNull[at] === true ? null : arrayText(list, `ARRAY<${variant === 'strings' ? 'STRING' : 'LONG'}>`),
      );
      const at = layArrays(lab, texts);
      const starts = lab.output('U32', lists.length + 1);
      const count = lab.call(() => lab.kernels.arrayStarts(at, lists.length, variant === 'longs' ? 1 : 0, starts));
      const expected = startsFrom(
        0,
        lengths.map((length, list) => (areNull[list] === true ? 0 : length)),
      );
      lab.expect('U32', starts, expected, 'start');
      if (count !== expected.at(-1)) lab.fail(`${count} elements, expected ${expected.at(-1)}`);
    });
  },
  arrayNumbers(lab: Lab) {
    lab.each(['LONG', 'DOUBLE', 'no number', 'no end'], (rows, variant) => {
      const lengths = lengthsOf(lab, rows);
      const element = variant === 'DOUBLE' ? 'DOUBLE' : 'LONG';
      const { lists, bits } = numbersOf(lab, lengths, element === 'DOUBLE');
      const texts = lists.map((list) => arrayText(list, `ARRAY<${element}>`));
      const broken = variant === 'no number' ? '\u0002a\u0000' : variant === 'no end' ? '\u00020000000000000000' : undefined;
      if (broken !== undefined) texts.push(broken);
      const at = layArrays(lab, texts);
      const numbers = lab.output('I64', bits.length + 1);
      const nulls = lab.output('I64', Math.ceil((bits.length + 1) / 64));
      const count = lab.call(() => lab.kernels.arrayNumbers(at, texts.length, element === 'DOUBLE' ? 1 : 0, numbers, nulls));
      if (broken !== undefined) {
        if (count !== -1) lab.fail(`${count} nulls among what is no array of numbers`);
        return;
      }
      const areNull = lists.flat().map((value) => value === null);
      lab.expect('I64', numbers, bits, 'number');
      lab.expectBits(nulls, areNull);
      if (count !== areNull.filter(Boolean).length) lab.fail(`${count} nulls`);
    });
  },
  arrayStrings(lab: Lab) {
    lab.each(['strings'], (rows) => {
      const lengths = lengthsOf(lab, rows);
      const lists = divided(stringsOf(lab, sum(lengths)), lengths);
      const texts = lists.map((list) => (list.length === 0 && lab.random(2) === 0 ? null : arrayText(list, 'ARRAY<STRING>')));
      const at = layArrays(lab, texts);
      const values = lists.flat();
      const out = lab.output('I64', values.length);
      const isMade = values.map((value) => value !== null && /[\u0000\u0001]/.test(value));
      const buffer = lab.output('U8', sum(values.map((value, place) => (isMade[place] === true ? Buffer.byteLength(value ?? '') : 0))));
      lab.call(() => lab.kernels.arrayStrings(at, texts.length, out, buffer));
      expectTexts(lab, out, values, (place) => isWide(values[place] ?? ''));
      expectPacked(lab, out, buffer, isMade);
    });
  },
  arrayTexts(lab: Lab) {
    lab.each(['lists'], (rows) => {
      const { lists, texts, starts, nulls, isNull, isMarked } = layLists(lab, rows);
      const expected = lists.map((list, at) => (isNull(at) ? null : arrayText(list, 'ARRAY<STRING>')));
      const out = lab.output('I64', lists.length);
      const buffer = lab.output('U8', sum(expected.map((text) => Buffer.byteLength(text ?? ''))) + 16);
      lab.call(() => lab.kernels.arrayTexts(starts, texts, lists.length, nulls, out, buffer));
      expectTexts(lab, out, expected, isMarked);
      expectPacked(
        lab,
        out,
        buffer,
        expected.map((text) => text !== null),
      );
    });
  },
  listJoin(lab: Lab) {
    lab.each(['', ', ', 'é ', ' and so on to more than sixteen '], (rows, between) => {
      const { lists, texts, starts, nulls, isNull, isMarked } = layLists(lab, rows);
      const [separator, word] = [lab.uploadBytes(padded(between)), lab.uploadBytes(padded('null'))];
      const isJust = (list: readonly Text[]): boolean => list.length === 1 && list[0] === null;
      const expected = lists.map((list, at) => (isNull(at) || isJust(list) ? null : list.map((text) => text ?? 'null').join(between)));
      const out = lab.output('I64', lists.length);
      const buffer = lab.output('U8', sum(expected.map((text) => Buffer.byteLength(text ?? ''))) + 16);
      const separatorBytes = Buffer.byteLength(between);
      lab.call(() => lab.kernels.listJoin(starts, texts, lists.length, nulls, separator, separatorBytes, word, 4, out, buffer));
      expectTexts(lab, out, expected, (at) => isMarked(at) || (isWide(between) && (lists[at]?.length ?? 0) > 1));
      expectPacked(
        lab,
        out,
        buffer,
        expected.map((text) => text !== null),
      );
    });
  },
  listPick(lab: Lab) {
    lab.each([0, 1, 5, 2 ** 31 - 1], (rows, place) => {
      const lengths = lengthsOf(lab, rows);
      const values = lab.values('I64', sum(lengths));
      const areNull = values.map(() => lab.random(5) === 0);
      const hasNulls = lab.random(3) > 0;
      const [at, nulls] = [lab.place('I64', values), hasNulls ? lab.uploadBits(areNull) : 0];
      const starts = lab.place('U32', startsFrom(lab.random(2) * 9, lengths));
      const out = lab.output('I64', lengths.length);
      const isWanted = lab.random(3) > 0;
      const absent = isWanted ? lab.output('I64', lengths.length) : 0;
      lab.call(() => lab.kernels.listPick(starts, at, nulls, lengths.length, place, out, absent));
      const lists = divided(values, lengths);
      const isAbsent = divided(areNull, lengths).map((list) => list[place] === undefined || (hasNulls && list[place]));
      lab.expect(
        'I64',
        out,
        lists.map((list) => list[place] ?? 0n),
        'value',
      );
      if (!isWanted) return;
      lab.expect(
        'I64',
        absent,
        isAbsent.map((each) => (each ? 1n : 0n)),
        'absent',
      );
    });
  },
  listFirst(lab: Lab) {
    lab.each(['none', 'random', 'sparse', 'all'], (rows, pattern) => {
      const lengths = lengthsOf(lab, rows);
      const bits = lab.mask(pattern, sum(lengths));
      const at = lab.uploadBits(bits);
      const starts = lab.place('U32', startsFrom(lab.random(2) * 64, lengths));
      const out = lab.output('I64', lengths.length);
      lab.call(() => lab.kernels.listFirst(starts, at, lengths.length, out));
      lab.expect(
        'I64',
        out,
        divided(bits, lengths).map((list) => BigInt(list.indexOf(true))),
        'place',
      );
    });
  },
  listRows(lab: Lab) {
    lab.each([0, 70_000], (rows, first) => {
      const lengths = lengthsOf(lab, rows);
      const starts = lab.place('U32', startsFrom(lab.random(2) * 7, lengths));
      const out = lab.output('U32', sum(lengths));
      lab.call(() => lab.kernels.listRows(starts, lengths.length, first, out));
      lab.expect(
        'U32',
        out,
        lengths.flatMap((length, list) => new Array<number>(length).fill(first + list)),
        'row',
      );
    });
  },
};

/** Arrays of numbers and nulls, and their bits: 0 of a null. */
export function numbersOf(
  lab: Lab,
  lengths: readonly number[],
  areDoubles: boolean,
): { readonly lists: ArrayElement[][]; readonly bits: bigint[] } {
  const values = lab.values(areDoubles ? 'F64' : 'I64', sum(lengths)).map((value) => (lab.random(5) === 0 ? null : value));
  const view = new DataView(new ArrayBuffer(8));
  const bits = values.map((value) => {
    if (value === null) return 0n;
    if (typeof value === 'bigint') return value;
    view.setFloat64(0, value);
    return view.getBigInt64(0);
  });
  return { lists: divided(values, lengths), bits };
}
