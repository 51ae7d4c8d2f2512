// Arithmetic, bits and rounding as nodes.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { NAN_BITS } from '../../../expression/functions/bits.js';
import { cutDouble, roundDouble } from '../../../expression/functions/math.js';
import { type Block, takeBits, wordsOf } from '../../block/context.js';
import { eitherNull, inLane, type Lane, laneKernel, type Node, type NumberNode, ofOne, type Rooms, roomForNulls, spread } from './node.js';

type Kernel = (a: Address, b: Address, scalar: number, n: number, out: Address) => void;

/** Operations of the kernel `mapF64`, by number. */
export const MAP = {
  floor: 0,
  ceil: 1,
  truncate: 2,
  nearest: 3,
  sign: 4,
  squareRoot: 5,
  magnitude: 6,
  negate: 7,
  float: 8,
  logarithm: 9,
} as const;

export function laneOf(nodes: readonly Node[]): Lane {
  return nodes.some((node) => node.kind === 'number' && node.lane === 'F64') ? 'F64' : 'I64';
}

/** Two numbers of one lane through a kernel, null where either is. */
function elementwise(rooms: Rooms, left: NumberNode, right: NumberNode, kernel: Kernel): NumberNode {
  const a = right.isOne && left.isOne ? left : spread(rooms, left);
  const bits = roomForNulls(rooms, a, right);
  const room = rooms.over(a, right);
  const isOne = a.isOne;
  return {
    kind: 'number',
    lane: left.lane,
    isOne,
    mayBeNull: a.mayBeNull || right.mayBeNull,
    room,
    run(block) {
      const first = a.run(block);
      const second = right.run(block);
      kernel(first.at, second.at, right.isOne ? 1 : 0, isOne ? 1 : block.rows, room);
      return { at: room, nulls: eitherNull(rooms, bits, block, first.nulls, second.nulls) };
    },
  };
}

/** `+ - *` of two LONGs, which wrap, or of DOUBLEs. */
export function combined(rooms: Rooms, family: 'add' | 'subtract' | 'multiply', left: Node, right: Node): NumberNode {
  const lane = laneOf([left, right]);
  const a = inLane(rooms, left, lane);
  return elementwise(rooms, a, inLane(rooms, right, lane), laneKernel(rooms, family, lane));
}

/** Bits, shifts: of LONGs only. */
export function ofLongs(rooms: Rooms, family: 'and' | 'or' | 'xor' | 'shiftLeft' | 'shiftRight', left: Node, right: Node): NumberNode {
  const { kernels } = rooms.scope.context;
  const a = asLong(rooms, left);
  return elementwise(rooms, a, asLong(rooms, right), kernels[`${family}I64`]);
}

export function negated(rooms: Rooms, node: Node): NumberNode {
  const number = inLane(rooms, node, laneOf([node]));
  if (number.lane === 'F64') return mappedBy(rooms, number, MAP.negate);
  const { memory, kernels } = rooms.scope.context;
  const minusOne = rooms.scope.arena.take(8);
  memory.i64(minusOne, 1)[0] = -1n;
  return ofOne(rooms, number, 'I64', (values, n, out) => kernels.multiplyI64(values, minusOne, 1, n, out));
}

/** A function of one DOUBLE that `mapF64` computes. */
export function mappedBy(rooms: Rooms, node: Node, operation: number): NumberNode {
  const { kernels } = rooms.scope.context;
  return ofOne(rooms, inLane(rooms, node, 'F64'), 'F64', (values, n, out) => kernels.mapF64(values, n, operation, out));
}

/** Ways to so many places: the kernel, and the function for values that no kernel takes. */
const ROUNDED = { kernel: 'roundF64', ofOne: roundDouble } as const;
const CUT = { kernel: 'cutF64', ofOne: cutDouble } as const;

/** A DOUBLE at so many places, before the point if negative, of which no kernel places the largest: these are done one by one. */
function atPlaces(rooms: Rooms, node: Node, places: number, way: typeof ROUNDED | typeof CUT): NumberNode {
  const { kernels, memory } = rooms.scope.context;
  const [power, unit] = [Number(`1e${Math.max(0, places)}`), Number(`1e${Math.max(0, -places)}`)];
  return ofOne(rooms, inLane(rooms, node, 'F64'), 'F64', (values, n, out) => {
    if (kernels[way.kernel](values, n, power, unit, out) === 0) return;
    const results = memory.f64(out, n);
    for (let row = 0; row < n; row++) {
      const value = results[row] ?? 0;
      // To place again what is placed changes nothing.
      if (!(Math.abs(value) * power < 1e14)) results[row] = way.ofOne(value, places);
    }
  });
}

export function rounded(rooms: Rooms, node: Node, places: number): NumberNode {
  return atPlaces(rooms, node, places, ROUNDED);
}

export function cut(rooms: Rooms, node: Node, places: number): NumberNode {
  return atPlaces(rooms, node, places, CUT);
}

/** A LONG to a multiple of a power of 10, half away from zero; undefined where the power is no LONG. */
export function roundedLong(rooms: Rooms, node: Node, exponent: number): NumberNode | undefined {
  if (exponent > LONG_EXPONENT_MAX) return undefined;
  const { arena, context } = rooms.scope;
  const { kernels, memory } = context;
  const constants = arena.take(16);
  memory.i64(constants, 2).set([10n ** BigInt(exponent), 2n]);
  const [unit, two, up] = [constants, constants + 8, arena.take(BLOCK_ROWS * 8)];
  return ofOne(rooms, inLane(rooms, node, 'I64'), 'I64', (values, n, out) => {
    // Twice the remainder is a unit or more where it is half of one, and has the sign of the number.
    kernels.remainderI64(values, unit, 1, n, up);
    kernels.multiplyI64(up, two, 1, n, up);
    kernels.divideI64(up, unit, 1, n, up);
    kernels.divideI64(values, unit, 1, n, out);
    kernels.addI64(out, up, 0, n, out);
    kernels.multiplyI64(out, unit, 1, n, out);
  });
}
/** Twice a remainder by a larger power would be no LONG. */
const LONG_EXPONENT_MAX = 18;

export function magnitude(rooms: Rooms, node: Node): NumberNode {
  if (laneOf([node]) === 'F64') return mappedBy(rooms, node, MAP.magnitude);
  const { kernels } = rooms.scope.context;
  return ofOne(rooms, inLane(rooms, node, 'I64'), 'I64', (values, n, out) => kernels.absI64(values, n, out));
}

/** Cut towards zero; beyond its range the nearest LONG, NaN 0. */
export function asLong(rooms: Rooms, node: Node): NumberNode {
  if (laneOf([node]) === 'I64') return inLane(rooms, node, 'I64');
  const { kernels } = rooms.scope.context;
  return ofOne(rooms, inLane(rooms, node, 'F64'), 'I64', (values, n, out) => kernels.truncateF64(values, n, out));
}

/** `/` and `%`: of LONGs null by zero. No kernel has the remainder of DOUBLEs. */
export function divided(rooms: Rooms, name: '/' | '%', left: Node, right: Node): NumberNode | undefined {
  const { kernels } = rooms.scope.context;
  if (laneOf([left, right]) === 'I64')
    return nullByZero(rooms, left, right, { lane: 'I64', kernel: name === '/' ? kernels.divideI64 : kernels.remainderI64 });
  return name === '/' ? elementwise(rooms, inLane(rooms, left, 'F64'), inLane(rooms, right, 'F64'), kernels.divideF64) : undefined;
}

/** The bits of a DOUBLE as a LONG, of which all NaNs have the same. */
export function bitsOfDouble(rooms: Rooms, node: Node): NumberNode {
  const { memory } = rooms.scope.context;
  return ofOne(rooms, inLane(rooms, node, 'F64'), 'I64', (values, n, out) => {
    const [numbers, bits] = [memory.f64(values, n), memory.i64(out, n)];
    bits.set(memory.i64(values, n));
    for (let row = 0; row < n; row++) if (Number.isNaN(numbers[row])) bits[row] = NAN_BITS;
  });
}

/** The DOUBLE of which a LONG has the bits. */
export function doubleOfBits(rooms: Rooms, node: Node): NumberNode {
  const { memory } = rooms.scope.context;
  return ofOne(rooms, asLong(rooms, node), 'F64', (values, n, out) => memory.i64(out, n).set(memory.i64(values, n)));
}

/** The bits of a LONG turned round. */
export function complement(rooms: Rooms, node: Node): NumberNode {
  const { kernels, memory } = rooms.scope.context;
  const allBits = rooms.scope.arena.take(8);
  memory.i64(allBits, 1)[0] = -1n;
  return ofOne(rooms, asLong(rooms, node), 'I64', (values, n, out) => kernels.xorI64(values, allBits, 1, n, out));
}

/** A quotient that is null by zero, of DOUBLEs too: of two LONGs a LONG. */
export function safelyDivided(rooms: Rooms, left: Node, right: Node): NumberNode {
  const { kernels } = rooms.scope.context;
  const lane = laneOf([left, right]);
  return nullByZero(rooms, left, right, { lane, kernel: lane === 'I64' ? kernels.divideI64 : kernels.divideF64 });
}

function nullByZero(rooms: Rooms, left: Node, right: Node, { lane, kernel }: { readonly lane: Lane; readonly kernel: Kernel }): NumberNode {
  const { arena, context } = rooms.scope;
  const zero = arena.take(8);
  context.memory.i64(zero, 1)[0] = 0n;
  const [zeros, either] = [takeBits(arena), takeBits(arena)];
  const compare = laneKernel(rooms, 'compare', lane);
  const a = spread(rooms, inLane(rooms, left, lane));
  const b = inLane(rooms, right, lane);
  const room = rooms.over(a, b);
  return {
    kind: 'number',
    lane,
    isOne: false,
    mayBeNull: true,
    room,
    run(block: Block) {
      const first = a.run(block);
      const second = b.run(block);
      if (b.isOne) {
        compare(second.at, zero, 1, 1, 0, zeros);
        if (context.memory.u8(zeros, 1)[0] === 1) context.kernels.bitsFill(zeros, wordsOf(block), 0, block.rows);
        else context.kernels.bitsFill(zeros, wordsOf(block), 0, 0);
      } else compare(second.at, zero, 1, block.rows, 0, zeros);
      kernel(first.at, second.at, b.isOne ? 1 : 0, block.rows, room);
      let nulls = zeros;
      for (const more of [first.nulls, second.nulls]) nulls = eitherNull(rooms, either, block, nulls, more);
      return { at: room, nulls };
    },
  };
}
