// Finds bounds of what an expression over LONGs can give.

import { own } from '../base/names.js';
import type { Expression } from '../model/expression.js';
import { constantOf } from './expression-type.js';

/** Every value of an expression that is not null lies from `low` to `high`. */
export interface LongRange {
  readonly low: bigint;
  readonly high: bigint;
  readonly mayBeNull: boolean;
}

/** The range of a column; `null`: it is null everywhere; undefined: not known, or not of LONGs. */
export type RangeOf = (name: string) => LongRange | null | undefined;

/** Bounds beyond which sums and products may wrap. */
const LOWEST = -(1n << 62n);
const HIGHEST = 1n << 62n;

/**
 * The range of an expression that is a LONG wherever it is not null. Bounds hold for all rows, but need not be reached.
 * @returns undefined where it is not known, `null` for an expression that is always null
 */
export function longRange(expression: Expression, rangeOf: RangeOf): LongRange | null | undefined {
  if (expression.kind === 'column') return rangeOf(expression.name);
  if (expression.kind === 'literal') {
    const value = constantOf(expression)?.value ?? null;
    if (value === null) return null;
    return typeof value === 'bigint' ? { low: value, high: value, mayBeNull: false } : undefined;
  }
  if (expression.kind !== 'call') return undefined;
  const range = own(RANGES, expression.function)?.(expression.arguments, (part) => longRange(part, rangeOf));
  return range === null || range === undefined || (range.low >= LOWEST && range.high <= HIGHEST) ? range : undefined;
}

type Range = LongRange | null | undefined;
type RangeFunction = (parts: readonly Expression[], range: (part: Expression) => Range) => Range;

/** Comparisons and logic: 0, 1 or null. */
const TRUTH: RangeFunction = () => ({ low: 0n, high: 1n, mayBeNull: true });

/** Smallest and largest value of parts of an instant. */
const PARTS_OF_TIME: ReadonlyMap<string, readonly [low: bigint, high: bigint]> = new Map([
  ['MILLISECOND', [0n, 999n]],
  ['SECOND', [0n, 59n]],
  ['MINUTE', [0n, 59n]],
  ['HOUR', [0n, 23n]],
  ['DAY', [1n, 31n]],
  ['DOW', [0n, 7n]],
  ['DOY', [1n, 366n]],
  ['WEEK', [1n, 53n]],
  ['MONTH', [1n, 12n]],
  ['QUARTER', [1n, 4n]],
]);

const CONDITIONS = [
  ...['==', '!=', '<', '<=', '>', '>=', '&&', '||', '!'],
  ...['isnull', 'notnull', 'istrue', 'isnottrue', 'nottrue', 'isfalse', 'isnotfalse', 'notfalse', 'notdistinctfrom', 'isdistinctfrom'],
  ...['like', 'regexp_like', 'contains_string', 'icontains_string', 'scalar_in_array', 'ipv4_match', 'ipv6_match'],
];

const RANGES: { readonly [name: string]: RangeFunction } = {
  '+': ofTwo((a, b) => [a.low + b.low, a.high + b.high]),
  '-': ofTwo((a, b) => [a.low - b.high, a.high - b.low]),
  '*': ofTwo((a, b) => {
    const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
    return [least(corners), greatest(corners)];
  }),
  '/': byConstant((a, divisor) => {
    const ends = [a.low / divisor, a.high / divisor];
    return [least(ends), greatest(ends)];
  }),
  // The sign of a remainder is that of the dividend.
  '%': byConstant((a, divisor) => {
    const most = (divisor < 0n ? -divisor : divisor) - 1n;
    return [a.low < 0n ? greatest([-most, a.low]) : 0n, a.high > 0n ? least([most, a.high]) : 0n];
  }),
  ...Object.fromEntries(CONDITIONS.map((name) => [name, TRUTH])),
  abs: ([operand], range) => {
    const a = operand === undefined ? undefined : range(operand);
    if (a === undefined || a === null) return a;
    const ends = [a.low, a.high].map((end) => (end < 0n ? -end : end));
    return { low: a.low <= 0n && a.high >= 0n ? 0n : least(ends), high: greatest(ends), mayBeNull: a.mayBeNull };
  },
  bitwiseAnd(parts) {
    const masks = parts.map((part) => constantOf(part)?.value).filter((value) => typeof value === 'bigint' && value >= 0n);
    const [mask] = masks;
    return typeof mask === 'bigint' ? { low: 0n, high: mask, mayBeNull: true } : undefined;
  },
  cast: ([operand, type], range) =>
    operand === undefined || String(constantOf(type)?.value).toUpperCase() !== 'LONG' ? undefined : range(operand),
  greatest: oneOfAll,
  least: oneOfAll,
  max: oneOfAll,
  min: oneOfAll,
  if: ([, ...results], range) => union(results.map(range)),
  case_searched(parts, range) {
    const results = parts.filter((_, index) => index % 2 === 1 || (index === parts.length - 1 && parts.length % 2 === 1));
    const found = union(results.map(range));
    return parts.length % 2 === 1 || found === null || found === undefined ? found : { ...found, mayBeNull: true };
  },
  case_simple([, ...cases], range) {
    const results = cases.filter((_, index) => index % 2 === 1 || (index === cases.length - 1 && cases.length % 2 === 1));
    const found = union(results.map(range));
    return cases.length % 2 === 1 || found === null || found === undefined ? found : { ...found, mayBeNull: true };
  },
  timestamp_extract([instant, unit], range) {
    const name = constantOf(unit)?.value;
    if (typeof name !== 'string' || instant === undefined) return undefined;
    const bounds = PARTS_OF_TIME.get(name.toUpperCase());
    if (bounds !== undefined) return { low: bounds[0], high: bounds[1], mayBeNull: true };
    return name.toUpperCase() === 'YEAR' ? yearsOf(range(instant)) : undefined;
  },
  nvl: firstKnown,
  coalesce: firstKnown,
};

/** In whichever time zone. */
function yearsOf(instants: Range): Range {
  if (instants === null || instants === undefined) return instants;
  const [first, last] = [instants.low - DAY_MS, instants.high + DAY_MS].map((ms) => new Date(Number(ms)).getUTCFullYear());
  if (first === undefined || last === undefined || Number.isNaN(first) || Number.isNaN(last)) return undefined;
  return { low: BigInt(first), high: BigInt(last), mayBeNull: instants.mayBeNull };
}

const DAY_MS = 86_400_000n;

/** One of the operands, or null. */
function oneOfAll(parts: readonly Expression[], range: (part: Expression) => Range): Range {
  const all = union(parts.map(range));
  return all === null || all === undefined ? all : { ...all, mayBeNull: true };
}

function ofTwo(bounds: (a: LongRange, b: LongRange) => readonly [bigint, bigint]): RangeFunction {
  return ([left, right, ...others], range) => {
    if (left === undefined || right === undefined || others.length > 0) return undefined;
    const [a, b] = [range(left), range(right)];
    if (a === undefined || b === undefined) return undefined;
    if (a === null || b === null) return null;
    const [low, high] = bounds(a, b);
    return { low, high, mayBeNull: a.mayBeNull || b.mayBeNull };
  };
}

function byConstant(bounds: (a: LongRange, divisor: bigint) => readonly [bigint, bigint]): RangeFunction {
  return ([left, right], range) => {
    const divisor = constantOf(right)?.value;
    const a = left === undefined ? undefined : range(left);
    if (typeof divisor !== 'bigint' || divisor === 0n || a === undefined || a === null) return undefined;
    const [low, high] = bounds(a, divisor);
    return { low, high, mayBeNull: a.mayBeNull };
  };
}

/** The range that holds them all; null where one of them is. */
function union(ranges: readonly Range[]): Range {
  return ranges.reduce((all, each) => {
    if (all === undefined || each === undefined) return undefined;
    if (all === null || each === null) {
      const other = all ?? each;
      return other === null ? null : { ...other, mayBeNull: true };
    }
    return { low: least([all.low, each.low]), high: greatest([all.high, each.high]), mayBeNull: all.mayBeNull || each.mayBeNull };
  });
}

function firstKnown(parts: readonly Expression[], range: (part: Expression) => Range): Range {
  const ranges = parts.map(range);
  const all = union(ranges);
  const isKnown = ranges.some((each) => each !== null && each !== undefined && !each.mayBeNull);
  return isKnown && all !== null && all !== undefined ? { ...all, mayBeNull: false } : all;
}

const least = (numbers: readonly bigint[]): bigint => numbers.reduce((a, b) => (a < b ? a : b));
const greatest = (numbers: readonly bigint[]): bigint => numbers.reduce((a, b) => (a > b ? a : b));
