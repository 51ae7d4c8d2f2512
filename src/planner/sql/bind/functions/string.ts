// SQL string functions.

import { type Bound, call, integer, text } from '../../relation/bound.js';
import { type FunctionCall, plain, type SqlFunction } from '../function-call.js';

/** SQL counts characters from 1, the expression language from 0. */
function less(bound: Bound, amount: number): Bound {
  if (bound.kind === 'literal' && typeof bound.value === 'bigint') return integer(bound.value - BigInt(amount));
  return call('BIGINT', '-', bound, integer(amount));
}

function more(bound: Bound, amount: number): Bound {
  return call('INTEGER', '+', bound, integer(amount));
}

/** SUBSTRING(s FROM start FOR count): what there is of positions start to start + count - 1; before the first there is nothing. */
function substring(bound: FunctionCall): Bound {
  const start = bound.integer(1);
  const counts = bound.count > 2 ? [bound.integer(2)] : [];
  if (start.kind === 'literal' && typeof start.value === 'bigint') {
    const missing = start.value < 1n ? Number(1n - start.value) : 0;
    const from = integer(missing > 0 ? 0n : start.value - 1n);
    return call(
      'VARCHAR',
      'substring',
      bound.text(0),
      from,
      ...counts.map((count) => (missing > 0 ? atLeastZero(less(count, missing)) : count)),
    );
  }
  const place = placeOf(start);
  if (place !== undefined && place.least >= 1n)
    return call('VARCHAR', 'substring', bound.text(0), before(place), ...counts.map(atLeastZero));
  const isBefore = call('BOOLEAN', '<', start, integer(1));
  const from = call('BIGINT', 'if', isBefore, integer(0), less(start, 1));
  const kept = (count: Bound): Bound => atLeastZero(call('BIGINT', 'if', isBefore, call('BIGINT', '+', count, less(start, 1)), count));
  return call('VARCHAR', 'substring', bound.text(0), from, ...counts.map(kept));
}

/** A place in a string, or its length, and a constant. */
interface Place {
  readonly found: Bound;
  readonly plus: bigint;
  /** The smallest value of both together. */
  readonly least: bigint;
}

/** Constants beyond it may make sums wrap. */
const PLUS_MAX = 2n ** 31n;

function placeOf(bound: Bound): Place | undefined {
  if (bound.kind !== 'call') return undefined;
  const { function: name, arguments: operands } = bound;
  if (name === 'strpos' || name === 'strlen') return { found: bound, plus: 0n, least: name === 'strpos' ? -1n : 0n };
  const [left, right] = operands;
  if ((name !== '+' && name !== '-') || left === undefined || right?.kind !== 'literal' || typeof right.value !== 'bigint')
    return undefined;
  const place = placeOf(left);
  const more = name === '+' ? right.value : -right.value;
  if (place === undefined || more > PLUS_MAX || more < -PLUS_MAX) return undefined;
  return { found: place.found, plus: place.plus + more, least: place.least + more };
}

/** The position before a place, in one sum. */
function before({ found, plus }: Place): Bound {
  return plus === 1n ? found : call('BIGINT', '+', found, integer(plus - 1n));
}

function atLeastZero(count: Bound): Bound {
  if (count.kind === 'literal' && typeof count.value === 'bigint') return integer(count.value < 0n ? 0n : count.value);
  const place = placeOf(count);
  if (place !== undefined && place.least >= 0n) return count;
  return call('BIGINT', 'if', call('BOOLEAN', '<', count, integer(0)), integer(0), count);
}

/** POSITION(needle IN haystack [FROM start]). */
function position(bound: FunctionCall): Bound {
  const from = bound.count > 2 ? [less(bound.integer(2), 1)] : [];
  return more(call('INTEGER', 'strpos', bound.text(1), bound.text(0), ...from), 1);
}

function trim(name: string, native: string): SqlFunction {
  return plain(name, native, ['text', 'text'], 'VARCHAR', 1);
}

function pad(name: string, native: string): SqlFunction {
  return {
    name,
    minArguments: 2,
    maxArguments: 3,
    bind: (bound) => call('VARCHAR', native, bound.text(0), bound.integer(1), bound.count > 2 ? bound.text(2) : text(' ')),
  };
}

const LENGTH_NAMES = ['LENGTH', 'CHAR_LENGTH', 'CHARACTER_LENGTH', 'STRLEN'];

function concatenation(name: string): SqlFunction {
  return {
    name,
    minArguments: 1,
    maxArguments: Infinity,
    bind: (bound) => call('VARCHAR', 'concat', ...bound.arguments.map((_, index) => bound.text(index))),
  };
}

export const STRING_FUNCTIONS: readonly SqlFunction[] = [
  ...LENGTH_NAMES.map((name) => plain(name, 'strlen', ['text'], 'INTEGER')),
  plain('LOWER', 'lower', ['text'], 'VARCHAR'),
  plain('UPPER', 'upper', ['text'], 'VARCHAR'),
  plain('REVERSE', 'reverse', ['text'], 'VARCHAR'),
  plain('LEFT', 'left', ['text', 'integer'], 'VARCHAR'),
  plain('RIGHT', 'right', ['text', 'integer'], 'VARCHAR'),
  plain('REPEAT', 'repeat', ['text', 'integer'], 'VARCHAR'),
  plain('REPLACE', 'replace', ['text', 'text', 'text'], 'VARCHAR'),
  plain('CONTAINS_STRING', 'contains_string', ['text', 'text'], 'BOOLEAN'),
  plain('ICONTAINS_STRING', 'icontains_string', ['text', 'text'], 'BOOLEAN'),
  plain('REGEXP_LIKE', 'regexp_like', ['text', 'text'], 'BOOLEAN'),
  plain('REGEXP_EXTRACT', 'regexp_extract', ['text', 'text', 'integer'], 'VARCHAR', 1),
  plain('REGEXP_REPLACE', 'regexp_replace', ['text', 'text', 'text'], 'VARCHAR'),
  plain('LOOKUP', 'lookup', ['text', 'text', 'text'], 'VARCHAR', 1),
  plain('DECODE_BASE64_UTF8', 'decode_base64_utf8', ['text'], 'VARCHAR'),
  {
    name: 'STRING_FORMAT',
    minArguments: 1,
    maxArguments: Infinity,
    bind: (bound) => call('VARCHAR', 'format', bound.text(0), ...bound.arguments.slice(1)),
  },
  plain('PARSE_LONG', 'parse_long', ['text', 'integer'], 'BIGINT', 1),
  concatenation('CONCAT'),
  concatenation('TEXTCAT'),
  trim('TRIM', 'trim'),
  trim('BTRIM', 'trim'),
  trim('LTRIM', 'ltrim'),
  trim('RTRIM', 'rtrim'),
  pad('LPAD', 'lpad'),
  pad('RPAD', 'rpad'),
  { name: 'SUBSTRING', minArguments: 2, maxArguments: 3, bind: substring },
  { name: 'SUBSTR', minArguments: 2, maxArguments: 3, bind: substring },
  { name: 'STRPOS', minArguments: 2, maxArguments: 2, bind: (bound) => more(call('INTEGER', 'strpos', bound.text(0), bound.text(1)), 1) },
  { name: 'POSITION', minArguments: 2, maxArguments: 3, bind: position },
];
