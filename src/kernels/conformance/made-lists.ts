// Conformance checks of the kernels that make lists of others, and arrays of numbers.

import { arrayText } from '../../model/array-text.js';
import { divided, lengthsOf, numbersOf, startsFrom, sum } from './arrays.js';
import type { Lab } from './lab.js';
import { expectPacked, expectTexts } from './text/text-lab.js';

const ALL = 0xffffffff;

/** A value of 64 bits, null where it is marked so. */
interface Marked {
  readonly value: bigint;
  readonly isNull: boolean;
}

interface Laid {
  readonly lists: readonly (readonly Marked[])[];
  readonly starts: number;
  readonly values: number;
  readonly nulls: number;
  /** Places before the first value. */
  readonly offset: number;
}

/** Lists in memory, whose values begin at some place. */
function layLists(lab: Lab, lengths: readonly number[], offset = 0): Laid {
  const count = sum(lengths);
  const hasNulls = lab.random(3) > 0;
  const marked = lab
    .values('I64', offset + count)
    .map((value): Marked => ({ value: BigInt(value), isNull: hasNulls && lab.random(5) === 0 }));
  return {
    lists: divided(marked.slice(offset), lengths),
    starts: lab.place('U32', startsFrom(lab.random(3) * 11, lengths)),
    values: lab.place(
      'I64',
      marked.map(({ value }) => value),
    ),
    nulls: hasNulls ? lab.uploadBits(marked.map(({ isNull }) => isNull)) : 0,
    offset,
  };
}

/** Null lists, and their bits; 0 where none is. */
function layNulls(lab: Lab, count: number): { readonly areNull: readonly boolean[]; readonly bits: number } {
  const hasNulls = lab.random(2) === 0;
  const areNull = Array.from({ length: count }, () => hasNulls && lab.random(6) === 0);
  return { areNull, bits: hasNulls ? lab.uploadBits(areNull) : 0 };
}

function expectStarts(lab: Lab, out: number, lists: readonly (readonly unknown[])[], returned: number): void {
  const expected = startsFrom(
    0,
    lists.map(({ length }) => length),
  );
  lab.expect('U32', out, expected, 'start');
  lab.expectResult(returned, expected.at(-1) ?? 0);
}

/** Calls `make` with room for the values of lists, and for their bits or none. */
function expectValues(lab: Lab, lists: readonly (readonly Marked[])[], make: (out: number, outNulls: number) => number): void {
  const values = lists.flat();
  const out = lab.output('I64', values.length);
  const outNulls = lab.random(4) === 0 ? 0 : lab.output('I64', Math.ceil(values.length / 64));
  const count = lab.call(() => make(out, outNulls));
  lab.expect(
    'I64',
    out,
    values.map(({ value }) => value),
    'value',
  );
  const areNull = values.map(({ isNull }) => isNull);
  if (outNulls !== 0) lab.expectBits(outNulls, areNull);
  lab.expectResult(count, areNull.filter(Boolean).length);
}

const NOTHING: Marked = { value: 0n, isNull: true };

/** Lists that `sliceStarts` makes. */
function sliced(lists: Laid['lists'], areNull: readonly boolean[], from: number, size: number): Marked[][] {
  return lists.map((list, at) => {
    const rest = list.slice(from);
    return areNull[at] === true ? [] : size === ALL ? rest : Array.from({ length: size }, (_, place) => rest[place] ?? NOTHING);
  });
}

const SLICES = { 'all from 0': [0, ALL], 'all from 2': [2, ALL], '2 from 1': [1, 2], 'none from 1': [1, 0], '3 from 70': [69, 3] } as const;
const SLICE_NAMES = Object.keys(SLICES) as (keyof typeof SLICES)[];

/** Values that each row has one of. */
function laySingles(lab: Lab, rows: number): Laid {
  return {
    ...layLists(
      lab,
      Array.from({ length: rows }, () => 1),
    ),
    starts: 0,
  };
}

/** Lists of several sources, and what `concatStarts` reads of these. */
function laySources(lab: Lab, rows: number, kinds: string) {
  const count = lengthsOf(lab, rows).length;
  const sources = [...kinds].map((kind) =>
    kind === 'x' ? laySingles(lab, count) : layLists(lab, lengthsOf(lab, rows), kind === 'b' ? lab.random(90) : 0),
  );
  const { areNull, bits } = layNulls(lab, count);
  const fields = sources.flatMap(({ starts, values, nulls, offset }) => [starts, values, nulls, offset]);
  const lists = areNull.map((isNull, list) => (isNull ? [] : sources.flatMap((source) => source.lists[list] ?? [])));
  return { lists, bits, at: lab.place('U32', fields), count: sources.length };
}

const KINDS = ['a', 'ax', 'xa', 'ab', 'xxx', 'bax'];

export const MADE_LIST_CHECKS = {
  sliceStarts(lab: Lab) {
    lab.each(SLICE_NAMES, (rows, name) => {
      const [from, size] = SLICES[name];
      const { lists, starts } = layLists(lab, lengthsOf(lab, rows));
      const { areNull, bits } = layNulls(lab, lists.length);
      const out = lab.output('U32', lists.length + 1);
      const count = lab.call(() => lab.kernels.sliceStarts(starts, lists.length, bits, from, size, out));
      expectStarts(lab, out, sliced(lists, areNull, from, size), count);
    });
  },
  sliceValues(lab: Lab) {
    lab.each(SLICE_NAMES, (rows, name) => {
      const [from, size] = SLICES[name];
      const { lists, starts, values, nulls } = layLists(lab, lengthsOf(lab, rows));
      const expected = sliced(lists, layNulls(lab, lists.length).areNull, from, size);
      const made = lab.place(
        'U32',
        startsFrom(
          0,
          expected.map(({ length }) => length),
        ),
      );
      expectValues(lab, expected, (out, outNulls) =>
        lab.kernels.sliceValues(starts, values, nulls, lists.length, from, made, out, outNulls),
      );
    });
  },
  concatStarts(lab: Lab) {
    lab.each(KINDS, (rows, kinds) => {
      const { lists, bits, at, count } = laySources(lab, rows, kinds);
      const out = lab.output('U32', lists.length + 1);
      const returned = lab.call(() => lab.kernels.concatStarts(at, count, lists.length, bits, out));
      expectStarts(lab, out, lists, returned);
    });
  },
  concatValues(lab: Lab) {
    lab.each(KINDS, (rows, kinds) => {
      const { lists, at, count } = laySources(lab, rows, kinds);
      const made = lab.place(
        'U32',
        startsFrom(
          0,
          lists.map(({ length }) => length),
        ),
      );
      expectValues(lab, lists, (out, outNulls) => lab.kernels.concatValues(at, count, lists.length, made, out, outNulls));
    });
  },
  arrayNumberTexts(lab: Lab) {
    lab.each(['LONG', 'DOUBLE'], (rows, element) => {
      const lengths = lengthsOf(lab, rows);
      const { lists, bits } = numbersOf(lab, lengths, element === 'DOUBLE');
      const { areNull, bits: listNulls } = layNulls(lab, lengths.length);
      const areNone = lists.flat().map((value) => value === null);
      const [starts, numbers, nulls] = [
        lab.place('U32', startsFrom(lab.random(2) * 5, lengths)),
        lab.place('I64', bits),
        lab.uploadBits(areNone),
      ];
      const expected = lists.map((list, at) => (areNull[at] === true ? null : arrayText(list, `ARRAY<${element}>`)));
      const out = lab.output('I64', lengths.length);
      const buffer = lab.output('U8', sum(expected.map((text) => text?.length ?? 0)) + 16);
      const doubles = element === 'DOUBLE' ? 1 : 0;
      lab.call(() => lab.kernels.arrayNumberTexts(starts, numbers, nulls, lengths.length, listNulls, doubles, out, buffer));
      expectTexts(lab, out, expected, () => false);
      expectPacked(
        lab,
        out,
        buffer,
        expected.map((text) => text !== null),
      );
    });
  },
};
