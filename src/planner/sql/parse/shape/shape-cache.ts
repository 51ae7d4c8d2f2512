// Cache of syntax trees by the shape of statements.

import { BoundedCache } from '../../../../base/bounded-cache.js';
import { dataBytes } from '../../../../base/data-size.js';
import { parseSql } from '../parse.js';
import type { SourceText } from '../source-text.js';
import type { SqlStatement } from '../syntax.js';
import { keyWith, shapeOf } from './shape.js';
import { Template } from './template.js';

/** Templates of a shape. */
interface KnownShape {
  /** Literals that its templates hang on: each stands under the key of these as well. */
  readonly pinned: ReadonlySet<number>;
}

/** Longer statements are seldom sent twice. */
const TEXT_LENGTH_MAX = 4096;

/**
 * Parses statements like `parseSql`, and remembers the syntax tree of each shape, with places for the literals: the next statement
 * that differs in literals only is lexed and looked up.
 */
export class ShapeCache {
  readonly #shapes: BoundedCache<string, KnownShape>;
  readonly #templates: BoundedCache<string, Template>;
  readonly #parse: (source: SourceText) => SqlStatement;

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
    const shape = source.text.length > TEXT_LENGTH_MAX ? undefined : shapeOf(source);
    if (shape === undefined) return this.#parse(source);
    const known = this.#shapes.find(shape.key);
    const template = known && this.#templates.find(keyWith(shape, source, known.pinned));
    if (template !== undefined) return template.fill(shape, source);
    const tree = this.#parse(source);
    const made = Template.of(tree, shape, source);
    if (made === undefined) return tree;
    const pinned = known === undefined ? made.pinned : new Set([...known.pinned, ...made.pinned]);
    this.#shapes.keep(shape.key, { pinned }, shape.key.length * 2 + dataBytes(pinned));
    const key = keyWith(shape, source, pinned);
    this.#templates.keep(key, made, key.length * 2 + made.bytes);
    return tree;
  }
}

/** Share of the budget for what is known of shapes. */
const SHAPES_PART = 1 / 8;
