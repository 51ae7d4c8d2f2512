// Predicates over blocks of rows, and their combination by AND, OR and NOT.

import type { Address } from '../../base/layout.js';
import { type Block, type RunContext, wordsOf } from '../block/context.js';

/** Rows of a block that match: none, all of them, or those whose bit is set at this address. */
export type Match = number;
export const NONE: Match = 0;
export const ALL: Match = -1;

/**
 * A filter bound to a segment. The bits that `test` returns are readable until its next call; they are not the
 * caller's to change (they may be a column's null mask).
 */
export interface Predicate {
  /** Result known before any row is read: `ALL`, `NONE`, or undefined. */
  readonly constant: Match | undefined;
  /** Relative price of a block, to run cheap ones first. */
  readonly cost: number;
  /** Result for a block that is known of it without reading a row: `ALL`, `NONE`, or undefined. Absent: never. */
  known?(block: Block): Match | undefined;
  test(block: Block): Match;
}

export const MATCH_ALL: Predicate = { constant: ALL, cost: 0, test: () => ALL };
export const MATCH_NONE: Predicate = { constant: NONE, cost: 0, test: () => NONE };

export function constantPredicate(matches: boolean): Predicate {
  return matches ? MATCH_ALL : MATCH_NONE;
}

/** A predicate that always writes all bits of the block, by one kernel. */
export function kernelPredicate(cost: number, out: Address, write: (block: Block, out: Address) => void): Predicate {
  return {
    constant: undefined,
    cost,
    test: (block) => {
      write(block, out);
      return out;
    },
  };
}

/** A predicate that is bound once a block is tested. */
export function laterPredicate(cost: number, bind: () => Predicate): Predicate {
  let bound: Predicate | undefined;
  return {
    constant: undefined,
    cost,
    test(block) {
      bound ??= bind();
      return bound.test(block);
    },
  };
}

/** Rows that match all parts; the later ones are asked for the rows that the earlier ones have left. */
export function andPredicate(context: RunContext, parts: readonly Predicate[], out: Address): Predicate {
  const { kernels } = context;
  return combined(parts, ALL, (block, current, part) => {
    const words = wordsOf(block);
    if (current === ALL) return part.test(block);
    // Bits of a part may be those of a vector, which is computed anew for other rows.
    if (current !== out) kernels.bitsAnd(current, current, words, out);
    const next = part.test({ start: block.start, rows: block.rows, selection: out });
    if (next === NONE) return NONE;
    if (next === ALL) return out;
    kernels.bitsAnd(out, next, words, out);
    return kernels.bitsCount(out, words) === 0 ? NONE : out;
  });
}

/** Rows that match some part. */
export function orPredicate(context: RunContext, parts: readonly Predicate[], out: Address): Predicate {
  const { kernels } = context;
  return combined(parts, NONE, (block, current, part) => {
    const next = part.test(block);
    if (next === NONE || next === ALL) return next === NONE ? current : ALL;
    if (current === NONE) return next;
    kernels.bitsOr(current, next, wordsOf(block), out);
    return out;
  });
}

/**
 * Parts combined block by block, the cheap ones first, until the result is known.
 * @param neutral  match of a part that changes nothing; the other constant decides
 * @param add      the match of a block by a part and those before it, which give `current`
 */
function combined(parts: readonly Predicate[], neutral: Match, add: (block: Block, current: Match, part: Predicate) => Match): Predicate {
  const decisive = neutral === ALL ? NONE : ALL;
  if (parts.some((part) => part.constant === decisive)) return constantPredicate(decisive === ALL);
  const open = parts.filter((part) => part.constant !== neutral).sort((a, b) => a.cost - b.cost);
  const [only] = open;
  if (only === undefined) return constantPredicate(neutral === ALL);
  if (open.length === 1) return only;
  const informed = open.filter((part) => part.known !== undefined);
  /** Decided by one part, or neutral for all. */
  const known = (block: Block): Match | undefined => {
    let neutrals = 0;
    for (const part of informed) {
      const match = part.known?.(block);
      if (match === decisive) return decisive;
      if (match === neutral) neutrals++;
    }
    return neutrals === open.length ? neutral : undefined;
  };
  const test = (block: Block): Match => {
    const answer = informed.length === 0 ? undefined : known(block);
    if (answer !== undefined) return answer;
    let current = neutral;
    for (const part of open) {
      current = add(block, current, part);
      if (current === decisive) return decisive;
    }
    return current;
  };
  const cost = open.reduce((sum, part) => sum + part.cost, 0);
  return informed.length === 0 ? { constant: undefined, cost, test } : { constant: undefined, cost, known, test };
}

export function notPredicate(context: RunContext, part: Predicate, out: Address): Predicate {
  if (part.constant !== undefined) return constantPredicate(part.constant === NONE);
  const { kernels } = context;
  const test = (block: Block): Match => {
    const match = part.test(block);
    if (match === ALL || match === NONE) return match === ALL ? NONE : ALL;
    kernels.bitsNot(match, block.rows, out);
    return out;
  };
  const { cost } = part;
  if (part.known === undefined) return { constant: undefined, cost, test };
  const known = (block: Block): Match | undefined => {
    const match = part.known?.(block);
    return match === undefined ? undefined : match === ALL ? NONE : ALL;
  };
  return { constant: undefined, cost, known, test };
}
