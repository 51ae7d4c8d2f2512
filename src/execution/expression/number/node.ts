// The nodes of expressions over numbers: values and conditions of a block at a time.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { type Block, kernelFor, takeBits, wordsOf } from '../../block/context.js';
import type { SegmentScope } from '../scope.js';

export type Lane = 'I64' | 'F64';

/** Values or bits of a block, and bits of its null rows (0: none); readable until the parent has run. */
export interface Result {
  readonly at: Address;
  readonly nulls: Address;
}

/**
 * A part of an expression over numbers, computed for all rows of a block by kernels before its one parent is, which runs it once a
 * block.
 */
export interface NumberNode {
  readonly kind: 'number';
  readonly lane: Lane;
  /** One value for all rows: there is one element at its address. */
  readonly isOne: boolean;
  readonly mayBeNull: boolean;
  /** Memory of its values that the parent may write over; undefined where others read them too. */
  readonly room: Address | undefined;
  /** The value of all rows, where it is known before any is read. */
  readonly constant?: bigint | number | null;
  /** A LONG of a column: its values as DOUBLE, in one step from what is stored. */
  readonly asDouble?: () => NumberNode;
  run(block: Block): Result;
}

/** A condition: bits that are set where it holds, clear where it does not and where it is null. */
export interface TruthNode {
  readonly kind: 'truth';
  readonly mayBeNull: boolean;
  run(block: Block): Result;
}

export type Node = NumberNode | TruthNode;

/** Memory of the nodes of one expression over a segment. */
export class Rooms {
  readonly scope: SegmentScope;

  constructor(scope: SegmentScope) {
    this.scope = scope;
  }

  /** 8 bytes a row: those of an operand that nobody else reads, which a kernel may write over as it reads them, or new ones. */
  over(...operands: readonly Node[]): Address {
    for (const node of operands) if (node.kind === 'number' && node.room !== undefined) return node.room;
    return this.scope.arena.take(BLOCK_ROWS * 8);
  }

  takeBits(): Address {
    return takeBits(this.scope.arena);
  }
}

/** Rows that are null in either; `out` is written where both have some. */
export function eitherNull(rooms: Rooms, out: Address, block: Block, a: Address, b: Address): Address {
  if (a === 0 || b === 0 || a === b) return a === 0 ? b : a;
  rooms.scope.context.kernels.bitsOr(a, b, wordsOf(block), out);
  return out;
}

/** Room for the bits of `eitherNull`, where two operands may be null. */
export function roomForNulls(rooms: Rooms, ...nodes: readonly Node[]): Address {
  return nodes.filter((node) => node.mayBeNull).length > 1 ? rooms.takeBits() : 0;
}

/** A condition as LONG 1 or 0, a LONG as DOUBLE where that is asked for. */
export function inLane(rooms: Rooms, node: Node, lane: Lane): NumberNode {
  const number = node.kind === 'number' ? node : numberOfTruth(rooms, node);
  if (number.lane === lane) return number;
  if (lane === 'I64') throw new RangeError('a DOUBLE is not a LONG by itself');
  if (number.asDouble !== undefined) return number.asDouble();
  return ofOne(rooms, number, 'F64', (values, n, out) => rooms.scope.context.kernels.toF64I64(values, 0, n, 0n, out));
}

function numberOfTruth(rooms: Rooms, truth: TruthNode): NumberNode {
  const room = rooms.over();
  const { kernels } = rooms.scope.context;
  return {
    kind: 'number',
    lane: 'I64',
    isOne: false,
    mayBeNull: truth.mayBeNull,
    room,
    run(block) {
      const { at, nulls } = truth.run(block);
      kernels.bitsToI64(at, block.rows, room);
      return { at: room, nulls };
    },
  };
}

/** A function of one number that is null of null only. */
export function ofOne(
  rooms: Rooms,
  operand: NumberNode,
  lane: Lane,
  apply: (values: Address, n: number, out: Address) => void,
): NumberNode {
  const room = operand.isOne ? rooms.scope.arena.take(8) : rooms.over(operand);
  return {
    kind: 'number',
    lane,
    isOne: operand.isOne,
    mayBeNull: operand.mayBeNull,
    room: operand.isOne ? undefined : room,
    run(block) {
      const { at, nulls } = operand.run(block);
      apply(at, operand.isOne ? 1 : block.rows, room);
      return { at: room, nulls };
    },
  };
}

/** The node with a value of its own for every row: kernels take one element on their right side only. */
export function spread(rooms: Rooms, node: NumberNode): NumberNode {
  if (!node.isOne) return node;
  // Filled once for all blocks: no room that others use as well.
  const room = rooms.scope.arena.take(BLOCK_ROWS * 8);
  const words = rooms.scope.context.memory.i64(room, BLOCK_ROWS);
  let filled = false;
  return {
    ...node,
    isOne: false,
    room: undefined,
    run(block) {
      const { at, nulls } = node.run(block);
      if (!filled) words.fill(rooms.scope.context.memory.i64(at, 1)[0] ?? 0n);
      filled = true;
      return { at: room, nulls };
    },
  };
}

/** A kernel of a family for the lane: `kernelFor` for both. */
export function laneKernel<Family extends 'add' | 'subtract' | 'multiply' | 'compare'>(rooms: Rooms, family: Family, lane: Lane) {
  return kernelFor(rooms.scope.context.kernels, family, lane);
}
