import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { expressionType } from '../../src/expression/expression-type.js';
import { parseExpression } from '../../src/expression/parse.js';
import { convert, toTruth, type Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import type { ColumnType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';

/** Functions of IPv4 addresses over blocks: as row by row, and as their numbers are. */
const network = suite('functions of addresses');

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const never = new AbortController().signal;

interface Row {
  readonly a: string | null;
  readonly b: string | null;
  readonly n: bigint | null;
}

const part = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 255 }).map(String) },
  { weight: 2, arbitrary: fc.constantFrom('0', '10', '99', '100', '255') },
  fc.constantFrom('', '00', '01', '256', '300', '1000', '-1', ' 1', 'a', '1é', '１', '😀'),
);
const address = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => parts.join('.'));
const text = fc.oneof(
  { weight: 8, arbitrary: address },
  { weight: 3, arbitrary: fc.array(part, { minLength: 3, maxLength: 5 }).map((parts) => parts.join('.')) },
  fc.constantFrom(
    '',
    '10.0.0.1 ',
    '10.0.0.0/8',
    '::1',
    '::ffff:10.0.0.1',
    'localhost',
    '0.0.0.0',
    '255.255.255.255',
    '1.2.3.4.',
    '٣.1.2.3',
  ),
);
const long = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }) },
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, -1n, 255n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 31n, 167_772_160n, 2n ** 63n - 1n),
);
const rows: fc.Arbitrary<Row[]> = fc.array(
  fc.record({ a: fc.option(text, { nil: null, freq: 9 }), b: fc.option(text, { nil: null }), n: fc.option(long, { nil: null, freq: 7 }) }),
  { minLength: 64, maxLength: 150 },
);

const SUBNETS = [
  '10.0.0.0/8',
  '0.0.0.0/0',
  '0.0.0.0/8',
  '255.255.255.255',
  '128.0.0.0/1',
  '77.128.0.0/9',
  '10.20.30.40/31',
  '10.20.30.40/32',
];
const CONDITIONS = [
  ...SUBNETS.flatMap((subnet) => [`ipv4_match(a, '${subnet}')`, `ipv4_match(n, '${subnet}')`]),
  "ipv4_match(concat(a, ''), '0.0.0.0/1') && ipv4_match(b, '0.0.0.0/2')",
  "!ipv4_match(if(n > 0, a, b), '0.0.0.0/1')",
  'isnull(ipv4_parse(a))',
  'ipv4_parse(a) > ipv4_parse(b)',
];
const EXPRESSIONS = [
  ...CONDITIONS,
  'ipv4_parse(a)',
  'ipv4_parse(n)',
  'ipv4_parse(n + 1)',
  'ipv4_parse(a) / 65536',
  'ipv4_parse(trim(a))',
  'ipv4_parse(if(n > 100, a, b))',
  'ipv4_stringify(n)',
  'ipv4_stringify(a)',
  'ipv4_stringify(ipv4_parse(a) + 1)',
  'ipv4_stringify(bitwiseAnd(ipv4_parse(a), 4294901760))',
  "concat('to ', ipv4_stringify(ipv4_parse(b)), ipv4_stringify(a))",
  'nvl(ipv4_stringify(n), a)',
  'strlen(ipv4_stringify(n % 300))',
  'ipv4_parse(a) - ipv4_parse(b)',
  "ipv4_match(a, '128.0.0.0/1') + ipv4_match(n, '128.0.0.0/1')",
  'ipv4_parse(d)',
  'ipv4_stringify(d)',
  "ipv4_match(d, '0.0.0.0/0')",
];

const TYPES: Readonly<Record<string, ColumnType>> = { a: 'STRING', b: 'STRING', n: 'LONG', d: 'DOUBLE' };
const typeOf = (name: string): ColumnType | undefined => TYPES[name];

function frameOf(all: readonly Row[]): Frame {
  const strings = (name: 'a' | 'b') => {
    const dictionary = [...new Set(all.map((row) => row[name]))];
    const places = new Map(dictionary.map((each, id) => [each, id]));
    return { kind: 'string', name, ids: Uint32Array.from(all, (row) => places.get(row[name]) ?? 0), dictionary } as const;
  };
  const nulls = new Uint32Array(Math.ceil(all.length / 64) * 2);
  for (const [row, { n }] of all.entries()) if (n === null) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
  return {
    rowCount: all.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(all, (_, row) => BigInt(row)), nulls: null },
      strings('a'),
      strings('b'),
      { kind: 'long', name: 'n', values: BigInt64Array.from(all, ({ n }) => n ?? 0n), nulls },
      { kind: 'double', name: 'd', type: 'DOUBLE', values: Float64Array.from(all, ({ n }) => Number(n ?? 0n)), nulls: null },
    ],
  };
}

async function run(all: readonly Row[], kernels: string, changes: Partial<ScanPlan>, profile = newProfile()): Promise<FrameCell[]> {
  const engine = createEngine({ memory, kernels, threads: 0 });
  const placed = uploadFrame(frameOf(all), memory);
  const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null, profile };
  const plan: ScanPlan = { ...SCAN, ...changes };
  const found: FrameCell[] = [];
  try {
    for await (const frame of engine.runViews(plan, [placed.view], options, never))
      for (let row = 0; row < frame.rowCount; row++) found.push(...frame.columns.map((column) => cellAt(column, row)));
  } finally {
    placed.release();
  }
  assert.is(memory.allocatedBytes, 0);
  return found;
}

const SCAN: ScanPlan = {
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

const virtual = (expression: string) => ({ virtualColumns: [{ name: 'v', expression: parseExpression(expression), outputType: null }] });

function rowByRow(all: readonly Row[], expression: string): Value[] {
  const tree = parseExpression(expression);
  const compute = compileExpression(tree, typeOf);
  const type = expressionType(tree, typeOf);
  const cells = (row: Row, name: string): Value => (name === 'd' ? Number(row.n ?? 0n) : (row[name as keyof Row] ?? null));
  return all.map((row) =>
    convert(
      compute((name) => cells(row, name)),
      type,
    ),
  );
}

network('give what they give row by row', () =>
  fc.assert(
    fc.asyncProperty(
      rows,
      fc.constantFrom(...EXPRESSIONS),
      fc.constantFrom('simd', 'scalar', 'reference'),
      async (all, expression, kernels) => assert.equal(await run(all, kernels, virtual(expression)), rowByRow(all, expression), expression),
    ),
    { numRuns: caseCount(150) },
  ),
);

network('as conditions keep the rows for which they are true', () =>
  fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(...CONDITIONS), async (all, expression) => {
      const filter = { kind: 'expression', expression: parseExpression(expression) } as const;
      const kept = rowByRow(all, expression).flatMap((value, row) => (toTruth(value) === true ? [BigInt(row)] : []));
      assert.equal(await run(all, 'simd', { filter, columns: ['__time'] }), kept, expression);
    }),
    { numRuns: caseCount(60) },
  ),
);

/** Numbers of addresses by arithmetic, of as many strings as rows, so that kernels read them and no row is computed by itself. */
network('of many addresses', async () => {
  const count = 20_000;
  const numbers = Array.from({ length: count }, (_, row) => BigInt((row * 2_654_435_761) % 4_294_967_296));
  const textOf = (n: bigint): string => [n / 16_777_216n, (n / 65_536n) % 256n, (n / 256n) % 256n, n % 256n].join('.');
  const all = numbers.map((n): Row => ({ a: textOf(n), b: null, n }));
  const profile = newProfile();
  assert.equal(await run(all, 'simd', virtual('ipv4_parse(a)'), profile), numbers);
  assert.equal(
    await run(all, 'simd', virtual('ipv4_stringify(n)'), profile),
    all.map(({ a }) => a),
  );
  const matched = numbers.map((n) => (n >= 77n * 2n ** 24n + 2n ** 23n && n < 78n * 2n ** 24n ? 1n : 0n));
  assert.equal(await run(all, 'simd', virtual("ipv4_match(a, '77.128.0.0/9')"), profile), matched);
  assert.is(profile.valuesByRow + profile.valuesByEntry, 0);
});

network('refuse what is no subnet', async () => {
  const all: Row[] = Array.from({ length: 100 }, (_, row) => ({ a: `10.0.0.${row}`, b: null, n: 1n }));
  for (const subnet of ["'10.0.0.0/33'", "'10.0.0'", 'b', '7', 'null'])
    for (const of of ['a', 'n'])
      try {
        await run(all, 'simd', virtual(`ipv4_match(${of}, ${subnet})`));
        assert.unreachable(`${subnet} was taken`);
      } catch (error) {
        assert.match(String(error), /the second argument is a constant subnet/);
      }
});

network.run();
