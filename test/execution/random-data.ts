import fc from 'fast-check';
import { ETERNITY } from '../../src/base/instant.js';
import type { Scalar, Value } from '../../src/expression/value.js';
import type { Aggregator, VirtualColumn } from '../../src/model/aggregator.js';
import type { Expression } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import type { Frame, FrameColumn } from '../../src/model/frame.js';
import type { Granularity } from '../../src/model/granularity.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { ColumnType } from '../../src/model/schema.js';
import type { Cell, Row } from './oracle.js';

/** Small random tables and plans over them. Doubles are multiples of 1/4, so that sums are exact in any order. */
export const START = Date.UTC(2024, 2, 30, 22);

const TEXTS = ['', 'a', 'b', 'ab', 'Zebra', 'é', '10', '9', '2.5', 'true', 'moon river', 'a_b'];

const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null, freq: 5 });

const arbitraryRow: fc.Arbitrary<Row> = fc.record({
  __time: fc.integer({ min: 0, max: 40 * 3_600_000 }).map((offset) => BigInt(START + offset)),
  text: nullable(fc.constantFrom(...TEXTS)),
  plain: fc.constantFrom('x', 'y', 'z'),
  many: fc.array(fc.constantFrom(...TEXTS), { maxLength: 3 }) as fc.Arbitrary<Cell>,
  small: fc.bigInt({ min: -3n, max: 200n }),
  holes: nullable(fc.bigInt({ min: -40_000n, max: 40_000n })),
  large: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 3n })),
  double: nullable(fc.integer({ min: -400, max: 400 }).map((quarters) => quarters / 4)),
});

export const COLUMNS = ['text', 'plain', 'many', 'small', 'holes', 'large', 'double'] as const;

/** Rows in several pieces, each of which may lack a column. */
export const arbitraryPieces: fc.Arbitrary<Row[][]> = fc.array(
  fc
    .tuple(fc.array(arbitraryRow, { minLength: 1, maxLength: 60 }), fc.option(fc.constantFrom(...COLUMNS), { nil: undefined, freq: 3 }))
    .map(([rows, missing]) =>
      rows
        .map((row): Row => (missing === undefined ? row : { ...row, [missing]: null }))
        .map((row) => (missing === 'many' ? { ...row, many: [] } : row))
        .sort((a, b) => Number(a['__time']) - Number(b['__time'])),
    ),
  { minLength: 1, maxLength: 4 },
);

/** A piece as a frame; columns that are null in every row are left out, as a segment would. */
export function frameOf(rows: readonly Row[]): Frame {
  const columns: FrameColumn[] = [
    { kind: 'long', name: '__time', values: BigInt64Array.from(rows, (row) => row['__time'] as bigint), nulls: null },
  ];
  for (const name of COLUMNS) {
    const cells = rows.map((row) => row[name] ?? null);
    if (cells.every((each) => each === null || (Array.isArray(each) && each.length === 0))) continue;
    columns.push(frameColumn(name, cells));
  }
  return { rowCount: rows.length, columns };
}

function frameColumn(name: string, cells: readonly Cell[]): FrameColumn {
  const nulls = cells.includes(null) ? new Uint32Array(Math.ceil(cells.length / 64) * 2) : null;
  cells.forEach((each, row) => {
    if (each === null && nulls !== null) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
  });
  if (name === 'double')
    return {
      kind: 'double',
      name,
      type: 'DOUBLE',
      values: Float64Array.from(cells, (each) => (typeof each === 'number' ? each : 0)),
      nulls,
    };
  if (name !== 'text' && name !== 'plain' && name !== 'many')
    return { kind: 'long', name, values: BigInt64Array.from(cells, (each) => (typeof each === 'bigint' ? each : 0n)), nulls };
  const dictionary: (string | null)[] = [null, ...TEXTS, 'x', 'y', 'z'];
  const idOf = (value: Value): number => {
    const id = dictionary.indexOf(value as string | null);
    return id < 0 ? dictionary.push(value as string) - 1 : id;
  };
  if (name !== 'many') return { kind: 'string', name, ids: Uint32Array.from(cells, (each) => idOf(each as Value)), dictionary };
  const lists = cells.map((each) => (Array.isArray(each) ? (each as readonly Value[]) : []));
  const offsets = new Uint32Array(lists.length + 1);
  lists.forEach((list, row) => {
    offsets[row + 1] = (offsets[row] ?? 0) + list.length;
  });
  return { kind: 'multi', name, offsets, ids: Uint32Array.from(lists.flat(), idOf), dictionary };
}

const column = (name: string): Expression => ({ kind: 'column', name });
const call = (name: string, ...inputs: Expression[]): Expression => ({ kind: 'call', function: name, arguments: inputs });
const long = (value: bigint): Expression => ({ kind: 'literal', type: 'LONG', value });
const text = (value: string): Expression => ({ kind: 'literal', type: 'STRING', value });

export const VIRTUAL_COLUMNS: readonly VirtualColumn[] = [
  { name: 'renamed', expression: column('text'), outputType: null },
  { name: 'linear', expression: call('-', call('*', column('small'), long(3n)), call('+', column('large'), long(7n))), outputType: 'LONG' },
  { name: 'half', expression: call('/', column('double'), { kind: 'literal', type: 'DOUBLE', value: 2 }), outputType: 'DOUBLE' },
  { name: 'mixed', expression: call('+', column('holes'), column('double')), outputType: 'DOUBLE' },
  { name: 'upper', expression: call('upper', column('text')), outputType: 'STRING' },
  { name: 'length', expression: call('strlen', column('text')), outputType: 'LONG' },
  { name: 'joined', expression: call('concat', column('text'), column('plain')), outputType: 'STRING' },
  { name: 'hour', expression: call('timestamp_extract', column('__time'), text('HOUR')), outputType: 'LONG' },
  { name: 'rest', expression: call('-', call('%', column('holes'), long(7n)), column('small')), outputType: 'LONG' },
  {
    name: 'chosen',
    expression: call(
      'case_searched',
      call('>', column('double'), long(5n)),
      column('small'),
      call('==', column('text'), text('a')),
      long(-3n),
    ),
    outputType: null,
  },
  {
    name: 'day',
    expression: call('timestamp_floor', column('__time'), text('P1D'), { kind: 'literal', type: null, value: null }, text('Europe/Berlin')),
    outputType: 'LONG',
  },
];

const VALUES: fc.Arbitrary<Exclude<Scalar, null>> = fc.oneof(
  fc.constantFrom(...TEXTS, 'x'),
  fc.bigInt({ min: -5n, max: 210n }),
  fc.integer({ min: -40, max: 40 }).map((n) => n / 4),
);
const TEXT_COLUMNS = ['text', 'plain', 'many', 'renamed', 'upper', 'joined', 'missing'];
const NUMBER_COLUMNS = ['small', 'holes', 'large', 'double', 'linear', 'mixed', 'length', 'hour', 'rest', 'chosen', '__time'];

const comparison: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({ kind: fc.constant('null' as const), column: fc.constantFrom(...TEXT_COLUMNS, ...NUMBER_COLUMNS) }),
  fc.record({
    kind: fc.constant('equals' as const),
    column: fc.constantFrom(...TEXT_COLUMNS),
    type: fc.constant('STRING' as const),
    value: fc.constantFrom(...TEXTS, 'x'),
  }),
  fc.record({
    kind: fc.constant('equals' as const),
    column: fc.constantFrom('text', ...NUMBER_COLUMNS),
    type: fc.constantFrom('LONG' as const, 'DOUBLE' as const),
    value: VALUES.filter((value) => typeof value !== 'string'),
  }),
  fc.record({
    kind: fc.constant('in' as const),
    column: fc.constantFrom(...TEXT_COLUMNS),
    type: fc.constant('STRING' as const),
    values: fc.array(nullable(fc.constantFrom(...TEXTS, 'y')), { maxLength: 5 }),
  }),
  fc.record({
    kind: fc.constant('in' as const),
    column: fc.constantFrom(...NUMBER_COLUMNS),
    type: fc.constant('LONG' as const),
    values: fc.array(nullable(fc.bigInt({ min: -5n, max: 210n })), { maxLength: 5 }),
  }),
  fc.record({
    kind: fc.constant('range' as const),
    column: fc.constantFrom(...TEXT_COLUMNS, 'small'),
    type: fc.constant('STRING' as const),
    ordering: fc.constant('lexicographic' as const),
    lower: nullable(fc.constantFrom(...TEXTS)),
    upper: nullable(fc.constantFrom(...TEXTS)),
    lowerStrict: fc.boolean(),
    upperStrict: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('range' as const),
    column: fc.constantFrom('text', ...NUMBER_COLUMNS),
    type: fc.constantFrom('LONG' as const, 'DOUBLE' as const),
    ordering: fc.constant('numeric' as const),
    lower: nullable(VALUES.filter((value) => typeof value !== 'string')),
    upper: nullable(VALUES.filter((value) => typeof value !== 'string')),
    lowerStrict: fc.boolean(),
    upperStrict: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('like' as const),
    column: fc.constantFrom(...TEXT_COLUMNS),
    pattern: fc.constantFrom('%', 'a%', '%b', '_', '%o%', 'a_b', '%é'),
    escape: fc.constant(null),
  }),
  fc
    .constantFrom('==', '!=', '<', '<=', '>', '>=')
    .map((operator): Filter => ({ kind: 'expression', expression: call(operator, column('small'), column('holes')) })),
  fc
    .constantFrom('==', '!=', '<', '>=')
    .map((operator): Filter => ({ kind: 'expression', expression: call(operator, call('*', column('small'), long(2n)), long(50n)) })),
  fc.constantFrom('&&', '||').map(
    (operator): Filter => ({
      kind: 'expression',
      expression: call('!', call(operator, call('<', column('double'), column('holes')), call('==', column('text'), column('plain')))),
    }),
  ),
  fc.constant<Filter>({ kind: 'expression', expression: column('length') }),
);

const { filter: arbitraryFilter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    comparison,
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), filters: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('not' as const), filter: tie('filter') }),
  ),
}));

export { arbitraryFilter };

const arbitraryAggregator: fc.Arbitrary<Aggregator> = fc
  .tuple(
    fc.oneof(
      fc.constant({ kind: 'count' as const }),
      fc.record({
        kind: fc.constantFrom('sum' as const, 'min' as const, 'max' as const),
        column: fc.constantFrom('small', 'holes', 'large', 'linear', 'length', 'missing', '__time', 'hour'),
        type: fc.constant('LONG' as const),
      }),
      fc.record({
        kind: fc.constantFrom('sum' as const, 'min' as const, 'max' as const),
        column: fc.constantFrom('small', 'holes', 'double', 'half', 'mixed'),
        type: fc.constantFrom('DOUBLE' as const, 'FLOAT' as const),
      }),
      fc.record({
        kind: fc.constant('distinct' as const),
        column: fc.constantFrom('text', 'plain', 'many', 'small', 'large', 'double', 'upper', 'joined', 'hour', 'missing', 'renamed'),
      }),
      fc
        .record({
          type: fc.constantFrom('first' as const, 'last' as const),
          source: fc.constantFrom<readonly [string, ColumnType]>(
            ['text', 'STRING'],
            ['upper', 'STRING'],
            ['missing', 'STRING'],
            ['small', 'LONG'],
            ['holes', 'LONG'],
            ['large', 'LONG'],
            ['linear', 'LONG'],
            ['double', 'DOUBLE'],
            ['half', 'FLOAT'],
            ['holes', 'DOUBLE'],
          ),
          time: fc.constantFrom(['__time'], ['small'], ['holes'], []),
        })
        .map(({ type, source: [column, valueType], time }) => ({
          kind: 'state' as const,
          aggregateState: { type, valueType, maxStringBytes: 1024 },
          columns: [column, ...time],
          input: 'values' as const,
          output: 'value' as const,
          type: valueType,
        })),
    ),
    fc.option(arbitraryFilter, { nil: null, freq: 2 }),
  )
  .map(([kind, filter]) => ({ name: '', filter, ...kind }));

const GRANULARITIES: readonly Granularity[] = [
  { kind: 'all' },
  { kind: 'none' },
  { kind: 'duration', durationMs: 7_000_000, origin: 12_345 },
  { kind: 'period', period: 'PT1H', timeZone: 'UTC', origin: null },
  { kind: 'period', period: 'P1D', timeZone: 'Europe/Berlin', origin: null },
  { kind: 'period', period: 'P1M', timeZone: 'UTC', origin: null },
];

const arbitraryKey = fc.oneof(
  fc.constantFrom(...GRANULARITIES).map((granularity) => ({ kind: 'time' as const, name: '', granularity })),
  fc.record({
    kind: fc.constant('column' as const),
    name: fc.constant(''),
    column: fc.constantFrom(
      'text',
      'plain',
      'many',
      'small',
      'holes',
      'large',
      'double',
      'renamed',
      'upper',
      'length',
      'joined',
      'hour',
      'day',
      'missing',
      'mixed',
      'rest',
      'chosen',
    ),
    type: fc.constant(null),
  }),
);

const arbitraryIntervals = fc.oneof(
  fc.constant([ETERNITY]),
  fc.array(fc.integer({ min: -3_600_000, max: 45 * 3_600_000 }), { minLength: 2, maxLength: 4 }).map((offsets) => {
    const sorted = [...new Set(offsets)].sort((a, b) => a - b).map((offset) => START + offset);
    const intervals = [];
    for (let at = 0; at + 1 < sorted.length; at += 2) intervals.push({ start: sorted[at] ?? 0, end: sorted[at + 1] ?? 0 });
    return intervals;
  }),
);

export const arbitraryGroupPlan: fc.Arbitrary<GroupPlan> = fc
  .record({
    filter: fc.option(arbitraryFilter, { nil: null, freq: 2 }),
    intervals: arbitraryIntervals,
    keys: fc.array(arbitraryKey, { maxLength: 3 }),
    aggregators: fc.array(arbitraryAggregator, { minLength: 1, maxLength: 4 }),
  })
  .map(({ filter, intervals, keys, aggregators }) => ({
    operator: 'group',
    dataSource: 'random',
    intervals,
    filter,
    virtualColumns: VIRTUAL_COLUMNS,
    post: [],
    keys: keys.map((key, index) => ({ ...key, name: `k${index}` })),
    aggregators: aggregators.map((aggregator, index) => ({ ...aggregator, name: `a${index}` })),
    emptyGroup: true,
  }));
