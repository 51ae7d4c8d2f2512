// The function `format`: patterns in the style of Java's `String.format`.

import { ServiceError } from '../base/errors.js';
import { exponentText, fixedText } from './decimal-text.js';
import { toText, toTruth, type Value } from './value.js';

/** One conversion of a pattern, as it was written. */
interface Specifier {
  readonly conversion: string;
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
}

/** The text of a value; undefined for one of a type that the conversion does not take. */
type Convert = (value: Value) => string | undefined;

const SPECIFIER = /%(?:(\d+)\$|(<))?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/y;
const WIDTH_MAX = 10_000;

/**
 * A pattern in the manner of printf, as Java has it: `%[position$][flags][width][.precision]conversion` with the flags
 * - 0 + space , ( # and the conversions b s c d x o e f (upper case: B S C X E), n and %. The result gives null for
 * values that a conversion does not take and for positions past the last value.
 * @throws ServiceError for what is no pattern; `unsupported` for the conversions h, a, g and t
 */
export function compileFormat(pattern: string): (values: readonly Value[]) => string | null {
  const parts: ((values: readonly Value[]) => string | undefined)[] = [];
  let next = 0;
  let previous = 0;
  for (let at = 0; at < pattern.length; ) {
    const percent = pattern.indexOf('%', at);
    const text = pattern.slice(at, percent < 0 ? pattern.length : percent);
    if (text !== '') parts.push(() => text);
    if (percent < 0) break;
    SPECIFIER.lastIndex = percent;
    const found = SPECIFIER.exec(pattern);
    if (found === null) throw refusal(pattern, percent);
    at = SPECIFIER.lastIndex;
    const [whole, position, again, flags = '', width = '0', precision, conversion = ''] = found;
    const specifier = { conversion, flags, width: Number(width), precision: precision === undefined ? undefined : Number(precision) };
    const convert = compileConversion(specifier) ?? refuseConversion(pattern, whole, percent);
    if (specifier.width > WIDTH_MAX || Number(precision ?? 0) > WIDTH_MAX)
      throw new ServiceError('resource_limit', `format '${pattern}': widths and precisions go up to ${WIDTH_MAX}`);
    const pad = (piece: string): string => (flags.includes('-') ? piece.padEnd(specifier.width) : piece.padStart(specifier.width));
    if (conversion === '%' || conversion === 'n') {
      parts.push(() => pad(conversion === '%' ? '%' : '\n'));
      continue;
    }
    const index = position !== undefined ? Number(position) - 1 : again === undefined ? next++ : previous;
    if (index < 0) throw refusal(pattern, percent);
    previous = index;
    parts.push((values) => {
      const value = values[index];
      const piece = value === undefined ? undefined : convert(value);
      return piece === undefined ? undefined : pad(piece);
    });
  }
  return (values) => {
    let text = '';
    for (const part of parts) {
      const piece = part(values);
      if (piece === undefined) return null;
      text += piece;
    }
    return text;
  };
}

function compileConversion(specifier: Specifier): Convert | undefined {
  const { conversion, flags, width, precision } = specifier;
  const cut = (text: string): string => (precision === undefined ? text : text.slice(0, precision));
  switch (conversion) {
    case '%':
    case 'n':
      return () => '';
    case 's':
      return (value) => cut(toText(value) ?? 'null');
    case 'b':
      return (value) => cut(value === null || toTruth(value) === false ? 'false' : 'true');
    case 'c':
      return orNull((value) =>
        typeof value === 'bigint' && value >= 0n && value <= 0x10ffffn ? String.fromCodePoint(Number(value)) : undefined,
      );
    case 'd':
      return orNull((value) =>
        typeof value === 'bigint' ? signed(value < 0n, (value < 0n ? -value : value).toString(), specifier) : undefined,
      );
    case 'x':
    case 'o': {
      const prefix = flags.includes('#') ? (conversion === 'x' ? '0x' : '0') : '';
      const zeros = flags.includes('0') ? width - prefix.length : 0;
      return orNull((value) =>
        typeof value === 'bigint'
          ? prefix +
            BigInt.asUintN(64, value)
              .toString(conversion === 'x' ? 16 : 8)
              .padStart(zeros, '0')
          : undefined,
      );
    }
    case 'f':
    case 'e': {
      const print = conversion === 'f' ? fixedText : exponentText;
      // A precision cuts the word as it cuts strings.
      return (value) => {
        if (value === null) return 'null'.slice(0, specifier.precision);
        return typeof value === 'number' ? doubleText(value, print, specifier) : undefined;
      };
    }
    default: {
      const lower = 'SBCXE'.includes(conversion) ? compileConversion({ ...specifier, conversion: conversion.toLowerCase() }) : undefined;
      return lower === undefined ? undefined : (value) => lower(value)?.toUpperCase();
    }
  }
}

const orNull =
  (convert: Convert): Convert =>
  (value) =>
    value === null ? 'null' : convert(value);

function doubleText(value: number, print: (value: number, places: number) => string, specifier: Specifier): string {
  if (Number.isNaN(value)) return 'NaN';
  const isNegative = value < 0 || Object.is(value, -0);
  if (!Number.isFinite(value)) return signed(isNegative, 'Infinity', { ...specifier, flags: specifier.flags.replace(/[,0]/g, '') });
  return signed(isNegative, print(Math.abs(value), specifier.precision ?? 6), specifier);
}

/** Digits with their sign, grouped and filled up with zeros as the flags say. */
function signed(isNegative: boolean, digits: string, { flags, width }: Specifier): string {
  const [whole = '', fraction] = digits.split('.');
  const grouped = flags.includes(',') ? whole.replace(/\B(?=(\d{3})+$)/g, ',') : whole;
  const text = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  const isBracketed = isNegative && flags.includes('(');
  const before = isBracketed ? '(' : isNegative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const after = isBracketed ? ')' : '';
  const zeros = flags.includes('0') ? width - before.length - after.length : 0;
  return before + text.padStart(zeros, '0') + after;
}

function refuseConversion(pattern: string, specifier: string, at: number): never {
  if (/[hHaAgGtT]$/.test(specifier))
    throw new ServiceError('unsupported', `format '${pattern}': the conversion ${specifier} is not supported`);
  throw refusal(pattern, at);
}

function refusal(pattern: string, at: number): ServiceError {
  return new ServiceError(
    'query_invalid',
    `format '${pattern}': what stands at column ${at + 1} is no conversion; accepted: b, s, c, d, x, o, e, f, n, %`,
  );
}
