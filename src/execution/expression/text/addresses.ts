// Functions of IPv4 addresses, as texts and as numbers, by kernels.

import { constantOf } from '../../../expression/expression-type.js';
import { addressesOfSubnet, LONGEST_V4 } from '../../../expression/functions/network.js';
import type { Expression } from '../../../model/expression.js';
import { wordsOf } from '../../block/context.js';
import type { NumberNode, TruthNode } from '../number/node.js';
import { oncePerBlock, type TextNode } from '../vector.js';
import { truths } from './text-functions.js';
import { Room, type TextWork } from './text-node.js';

/** Bytes of the longest address. */
const ADDRESS_BYTES_MAX = 15;

/** The numbers of addresses; null of other texts. */
export function numbersOfAddresses(work: TextWork, node: TextNode): NumberNode {
  const { kernels } = work.scope.context;
  const [room, others] = [work.words(), work.bits()];
  let count = 0;
  const run = oncePerBlock((block) => {
    count = kernels.textAddresses(node.texts(block), block.rows, room, others);
  });
  return {
    kind: 'number',
    lane: 'I64',
    isOne: false,
    mayBeNull: true,
    room: undefined,
    run(block) {
      run(block);
      return { at: room, nulls: count === 0 ? 0 : others };
    },
  };
}

/** LONGs that are numbers of addresses; null of others. */
export function knownAddresses(work: TextWork, numbers: NumberNode): NumberNode {
  const { kernels } = work.scope.context;
  const outside = work.bits();
  return {
    kind: 'number',
    lane: 'I64',
    isOne: false,
    mayBeNull: true,
    room: numbers.room,
    run(block) {
      const { at, nulls } = numbers.run(block);
      kernels.filterRangeI64(at, block.rows, 0n, LONGEST_V4, outside);
      if (nulls !== 0) kernels.bitsAndNot(outside, nulls, wordsOf(block), outside);
      kernels.bitsNot(outside, block.rows, outside);
      return { at, nulls: outside };
    },
  };
}

/** Whether addresses lie in a constant subnet; what is none lies nowhere. */
export function isInSubnet(work: TextWork, numbers: NumberNode, subnet: Expression | undefined): TruthNode {
  const { kernels } = work.scope.context;
  const { low, high } = addressesOfSubnet(constantOf(subnet));
  return truths(
    work,
    false,
    () => 0,
    (block, out) => {
      const { at, nulls } = numbers.run(block);
      kernels.filterRangeI64(at, block.rows, low, high, out);
      if (nulls !== 0) kernels.bitsAndNot(out, nulls, wordsOf(block), out);
    },
  );
}

/** The texts of numbers; null of what is no number of an address. */
export function textsOfAddresses(work: TextWork, numbers: NumberNode): TextNode {
  const { kernels } = work.scope.context;
  const room = new Room(work);
  return work.node({ mayBeNull: true, isBmp: true }, (block, out) => {
    const { at, nulls } = numbers.run(block);
    kernels.textOfAddresses(at, nulls, block.rows, out, room.of(block.rows * ADDRESS_BYTES_MAX));
  });
}
