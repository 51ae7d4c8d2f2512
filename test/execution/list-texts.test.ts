import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseExpression } from '../../src/expression/parse.js';
import { type ArrayElement, arrayText } from '../../src/model/array-text.js';
import type { Frame, FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import type { ArrayType, ColumnType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, START } from './random-data.js';
import { engine, memory, never, options, rowsOf, scanOf } from './scanning.js';

/* Strings and arrays that are made of multi-value rows and of stored arrays of strings, against JavaScript's own lists. */
const suited = suite('texts of lists');
/** With what arrays write as two bytes, and what UTF-8 does. */
const WORDS = ['', 'a', 'ab', 'é', '\u0000', '\u0001z', 'x\u0001\u0000', '😀', 'more than sixteen bytes', 'null'];

type List = readonly string[];
type Stored = readonly (string | null)[] | null;
type Case<L> = readonly [source: string, type: ColumnType, expected: (list: L) => unknown];

const OF_ROWS: readonly Case<List>[] = [
  ["array_to_string(many, ',')", 'STRING', (list) => (list.length === 0 ? null : list.join(','))],
  ["array_to_string(many, '')", 'STRING', (list) => (list.length === 0 ? null : list.join(''))],
  ["array_to_string(mv_to_array(many), ' é ')", 'STRING', (list) => (list.length === 0 ? null : list.join(' é '))],
  ["strlen(array_to_string(many, '; '))", 'LONG', (list) => (list.length === 0 ? null : BigInt(list.join('; ').length))],
  ["concat(array_to_string(many, '|'), '!')", 'STRING', (list) => (list.length === 0 ? null : `${list.join('|')}!`)],
  ['mv_to_array(many)', 'ARRAY<STRING>', (list) => (list.length === 0 ? null : arrayText(list, 'ARRAY<STRING>'))],
];

/** A list of just one null is null as a string. */
const joined = (list: Stored, separator: string): string | null =>
  list === null || (list.length === 1 && list[0] === null) ? null : list.map((each) => each ?? 'null').join(separator);
const truth = (list: Stored, test: (list: readonly (string | null)[]) => boolean): bigint | null =>
  list === null ? null : test(list) ? 1n : 0n;

const OF_ARRAYS: readonly Case<Stored>[] = [
  ["array_to_string(a, ',')", 'STRING', (list) => joined(list, ',')],
  ["strlen(array_to_string(a, '; '))", 'LONG', (list) => (joined(list, '; ') === null ? null : BigInt(joined(list, '; ')?.length ?? 0))],
  ['array_length(a)', 'LONG', (list) => (list === null ? null : BigInt(list.length))],
  ['array_offset(a, 1)', 'STRING', (list) => list?.[1] ?? null],
  ["concat(array_ordinal(a, 1), '.')", 'STRING', (list) => (list?.[0] == null ? null : `${list[0]}.`)],
  ["array_offset_of(a, 'ab')", 'LONG', (list) => (list?.includes('ab') === true ? BigInt(list.indexOf('ab')) : null)],
  ["array_contains(a, 'a')", 'LONG', (list) => truth(list, (each) => each.includes('a'))],
  ["array_contains(a, array('a', 'null'))", 'LONG', (list) => truth(list, (each) => each.includes('a') && each.includes('null'))],
  ["array_overlap(a, array('é', null))", 'LONG', (list) => truth(list, (each) => each.includes('é') || each.includes(null))],
];

async function answer(frame: Frame, plan: ScanPlan): Promise<FrameCell[][]> {
  const { view, release } = uploadFrame(frame, memory);
  try {
    return await rowsOf(engine.runViews(plan, [view], options(), never));
  } finally {
    release();
  }
}

function computed([source, outputType]: Case<never>): ScanPlan {
  return scanOf(['v'], { virtualColumns: [{ name: 'v', expression: parseExpression(source), outputType }] });
}

const frameOfLists = (lists: readonly List[]): Frame =>
  frameOf(lists.map((many, at) => ({ __time: BigInt(START + at), many: [...many], small: BigInt(at % 7) })));

function frameOfArrays(arrays: readonly (readonly ArrayElement[] | null)[], type: ArrayType): Frame {
  const texts = arrays.map((each) => (each === null ? null : arrayText(each, type)));
  const dictionary = [...new Set(texts)];
  const places = new Map(dictionary.map((text, id) => [text, id]));
  return {
    rowCount: arrays.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(arrays, (_, row) => BigInt(START + row)), nulls: null },
      { kind: 'string', name: 'a', type, ids: Uint32Array.from(texts, (text) => places.get(text) ?? 0), dictionary },
    ],
  };
}

/** Arrays come out as they are written. */
const written = (cells: readonly FrameCell[], type: ColumnType): unknown[] =>
  cells.map((cell) => (type === 'ARRAY<STRING>' && Array.isArray(cell) ? arrayText(cell as ArrayElement[], type) : cell));

const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary', maxLength: 4 }));
const arbitraryLists = fc.array(fc.array(word, { maxLength: 4 }), { minLength: 1, maxLength: 300 });
const arbitraryArrays = fc.array(fc.option(fc.array(fc.option(word, { nil: null }), { maxLength: 4 }), { nil: null, freq: 9 }), {
  minLength: 1,
  maxLength: 300,
});

for (const each of OF_ROWS)
  suited(`${each[0]} of rows`, async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLists, async (lists) => {
        const found = await answer(frameOfLists(lists), computed(each));
        assert.equal(written(found.flat(), each[1]), lists.map(each[2]));
      }),
      { numRuns: 25 },
    );
  });

for (const each of OF_ARRAYS)
  suited(`${each[0]} of arrays`, async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryArrays, async (arrays) => {
        const found = await answer(frameOfArrays(arrays, 'ARRAY<STRING>'), computed(each));
        assert.equal(found.flat(), arrays.map(each[2]));
      }),
      { numRuns: 25 },
    );
  });

/** Rows of which the 70th, and those of the second word, have more values than are looked at together. */
const longLists = <Value>(value: (at: number) => Value): Value[][] =>
  Array.from({ length: 300 }, (_, row) =>
    Array.from({ length: row === 70 ? 150_000 : row % 64 === 63 ? 40_000 : row % 3 }, (_, at) => value(at)),
  );

suited('lists of more values than are looked at together', async () => {
  const lists = longLists((at) => WORDS[at % 4] ?? '');
  for (const each of OF_ROWS.slice(0, 4)) {
    const found = await answer(frameOfLists(lists), computed(each));
    assert.ok(
      found.flat().every((cell, row) => cell === each[2](lists[row] ?? [])),
      each[0],
    );
  }
});

suited('arrays of more numbers than are looked at together', async () => {
  const arrays = longLists((at) => (at % 11 === 0 ? null : BigInt(at) - 77n));
  const frame = frameOfArrays(arrays, 'ARRAY<LONG>');
  const unnested = scanOf(['__time', 'e'], {
    stages: [{ kind: 'unnest', column: { name: 'e', expression: parseExpression('a'), outputType: null } }],
  });
  const found = await answer(frame, unnested);
  const expected = arrays.flatMap((array, row) => array.map((each) => [BigInt(START + row), each]));
  assert.is(found.length, expected.length);
  assert.ok(found.every(([time, each], at) => time === expected[at]?.[0] && each === expected[at]?.[1]));
  for (const [source, of] of [
    ['array_offset(a, 1)', (array) => array[1] ?? null],
    ['array_offset_of(a, 39900)', (array) => (array.includes(39900n) ? 39977n : null)],
    ['array_contains(a, 100000)', (array) => (array.includes(100_000n) ? 1n : 0n)],
    ["strlen(array_to_string(a, ','))", (array) => (array.length === 1 ? null : BigInt(array.map(String).join(',').length))],
  ] as readonly (readonly [string, (array: readonly (bigint | null)[]) => bigint | null])[]) {
    const cells = await answer(frame, computed([source, 'LONG', of]));
    assert.ok(
      cells.flat().every((cell, row) => cell === of(arrays[row] ?? [])),
      source,
    );
  }
});

suited('a string of more characters than one may have is refused', async () => {
  const lists = Array.from({ length: 100 }, (_, row) => new Array<string>(row === 80 ? 190_000 : 1).fill('more than sixteen bytes'));
  try {
    await answer(frameOfLists(lists), computed(["array_to_string(many, ',')", 'STRING', () => null]));
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /array_to_string: a string of 4560000 characters; up to 4194304 are accepted/);
  }
});

suited.after(() => engine.close());
suited.run();
