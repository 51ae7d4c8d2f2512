// Plan rule: finds the instants for which a comparison of a function of `__time` with a constant is true.

import { DAY_MS, daysFromCivil } from '../../base/calendar.js';
import type { Interval } from '../../base/instant.js';
import { readClock } from '../../base/time-pattern.js';
import { constantOf } from '../../expression/expression-type.js';
import type { Constant } from '../../expression/function.js';
import { granularityOfArguments, unitOfArguments } from '../../expression/functions/time.js';
import type { Expression } from '../../model/expression.js';
import { type Buckets, bucketsOf } from '../../model/granularity.js';
import { TIME_COLUMN } from '../../model/schema.js';

/*
 * A function that never falls as time goes on is at least a value from some instant on. So a comparison with a constant holds in one
 * interval, which is found from outside in: `floor(t) >= v` where t is at least the first start of a bucket that is not before v.
 */

/** Instants of which functions of time have a value; of others they are null. */
export const TOLD_APART: Interval = { start: Number.MIN_SAFE_INTEGER, end: Number.MAX_SAFE_INTEGER + 1 };

/** Bounds of instants, calendar years of 250,000, within which buckets are looked for. */
const BOUND_MAX = 8e15;

/**
 * The instants for which a comparison is true; for all others of `TOLD_APART` it is false, and for the rest null.
 * @returns undefined when it is of another kind
 */
export function timesOfComparison(expression: Expression): readonly Interval[] | undefined {
  if (expression.kind !== 'call' || expression.arguments.length !== 2) return undefined;
  const [left, right] = expression.arguments;
  if (left === undefined || right === undefined) return undefined;
  if (isOfTime(left) && right.kind === 'literal') return times(expression.function, left, right);
  if (left.kind === 'literal' && isOfTime(right)) return times(FLIPPED.get(expression.function) ?? '', right, left);
  return undefined;
}

const FLIPPED: ReadonlyMap<string, string> = new Map([
  ['==', '=='],
  ['!=', '!='],
  ['<', '>'],
  ['<=', '>='],
  ['>', '<'],
  ['>=', '<='],
]);

type Call = Extract<Expression, { kind: 'call' }>;

/** Whether an expression is a function of `__time` that never falls, and whose value is null beyond the instants that are told apart. */
function isOfTime(expression: Expression): expression is Call {
  if (expression.kind !== 'call') return false;
  const [of, ...rest] = expression.arguments;
  if (of === undefined || !rest.every(({ kind }) => kind === 'literal') || !EDGES.has(expression.function)) return false;
  return (of.kind === 'column' && of.name === TIME_COLUMN) || isOfTime(of);
}

function times(operator: string, left: Call, right: Expression): readonly Interval[] | undefined {
  const value = constantOf(right)?.value;
  if (typeof value !== 'bigint') return undefined;
  const at = Number(value);
  if (Math.abs(at) > BOUND_MAX) return undefined;
  const from = (bound: number): number | undefined => firstInstant(left, bound);
  const [lower, upper] = [from(at), from(at + 1)];
  if (lower === undefined || upper === undefined) return undefined;
  const { start, end } = TOLD_APART;
  const filled = (intervals: readonly Interval[]): readonly Interval[] => intervals.filter((each) => each.start < each.end);
  switch (operator) {
    case '==':
      return filled([{ start: lower, end: upper }]);
    case '!=':
      return lower < upper
        ? filled([
            { start, end: lower },
            { start: upper, end },
          ])
        : [TOLD_APART];
    case '<':
      return filled([{ start, end: lower }]);
    case '<=':
      return filled([{ start, end: upper }]);
    case '>':
      return filled([{ start: upper, end }]);
    case '>=':
      return filled([{ start: lower, end }]);
    default:
      return undefined;
  }
}

/** The first instant at which a function of time is at least `bound`. */
function firstInstant(expression: Call, bound: number): number | undefined {
  const [of] = expression.arguments;
  const edge = EDGES.get(expression.function)?.(expression.arguments.map(constantOf), bound);
  if (edge === undefined || !(Math.abs(edge) <= BOUND_MAX)) return undefined;
  return of?.kind === 'call' ? firstInstant(of, edge) : edge;
}

type Constants = readonly (Constant | undefined)[];

/** For each function the first instant of which it is at least a bound; undefined where that is not known. */
const EDGES: ReadonlyMap<string, (constants: Constants, bound: number) => number | undefined> = new Map([
  ['timestamp_floor', (constants, bound) => firstStart(bucketsOf(granularityOfArguments(constants, 'timestamp_floor')), bound)],
  ['timestamp_ceil', (constants, bound) => bucketsOf(granularityOfArguments(constants, 'timestamp_ceil')).floor(bound - 1) + 1],
  ['timestamp_extract', startOfYear],
]);

function firstStart(buckets: Buckets, bound: number): number {
  const start = buckets.floor(bound);
  return start === bound ? bound : buckets.next(bound);
}

/** Years of four digits. */
function startOfYear(constants: Constants, bound: number): number | undefined {
  const { unit, zone } = unitOfArguments(constants);
  if (unit !== 'YEAR' || bound < 1000 || bound > 9999) return undefined;
  const at = zone.fromLocal(daysFromCivil(bound, 1, 1) * DAY_MS);
  const yearAt = (instant: number): number => readClock(instant + zone.offsetAt(instant)).year;
  // A zone may skip midnight, or have it twice.
  return yearAt(at) === bound && yearAt(at - 1) === bound - 1 ? at : undefined;
}
