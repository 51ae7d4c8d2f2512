// Makes a vector of values computed row by row.

import { BLOCK_ROWS } from '../../base/layout.js';
import { convert, textOfValue } from '../../expression/value.js';
import { type ColumnType, isNumberType, type NumberType, type TextType } from '../../model/schema.js';
import { takeBits } from '../block/context.js';
import { ValuePool } from '../block/value-pool.js';
import type { RowLoop } from './row-function.js';
import type { SegmentScope } from './scope.js';
import { computedNumbers, computedTexts, type NumberVector, oncePerBlock, type StringVector, type Vector } from './vector.js';

/** A vector from values that `fill` puts row by row. */
export function valuesVector(scope: SegmentScope, type: ColumnType, fill: RowLoop): Vector {
  return isNumberType(type) ? numberValues(scope, type, fill) : textValues(scope, type, fill);
}

function textValues(scope: SegmentScope, type: TextType, fill: RowLoop): StringVector {
  const { memory } = scope.context;
  const pool = new ValuePool<string>();
  const at = scope.arena.take(BLOCK_ROWS * 4);
  const run = oncePerBlock((block) => {
    const ids = memory.u32(at, BLOCK_ROWS);
    fill(block, (row, value) => {
      ids[row] = pool.idOf(textOfValue(value, type));
    });
  });
  return computedTexts(type, { pool, run, at });
}

function numberValues(scope: SegmentScope, type: NumberType, fill: RowLoop): NumberVector {
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
  return computedNumbers(type, { run, at: () => at, nulls: () => (anyNull ? nulls : 0), mayBeNull: true });
}
