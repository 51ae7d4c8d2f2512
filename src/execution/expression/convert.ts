// Conversions of columns between LONG, DOUBLE and strings.

import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { type Block, clear, kernelFor } from '../block/context.js';
import { ValuePool } from '../block/value-pool.js';
import { dictionaryCast } from './dictionary-function.js';
import { numberReader, rowReader } from './row-reader.js';
import type { SegmentScope, Source } from './scope.js';
import { idsOfRows, textsOfRows } from './text/picked-texts.js';
import { TextInterner } from './text/text-interner.js';
import { DOUBLE_BYTES_MAX, LONG_BYTES_MAX, uploadPowers } from './text/text-node.js';
import { longsOf } from './time/steps.js';
import { valuesVector } from './values-vector.js';
import { type NumberVector, oncePerBlock, type StringVector, storedNumbers, type Vector } from './vector.js';

/** A column as LONG, or as DOUBLE (a stored FLOAT stays as it is); undefined when it is null everywhere. */
export function asNumbers(scope: SegmentScope, source: Source, type: 'LONG' | 'DOUBLE'): NumberVector | undefined {
  switch (source.kind) {
    case 'missing':
      return undefined;
    case 'number':
      return castNumbers(scope, storedNumbers(scope, source.column), type);
    case 'string': {
      if (source.column.offsets !== 0) throw new ServiceError('unsupported', 'a multi-value column cannot be read as numbers');
      return numbersOnly(dictionaryCast(scope, source.column, type));
    }
    case 'computed': {
      if (source.vector.kind === 'number') return castNumbers(scope, source.vector, type);
      const reader = rowReader(scope, source);
      return numbersOnly(
        valuesVector(scope, type, (block, put) => {
          reader.open(block);
          for (let row = 0; row < block.rows; row++) put(row, reader.get(row));
        }),
      );
    }
  }
}

/** Numbers rounded to what a FLOAT holds, which a stored FLOAT is already. */
export function asFloats(scope: SegmentScope, vector: NumberVector): NumberVector {
  if (vector.type === 'FLOAT') return vector;
  const reader = numberReader(scope, vector);
  return numbersOnly(
    valuesVector(scope, 'DOUBLE', (block, put) => {
      reader.open(block);
      for (let row = 0; row < block.rows; row++) {
        const value = reader.get(row);
        put(row, value === null ? null : Math.fround(Number(value)));
      }
    }),
  );
}

/** A column as texts. */
export function asText(scope: SegmentScope, source: Source): StringVector {
  switch (source.kind) {
    case 'missing': {
      const at = scope.arena.take(BLOCK_ROWS * 4);
      clear(scope.context, at, BLOCK_ROWS * 4);
      return { kind: 'string', type: 'STRING', pool: new ValuePool<string>(), complete: true, ids: () => at };
    }
    case 'number':
      return numbersAsText(scope, storedNumbers(scope, source.column));
    case 'string':
      return textsOnly(dictionaryCast(scope, source.column, 'STRING'));
    case 'computed':
      return source.vector.kind === 'string' ? source.vector : numbersAsText(scope, source.vector);
  }
}

export function numbersAsText(scope: SegmentScope, vector: NumberVector): StringVector {
  const { arena, context } = scope;
  const { kernels } = context;
  const pool = new TextInterner(scope);
  const isLong = vector.type === 'LONG';
  const made = arena.take(BLOCK_ROWS * 8);
  const bytes = arena.take(BLOCK_ROWS * (isLong ? LONG_BYTES_MAX : DOUBLE_BYTES_MAX) + 16);
  const wide = isLong ? longsOf(scope, vector) : doublesOf(scope, vector);
  const powers = isLong ? 0 : uploadPowers(scope);
  const makeTexts = oncePerBlock((block) => {
    const [values, nulls] = [wide(block), vector.mayBeNull ? vector.nulls(block) : 0];
    if (isLong) kernels.textOfLongs(values, nulls, block.rows, made, bytes);
    // A FLOAT has the digits that tell it from other FLOATs, not those of the double that it is read as.
    else kernels.textOfDoubles(values, nulls, block.rows, vector.type === 'FLOAT' ? 1 : 0, powers, made, bytes);
  });
  const texts = (block: Block): Address => {
    makeTexts(block);
    return made;
  };
  const node = { mayBeNull: vector.mayBeNull, isBmp: true, texts };
  const textsOf = textsOfRows(scope, { node, pickedNode: () => undefined });
  return { kind: 'string', type: 'STRING', pool, complete: false, ids: idsOfRows(scope, pool, textsOf), node, textsOf };
}

/** The values of a DOUBLE or FLOAT vector as f64. */
function doublesOf(scope: SegmentScope, { physical, values }: NumberVector): (block: Block) => Address {
  if (physical === 'F64') return values;
  const widen = kernelFor(scope.context.kernels, 'toF64', physical);
  const at = scope.arena.take(BLOCK_ROWS * 8);
  const run = oncePerBlock((block) => widen(values(block), 0, block.rows, 0n, at));
  return (block) => {
    run(block);
    return at;
  };
}

function castNumbers(scope: SegmentScope, vector: NumberVector, type: 'LONG' | 'DOUBLE'): NumberVector {
  if ((vector.type === 'LONG') === (type === 'LONG')) return vector;
  if (type === 'LONG') {
    const reader = numberReader(scope, vector);
    return numbersOnly(
      valuesVector(scope, 'LONG', (block, put) => {
        reader.open(block);
        for (let row = 0; row < block.rows; row++) put(row, reader.get(row));
      }),
    );
  }
  const out = scope.arena.take(BLOCK_ROWS * 8);
  const widen = kernelFor(scope.context.kernels, 'toF64', vector.physical);
  const run = oncePerBlock((block) => widen(vector.values(block), 0, block.rows, vector.base, out));
  return {
    kind: 'number',
    type: 'DOUBLE',
    physical: 'F64',
    base: 0n,
    mayBeNull: vector.mayBeNull,
    stored: undefined,
    values: (block) => {
      run(block);
      return out;
    },
    nulls: (block) => vector.nulls(block),
  };
}

function numbersOnly(vector: Vector): NumberVector {
  if (vector.kind === 'number') return vector;
  throw new ServiceError('internal', 'a conversion to numbers gave strings');
}

function textsOnly(vector: Vector): StringVector {
  if (vector.kind === 'string') return vector;
  throw new ServiceError('internal', 'a conversion to strings gave numbers');
}
