// Parts of documents as nodes of kernels: what documents are written as is cut, nothing is parsed.

import { constantOf } from '../../../expression/expression-type.js';
import { type PathPart, parseJsonPath } from '../../../expression/json-path.js';
import type { Expression } from '../../../model/expression.js';
import type { NumberNode } from '../number/node.js';
import type { TextNode } from '../vector.js';
import { longs } from './text-functions.js';
import type { TextWork } from './text-node.js';

/** Parts of documents at a constant path; undefined for other paths. */
export function partOfDocument(work: TextWork, node: TextNode, path: Expression | undefined): TextNode | undefined {
  const text = constantOf(path)?.value;
  const parts = typeof text === 'string' ? parseJsonPath(text) : undefined;
  if (parts === undefined || parts.some((part) => part.kind === 'element' && part.index < 0)) return undefined;
  const words = parts.flatMap(stepOf);
  const { arena, context } = work.scope;
  const at = arena.take(Math.max(words.length, 1) * 4);
  context.memory.u32(at, words.length).set(words);
  return work.node({ mayBeNull: true, isBmp: node.isBmp }, (block, out) =>
    context.kernels.documentPart(node.texts(block), block.rows, at, words.length * 4, out),
  );
}

/** The number of elements of a list, 1 of another value. */
export function elementsOfDocument(work: TextWork, node: TextNode): NumberNode {
  return longs(work, node, (texts, rows, out) => work.scope.context.kernels.documentElements(texts, rows, out));
}

const ELEMENT = 2 ** 31;

/** Step of a path (`documentPart`). */
function stepOf(part: PathPart): readonly number[] {
  if (part.kind === 'element') return [ELEMENT + part.index];
  const name = Buffer.from(JSON.stringify(part.name).slice(1, -1));
  const filled = Buffer.concat([name, Buffer.alloc(-name.length & 3)]);
  return [name.length, ...Array.from({ length: filled.length / 4 }, (_, word) => filled.readUInt32LE(word * 4))];
}
