// Finds granularities in whose buckets an expression over `__time` is constant.

import { own } from '../../base/names.js';
import { constantOf } from '../../expression/expression-type.js';
import type { Value } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import type { Granularity } from '../../model/granularity.js';
import { TIME_COLUMN } from '../../model/schema.js';

/**
 * Granularities within whose common buckets an expression over `__time` alone is constant.
 * @returns undefined when there are none: another column takes part, or the instant itself matters
 */
export function timeGrains(expression: Expression): readonly Granularity[] | undefined {
  const grains = grainsOf(expression);
  return grains === undefined || grains.length === 0 ? undefined : grains;
}

function grainsOf(expression: Expression): readonly Granularity[] | undefined {
  if (expression.kind === 'literal') return [];
  if (expression.kind !== 'call') return undefined;
  const [instant, ...rest] = expression.arguments;
  if (instant?.kind === 'column' && instant.name === TIME_COLUMN) {
    const constants = rest.map((argument) => constantOf(argument)?.value);
    if (constants.includes(undefined)) return undefined;
    const grain = grainOfCall(expression.function, constants);
    return grain === undefined ? undefined : [grain];
  }
  const parts = expression.arguments.map(grainsOf);
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function grainOfCall(name: string, constants: readonly (Value | undefined)[]): Granularity | undefined {
  const [first, second, third] = constants;
  if (name === 'timestamp_floor') {
    // An origin is rare; without it the granularity is the very one the function floors by.
    if (typeof first !== 'string' || (second !== undefined && second !== null && second !== '')) return undefined;
    return period(first, third);
  }
  if (name === 'timestamp_extract') {
    const unit = typeof first === 'string' ? own(EXTRACT_GRAINS, first.toUpperCase()) : undefined;
    return unit === undefined ? undefined : period(unit, second);
  }
  return undefined;
}

function period(text: string, timeZone: Value | undefined): Granularity | undefined {
  if (timeZone !== undefined && timeZone !== null && typeof timeZone !== 'string') return undefined;
  return { kind: 'period', period: text, timeZone: timeZone ?? 'UTC', origin: null };
}

/** Units coarser than a day are constant within days. */
const EXTRACT_GRAINS: Readonly<Record<string, string>> = {
  EPOCH: 'PT1S',
  SECOND: 'PT1S',
  MINUTE: 'PT1M',
  HOUR: 'PT1H',
  ...Object.fromEntries(
    ['DAY', 'DOW', 'ISODOW', 'DOY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'ISOYEAR', 'DECADE', 'CENTURY', 'MILLENNIUM'].map((unit) => [
      unit,
      'P1D',
    ]),
  ),
};
