// Parts of texts, and the places of one text in another, as nodes of kernels.

import { wordsOf } from '../../block/context.js';
import type { NumberNode, Result, TruthNode } from '../number/node.js';
import type { TextNode } from '../vector.js';
import { isOne, longs } from './text-functions.js';
import type { TextWork } from './text-node.js';

export function position(work: TextWork, node: TextNode, wanted: string): NumberNode {
  const { kernels } = work.scope.context;
  const bytes = Buffer.from(wanted);
  const at = work.upload(bytes);
  return longs(work, node, (texts, rows, out) => kernels.textFind(texts, rows, at, bytes.length, out));
}

/** The position of one text in another from a unit on, each one for all rows or one a row; null from a unit that no text has. */
export function positionOfEach(work: TextWork, node: TextNode, wanted: TextNode, from: NumberNode): NumberNode {
  const { kernels } = work.scope.context;
  const room = work.words();
  const outside = work.outside(from, -(2n ** 31n));
  let start: Result = { at: 0, nulls: 0 };
  const nulls = work.anyOf([work.nullsOf(node), work.nullsOf(wanted), (block) => outside(block, start)]);
  return {
    kind: 'number',
    lane: 'I64',
    isOne: false,
    mayBeNull: true,
    room: undefined,
    run(block) {
      const [texts, searches] = [node.texts(block), wanted.texts(block)];
      start = from.run(block);
      kernels.textFindEach(texts, searches, isOne(wanted), start.at, from.isOne ? 1 : 0, block.rows, room);
      return { at: room, nulls: nulls(block) };
    },
  };
}

/** Whether a text has a place for another. */
export function contained(work: TextWork, node: TextNode, wanted: TextNode): TruthNode {
  const { kernels } = work.scope.context;
  const found = positionOfEach(work, node, wanted, work.long(0n));
  const out = work.bits();
  return {
    kind: 'truth',
    mayBeNull: found.mayBeNull,
    run(block) {
      const { at, nulls } = found.run(block);
      kernels.filterRangeI64(at, block.rows, 0n, 2n ** 31n, out);
      if (nulls !== 0) kernels.bitsAndNot(out, nulls, wordsOf(block), out);
      return { at: out, nulls };
    },
  };
}

/** Parts by `kind`, `from` and `count` of the kernel `textSlice`; null where a number is. */
export function slice(work: TextWork, node: TextNode, kind: 0 | 1 | 2, from: NumberNode, count: NumberNode): TextNode {
  const { kernels } = work.scope.context;
  const numbers = [from, count];
  const none = work.upload(new Uint8Array(8));
  const isCount = ({ constant }: NumberNode): boolean => typeof constant === 'bigint' && constant >= 0n && constant < 2n ** 31n;
  const made = { mayBeNull: node.mayBeNull || kind === 0 || !numbers.every(isCount), isBmp: node.isBmp };
  return work.node(made, (block, out) => {
    const [ofFrom, ofCount] = [from.run(block), count.run(block)];
    const [oneFrom, oneCount] = [from.isOne ? 1 : 0, count.isOne ? 1 : 0];
    work.cuts += kernels.textSlice(node.texts(block), block.rows, kind, ofFrom.at, oneFrom, ofCount.at, oneCount, out);
    for (const { nulls } of [ofFrom, ofCount]) if (nulls !== 0) kernels.choose64(nulls, none, 1, out, 0, block.rows, out);
  });
}

export function trim(work: TextWork, node: TextNode, characters: string, ends: 1 | 2 | 3): TextNode {
  const { kernels } = work.scope.context;
  const set = new Uint8Array(32);
  for (const byte of Buffer.from(characters)) set[byte >>> 3] = (set[byte >>> 3] ?? 0) | (1 << (byte & 7));
  const at = work.upload(set);
  return work.node(node, (block, out) => kernels.textTrim(node.texts(block), block.rows, at, ends, out));
}
