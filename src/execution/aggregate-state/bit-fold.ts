// Folds the bits of LONGs by kernels.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { Expression } from '../../model/expression.js';
import { clear, kernelFor } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import type { NumberVector } from '../expression/vector.js';
import { GroupRoom } from './best-texts.js';
import type { BitKind, Feed } from './state-operations.js';

interface BitFunction {
  /** Operation of the kernel `foldBitsGroupsI64`. */
  readonly operation: number;
  /** Bits that change nothing. */
  readonly neutral: bigint;
  readonly name: BitKind['operation'];
  readonly apply: (a: bigint, b: bigint) => bigint;
}

const FUNCTIONS: Readonly<Record<string, BitFunction>> = {
  bitwiseAnd: { operation: 0, name: 'and', neutral: -1n, apply: (a, b) => a & b },
  bitwiseOr: { operation: 1, name: 'or', neutral: 0n, apply: (a, b) => a | b },
  bitwiseXor: { operation: 2, name: 'xor', neutral: 0n, apply: (a, b) => a ^ b },
};

/** A fold of the accumulator's bits with those of a field. */
export interface BitFold {
  readonly bits: BitFunction;
  readonly field: string;
}

/** Undefined for every other fold. */
export function bitFoldOf(fold: Expression, accumulator: string): BitFold | undefined {
  const bits = fold.kind === 'call' ? own(FUNCTIONS, fold.function) : undefined;
  if (fold.kind !== 'call' || bits === undefined) return undefined;
  const [first, second] = fold.arguments;
  if (first?.kind !== 'column' || first.name !== accumulator || second?.kind !== 'column' || second.name === accumulator) return undefined;
  return { bits, field: second.name };
}

/**
 * Folds the LONGs of a vector, nulls left out, one for each group of the segment.
 * @param change  told what becomes of the LONG of each group's state, once the rows are through
 */
export function bitFeed<State>(
  scope: SegmentScope,
  vector: NumberVector,
  { bits: { operation, neutral, apply } }: BitFold,
  change: (state: State, apply: (value: bigint) => bigint) => void,
): Feed<State> {
  const { context, arena } = scope;
  const { memory, kernels } = context;
  const { physical } = vector;
  const widen = kernelFor(kernels, 'toI64', physical === 'F32' || physical === 'F64' ? 'I64' : physical);
  const wide = arena.take(BLOCK_ROWS * 8);
  const room = new GroupRoom(scope);
  let [folded, seen]: [Address, Address] = [0, 0];
  const grow = (from: number, to: number): void => {
    const [moreFolded, moreSeen] = [arena.take(to * 8), arena.take(to)];
    memory.i64(moreFolded, from).set(memory.i64(folded, from));
    memory.i64(moreFolded + from * 8, to - from).fill(neutral);
    memory.u8(moreSeen, from).set(memory.u8(seen, from));
    clear(context, moreSeen + from, to - from);
    [folded, seen] = [moreFolded, moreSeen];
  };
  return {
    nulls: vector.mayBeNull ? vector : undefined,
    get waiting() {
      return room.groups;
    },
    add(block, rows, groups, n) {
      if (n === 0) return;
      room.reserve(groups, n, grow);
      widen(vector.values(block), rows, n, vector.base, wide);
      kernels.foldBitsGroupsI64(wide, groups, n, operation, folded, seen);
    },
    endBits(give) {
      give(memory.i64(folded, room.groups).slice(), memory.u8(seen, room.groups).slice());
    },
    end(stateOf) {
      const [values, isSeen] = [memory.i64(folded, room.groups).slice(), memory.u8(seen, room.groups).slice()];
      isSeen.forEach((each, group) => {
        if (each === 1) change(stateOf(group), (value) => apply(value, values[group] ?? neutral));
      });
    },
  };
}
