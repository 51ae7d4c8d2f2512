// Comparisons of numbers over whole columns, rather than row by row with an object for each value.

import { constantOf } from '../../expression/expression-type.js';
import type { Expression } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import { type Check, checkedLoop } from '../block/checked-loops.js';
import type { ResultTable } from '../block/result-table.js';
import { type Doubles, doublesOf, type Rows } from './computed-doubles.js';
import { orderedNumbers } from './ordered-numbers.js';

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
  if (filter.kind !== 'range' || (filter.type !== 'LONG' && filter.type !== 'DOUBLE')) return undefined;
  if (filter.lower === null && filter.upper === null) return undefined;
  const values = operandOf({ kind: 'column', name: filter.column }, rowsOf(table, check));
  if (values === undefined) return undefined;
  const { lower, upper, lowerStrict, upperStrict } = filter;
  const marks = new Uint8Array(table.rowCount).fill(TRUE);
  for (const [bound, holds] of [
    [lower, { below: false, alike: !lowerStrict, above: true }],
    [upper, { below: true, alike: !upperStrict, above: false }],
  ] as const) {
    if (bound === null) continue;
    const limit = ofConstant(bound, table.rowCount);
    if (limit === undefined) return undefined;
    andMarks(marks, compared(values, limit, holds, check), check);
  }
  return marks;
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
  for (const { nulls } of [left, right])
    if (nulls !== null)
      checkedLoop(marks.length, check, (start, end) => {
        for (let row = start; row < end; row++) if (nulls[row] === 1) marks[row] = UNKNOWN;
      });
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
