// Computes columns of doubles a function at a time, over whole columns rather than row by row.

import { constantOf, inferType } from '../../expression/expression-type.js';
import { FUNCTIONS } from '../../expression/functions.js';
import type { Expression } from '../../model/expression.js';
import type { ColumnType } from '../../model/schema.js';
import { type Check, checkedLoop } from '../block/checked-loops.js';
import type { ResultColumn } from '../block/result-table.js';

/** `nulls`: as those of result columns. The value of a null row is any. */
export interface Doubles {
  readonly values: Float64Array;
  readonly nulls: Uint8Array | null;
}

/** Rows, by their columns. */
export interface Rows {
  readonly rowCount: number;
  readonly columns: ReadonlyMap<string, ResultColumn>;
  typeOf(column: string): ColumnType | undefined;
  readonly check: Check;
}

/**
 * A column that is made of numbers by functions of doubles only.
 * @returns undefined for any other expression
 */
export function computedDoubles(
  name: string,
  type: ColumnType,
  expression: Expression,
  rows: Rows,
): Extract<ResultColumn, { kind: 'double' }> | undefined {
  if ((type !== 'DOUBLE' && type !== 'FLOAT') || expression.kind !== 'call') return undefined;
  const doubles = doublesOf(expression, rows);
  if (doubles === undefined) return undefined;
  const { values, nulls } = doubles;
  if (type === 'FLOAT' || nulls !== null)
    checkedLoop(rows.rowCount, rows.check, (start, end) => {
      for (let row = start; row < end; row++) {
        const value = nulls !== null && nulls[row] === 1 ? 0 : (values[row] ?? 0);
        values[row] = type === 'FLOAT' ? Math.fround(value) : value;
      }
    });
  return { kind: 'double', name, type, values, nulls };
}

/** Values of a call are in an array of its own. */
export function doublesOf(expression: Expression, rows: Rows): Doubles | undefined {
  switch (expression.kind) {
    case 'literal':
      return ofLiteral(constantOf(expression)?.value, rows);
    case 'column':
      return ofColumn(rows.columns.get(expression.name), rows);
    case 'call':
      return ofCall(expression, rows);
    case 'lambda':
      return undefined;
  }
}

function ofLiteral(value: unknown, { rowCount }: Rows): Doubles | undefined {
  return typeof value === 'number' || typeof value === 'bigint'
    ? { values: new Float64Array(rowCount).fill(Number(value)), nulls: null }
    : undefined;
}

function ofColumn(column: ResultColumn | undefined, { rowCount, check }: Rows): Doubles | undefined {
  if (column?.kind === 'double') return column;
  if (column?.kind !== 'long') return undefined;
  // Halves cost no BigInt each; their sum is rounded once, as the whole is.
  const { buffer, byteOffset } = column.values;
  const high = new Int32Array(buffer, byteOffset, rowCount * 2);
  const low = new Uint32Array(buffer, byteOffset, rowCount * 2);
  const values = new Float64Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) values[row] = (high[row * 2 + 1] ?? 0) * 2 ** 32 + (low[row * 2] ?? 0);
  });
  return { values, nulls: column.nulls };
}

function ofCall(call: Extract<Expression, { kind: 'call' }>, rows: Rows): Doubles | undefined {
  const apply = call.function === '-' ? minus(call.arguments.length) : FUNCTIONS.get(call.function)?.ofDoubles;
  if (apply === undefined || call.arguments.length > 2 || inferType(call, rows.typeOf) !== 'DOUBLE') return undefined;
  const operands: Doubles[] = [];
  for (const argument of call.arguments) {
    const doubles = doublesOf(argument, rows);
    if (doubles === undefined) return undefined;
    operands.push(doubles);
  }
  const [first, second] = operands;
  if (first === undefined) return undefined;
  const values = new Float64Array(rows.rowCount);
  const operate = second === undefined ? undefined : OPERATORS.get(call.function);
  if (operate !== undefined && second !== undefined)
    checkedLoop(rows.rowCount, rows.check, (start, end) => operate(first.values, second.values, values, start, end));
  else
    checkedLoop(rows.rowCount, rows.check, (start, end) => {
      if (second === undefined) for (let row = start; row < end; row++) values[row] = apply(first.values[row] ?? 0, 0);
      else for (let row = start; row < end; row++) values[row] = apply(first.values[row] ?? 0, second.values[row] ?? 0);
    });
  return { values, nulls: eitherNull(first.nulls, second?.nulls ?? null) };
}

type Operate = (left: Float64Array, right: Float64Array, into: Float64Array, start: number, end: number) => void;

/** The operators of `FUNCTIONS` as loops of their own: a call for each row costs several times as much. */
const OPERATORS: ReadonlyMap<string, Operate> = new Map<string, Operate>([
  [
    '+',
    (left, right, into, start, end) => {
      for (let row = start; row < end; row++) into[row] = (left[row] ?? 0) + (right[row] ?? 0);
    },
  ],
  [
    '-',
    (left, right, into, start, end) => {
      for (let row = start; row < end; row++) into[row] = (left[row] ?? 0) - (right[row] ?? 0);
    },
  ],
  [
    '*',
    (left, right, into, start, end) => {
      for (let row = start; row < end; row++) into[row] = (left[row] ?? 0) * (right[row] ?? 0);
    },
  ],
  [
    '/',
    (left, right, into, start, end) => {
      for (let row = start; row < end; row++) into[row] = (left[row] ?? 0) / (right[row] ?? 0);
    },
  ],
]);

/** The operator has two forms. */
function minus(operands: number): (x: number, y: number) => number {
  return operands === 1 ? (x) => -x : (x, y) => x - y;
}

function eitherNull(a: Uint8Array | null, b: Uint8Array | null): Uint8Array | null {
  if (a === null || b === null || a === b) return a ?? b;
  return a.map((isNull, row) => isNull | (b[row] ?? 0));
}
