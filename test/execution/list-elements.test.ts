import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseExpression } from '../../src/expression/parse.js';
import type { FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import type { Row } from './oracle.js';
import { frameOf, START } from './random-data.js';
import { engine, memory, never, options, rowsOf, scanOf } from './scanning.js';

/* Values at a place of multi-value rows, and the place of a value among them, against JavaScript's own lists. */
const suited = suite('elements of lists');
const WORDS = ['', 'a', 'ab', 'B', 'é', 'x'];

type List = readonly string[];

const EXPRESSIONS: readonly [source: string, type: 'STRING' | 'LONG', expected: (list: List, number: number) => FrameCell][] = [
  ['array_offset(many, 0)', 'STRING', (list) => list[0] ?? null],
  ['array_ordinal(many, 1)', 'STRING', (list) => list[0] ?? null],
  ['array_offset(many, 2)', 'STRING', (list) => list[2] ?? null],
  ['array_ordinal(mv_to_array(many), 2)', 'STRING', (list) => list[1] ?? null],
  ['array_offset(many, -1)', 'STRING', () => null],
  ['array_ordinal(many, 0)', 'STRING', () => null],
  ['array_offset(many, 4294967296)', 'STRING', () => null],
  ["concat(upper(array_offset(many, 1)), '!')", 'STRING', (list) => (list[1] === undefined ? null : `${list[1].toUpperCase()}!`)],
  ["nvl(array_offset(many, 0), 'none')", 'STRING', (list) => list[0] ?? 'none'],
  ['strlen(array_offset(many, 0))', 'LONG', (list) => (list[0] === undefined ? null : BigInt(list[0].length))],
  ["if(array_offset(many, 0) == 'a', small, -1)", 'LONG', (list, number) => (list[0] === 'a' ? BigInt(number) : -1n)],
  ["array_offset_of(many, 'ab')", 'LONG', (list) => (list.includes('ab') ? BigInt(list.indexOf('ab')) : null)],
  ["array_ordinal_of(many, 'x')", 'LONG', (list) => (list.includes('x') ? BigInt(list.indexOf('x') + 1) : null)],
  ["array_offset_of(many, 'nowhere')", 'LONG', () => null],
  ["array_offset_of(many, 'a') + small", 'LONG', (list, number) => (list.includes('a') ? BigInt(list.indexOf('a') + number) : null)],
];

const FILTERS: readonly [source: string, holds: (list: List) => boolean][] = [
  ["array_ordinal(many, 1) == 'a'", (list) => list[0] === 'a'],
  ["array_offset(many, 1) != 'a'", (list) => list[1] !== undefined && list[1] !== 'a'],
  [
    "array_offset(many, 0) > 'a' && array_offset(many, 1) < 'x'",
    ([first, second]) => (first ?? '') > 'a' && second !== undefined && second < 'x',
  ],
  ['isnull(array_offset(many, 1))', (list) => list.length < 2],
  ["array_offset_of(many, 'ab') == 1", (list) => list.indexOf('ab') === 1],
  ["array_ordinal_of(many, 'ab') > 1", (list) => list.indexOf('ab') > 0],
];

async function answer(rows: readonly Row[], plan: ScanPlan): Promise<FrameCell[][]> {
  const { view, release } = uploadFrame(frameOf(rows), memory);
  try {
    return await rowsOf(engine.runViews(plan, [view], options(), never));
  } finally {
    release();
  }
}

const arbitraryLists = fc.array(fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }), { minLength: 1, maxLength: 300 });
const rowsOfLists = (lists: readonly List[]): Row[] =>
  lists.map((many, at): Row => ({ __time: BigInt(START + at), many: [...many], small: BigInt(at % 7) }));

for (const [source, outputType, expected] of EXPRESSIONS)
  suited(source, async () => {
    const plan = scanOf(['v'], { virtualColumns: [{ name: 'v', expression: parseExpression(source), outputType }] });
    await fc.assert(
      fc.asyncProperty(arbitraryLists, async (lists) => {
        const found = await answer(rowsOfLists(lists), plan);
        assert.equal(
          found.flat(),
          lists.map((list, at) => expected(list, at % 7)),
        );
      }),
      { numRuns: 25 },
    );
  });

for (const [source, holds] of FILTERS)
  suited(`${source} as a filter`, async () => {
    const plan = scanOf(['__time'], { filter: { kind: 'expression', expression: parseExpression(source) } });
    await fc.assert(
      fc.asyncProperty(arbitraryLists, async (lists) => {
        const found = await answer(rowsOfLists(lists), plan);
        assert.equal(
          found.flat(),
          lists.flatMap((list, at) => (holds(list) ? [BigInt(START + at)] : [])),
        );
      }),
      { numRuns: 25 },
    );
  });

suited('a column of the name that such a column would have is another', async () => {
  const rows = rowsOfLists([['a', 'b'], ['x'], []]).map((row): Row => ({ ...row, plain: 'p' }));
  const plan = scanOf(['v'], {
    virtualColumns: [
      { name: ':value 0 of many', expression: parseExpression('upper(plain)'), outputType: 'STRING' },
      { name: 'v', expression: parseExpression('concat(array_offset(many, 0), ":value 0 of many")'), outputType: 'STRING' },
    ],
  });
  assert.equal((await answer(rows, plan)).flat(), ['aP', 'xP', null]);
});

suited('a virtual column that hides the column it is made of has values of its own', async () => {
  const plan = scanOf(['v'], {
    virtualColumns: [
      { name: 'many', expression: parseExpression("concat(array_offset(many, 0), '-', many)"), outputType: 'STRING' },
      { name: 'v', expression: parseExpression('array_offset(many, 0)'), outputType: 'STRING' },
    ],
  });
  assert.equal((await answer(rowsOfLists([['x', 'y'], ['a'], []]), plan)).flat(), ['x-x', 'a-a', null]);
});

suited.run();
