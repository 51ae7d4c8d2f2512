// Expressions that are constant within buckets of time, computed once for each of these.

import { BLOCK_ROWS } from '../../../base/layout.js';
import type { TypeOf } from '../../../expression/expression-type.js';
import { convert, textOfValue, type Value } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import { type ColumnType, isNumberType, type NumberType, type TextType } from '../../../model/schema.js';
import { type Block, takeBits } from '../../block/context.js';
import { ValuePool } from '../../block/value-pool.js';
import { columnsThere, rowFunction } from '../row-function.js';
import type { SegmentScope } from '../scope.js';
import {
  computedNumbers,
  computedTexts,
  type NumberVector,
  oncePerBlock,
  type StringVector,
  storedNumbers,
  type Vector,
} from '../vector.js';
import { BucketTable } from './bucket-table.js';
import { type Grain, grainsOf } from './grains.js';
import { nullTest, rangeFinder } from './range.js';
import { longsOf } from './steps.js';

/** In fewer rows than this, a table takes longer than computing row by row. */
const ROWS_MIN = 64;

/**
 * An expression over one column of instants that is constant within buckets of time: computed once for each bucket that a
 * block meets.
 * @returns undefined for others, and for few rows
 */
export function bucketedVector(scope: SegmentScope, expression: Expression, typeOf: TypeOf, type: ColumnType): Vector | undefined {
  if (scope.view.rowCount < ROWS_MIN) return undefined;
  const [name, ...others] = columnsThere(scope, expression);
  if (name === undefined || others.length > 0) return undefined;
  const instants = longColumn(scope, name);
  const grains = instants === undefined ? undefined : grainsOf(expression, name);
  if (instants === undefined || grains === undefined) return undefined;
  const { cells, compute } = rowFunction(scope, expression, [name], typeOf);
  const valueAt = (instant: bigint | null): Value => {
    cells[0] = instant;
    return compute();
  };
  const bucketed = { instants, grains, valueAt };
  return isNumberType(type) ? numbers(scope, bucketed, type) : texts(scope, bucketed, type);
}

/** A column of LONGs; undefined for another. */
export function longColumn(scope: SegmentScope, name: string): NumberVector | undefined {
  const source = scope.source(name);
  const vector = source.kind === 'number' ? storedNumbers(scope, source.column) : source.kind === 'computed' ? source.vector : undefined;
  return vector?.kind === 'number' && vector.type === 'LONG' ? vector : undefined;
}

interface Bucketed {
  readonly instants: NumberVector;
  readonly grains: readonly Grain[];
  /** Value of the expression at an instant. */
  readonly valueAt: (instant: bigint | null) => Value;
}

/** Between two looks at whether to go on. */
const VALUES_PER_CHECK = 64;

function checked(scope: SegmentScope, valueAt: Bucketed['valueAt']): Bucketed['valueAt'] {
  let computed = 0;
  return (instant) => {
    if (++computed % VALUES_PER_CHECK === 0) scope.context.check();
    scope.context.computed.valuesByEntry++;
    return valueAt(instant);
  };
}

function texts(scope: SegmentScope, { instants, grains, valueAt }: Bucketed, type: TextType): StringVector {
  const { context, arena } = scope;
  const { memory, kernels } = context;
  const pool = new ValuePool<string>();
  const compute = checked(scope, valueAt);
  const idAt = (instant: bigint | null): number => pool.idOf(textOfValue(compute(instant), type));
  const table = arena.take(BLOCK_ROWS * 4);
  const buckets = new BucketTable(scope, grains, (starts) => {
    memory.u32(table, starts.length).set(Uint32Array.from(starts, idAt));
  });
  const findRange = rangeFinder(scope);
  const longs = longsOf(scope, instants);
  const at = arena.take(BLOCK_ROWS * 4);
  const run = oncePerBlock((block) => {
    const { rows } = block;
    const [from, nulls] = [longs(block), instants.nulls(block)];
    const range = findRange(from, rows, nulls);
    const isTable = range !== undefined && buckets.covers(range.low, range.high, rows / 2);
    if (isTable) kernels.step32(from, rows, buckets.starts, buckets.count, table, at);
    if (isTable && nulls === 0) return;
    const [values, ids] = [memory.i64(from, rows), memory.u32(at, rows)];
    const isNull = nullTest(scope, nulls, rows);
    const idOfNull = nulls === 0 ? 0 : idAt(null);
    for (let row = 0; row < rows; row++) {
      if (isNull(row)) ids[row] = idOfNull;
      else if (!isTable) ids[row] = idAt(values[row] ?? 0n);
    }
  });
  return computedTexts(type, { pool, run, at });
}

function numbers(scope: SegmentScope, { instants, grains, valueAt }: Bucketed, type: NumberType): NumberVector {
  const { context, arena } = scope;
  const { memory, kernels } = context;
  const compute = checked(scope, valueAt);
  const numberAt = (instant: bigint | null): bigint | number | null => convert(compute(instant), type);
  const [table, nullTable] = [arena.take(BLOCK_ROWS * 8), arena.take(BLOCK_ROWS * 4)];
  const [at, marks, bits] = [arena.take(BLOCK_ROWS * 8), arena.take(BLOCK_ROWS * 4), takeBits(arena)];
  let tableHasNull = false;
  let anyNull = false;
  const write = (into: BigInt64Array | Float64Array, index: number, value: bigint | number | null): void => {
    if (into instanceof BigInt64Array) into[index] = BigInt(value ?? 0n);
    else into[index] = Number(value ?? 0);
  };
  const view = (address: number, count: number): BigInt64Array | Float64Array =>
    type === 'LONG' ? memory.i64(address, count) : memory.f64(address, count);
  const buckets = new BucketTable(scope, grains, (starts) => {
    const values = Array.from(starts, numberAt);
    const [results, isNull] = [view(table, values.length), memory.u32(nullTable, values.length)];
    tableHasNull = values.includes(null);
    for (const [index, value] of values.entries()) {
      write(results, index, value);
      isNull[index] = value === null ? 1 : 0;
    }
  });
  const findRange = rangeFinder(scope);
  const longs = longsOf(scope, instants);
  const run = oncePerBlock((block: Block) => {
    const { rows } = block;
    const [from, nulls] = [longs(block), instants.nulls(block)];
    const range = findRange(from, rows, nulls);
    anyNull = false;
    const isTable = range !== undefined && buckets.covers(range.low, range.high, rows / 2);
    if (isTable) {
      kernels.step64(from, rows, buckets.starts, buckets.count, table, at);
      anyNull = tableHasNull;
      if (tableHasNull) {
        kernels.step32(from, rows, buckets.starts, buckets.count, nullTable, marks);
        kernels.filterEqU32(marks, rows, 1, bits);
      }
      if (nulls === 0) return;
    }
    if (!anyNull) kernels.bitsFill(bits, Math.ceil(rows / 64), 0, 0);
    const [values, results, words] = [memory.i64(from, rows), view(at, rows), memory.u32(bits, Math.ceil(rows / 32))];
    const isNull = nullTest(scope, nulls, rows);
    const ofNull = nulls === 0 ? null : numberAt(null);
    for (let row = 0; row < rows; row++) {
      if (isTable && !isNull(row)) continue;
      const value = isNull(row) ? ofNull : numberAt(values[row] ?? 0n);
      write(results, row, value);
      const [word, bit] = [row >>> 5, 1 << (row & 31)];
      words[word] = value === null ? (words[word] ?? 0) | bit : (words[word] ?? 0) & ~bit;
      anyNull ||= value === null;
    }
  });
  return computedNumbers(type, { run, at: () => at, nulls: () => (anyNull ? bits : 0), mayBeNull: true });
}
