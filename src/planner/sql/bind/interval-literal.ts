// INTERVAL literals.

import { own } from '../../../base/names.js';
/** INTERVAL '...' in the two units that do not convert into each other. */
export interface IntervalValue {
  readonly months: number;
  readonly milliseconds: number;
}

const MILLISECONDS: Readonly<Record<string, number>> = {
  WEEK: 604_800_000,
  DAY: 86_400_000,
  HOUR: 3_600_000,
  MINUTE: 60_000,
  SECOND: 1000,
};
const MONTHS: Readonly<Record<string, number>> = { YEAR: 12, QUARTER: 3, MONTH: 1 };
const ORDER = ['DAY', 'HOUR', 'MINUTE', 'SECOND'];

export const INTERVAL_UNITS: readonly string[] = [...Object.keys(MONTHS), ...Object.keys(MILLISECONDS)];

/**
 * `'1' DAY`, `'-3' MONTH`, `'1-6' YEAR TO MONTH`, `'2 03:04:05.678' DAY TO SECOND`.
 * @returns undefined when the text does not fit its units
 */
export function intervalValue(text: string, from: string, to: string | null): IntervalValue | undefined {
  const sign = text.trim().startsWith('-') ? -1 : 1;
  const body = text.trim().replace(/^[+-]\s*/, '');
  if (to === null) {
    const months = own(MONTHS, from);
    const milliseconds = own(MILLISECONDS, from);
    if (months !== undefined) return /^\d+$/.test(body) ? { months: sign * Number(body) * months, milliseconds: 0 } : undefined;
    if (milliseconds === undefined || !(from === 'SECOND' ? /^\d+(\.\d{1,3})?$/ : /^\d+$/).test(body)) return undefined;
    return { months: 0, milliseconds: sign * Math.round(Number(body) * milliseconds) };
  }
  if (from === 'YEAR' && to === 'MONTH') {
    const parts = /^(\d+)-(\d{1,2})$/.exec(body);
    return parts === null ? undefined : { months: sign * (Number(parts[1]) * 12 + Number(parts[2])), milliseconds: 0 };
  }
  const [first, last] = [ORDER.indexOf(from), ORDER.indexOf(to)];
  if (first < 0 || last <= first) return undefined;
  const units = ORDER.slice(first, last + 1);
  const numbers = body.split(/[\s:]+/);
  if (
    numbers.length !== units.length ||
    numbers.some((number, index) => !(units[index] === 'SECOND' ? /^\d+(\.\d{1,3})?$/ : /^\d+$/).test(number))
  )
    return undefined;
  const milliseconds = numbers.reduce(
    (sum, number, index) => sum + Math.round(Number(number) * (own(MILLISECONDS, units[index] ?? '') ?? 0)),
    0,
  );
  return { months: 0, milliseconds: sign * milliseconds };
}
