import { ServiceError } from '../../base/errors.js';
import { compileExpression } from '../../expression/evaluate.js';
import { expressionType } from '../../expression/expression-type.js';
import type { Value } from '../../expression/value.js';
import { convert, textOfValue, valueOfText } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import { columnsOfExpression } from '../../model/plan-names.js';
import type { ColumnType, NumberType, TextType } from '../../model/schema.js';
import { isNumberType } from '../../model/schema.js';
import { BLOCK_ROWS } from '../../storage/view.js';
import type { Block } from '../context.js';
import { takeBits } from '../context.js';
import type { SegmentScope } from '../scope.js';
import { compileArithmetic } from './arithmetic.js';
import { dictionaryFunction } from './dictionary-function.js';
import { rowReader } from './row-reader.js';
import type { NumberVector, StringVector, Vector } from './vector.js';
import { oncePerBlock, StringPool } from './vector.js';

/**
 * An expression over a segment, as columns of a block: arithmetic by kernels, functions of one string column once per
 * distinct value, all else row by row with bound functions.
 * @param outputType  null: the type the expression has
 */
export function compileVector(scope: SegmentScope, expression: Expression, outputType: ColumnType | null): Vector {
  const typeOf = (name: string): ColumnType | undefined => scope.typeOf(name);
  const type = outputType ?? expressionType(expression, typeOf);
  const names = [...columnsOfExpression(expression)];
  for (const name of names) refuseMultiValue(scope, name);
  const [only] = names;
  const arithmetic = isNumberType(type) ? compileArithmetic(scope, expression, type) : undefined;
  if (arithmetic !== undefined) return arithmetic;
  const compute = compileExpression(expression, typeOf);
  const source = only !== undefined && names.length === 1 ? scope.source(only) : undefined;
  if (source?.kind === 'string') {
    const { column } = source;
    return dictionaryFunction(scope, column, (text) => compute(() => valueOfText(text, column.type)), type);
  }
  return rowFunction(scope, names, compute, type);
}

function refuseMultiValue(scope: SegmentScope, name: string): void {
  const source = scope.source(name);
  if (source.kind === 'string' && source.column.offsets !== 0)
    throw new ServiceError('unsupported', `expressions over multi-value column "${name}" are not supported`);
}

function rowFunction(
  scope: SegmentScope,
  names: readonly string[],
  compute: (columns: (name: string) => Value) => Value,
  type: ColumnType,
): Vector {
  const readers = new Map(names.map((name) => [name, rowReader(scope, scope.source(name))]));
  let row = 0;
  const read = (name: string): Value => readers.get(name)?.get(row) ?? null;
  return valuesVector(scope, type, (block, put) => {
    for (const reader of readers.values()) reader.open(block);
    for (row = 0; row < block.rows; row++) put(row, compute(read));
  });
}

/** A vector from values that `fill` puts row by row. */
export function valuesVector(
  scope: SegmentScope,
  type: ColumnType,
  fill: (block: Block, put: (row: number, value: Value) => void) => void,
): Vector {
  return isNumberType(type) ? numberValues(scope, type, fill) : textValues(scope, type, fill);
}

function textValues(
  scope: SegmentScope,
  type: TextType,
  fill: (block: Block, put: (row: number, value: Value) => void) => void,
): StringVector {
  const { memory } = scope.context;
  const pool = new StringPool();
  const at = scope.arena.take(BLOCK_ROWS * 4);
  const run = oncePerBlock((block) => {
    const ids = memory.u32(at, BLOCK_ROWS);
    fill(block, (row, value) => {
      ids[row] = pool.idOf(textOfValue(value, type));
    });
  });
  return {
    kind: 'string',
    type,
    pool,
    complete: false,
    ids: (block) => {
      run(block);
      return at;
    },
  };
}

function numberValues(
  scope: SegmentScope,
  type: NumberType,
  fill: (block: Block, put: (row: number, value: Value) => void) => void,
): NumberVector {
  const { memory } = scope.context;
  const at = scope.arena.take(BLOCK_ROWS * 8);
  const nulls = takeBits(scope.arena);
  let anyNull = false;
  const run = oncePerBlock((block) => {
    const bits = memory.u32(nulls, BLOCK_ROWS / 32).fill(0);
    const longs = memory.i64(at, BLOCK_ROWS);
    const doubles = memory.f64(at, BLOCK_ROWS);
    anyNull = false;
    fill(block, (row, value) => {
      const converted = value === null ? null : convert(value, type);
      if (converted === null) {
        anyNull = true;
        bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
        longs[row] = 0n;
      } else if (typeof converted === 'bigint') longs[row] = converted;
      else doubles[row] = Number(converted);
    });
  });
  return {
    kind: 'number',
    type,
    physical: type === 'LONG' ? 'I64' : 'F64',
    base: 0n,
    mayBeNull: true,
    stored: undefined,
    values: (block) => {
      run(block);
      return at;
    },
    nulls: (block) => {
      run(block);
      return anyNull ? nulls : 0;
    },
  };
}
