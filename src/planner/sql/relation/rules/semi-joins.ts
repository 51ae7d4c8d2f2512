// Rule: makes semi and anti joins of joins that only mark rows.

import { and, type Bound, children, conjuncts } from '../bound.js';
import { inputsOf, mapInputs, type Relation } from '../relation.js';
import { expressionsOf } from './verify-relation.js';

/**
 * A condition that asks for rows with a partner, or for those without, of a join that marks them: the join keeps just these. Only where
 * nothing else asks for the mark.
 */
export function semiJoins(relation: Relation): Relation {
  const reads = new Map<string, number>();
  count(relation, reads);
  return reads.size === 0 ? relation : visit(relation, (name) => reads.get(name) === 1);
}

/** Counts the references to each column. */
function count(relation: Relation, reads: Map<string, number>): void {
  const look = (bound: Bound): void => {
    if (bound.kind === 'column') reads.set(bound.name, (reads.get(bound.name) ?? 0) + 1);
    else for (const part of children(bound)) look(part);
  };
  for (const bound of expressionsOf(relation)) look(bound);
  for (const input of inputsOf(relation)) count(input, reads);
}

function visit(relation: Relation, isReadOnce: (name: string) => boolean): Relation {
  const node = mapInputs(relation, (input) => visit(input, isReadOnce));
  if (node.kind !== 'filter') return node;
  let { input } = node;
  const kept = conjuncts(node.condition).filter((part) => {
    const test = markTest(part);
    const changed = test === undefined || !isReadOnce(test.name) ? undefined : filtered(input, test);
    if (changed === undefined) return true;
    input = changed;
    return false;
  });
  if (input === node.input) return node;
  return kept.length === 0 ? input : { ...node, input, condition: and(kept) };
}

interface MarkTest {
  readonly name: string;
  readonly type: 'semi' | 'anti';
}

function markTest(part: Bound): MarkTest | undefined {
  if (part.kind === 'column') return { name: part.name, type: 'semi' };
  return part.kind === 'not' && part.operand.kind === 'column' ? { name: part.operand.name, type: 'anti' } : undefined;
}

/** The joins with the one that makes the mark as a filter; undefined where another node stands before it. */
function filtered(input: Relation, test: MarkTest): Relation | undefined {
  if (input.kind !== 'join') return undefined;
  if (input.mark === test.name) {
    const { mark: _, ...join } = input;
    return { ...join, type: test.type };
  }
  // Rows of other joins that keep each row of their left side once, or drop it, are the same.
  if (input.type !== 'mark' && input.type !== 'semi' && input.type !== 'anti' && input.type !== 'left') return undefined;
  const left = filtered(input.left, test);
  return left === undefined ? undefined : { ...input, left };
}
