// Loops for arithmetic and comparisons over a batch of numbers.

import { highest, lowest } from '../../../base/lists.js';
import { own } from '../../../base/names.js';
import { ANY, anyOf, exactRange, type NumberBatch, newNulls, newValues, nullsOfBoth, type Range, TRUTH } from './number-batch.js';

type Loop = (a: Float64Array, b: Float64Array, out: Float64Array, rows: number) => void;

// One loop each: a function handed to a common loop would be called for every row.
const ADD: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = (a[i] ?? 0) + (b[i] ?? 0);
};
const SUBTRACT: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = (a[i] ?? 0) - (b[i] ?? 0);
};
const MULTIPLY: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = (a[i] ?? 0) * (b[i] ?? 0);
};
const DIVIDE: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = (a[i] ?? 0) / (b[i] ?? 0);
};
const REMAINDER: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = (a[i] ?? 0) % (b[i] ?? 0);
};
/** Adding 0 makes 0 of -0, which LONGs do not have. */
const MULTIPLY_LONG: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = (a[i] ?? 0) * (b[i] ?? 0) + 0;
};
/** Quotient of LONGs within 2^53; truncating the double quotient is exact there. */
const DIVIDE_LONG: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = Math.trunc((a[i] ?? 0) / (b[i] ?? 0)) + 0;
};
const REMAINDER_LONG: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = ((a[i] ?? 0) % (b[i] ?? 0)) + 0;
};

/*
 * NaN equals itself and is above everything else, so that each comparison asks for it where the plain one is false: on
 * numbers that are none, `x !== x`.
 */
const isNaNumber = (x: number): boolean => x !== x;

const COMPARISONS: Readonly<Record<string, Loop>> = {
  '==': (a, b, out, rows) => {
    for (let i = 0; i < rows; i++) {
      const x = a[i] ?? 0;
      const y = b[i] ?? 0;
      out[i] = x === y || (isNaNumber(x) && isNaNumber(y)) ? 1 : 0;
    }
  },
  '!=': (a, b, out, rows) => {
    for (let i = 0; i < rows; i++) {
      const x = a[i] ?? 0;
      const y = b[i] ?? 0;
      out[i] = x === y || (isNaNumber(x) && isNaNumber(y)) ? 0 : 1;
    }
  },
  '<': (a, b, out, rows) => {
    for (let i = 0; i < rows; i++) {
      const x = a[i] ?? 0;
      const y = b[i] ?? 0;
      out[i] = x < y || (isNaNumber(y) && !isNaNumber(x)) ? 1 : 0;
    }
  },
  '<=': (a, b, out, rows) => {
    for (let i = 0; i < rows; i++) {
      const x = a[i] ?? 0;
      const y = b[i] ?? 0;
      out[i] = x <= y || isNaNumber(y) ? 1 : 0;
    }
  },
  '>': (a, b, out, rows) => {
    for (let i = 0; i < rows; i++) {
      const x = a[i] ?? 0;
      const y = b[i] ?? 0;
      out[i] = x > y || (isNaNumber(x) && !isNaNumber(y)) ? 1 : 0;
    }
  },
  '>=': (a, b, out, rows) => {
    for (let i = 0; i < rows; i++) {
      const x = a[i] ?? 0;
      const y = b[i] ?? 0;
      out[i] = x >= y || isNaNumber(x) ? 1 : 0;
    }
  },
};

export function compared(name: string, a: NumberBatch, b: NumberBatch): NumberBatch | undefined {
  const loop = Object.hasOwn(COMPARISONS, name) ? own(COMPARISONS, name) : undefined;
  return loop === undefined ? undefined : pairwise(a, b, loop, 'LONG', TRUTH);
}

/** Remainder of 32-bit LONGs, which the processor divides natively. */
const REMAINDER_INT: Loop = (a, b, out, rows) => {
  for (let i = 0; i < rows; i++) out[i] = (((a[i] ?? 0) | 0) % ((b[i] ?? 0) | 0)) | 0;
};

function isInt({ low, high }: Range): boolean {
  return low >= -(2 ** 31) && high < 2 ** 31;
}

/** `+ - * / %`; undefined for others, and where LONGs may leave the range in which doubles are exact. */
export function computed(name: string, a: NumberBatch, b: NumberBatch): NumberBatch | undefined {
  if (a.type === 'DOUBLE' || b.type === 'DOUBLE') {
    const loop = own({ '+': ADD, '-': SUBTRACT, '*': MULTIPLY, '/': DIVIDE, '%': REMAINDER }, name);
    return loop === undefined ? undefined : pairwise(a, b, loop, 'DOUBLE', ANY);
  }
  if (name === '/' || name === '%') return divided(name, a, b);
  const range = longRange(name, a.range, b.range);
  const loop = own({ '+': ADD, '-': SUBTRACT, '*': MULTIPLY_LONG }, name);
  return range === undefined || loop === undefined ? undefined : pairwise(a, b, loop, 'LONG', range);
}

function longRange(name: string, a: Range, b: Range): Range | undefined {
  if (name === '+') return exactRange(a.low + b.low, a.high + b.high);
  if (name === '-') return exactRange(a.low - b.high, a.high - b.low);
  const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  return exactRange(lowest(corners), highest(corners));
}

function pairwise(a: NumberBatch, b: NumberBatch, loop: Loop, type: 'LONG' | 'DOUBLE', range: Range): NumberBatch {
  const values = newValues();
  const { nulls, fill } = nullsOfBoth(a, b);
  return {
    type,
    range,
    values,
    nulls,
    fill(block) {
      a.fill(block);
      b.fill(block);
      loop(a.values, b.values, values, block.rows);
      fill(block.rows);
    },
  };
}

/** Division of LONGs, null by zero. The number of a null may be 0: the row is null already. */
function divided(name: '/' | '%', a: NumberBatch, b: NumberBatch): NumberBatch {
  const nulls = newNulls();
  const loop = name === '/' ? DIVIDE_LONG : isInt(a.range) && isInt(b.range) ? REMAINDER_INT : REMAINDER_LONG;
  const size = Math.max(Math.abs(a.range.low), Math.abs(a.range.high));
  const quotient = pairwise(a, b, loop, 'LONG', { low: -size, high: size });
  return {
    ...quotient,
    nulls,
    fill(block) {
      quotient.fill(block);
      const divisors = b.values;
      const both = quotient.nulls;
      for (let row = 0; row < block.rows; row++) nulls[row] = divisors[row] === 0 || (both !== undefined && both[row] === 1) ? 1 : 0;
    },
  };
}

/** greatest, least: of those that are not null; the first of equal ones. */
export function extreme(operands: readonly NumberBatch[], direction: 1 | -1): NumberBatch | undefined {
  const [first, ...others] = operands;
  return first === undefined ? undefined : others.reduce((best, each) => extremeOfTwo(best, each, direction), first);
}

function extremeOfTwo(best: NumberBatch, each: NumberBatch, direction: 1 | -1): NumberBatch {
  const made = anyOf([best, each]);
  const { values } = made;
  const nulls = best.nulls !== undefined && each.nulls !== undefined ? newNulls() : undefined;
  return {
    ...made,
    nulls,
    fill({ start, rows }) {
      best.fill({ start, rows });
      each.fill({ start, rows });
      const [a, b, noA, noB] = [best.values, each.values, best.nulls, each.nulls];
      for (let row = 0; row < rows; row++) {
        const x = a[row] ?? 0;
        const y = b[row] ?? 0;
        const isAbove = y > x || (isNaNumber(y) && !isNaNumber(x));
        const isReplaced = direction === 1 ? isAbove : !isAbove && y !== x && !isNaNumber(y);
        values[row] = noA?.[row] === 1 || (isReplaced && noB?.[row] !== 1) ? y : x;
        if (nulls !== undefined) nulls[row] = (noA?.[row] ?? 0) & (noB?.[row] ?? 0);
      }
    },
  };
}
