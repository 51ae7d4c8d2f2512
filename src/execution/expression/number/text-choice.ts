// Choices among strings as nodes: ids into one pool.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { convert } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import type { StringColumnView } from '../../../storage/view.js';
import type { Block } from '../../block/context.js';
import { rememberedResults, widener } from '../dictionary-function.js';
import type { RowFunction } from '../row-function.js';
import { oncePerBlock, type StringPool, type StringVector } from '../vector.js';
import type { Rooms, TruthNode } from './node.js';

/** Strings of a block as ids (u32) into the pool that all nodes of an expression share; 0 is null. */
export interface TextNode {
  /** One id for all rows: there is one element at its address. */
  readonly isOne: boolean;
  run(block: Block): Address;
}

export function constantText(rooms: Rooms, id: number): TextNode {
  const at = rooms.scope.arena.take(8);
  rooms.scope.context.memory.u32(at, 1)[0] = id;
  return { isOne: true, run: () => at };
}

/** A function of one dictionary column, through a table of the pool's ids of its results. */
export function dictionaryText(
  rooms: Rooms,
  column: StringColumnView,
  bound: RowFunction,
  expression: Expression,
  pool: StringPool,
): TextNode {
  const { scope } = rooms;
  const results = rememberedResults(scope, column, bound, expression);
  const table = scope.arena.take(Math.max(1, results.length) * 4);
  const ids = scope.context.memory.u32(table, results.length);
  results.forEach((result, id) => {
    ids[id] = pool.idOf(convert(result, 'STRING'));
  });
  const widen = widener(scope, column);
  const out = scope.arena.take(BLOCK_ROWS * 4);
  return {
    isOne: false,
    run(block) {
      scope.context.kernels.gather32(table, widen(block), block.rows, out);
      return out;
    },
  };
}

/** The result of the first condition that holds, else the last, else null. */
export function chosenText(rooms: Rooms, conditions: readonly TruthNode[], results: readonly TextNode[], otherwise: TextNode): TextNode {
  const { kernels } = rooms.scope.context;
  const out = rooms.scope.arena.take(BLOCK_ROWS * 4);
  return {
    isOne: false,
    run(block) {
      let current = otherwise.run(block);
      let isOne = otherwise.isOne;
      for (let index = conditions.length - 1; index >= 0; index--) {
        const [condition, result] = [conditions[index], results[index]];
        if (condition === undefined || result === undefined) continue;
        const { at } = condition.run(block);
        kernels.choose32(at, result.run(block), result.isOne ? 1 : 0, current, isOne ? 1 : 0, block.rows, out);
        current = out;
        isOne = false;
      }
      return current;
    },
  };
}

/** The first that is not null. */
export function firstKnownText(rooms: Rooms, operands: readonly TextNode[]): TextNode {
  const { arena, context } = rooms.scope;
  const { kernels } = context;
  const [out, bits] = [arena.take(BLOCK_ROWS * 4), rooms.takeBits()];
  return {
    isOne: false,
    run(block) {
      let current = constantAt(operands.at(-1), block);
      for (const operand of operands.slice(0, -1).toReversed()) {
        const ids = operand.run(block);
        if (operand.isOne) {
          if (context.memory.u32(ids, 1)[0] !== 0) current = { at: ids, isOne: true };
          continue;
        }
        kernels.filterEqU32(ids, block.rows, 0, bits);
        kernels.choose32(bits, current.at, current.isOne ? 1 : 0, ids, 0, block.rows, out);
        current = { at: out, isOne: false };
      }
      return current.isOne ? spreadId(rooms, current.at, bits, block, out) : current.at;
    },
  };
}

function constantAt(node: TextNode | undefined, block: Block): { at: Address; isOne: boolean } {
  return node === undefined ? { at: 0, isOne: true } : { at: node.run(block), isOne: node.isOne };
}

/** One id for every row. */
function spreadId(rooms: Rooms, id: Address, bits: Address, block: Block, out: Address): Address {
  const { kernels } = rooms.scope.context;
  kernels.choose32(bits, id, 1, id, 1, block.rows, out);
  return out;
}

/** The strings of a node; its pool is complete. */
export function textVector(rooms: Rooms, node: TextNode, pool: StringPool): StringVector {
  const bits = rooms.takeBits();
  const spread = rooms.scope.arena.take(node.isOne ? BLOCK_ROWS * 4 : 8);
  let at: Address = 0;
  const run = oncePerBlock((block) => {
    const ids = node.run(block);
    at = node.isOne ? spreadId(rooms, ids, bits, block, spread) : ids;
  });
  const ids = (block: Block): Address => {
    run(block);
    return at;
  };
  return { kind: 'string', type: 'STRING', pool, complete: true, ids };
}
