// Leaves of trees of kernels: constants, columns, and loops for what no kernel computes.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { extended } from '../../../base/names.js';
import type { Value } from '../../../expression/value.js';
import type { NumberColumnView } from '../../../storage/view.js';
import { type Block, kernelFor, wordsOf } from '../../block/context.js';
import type { SegmentScope } from '../scope.js';
import { ALL_ROWS, type NumberVector, oncePerBlock, storedNumbers } from '../vector.js';
import { eitherNull, type Lane, type NumberNode, type Rooms, roomForNulls } from './node.js';

/** The same in all rows; undefined for what is not a number. A null is a LONG. */
export function constantNode(rooms: Rooms, value: Value): NumberNode | undefined {
  if (value !== null && typeof value !== 'bigint' && typeof value !== 'number') return undefined;
  const { memory, kernels } = rooms.scope.context;
  const at = rooms.scope.arena.take(8);
  if (typeof value === 'number') memory.f64(at, 1)[0] = value;
  else memory.i64(at, 1)[0] = value ?? 0n;
  const bits = value === null ? rooms.takeBits() : 0;
  return {
    kind: 'number',
    lane: typeof value === 'number' ? 'F64' : 'I64',
    isOne: true,
    constant: value,
    mayBeNull: value === null,
    room: undefined,
    run(block) {
      if (bits !== 0) kernels.bitsFill(bits, wordsOf(block), 0, block.rows);
      return { at, nulls: bits };
    },
  };
}

/** A column, or what was computed in another way, widened to 64 bits; it may be read by several parents. */
export function vectorNode(rooms: Rooms, vector: NumberVector): NumberNode {
  const { physical, base, mayBeNull } = vector;
  const lane: Lane = physical === 'F32' || physical === 'F64' ? 'F64' : 'I64';
  const nullsOf = (block: Block): Address => (mayBeNull ? vector.nulls(block) : 0);
  if (physical === 'F64' || (physical === 'I64' && base === 0n))
    return {
      kind: 'number',
      lane,
      isOne: false,
      mayBeNull,
      room: undefined,
      run: (block) => ({ at: vector.values(block), nulls: nullsOf(block) }),
    };
  const widened = (to: Lane): NumberNode => {
    const { arena, context } = rooms.scope;
    const out = arena.take(BLOCK_ROWS * 8);
    const widen =
      physical === 'F32' || to === 'F64' ? kernelFor(context.kernels, 'toF64', physical) : kernelFor(context.kernels, 'toI64', physical);
    const once = oncePerBlock((block) => {
      widen(vector.values(block), 0, block.rows, base, out);
      return vector.stored === undefined ? undefined : ALL_ROWS;
    });
    return {
      kind: 'number',
      lane: to,
      isOne: false,
      mayBeNull,
      room: undefined,
      run(block) {
        once(block);
        return { at: out, nulls: nullsOf(block) };
      },
    };
  };
  if (lane === 'F64') return widened(lane);
  let asDouble: NumberNode | undefined;
  return extended(widened(lane), {
    asDouble() {
      asDouble ??= widened('F64');
      return asDouble;
    },
  });
}

const STORED = new WeakMap<SegmentScope, Map<NumberColumnView, NumberNode>>();

/** A stored column, widened once for all expressions of a scope that read it. */
export function storedNode(rooms: Rooms, column: NumberColumnView): NumberNode {
  const nodes = STORED.get(rooms.scope) ?? new Map<NumberColumnView, NumberNode>();
  STORED.set(rooms.scope, nodes);
  const known = nodes.get(column) ?? vectorNode(rooms, storedNumbers(rooms.scope, column));
  nodes.set(column, known);
  return known;
}

/** A function of DOUBLEs that no kernel computes: a loop over their arrays, null where an operand is. */
export function mapped(rooms: Rooms, operands: readonly NumberNode[], apply: (x: number, y: number) => number): NumberNode | undefined {
  const [a, b] = operands;
  if (a === undefined || operands.length > 2) return undefined;
  const { memory, computed } = rooms.scope.context;
  const bits = roomForNulls(rooms, ...operands);
  const room = rooms.over(...operands);
  return {
    kind: 'number',
    lane: 'F64',
    isOne: false,
    mayBeNull: operands.some(({ mayBeNull }) => mayBeNull),
    room,
    run(block) {
      const { rows } = block;
      computed.valuesByRow += rows;
      const first = a.run(block);
      const second = b?.run(block);
      const out = memory.f64(room, rows);
      const left = memory.f64(first.at, a.isOne ? 1 : rows);
      const right = second === undefined ? NO_NUMBERS : memory.f64(second.at, b?.isOne === true ? 1 : rows);
      if (right.length < rows) ofOneArray(left, right[0] ?? 0, out, apply);
      else if (left.length < rows) for (let row = 0; row < rows; row++) out[row] = apply(left[0] ?? 0, right[row] ?? 0);
      else for (let row = 0; row < rows; row++) out[row] = apply(left[row] ?? 0, right[row] ?? 0);
      return { at: room, nulls: eitherNull(rooms, bits, block, first.nulls, second?.nulls ?? 0) };
    },
  };
}

const NO_NUMBERS = new Float64Array(0);

function ofOneArray(left: Float64Array, right: number, out: Float64Array, apply: (x: number, y: number) => number): void {
  if (left.length < out.length) out.fill(apply(left[0] ?? 0, right));
  else for (let row = 0; row < out.length; row++) out[row] = apply(left[row] ?? 0, right);
}
