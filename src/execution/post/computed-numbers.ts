// Computes columns of numbers by kernels, over rows that lie outside of kernel memory.

import { BLOCK_ROWS } from '../../base/layout.js';
import { createByName } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import { columnsReadBy } from '../../model/columns-read.js';
import type { Expression } from '../../model/expression.js';
import { arrivalName } from '../../model/rewrite/arrival-time.js';
import { renameExpression } from '../../model/rewrite/plan-names.js';
import type { ColumnType } from '../../model/schema.js';
import { NO_ROWS, type NumberColumnView, type SegmentView } from '../../storage/view.js';
import { blockAt, kernelFor, type RunContext } from '../block/context.js';
import { nullBits, type ResultColumn, type ResultTable } from '../block/result-table.js';
import { compileVector } from '../expression/compile.js';
import { openScope } from '../expression/open-scope.js';
import type { NumberVector } from '../expression/vector.js';

type NumberColumn = Extract<ResultColumn, { readonly kind: 'long' | 'double' }>;

/** Fewer rows are computed one by one: to compile takes longer. */
const ROWS_MIN = 1024;
/** Rows that are in kernel memory at a time; a multiple of BLOCK_ROWS. */
const ROWS_AT_ONCE = 1 << 17;
const COLUMNS_MAX = 16;

/**
 * A column of LONGs or DOUBLEs that is made of such columns.
 * @returns undefined for other types, and for few rows
 */
export function computedNumbers(
  context: RunContext,
  table: ResultTable,
  { name, type, expression }: { readonly name: string; readonly type: ColumnType; readonly expression: Expression },
): NumberColumn | undefined {
  const { rowCount } = table;
  if ((type !== 'LONG' && type !== 'DOUBLE') || rowCount < ROWS_MIN || expression.kind !== 'call') return undefined;
  const named = [...columnsReadBy(expression)];
  const columns = numbersNamed(table, named);
  if (columns === undefined || columns.length === 0 || columns.length > COLUMNS_MAX) return undefined;
  const renamed = renameExpression(expression, arrivalName);
  const nulls = new Uint8Array(rowCount);
  const values = type === 'LONG' ? new BigInt64Array(rowCount) : new Float64Array(rowCount);
  let anyNull = false;
  for (let start = 0; start < rowCount; start += ROWS_AT_ONCE) {
    const arena = context.memory.arena();
    try {
      const view = viewOf(context, arena, columns, start, Math.min(rowCount, start + ROWS_AT_ONCE));
      const vector = compileVector(openScope(context, view, {}, arena), renamed, type);
      if (vector.kind !== 'number' || vector.type !== type) return undefined;
      anyNull = read(context, arena, vector, view.rowCount, { values, nulls, from: start }) || anyNull;
    } finally {
      arena.release();
    }
  }
  const known = anyNull ? nulls : null;
  return values instanceof BigInt64Array
    ? { kind: 'long', name, values, nulls: known }
    : { kind: 'double', name, type: 'DOUBLE', values, nulls: known };
}

/** The columns of these names; undefined: some is no column of LONGs or DOUBLEs. */
function numbersNamed(table: ResultTable, names: readonly string[]): readonly NumberColumn[] | undefined {
  const found = names.flatMap((name) => table.columns.find((column) => column.name === name) ?? []);
  const numbers = found.flatMap((column) =>
    column.kind === 'long' || (column.kind === 'double' && column.type === 'DOUBLE') ? [column] : [],
  );
  return numbers.length === names.length ? numbers : undefined;
}

/** Rows [start, end) of the columns in kernel memory. */
function viewOf(context: RunContext, arena: Arena, columns: readonly NumberColumn[], start: number, end: number): SegmentView {
  const { memory } = context;
  const rowCount = end - start;
  const rows = Math.ceil(rowCount / 64) * 64;
  const named = createByName<NumberColumnView>();
  for (const column of columns) {
    context.check();
    const at = arena.take(rows * 8);
    if (column.kind === 'long') memory.i64(at, rowCount).set(column.values.subarray(start, end));
    else memory.f64(at, rowCount).set(column.values.subarray(start, end));
    const bits = column.nulls === null ? null : nullBits(column.nulls.subarray(start, end));
    const nulls = bits === null ? 0 : arena.take(rows / 8);
    if (bits !== null) memory.u32(nulls, bits.length).set(bits);
    const type = column.kind === 'long' ? 'LONG' : 'DOUBLE';
    const physical = column.kind === 'long' ? 'I64' : 'F64';
    // Rows of a view are in the order of their `__time`, those of a result in any.
    named[arrivalName(column.name)] = {
      ...{ kind: 'number', type, physical, power: 0, values: at, base: 0n, nulls, min: null, max: null, isPart: true, blockRanges: 0 },
    };
  }
  return { ...NO_ROWS, rowCount, columns: named };
}

interface Into {
  readonly values: BigInt64Array | Float64Array;
  readonly nulls: Uint8Array;
  readonly from: number;
}

/** Copies the values of a vector; those of null rows become 0. @returns whether there are nulls */
function read(context: RunContext, arena: Arena, vector: NumberVector, rowCount: number, { values, nulls, from }: Into): boolean {
  const { kernels, memory } = context;
  const { physical, base } = vector;
  const wide = arena.take(BLOCK_ROWS * 8);
  const marks = arena.take(BLOCK_ROWS);
  let anyNull = false;
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    context.check();
    const block = blockAt(start, rowCount);
    const { rows } = block;
    const found = vector.values(block);
    if (values instanceof BigInt64Array && physical !== 'F32' && physical !== 'F64') {
      kernelFor(kernels, 'toI64', physical)(found, 0, rows, base, wide);
      values.set(memory.i64(wide, rows), from + start);
    } else if (values instanceof Float64Array) {
      kernelFor(kernels, 'toF64', physical)(found, 0, rows, base, wide);
      values.set(memory.f64(wide, rows), from + start);
    }
    const bits = vector.nulls(block);
    if (bits === 0) continue;
    kernels.joinBytes(bits, rows, marks);
    const own = memory.u8(marks, rows);
    nulls.set(own, from + start);
    for (let row = own.indexOf(1); row >= 0; row = own.indexOf(1, row + 1)) {
      anyNull = true;
      if (values instanceof BigInt64Array) values[from + start + row] = 0n;
      else values[from + start + row] = 0;
    }
  }
  return anyNull;
}
