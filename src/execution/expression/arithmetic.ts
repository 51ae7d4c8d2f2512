// Compiles arithmetic over numbers to kernels.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { own } from '../../base/names.js';
import { constantOf } from '../../expression/expression-type.js';
import type { Expression } from '../../model/expression.js';
import type { NumberType } from '../../model/schema.js';
import { type Block, kernelFor, takeBits, wordsOf } from '../block/context.js';
import type { SegmentScope } from './scope.js';
import { type NumberVector, oncePerBlock, storedNumbers } from './vector.js';

type Lane = 'I64' | 'F64';

/** A node of an arithmetic tree: all its values as i64 or f64. */
export interface Operand {
  readonly lane: Lane;
  readonly scalar: bigint | number | undefined;
  readonly nullable: readonly NumberVector[];
  /** Values of a block; a scalar has one element. */
  values(block: Block): Address;
}

const FAMILIES = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide' } as const;

/**
 * `+ - *` over numbers, and `/` where it is a DOUBLE, by kernels. Null where any operand is.
 * @returns undefined for an expression of another shape
 */
export function compileArithmetic(scope: SegmentScope, expression: Expression, type: NumberType): NumberVector | undefined {
  const tree = operandOf(scope, expression);
  const lane = type === 'LONG' ? 'I64' : 'F64';
  if (tree === undefined || tree.scalar !== undefined || (tree.lane === 'F64' && lane === 'I64') || type === 'FLOAT') return undefined;
  const top = inLane(scope, tree, lane);
  const nulls = unionOfNulls(scope, top.nullable);
  return {
    kind: 'number',
    type,
    physical: lane,
    base: 0n,
    mayBeNull: top.nullable.length > 0,
    stored: undefined,
    values: (block) => top.values(block),
    nulls,
  };
}

/** Two expressions over longs, to be compared: `b` may be a scalar (one element). Undefined when one is of another kind. */
export function compileLongPair(
  scope: SegmentScope,
  left: Expression,
  right: Expression,
): { readonly a: Operand; readonly b: Operand; readonly nulls: (block: Block) => Address; readonly mayBeNull: boolean } | undefined {
  const [a, b] = [operandOf(scope, left), operandOf(scope, right)];
  if (a === undefined || b === undefined || a.lane !== 'I64' || b.lane !== 'I64') return undefined;
  const nullable = [...new Set([...a.nullable, ...b.nullable])];
  return { a: broadcast(scope, a), b, nulls: unionOfNulls(scope, nullable), mayBeNull: nullable.length > 0 };
}

function operandOf(scope: SegmentScope, expression: Expression): Operand | undefined {
  switch (expression.kind) {
    case 'literal': {
      const value = constantOf(expression)?.value;
      return typeof value === 'bigint' || typeof value === 'number' ? scalarOperand(scope, value) : undefined;
    }
    case 'column': {
      const source = scope.source(expression.name);
      if (source.kind === 'number') return columnOperand(scope, storedNumbers(scope, source.column));
      return source.kind === 'computed' && source.vector.kind === 'number' ? columnOperand(scope, source.vector) : undefined;
    }
    case 'call': {
      const family = own(FAMILIES, expression.function);
      const [left, right] = expression.arguments.map((argument) => operandOf(scope, argument));
      if (family === undefined || left === undefined) return undefined;
      if (expression.arguments.length === 1 && family === 'subtract')
        return combine(scope, 'multiply', left, scalarOperand(scope, left.lane === 'I64' ? -1n : -1));
      return right === undefined ? undefined : combine(scope, family, left, right);
    }
    case 'lambda':
      return undefined;
  }
}

function combine(
  scope: SegmentScope,
  family: 'add' | 'subtract' | 'multiply' | 'divide',
  left: Operand,
  right: Operand,
): Operand | undefined {
  const lane = left.lane === 'I64' && right.lane === 'I64' ? 'I64' : 'F64';
  if (left.scalar !== undefined && right.scalar !== undefined) return undefined;
  if (family === 'divide' && lane === 'I64') return undefined;
  const { kernels } = scope.context;
  const kernel = family === 'divide' ? kernels.divideF64 : kernelFor(kernels, family, lane);
  const a = broadcast(scope, inLane(scope, left, lane));
  const b = inLane(scope, right, lane);
  const isScalar = b.scalar === undefined ? 0 : 1;
  const out = scope.arena.take(BLOCK_ROWS * 8);
  const run = oncePerBlock((block) => kernel(a.values(block), b.values(block), isScalar, block.rows, out));
  return {
    lane,
    scalar: undefined,
    nullable: [...new Set([...left.nullable, ...right.nullable])],
    values: (block) => {
      run(block);
      return out;
    },
  };
}

function columnOperand(scope: SegmentScope, vector: NumberVector): Operand {
  const nullable = vector.mayBeNull ? [vector] : [];
  const { physical, base } = vector;
  if ((physical === 'I64' && base === 0n) || physical === 'F64')
    return { lane: physical, scalar: undefined, nullable, values: (block) => vector.values(block) };
  const out = scope.arena.take(BLOCK_ROWS * 8);
  const { kernels } = scope.context;
  const widen = physical === 'F32' ? kernels.toF64F32 : kernelFor(kernels, 'toI64', physical);
  const run = oncePerBlock((block) => widen(vector.values(block), 0, block.rows, base, out));
  return {
    lane: physical === 'F32' ? 'F64' : 'I64',
    scalar: undefined,
    nullable,
    values: (block) => {
      run(block);
      return out;
    },
  };
}

function scalarOperand(scope: SegmentScope, value: bigint | number): Operand {
  const { memory } = scope.context;
  const at = scope.arena.take(8);
  if (typeof value === 'bigint') memory.i64(at, 1)[0] = value;
  else memory.f64(at, 1)[0] = value;
  return { lane: typeof value === 'bigint' ? 'I64' : 'F64', scalar: value, nullable: [], values: () => at };
}

function inLane(scope: SegmentScope, operand: Operand, lane: Lane): Operand {
  if (operand.lane === lane) return operand;
  if (operand.scalar !== undefined) return scalarOperand(scope, lane === 'F64' ? Number(operand.scalar) : BigInt(operand.scalar));
  const out = scope.arena.take(BLOCK_ROWS * 8);
  const run = oncePerBlock((block) => scope.context.kernels.toF64I64(operand.values(block), 0, block.rows, 0n, out));
  return {
    ...operand,
    lane,
    values: (block) => {
      run(block);
      return out;
    },
  };
}

/** Kernels take a scalar on the right side only. */
function broadcast(scope: SegmentScope, operand: Operand): Operand {
  const { scalar, lane } = operand;
  if (scalar === undefined) return operand;
  const { memory } = scope.context;
  const at = scope.arena.take(BLOCK_ROWS * 8);
  if (lane === 'I64') memory.i64(at, BLOCK_ROWS).fill(BigInt(scalar));
  else memory.f64(at, BLOCK_ROWS).fill(Number(scalar));
  return { ...operand, scalar: undefined, values: () => at };
}

export function unionOfNulls(scope: SegmentScope, vectors: readonly NumberVector[]): (block: Block) => Address {
  const [only] = vectors;
  if (only === undefined) return () => 0;
  if (vectors.length === 1) return (block) => only.nulls(block);
  const out = takeBits(scope.arena);
  const { kernels } = scope.context;
  return (block) => {
    let current = 0;
    for (const vector of vectors) {
      const next = vector.nulls(block);
      if (next === 0) continue;
      if (current === 0) current = next;
      else {
        kernels.bitsOr(current, next, wordsOf(block), out);
        current = out;
      }
    }
    return current;
  };
}
