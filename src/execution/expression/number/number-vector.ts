// A tree of kernels as a column of numbers.

import type { Address } from '../../../base/layout.js';
import type { NumberType } from '../../../model/schema.js';
import { computedNumbers, type NumberVector, oncePerBlock } from '../vector.js';
import { laneOf, MAP, mappedBy } from './arithmetic.js';
import { inLane, type Node, type Rooms, spread } from './node.js';

/** The values of a tree in a type; undefined for a DOUBLE that is asked for as LONG. */
export function numberVector(rooms: Rooms, node: Node, type: NumberType): NumberVector | undefined {
  const lane = type === 'LONG' ? 'I64' : 'F64';
  if (lane === 'I64' && laneOf([node]) === 'F64') return undefined;
  const number = spread(rooms, type === 'FLOAT' ? mappedBy(rooms, node, MAP.float) : inLane(rooms, node, lane));
  let [at, nulls]: [Address, Address] = [0, 0];
  const run = oncePerBlock((block) => {
    ({ at, nulls } = number.run(block));
  });
  return computedNumbers(type, { run, at: () => at, nulls: () => nulls, mayBeNull: number.mayBeNull });
}
