// Syntax trees with places for literals and positions.

import { dataBytes } from '../../../../base/data-size.js';
import type { Recording } from '../../../places/recording.js';
import type { Token } from '../lexer.js';
import { type Literal, numberLiteral } from '../literal/literal.js';
import { stringValue } from '../literal/string-literal.js';
import type { SourceText } from '../source-text.js';
import type { SqlStatement } from '../syntax.js';
import { copyOf } from './copy-node.js';
import type { Shape } from './shape.js';

/** The literal that a node of the tree takes from a token. */
type Slot =
  /** The whole node, of a number and the sign before it. */
  | { readonly kind: 'number'; readonly token: number; readonly negative: boolean }
  /** The field of a string: the value of a literal, the text of an instant or interval. */
  | { readonly kind: 'string'; readonly token: number; readonly field: 'value' | 'text' }
  /** The items of IN. */
  | { readonly kind: 'list'; readonly token: number };

type Mutable = Record<string, unknown>;

/** A node of the tree, and what is made anew of it for another statement. */
interface Step {
  readonly node: object;
  /** Token at whose start it stands; -1: the node has no position. */
  readonly at: number;
  /** Children that are made anew: their keys, and the steps that make them. */
  readonly keys: readonly string[];
  readonly children: readonly number[];
  readonly slot: Slot | null;
}

/**
 * The syntax tree of a statement, or of a part of one, as a list of steps that make the tree of any other of its shape: nodes, the root
 * last, each a copy with its position, its literal and its children replaced. A query of WITH can hold itself, by its name.
 */
export class Template<Tree extends object = SqlStatement> {
  readonly #steps: readonly Step[];
  readonly #slots: readonly Slot[];
  /** Literals that the tree takes more from than a value: other statements of this template must have the same. */
  readonly pinned: ReadonlySet<number>;

  private constructor(steps: readonly Step[], pinned: ReadonlySet<number>) {
    this.#steps = steps;
    this.#slots = steps.flatMap(({ slot }) => slot ?? []);
    this.pinned = pinned;
  }

  /** Undefined when a position in the tree is not that of a token. */
  static of<Tree extends object>(tree: Tree, shape: Shape, source: SourceText): Template<Tree> | undefined {
    const builder = new Builder(shape, source);
    const root = builder.add(tree);
    // A tree without a position or a literal has no steps.
    if (root === undefined || root === null) return undefined;
    return new Template(builder.steps, builder.pinned());
  }

  /** Bytes that it takes, roughly. */
  get bytes(): number {
    return dataBytes(this.#steps) + dataBytes(this.pinned);
  }

  /**
   * Values of the tree's places in a statement of this shape with the same pinned literals: two for a number, as the type of an
   * integer hangs on its size.
   */
  literals({ tokens }: Shape, source: SourceText): readonly unknown[] {
    const values: unknown[] = [];
    for (const slot of this.#slots) {
      if (slot.kind === 'number') {
        const { value, type } = numberOf(tokens, slot, 0);
        values.push(value, type);
      } else values.push(slotValue(slot, tokens, source));
    }
    return values;
  }

  /**
   * The tree of a statement of this shape with the same pinned literals.
   * @param recording  is told of the places of the tree, of which it was given the `literals`
   */
  fill({ tokens }: Shape, source: SourceText, recording?: Recording): Tree {
    const made: object[] = [];
    let place = 0;
    for (const { node, at, slot } of this.#steps) {
      const start = tokens[at]?.start ?? 0;
      if (slot?.kind === 'number') {
        const copy = numberOf(tokens, slot, start);
        recording?.put(copy, 'value', place++);
        recording?.put(copy, 'type', place++);
        made.push(copy);
        continue;
      }
      const copy = copyOf(node, at < 0 ? -1 : start) as Mutable;
      if (slot !== null) {
        copy[fieldOf(slot)] = slotValue(slot, tokens, source);
        recording?.put(copy, fieldOf(slot), place++);
      }
      made.push(copy);
    }
    for (let index = 0; index < made.length; index++) {
      const { keys, children } = this.#steps[index] as Step;
      for (let child = 0; child < keys.length; child++) setChild(made[index] as Mutable, keys[child] ?? '', made[children[child] ?? 0]);
    }
    return made.at(-1) as Tree;
  }
}

function setChild(copy: Mutable, key: string, child: unknown): void {
  if (copy instanceof Map) copy.set(key, child);
  else copy[key] = child;
}

function numberOf(tokens: readonly Token[], { token, negative }: Extract<Slot, { kind: 'number' }>, at: number): Literal {
  const text = tokens[token]?.text ?? '';
  return numberLiteral(at, negative ? `-${text}` : text);
}

function fieldOf(slot: Exclude<Slot, { kind: 'number' }>): 'value' | 'text' | 'items' {
  return slot.kind === 'string' ? slot.field : 'items';
}

function slotValue(slot: Exclude<Slot, { kind: 'number' }>, tokens: readonly Token[], source: SourceText): unknown {
  const token = tokens[slot.token];
  if (token === undefined) return undefined;
  return slot.kind === 'string' ? stringValue(source, token) : token.kind === 'list' ? token.items : undefined;
}

/** Makes steps of a tree, and sees which literals it is made of. */
class Builder {
  readonly steps: Step[] = [];
  readonly #shape: Shape;
  readonly #source: SourceText;
  /** Tokens by their offset. */
  readonly #byStart: ReadonlyMap<number, number>;
  /** Step of each node: what the tree holds at several places is made once. */
  readonly #known = new Map<object, number | null | 'open'>();
  /** Literals that some node takes its value from. */
  readonly #filled = new Set<number>();
  /** Literals at whose place the tree has something else. */
  readonly #other = new Set<number>();

  constructor(shape: Shape, source: SourceText) {
    this.#shape = shape;
    this.#source = source;
    this.#byStart = new Map(shape.tokens.map(({ start }, index) => [start, index]));
  }

  pinned(): ReadonlySet<number> {
    return new Set(this.#shape.literals.filter((index) => !this.#filled.has(index) || this.#other.has(index)));
  }

  /** The step that makes a node; null: it is the same for all statements; undefined: no template can be made. */
  add(node: object): number | null | undefined {
    const known = this.#known.get(node);
    if (known === 'open') return this.#reserve(node);
    if (known !== undefined) return known;
    const at = this.#place(node);
    if (at === undefined) return undefined;
    this.#known.set(node, 'open');
    const slot = this.#slot(node, at);
    const keys: string[] = [];
    const children: number[] = [];
    for (const [key, child] of node instanceof Map ? node : Object.entries(node)) {
      if (typeof child !== 'object' || child === null || (slot?.kind === 'list' && key === 'items')) continue;
      const step = this.add(child);
      if (step === undefined) return undefined;
      if (step === null) continue;
      keys.push(key);
      children.push(step);
    }
    if (at < 0 && slot === null && keys.length === 0) {
      this.#known.set(node, null);
      return null;
    }
    const step = this.#reserve(node);
    this.steps[step] = { node, at, keys, children, slot };
    return step;
  }

  /** The number of a node's step, for a node that holds itself before the step is made. */
  #reserve(node: object): number {
    const known = this.#known.get(node);
    if (typeof known === 'number') return known;
    const step = this.steps.push({ node, at: -1, keys: [], children: [], slot: null }) - 1;
    this.#known.set(node, step);
    return step;
  }

  /** Token at which a node stands; -1: it has no position; undefined: it stands elsewhere. */
  #place(node: object): number | undefined {
    const at: unknown = Object.hasOwn(node, 'at') ? (node as Mutable)['at'] : undefined;
    if (at === undefined) return -1;
    return typeof at === 'number' ? this.#byStart.get(at) : undefined;
  }

  #slot(node: object, at: number): Slot | null {
    const slot = at < 0 ? null : this.#slotAt(node as Mutable, at);
    if (slot !== null) this.#filled.add(slot.token);
    return slot;
  }

  #slotAt(node: Mutable, at: number): Slot | null {
    const { tokens } = this.#shape;
    switch (node['kind']) {
      case 'literal': {
        const negative = tokens[at]?.text === '-';
        const token = negative ? at + 1 : at;
        const slot = this.#literalSlot(node, at, token, negative);
        if (slot === null) this.#other.add(token);
        return slot;
      }
      case 'instant':
      case 'interval':
        return this.#stringSlot(node, at + 1, 'text');
      case 'in': {
        const token = tokens.findIndex((each) => each.kind === 'list' && each.items[0]?.at === (node['items'] as Literal[])[0]?.at);
        return token < 0 ? null : { kind: 'list', token };
      }
      default:
        return null;
    }
  }

  #literalSlot(node: Mutable, at: number, token: number, negative: boolean): Slot | null {
    const { tokens } = this.#shape;
    if (tokens[token]?.kind === 'string') return this.#stringSlot(node, token, 'value');
    if (tokens[token]?.kind !== 'number') return null;
    const slot = { kind: 'number', token, negative } as const;
    const { type, value } = numberOf(tokens, slot, tokens[at]?.start ?? 0);
    return node['type'] === type && Object.is(node['value'], value) ? slot : null;
  }

  #stringSlot(node: Mutable, index: number, field: 'value' | 'text'): Slot | null {
    const token = this.#shape.tokens[index];
    if (token?.kind !== 'string' || !token.text.startsWith("'")) return null;
    return stringValue(this.#source, token) === node[field] ? { kind: 'string', token: index, field } : null;
  }
}
