// Functions of regular expressions as nodes of kernels, for patterns that have automata.

import type { Address } from '../../../base/layout.js';
import type { Automaton } from '../../../base/pattern/automaton.js';
import { mayMatchNothing, patternAutomaton } from '../../../base/pattern/pattern-automaton.js';
import { foldedAutomaton } from '../../../expression/fold-case.js';
import { TEXT_LENGTH_MAX } from '../../../expression/functions/text-length.js';
import { compileRegularExpression } from '../../../expression/regular-expression.js';
import type { Expression } from '../../../model/expression.js';
import { WIDE } from '../../block/text-references.js';
import type { TruthNode } from '../number/node.js';
import type { TextNode } from '../vector.js';
import { wellFormed } from './constants.js';
import { isBmpOnly, Patches, refuseLong, truths } from './text-functions.js';
import { Room, type TextWork } from './text-node.js';

export function matches(work: TextWork, node: TextNode, automaton: Automaton): TruthNode {
  const { kernels } = work.scope.context;
  const at = upload(work, automaton);
  return truths(work, node.mayBeNull, work.nullsOf(node), (block, out) => kernels.patternTest(node.texts(block), block.rows, at, out));
}

/** The part that the automaton wants, of the same bytes. */
export function extract(work: TextWork, node: TextNode, automaton: Automaton): TextNode {
  const { kernels } = work.scope.context;
  const at = upload(work, automaton);
  return work.node({ mayBeNull: true, isBmp: node.isBmp }, (block, out) => {
    kernels.patternExtract(node.texts(block), block.rows, at, out);
  });
}

/** Bytes that the texts of a block may take when each byte of theirs is replaced. */
const REPLACED_BYTES_MAX = 1 << 26;

/**
 * All matches replaced, which are not empty.
 * @param replaced  the same for one text, where a block might take too much memory
 */
export function replaceMatches(
  work: TextWork,
  node: TextNode,
  automaton: Automaton,
  replacement: string,
  replaced: (text: string) => string,
): TextNode {
  const { kernels, memory } = work.scope.context;
  const room = new Room(work);
  const put = Buffer.from(replacement);
  const [at, putAt] = [upload(work, automaton), work.upload(put)];
  const each = new Patches(work, replaced);
  return work.node({ mayBeNull: node.mayBeNull, isBmp: node.isBmp && isBmpOnly(replacement) }, (block, out) => {
    const texts = node.texts(block);
    const bound = kernels.textBytes(texts, block.rows) * Math.max(1, put.length);
    if (bound <= REPLACED_BYTES_MAX) kernels.patternReplace(texts, block.rows, at, putAt, put.length, out, room.of(bound));
    else {
      const [from, to] = [memory.u32(texts, block.rows * 2), memory.u32(out, block.rows * 2)];
      for (let half = 0; half < to.length; half += 2) {
        to[half] = from[half] ?? 0;
        to[half + 1] = from[half] === 0 ? 0 : (from[half + 1] ?? 0) | WIDE;
      }
      each.make(block, out);
    }
    if (bound > TEXT_LENGTH_MAX) refuseLong(work, 'regexp_replace', block, out);
  });
}

function upload({ scope: { arena, context } }: TextWork, automaton: Automaton): Address {
  const at = arena.take(automaton.byteLength);
  context.memory.u32(at, automaton.length).set(automaton);
  return at;
}

/** The automaton of a constant pattern. `wanted`: the group, null for none; undefined is no number of one. */
export function automatonFor(pattern: Expression | undefined, wanted: number | null | undefined): Automaton | undefined {
  const text = wellFormed(pattern);
  return text === undefined || wanted === undefined ? undefined : patternAutomaton(text, wanted);
}

/** The automaton of what contains a constant text, in whichever case. */
export function automatonWithin(text: Expression | undefined): Automaton | undefined {
  const known = wellFormed(text);
  return known === undefined ? undefined : foldedAutomaton(known);
}

/** Bytes of what matches are replaced by; longer texts, and those that refer to groups, are put in one by one. */
const REPLACEMENT_BYTES_MAX = 16;

/** All matches of a constant pattern replaced. */
export function replacedMatches(
  work: TextWork,
  node: TextNode,
  pattern: Expression | undefined,
  replacement: string | undefined,
): TextNode | undefined {
  const text = wellFormed(pattern);
  if (text === undefined || replacement === undefined || /[\\$]/.test(replacement)) return undefined;
  if (Buffer.byteLength(replacement) > REPLACEMENT_BYTES_MAX || mayMatchNothing(text)) return undefined;
  const automaton = patternAutomaton(text, 0);
  if (automaton === undefined) return undefined;
  return replaceMatches(work, node, automaton, replacement, compileRegularExpression(text).replacer(replacement));
}
