// Cache of syntax trees by the shape of statements.

import { BoundedCache } from '../../../../base/bounded-cache.js';
import { dataBytes } from '../../../../base/data-size.js';
import { ServiceError } from '../../../../base/errors.js';
import { parseSql } from '../parse.js';
import { SourceText } from '../source-text.js';
import type { SqlStatement } from '../syntax.js';
import { assembled, partsOf } from './parts.js';
import { SeenLately } from './seen-lately.js';
import { keyWith, type Shape, shapeOf } from './shape.js';
import { Template } from './template.js';

/** A statement with its shape. */
export interface ShapedStatement {
  readonly shape: Shape;
  readonly known: KnownShape | undefined;
  /** Equal for statements of one template; null: its shape is not known. */
  readonly key: string | null;
  readonly template: Template | undefined;
}

/** Templates of a shape. */
interface KnownShape {
  /** Literals that its templates hang on: each stands under the key of these as well. */
  readonly pinned: ReadonlySet<number>;
}

/** Longer statements are seldom sent twice. */
export const SHAPED_LENGTH_MAX = 4096;

/** Share of the budget for what is known of shapes. */
const SHAPES_PART = 1 / 8;

/**
 * Parses statements like `parseSql`, and remembers the syntax tree of a shape that comes a second time, with places for the literals:
 * the next statement that differs in literals only is lexed and looked up. A statement of a shape that is not known is put together
 * of its select items and conditions, whose shapes mostly are.
 */
export class ShapeCache {
  readonly #shapes: BoundedCache<string, KnownShape>;
  readonly #templates: BoundedCache<string, Template>;
  readonly #parse: (source: SourceText) => SqlStatement;
  readonly #seen = new SeenLately();

  /** @param parse  `parseSql`, or what gives the same */
  constructor(bytesMax: number, parse: (source: SourceText) => SqlStatement = parseSql) {
    this.#parse = parse;
    this.#shapes = new BoundedCache(bytesMax * SHAPES_PART);
    this.#templates = new BoundedCache(bytesMax * (1 - SHAPES_PART));
  }

  get bytes(): number {
    return this.#shapes.size + this.#templates.size;
  }

  /** @throws ServiceError as `parseSql` */
  parse(source: SourceText): SqlStatement {
    return this.parseShaped(source, this.look(source));
  }

  /** Statement, lexed; undefined for one whose tree is not made by its shape. */
  look(source: SourceText): ShapedStatement | undefined {
    const shape = source.text.length > SHAPED_LENGTH_MAX ? undefined : shapeOf(source);
    return shape && this.#shaped(source, shape);
  }

  /** @param shaped  what `look` found */
  parseShaped(source: SourceText, shaped: ShapedStatement | undefined): SqlStatement {
    if (shaped === undefined) return this.#parse(source);
    return this.#tree(source, shaped, () => this.#inParts(source, shaped.shape) ?? this.#parse(source));
  }

  #shaped(source: SourceText, shape: Shape): ShapedStatement {
    const known = this.#shapes.find(shape.key);
    const key = known === undefined ? null : keyWith(shape, source, known.pinned);
    return { shape, known, key, template: key === null ? undefined : this.#templates.find(key) };
  }

  #tree(source: SourceText, { shape, known, template }: ShapedStatement, parse: () => SqlStatement): SqlStatement {
    if (template !== undefined) return template.fill(shape, source);
    const tree = parse();
    if (known !== undefined || this.#seen.add(shape.key)) this.#keep(source, shape, tree, known);
    return tree;
  }

  #keep(source: SourceText, shape: Shape, tree: SqlStatement, known: KnownShape | undefined): void {
    const made = Template.of(tree, shape, source);
    if (made === undefined) return;
    const pinned = known === undefined ? made.pinned : new Set([...known.pinned, ...made.pinned]);
    this.#shapes.keep(shape.key, { pinned }, shape.key.length * 2 + dataBytes(pinned));
    const key = keyWith(shape, source, pinned);
    this.#templates.keep(key, made, key.length * 2 + made.bytes);
  }

  /** Undefined for what has no such parts, or is not right: the parser says what is wrong. */
  #inParts(source: SourceText, shape: Shape): SqlStatement | undefined {
    const parts = partsOf(shape, source.text);
    if (parts === undefined) return undefined;
    try {
      return assembled(
        this.#part(parts.frame),
        parts.items.map((item) => this.#part(item)),
        parts.conditions.map((each) => this.#part(each)),
      );
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  }

  #part(text: string): SqlStatement {
    const source = new SourceText(text);
    const shape = shapeOf(source);
    return shape === undefined ? this.#parse(source) : this.#tree(source, this.#shaped(source, shape), () => this.#parse(source));
  }
}
