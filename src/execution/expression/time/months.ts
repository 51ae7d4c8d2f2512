// Whole months between instants by kernels.

import { constantOf } from '../../../expression/expression-type.js';
import { zoneOf } from '../../../expression/functions/time.js';
import type { Expression } from '../../../model/expression.js';
import { eitherNull, type NumberNode, type Rooms, roomForNulls } from '../number/node.js';

type Call = Extract<Expression, { kind: 'call' }>;

/**
 * `subtract_months` of LONG instants on the clock of UTC.
 * @param longsOf  instants as a node; undefined when they are of another type
 * @returns undefined for other functions and zones
 */
export function monthsCall(
  rooms: Rooms,
  { function: name, arguments: [end, start, ...others] }: Call,
  longsOf: (expression: Expression) => NumberNode | undefined,
): NumberNode | undefined {
  if (name !== 'subtract_months' || end === undefined || start === undefined) return undefined;
  const constants = others.map(constantOf);
  if (constants.includes(undefined) || zoneOf([undefined, undefined, ...constants], 2, name).fixedOffsetMs !== 0) return undefined;
  const [starts, ends] = [longsOf(start), longsOf(end)];
  return starts === undefined || ends === undefined ? undefined : monthsBetween(rooms, starts, ends);
}

function monthsBetween(rooms: Rooms, starts: NumberNode, ends: NumberNode): NumberNode {
  const { kernels } = rooms.scope.context;
  const room = rooms.over(starts, ends);
  const [bits, others, nulls] = [roomForNulls(rooms, starts, ends), rooms.takeBits(), rooms.takeBits()];
  return {
    kind: 'number',
    lane: 'I64',
    isOne: false,
    mayBeNull: true,
    room,
    run(block) {
      const [from, to] = [starts.run(block), ends.run(block)];
      const known = eitherNull(rooms, bits, block, from.nulls, to.nulls);
      const count = kernels.monthsBetweenI64(from.at, oneOf(starts), to.at, oneOf(ends), block.rows, room, others);
      return { at: room, nulls: count === 0 ? known : eitherNull(rooms, nulls, block, known, others) };
    },
  };
}

function oneOf({ isOne }: NumberNode): 0 | 1 {
  return isOne ? 1 : 0;
}
