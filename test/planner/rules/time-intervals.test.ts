import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../../src/base/instant.js';
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

rules('conditions on time alone leave nothing behind', () => {
  const both = extractTimeBounds({ kind: 'and', filters: [range(1n, null, false, true), range(null, 5n, false, true), other] });
  assert.equal(both, { intervals: [{ start: 1, end: 5 }], rest: other });
  assert.equal(extractTimeBounds(null), { intervals: [ETERNITY], rest: null });
});

rules('ranges that complete each other become one', () => {
  assert.equal(mergeRanges([range(1n, null, true, false), other, range(null, 5n, false, true)]), [range(1n, 5n, true, true), other]);
  const apart = [range(1n, null, false, false), range(2n, null, false, false)];
  assert.equal(mergeRanges(apart), apart);
});

rules('merging ranges keeps the same rows', () => {
  fc.assert(
    fc.property(fc.array(filter, { maxLength: 5 }), (filters) => {
      const merged: Filter = { kind: 'and', filters: mergeRanges(filters) };
      for (const time of INSTANTS) assert.is(matches(merged, time, 'x'), matches({ kind: 'and', filters }, time, 'x'));
    }),
  );
});
rules.run();
