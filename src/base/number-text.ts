// Numbers as strings: read for casts, orders and ingestion, and printed as Java prints them.

import { onFirstUse } from './on-first-use.js';

export const MIN_LONG = -(2n ** 63n);
export const MAX_LONG = 2n ** 63n - 1n;

const INTEGER = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WORDS: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['+Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

const OTHER_DIGITS = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]/g;
/** The digits 0 of ASCII, Arabic-Indic, extended Arabic-Indic, Devanagari and fullwidth digits. */
const DIGIT_ZEROES: readonly number[] = [0x30, 0x660, 0x6f0, 0x966, 0xff10];

/** The same string with digits of other scripts as 0 to 9, which is how orders and exact numbers read them. */
export function withAsciiDigits(text: string): string {
  return text.replace(OTHER_DIGITS, (digit) => {
    const code = digit.charCodeAt(0);
    return String(code - (DIGIT_ZEROES.findLast((zero) => zero <= code) ?? code));
  });
}

/** The integer that a string of digits with a sign or without is, of any size; undefined for any other string. */
export function integerOf(text: string): bigint | undefined {
  return INTEGER.test(text) ? BigInt(text.startsWith('+') ? text.slice(1) : text) : undefined;
}

/** The double nearest to a decimal number; undefined for any other string, words for infinity among them. */
export function decimalOf(text: string): number | undefined {
  return DECIMAL.test(text) ? Number(text) : undefined;
}

/** The double that a string is: a decimal number, `NaN` or an infinity; undefined for any other string. */
export function doubleOf(text: string): number | undefined {
  return decimalOf(text) ?? WORDS.get(text);
}

/** A double as Java prints it: `1.0`, `0.001`, `1.0E7`, `1.234E-5`, `4.9E-324`; always with a fraction. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  const shortest = value.toExponential();
  // Two digits at least: the smallest double is 4.9E-324, not 5.0E-324.
  const [digits = '', exponent = ''] = (shortest.includes('.') ? shortest : value.toExponential(1)).split('e');
  return `${digits}E${exponent.replace('+', '')}`;
}

/** A FLOAT, held in a double, with no more digits than tell it from its neighbours: `0.1`, not `0.10000000149011612`. */
export function floatText(value: number): string {
  if (!Number.isFinite(value) || value === 0) return doubleText(value);
  // If some number of digits identifies the value, so does any larger one: a binary search finds the smallest.
  let [enough, tooFew] = [9, 1];
  let text = value.toPrecision(enough);
  while (enough - tooFew > 1) {
    const digits = (enough + tooFew) >> 1;
    const found = floatWith(value, digits);
    if (found === undefined) tooFew = digits;
    else [enough, text] = [digits, found];
  }
  return doubleText(Number(text));
}

/** A number of so many digits that is read as the FLOAT; of a power of two, whose neighbour below is nearer, the nearest may not be. */
function floatWith(value: number, digits: number): string | undefined {
  return [value, value * (1 + 2 ** -25)].map((near) => near.toPrecision(digits)).find((text) => Math.fround(Number(text)) === value);
}

/**
 * Powers of ten as the kernel `textOfDoubles` takes them: {low, high} of 10^-292 to 10^324, of each the first 128 bits, and one more in
 * the last, so that none is too small.
 */
export const powersOfTen = onFirstUse((): BigUint64Array => {
  const [first, last] = [-292, 324];
  const words = new BigUint64Array((last - first + 1) * 2);
  for (let exponent = first; exponent <= last; exponent++) {
    // 10^-292 takes 970 bits behind the point until its first one, and 128 more.
    const scaled = exponent < 0 ? (1n << 1100n) / 10n ** BigInt(-exponent) : (10n ** BigInt(exponent)) << 128n;
    const upper = (scaled >> BigInt(scaled.toString(2).length - 128)) + 1n;
    words.set([BigInt.asUintN(64, upper), upper >> 64n], (exponent - first) * 2);
  }
  return words;
});
