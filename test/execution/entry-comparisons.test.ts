import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { parseExpression } from '../../src/expression/parse.js';
import { toTruth, type Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';

/* Numbers made of a dictionary's entries, compared with constants, against the expression language row by row. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const ROWS = 5000;

const TEXTS = ['', 'a', '7', '-3', '2.5', '12', '1e3', 'NaN', '9007199254740993', '2024-02-29', '1994-01-01', '1994-12-31T23:59:59Z', null];
/** So few that they are asked rather than the rows, in any order, with null among them or not. */
const texts = fc.shuffledSubarray(TEXTS, { minLength: 1 });
const MADE = [
  'strlen(a)',
  "strpos(a, '-')",
  "cast(a, 'LONG')",
  "cast(a, 'DOUBLE')",
  "nvl(cast(a, 'LONG'), 3)",
  "nvl(cast(a, 'DOUBLE'), 2.5)",
  'timestamp_parse(a)',
  "timestamp_floor(timestamp_parse(a, null, 'UTC'), 'P1D', null, 'UTC')",
  "timestamp_extract(timestamp_parse(a), 'YEAR', 'UTC')",
  'strlen(a) * 2 - 4',
];
const CONSTANTS = ['-3', '0', '2', '3', '7', '2.5', '9007199254740992', '9007199254740993', '757382400000', '788918399999', '1994'];
const OPERATORS = ['<', '<=', '>', '>=', '==', '!='];

function frameOf(dictionary: readonly (string | null)[]): Frame {
  const rows = BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row));
  const ids = Uint32Array.from({ length: ROWS }, (_, row) => (row * 7) % dictionary.length);
  return {
    rowCount: ROWS,
    columns: [
      { kind: 'long', name: '__time', values: rows, nulls: null },
      { kind: 'string', name: 'a', ids, dictionary },
    ],
  };
}

/** Rows that a filter keeps, of a column whose row r has the text r * 7 modulo their number. */
async function kept(dictionary: readonly (string | null)[], made: string, filter: Filter): Promise<unknown[]> {
  const plan: ScanPlan = {
    operator: 'scan',
    dataSource: '',
    intervals: [ETERNITY],
    filter,
    virtualColumns: [{ name: 'v', expression: parseExpression(made), outputType: null }],
    columns: ['__time'],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  };
  const placed = uploadFrame(frameOf(dictionary), memory);
  const found: unknown[] = [];
  try {
    const options = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null } as const;
    const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
    for await (const frame of engine.runViews(plan, [placed.view], options, new AbortController().signal))
      for (let row = 0; row < frame.rowCount; row++) found.push(frame.columns[0] === undefined ? null : cellAt(frame.columns[0], row));
  } finally {
    placed.release();
  }
  assert.is(memory.allocatedBytes, 0);
  return found;
}

/** Rows whose text passes. */
function rowsOf(dictionary: readonly (string | null)[], passes: (text: string | null) => boolean): bigint[] {
  const isKept = dictionary.map(passes);
  return Array.from({ length: ROWS }, (_, row) => row).flatMap((row) =>
    isKept[(row * 7) % dictionary.length] === true ? [BigInt(row)] : [],
  );
}

/** Value of an expression for a text, by its definition. */
function valueOf(expression: string): (text: string | null) => Value {
  const compute = compileExpression(parseExpression(expression), (name) => (name === 'a' ? 'STRING' : undefined));
  return (text) => compute(() => text);
}

const comparisons = suite('comparisons of numbers made of entries');

comparisons('as expressions keep the rows for which they are true, and those for which they are not', async () => {
  const drawn = fc.tuple(fc.constantFrom(...MADE), fc.constantFrom(...OPERATORS), fc.constantFrom(...CONSTANTS));
  await fc.assert(
    fc.asyncProperty(texts, drawn, fc.boolean(), async (dictionary, [made, operator, constant], isNegated) => {
      const expression = `${made} ${operator} ${constant}`;
      const condition: Filter = { kind: 'expression', expression: parseExpression(expression) };
      const found = await kept(dictionary, made, isNegated ? { kind: 'not', filter: condition } : condition);
      const value = valueOf(expression);
      assert.equal(
        found,
        rowsOf(dictionary, (text) => toTruth(value(text)) === !isNegated),
        expression,
      );
    }),
    { numRuns: caseCount(150) },
  );
});

comparisons('as filters of a virtual column keep the rows within bounds, in a list, or null', async () => {
  const longs = MADE.filter((made) => !made.includes('DOUBLE'));
  const number = fc.constantFrom(...CONSTANTS.filter((constant) => !constant.includes('.')).map(BigInt));
  await fc.assert(
    fc.asyncProperty(texts, fc.constantFrom(...longs), number, number, async (dictionary, made, a, b) => {
      const column = { column: 'v', type: 'LONG' } as const;
      const value = valueOf(made);
      const is = (test: (number: bigint) => boolean) => (text: string | null) => {
        const of = value(text);
        return typeof of === 'bigint' && test(of);
      };
      const range = { kind: 'range', ...column, ordering: 'numeric' } as const;
      const ways: readonly (readonly [Filter, (text: string | null) => boolean])[] = [
        [{ kind: 'null', column: 'v' }, (text) => value(text) === null],
        [{ kind: 'equals', ...column, value: a }, is((of) => of === a)],
        [{ kind: 'in', ...column, values: [a, b, null] }, (text) => value(text) === null || is((of) => of === a || of === b)(text)],
        [{ ...range, lower: a, lowerStrict: true, upper: b, upperStrict: false }, is((of) => of > a && of <= b)],
        [{ kind: 'not', filter: { ...range, lower: a, lowerStrict: false, upper: null, upperStrict: false } }, is((of) => of < a)],
      ];
      for (const [filter, passes] of ways)
        assert.equal(await kept(dictionary, made, filter), rowsOf(dictionary, passes), `${made}, ${a} and ${b}, ${filter.kind}`);
    }),
    { numRuns: caseCount(60) },
  );
});

comparisons.run();
