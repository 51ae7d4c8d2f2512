// String functions of the expression language.

import { ServiceError } from '../../base/errors.js';
import { likeTest, parseLike } from '../../base/like-pattern.js';
import { foldCase } from '../fold-case.js';
import { type Constant, compiledFunction, type ExpressionFunction, nullIfAnyNull, plainFunction } from '../function.js';
import { compileRegularExpression } from '../regular-expression.js';
import { fromTruth, toLong, toText, type Value, wrapLong } from '../value.js';
import { refuseTextLength, TEXT_LENGTH_MAX } from './text-length.js';

/** Any value as text; only asked where nulls are out of the way. */
const text = (value: Value | undefined): string => toText(value ?? null) ?? '';

/** A count or position; null when it is not an integer or so large that no text reaches it. */
function integer(value: Value | undefined): number | null {
  const long = toLong(value ?? null);
  return long === null || long > 0x7fffffffn || long < -0x80000000n ? null : Number(long);
}

function constantText(constant: Constant | undefined, what: string): string | null {
  if (constant === undefined) throw new ServiceError('query_invalid', `${what} must be a constant`);
  return toText(constant.value);
}

/** A function whose second argument (and third) are compiled once; null patterns make every answer null. */
function patternFunction(
  name: string,
  argumentCount: readonly [number, number],
  type: 'STRING' | 'LONG',
  compile: (constants: readonly (Constant | undefined)[]) => ((values: readonly Value[]) => Value) | null,
): ExpressionFunction {
  return compiledFunction(name, argumentCount, type, (constants) => nullIfAnyNull(compile(constants) ?? (() => null)));
}

const like = patternFunction('like', [2, 3], 'LONG', (constants) => {
  const pattern = constantText(constants[1], 'like: the pattern');
  const escape = constants.length > 2 ? constantText(constants[2], 'like: the escape character') : null;
  if (pattern === null) return null;
  const matches = likeTest(parseLike(pattern, escape));
  return (values) => fromTruth(matches(text(values[0])));
});

const regexpExtract = patternFunction('regexp_extract', [2, 3], 'STRING', (constants) => {
  const pattern = constantText(constants[1], 'regexp_extract: the pattern');
  const group = constants.length > 2 ? toLong(constants[2]?.value ?? null) : 0n;
  if (pattern === null) return null;
  const compiled = compileRegularExpression(pattern);
  if (group === null || group < 0n || group > BigInt(compiled.groupCount))
    throw new ServiceError('query_invalid', `regexp_extract: the group is a constant from 0 to ${compiled.groupCount}`);
  return (values) => compiled.extract(text(values[0]), Number(group));
});

const regexpLike = patternFunction('regexp_like', [2, 2], 'LONG', (constants) => {
  const pattern = constantText(constants[1], 'regexp_like: the pattern');
  if (pattern === null) return null;
  const compiled = compileRegularExpression(pattern);
  return (values) => fromTruth(compiled.test(text(values[0])));
});

const regexpReplace = patternFunction('regexp_replace', [3, 3], 'STRING', (constants) => {
  const pattern = constantText(constants[1], 'regexp_replace: the pattern');
  if (pattern === null) return null;
  const compiled = compileRegularExpression(pattern);
  const replaceBy = onLastUse((replacement: string) => compiled.replacer(replacement));
  if (constants[2] !== undefined) replaceBy(text(constants[2].value));
  return (values) => {
    const source = text(values[0]);
    // The replacement of a row is looked at where it is needed: it may be no replacement at all.
    const result = compiled.test(source) ? replaceBy(text(values[2]))(source) : source;
    refuseTextLength('regexp_replace', result.length);
    return result;
  };
});

/** Keeps what was made of the last argument: a replacement is most often the same for every row. */
function onLastUse<Made>(make: (argument: string) => Made): (argument: string) => Made {
  let last: { readonly argument: string; readonly made: Made } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, made: make(argument) };
    return last.made;
  };
}

/** Substring from the 0-based `index`; a negative or absent length means to the end. An index past the end gives null. */
function substring(value: string, index: number, length: number): string | null {
  if (index < 0 || index >= value.length) return null;
  return length < 0 ? value.slice(index) : value.slice(index, index + length);
}

/** Cuts `characters` off the chosen ends; nothing where there are none. */
function trimmed(value: string, characters: string, ends: { readonly start: boolean; readonly end: boolean }): string {
  let start = 0;
  let end = value.length;
  if (ends.start) while (start < end && characters.includes(value.charAt(start))) start++;
  if (ends.end) while (end > start && characters.includes(value.charAt(end - 1))) end--;
  return value.slice(start, end);
}

function trimFunction(name: string, ends: { readonly start: boolean; readonly end: boolean }): ExpressionFunction {
  return compiledFunction(name, [1, 2], 'STRING', () => ([value = null, characters]) => {
    const whole = toText(value);
    return whole === null ? null : trimmed(whole, characters === undefined ? ' ' : (toText(characters) ?? ''), ends);
  });
}

function padFunction(name: string, atStart: boolean): ExpressionFunction {
  return plainFunction(name, [3, 3], 'STRING', ([value, size, padding]) => {
    const length = integer(size);
    if (length === null || length === 0) return null;
    refuseTextLength(name, length);
    const base = text(value).slice(0, Math.max(0, length));
    return atStart ? base.padStart(length, text(padding)) : base.padEnd(length, text(padding));
  });
}

const ofText = (name: string, type: 'STRING' | 'LONG', apply: (value: string) => Value): ExpressionFunction =>
  plainFunction(name, [1, 1], type, ([value]) => apply(text(value)));

const parseLongFunction = plainFunction('parse_long', [1, 2], 'LONG', ([value, radixValue]) => {
  const radix = radixValue === undefined ? 10 : integer(radixValue);
  if (radix === null || radix < 2 || radix > 36) return null;
  return parseDigits(text(value), radix);
});

/** Value of a digit of any script or of a Latin letter; -1 for anything else. */
function digitOf(character: string): number {
  const ascii = '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(character.toLowerCase());
  if (ascii >= 0 || character.length > 1) return ascii;
  const code = character.charCodeAt(0);
  if (FULL_WIDTH_LETTER.test(character)) return digitOf(String.fromCharCode(code - 0xfee0));
  if (!DIGIT.test(character)) return -1;
  // Digits come in runs of ten, each from zero to nine.
  let zero = code;
  while (DIGIT.test(String.fromCharCode(zero - 1))) zero--;
  return (code - zero) % 10;
}

const FULL_WIDTH_LETTER = /^[\uff21-\uff3a\uff41-\uff5a]$/;

const DIGIT = /^\p{Nd}$/u;

function parseDigits(value: string, radix: number): bigint | null {
  const [, sign, digits = ''] = /^([+-]?)(.*)$/s.exec(value) ?? [];
  let result = 0n;
  for (const character of radix === 16 ? digits.replace(/^0x/i, '') : digits) {
    const digit = digitOf(character);
    if (digit < 0 || digit >= radix) return null;
    result = result * BigInt(radix) + BigInt(digit);
  }
  const signed = sign === '-' ? -result : result;
  return digits === '' || signed !== wrapLong(signed) ? null : signed;
}

export const STRING_FUNCTIONS: readonly ExpressionFunction[] = [
  plainFunction('concat', [0, Infinity], 'STRING', (values) => {
    if (values.length === 0) return null;
    let joined = '';
    for (const value of values) joined += text(value);
    refuseTextLength('concat', joined.length);
    return joined;
  }),
  ofText('strlen', 'LONG', (value) => BigInt(value.length)),
  ofText('lower', 'STRING', (value) => value.toLowerCase()),
  ofText('upper', 'STRING', (value) => value.toUpperCase()),
  ofText('reverse', 'STRING', (value) => [...value].reverse().join('')),
  plainFunction('substring', [2, 3], 'STRING', ([value, index, length]) => {
    const from = integer(index);
    const count = length === undefined ? -1 : integer(length);
    return from === null || count === null ? null : substring(text(value), from, count);
  }),
  plainFunction('left', [2, 2], 'STRING', ([value, length]) => {
    const count = integer(length);
    return count === null || count < 0 ? null : text(value).slice(0, count);
  }),
  plainFunction('right', [2, 2], 'STRING', ([value, length]) => {
    const count = integer(length);
    return count === null || count < 0 ? null : text(value).slice(Math.max(0, text(value).length - count));
  }),
  plainFunction('replace', [3, 3], 'STRING', ([value, search, replacement]) => {
    const [source, wanted, put] = [text(value), text(search), text(replacement)];
    // In the worst case every position matches; the matches are counted for long strings only.
    if ((source.length + 1) * (put.length + 1) > TEXT_LENGTH_MAX)
      refuseTextLength('replace', source.length + (source.split(wanted).length + 1) * put.length);
    return source.replaceAll(wanted, () => put);
  }),
  plainFunction('repeat', [2, 2], 'STRING', ([value, times]) => {
    const count = integer(times);
    if (count === null || count < 1) return null;
    refuseTextLength('repeat', count * text(value).length);
    return text(value).repeat(count);
  }),
  trimFunction('trim', { start: true, end: true }),
  trimFunction('ltrim', { start: true, end: false }),
  trimFunction('rtrim', { start: false, end: true }),
  padFunction('lpad', true),
  padFunction('rpad', false),
  plainFunction('strpos', [2, 3], 'LONG', ([value, search, from]) => {
    const start = from === undefined ? 0 : integer(from);
    return start === null ? null : BigInt(text(value).indexOf(text(search), start));
  }),
  plainFunction('contains_string', [2, 2], 'LONG', ([value, search]) => fromTruth(text(value).includes(text(search)))),
  compiledFunction('icontains_string', [2, 2], 'LONG', ([, constant]) => {
    const known = constant === undefined || constant.value === null ? undefined : foldCase(text(constant.value));
    return nullIfAnyNull(([value, search]) => fromTruth(foldCase(text(value)).includes(known ?? foldCase(text(search)))));
  }),
  like,
  regexpExtract,
  regexpLike,
  regexpReplace,
  parseLongFunction,
];
