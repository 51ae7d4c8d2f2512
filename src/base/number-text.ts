// Reads numbers in strings, for casts, orders and ingestion.

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
