import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concatFrames } from '../../src/execution/block/concat-frames.js';
import { framesOf } from '../../src/execution/block/result-table.js';
import { noCounts } from '../../src/execution/block/row-counts.js';
import { endGroups, layoutOf } from '../../src/execution/group/operator.js';
import { runMorsels } from '../../src/execution/group/run.js';
import { parseExpression } from '../../src/expression/parse.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { context } from './aggregate-state/run-context.js';

/*
 * Tables of a million possible groups: by cells where many rows pass the filter, by hash where few do. The groups are the same, as
 * counted here.
 */

const { memory } = context;

const ROWS = 40_000;
const numberOf = (segment: number, row: number): number => segment * ROWS + row;
const one = (number: number): number => (number * 7919) % 1000;
const other = (number: number): number => (number * 104_729) % 997;
const longs = (name: string, of: (row: number) => number): Frame['columns'][number] => ({
  kind: 'long',
  name,
  values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(of(row))),
  nulls: null,
});
const segmentOf = (segment: number): Frame => ({
  rowCount: ROWS,
  columns: [
    longs('__time', (row) => row),
    longs('one', (row) => one(numberOf(segment, row))),
    longs('other', (row) => other(numberOf(segment, row))),
    longs('number', (row) => numberOf(segment, row)),
  ],
});
const plan = (filter: Filter | null): GroupPlan => ({
  operator: 'group',
  dataSource: 'none',
  intervals: [{ start: 0, end: ROWS }],
  filter,
  virtualColumns: [],
  keys: ['one', 'other'].map((name) => ({ kind: 'column', name, column: name, type: 'LONG' })),
  aggregators: [
    { kind: 'count', name: 'rows', filter: null },
    { kind: 'sum', name: 'sum', column: 'number', type: 'LONG', filter: null },
  ],
  emptyGroup: false,
  post: [],
});

const below = (upper: number): Filter => ({
  ...{ kind: 'range', column: 'number', type: 'LONG', ordering: 'numeric', lower: null, upper: BigInt(upper) },
  ...{ lowerStrict: false, upperStrict: true },
});
const equals = (number: number): Filter => ({ kind: 'equals', column: 'number', type: 'LONG', value: BigInt(number) });
const CASES: readonly (readonly [title: string, filter: Filter | null, passes: (number: number) => boolean, kind: 'dense' | 'hash'])[] = [
  ['all rows', null, () => true, 'dense'],
  ['nearly all rows', below(110_000), (number) => number < 110_000, 'dense'],
  ['the rows of a part of one segment', below(2000), (number) => number < 2000, 'hash'],
  ['one row that no sample has', equals(79_999), (number) => number === 79_999, 'hash'],
  ['no row', equals(-1), () => false, 'hash'],
  ['all but one row', { kind: 'not', filter: equals(7) }, (number) => number !== 7, 'dense'],
  ['few rows of one value', { kind: 'equals', column: 'one', type: 'LONG', value: 5n }, (number) => one(number) === 5, 'hash'],
  ['conditions that are computed', { kind: 'expression', expression: parseExpression('number < 3') }, (number) => number < 3, 'dense'],
];

const groups = suite('groups of the rows that pass');

groups.after.each(() => assert.is(memory.allocatedBytes, 0, 'memory is given back'));

for (const [title, filter, passes, kind] of CASES)
  groups(title, () => {
    const placed = [0, 1, 2].map((segment) => uploadFrame(segmentOf(segment), memory));
    const expected = new Map<string, { rows: bigint; sum: bigint }>();
    for (let number = 0; number < 3 * ROWS; number++) {
      if (!passes(number)) continue;
      const key = `${one(number)} ${other(number)}`;
      const known = expected.get(key) ?? { rows: 0n, sum: 0n };
      expected.set(key, { rows: known.rows + 1n, sum: known.sum + BigInt(number) });
    }
    try {
      const views = placed.map(({ view }, at) => ({ ...view, id: `segment_${at}` }));
      const layout = layoutOf({ plan: plan(filter), views, dictionaries: {} }, context, context.groupBytesMax);
      assert.is(layout.indexLayout.kind, kind);
      const morsels = views.map((_, view) => ({ view, start: 0, end: ROWS }));
      const table = runMorsels(layout, context, () => morsels.shift(), noCounts());
      const frames = [...endGroups(table, [], 'final', 1 << 30, noCounts(), framesOf)] as Frame[];
      const found = new Map<string, { rows: unknown; sum: unknown }>();
      for (const { rowCount, columns } of frames.length === 0 ? [] : [concatFrames(frames, context.check)])
        for (let row = 0; row < rowCount; row++) {
          const [first, second, rows, sum] = columns.map((column) => cellAt(column, row));
          found.set(`${first} ${second}`, { rows, sum });
        }
      assert.is(found.size, expected.size);
      for (const [key, group] of expected) assert.equal(found.get(key), group, key);
    } finally {
      for (const { release } of placed) release();
    }
  });

groups.run();
