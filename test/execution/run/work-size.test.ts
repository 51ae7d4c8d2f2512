import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../../src/base/instant.js';
import { bucketsToFill, rowsToRead } from '../../../src/execution/run/work-size.js';
import type { Aggregator } from '../../../src/model/aggregator.js';
import { type Granularity, parseGranularity } from '../../../src/model/granularity.js';
import type { GroupPlan, PostStep } from '../../../src/model/plan.js';
import { NO_ROWS, type NumberColumnView, type SegmentView } from '../../../src/storage/view.js';

const DAY = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2024, 0, 2) };
const LATER = { start: Date.UTC(2024, 1, 1), end: Date.UTC(2024, 1, 3) };

const fillOf = (granularity: Granularity): PostStep[] => [{ step: 'fillBuckets', bucket: '__time', granularity }];

const sizes = suite('estimates of work');

sizes('buckets without rows count: few rows over a long time are no small plan', () => {
  for (const [granularity, intervals, expected] of [
    ['hour', [DAY], 24],
    ['minute', [DAY, LATER], 3 * 1440],
    [{ type: 'duration', duration: 1000 }, [DAY], 86_400],
    [{ type: 'period', period: 'PT30M', timeZone: 'Europe/Berlin' }, [DAY], 48],
    ['second', [], 0],
    // Rows tell: as many as there are between the first one and the last.
    ['day', [ETERNITY], Infinity],
    // Only those that rows fall into.
    ['none', [DAY], 0],
  ] as const)
    assert.is(
      bucketsToFill({ post: fillOf(parseGranularity(granularity, 'granularity')), intervals }),
      expected,
      JSON.stringify(granularity),
    );
});

sizes('of a plan that fills nothing, none', () => {
  assert.is(bucketsToFill({ post: [{ step: 'limit', offset: 0, limit: 5 }], intervals: [ETERNITY] }), 0);
});

const LONGS: NumberColumnView = {
  kind: 'number',
  type: 'LONG',
  physical: 'U32',
  power: 0,
  values: 8,
  base: 0n,
  nulls: 0,
  min: 3n,
  max: 9n,
  blockRanges: 0,
};
const ROWS = 1_000_000;
const VIEW: SegmentView = {
  ...NO_ROWS,
  rowCount: ROWS,
  timeMin: DAY.start,
  timeMax: DAY.end - 1,
  columns: {
    __time: LONGS,
    n: LONGS,
    sparse: { ...LONGS, nulls: 64 },
    real: { ...LONGS, type: 'DOUBLE', physical: 'F64', min: 0.5, max: 1.5 },
  },
};
const COUNT: Aggregator = { kind: 'count', name: 'c', filter: null };
const extreme = (column: string, type: 'LONG' | 'DOUBLE' = 'LONG'): Aggregator => ({ kind: 'max', name: 'm', column, type, filter: null });

const PLAN: GroupPlan = {
  operator: 'group',
  dataSource: 't',
  intervals: [ETERNITY],
  virtualColumns: [],
  filter: null,
  keys: [],
  aggregators: [COUNT],
  emptyGroup: true,
  post: [],
};
const isN = { kind: 'isNull', column: 'n' } as const;

sizes('counts and extremes that are known read no rows', () => {
  const part = { start: DAY.start + 1, end: DAY.end };
  const text = { name: 'n', expression: { kind: 'column', name: '__time' }, outputType: 'LONG' } as const;
  for (const [name, changed, isSmall] of [
    ['a count', {}, true],
    ['extremes of a column and of times', { aggregators: [COUNT, extreme('n'), extreme('__time')] }, true],
    ['a count of a part of the time', { intervals: [part] }, true],
    ['an extreme over a part of the time', { aggregators: [extreme('n')], intervals: [part] }, false],
    ['an extreme over all of the time', { aggregators: [extreme('n')], intervals: [LATER, DAY] }, true],
    ['an extreme of a column with nulls', { aggregators: [extreme('sparse')] }, false],
    ['an extreme of DOUBLEs', { aggregators: [extreme('real', 'DOUBLE')] }, false],
    ['an extreme of a computed column', { aggregators: [extreme('n')], virtualColumns: [text] }, false],
    ['a sum', { aggregators: [{ ...extreme('n'), kind: 'sum' } as Aggregator] }, false],
    ['a filter', { filter: isN }, false],
    ['a filtered aggregator', { aggregators: [{ ...COUNT, filter: isN }] }, false],
    ['a key', { keys: [{ kind: 'column', name: 'n', column: 'n', type: 'LONG' }] }, false],
  ] as readonly (readonly [string, Partial<GroupPlan>, boolean])[])
    assert.is(rowsToRead({ ...PLAN, ...changed }, [VIEW]) < ROWS / 10, isSmall, name);
});

sizes.run();
