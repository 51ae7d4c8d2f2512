// Conformance checks of the kernels over lists of values by group.

import type { Address } from '../../base/layout.js';
import type { Lab } from './lab.js';
import { expectPacked, expectTexts, lay, randomTexts } from './text/text-lab.js';

const GROUPS = 9;
const VARIANTS = ['strings', 'numbers'] as const;

type Element = string | bigint | null;

/** Entries in memory, with what they stand for. */
interface Entries {
  readonly keys: Address;
  readonly words: number;
  readonly strings: Address;
  readonly groups: readonly number[];
  readonly values: readonly Element[];
}

const order = (a: Element, b: Element): number =>
  a === null || b === null ? Number(b === null) - Number(a === null) : a < b ? -1 : a > b ? 1 : 0;

/** Marks of arrays are among the characters of strings. */
function layEntries(lab: Lab, count: number, variant: (typeof VARIANTS)[number]): Entries {
  const rows = Math.min(count, 600);
  const known = [
    ...new Set(randomTexts(lab, 60).map((text) => `${text ?? ''}${['', '\u0000', '\u0001z', '\u0001\u0000'][lab.random(4)]}`)),
  ];
  const laid = lay(lab, known);
  const words = laid.words.map((word) => word & 0x7fffffffffffffffn);
  const strings = lab.place('I64', [0n, ...words]);
  // The last group has no entries.
  const groups = Array.from({ length: rows }, () => (lab.random(3) === 0 ? 0 : lab.random(GROUPS - 1)));
  const numbers = lab.values('I64', rows);
  const ids = groups.map(() => lab.random(known.length + 1));
  const isNull = groups.map(() => lab.random(5) === 0);
  if (variant === 'strings')
    return {
      keys: lab.place(
        'I64',
        groups.map((group, row) => BigInt.asIntN(64, BigInt(group) | (BigInt(ids[row] ?? 0) << 32n))),
      ),
      words: 1,
      strings,
      groups,
      values: ids.map((id) => (id === 0 ? null : (known[id - 1] ?? null))),
    };
  const values = numbers.map((number, row) => (isNull[row] === true ? null : BigInt(number)));
  const keys = groups.flatMap((group, row) => [BigInt(group) | (isNull[row] === true ? 1n << 32n : 0n), values[row] ?? 0n]);
  return { keys: lab.place('I64', keys), words: 2, strings, groups, values };
}

/** Rows of each group, and of distinct values only where these are asked for. */
function listsOf({ groups, values }: Entries, isSet: boolean): number[][] {
  const lists = Array.from({ length: GROUPS }, (): number[] => []);
  for (const [row, group] of groups.entries()) {
    const list = lists[group] ?? [];
    if (!isSet || list.every((other) => values[other] !== values[row])) list.push(row);
  }
  return lists;
}

function startsOf(lists: readonly (readonly number[])[]): number[] {
  let end = 0;
  return [0, ...lists.map((list) => (end += list.length))];
}

const sizeOf = (value: Element): number => (typeof value === 'string' ? Buffer.byteLength(value) : 8);

function bodyOf(value: string | bigint, areDoubles: boolean): string {
  if (typeof value === 'string')
    return [...value].map((each) => (each === '\u0000' ? '\u0001\u0001' : each === '\u0001' ? '\u0001\u0002' : each)).join('');
  const bits = BigInt.asUintN(64, value);
  const sign = 1n << 63n;
  const isNaN = areDoubles && (bits & (sign - 1n)) > 0x7ffn << 52n;
  const sortable = isNaN ? 0xfff8n << 48n : !areDoubles || bits < sign ? BigInt.asUintN(64, bits + sign) : 2n ** 64n - 1n - bits;
  return sortable.toString(16).padStart(16, '0');
}

export const LIST_CHECKS = {
  listSizes(lab: Lab) {
    lab.each(VARIANTS, (rows, variant) => {
      const entries = layEntries(lab, rows, variant);
      const full = 2 ** 32 - 3;
      const state = lab.output('U32', GROUPS * 2, new Array<number>(GROUPS * 2).fill(0).with(3, full));
      const most = lab.output('U32', 2, [2, 1]);
      lab.call(() => lab.kernels.listSizes(entries.keys, entries.groups.length, entries.words, entries.strings, state, most));
      const sizes = listsOf(entries, false).map((list, group) => ({
        elements: list.length,
        bytes: Math.min(
          2 ** 32 - 1,
          list.reduce((sum, row) => sum + sizeOf(entries.values[row] ?? null), group === 1 ? full : 0),
        ),
      }));
      const met = sizes.filter(({ elements }) => elements > 0);
      lab.expect(
        'U32',
        state,
        sizes.flatMap(({ elements, bytes }) => [elements, bytes]),
        'size',
      );
      lab.expect(
        'U32',
        most,
        [met.reduce((most, { elements }) => Math.max(most, elements), 2), met.reduce((most, { bytes }) => Math.max(most, bytes), 1)],
        'largest',
      );
    });
  },
  listSort(lab: Lab) {
    lab.each(VARIANTS, (rows, variant) => {
      const entries = layEntries(lab, rows, variant);
      const lists = listsOf(entries, true);
      const starts = lab.place('U32', startsOf(lists));
      const at = lab.output('U32', lists.flat().length, lists.flat());
      lab.call(() => lab.kernels.listSort(entries.keys, entries.words, entries.strings, starts, GROUPS, at));
      const { values } = entries;
      const sorted = lists.map((list) => [...list].sort((a, b) => order(values[a] ?? null, values[b] ?? null)));
      lab.expect('U32', at, sorted.flat(), 'row');
    });
  },
  listTexts(lab: Lab) {
    lab.each(['joined', 'strings', 'longs', 'doubles'], (count, variant) => {
      const entries = layEntries(lab, count, variant === 'joined' || variant === 'strings' ? 'strings' : 'numbers');
      const lists = listsOf(entries, false);
      const [starts, rows] = [lab.place('U32', startsOf(lists)), lab.place('U32', lists.flat())];
      const asked = Array.from({ length: Math.min(count, 20) }, () => lab.random(GROUPS));
      const groups = lab.place('U32', asked);
      const between = ['', ', ', 'é '][lab.random(3)] ?? '';
      const separator = lab.uploadBytes(Buffer.concat([Buffer.from(between), Buffer.alloc(16)]));
      const out = lab.output('I64', asked.length);
      const expected = asked.map((group) => {
        const values = (lists[group] ?? []).map((row) => entries.values[row] ?? null);
        if (values.length === 0) return null;
        if (variant === 'joined') return values.map((value) => value ?? '').join(between);
        return values.map((value) => (value === null ? '\u0001' : `\u0002${bodyOf(value, variant === 'doubles')}\u0000`)).join('');
      });
      const buffer = lab.output(
        'U8',
        expected.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 32),
      );
      const { keys, words, strings } = entries;
      lab.call(() =>
        lab.kernels.listTexts(
          keys,
          words,
          strings,
          starts,
          rows,
          groups,
          asked.length,
          ['joined', 'strings', 'longs', 'doubles'].indexOf(variant),
          separator,
          Buffer.byteLength(between),
          out,
          buffer,
        ),
      );
      expectTexts(lab, out, expected, () => words === 1);
      expectPacked(
        lab,
        out,
        buffer,
        expected.map((text) => text !== null),
      );
    });
  },
};
