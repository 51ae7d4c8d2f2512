// Comparisons of numbers over whole columns, rather than row by row with an object for each value.

import { constantOf } from '../../expression/expression-type.js';
import type { Expression } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import { type Check, checkedLoop } from '../block/checked-loops.js';
import type { ResultTable } from '../block/result-table.js';
import { type Doubles, doublesOf, type Rows } from './computed-doubles.js';
import { orderedNumbers } from './ordered-numbers.js';
import { halvesOf } from './typed-values.js';

/** Values of marks, one a row. */
export const FALSE = 0;
export const TRUE = 1;
export const UNKNOWN = 2;

/** For each order of two values whether a comparison of them holds. */
interface Holds {
  readonly below: boolean;
  readonly alike: boolean;
  readonly above: boolean;
}

/** Comparisons by the names that expressions have for them. */
const COMPARISONS: ReadonlyMap<string, Holds> = new Map([
  ['<', { below: true, alike: false, above: false }],
  ['<=', { below: true, alike: true, above: false }],
  ['>', { below: false, alike: false, above: true }],
  ['>=', { below: false, alike: true, above: true }],
  ['==', { below: false, alike: true, above: false }],
  ['!=', { below: true, alike: false, above: true }],
]);

/**
 * Marks of the rows of a table by a filter that compares numbers.
 * @returns undefined for any other filter, and for longs that no double is equal to
 */
export function comparedNumbers(table: ResultTable, filter: Filter, check: Check): Uint8Array | undefined {
  if (filter.kind === 'expression') return ofExpression(filter.expression, rowsOf(table, check));
  if (filter.kind === 'and') return ofAll(table, filter.filters, check);
  if (filter.kind !== 'range' || (filter.type !== 'LONG' && filter.type !== 'DOUBLE')) return undefined;
  const [lower, upper] = [boundOf(filter.lower, -Infinity), boundOf(filter.upper, Infinity)];
  if ((filter.lower === null && filter.upper === null) || lower === undefined || upper === undefined) return undefined;
  const bounds = { lower, upper, lowerStrict: filter.lowerStrict && filter.lower !== null, upperStrict: filter.upperStrict };
  const column = table.columns.find(({ name }) => name === filter.column);
  if (column?.kind === 'long') return longsWithin(column, bounds, check);
  return column?.kind === 'double' ? within(column, { ...bounds, isOpen: filter.upper === null }, check) : undefined;
}

/** Rows that meet all of several filters. */
function ofAll(table: ResultTable, filters: readonly Filter[], check: Check): Uint8Array | undefined {
  let all: Uint8Array | undefined;
  for (const each of filters) {
    const marks = comparedNumbers(table, each, check);
    if (marks === undefined) return undefined;
    if (all === undefined) all = marks;
    else andMarks(all, marks, check);
  }
  return all;
}

/** A bound as a double of the same value; undefined where there is none. */
function boundOf(bound: unknown, none: number): number | undefined {
  if (bound === null) return none;
  if (typeof bound !== 'number' && typeof bound !== 'bigint') return undefined;
  const number = Number(bound);
  return Number.isNaN(number) || (typeof bound === 'bigint' && !Number.isSafeInteger(number)) ? undefined : number;
}

interface Bounds {
  readonly lower: number;
  readonly upper: number;
  readonly lowerStrict: boolean;
  readonly upperStrict: boolean;
  /** There is no upper bound: NaN, which is above every number, is within. */
  readonly isOpen: boolean;
}

function within({ values, nulls }: Doubles, { lower, upper, lowerStrict, upperStrict, isOpen }: Bounds, check: Check): Uint8Array {
  const marks = new Uint8Array(values.length);
  checkedLoop(marks.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const value = values[row] ?? 0;
      const isAbove = lowerStrict ? value > lower : value >= lower;
      const isBelow = upperStrict ? value < upper : value <= upper;
      marks[row] = (isAbove && (isBelow || isOpen)) || (isOpen && value !== value) ? TRUE : FALSE;
    }
  });
  markUnknown(marks, nulls, check);
  return marks;
}

/** Highest halves of the longs that are doubles without loss. */
const HIGH_MAX = 2 ** 20;

function longsWithin(
  { values, nulls }: { readonly values: BigInt64Array; readonly nulls: Uint8Array | null },
  { lower, upper, lowerStrict, upperStrict }: Omit<Bounds, 'isOpen'>,
  check: Check,
): Uint8Array | undefined {
  const low = halvesOf(values);
  const high = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const marks = new Uint8Array(values.length);
  let areExact = true;
  checkedLoop(marks.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const half = high[row * 2 + 1] ?? 0;
      if (half >= HIGH_MAX || half < -HIGH_MAX) areExact = false;
      const value = half * 2 ** 32 + (low[row * 2] ?? 0);
      marks[row] = (lowerStrict ? value > lower : value >= lower) && (upperStrict ? value < upper : value <= upper) ? TRUE : FALSE;
    }
  });
  if (!areExact) return undefined;
  markUnknown(marks, nulls, check);
  return marks;
}

function markUnknown(marks: Uint8Array, nulls: Uint8Array | null, check: Check): void {
  if (nulls === null) return;
  checkedLoop(marks.length, check, (start, end) => {
    for (let row = start; row < end; row++) if (nulls[row] === 1) marks[row] = UNKNOWN;
  });
}

function rowsOf({ rowCount, columns }: ResultTable, check: Check): Rows {
  const byName = new Map(columns.map((column) => [column.name, column]));
  return {
    rowCount,
    columns: byName,
    typeOf(name) {
      const column = byName.get(name);
      return column === undefined || column.kind === 'multi' || column.kind === 'string'
        ? undefined
        : column.kind === 'long'
          ? 'LONG'
          : column.type;
    },
    check,
  };
}

function ofExpression(expression: Expression, rows: Rows): Uint8Array | undefined {
  if (expression.kind !== 'call' || expression.arguments.length !== 2) return undefined;
  const holds = COMPARISONS.get(expression.function);
  const [left, right] = expression.arguments;
  if (holds === undefined || left === undefined || right === undefined) return undefined;
  const [first, second] = [operandOf(left, rows), operandOf(right, rows)];
  if (first === undefined || second === undefined) return undefined;
  return compared(first, second, holds, rows.check);
}

/** Numbers that compare as the values of an expression do. */
function operandOf(expression: Expression, rows: Rows): Doubles | undefined {
  if (expression.kind === 'literal') {
    const value = constantOf(expression)?.value;
    return typeof value === 'number' || typeof value === 'bigint' ? ofConstant(value, rows.rowCount) : undefined;
  }
  if (expression.kind === 'column') {
    const column = rows.columns.get(expression.name);
    if (column?.kind === 'double') return column;
    if (column?.kind !== 'long') return undefined;
    const values = orderedNumbers(column, { column: column.name, descending: false, nulls: 'first', ordering: 'numeric' }, rows.check);
    return values === undefined ? undefined : { values, nulls: column.nulls };
  }
  return doublesOf(expression, rows);
}

function ofConstant(value: unknown, rowCount: number): Doubles | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const number = Number(value);
  if (typeof value === 'bigint' && !Number.isSafeInteger(number)) return undefined;
  return { values: new Float64Array(rowCount).fill(number), nulls: null };
}

/** NaN is above every other number, and like itself. */
function compared(left: Doubles, right: Doubles, { below, alike, above }: Holds, check: Check): Uint8Array {
  const [lefts, rights] = [left.values, right.values];
  const [ifBelow, ifAlike, ifAbove] = [Number(below), Number(alike), Number(above)];
  const marks = new Uint8Array(lefts.length);
  checkedLoop(marks.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const one = lefts[row] ?? 0;
      const other = rights[row] ?? 0;
      if (one < other) marks[row] = ifBelow;
      else if (one > other) marks[row] = ifAbove;
      else if (one === other || (Number.isNaN(one) && Number.isNaN(other))) marks[row] = ifAlike;
      else marks[row] = Number.isNaN(one) ? ifAbove : ifBelow;
    }
  });
  for (const { nulls } of [left, right]) markUnknown(marks, nulls, check);
  return marks;
}

function andMarks(marks: Uint8Array, others: Uint8Array, check: Check): void {
  checkedLoop(marks.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const one = marks[row];
      const other = others[row];
      marks[row] = one === FALSE || other === FALSE ? FALSE : one === UNKNOWN || other === UNKNOWN ? UNKNOWN : TRUE;
    }
  });
}
