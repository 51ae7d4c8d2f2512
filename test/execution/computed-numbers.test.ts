import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import type { RunContext } from '../../src/execution/block/context.js';
import type { ResultColumn, ResultTable } from '../../src/execution/block/result-table.js';
import { typeOfResult, valueAt } from '../../src/execution/block/result-table.js';
import { computedNumbers } from '../../src/execution/post/computed-numbers.js';
import { rowsThatPass } from '../../src/execution/post/row-filter.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { convert, toTruth, type Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import { call, double, type Expression, long } from '../../src/model/expression.js';
import type { NumberType } from '../../src/model/schema.js';

/* Columns of numbers of result rows, computed by kernels: the same as row by row. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const check = (): void => undefined;
const context = {
  memory,
  kernels: instantiateKernels('simd', memory),
  check,
  computed: { valuesByRow: 0, valuesByEntry: 0 },
} as unknown as RunContext;
const test = suite('numbers of result rows');
test.after.each(() => assert.is(memory.allocatedBytes, 0, 'memory is given back'));

/** More than one piece of rows that are in kernel memory at a time. */
const ROWS = 140_000;
const LONGS = [null, 0n, 1n, -1n, 59n, 3_600_001n, -(2n ** 40n), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const DOUBLES = [null, 0, -0, 1.5, -2, 1e300, Infinity, -Infinity, Number.NaN];

const random = randomSource(7);
const drawn = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const longs = (name: string, from: readonly (bigint | null)[]): ResultColumn => {
  const cells = Array.from({ length: ROWS }, () => drawn(from));
  const nulls = from.includes(null) ? Uint8Array.from(cells, (cell) => Number(cell === null)) : null;
  return { kind: 'long', name, values: BigInt64Array.from(cells, (cell) => cell ?? 0n), nulls };
};
const doubles = (name: string): ResultColumn => {
  const cells = Array.from({ length: ROWS }, () => drawn(DOUBLES));
  return {
    ...{ kind: 'double', name, type: 'DOUBLE' },
    values: Float64Array.from(cells, (cell) => cell ?? 0),
    nulls: Uint8Array.from(cells, (cell) => Number(cell === null)),
  };
};
const TABLE: ResultTable = {
  rowCount: ROWS,
  keys: [],
  // Times of result rows are in no order.
  columns: [longs('__time', LONGS.slice(1)), longs('before', LONGS), longs('few', [0n, 1n, 2n, 3n]), doubles('x'), doubles('y')],
};
const column = (name: string): Expression => ({ kind: 'column', name });
const [time, before, few, x, y] = ['__time', 'before', 'few', 'x', 'y'].map(column) as [
  Expression,
  Expression,
  Expression,
  Expression,
  Expression,
];

const NUMBERS: readonly [name: string, type: NumberType, expression: Expression][] = [
  ['a new session', 'LONG', call('case_searched', call('>', call('-', time, before), long(3_600_000)), long(1), long(0))],
  ['a difference', 'LONG', call('-', time, before)],
  ['a product', 'LONG', call('*', before, few)],
  ['a choice with nulls', 'LONG', call('case_searched', call('==', few, long(1)), before)],
  ['the first that is known', 'LONG', call('nvl', before, few)],
  ['a comparison', 'LONG', call('>', x, y)],
  ['a condition', 'LONG', call('&&', call('>', time, long(0)), call('isnull', before))],
  [
    'a quotient',
    'DOUBLE',
    call(
      '/',
      call('*', x, double(100)),
      call('case_searched', call('==', y, long(0)), { kind: 'literal', type: 'DOUBLE', value: null }, y),
    ),
  ],
  ['a choice of doubles', 'DOUBLE', call('case_searched', call('<', x, double(0)), call('-', x), y)],
  ['a rounded difference', 'DOUBLE', call('round', call('*', x, double(12.345)), long(2))],
  ['a double to hundreds', 'DOUBLE', call('round', call('*', x, double(-7654.5)), long(-2))],
  ['a double of which more is left than there is', 'DOUBLE', call('round', y, long(-14))],
  ['a double cut behind the point', 'DOUBLE', call(':truncate', call('*', x, double(0.29)), double(2))],
  ['a double cut to thousands', 'DOUBLE', call(':truncate', call('*', y, double(98_765.4)), double(-3))],
  ['a long to tens', 'LONG', call('round', call('+', before, few), long(-1))],
  ['a long to the largest power', 'LONG', call('round', before, long(-18))],
  ['longs as doubles', 'DOUBLE', call('+', before, x)],
  ['an hour of no sorted times', 'LONG', call('timestamp_extract', time, { kind: 'literal', type: 'STRING', value: 'HOUR' })],
];

function rowByRow(expression: Expression): (row: number) => Value {
  const columns = new Map(TABLE.columns.map((each) => [each.name, each]));
  const evaluate = compileExpression(
    expression,
    (name) => {
      const found = columns.get(name);
      return found && typeOfResult(found);
    },
    check,
  );
  return (row) =>
    evaluate((name) => {
      const found = columns.get(name);
      return found === undefined ? null : valueAt(found, row);
    });
}

for (const [name, type, expression] of NUMBERS)
  test(name, () => {
    const found = computedNumbers(context, TABLE, { name: 'made', type, expression });
    assert.ok(found !== undefined, 'it is computed by kernels');
    const expected = rowByRow(expression);
    for (let row = 0; row < ROWS; row += row % 7 === 0 ? 1 : 3) {
      const value = expected(row);
      const [own, other] = [valueAt(found, row), value === null ? null : convert(value, type)];
      if (!Object.is(own, other)) assert.unreachable(`row ${row}: ${String(own)} instead of ${String(other)}`);
    }
  });

test('conditions keep the same rows', () => {
  const conditions = [
    call('>', call('-', time, before), long(3_600_000)),
    call('||', call('isnull', before), call('==', few, long(2))),
    call('!', call('<', call('+', few, before), long(60))),
  ];
  for (const expression of conditions) {
    const filter = { kind: 'not', filter: { kind: 'expression', expression } } as const;
    const truth = rowByRow(expression);
    const expected = Array.from({ length: ROWS }, (_, row) => row).filter((row) => toTruth(truth(row)) === false);
    assert.equal(Array.from(rowsThatPass(TABLE, filter, { check, context })), expected);
  }
});

test('texts and few rows are left to others', () => {
  const few2: ResultTable = { ...TABLE, rowCount: 100 };
  assert.is(computedNumbers(context, few2, { name: 'made', type: 'LONG', expression: call('-', time, before) }), undefined);
  const text: ResultColumn = { kind: 'string', name: 'text', ids: new Uint32Array(ROWS), text: () => 'a' };
  const table = { ...TABLE, columns: [...TABLE.columns, text] };
  assert.is(computedNumbers(context, table, { name: 'made', type: 'LONG', expression: call('strlen', column('text')) }), undefined);
});

test.run();
