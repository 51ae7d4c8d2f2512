// Finds buckets of time within which an expression over one column is constant.

import { DAY_MS, type Zone } from '../../../base/calendar.js';
import { append } from '../../../base/lists.js';
import { own } from '../../../base/names.js';
import { finestUnitMs } from '../../../base/time-pattern.js';
import { constantOf } from '../../../expression/expression-type.js';
import type { Constant } from '../../../expression/function.js';
import { granularityOfArguments, patternOfArguments, unitOfArguments } from '../../../expression/functions/time.js';
import type { Expression } from '../../../model/expression.js';
import { type Buckets, bucketsOf, type Granularity, granularityName, shapeOf, wallClockBuckets } from '../../../model/granularity.js';
import { TIME_COLUMN } from '../../../model/schema.js';

/** Buckets that cut all time. */
export interface Grain {
  /** Tells it apart from other grains. */
  readonly key: string;
  readonly buckets: Buckets;
  /** About as long as a bucket is. */
  readonly lengthMs: number;
}

/**
 * Grains within whose common buckets an expression over one column of instants, and nothing else, is constant.
 * @returns undefined when there are none: another column takes part, or the instant itself matters
 */
export function grainsOf(expression: Expression, column = TIME_COLUMN): readonly Grain[] | undefined {
  const grains = collectGrains(expression, column);
  return grains === undefined || grains.length === 0 ? undefined : grains;
}

function collectGrains(expression: Expression, column: string): readonly Grain[] | undefined {
  if (expression.kind === 'literal') return [];
  if (expression.kind !== 'call') return undefined;
  const [instant, ...rest] = expression.arguments;
  if (instant?.kind === 'column' && instant.name === column) {
    const constants = rest.map(constantOf);
    const grain = constants.includes(undefined) ? undefined : own(GRAINS, expression.function)?.([undefined, ...constants]);
    return grain === undefined ? undefined : [grain];
  }
  const parts: Grain[] = [];
  for (const argument of expression.arguments) {
    const grains = collectGrains(argument, column);
    if (grains === undefined) return undefined;
    append(parts, grains);
  }
  return parts;
}

const GRAINS: { readonly [name: string]: (constants: readonly (Constant | undefined)[]) => Grain | undefined } = {
  timestamp_floor: (constants) => granularityGrain(granularityOfArguments(constants, 'timestamp_floor')),
  timestamp_ceil: (constants) => afterStarts(granularityGrain(granularityOfArguments(constants, 'timestamp_ceil'))),
  timestamp_extract(constants) {
    const { unit, zone } = unitOfArguments(constants);
    // Seconds since 1970 are cut towards zero, so before 1970 they do not match the seconds of the clock.
    if (unit === 'EPOCH' || unit === 'MILLISECOND' || unit === 'MICROSECOND') return undefined;
    return clockGrain(own(UNITS_MS, unit) ?? DAY_MS, zone);
  },
  timestamp_format(constants) {
    const { pattern, zone } = patternOfArguments(constants);
    const unitMs = pattern === undefined ? 1 : finestUnitMs(pattern, { code: 'query_invalid' });
    return unitMs === 1 ? undefined : clockGrain(unitMs, zone);
  },
};

/** Units coarser than a day are constant within days. */
const UNITS_MS: { readonly [unit: string]: number } = { SECOND: 1000, MINUTE: 60_000, HOUR: 3_600_000 };

export function granularityGrain(granularity: Granularity): Grain {
  return { key: granularityName(granularity), buckets: bucketsOf(granularity), lengthMs: lengthOf(granularity) };
}

function lengthOf(granularity: Granularity): number {
  const shape = shapeOf(granularity);
  if (shape.kind === 'fixed') return shape.lengthMs;
  if (shape.kind === 'wallClock') return shape.unitMs;
  if (shape.kind === 'all') return Infinity;
  const { months, days, milliseconds } = shape.period;
  return (months * 30.4 + days) * DAY_MS + milliseconds;
}

/** Days, hours, minutes or seconds of a zone's wall clock. */
function clockGrain(unitMs: number, zone: Zone): Grain {
  return { key: `${unitMs} ms on the clock of ${zone.id}`, buckets: clockBuckets(unitMs, zone), lengthMs: unitMs };
}

function clockBuckets(unitMs: number, zone: Zone): Buckets {
  const { fixedOffsetMs } = zone;
  if (fixedOffsetMs === null) return wallClockBuckets(unitMs, zone);
  return bucketsOf({ kind: 'duration', durationMs: unitMs, origin: -fixedOffsetMs });
}

/** Buckets that begin a millisecond later. */
function afterStarts({ key, buckets, lengthMs }: Grain): Grain {
  return {
    key: `after ${key}`,
    buckets: { floor: (ms) => buckets.floor(ms - 1) + 1, next: (ms) => buckets.next(ms - 1) + 1 },
    lengthMs,
  };
}
