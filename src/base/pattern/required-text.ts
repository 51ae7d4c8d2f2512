// Finds a text that every match of a pattern has, which kernels look for before the automaton reads anything; for patterns that
// the library matches there are `expression/required-texts.ts`.

import type { PatternNode } from './pattern-tree.js';

export interface RequiredText {
  readonly bytes: Uint8Array;
  /** Whether every match begins with it. */
  readonly isFirst: boolean;
}

/** Shorter ones are in most texts. */
const BYTES_MIN = 2;
const CHARACTERS_MAX = 64;
const SURROGATES = [0xd800, 0xdfff] as const;

/** A character of every match, or a gap: something else, or nothing. They follow each other directly. */
type Piece = number | null;

/** The text that matches begin with, or the longest one in them. Undefined where none is known, or matches lie at the start of a text only. */
export function requiredText(tree: PatternNode): RequiredText | undefined {
  if (beginsAtStart(tree)) return undefined;
  const runs: { text: string; readonly isFirst: boolean }[] = [{ text: '', isFirst: true }];
  for (const piece of pieces(tree)) {
    const last = runs.at(-1);
    if (piece === null || last === undefined) runs.push({ text: '', isFirst: false });
    else if (last.text.length < CHARACTERS_MAX) last.text += String.fromCodePoint(piece);
  }
  const known = runs
    .map(({ text, isFirst }): RequiredText => ({ bytes: Buffer.from(text), isFirst }))
    .filter(({ bytes }) => bytes.length >= BYTES_MIN);
  const longest = known.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);
  return known.find(({ bytes, isFirst }) => isFirst || bytes.length === longest);
}

function beginsAtStart(node: PatternNode): boolean {
  switch (node.kind) {
    case 'start':
      return true;
    case 'group':
      return beginsAtStart(node.part);
    case 'sequence':
      return node.parts[0] !== undefined && beginsAtStart(node.parts[0]);
    case 'alternatives':
      return node.parts.every(beginsAtStart);
    default:
      return false;
  }
}

function pieces(node: PatternNode): readonly Piece[] {
  switch (node.kind) {
    case 'characters': {
      const [[first = 0, last = 0] = []] = node.ranges;
      const isOne = node.ranges.length === 1 && first === last && !(first >= SURROGATES[0] && first <= SURROGATES[1]);
      return [isOne ? first : null];
    }
    case 'sequence':
      return node.parts.flatMap(pieces);
    case 'group':
      return pieces(node.part);
    case 'times':
      return node.min === 0 ? [null] : [...pieces(node.part), null];
    default:
      return [null];
  }
}
