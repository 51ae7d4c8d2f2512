// Folds the bits of LONGs without a big integer for each row.

import { BLOCK_ROWS } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { Expression } from '../../model/expression.js';
import { kernelFor } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import type { NumberVector } from '../expression/vector.js';
import type { Feed } from './state-operations.js';

/** A LONG whose bits are folded, as its halves. */
export class Bits {
  low: number;
  high: number;

  constructor(value: bigint) {
    this.low = Number(BigInt.asIntN(32, value));
    this.high = Number(BigInt.asIntN(32, value >> 32n));
  }

  get value(): bigint {
    return (BigInt(this.high) << 32n) | BigInt.asUintN(32, BigInt(this.low));
  }
}

/** A fold of the accumulator's bits with those of a field. */
export interface BitFold {
  readonly function: string;
  readonly field: string;
}

/** Undefined for every other fold. */
export function bitFoldOf(fold: Expression, accumulator: string): BitFold | undefined {
  if (fold.kind !== 'call' || own(LOOPS, fold.function) === undefined) return undefined;
  const [first, second] = fold.arguments;
  if (first?.kind !== 'column' || first.name !== accumulator || second?.kind !== 'column' || second.name === accumulator) return undefined;
  return { function: fold.function, field: second.name };
}

/** Folds the LONGs of a vector, nulls left out, into the bits of a state that `bitsOf` gives. */
export function bitFeed<State>(
  scope: SegmentScope,
  vector: NumberVector,
  { function: name }: BitFold,
  bitsOf: (state: State) => Bits,
): Feed<State> {
  const { memory, kernels } = scope.context;
  const { physical } = vector;
  const widen = kernelFor(kernels, 'toI64', physical === 'F32' || physical === 'F64' ? 'I64' : physical);
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  const loop = own(LOOPS, name) ?? foldAnd;
  return {
    nulls: vector.mayBeNull ? vector : undefined,
    add(block, rows, groups, n, stateOf) {
      widen(vector.values(block), rows, n, vector.base, wide);
      loop(memory.i32(wide, n * 2), memory.u32(groups, n), (group) => bitsOf(stateOf(group)));
    },
  };
}

type Loop = (halves: Int32Array, groups: Uint32Array, bitsOf: (group: number) => Bits) => void;

// One loop each: a function handed to a common loop would be called for every row.
const foldAnd: Loop = (halves, groups, bitsOf) => {
  for (let i = 0; i < groups.length; ) {
    const group = groups[i] ?? 0;
    const bits = bitsOf(group);
    let { low, high } = bits;
    for (; groups[i] === group; i++) {
      low &= halves[i * 2] ?? 0;
      high &= halves[i * 2 + 1] ?? 0;
    }
    [bits.low, bits.high] = [low, high];
  }
};
const foldOr: Loop = (halves, groups, bitsOf) => {
  for (let i = 0; i < groups.length; ) {
    const group = groups[i] ?? 0;
    const bits = bitsOf(group);
    let { low, high } = bits;
    for (; groups[i] === group; i++) {
      low |= halves[i * 2] ?? 0;
      high |= halves[i * 2 + 1] ?? 0;
    }
    [bits.low, bits.high] = [low, high];
  }
};
const foldXor: Loop = (halves, groups, bitsOf) => {
  for (let i = 0; i < groups.length; ) {
    const group = groups[i] ?? 0;
    const bits = bitsOf(group);
    let { low, high } = bits;
    for (; groups[i] === group; i++) {
      low ^= halves[i * 2] ?? 0;
      high ^= halves[i * 2 + 1] ?? 0;
    }
    [bits.low, bits.high] = [low, high];
  }
};

const LOOPS: Readonly<Record<string, Loop>> = { bitwiseAnd: foldAnd, bitwiseOr: foldOr, bitwiseXor: foldXor };
