import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tableSchema, withMixedTypes } from '../../src/cluster/broker/table-schema.js';
import type { ColumnSchema, ColumnType } from '../../src/model/schema.js';
import { segmentColumns } from '../../src/model/segment.js';

const schemas = suite('schema of a table');

const DAY_MS = 86_400_000;

function column(name: string, type: ColumnType, more: Partial<ColumnSchema> = {}): ColumnSchema {
  return { name, type, multiValue: false, hasNulls: false, ...more };
}

/** One segment a day, with rows. */
function partsOf(...segments: readonly (readonly [rowCount: number, columns: readonly ColumnSchema[]])[]) {
  return segments.map(([rowCount, columns], day) => {
    const interval = { start: day * DAY_MS, end: (day + 1) * DAY_MS };
    const id = { dataSource: 't', interval, version: 'v', partitionNumber: 0 };
    const shardSpec = { type: 'numbered', partitionNum: 0, partitions: 1 } as const;
    const file = { loadSpec: { type: 'local', path: '' }, sizeBytes: 1, dimensions: [], metrics: [], ...segmentColumns(columns), rowCount };
    return { chunks: [{ interval, version: 'v', segments: [{ ...file, id, shardSpec }] }] };
  });
}

const TIME = column('__time', 'LONG');

schemas('columns of all segments, time first, then those of the newest', () => {
  const { columns, rowCount, interval } = tableSchema(
    't',
    partsOf([3, [TIME, column('old', 'STRING'), column('both', 'STRING')]], [4, [TIME, column('new', 'LONG'), column('both', 'STRING')]]),
  );
  assert.equal(
    columns.map(({ name }) => name),
    ['__time', 'new', 'both', 'old'],
  );
  assert.equal([rowCount, interval], [7, { start: 0, end: 2 * DAY_MS }]);
  // A column that a segment does not have is null in its rows.
  assert.equal(
    columns.map(({ hasNulls }) => hasNulls),
    [false, true, false, true],
  );
});

schemas('the widest of types; several values and nulls when some segment has them', () => {
  const { columns } = tableSchema(
    't',
    partsOf(
      [1, [TIME, column('n', 'LONG'), column('m', 'LONG'), column('s', 'STRING', { multiValue: true })]],
      [1, [TIME, column('n', 'DOUBLE'), column('m', 'STRING'), column('s', 'STRING', { hasNulls: true })]],
    ),
  );
  assert.equal(
    columns.slice(1).map(({ type, multiValue, hasNulls }) => [type, multiValue, hasNulls]),
    [
      ['DOUBLE', false, false],
      ['STRING', false, false],
      ['STRING', true, true],
    ],
  );
});

const COUNTED: readonly (readonly [string, readonly (readonly [rows: number, distinct: number | undefined])[], number | undefined])[] = [
  [
    'those of the segment with the most, where they repeat',
    [
      [100, 10],
      [100, 12],
    ],
    12,
  ],
  [
    'all of them, where nearly every row has another one',
    [
      [100, 90],
      [100, 80],
    ],
    170,
  ],
  [
    'unknown, where a segment does not tell',
    [
      [100, 10],
      [100, undefined],
      [100, 10],
    ],
    undefined,
  ],
];
for (const [name, segments, expected] of COUNTED)
  schemas(`distinct values: ${name}`, () => {
    const { columns } = tableSchema(
      't',
      partsOf(
        ...segments.map(
          ([rows, distinctCount]) => [rows, [TIME, column('d', 'STRING', distinctCount === undefined ? {} : { distinctCount })]] as const,
        ),
      ),
    );
    assert.is(columns[1]?.distinctCount, expected);
  });

schemas('one part of many chunks is as good as many of one', () => {
  const parts = partsOf(
    [3, [TIME, column('a', 'LONG', { distinctCount: 2 }), column('b', 'STRING')]],
    [4, [TIME, column('b', 'STRING', { hasNulls: true }), column('a', 'DOUBLE', { distinctCount: 3 })]],
    [5, [TIME, column('c', 'LONG'), column('a', 'LONG', { distinctCount: 3 })]],
  );
  const expected = tableSchema('t', parts);
  assert.equal(
    expected.columns.map(({ name, type, distinctCount }) => [name, type, distinctCount]),
    [
      ['__time', 'LONG', undefined],
      ['c', 'LONG', undefined],
      ['a', 'DOUBLE', 8],
      ['b', 'STRING', undefined],
    ],
  );
  const joined = (from: number, to: number) => ({ chunks: parts.slice(from, to).flatMap(({ chunks }) => chunks) });
  for (const cut of [0, 1, 2, 3]) assert.equal(tableSchema('t', [joined(0, cut), joined(cut, 3)]), expected);
});

schemas('the table of no segments has the time alone', () => {
  const { columns, rowCount, interval } = tableSchema('t', []);
  assert.equal([columns.map(({ name }) => name), rowCount, interval], [['__time'], 0, { start: 0, end: 0 }]);
});

schemas('a scan is told the types of columns that segments have of several types', () => {
  const one = tableSchema('a', partsOf([1, [TIME, column('n', 'LONG'), column('s', 'STRING')]], [1, [TIME, column('n', 'STRING')]]));
  const other = tableSchema('b', partsOf([1, [TIME, column('s', 'LONG')]]));
  const plan = {
    operator: 'scan',
    dataSource: 'a',
    intervals: [],
    filter: null,
    virtualColumns: [],
    columns: ['s', 'n', 'n', 'none'],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  } as const;
  const typesOver = (...tables: readonly (typeof one)[]): unknown => {
    const typed = withMixedTypes(plan, () => tables);
    return typed.operator === 'scan' ? typed.types : undefined;
  };
  assert.equal([...one.mixed], ['n']);
  assert.equal(typesOver(one), [{ name: 'n', type: 'STRING' }]);
  assert.is(typesOver(other), undefined);
  assert.equal(typesOver(one, other), [
    { name: 's', type: 'STRING' },
    { name: 'n', type: 'STRING' },
  ]);
});

schemas.run();
