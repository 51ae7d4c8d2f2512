// Cache of templates of syntax trees, by shape.

import { BoundedCache } from '../../../../base/bounded-cache.js';
import { dataBytes } from '../../../../base/data-size.js';
import type { SourceText } from '../source-text.js';
import { SeenLately } from './seen-lately.js';
import { keyWith, type Shape } from './shape.js';
import { Template } from './template.js';

/** A text, cut into tokens, and what is known of its shape. */
export interface Shaped<Tree extends object, Of extends Shape = Shape> {
  readonly shape: Of;
  readonly known: KnownShape | undefined;
  /** Equal for texts of one template; null: its shape is not known. */
  readonly key: string | null;
  readonly template: Template<Tree> | undefined;
}

/** Templates of a shape. */
interface KnownShape {
  /** Literals that its templates hang on: each stands under the key of these as well. */
  readonly pinned: ReadonlySet<number>;
}

/** Share of the budget for what is known of shapes. */
const SHAPES_PART = 1 / 8;

/** Remembers the syntax tree of a shape that comes a second time, with places for the literals. */
export class TemplateCache<Tree extends object> {
  readonly #shapes: BoundedCache<string, KnownShape>;
  readonly #templates: BoundedCache<string, Template<Tree>>;
  readonly #seen = new SeenLately();

  constructor(bytesMax: number) {
    this.#shapes = new BoundedCache(bytesMax * SHAPES_PART);
    this.#templates = new BoundedCache(bytesMax * (1 - SHAPES_PART));
  }

  get bytes(): number {
    return this.#shapes.size + this.#templates.size;
  }

  look<Of extends Shape>(source: SourceText, shape: Of): Shaped<Tree, Of> {
    const known = this.#shapes.find(shape.key);
    const key = known === undefined ? null : keyWith(shape, source, known.pinned);
    return { shape, known, key, template: key === null ? undefined : this.#templates.find(key) };
  }

  /** @param parse  gives undefined for what has no tree of this kind */
  tree<Parsed extends Tree | undefined>(source: SourceText, { shape, known, template }: Shaped<Tree>, parse: () => Parsed): Tree | Parsed {
    if (template !== undefined) return template.fill(shape, source);
    const tree = parse();
    if (tree !== undefined && (known !== undefined || this.#seen.add(shape.key))) this.#keep(source, shape, tree, known);
    return tree;
  }

  #keep(source: SourceText, shape: Shape, tree: Tree, known: KnownShape | undefined): void {
    const made = Template.of(tree, shape, source);
    if (made === undefined) return;
    const pinned = known === undefined ? made.pinned : new Set([...known.pinned, ...made.pinned]);
    this.#shapes.keep(shape.key, { pinned }, shape.key.length * 2 + dataBytes(pinned));
    const key = keyWith(shape, source, pinned);
    this.#templates.keep(key, made, key.length * 2 + made.bytes);
  }
}
