// Casts of columns to strings, arrays and JSON.

import { ServiceError } from '../../base/errors.js';
import { BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { textOfValue, type Value, valueOfText } from '../../expression/value.js';
import type { TextType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { ValuePool } from '../block/value-pool.js';
import { asText, numbersAsText } from './convert.js';
import { dictionaryCast } from './dictionary-function.js';
import { numberReader } from './row-reader.js';
import type { SegmentScope, Source } from './scope.js';
import { valuesVector } from './values-vector.js';
import { computedTexts, type NumberVector, oncePerBlock, type StringVector, storedNumbers, type Vector } from './vector.js';

/**
 * A column as texts of a type: what one segment stores as strings, numbers or another kind of array may be an array, or
 * JSON, over all of them. Each distinct value is converted once; the values of a multi-value row make one array.
 */
export function asTexts(scope: SegmentScope, source: Source, type: TextType): StringVector {
  if (source.kind === 'missing') return asText(scope, source);
  if (source.kind === 'number') return castNumbers(scope, storedNumbers(scope, source.column), type);
  if (source.kind === 'computed')
    return source.vector.kind === 'number' ? castNumbers(scope, source.vector, type) : castTexts(scope, source.vector, type);
  const { column } = source;
  if (column.offsets !== 0) return castLists(scope, column, type);
  return textsOnly(dictionaryCast(scope, column, type));
}

function castNumbers(scope: SegmentScope, vector: NumberVector, type: TextType): StringVector {
  if (type === 'STRING') return numbersAsText(scope, vector);
  const reader = numberReader(scope, vector);
  return textsOnly(
    valuesVector(scope, type, (block, put) => {
      reader.open(block);
      for (let row = 0; row < block.rows; row++) put(row, reader.get(row));
    }),
  );
}

function castTexts(scope: SegmentScope, vector: StringVector, type: TextType): StringVector {
  if (vector.type === type) return vector;
  const { memory } = scope.context;
  const pool = new ValuePool<string>();
  const ids = [0];
  const at = scope.arena.take(BLOCK_ROWS * 4);
  const run = oncePerBlock((block) => {
    const from = memory.u32(vector.ids(block), block.rows);
    const { values: texts } = vector.pool;
    for (let id = ids.length; id < texts.length; id++) ids.push(pool.idOf(textOfValue(valueOfText(texts[id] ?? null, vector.type), type)));
    const to = memory.u32(at, block.rows);
    for (let row = 0; row < block.rows; row++) to[row] = ids[from[row] ?? 0] ?? 0;
  });
  return computedTexts(type, { pool, run, at });
}

function castLists(scope: SegmentScope, column: StringColumnView, type: TextType): StringVector {
  const list = listReader(scope, column);
  return textsOnly(
    valuesVector(scope, type, (block, put) => {
      for (let row = 0; row < block.rows; row++) put(row, list(block.start + row));
    }),
  );
}

/** The values of a row of a multi-value column: null for none, a single one by itself. */
export function listReader(scope: SegmentScope, column: StringColumnView): (row: number) => Value {
  const { memory } = scope.context;
  const texts = scope.texts(column);
  const bytes = PHYSICAL_BYTES[column.physical];
  return (row) => {
    const [start = 0, end = 0] = memory.u32(column.offsets + row * 4, 2);
    const at = column.ids + start * bytes;
    const count = end - start;
    const ids = column.physical === 'U8' ? memory.u8(at, count) : column.physical === 'U16' ? memory.u16(at, count) : memory.u32(at, count);
    const values = Array.from(ids, (id) => texts[id] ?? null);
    return values.length === 0 ? null : values.length === 1 ? (values[0] ?? null) : values;
  };
}

function textsOnly(vector: Vector): StringVector {
  if (vector.kind === 'string') return vector;
  throw new ServiceError('internal', 'a conversion to strings gave numbers');
}
