import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { expressionType } from '../../src/expression/expression-type.js';
import { foldCase } from '../../src/expression/fold-case.js';
import { parseExpression } from '../../src/expression/parse.js';
import { convert, toTruth, type Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame, type FrameCell, type FrameColumn } from '../../src/model/frame.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import type { ColumnType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';

/* Functions of texts by kernels, against the expression language row by row. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null };
const never = new AbortController().signal;

type Text = string | null;
interface Row {
  readonly a: Text;
  readonly b: Text;
  readonly n: bigint | null;
  readonly d: number | null;
}

const LONG_TEXT = 'The quick brown fox jumps over the lazy dog; '.repeat(9);
const ENDS = ['', '/', ' ', 'x', 'ß', 'İ', '\uffee', '𐐷', '日本'];
/** Words that are numbers, or almost. */
const WORDS = ['true', 'FALSE', 'NaN', 'Infinity', '-infinity', 'nano', 'info', 'tr', 'yes', '1e3', '0x1p3', ' 7'] as const;
const PARTS = ['', 'a', 'ab', 'B', 'é', 'ſ', '日', '😀', ' ', '0', 'or', 'Order ', '9007199254740993', LONG_TEXT] as const;
const text = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.constantFrom(...PARTS, ...ENDS), { maxLength: 5 }).map((parts) => parts.join('')) },
  fc.constantFrom(...WORDS),
);
const plain = fc
  .array(fc.constantFrom('', 'a', 'ab', 'B', ' ', '0', 'or', 'zZ', '9007199254740993', LONG_TEXT), { maxLength: 5 })
  .map((parts) => parts.join(''));
const double = fc.oneof(
  fc.double(),
  fc.integer({ min: -100_000_000, max: 100_000_000 }).map((digits) => digits / 100),
  fc.constantFrom(0, -0, Number.NaN, Infinity, -Infinity, 5e-324, 1e7, 0.001, 1e23),
);
const rowOf = (of: fc.Arbitrary<string>): fc.Arbitrary<Row> =>
  fc.record({
    a: fc.option(of, { nil: null, freq: 7 }),
    b: fc.option(of, { nil: null, freq: 7 }),
    n: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: null, freq: 7 }),
    d: fc.option(double, { nil: null, freq: 7 }),
  });
/** All of ASCII, or not; enough of them that functions are not computed row by row. */
const rows = fc.constantFrom(text, plain).chain((of) => fc.array(rowOf(of), { minLength: 64, maxLength: 130 }));

const OF_TEXTS = [
  'upper(A)',
  'lower(A)',
  'reverse(A)',
  'trim(A)',
  "ltrim(A, ' aO')",
  "rtrim(A, ' 0r')",
  'substring(A, 0, 3)',
  'substring(A, 2, -1)',
  'substring(A, 1)',
  'left(A, 3)',
  'left(A, 0)',
  'right(A, 2)',
  "substring(A, strpos(A, 'or') + 2, 3)",
  "substring(A, 0, strpos(A, '/'))",
  'substring(A, n, 3)',
  'substring(A, n % 7, n % 5 - 2)',
  "substring(A, if(strpos(A, ' ') < 0, 0, strpos(A, ' ')))",
  'left(A, strlen(B) - 1)',
  'left(A, n % 6)',
  'left(A, -1)',
  'right(A, 3000000000)',
  'substring(A, -2, n % 3)',
  "substring(A, strlen(left(concat(A, '😀'), 3)))",
  'right(A, strlen(A) - 2)',
  'right(B, n)',
  "substring(concat(A, '/', B), strlen(A) + 1)",
  'least(A, B)',
  'greatest(A, B)',
  "greatest(A, 'or', upper(B))",
  "least('or', A, null)",
  "upper(least(A, concat(B, 'a')))",
  "concat(A, '/')",
  "concat('日', A, 'é', A)",
  "concat(A, '/', B)",
  'concat(A, n)',
  "concat(A, cast(n, 'STRING'))",
  "concat(cast(n, 'STRING'), '-', B)",
  "cast(d, 'STRING')",
  "concat(cast(d / 3, 'STRING'), A)",
  "cast(nvl(n * 0.5, d), 'STRING')",
  "if(d > 1, cast(cast(n, 'DOUBLE'), 'STRING'), B)",
  "concat(timestamp_format(n, 'dd/MM/yyyy HHmm'), A)",
  'timestamp_format(n % 100000000000000)',
  "replace(A, 'a', 'bcd')",
  "replace(A, 'or', '')",
  "replace(A, '日', 'ab')",
  "replace(A, '', 'x')",
  "lpad(A, 7, '-+')",
  "rpad(A, 4, '')",
  "rpad(A, 0, 'a b')",
  "lpad(A, 0, '')",
  "lpad(A, 12, 'é')",
  'nvl(A, B)',
  "nvl(A, 'none')",
  "coalesce(A, B, 'none')",
  "if(n > 0, A, 'none')",
  'if(A < B, A, B)',
  "case_searched(A == B, 'same', like(A, '%or%'), A, n > 5, B)",
  "case_simple(A, 'a', 'one', B, 'both', A)",
  "if(A == 'a', null, B)",
  "if(!(A == 'a'), 'x', 'q')",
  "case_searched(A >= 'a' && A < 'b', upper(A), 'none')",
  "regexp_extract(A, '[a-z]+')",
  "regexp_replace(A, '^[a-z]*(.)[^/]*$', '$1')",
  "regexp_replace(A, '^(a|or)?(.*)$', '$1')",
  "regexp_replace(A, '^([a-z]+){1}[ /]*', '$1')",
  "regexp_extract(A, '(?:[^ ]* ){1}(.{1})', 1)",
  'repeat(A, 3)',
  'repeat(A, 0)',
  "format('%s: %s%%', A, B)",
  "format('%s', A)",
  "format('%d and %s, %s', n, A, n)",
  "format('%5s', A)",
  "array_offset(string_to_array(A, 'o'), 0)",
  "array_ordinal(string_to_array(A, ' '), 2)",
  "array_offset(string_to_array(concat(A, '||', B, '|'), '[|]'), 2)",
  "array_offset(string_to_array(A, '\\\\.'), 1)",
  // No kernel computes these of entries, or for them alone.
  "cast(strlen(A), 'STRING')",
  "cast(strlen(A) + 1, 'STRING')",
  "concat(cast(strlen(A), 'STRING'), A)",
  "case_searched(regexp_like(A, '^a'), A)",
  "if(regexp_like(A, 'o'), upper(A), 'x')",
  "nvl(if(strlen(A) > 3, null, A), 'long')",
];
const NESTED = [
  'A',
  'upper(A)',
  'left(A, 4)',
  "concat(A, 'or')",
  'nvl(A, B)',
  'reverse(substring(A, 1, 6))',
  "lpad(trim(A), 5, '.')",
  "replace(upper(A), 'B', 'or')",
];
const NUMBERS = [
  'strlen(A)',
  "strpos(A, 'or')",
  "strpos(A, '')",
  "strpos(A, '日')",
  "strpos(A, 'or') + 1",
  'strpos(A, B)',
  "strpos(A, 'a', n % 5)",
  'strpos(A, B, 3000000000)',
  'strpos(A, B, -3000000000)',
  "strpos(A, 'ab', strpos(A, 'a') + 1)",
  "strpos('Order ab or', A, n)",
  'strlen(substring(A, strpos(A, B), 2))',
  'strlen(A) * 2 - strlen(B)',
  "cast(A, 'LONG')",
  "cast(A, 'DOUBLE')",
  'timestamp_parse(A)',
  'timestamp_parse(timestamp_format(n % 100000000000000))',
  "timestamp_parse(concat(timestamp_format(n % 100000000000000, 'yyyy-MM-dd HH:mm'), left(B, 1)))",
  "timestamp_parse(timestamp_format(n % 100000000000000, 'ddMMyyyy HHmmss.SSS'), 'ddMMyyyy HHmmss.SSS')",
  "timestamp_parse(timestamp_format(n % 100000000000000, 'yyyy-M-d'), 'yyyy-MM-dd')",
  "timestamp_parse(concat('at ', timestamp_format(n % 100000000000000, 'dd/MM/yyyy')), '\\'at\\' dd/MM/yyyy')",
];
const CONDITIONS = [
  "scalar_in_array(A, ['a', 'ab', ''])",
  "scalar_in_array(A, ['a', null])",
  "scalar_in_array(substring(A, 0, 1), ['a', 'o', ''])",
  "scalar_in_array(lower(A), ['a', 'ab', null])",
  "scalar_in_array(concat(A, B), ['ab', 'aab', 'x'])",
  'A == B',
  'A != B',
  'A < B',
  'A <= B',
  'A > B',
  'A >= B',
  "A == 'ab'",
  'contains_string(A, B)',
  'contains_string(A, left(A, 2))',
  'isnull(concat(A, B))',
  "notnull(substring(A, strpos(A, 'or')))",
  "substring(A, 0, strpos(A, ' ')) == 'Order'",
  "A > 'Order '",
  "'or' <= A",
  "like(A, '%or%')",
  "like(A, 'a_%')",
  "like(A, '%日_')",
  "contains_string(A, 'or')",
  "contains_string(A, '%')",
  "icontains_string(A, 'OR')",
  "icontains_string(A, 'ıS')",
  "icontains_string(A, 'kI')",
  "icontains_string(A, '')",
  'icontains_string(A, B)',
  'A < upper(B)',
  '!(A == B)',
  'A == B || strlen(A) > 3',
];
const within = (expressions: readonly string[]): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...expressions), fc.constantFrom(...NESTED)).map(([outer, inner]) => place(outer, inner));

function place(outer: string, inner: string): string {
  return outer.replaceAll(/\bA\b/g, () => inner.replaceAll('A', 'a').replaceAll('B', 'b')).replaceAll(/\bB\b/g, 'b');
}

const TYPES: Readonly<Record<string, ColumnType>> = { a: 'STRING', b: 'STRING', n: 'LONG', d: 'DOUBLE' };
const typeOf = (name: string): ColumnType | undefined => TYPES[name];

function frameOf(all: readonly Row[]): Frame {
  const strings = (name: 'a' | 'b'): FrameColumn => {
    const dictionary = [...new Set(all.map((row) => row[name]))];
    return { kind: 'string', name, ids: Uint32Array.from(all, (row) => dictionary.indexOf(row[name])), dictionary };
  };
  const nullsOf = (name: 'n' | 'd'): Uint32Array => {
    const nulls = new Uint32Array(Math.ceil(all.length / 64) * 2);
    all.forEach((each, row) => {
      if (each[name] === null) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
    });
    return nulls;
  };
  const whole = (name: string, values: readonly bigint[], bits: Uint32Array | null): FrameColumn => ({
    kind: 'long',
    name,
    values: BigInt64Array.from(values),
    nulls: bits,
  });
  const numbers = all.map(({ n }) => n ?? 0n);
  const time = all.map((_, row) => BigInt(row));
  return {
    rowCount: all.length,
    columns: [
      whole('__time', time, null),
      whole('m', time, null),
      strings('a'),
      strings('b'),
      whole('n', numbers, nullsOf('n')),
      { kind: 'double', name: 'd', type: 'DOUBLE', values: Float64Array.from(all, ({ d }) => d ?? 0), nulls: nullsOf('d') },
    ],
  };
}

async function run(all: readonly Row[], kernels: string, plan: ScanPlan | GroupPlan): Promise<FrameCell[][]> {
  const engine = createEngine({ memory, kernels, threads: 0 });
  const placed = uploadFrame(frameOf(all), memory);
  const found: FrameCell[][] = [];
  try {
    for await (const frame of engine.runViews(plan, [placed.view], options, never))
      for (let row = 0; row < frame.rowCount; row++) found.push(frame.columns.map((column) => cellAt(column, row)));
  } finally {
    placed.release();
  }
  assert.is(memory.allocatedBytes, 0);
  return found;
}

/** Values of the expression for each row, by its definition. */
function expected(all: readonly Row[], expression: string): Value[] {
  const tree = parseExpression(expression);
  const compute = compileExpression(tree, typeOf);
  const type = expressionType(tree, typeOf);
  return all.map((row) =>
    convert(
      compute((name) => row[name as keyof Row]),
      type,
    ),
  );
}

function virtual(expression: string) {
  return { name: 'v', expression: parseExpression(expression), outputType: null };
}

/** The value as an answer holds it: half of a surrogate pair has no UTF-8. */
const written = (value: unknown): unknown => (typeof value === 'string' ? Buffer.from(value).toString() : value);

const scan: ScanPlan = {
  operator: 'scan',
  dataSource: '',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  columns: ['v'],
  timeOrder: null,
  offset: 0,
  limit: null,
  post: [],
};

const functions = suite('functions of texts');

functions('give what they give row by row', async () => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      within([...OF_TEXTS, ...NUMBERS, ...CONDITIONS]),
      fc.constantFrom('simd', 'scalar'),
      async (all, expression, kernels) => {
        const found = await run(all, kernels, { ...scan, virtualColumns: [virtual(expression)] });
        assert.equal(
          found.map(([cell]) => written(cell)),
          expected(all, expression).map(written),
          expression,
        );
      },
    ),
    { numRuns: caseCount(150) },
  );
});

functions('as conditions keep the rows for which they are true', async () => {
  await fc.assert(
    fc.asyncProperty(rows, within(CONDITIONS), fc.boolean(), async (all, expression, isNegated) => {
      const condition: Filter = { kind: 'expression', expression: parseExpression(expression) };
      const filter: Filter = isNegated ? { kind: 'not', filter: condition } : condition;
      const found = await run(all, 'simd', { ...scan, filter, columns: ['__time'] });
      const keeps = expected(all, expression).flatMap((value, row) => (toTruth(value) === !isNegated ? [BigInt(row)] : []));
      assert.equal(
        found.map(([cell]) => cell),
        keeps,
        expression,
      );
    }),
    { numRuns: caseCount(80) },
  );
});

functions('are computed for the rows that pass a filter', async () => {
  await fc.assert(
    fc.asyncProperty(rows, within([...NUMBERS, ...CONDITIONS]), fc.integer({ min: 0, max: 130 }), async (all, expression, first) => {
      const selected = all.flatMap((_, row) => (row >= first && row % 3 === 0 ? [row] : []));
      const plan: GroupPlan = {
        operator: 'group',
        dataSource: '',
        intervals: [ETERNITY],
        filter: { kind: 'expression', expression: parseExpression(`m >= ${first} && m % 3 == 0`) },
        virtualColumns: [virtual(expression)],
        keys: [],
        aggregators: [{ kind: 'sum', name: 's', type: 'LONG', column: 'v', filter: null }],
        emptyGroup: true,
        post: [],
      };
      const found = await run(all, 'simd', plan);
      const values = expected(all, expression);
      const longOf = (value: unknown): bigint => BigInt((value ?? 0) as number | bigint);
      const sum = selected.reduce((total, row) => BigInt.asIntN(64, total + longOf(values[row])), 0n);
      assert.is(longOf(found[0]?.[0]), sum, expression);
    }),
    { numRuns: caseCount(80) },
  );
});

functions('group rows, and have extremes', async () => {
  await fc.assert(
    fc.asyncProperty(rows, within(OF_TEXTS), async (all, expression) => {
      const plan: GroupPlan = {
        operator: 'group',
        dataSource: '',
        intervals: [ETERNITY],
        filter: null,
        virtualColumns: [virtual(expression)],
        keys: [{ kind: 'column', name: 'v', column: 'v', type: null }],
        aggregators: (['min', 'max'] as const).map((type) => ({
          kind: 'state',
          name: type,
          filter: null,
          aggregateState: { type, valueType: 'STRING' },
          columns: ['v'],
          input: 'values',
          output: 'value',
          type: 'STRING',
        })),
        emptyGroup: false,
        post: [],
      };
      const found = await run(all, 'simd', plan);
      const distinct = [...new Set(expected(all, expression).map(written))];
      const order = (cells: readonly unknown[]): string => JSON.stringify(cells);
      assert.equal(
        found.map((cells) => order(cells.map(written))).sort(),
        distinct.map((value) => order([value, value, value])).sort(),
        expression,
      );
    }),
    { numRuns: caseCount(80) },
  );
});

functions('letters of all alphabets are found without case as they fold', async () => {
  const letters = Array.from({ length: 0x10000 }, (_, unit) => unit).filter((unit) => unit < 0xd800 || unit > 0xdfff);
  const all = letters.map((unit): Row => ({ a: `-${String.fromCharCode(unit)}`, b: null, n: null, d: null }));
  for (const wanted of ['i', 'K', '-s', 'z', '-', 'é']) {
    const expression = `icontains_string(a, '${wanted}')`;
    const found = await run(all, 'simd', {
      ...scan,
      filter: { kind: 'expression', expression: parseExpression(expression) },
      columns: ['__time'],
    });
    const keeps = all.flatMap(({ a }, row) => (foldCase(a ?? '').includes(foldCase(wanted)) ? [BigInt(row)] : []));
    assert.equal(
      found.map(([cell]) => cell),
      keeps,
      expression,
    );
  }
});

functions.run();
