// Turns trees of patterns into machines over bytes, whose branches are tried in order.

import type { Range } from './code-points.js';
import type { PatternNode } from './pattern-tree.js';
import { utf8Ranges } from './utf8-ranges.js';

/** Step of a machine; numbers are positions among its steps. */
export type MachineStep =
  /** Takes a byte of a range. */
  | { readonly kind: 'byte'; readonly from: number; readonly to: number; readonly next: number }
  /** Goes on at each of them, the first one rather than the others. */
  | { readonly kind: 'branch'; readonly nexts: readonly number[] }
  /** Marks the position: mark 0 where the wanted part begins, 1 where it ends. */
  | { readonly kind: 'mark'; readonly mark: 0 | 1; readonly next: number }
  /** Goes on at the start, or the end, of the text only. */
  | { readonly kind: 'start' | 'end'; readonly next: number }
  | { readonly kind: 'match' };

export interface ByteMachine {
  readonly steps: readonly MachineStep[];
  readonly first: number;
}

const STEPS_MAX = 4000;

/**
 * The machine that finds a pattern anywhere in a text, from the left.
 * @param wanted  what is marked: a group by its number, 0 for the whole match, null for nothing
 * @returns       undefined where it has too many steps
 */
export function byteMachine(tree: PatternNode, wanted: number | null): ByteMachine | undefined {
  const builder = new MachineBuilder(wanted);
  const match = builder.add({ kind: 'match' });
  const pattern = wanted === 0 ? builder.marked(tree, match) : builder.node(tree, match);
  const first = builder.before(pattern);
  return builder.isFull ? undefined : { steps: builder.steps, first };
}

class MachineBuilder {
  readonly steps: MachineStep[] = [];
  readonly #wanted: number | null;

  constructor(wanted: number | null) {
    this.#wanted = wanted;
  }

  get isFull(): boolean {
    return this.steps.length > STEPS_MAX;
  }

  add(step: MachineStep): number {
    return this.isFull ? 0 : this.steps.push(step) - 1;
  }

  /** A pattern that is tried at each byte, sooner rather than later. */
  before(pattern: number): number {
    const at = this.add({ kind: 'branch', nexts: [] });
    const skip = this.add({ kind: 'byte', from: 0, to: 0xff, next: at });
    this.steps[at] = { kind: 'branch', nexts: [pattern, skip] };
    return at;
  }

  marked(node: PatternNode, next: number): number {
    return this.add({ kind: 'mark', mark: 0, next: this.node(node, this.add({ kind: 'mark', mark: 1, next })) });
  }

  /** The first step of a part that goes on at `next`. */
  node(node: PatternNode, next: number): number {
    if (this.isFull) return 0;
    switch (node.kind) {
      case 'characters':
        return this.#characters(node.ranges, next);
      case 'sequence':
        return node.parts.reduceRight((following, part) => this.node(part, following), next);
      case 'alternatives':
        return this.add({ kind: 'branch', nexts: node.parts.map((part) => this.node(part, next)) });
      case 'group':
        return node.number !== null && node.number === this.#wanted ? this.marked(node.part, next) : this.node(node.part, next);
      case 'start':
      case 'end':
        return this.add({ kind: node.kind, next });
      case 'times':
        return this.#times(node, next);
    }
  }

  #characters(ranges: readonly Range[], next: number): number {
    const firsts = utf8Ranges(ranges).map((bytes) =>
      bytes.reduceRight((following, [from, to]) => this.add({ kind: 'byte', from, to, next: following }), next),
    );
    const [only] = firsts;
    return firsts.length === 1 && only !== undefined ? only : this.add({ kind: 'branch', nexts: firsts });
  }

  #times({ part, min, max, isLazy }: Extract<PatternNode, { kind: 'times' }>, next: number): number {
    let following = next;
    if (max === Infinity) {
      following = this.add({ kind: 'branch', nexts: [] });
      this.steps[following] = this.#either(this.node(part, following), next, isLazy);
    } else for (let time = min; time < max; time++) following = this.add(this.#either(this.node(part, following), next, isLazy));
    for (let time = 0; time < min; time++) following = this.node(part, following);
    return following;
  }

  #either(more: number, enough: number, isLazy: boolean): MachineStep {
    return { kind: 'branch', nexts: isLazy ? [enough, more] : [more, enough] };
  }
}
