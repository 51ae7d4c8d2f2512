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

/* Lists that are made of stored arrays, multi-value rows and single values, against JavaScript's own lists. */
const suited = suite('made lists');
const WORDS = ['', 'a', 'ab', 'é', '\u0000', '\u0001z', '😀', 'more than sixteen bytes', 'null'];

interface Row {
  readonly many: readonly string[];
  readonly texts: readonly (string | null)[] | null;
  readonly longs: readonly (bigint | null)[] | null;
  readonly doubles: readonly (number | null)[] | null;
  readonly word: string | null;
  readonly long: bigint | null;
  readonly double: number | null;
}

type List = readonly ArrayElement[] | null;
type Case = readonly [source: string, type: ArrayType, expected: (row: Row) => List];

/** A row without values is no list. */
const valuesOf = ({ many }: Row): List => (many.length === 0 ? null : many);
const slice = (list: List, from: number, to: number): List =>
  list === null || from > list.length ? null : Array.from({ length: to - from }, (_, at) => list[from + at] ?? null);
const rest = (list: List, from: number): List => (list === null || from > list.length ? null : list.slice(from));
const together = (...lists: readonly List[]): List => (lists.some((list) => list === null) ? null : lists.flatMap((list) => list ?? []));

const CASES: readonly Case[] = [
  ['array_slice(mv_to_array(many), 0, 2)', 'ARRAY<STRING>', (row) => slice(valuesOf(row), 0, 2)],
  ['array_slice(mv_to_array(many), 2)', 'ARRAY<STRING>', (row) => rest(valuesOf(row), 2)],
  ['array_append(mv_to_array(many), text)', 'ARRAY<STRING>', (row) => together(valuesOf(row), [row.word])],
  ['array_prepend(text, mv_to_array(many))', 'ARRAY<STRING>', (row) => together([row.word], valuesOf(row))],
  ['array_concat(mv_to_array(many), texts)', 'ARRAY<STRING>', (row) => together(valuesOf(row), row.texts)],
  ["array_append(array_slice(texts, 1), 'é')", 'ARRAY<STRING>', (row) => together(rest(row.texts, 1), ['é'])],
  ["array_concat(texts, array('x', null))", 'ARRAY<STRING>', (row) => together(row.texts, ['x', null])],
  ['array_concat(texts, texts)', 'ARRAY<STRING>', (row) => together(row.texts, row.texts)],
  ['array_slice(texts, 3, 3)', 'ARRAY<STRING>', (row) => slice(row.texts, 3, 3)],
  ["array(text, concat(text, '!'), 'c')", 'ARRAY<STRING>', ({ word }) => [word, word === null ? null : `${word}!`, 'c']],
  ['array_slice(longs, 1, 4)', 'ARRAY<LONG>', (row) => slice(row.longs, 1, 4)],
  ['array_append(longs, large)', 'ARRAY<LONG>', (row) => together(row.longs, [row.long])],
  ['array_prepend(null, longs)', 'ARRAY<LONG>', (row) => together([null], row.longs)],
  ['array_concat(array_slice(longs, 2), array_append(longs, 7))', 'ARRAY<LONG>', (row) => together(rest(row.longs, 2), row.longs, [7n])],
  ['array(large, 5, null, large)', 'ARRAY<LONG>', ({ long }) => [long, 5n, null, long]],
  ['array_append(doubles, double)', 'ARRAY<DOUBLE>', (row) => together(row.doubles, [row.double])],
  ['array_prepend(-0.5, array_slice(doubles, 0, 2))', 'ARRAY<DOUBLE>', (row) => together([-0.5], slice(row.doubles, 0, 2))],
];

async function answer(frame: Frame, source: string, type: ColumnType): Promise<FrameCell[]> {
  const plan: ScanPlan = scanOf(['v'], { virtualColumns: [{ name: 'v', expression: parseExpression(source), outputType: type }] });
  const { view, release } = uploadFrame(frame, memory);
  try {
    return (await rowsOf(engine.runViews(plan, [view], options(), never))).flat();
  } finally {
    release();
  }
}

function frameOfRows(rows: readonly Row[]): Frame {
  const plain = frameOf(
    rows.map(({ many, word, long, double }, at) => ({ __time: BigInt(START + at), many: [...many], text: word, large: long, double })),
  );
  return {
    ...plain,
    columns: [
      ...plain.columns,
      arrays(
        'texts',
        'ARRAY<STRING>',
        rows.map(({ texts }) => texts),
      ),
      arrays(
        'longs',
        'ARRAY<LONG>',
        rows.map(({ longs }) => longs),
      ),
      arrays(
        'doubles',
        'ARRAY<DOUBLE>',
        rows.map(({ doubles }) => doubles),
      ),
    ],
  };
}

function arrays(name: string, type: ArrayType, lists: readonly List[]): Frame['columns'][number] {
  const texts = lists.map((list) => (list === null ? null : arrayText(list, type)));
  const dictionary = [...new Set(texts)];
  const places = new Map(dictionary.map((text, id) => [text, id]));
  return { kind: 'string', name, type, ids: Uint32Array.from(texts, (text) => places.get(text) ?? 0), dictionary };
}

const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 5 });
const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary', maxLength: 4 }));
const long = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(0n, 7n, -1n));
const double = fc.double({ noNaN: true });
const arbitraryRows = fc.array(
  fc.record({
    many: fc.array(word, { maxLength: 4 }),
    texts: orNull(fc.array(orNull(word), { maxLength: 4 })),
    longs: orNull(fc.array(orNull(long), { maxLength: 5 })),
    doubles: orNull(fc.array(orNull(double), { maxLength: 3 })),
    word: orNull(word),
    long: orNull(long),
    double: orNull(double),
  }),
  { minLength: 1, maxLength: 300 },
);

const written = (cell: FrameCell, type: ArrayType): unknown => (Array.isArray(cell) ? arrayText(cell as ArrayElement[], type) : cell);

for (const [source, type, expected] of CASES)
  suited(source, async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRows, async (rows) => {
        const frame = frameOfRows(rows);
        const lists = rows.map(expected);
        const found = await answer(frame, source, type);
        assert.equal(
          found.map((cell) => written(cell, type)),
          lists.map((list) => (list === null ? null : arrayText(list, type))),
        );
        assert.equal(
          await answer(frame, `array_length(${source})`, 'LONG'),
          lists.map((list) => (list === null ? null : BigInt(list.length))),
        );
      }),
      { numRuns: 15 },
    );
  });

/** Rows of which some have more values than are looked at together, each list at other rows. */
function longRows(): Row[] {
  return Array.from({ length: 300 }, (_, row) => ({
    many: Array.from({ length: row === 70 ? 150_000 : row % 64 === 63 ? 40_000 : row % 3 }, (_each, at) => WORDS[(row + at) % 4] ?? ''),
    texts: Array.from({ length: row === 130 ? 90_000 : row % 64 === 5 ? 30_000 : row % 4 }, (_each, at) => WORDS[at % 4] ?? null),
    longs: Array.from({ length: row % 32 === 9 ? 20_000 : row % 2 }, (_each, at) => (at % 11 === 0 ? null : BigInt(at))),
    doubles: [],
    word: WORDS[row % 4] ?? null,
    long: row % 5 === 0 ? null : BigInt(row),
    double: null,
  }));
}

suited('lists of more values than are looked at together', async () => {
  const rows = longRows();
  const frame = frameOfRows(rows);
  for (const [source, type, expected] of CASES.filter(([, type]) => type !== 'ARRAY<DOUBLE>')) {
    const found = await answer(frame, source, type);
    const lists = rows.map(expected);
    assert.ok(
      found.every((cell, row) => written(cell, type) === (lists[row] == null ? null : arrayText(lists[row], type))),
      source,
    );
  }
});

suited('values of rows are strings, of a list of one null none', async () => {
  const rows = longRows();
  const frame = frameOfRows(rows);
  const values = (list: List): unknown => {
    const texts = (list ?? []).map((each) => (each === null ? null : String(each)));
    return texts.length === 0 || (texts.length === 1 && texts[0] === null) ? null : texts.length === 1 ? texts[0] : texts;
  };
  for (const [source, expected] of [
    ['array_to_mv(array_append(mv_to_array(many), text))', (row: Row) => together(valuesOf(row), [row.word])],
    ['array_to_mv(array_slice(longs, 0, 1))', ({ longs }: Row) => slice(longs, 0, 1)],
    ['array_to_mv(array_concat(longs, array(3)))', ({ longs }: Row) => together(longs, [3n])],
  ] as const) {
    const found = await answer(frame, source, 'STRING');
    assert.equal(
      found,
      rows.map((row) => values(expected(row))),
      source,
    );
  }
});

suited('an array of more elements than one may have is refused', async () => {
  const longs = Array.from({ length: 100 }, (_, row) => new Array<bigint>(row === 80 ? 1 << 19 : 1).fill(1n));
  const rows = longs.map((list): Row => ({ many: [], texts: null, longs: list, doubles: null, word: null, long: 1n, double: null }));
  try {
    await answer(frameOfRows(rows), 'array_length(array_append(array_concat(longs, longs), large))', 'LONG');
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /array_append: an array of 1048577 elements; up to 1048576 are accepted/);
  }
});

suited.after(() => engine.close());
suited.run();
