import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { call, type Expression } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import type { FrameCell } from '../../src/model/frame.js';
import type { SortKey } from '../../src/model/plan.js';
import type { Row } from './oracle.js';
import { foundRows, rowOf, scanOf } from './scanning.js';

const firsts = suite('first rows by computed texts');

const column = (name: string): Expression => ({ kind: 'column', name });
const text = (value: string): Expression => ({ kind: 'literal', value, type: 'STRING' });
const long = (value: bigint): Expression => ({ kind: 'literal', value, type: 'LONG' });

type Computed = (row: Row) => string | null;
const textOf = (row: Row): string | null => row['text'] as string | null;
const plainOf = (row: Row): string => row['plain'] as string;
const withText =
  (change: (text: string) => string | null): Computed =>
  (row) => {
    const found = textOf(row);
    return found === null ? null : change(found);
  };

/** Each with what JavaScript makes of a row. */
const COMPUTED: Readonly<Record<string, { readonly expression: Expression; readonly of: Computed }>> = {
  lower: { expression: call('lower', column('text')), of: withText((found) => found.toLowerCase()) },
  upper: { expression: call('upper', column('text')), of: withText((found) => found.toUpperCase()) },
  joined: {
    expression: call('concat', column('text'), text('-'), column('plain')),
    of: (row) => withText((found) => `${found}-${plainOf(row)}`)(row),
  },
  replaced: { expression: call('replace', column('text'), text('a'), text('')), of: withText((found) => found.replaceAll('a', '')) },
  few: { expression: call('substring', column('plain'), long(0n), long(1n)), of: (row) => plainOf(row).slice(0, 1) },
  upperFew: { expression: call('upper', column('few')), of: (row) => plainOf(row).slice(0, 1).toUpperCase() },
  digits: { expression: call('cast', column('large'), text('STRING')), of: (row) => (row['large'] === null ? null : String(row['large'])) },
  chosen: {
    expression: call('case_searched', call('>', column('small'), long(3n)), column('text'), column('plain')),
    of: (row) => ((row['small'] as bigint) > 3n ? textOf(row) : plainOf(row)),
  },
};
const NAMES = Object.keys(COMPUTED);
const VIRTUAL_COLUMNS = NAMES.map((name) => ({ name, expression: COMPUTED[name]?.expression ?? text(''), outputType: null }));

/** The same numbers every time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Characters whose UTF-16 code units and code points are ordered differently, letters of both cases, and others. */
const CHARACTERS = ['a', 'A', 'b', 'Z', 'z', '0', ' ', 'é', 'É', 'ß', 'ж', '–', '\u{1f600}', '\u{10400}', '\ue000', '\ufb00', '\uff41'];

function rowsOf(count: number, seed: number, nullPart: number): Row[] {
  const next = numbers(seed);
  return Array.from({ length: count }, () => {
    const length = next(14);
    const made = Array.from({ length }, () => CHARACTERS[next(CHARACTERS.length)] ?? '').join('');
    return rowOf({
      text: next(100) < nullPart ? null : made,
      plain: `${'gGhHi'[next(5)] ?? ''}${next(count)}`,
      small: BigInt(next(7)),
      large: next(9) === 0 ? null : BigInt(next(2 ** 31)) * 4_000_000_001n - 2n ** 61n,
    });
  });
}

type SortedValue = string | bigint | null;

function valueOf(row: Row, name: string): SortedValue {
  const computed = COMPUTED[name];
  return computed === undefined ? ((row[name] ?? null) as SortedValue) : computed.of(row);
}

function compare(a: SortedValue, b: SortedValue, { descending, nulls }: SortKey): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (nulls === 'first') ? -1 : 1;
  const order = a < b ? -1 : a > b ? 1 : 0;
  return descending ? -order : order;
}

const key = (name: string, descending = false, nulls: 'first' | 'last' = descending ? 'last' : 'first'): SortKey => ({
  column: name,
  descending,
  nulls,
  ordering: 'lexicographic',
});

interface Cut {
  readonly offset: number;
  readonly limit: number;
}

async function check(
  pieces: readonly Row[][],
  by: readonly SortKey[],
  { offset, limit }: Cut,
  { kernels = 'simd', filters = [null, SOME] as readonly (Filter | null)[] } = {},
): Promise<void> {
  for (const filter of filters) {
    const columns = [...new Set(by.map((each) => each.column))];
    const rows = pieces.flat().filter((row) => filter === null || row['small'] === 3n);
    const valued = rows.map((row) => ({ row, values: by.map((each) => valueOf(row, each.column)) }));
    valued.sort((a, b) => by.reduce((order, each, at) => order || compare(a.values[at] ?? null, b.values[at] ?? null, each), 0));
    const expected = valued.slice(offset, offset + limit).map(({ row }) => columns.map((name) => valueOf(row, name) as FrameCell));
    const plan = scanOf(columns, { filter, virtualColumns: VIRTUAL_COLUMNS, post: [{ step: 'sort', by, offset, limit }] });
    const name = `${JSON.stringify(by)} ${offset} ${limit} ${filter === null ? '' : 'filtered'}`;
    assert.equal(await foundRows(pieces, plan, { kernels }), expected, name);
  }
}

const SOME: Filter = { kind: 'equals', column: 'small', type: 'LONG', value: 3n };

for (const [kernels, names] of [
  ['simd', NAMES],
  ['scalar', NAMES.slice(0, 2)],
  ['reference', NAMES.slice(2, 4)],
] as const)
  firsts(`of many texts, few texts and nulls, in any order (${kernels})`, async () => {
    const pieces = [rowsOf(300, 1, 10), rowsOf(70, 2, 90), rowsOf(900, 3, 0), rowsOf(200, 4, 50)];
    const next = numbers(7);
    for (const name of names)
      for (const descending of [false, true])
        for (const nulls of ['first', 'last'] as const) {
          const further = [[], [key('small', true)], [key('large'), key('small')], [key('lower', true), key('large')]];
          const by = [key(name, descending, nulls), ...(further[next(4)] ?? [])];
          const distinct = by.filter((each, at) => by.findIndex((other) => other.column === each.column) === at);
          await check(pieces, distinct, { offset: next(30), limit: 1 + next(200) }, { kernels });
        }
  });

firsts('in segments of several blocks, where many tie, come late or are null', async () => {
  const many = rowsOf(36_000, 5, 3);
  const lately = rowsOf(18_000, 6, 0).map((row, at) => ({ ...row, text: `${String(90_000 - at)}${textOf(row) ?? ''}` }));
  const nulls = many.slice(0, 17_000).map((row) => ({ ...row, text: null }));
  const orders: [Row[][], SortKey[], Cut][] = [
    [[many, nulls], [key('lower', true), key('small')], { offset: 146, limit: 33 }],
    [[lately, many], [key('joined')], { offset: 900, limit: 100 }],
    [[many], [key('replaced', false, 'last'), key('large', true)], { offset: 9_000, limit: 1_000 }],
    // Many rows have the first text, and the texts that follow have no ranks.
    [[many, nulls], [key('replaced'), key('joined'), key('digits')], { offset: 0, limit: 10 }],
  ];
  for (const [pieces, by, cut] of orders) await check(pieces, by, cut, { filters: [null] });
});

firsts('the bound of one segment leaves out no row of another that further keys put first', async () => {
  const piece = (texts: readonly (string | null)[], changes: Partial<Row>, from: number): Row[] =>
    Array.from({ length: 100 }, (_, at) => rowOf({ text: `${texts[at % texts.length]}`, small: BigInt(from - at), ...changes }));
  // All rows of the first have one `large`, which is greater than those of the second, whose texts are the same.
  const pieces = [piece(['b', 'c'], { large: 9n }, 0), piece(['c', 'b'], { large: 5n }, 500), piece(['B', 'd'], {}, 900)];
  for (const descending of [false, true])
    for (const limit of [1, 50, 101, 150])
      for (const further of [[], [key('large')], [key('large'), key('small')], [key('large', true), key('small', true)]])
        await check(pieces, [key('upper', descending), ...further], { offset: 0, limit });
});

firsts.run();
