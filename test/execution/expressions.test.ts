import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { parseExpression } from '../../src/expression/parse.js';
import { printExpression } from '../../src/expression/print.js';
import { convert, isArrayValue, type Scalar, textOfValue, toTruth, type Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { VirtualColumn } from '../../src/model/aggregator.js';
import { columnsOfExpression } from '../../src/model/columns-read.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { type ColumnType, isTextType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import type { Row } from './oracle.js';
import { arbitraryPieces, frameOf, START } from './random-data.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null };
const never = new AbortController().signal;

function scan(virtualColumns: readonly VirtualColumn[], filter: Filter | null, columns: readonly string[]): ScanPlan {
  return {
    operator: 'scan',
    dataSource: 'random',
    intervals: [ETERNITY],
    filter,
    virtualColumns,
    post: [],
    columns,
    timeOrder: null,
    offset: 0,
    limit: null,
  };
}

async function answer(pieces: readonly (readonly Row[])[], plan: ScanPlan): Promise<FrameCell[][]> {
  const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
  const found: FrameCell[][] = [];
  try {
    const frames: AsyncIterable<Frame> = engine.runViews(
      plan,
      placed.map(({ view }) => view),
      options,
      never,
    );
    for await (const frame of frames)
      for (let row = 0; row < frame.rowCount; row++) found.push(frame.columns.map((column) => cellAt(column, row)));
  } finally {
    for (const { release } of placed) release();
  }
  assert.is(memory.allocatedBytes, 0);
  return found;
}

/** The types that columns of a piece have; `many` as array functions see it. */
function typesIn(rows: readonly Row[]): (name: string) => ColumnType | undefined {
  const types: Readonly<Record<string, ColumnType>> = {
    __time: 'LONG',
    small: 'LONG',
    holes: 'LONG',
    large: 'LONG',
    double: 'DOUBLE',
    many: 'ARRAY<STRING>',
    text: 'STRING',
    plain: 'STRING',
  };
  const isThere = new Set(frameOf(rows).columns.map(({ name }) => name));
  return (name) => (isThere.has(name) ? types[name] : undefined);
}

/** A row without values has no array. */
function cellOf(row: Row, name: string): Value {
  const value = row[name] ?? null;
  return isArrayValue(value) && value.length === 0 ? null : value;
}

const { number, text, truth, array } = fc.letrec<Record<'number' | 'text' | 'truth' | 'array', string>>((tie) => {
  const form = (pattern: string, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
    fc.tuple(...parts).map((given) => pattern.replace(/\b[A-D]\b/g, (letter) => given['ABCD'.indexOf(letter)] ?? ''));
  const [n, t, b, a] = [tie('number'), tie('text'), tie('truth'), tie('array')];
  return {
    number: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom('small', 'holes', 'large', 'double', '2', '3', '0.5', '-1', '0', 'null', 'missing'),
      fc.constantFrom('+', '-', '*', '/', '%').chain((operator) => form(`(A ${operator} B)`, n, n)),
      form('if(A, B, C)', b, n, n),
      form('coalesce(A, B)', n, n),
      form('case_simple(A, small, B, 0, C)', n, n, n),
      form('strlen(A)', t),
      form('array_length(A)', a),
      form('fold((x, acc) -> acc + strlen(coalesce(x, A)), B, small)', t, a),
      form("cast(A, 'LONG')", fc.oneof(n, t)),
    ),
    text: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom('text', 'plain', "'a'", "'10'", 'null', 'missing'),
      form('upper(A)', t),
      form('concat(A, B)', t, t),
      form("concat(A, ':', B)", t, n),
      form('substring(A, 0, 2)', t),
      form('case_searched(A, B, C)', b, t, t),
      form('nvl(A, B)', t, t),
      form("array_to_string(A, '-')", a),
      form('array_offset(A, 1)', a),
      form("cast(A, 'STRING')", n),
    ),
    truth: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom('small > 50', "text == 'a'", 'holes < double', 'isnull(text)', '1', 'null'),
      fc
        .constantFrom('==', '!=', '<', '>=')
        .chain((operator) => fc.oneof(form(`(A ${operator} B)`, n, n), form(`(A ${operator} B)`, t, t))),
      fc.constantFrom('&&', '||').chain((operator) => form(`(A ${operator} B)`, b, b)),
      form('!(A)', b),
      form('array_contains(A, B)', a, t),
      form('scalar_in_array(A, B)', t, a),
      form('any((x) -> x == A, B)', t, a),
      form("like(A, '%a%')", t),
    ),
    array: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom('many', "['a', null, '10']", 'array(text, plain)'),
      form('array(A, B)', t, t),
      form("string_to_array(A, 'o')", t),
      form('map((x) -> concat(x, A), B)', t, a),
      form('filter((x) -> x > A, B)', t, a),
      form('array_append(A, B)', a, t),
      form('array_set_add_all(A, B)', a, a),
      form('cartesian_map((x, y) -> nvl(x, y), A, B)', a, a),
    ),
  };
});

/** Numeric expressions, which are compiled to trees of kernels. */
const deep = fc.createDepthIdentifier();
const { calculation, choice, condition } = fc.letrec<Record<'calculation' | 'condition' | 'choice', string>>((tie) => {
  const form = (pattern: string, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
    fc.tuple(...parts).map((given) => pattern.replace(/\b[A-D]\b/g, (letter) => given['ABCD'.indexOf(letter)] ?? ''));
  const [n, b] = [tie('calculation'), tie('condition')];
  // Lists of values, and constants that are looked for in them.
  const lists = fc.constantFrom(
    'many',
    'mv_harmonize_nulls(many)',
    "filter((x) -> x > 'a', many)",
    "mv_harmonize_nulls(filter((x) -> like(x, '%o%'), many))",
    "filter((x) -> x == 'none such', many)",
  );
  const wanted = fc.constantFrom(
    "'a'",
    "'none such'",
    'null',
    "['b', 'moon river']",
    "['a', null]",
    "array('é')",
    '10',
    "cast(null, 'ARRAY<STRING>')",
  );
  return {
    calculation: fc.oneof(
      { maxDepth: 4, depthIdentifier: deep },
      fc.constantFrom(
        'small',
        'holes',
        'large',
        'double',
        '2',
        '0.5',
        '-1',
        '0',
        '7',
        '9223372036854775807',
        'strlen(text)',
        'null',
        'missing',
      ),
      fc.constantFrom('+', '-', '*', '/', '%').chain((operator) => form(`(A ${operator} B)`, n, n)),
      fc
        .constantFrom('bitwiseAnd', 'bitwiseOr', 'bitwiseXor', 'bitwiseShiftLeft', 'bitwiseShiftRight', 'div', 'safe_divide', 'max', 'nvl')
        .chain((name) => form(`${name}(A, B)`, n, n)),
      form('if(A, B, C)', b, n, n),
      form('case_searched(A, B, C, D)', b, n, b, n),
      form('case_simple(A, B, C, D)', n, n, n, n),
      form('coalesce(A, B)', n, n),
      fc.constantFrom('greatest', 'least').chain((name) => form(`${name}(A, B, C)`, n, n, n)),
      fc
        .constantFrom(
          'abs',
          '-',
          'floor',
          'ceil',
          'rint',
          'round',
          'sqrt',
          'signum',
          'bitwiseComplement',
          'bitwiseConvertDoubleToLongBits',
          'bitwiseConvertLongBitsToDouble',
        )
        .chain((name) => form(`${name}(A)`, n)),
      form('pow(A, 2)', n),
      fc.constantFrom(1, 2, -1, -2, -14, -18, -19).chain((places) => form(`round(A, ${places})`, n)),
      fc.constantFrom('long', 'double', 'float').chain((type) => form(`cast(A, '${type}')`, n)),
      form('(A + text)', n),
      form('(A < text)', n),
      form('strlen(A)', tie('choice')),
      form("strpos(A, 'x')", tie('choice')),
      form('array_length(A)', lists),
      b,
    ),
    choice: fc.oneof(
      { maxDepth: 4, depthIdentifier: deep },
      fc.constantFrom('text', 'plain', 'upper(text)', "'a'", 'null', '7', 'missing'),
      form('if(A, B, C)', b, tie('choice'), tie('choice')),
      form('case_searched(A, B, C, D)', b, tie('choice'), b, tie('choice')),
      form('nvl(A, B)', tie('choice'), tie('choice')),
      form("concat(A, '-')", tie('choice')),
      form("nvl(upper(A), 'none')", tie('choice')),
      form('case_simple(small, A, B, C)', n, tie('choice'), tie('choice')),
    ),
    condition: fc.oneof(
      { maxDepth: 4, depthIdentifier: deep },
      fc.constantFrom("text == 'a'", "like(text, '%a%')", 'text == plain', 'double > holes', 'small >= small', 'holes <= holes'),
      fc.constantFrom('==', '!=', '<', '<=', '>', '>=').chain((operator) => form(`(A ${operator} B)`, n, n)),
      fc.constantFrom('&&', '||').chain((operator) => form(`(A ${operator} B)`, b, b)),
      form('!(A)', b),
      fc.constantFrom('isnull', 'notnull', 'istrue', 'isnottrue', 'isfalse', 'isnotfalse').chain((name) => form(`${name}(A)`, n)),
      fc.constantFrom('array_contains', 'array_overlap').chain((name) => form(`${name}(A, B)`, lists, wanted)),
      form('isnull(array_contains(A, B))', lists, wanted),
    ),
  };
});

/** Enough rows that kernels are worth it, in two segments; past one word of bits, to its end or into the next. */
const manyRows: fc.Arbitrary<Row[][]> = fc.tuple(arbitraryPieces, fc.integer({ min: 64, max: 131 })).map(([pieces, length]) => {
  const first = pieces.flat();
  const many = Array.from({ length }, (_, index) => first[index % first.length] ?? {});
  return [many, many.toReversed()].map((each) => each.toSorted((a, b) => Number(a['__time']) - Number(b['__time'])));
});

const expressions = suite('expressions over batches');

expressions('agree with one row after the other', async () => {
  const any = fc.oneof(
    fc.tuple(number, fc.constantFrom('LONG' as const, 'DOUBLE' as const)),
    fc.tuple(text, fc.constant('STRING' as const)),
    fc.tuple(truth, fc.constant('LONG' as const)),
    fc.tuple(array, fc.constant('ARRAY<STRING>' as const)),
  );
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, any, async (pieces, [source, outputType]) => {
      const expression = parseExpression(source);
      const found = await answer(pieces, scan([{ name: 'v', expression, outputType }], null, ['v']));
      const expected = pieces.flatMap((rows) => {
        const compute = compileExpression(expression, typesIn(rows));
        return rows.map((row) => {
          const value = compute((name) => cellOf(row, name));
          return isTextType(outputType) ? textOfValue(value, outputType) : convert(value, outputType);
        });
      });
      assert.equal(
        found.map(([value]) => value),
        expected,
      );
    }),
    { numRuns: 120, includeErrorInReport: true },
  );
});

expressions('of numbers, and choices among strings, agree with one row after the other, by kernels over blocks', async () => {
  const any = fc.oneof(
    fc.tuple(calculation, fc.constantFrom('LONG' as const, 'DOUBLE' as const, 'FLOAT' as const)),
    fc.tuple(choice, fc.constant('STRING' as const)),
  );
  await fc.assert(
    fc.asyncProperty(manyRows, any, async (pieces, [source, outputType]) => {
      const expression = parseExpression(source);
      const found = await answer(pieces, scan([{ name: 'v', expression, outputType }], null, ['v']));
      const expected = pieces.flatMap((each) => {
        const compute = compileExpression(expression, typesIn(each));
        return each.map((row) =>
          convert(
            compute((name) => cellOf(row, name)),
            outputType,
          ),
        );
      });
      assert.equal(
        found.map(([value]) => value),
        expected,
      );
    }),
    { numRuns: 200, includeErrorInReport: true },
  );
});

expressions('as filters keep the rows for which they are true', async () => {
  const either = fc.oneof(fc.tuple(arbitraryPieces, truth), fc.tuple(manyRows, condition));
  await fc.assert(
    fc.asyncProperty(either, fc.boolean(), async ([pieces, source], isNegated) => {
      const holds = { kind: 'expression', expression: parseExpression(source) } as const;
      const filter: Filter = isNegated ? { kind: 'not', filter: holds } : holds;
      const found = await answer(pieces, scan([], filter, ['__time', 'large']));
      const expected = pieces.flatMap((rows) => {
        const compute = compileExpression(holds.expression, typesIn(rows));
        return rows
          .filter((row) => toTruth(compute((name) => cellOf(row, name))) === !isNegated)
          .map((row) => [row['__time'] as Scalar, row['large'] as Scalar]);
      });
      assert.equal(found, expected);
    }),
    { numRuns: 120, includeErrorInReport: true },
  );
});

/** An expression of single values for every combination of the values of a row, the last column's changing fastest. */
function eachCombination(source: string, row: Row, rows: readonly Row[]): Value[] {
  const expression = parseExpression(source);
  const lists: readonly string[] = [...columnsOfExpression(expression)].filter((name) => name === 'many');
  const typeOf = typesIn(rows);
  const compute = compileExpression(expression, (name) => (lists.includes(name) ? 'STRING' : typeOf(name)));
  let combinations: readonly Readonly<Record<string, Value>>[] = [{}];
  for (const name of lists) {
    const values = cellOf(row, name);
    combinations = combinations.flatMap((chosen) =>
      (isArrayValue(values) ? values : [values]).map((value) => ({ ...chosen, [name]: value })),
    );
  }
  return combinations.map((chosen) => compute((name) => (lists.includes(name) ? (chosen[name] ?? null) : cellOf(row, name))));
}

expressions('of each value of a multi-value column, beside other columns, are multi-value columns', async () => {
  const scalar = fc
    .tuple(text, fc.constantFrom("concat('', many)", 'many', 'upper(many)', "nvl(many, 'none')"), fc.constantFrom(...['concat', 'nvl']))
    .map(([other, each, name]) => `${name}(${each}, ${other})`)
    // Arrays of the column are another matter: an oracle of combinations knows single values only.
    .filter((source) => !/many.*many/.test(source));
  await fc.assert(
    fc.asyncProperty(arbitraryPieces, scalar, async (pieces, source) => {
      const expression = parseExpression(source);
      const found = await answer(pieces, scan([{ name: 'v', expression, outputType: 'STRING' }], null, ['v']));
      const expected = pieces.flatMap((rows) =>
        rows.map((row) => {
          const values = eachCombination(source, row, rows).map((value) => convert(value, 'STRING'));
          return values.length === 1 ? (values[0] ?? null) : values;
        }),
      );
      assert.equal(
        found.map(([value]) => value),
        expected,
      );
    }),
    { numRuns: 80, includeErrorInReport: true },
  );
});

const at = (index: number, row: Omit<Row, '__time'>): Row => ({ __time: BigInt(START + index), ...row });
const ROWS: readonly Row[] = [
  at(0, { text: 'x', plain: 'row1', many: ['t1', 't2', 't3'], small: 1n }),
  at(1, { text: 't3', plain: 'row2', many: ['t3', 't4', 't5'], small: 2n }),
  at(2, { text: 'x', plain: 'row3', many: ['t5', 't6', 't7'], small: 3n }),
  at(3, { text: null, plain: 'row4', many: [], small: 4n }),
];

/** The rows of the documentation's page on multi-value dimensions. */
const cases: readonly [source: string, outputType: ColumnType, cells: readonly FrameCell[]][] = [
  ['array_length(many)', 'LONG', [3n, 3n, 3n, null]],
  ['array_offset(many, 2)', 'STRING', ['t3', 't5', 't7', null]],
  ["array_offset_of(many, 't3')", 'LONG', [2n, 0n, null, null]],
  ["array_ordinal_of(many, 't3')", 'LONG', [3n, 1n, null, null]],
  ["array_to_string(many, ' ')", 'STRING', ['t1 t2 t3', 't3 t4 t5', 't5 t6 t7', null]],
  ["array_contains(many, 't3')", 'LONG', [1n, 1n, 0n, null]],
  ["array_overlap(many, ['t1', 't3'])", 'LONG', [1n, 1n, 0n, null]],
  ['array_contains(many, text)', 'LONG', [0n, 1n, 0n, null]],
  ['array_append(many, plain)', 'STRING', [['t1', 't2', 't3', 'row1'], ['t3', 't4', 't5', 'row2'], ['t5', 't6', 't7', 'row3'], null]],
  [
    'array_concat(many, many)',
    'STRING',
    [['t1', 't2', 't3', 't1', 't2', 't3'], ['t3', 't4', 't5', 't3', 't4', 't5'], ['t5', 't6', 't7', 't5', 't6', 't7'], null],
  ],
  ['array_slice(many, 1, 3)', 'STRING', [['t2', 't3'], ['t4', 't5'], ['t6', 't7'], null]],
  ["mv_filter_only(many, ['t1', 't3'])", 'STRING', [['t1', 't3'], 't3', null, null]],
  ["mv_filter_none(many, ['t1', 't3'])", 'STRING', ['t2', ['t4', 't5'], ['t5', 't6', 't7'], null]],
  ["mv_filter_prefix(many, 't3')", 'STRING', ['t3', 't3', null, null]],
  ["mv_filter_regex(many, '[57]$')", 'STRING', [null, 't5', ['t5', 't7'], null]],
  ['concat(many, many)', 'STRING', [['t1t1', 't2t2', 't3t3'], ['t3t3', 't4t4', 't5t5'], ['t5t5', 't6t6', 't7t7'], null]],
  ["nvl(many, 'none')", 'STRING', [['t1', 't2', 't3'], ['t3', 't4', 't5'], ['t5', 't6', 't7'], 'none']],
  [
    'array_to_mv(array(plain, small))',
    'STRING',
    [
      ['row1', '1'],
      ['row2', '2'],
      ['row3', '3'],
      ['row4', '4'],
    ],
  ],
  [
    'array(plain, small)',
    'STRING',
    [
      ['row1', '1'],
      ['row2', '2'],
      ['row3', '3'],
      ['row4', '4'],
    ],
  ],
  ['concat(plain, array_to_mv(filter((x) -> x > 1, array(1, small))))', 'STRING', [null, 'row22', 'row33', 'row44']],
  ['array_length(upper(many))', 'LONG', [3n, 3n, 3n, 1n]],
  ["array_to_string(map((x) -> concat(x, '!', many), ['a']), ',')", 'STRING', ['a!t1,a!t2,a!t3', 'a!t3,a!t4,a!t5', 'a!t5,a!t6,a!t7', null]],
];
for (const [source, outputType, cells] of cases)
  expressions(`${source} as ${outputType}`, async () => {
    const found = await answer([ROWS], scan([{ name: 'v', expression: parseExpression(source), outputType }], null, ['v']));
    assert.equal(
      found.map(([value]) => value),
      cells,
    );
  });

expressions('arrays of values are arrays where they are asked for', async () => {
  const expression = parseExpression('mv_to_array(many)');
  const found = await answer([ROWS], scan([{ name: 'v', expression, outputType: null }], null, ['v']));
  const expected = ROWS.map((row) => textOfValue(cellOf(row, 'many'), 'ARRAY<STRING>'));
  assert.equal(
    found.map(([value]) => value),
    expected,
  );
});

const conditions: readonly [source: string, kept: readonly string[]][] = [
  ['many == text', ['row2']],
  ["array_contains(many, ['t3', 't4'])", ['row2']],
  ["array_contains(many, 't5') && many == 't7'", ['row3']],
  ["many > 't6'", ['row3']],
  ["!(many == 't1')", ['row1', 'row2', 'row3']],
  ['isnull(many)', ['row4']],
  ["concat(many, text) == 't5x'", ['row3']],
];
for (const [source, kept] of conditions)
  expressions(`${source} as a filter`, async () => {
    const found = await answer([ROWS], scan([], { kind: 'expression', expression: parseExpression(source) }, ['plain']));
    assert.equal(found.flat(), kept);
  });

expressions('a number of each value is that of the only value of a row', async () => {
  const rows = [
    at(0, { text: null, plain: 'one', many: ['abc'], small: 1n }),
    at(1, { text: null, plain: 'two', many: ['a', 'b'], small: 2n }),
    at(2, { text: null, plain: 'none', many: [], small: 3n }),
  ];
  const found = await answer([rows], scan([{ name: 'v', expression: parseExpression('strlen(many)'), outputType: 'LONG' }], null, ['v']));
  assert.equal(found.flat(), [3n, null, null]);
});

expressions('a fold that would take hours ends when its time is over', async () => {
  const many = 'array_slice([], 0, 99999)';
  const expression = parseExpression(`cartesian_fold((x, y, acc) -> acc + 1, ${many}, ${many}, small)`);
  const plan = scan([{ name: 'v', expression, outputType: 'LONG' }], null, ['v']);
  const { view, release } = uploadFrame(frameOf(ROWS), memory);
  try {
    const frames = engine.runViews(plan, [view], { ...options, deadlineMs: Date.now() + 100 }, never);
    await frames[Symbol.asyncIterator]().next();
    assert.unreachable('it ended');
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'timeout', String(error));
  } finally {
    release();
  }
});

expressions('a printed expression computes the same', () => {
  fc.assert(
    fc.property(fc.oneof(number, text, truth, array), (source) => {
      const expression = parseExpression(source);
      assert.equal(parseExpression(printExpression(expression)), expression);
    }),
    { numRuns: 300 },
  );
});

expressions.run();
