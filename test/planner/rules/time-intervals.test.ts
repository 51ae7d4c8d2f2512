import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../../src/base/instant.js';
import { compileExpression } from '../../../src/expression/evaluate.js';
import { call, type Expression, long, NULL, text } from '../../../src/model/expression.js';
import type { Filter } from '../../../src/model/filter.js';
import { mergeRanges } from '../../../src/planner/rules/merge-ranges.js';
import { extractTimeBounds } from '../../../src/planner/rules/time-intervals.js';

const INSTANTS = [0, 1, 2, 3, 4, 5, 6, 7];

const instant = fc.integer({ min: 1, max: 6 }).map(BigInt);
const range = (lower: bigint | null, upper: bigint | null, lowerStrict: boolean, upperStrict: boolean): Filter => ({
  kind: 'range',
  column: '__time',
  type: 'LONG',
  ordering: 'numeric',
  lower,
  upper,
  lowerStrict,
  upperStrict,
});
const other: Filter = { kind: 'equals', column: 'page', type: 'STRING', value: 'x' };

/** Filters over `__time` and one other column. */
const { filter } = fc.letrec<{ filter: Filter; leaf: Filter }>((tie) => ({
  leaf: fc.oneof(
    fc.constant(other),
    fc.constant<Filter>({ kind: 'true' }),
    fc.constant<Filter>({ kind: 'false' }),
    instant.map((value): Filter => ({ kind: 'equals', column: '__time', type: 'LONG', value })),
    fc.tuple(fc.option(instant), fc.option(instant), fc.boolean(), fc.boolean()).map((parts) => range(...parts)),
  ),
  filter: fc.oneof(
    { depthSize: 'small' },
    tie('leaf'),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((filters): Filter => ({ kind: 'and', filters })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((filters): Filter => ({ kind: 'or', filters })),
    tie('filter').map((inner): Filter => ({ kind: 'not', filter: inner })),
  ),
}));

/** The plain meaning, for a row of no nulls. */
function matches(condition: Filter, time: number, page: string): boolean {
  switch (condition.kind) {
    case 'true':
      return true;
    case 'equals':
      return condition.column === '__time' ? BigInt(time) === condition.value : page === condition.value;
    case 'range': {
      const at = BigInt(time);
      const { lower, upper, lowerStrict, upperStrict } = condition;
      return (
        (typeof lower !== 'bigint' || (lowerStrict ? lower < at : lower <= at)) &&
        (typeof upper !== 'bigint' || (upperStrict ? at < upper : at <= upper))
      );
    }
    case 'and':
      return condition.filters.every((inner) => matches(inner, time, page));
    case 'or':
      return condition.filters.some((inner) => matches(inner, time, page));
    case 'not':
      return !matches(condition.filter, time, page);
    default:
      return false;
  }
}

const rules = suite('filter rules');

rules('intervals and the rest together keep the same rows', () => {
  fc.assert(
    fc.property(filter, (condition) => {
      const { intervals, rest } = extractTimeBounds(condition);
      for (let index = 1; index < intervals.length; index++) assert.ok((intervals[index - 1]?.end ?? 0) < (intervals[index]?.start ?? 0));
      for (const time of INSTANTS) {
        for (const page of ['x', 'y']) {
          const kept = intervals.some(({ start, end }) => start <= time && time < end) && (rest === null || matches(rest, time, page));
          assert.is(
            kept,
            matches(condition, time, page),
            JSON.stringify({ time, page, intervals, rest }, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
          );
        }
      }
    }),
    { numRuns: 500 },
  );
});

const HOUR_MS = 3_600_000;
const OF_TIME = [
  ['timestamp_floor', 'P1D', null],
  ['timestamp_floor', 'P1M', null],
  ['timestamp_floor', 'PT1H', null],
  ['timestamp_floor', 'PT7H', 1_700_000_000_123n],
  ['timestamp_ceil', 'P1D', null],
  ['timestamp_ceil', 'P1W', null],
  ['timestamp_extract', 'YEAR', undefined],
] as const;
const ZONES = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/Sao_Paulo'];

rules('comparisons of functions of time become intervals that keep the same instants', () => {
  const compared = fc.record({
    of: fc.constantFrom(...OF_TIME),
    zone: fc.constantFrom(...ZONES),
    operator: fc.constantFrom('==', '!=', '<', '<=', '>', '>='),
    isFlipped: fc.boolean(),
    isFloored: fc.boolean(),
    isNot: fc.boolean(),
    // Around changes of clocks, the ends of years and 1970.
    near: fc.constantFrom('1969-12-31', '2016-10-16', '2023-03-12', '2023-04-02', '2023-10-01', '2023-11-05', '2024-01-01', '2024-02-29'),
    offset: fc.integer({ min: -48, max: 48 }),
    odd: fc.constantFrom(0, 0, 0, 1, -1, 1_234_567),
    times: fc.array(fc.tuple(fc.integer({ min: -900, max: 900 }), fc.constantFrom(0, 0, 1, -1, 1_800_000)), {
      minLength: 12,
      maxLength: 12,
    }),
  });
  fc.assert(
    fc.property(compared, ({ of: [name, unit, origin], zone, operator, isFlipped, isFloored, isNot, near, offset, odd, times }) => {
      const value = Date.parse(near) + offset * HOUR_MS + odd;
      const time: Expression = { kind: 'column', name: '__time' };
      const of = call(name, time, text(unit), ...(origin === undefined ? [] : [origin === null ? NULL : long(origin)]), text(zone));
      const left = isFloored && name !== 'timestamp_extract' ? call('timestamp_floor', of, text('P1W'), NULL, text('UTC')) : of;
      const right = long(name === 'timestamp_extract' ? new Date(value).getUTCFullYear() : value);
      const expression = isFlipped ? call(operator, right, left) : call(operator, left, right);
      const condition: Filter = isNot ? { kind: 'not', filter: { kind: 'expression', expression } } : { kind: 'expression', expression };
      const { intervals, rest } = extractTimeBounds(condition);
      assert.is(rest, null);
      const matches = compileExpression(
        expression,
        (column) => (column === '__time' ? 'LONG' : undefined),
        () => undefined,
      );
      for (const [hours, more] of [...times, [0, 0] as const, [0, -1] as const]) {
        const at = value + hours * HOUR_MS + more;
        const kept = intervals.some(({ start, end }) => start <= at && at < end);
        assert.is(kept, (matches(() => BigInt(at)) === 1n) !== isNot, `${name} ${unit} ${zone} ${operator} ${value} at ${at}`);
      }
    }),
    { numRuns: 2000 },
  );
});

const COMPARED = { kind: 'column', name: '__time' } as const;

rules('other functions, and constants far away, stay filters', () => {
  const others: readonly Expression[] = [
    call('==', call('timestamp_floor', COMPARED, text('P1D')), { kind: 'literal', type: 'DOUBLE', value: 0.5 }),
    call('==', call('timestamp_floor', COMPARED, text('P1D')), long(9_000_000_000_000_000n)),
    call('==', call('timestamp_extract', COMPARED, text('MONTH')), long(3)),
    call('==', call('timestamp_extract', COMPARED, text('YEAR')), long(20_000)),
    call('==', call('timestamp_floor', { kind: 'column', name: 'other' }, text('P1D')), long(0)),
    call('==', call('timestamp_floor', COMPARED, { kind: 'column', name: 'period' }), long(0)),
    call('==', call('timestamp_floor', COMPARED, text('P1D')), NULL),
  ];
  for (const expression of others) {
    const condition: Filter = { kind: 'expression', expression };
    assert.equal(extractTimeBounds(condition), { intervals: [ETERNITY], rest: condition });
  }
});

rules('conditions on time alone leave nothing behind', () => {
  const both = extractTimeBounds({ kind: 'and', filters: [range(1n, null, false, true), range(null, 5n, false, true), other] });
  assert.equal(both, { intervals: [{ start: 1, end: 5 }], rest: other });
  assert.equal(extractTimeBounds(null), { intervals: [ETERNITY], rest: null });
});

rules('ranges that complete each other become one', () => {
  assert.equal(mergeRanges([range(1n, null, true, false), other, range(null, 5n, false, true)]), [range(1n, 5n, true, true), other]);
  const apart = [range(1n, null, false, false), range(2n, null, false, false)];
  assert.equal(mergeRanges(apart), apart);
  const withoutBounds = [range(1n, 1n, false, false), range(null, null, false, false)];
  assert.equal(mergeRanges(withoutBounds), withoutBounds);
});

rules('merging ranges keeps the same rows', () => {
  fc.assert(
    fc.property(fc.array(filter, { maxLength: 5 }), (filters) => {
      const merged: Filter = { kind: 'and', filters: mergeRanges(filters) };
      for (const time of INSTANTS) assert.is(matches(merged, time, 'x'), matches({ kind: 'and', filters }, time, 'x'));
    }),
    { numRuns: 2000 },
  );
});
rules.run();
