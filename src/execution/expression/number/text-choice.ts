// Choices among strings as nodes: ids into one pool.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { convert } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, takeZeroed } from '../../block/context.js';
import { rememberedResults, widener } from '../dictionary-function.js';
import type { RowFunction } from '../row-function.js';
import { oncePerBlock, type StringPool, type StringVector } from '../vector.js';
import type { NumberNode, Rooms, TruthNode } from './node.js';

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

/** A function of the strings of another node, whose pool is complete: `idOf` gives the id of each result. */
export function mappedText(rooms: Rooms, node: TextNode, { values }: StringPool, idOf: (text: string | null) => number): TextNode {
  const { arena, context } = rooms.scope;
  const table = arena.take(values.length * 4);
  context.memory.u32(table, values.length).set(values.map(idOf));
  const out = arena.take(BLOCK_ROWS * 4);
  return {
    isOne: false,
    run(block) {
      context.kernels.gather32(table, everyId(rooms, node, block, out), block.rows, out);
      return out;
    },
  };
}

/** Numbers by the ids of a node. */
export function numberOfText(
  rooms: Rooms,
  node: TextNode,
  results: readonly (bigint | number | null)[],
  type: 'LONG' | 'DOUBLE',
): NumberNode {
  const { arena, context } = rooms.scope;
  const table = arena.take(results.length * 8);
  if (type === 'LONG') context.memory.i64(table, results.length).set(results.map((result) => BigInt(result ?? 0)));
  else context.memory.f64(table, results.length).set(results.map((result) => Number(result ?? 0)));
  const [ids, room, bits] = [arena.take(BLOCK_ROWS * 4), rooms.over(), rooms.takeBits()];
  const mayBeNull = results.includes(null);
  const nullIds = takeZeroed(arena, context, Math.ceil(results.length / 64) * 8);
  const nullBytes = context.memory.u8(nullIds, Math.ceil(results.length / 8));
  results.forEach((result, id) => {
    if (result === null) nullBytes[id >>> 3] = (nullBytes[id >>> 3] ?? 0) | (1 << (id & 7));
  });
  return {
    kind: 'number',
    lane: type === 'LONG' ? 'I64' : 'F64',
    isOne: false,
    mayBeNull,
    room,
    run(block) {
      const at = everyId(rooms, node, block, ids);
      context.kernels.gather64(table, at, block.rows, room);
      if (mayBeNull) context.kernels.filterSetU32(at, block.rows, nullIds, bits);
      return { at: room, nulls: mayBeNull ? bits : 0 };
    },
  };
}

/** An id for every row, at `out` where the node has one for all. */
function everyId(rooms: Rooms, node: TextNode, block: Block, out: Address): Address {
  const at = node.run(block);
  if (!node.isOne) return at;
  rooms.scope.context.memory.u32(out, block.rows).fill(rooms.scope.context.memory.u32(at, 1)[0] ?? 0);
  return out;
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
      if (current.isOne) context.memory.u32(out, block.rows).fill(context.memory.u32(current.at, 1)[0] ?? 0);
      return current.isOne ? out : current.at;
    },
  };
}

function constantAt(node: TextNode | undefined, block: Block): { at: Address; isOne: boolean } {
  return node === undefined ? { at: 0, isOne: true } : { at: node.run(block), isOne: node.isOne };
}

/** The strings of a node; its pool is complete. */
export function textVector(rooms: Rooms, node: TextNode, pool: StringPool): StringVector {
  const spread = rooms.scope.arena.take(node.isOne ? BLOCK_ROWS * 4 : 8);
  let at: Address = 0;
  const run = oncePerBlock((block) => {
    at = everyId(rooms, node, block, spread);
  });
  const ids = (block: Block): Address => {
    run(block);
    return at;
  };
  return { kind: 'string', type: 'STRING', pool, complete: true, ids };
}
