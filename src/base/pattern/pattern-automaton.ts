// Finds the automaton of a pattern.

import { BoundedCache } from '../bounded-cache.js';
import { type Automaton, automatonOf } from './automaton.js';
import { byteMachine } from './byte-machine.js';
import { groupCount, mayBeNothing, type PatternNode, patternTree } from './pattern-tree.js';
import { requiredText } from './required-text.js';

const KEPT_BYTES_MAX = 16 * 1024 * 1024;
const ENTRY_BYTES = 300;

interface Known {
  readonly automaton: Automaton | undefined;
}

const KNOWN = new BoundedCache<string, Known>(KEPT_BYTES_MAX);

/**
 * The automaton that finds a pattern in a text.
 * @param pattern  one that `compileRegularExpression` accepts
 * @param wanted   the part of a match that is asked for: a group by its number, 0 for all of it; null where only is asked whether there is one
 * @returns        undefined for patterns that have none here
 */
export function patternAutomaton(pattern: string, wanted: number | null): Automaton | undefined {
  return keptAutomaton(`${wanted} ${pattern}`, () => patternTree(pattern), wanted);
}

/**
 * The automaton of a tree, which is made once.
 * @param key   tells trees and what is wanted of them apart; those of patterns begin with `wanted`
 * @param make  the tree; undefined: it has no automaton
 */
export function keptAutomaton(key: string, make: () => PatternNode | undefined, wanted: number | null): Automaton | undefined {
  const known = KNOWN.find(key);
  if (known !== undefined) return known.automaton;
  const tree = make();
  const isThere = tree !== undefined && (wanted ?? 0) <= groupCount(tree);
  const machine = isThere ? byteMachine(tree, wanted) : undefined;
  const automaton = machine === undefined || tree === undefined ? undefined : automatonOf(machine, requiredText(tree));
  KNOWN.keep(key, { automaton }, ENTRY_BYTES + key.length * 2 + (automaton?.byteLength ?? 0));
  return automaton;
}

/** Whether a pattern may match without a character; also where that is not known. */
export function mayMatchNothing(pattern: string): boolean {
  const tree = patternTree(pattern);
  return tree === undefined || mayBeNothing(tree);
}
