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
  /** Known before any row is read: `ALL`, `NONE`, or undefined. */
  readonly constant: Match | undefined;
  /** Relative price of a block, to run cheap ones first. */
  readonly cost: number;
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

export function andPredicate(context: RunContext, parts: readonly Predicate[], out: Address): Predicate {
  if (parts.some((part) => part.constant === NONE)) return MATCH_NONE;
  const open = parts.filter((part) => part.constant !== ALL).sort((a, b) => a.cost - b.cost);
  const [only] = open;
  if (only === undefined) return MATCH_ALL;
  if (open.length === 1) return only;
  const { kernels } = context;
  const test = (block: Block): Match => {
    let current: Match = ALL;
    for (const part of open) {
      const next = part.test(block);
      if (next === NONE) return NONE;
      if (next === ALL) continue;
      if (current === ALL) {
        current = next;
        continue;
      }
      kernels.bitsAnd(current, next, wordsOf(block), out);
      if (kernels.bitsCount(out, wordsOf(block)) === 0) return NONE;
      current = out;
    }
    return current;
  };
  return { constant: undefined, cost: costOf(open), test };
}

export function orPredicate(context: RunContext, parts: readonly Predicate[], out: Address): Predicate {
  if (parts.some((part) => part.constant === ALL)) return MATCH_ALL;
  const open = parts.filter((part) => part.constant !== NONE).sort((a, b) => a.cost - b.cost);
  const [only] = open;
  if (only === undefined) return MATCH_NONE;
  if (open.length === 1) return only;
  const { kernels } = context;
  const test = (block: Block): Match => {
    let current: Match = NONE;
    for (const part of open) {
      const next = part.test(block);
      if (next === ALL) return ALL;
      if (next === NONE) continue;
      if (current === NONE) {
        current = next;
        continue;
      }
      kernels.bitsOr(current, next, wordsOf(block), out);
      current = out;
    }
    return current;
  };
  return { constant: undefined, cost: costOf(open), test };
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
  return { constant: undefined, cost: part.cost, test };
}

function costOf(parts: readonly Predicate[]): number {
  return parts.reduce((sum, part) => sum + part.cost, 0);
}
