// Compiles functions of instants to steps of kernels.

import { DAY_MS, findZone } from '../../../base/calendar.js';
import { own } from '../../../base/names.js';
import { constantOf } from '../../../expression/expression-type.js';
import type { Constant } from '../../../expression/function.js';
import { granularityOfArguments, shiftOfArguments, unitOfArguments } from '../../../expression/functions/time.js';
import { getFunction } from '../../../expression/functions.js';
import { toLong } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import { type BucketShape, bucketsOf, type Granularity, shapeOf } from '../../../model/granularity.js';
import type { SegmentScope } from '../scope.js';
import type { NumberVector } from '../vector.js';
import { bucketStep } from './bucket-table.js';
import { granularityGrain } from './grains.js';
import { fromFixed, NEAR, onWallClock, over, plus, type Step, stepped, times, toLocal, wallClockFloor, YEAR_2500 } from './steps.js';

type Call = Extract<Expression, { kind: 'call' }>;

/**
 * A function of LONG instants whose other arguments are constants, by kernels.
 * @param operandOf  its instants as a vector; undefined when they are of another type
 * @returns undefined for other functions
 */
export function timeCall(
  scope: SegmentScope,
  { function: name, arguments: operands }: Call,
  operandOf: (expression: Expression) => NumberVector | undefined,
): NumberVector | undefined {
  const compile = own(STEPS, name);
  const [instant, ...others] = operands;
  if (compile === undefined || instant === undefined) return undefined;
  const constants = others.map(constantOf);
  if (constants.includes(undefined)) return undefined;
  const steps = compile(scope, [undefined, ...constants], name);
  const operand = steps === undefined ? undefined : operandOf(instant);
  if (steps === undefined || operand === undefined) return undefined;
  const latest = hasFixedOffset([undefined, ...constants]) ? NEAR : YEAR_2500;
  return stepped(scope, operand, { steps, latest, each: eachOf(name, constants) });
}

/** The starts of the buckets of instants. */
export function flooredInstants(scope: SegmentScope, instants: NumberVector, granularity: Granularity): NumberVector | undefined {
  const steps = floorSteps(scope, granularity);
  const zone = granularity.kind === 'period' ? findZone(granularity.timeZone) : undefined;
  const { floor } = bucketsOf(granularity);
  const each = (instant: bigint): bigint => BigInt(floor(Number(instant)));
  const latest = zone?.fixedOffsetMs === null ? YEAR_2500 : NEAR;
  return steps === undefined ? undefined : stepped(scope, instants, { steps, latest, each });
}

/** Whether no argument is a zone that changes its offset. */
function hasFixedOffset(constants: readonly (Constant | undefined)[]): boolean {
  return constants.every((constant) => typeof constant?.value !== 'string' || (findZone(constant.value)?.fixedOffsetMs ?? 0) !== null);
}

function eachOf(name: string, constants: readonly (Constant | undefined)[]): (instant: bigint) => bigint | null {
  const compute = getFunction(name, constants.length + 1).bind([undefined, ...constants]);
  const others = constants.map((constant) => constant?.value ?? null);
  return (instant) => toLong(compute([instant, ...others]));
}

type Compile = (scope: SegmentScope, constants: readonly (Constant | undefined)[], name: string) => readonly Step[] | undefined;

const STEPS: { readonly [name: string]: Compile } = {
  timestamp_floor: (scope, constants, name) => floorSteps(scope, granularityOfArguments(constants, name)),
  timestamp_ceil: (scope, constants, name) => ceilSteps(scope, granularityOfArguments(constants, name)),
  timestamp_shift: shiftSteps,
  timestamp_extract: extractSteps,
};

function floorSteps(scope: SegmentScope, granularity: Granularity): readonly Step[] | undefined {
  const { kernels } = scope.context;
  const shape = shapeOf(granularity);
  if (granularityGrain(granularity).lengthMs > AMOUNT_MAX) return undefined;
  if (shape.kind === 'fixed') return [fixedFloor(scope, shape)];
  if (shape.kind === 'wallClock') return [wallClockFloor(scope, shape.unitMs, shape.zone)];
  const months = shape.kind === 'counted' ? wholeMonths(shape, granularity) : undefined;
  if (shape.kind === 'counted' && months !== undefined)
    return [
      ...toLocal(scope, shape.zone),
      (from, rows, out) => kernels.floorMonthsI64(from, rows, months, out),
      ...fromFixed(scope, shape.zone.fixedOffsetMs ?? 0),
    ];
  const { floor } = bucketsOf(granularity);
  return [bucketStep(scope, granularityGrain(granularity), { result: 'start', each: floor })];
}

function ceilSteps(scope: SegmentScope, granularity: Granularity): readonly Step[] | undefined {
  const { kernels } = scope.context;
  const shape = shapeOf(granularity);
  if (granularityGrain(granularity).lengthMs > AMOUNT_MAX) return undefined;
  if (shape.kind === 'fixed') return [...plus(scope, BigInt(shape.lengthMs) - 1n), fixedFloor(scope, shape)];
  // The end of the bucket of the millisecond before.
  const before = plus(scope, -1n);
  const months = shape.kind === 'counted' ? wholeMonths(shape, granularity) : undefined;
  if (shape.kind === 'counted' && months !== undefined)
    return [
      ...before,
      ...toLocal(scope, shape.zone),
      (from, rows, out) => {
        kernels.floorMonthsI64(from, rows, months, out);
        kernels.addMonthsI64(out, rows, months, 0n, out);
      },
      ...fromFixed(scope, shape.zone.fixedOffsetMs ?? 0),
    ];
  const { next } = bucketsOf(granularity);
  return [...before, bucketStep(scope, granularityGrain(granularity), { result: 'end', each: next })];
}

/** Floors to buckets of one length. */
function fixedFloor({ context: { kernels } }: SegmentScope, { lengthMs, origin }: Extract<BucketShape, { kind: 'fixed' }>): Step {
  const [width, first] = [BigInt(lengthMs), BigInt(origin)];
  return (from, rows, out) => kernels.floorI64(from, rows, width, first, out);
}

/** Months of a period of nothing else that is counted from 1970 on, in a zone whose days all have 24 hours. */
function wholeMonths(
  { period: { months, days, milliseconds }, zone }: Extract<BucketShape, { kind: 'counted' }>,
  granularity: Granularity,
): bigint | undefined {
  const isCounted = granularity.kind === 'period' && granularity.origin === null && zone.fixedOffsetMs !== null;
  return isCounted && days === 0 && milliseconds === 0 ? BigInt(months) : undefined;
}

/** More than this would leave the range of instants. */
const AMOUNT_MAX = 2 ** 50;

function shiftSteps(scope: SegmentScope, constants: readonly (Constant | undefined)[]): readonly Step[] | undefined {
  const { period, zone, steps } = shiftOfArguments(constants);
  if (steps === null) return undefined;
  const [months, days, milliseconds] = [period.months * steps, period.days * steps, period.milliseconds * steps];
  if ([months * 31 * DAY_MS, days * DAY_MS, milliseconds].some((amount) => !(Math.abs(amount) < AMOUNT_MAX))) return undefined;
  if (months === 0 && (days === 0 || zone.fixedOffsetMs !== null)) return plus(scope, BigInt(days * DAY_MS + milliseconds));
  const { kernels } = scope.context;
  const [byMonths, byDays] = [BigInt(months), BigInt(days)];
  const move: Step = (from, rows, out) => kernels.addMonthsI64(from, rows, byMonths, byDays, out);
  const after = plus(scope, BigInt(milliseconds));
  const { fixedOffsetMs } = zone;
  if (fixedOffsetMs !== null) return [...toLocal(scope, zone), move, ...fromFixed(scope, fixedOffsetMs), ...after];
  return [onWallClock(scope, zone, move, (Math.abs(months) * 31 + Math.abs(days)) * DAY_MS), ...after];
}

/** Units by the numbers of `calendarI64`. */
const CALENDAR_FIELDS: { readonly [unit: string]: number } = {
  DAY: 0,
  DOW: 1,
  ISODOW: 1,
  DOY: 2,
  WEEK: 3,
  MONTH: 4,
  QUARTER: 5,
  YEAR: 6,
  ISOYEAR: 7,
  DECADE: 8,
  CENTURY: 9,
  MILLENNIUM: 10,
};

interface ClockUnit {
  readonly cycle: bigint;
  readonly unit: bigint;
  readonly factor: bigint;
}

const CLOCK_UNITS: { readonly [unit: string]: ClockUnit } = {
  MICROSECOND: { cycle: 1000n, unit: 1n, factor: 1000n },
  MILLISECOND: { cycle: 1000n, unit: 1n, factor: 1n },
  SECOND: { cycle: 60_000n, unit: 1000n, factor: 1n },
  MINUTE: { cycle: 3_600_000n, unit: 60_000n, factor: 1n },
  HOUR: { cycle: BigInt(DAY_MS), unit: 3_600_000n, factor: 1n },
};

function extractSteps(scope: SegmentScope, constants: readonly (Constant | undefined)[]): readonly Step[] | undefined {
  const { kernels } = scope.context;
  const { unit, zone } = unitOfArguments(constants);
  const field = own(CALENDAR_FIELDS, unit);
  if (field !== undefined) return [...toLocal(scope, zone), (from, rows, out) => kernels.calendarI64(from, rows, field, out)];
  const clock = own(CLOCK_UNITS, unit);
  if (clock !== undefined)
    return [
      ...toLocal(scope, zone),
      (from, rows, out) => kernels.clockI64(from, rows, clock.cycle, clock.unit, out),
      ...times(scope, clock.factor),
    ];
  return unit === 'EPOCH' ? over(scope, 1000n) : undefined;
}
