// Functions that format values for people: sizes, patterns, decoded bytes.

import { ServiceError } from '../../base/errors.js';
import { fixedText } from '../decimal-text.js';
import { compileFormat } from '../format-pattern.js';
import { type ExpressionFunction, plainFunction } from '../function.js';
import { toLong, toText, type Value } from '../value.js';

/** Texts for people: numbers with units, patterns, decoded bytes. */
interface Units {
  readonly base: bigint;
  /** Powers of the base from the first on, one for each name. */
  readonly units: readonly bigint[];
  readonly names: readonly string[];
  /** Suffix behind the unit, and behind a number too small for one. */
  readonly suffix: string;
}

const BINARY = unitsOf(1024n, ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'], 'B');
const DECIMAL = unitsOf(1000n, ['K', 'M', 'G', 'T', 'P', 'E'], '');

function unitsOf(base: bigint, names: readonly string[], suffix: string): Units {
  return { base, units: names.map((_, index) => base ** BigInt(index + 1)), names, suffix };
}

/** (number[, digits after the point, 0 to 3]): in the largest unit of which there is at least one. */
function readable(name: string, units: Units): ExpressionFunction {
  const plain = plainFunction(name, [1, 2], 'STRING', ([value = null, places = 2n]) => {
    const long = toLong(value);
    const digits = toLong(places);
    return long === null || digits === null || digits < 0n || digits > 3n ? null : withUnit(long, units, Number(digits));
  });
  return {
    ...plain,
    bind(constants) {
      const places = constants.length > 1 ? toLong(constants[1]?.value ?? null) : 2n;
      if (constants[1] !== undefined && places !== null && (places < 0n || places > 3n))
        throw new ServiceError('query_invalid', `${name}: the precision is from 0 to 3, found ${places}`);
      return plain.bind(constants);
    },
  };
}

function withUnit(value: bigint, { base, units, names, suffix }: Units, places: number): string {
  const size = value < 0n ? -value : value;
  if (size < base) return suffix === '' ? value.toString() : `${value} ${suffix}`;
  let index = 0;
  while (size >= (units[index + 1] ?? Infinity)) index++;
  const unit = units[index] ?? base;
  // Decimal units keep three digits, what is below them is cut off first.
  const inUnit = base === 1000n ? Number(size / (unit / 1000n)) / 1000 : Number(size) / Number(unit);
  const text = fixedText(inUnit, places);
  return `${value < 0n ? '-' : ''}${text} ${names[index]}${suffix}`;
}

/** format('pattern', values...): null arguments print as null. */
const format: ExpressionFunction = {
  name: 'format',
  minArguments: 1,
  maxArguments: Infinity,
  type: () => 'STRING',
  bind(constants) {
    const pattern = constants[0]?.value;
    if (pattern === null) return () => null;
    if (typeof pattern !== 'string') throw new ServiceError('query_invalid', 'format: the pattern must be a constant string');
    const print = compileFormat(pattern);
    return (values) => print(values.slice(1));
  },
};

/** The text whose UTF-8 a text in base 64 carries; null for what is not base 64. */
const decodeBase64 = plainFunction('decode_base64_utf8', [1, 1], 'STRING', ([value = null]: readonly Value[]) => {
  const text = toText(value) ?? '';
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(text)
    ? Buffer.from(text, 'base64').toString('utf8')
    : null;
});

export const READABLE_FUNCTIONS: readonly ExpressionFunction[] = [
  readable('human_readable_binary_byte_format', BINARY),
  readable('human_readable_decimal_byte_format', { ...DECIMAL, suffix: 'B' }),
  readable('human_readable_decimal_format', DECIMAL),
  format,
  decodeBase64,
];
