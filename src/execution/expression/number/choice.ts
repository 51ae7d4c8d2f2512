// CASE, COALESCE, GREATEST and LEAST over numbers as nodes.

import type { Address } from '../../../base/layout.js';
import { type Block, wordsOf } from '../../block/context.js';
import { constantNode } from './leaf.js';
import { inLane, type Node, type NumberNode, type Result, type Rooms, spread, type TruthNode } from './node.js';

export interface Choice {
  readonly lane: 'I64' | 'F64';
  readonly otherwise: Node | undefined;
  readonly branches: readonly { readonly condition: TruthNode; readonly result: Node }[];
}

/** The result of the first condition that holds, else `otherwise`, else null. Branches run from the last to the first, which so has the last word. */
export function chosen(rooms: Rooms, { lane, otherwise, branches }: Choice): NumberNode {
  const { kernels } = rooms.scope.context;
  const last = inLane(rooms, otherwise ?? (constantNode(rooms, null) as NumberNode), lane);
  const room = rooms.over(last);
  const steps = branches
    .toReversed()
    .map(({ condition, result }) => ({ condition, result: inLane(rooms, result, lane), bits: nullBits(rooms) }));
  return {
    kind: 'number',
    lane,
    isOne: false,
    mayBeNull: last.mayBeNull || steps.some(({ result }) => result.mayBeNull),
    room,
    run(block) {
      let current = last.run(block);
      let isOne = last.isOne;
      for (const { condition, result, bits } of steps) {
        const truth = condition.run(block);
        const made = result.run(block);
        kernels.choose64(truth.at, made.at, result.isOne ? 1 : 0, current.at, isOne ? 1 : 0, block.rows, room);
        current = { at: room, nulls: chosenNulls(rooms, block, bits, truth.at, made.nulls, current.nulls) };
        isOne = false;
      }
      return current;
    },
  };
}

/** Null rows of a choice: those of `a` where `mask` is set, else those of `b`. */
function chosenNulls(rooms: Rooms, block: Block, { out, rest }: NullBits, mask: Address, a: Address, b: Address): Address {
  const { kernels } = rooms.scope.context;
  const words = wordsOf(block);
  if (a === 0 && b === 0) return 0;
  if (b === 0) kernels.bitsAnd(mask, a, words, out);
  else kernels.bitsAndNot(b, mask, words, out);
  if (a === 0 || b === 0) return out;
  kernels.bitsAnd(mask, a, words, rest);
  kernels.bitsOr(out, rest, words, out);
  return out;
}

interface NullBits {
  readonly out: Address;
  readonly rest: Address;
}

function nullBits(rooms: Rooms): NullBits {
  return { out: rooms.takeBits(), rest: rooms.takeBits() };
}

/** The first that is not null. */
export function firstKnown(rooms: Rooms, operands: readonly NumberNode[]): NumberNode | undefined {
  const [first, ...others] = operands;
  return first === undefined ? undefined : others.reduce((known, next) => knownOf(rooms, known, next), first);
}

function knownOf(rooms: Rooms, a: NumberNode, b: NumberNode): NumberNode {
  const { kernels } = rooms.scope.context;
  const none = rooms.takeBits();
  return eitherOf(rooms, a, b, (block, first, second, out) => {
    // The other's where this one is null, of which there may be none.
    const mask = first.nulls === 0 ? clearBits(rooms, none, block) : first.nulls;
    kernels.choose64(mask, second.at, b.isOne ? 1 : 0, first.at, a.isOne ? 1 : 0, block.rows, out);
  });
}

/** The values of one node or of another, as `choose` writes them; null where both are. */
function eitherOf(
  rooms: Rooms,
  a: NumberNode,
  b: NumberNode,
  choose: (block: Block, first: Result, second: Result, out: Address) => void,
): NumberNode {
  const { kernels } = rooms.scope.context;
  const nulls = rooms.takeBits();
  const room = rooms.over(a, b);
  return {
    kind: 'number',
    lane: a.lane,
    isOne: false,
    mayBeNull: a.mayBeNull && b.mayBeNull,
    room,
    run(block) {
      const [first, second] = [a.run(block), b.run(block)];
      choose(block, first, second, room);
      if (first.nulls === 0 || second.nulls === 0) return { at: room, nulls: 0 };
      kernels.bitsAnd(first.nulls, second.nulls, wordsOf(block), nulls);
      return { at: room, nulls };
    },
  };
}

function clearBits(rooms: Rooms, bits: Address, block: Block): Address {
  rooms.scope.context.kernels.bitsFill(bits, wordsOf(block), 0, 0);
  return bits;
}

/** greatest (1), least (-1): of those that are not null; the first of equal ones. */
export function extreme(rooms: Rooms, operands: readonly NumberNode[], direction: 1 | -1): NumberNode | undefined {
  const [first, ...others] = operands;
  return first === undefined ? undefined : others.reduce((best, next) => extremeOfTwo(rooms, best, next, direction), first);
}

function extremeOfTwo(rooms: Rooms, best: NumberNode, next: NumberNode, direction: 1 | -1): NumberNode {
  const { kernels } = rooms.scope.context;
  const a = spread(rooms, best);
  const kernel = a.lane === 'I64' ? kernels.compareI64 : kernels.orderF64;
  const takes = rooms.takeBits();
  return eitherOf(rooms, a, next, (block, first, second, out) => {
    const words = wordsOf(block);
    // The greatest gives way where it is not at least as much, the least where it is above.
    kernel(first.at, second.at, next.isOne ? 1 : 0, block.rows, direction === 1 ? 1 : 2, takes);
    if (direction === -1) kernels.bitsNot(takes, block.rows, takes);
    if (second.nulls !== 0) kernels.bitsAndNot(takes, second.nulls, words, takes);
    if (first.nulls !== 0) kernels.bitsOr(takes, first.nulls, words, takes);
    kernels.choose64(takes, second.at, next.isOne ? 1 : 0, first.at, 0, block.rows, out);
  });
}
