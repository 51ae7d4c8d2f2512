// Comparisons and three-valued logic as nodes.

import type { Address } from '../../../base/layout.js';
import { type Block, wordsOf } from '../../block/context.js';
import { laneOf } from './arithmetic.js';
import { eitherNull, inLane, type Node, type Result, type Rooms, roomForNulls, spread, type TruthNode } from './node.js';

/** Comparisons by the kernels' equal (0), less (1) and less or equal (2), in a total order, and what they are with sides swapped. */
const COMPARISONS = {
  '==': { operation: 0, isNegated: false, swapped: '==' },
  '!=': { operation: 0, isNegated: true, swapped: '!=' },
  '<': { operation: 1, isNegated: false, swapped: '>' },
  '<=': { operation: 2, isNegated: false, swapped: '>=' },
  '>': { operation: 2, isNegated: true, swapped: '<' },
  '>=': { operation: 1, isNegated: true, swapped: '<=' },
} as const;

export type Comparison = keyof typeof COMPARISONS;

/** Null where either number is. */
export function compared(rooms: Rooms, name: Comparison, left: Node, right: Node): TruthNode {
  const { kernels } = rooms.scope.context;
  const lane = laneOf([left, right]);
  const [first, second] = [inLane(rooms, left, lane), inLane(rooms, right, lane)];
  const isSwapped = first.isOne && !second.isOne;
  const a = spread(rooms, isSwapped ? second : first);
  const b = isSwapped ? first : second;
  const { operation, isNegated } = COMPARISONS[isSwapped ? COMPARISONS[name].swapped : name];
  const kernel = lane === 'I64' ? kernels.compareI64 : kernels.orderF64;
  const bits = rooms.takeBits();
  const either = roomForNulls(rooms, a, b);
  return {
    kind: 'truth',
    mayBeNull: a.mayBeNull || b.mayBeNull,
    run(block) {
      const [ofA, ofB] = [a.run(block), b.run(block)];
      kernel(ofA.at, ofB.at, b.isOne ? 1 : 0, block.rows, operation, bits);
      if (isNegated) kernels.bitsNot(bits, block.rows, bits);
      return { at: bits, nulls: withoutNulls(rooms, block, bits, eitherNull(rooms, either, block, ofA.nulls, ofB.nulls)) };
    },
  };
}

/** Clears the bits of null rows, which are handed back. */
function withoutNulls(rooms: Rooms, block: Block, bits: Address, nulls: Address): Address {
  if (nulls !== 0) rooms.scope.context.kernels.bitsAndNot(bits, nulls, wordsOf(block), bits);
  return nulls;
}

/** A number as a condition: it holds above 0, and so not of NaN. */
export function asTruth(rooms: Rooms, node: Node): TruthNode {
  if (node.kind === 'truth') return node;
  const { kernels } = rooms.scope.context;
  const number = spread(rooms, node);
  const bits = rooms.takeBits();
  return {
    kind: 'truth',
    mayBeNull: node.mayBeNull,
    run(block) {
      const { at, nulls } = number.run(block);
      if (node.lane === 'I64') kernels.filterRangeI64(at, block.rows, 1n, MAX_LONG, bits);
      else kernels.filterRangeF64(at, block.rows, Number.MIN_VALUE, Number.POSITIVE_INFINITY, bits);
      return { at: bits, nulls: withoutNulls(rooms, block, bits, nulls) };
    },
  };
}

const MAX_LONG = 2n ** 63n - 1n;

/** `&&` and `||`: null where an operand is and the other does not decide. */
export function logical(rooms: Rooms, a: TruthNode, b: TruthNode, isOr: boolean): TruthNode {
  const { kernels } = rooms.scope.context;
  const [bits, nulls, rest] = [rooms.takeBits(), rooms.takeBits(), rooms.takeBits()];
  const kernel = isOr ? kernels.bitsOr : kernels.bitsAnd;
  return {
    kind: 'truth',
    mayBeNull: a.mayBeNull || b.mayBeNull,
    run(block) {
      const words = wordsOf(block);
      const [left, right] = [a.run(block), b.run(block)];
      kernel(left.at, right.at, words, bits);
      if (left.nulls === 0 && right.nulls === 0) return { at: bits, nulls: 0 };
      // Null of an OR: an operand is, and no operand holds. Of an AND: an operand is, and each holds or is null.
      const either = eitherNull(rooms, nulls, block, left.nulls, right.nulls);
      if (isOr) kernels.bitsAndNot(either, bits, words, nulls);
      else {
        kernels.bitsOr(left.at, left.nulls === 0 ? left.at : left.nulls, words, rest);
        kernels.bitsAnd(either, rest, words, nulls);
        kernels.bitsOr(right.at, right.nulls === 0 ? right.at : right.nulls, words, rest);
        kernels.bitsAnd(nulls, rest, words, nulls);
      }
      return { at: bits, nulls };
    },
  };
}

/** `!`: null of null. */
export function not(rooms: Rooms, a: TruthNode): TruthNode {
  const { kernels } = rooms.scope.context;
  const bits = rooms.takeBits();
  return {
    ...a,
    run(block) {
      const { at, nulls } = a.run(block);
      kernels.bitsNot(at, block.rows, bits);
      return { at: bits, nulls: withoutNulls(rooms, block, bits, nulls) };
    },
  };
}

/** Questions about a condition that is true, false or null; the answer is never null. */
export type Question = 'isnull' | 'notnull' | 'istrue' | 'isnottrue' | 'isfalse' | 'isnotfalse';

export function question(rooms: Rooms, node: Node, asked: Question): TruthNode {
  const { kernels } = rooms.scope.context;
  const bits = rooms.takeBits();
  const operand = asked === 'isnull' || asked === 'notnull' ? node : asTruth(rooms, node);
  const write = (block: Block, { at, nulls }: Result): Address => {
    const words = wordsOf(block);
    switch (asked) {
      case 'istrue':
        return at;
      case 'isnottrue':
        kernels.bitsNot(at, block.rows, bits);
        return bits;
      case 'isfalse':
        kernels.bitsNot(at, block.rows, bits);
        if (nulls !== 0) kernels.bitsAndNot(bits, nulls, words, bits);
        return bits;
      case 'isnotfalse':
        if (nulls === 0) return at;
        kernels.bitsOr(at, nulls, words, bits);
        return bits;
      case 'isnull':
        if (nulls !== 0) return nulls;
        kernels.bitsFill(bits, words, 0, 0);
        return bits;
      case 'notnull':
        if (nulls === 0) kernels.bitsFill(bits, words, 0, block.rows);
        else kernels.bitsNot(nulls, block.rows, bits);
        return bits;
    }
  };
  return { kind: 'truth', mayBeNull: false, run: (block) => ({ at: write(block, operand.run(block)), nulls: 0 }) };
}
