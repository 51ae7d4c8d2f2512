// Cache of syntax trees by the shape of statements.

import { BoundedCache } from '../../../../base/bounded-cache.js';
import { dataBytes } from '../../../../base/data-size.js';
import { ServiceError } from '../../../../base/errors.js';
import { parseSql } from '../parse.js';
import { SourceText } from '../source-text.js';
import type { SqlStatement } from '../syntax.js';
import { assembled, partsOf } from './parts.js';
import { keyWith, type Shape, shapeOf } from './shape.js';
import { Template } from './template.js';

/** Templates of a shape. */
interface KnownShape {
  /** Literals that its templates hang on: each stands under the key of these as well. */
  readonly pinned: ReadonlySet<number>;
}

/** Longer statements are seldom sent twice. */
const TEXT_LENGTH_MAX = 4096;

/** Share of the budget for what is known of shapes. */
const SHAPES_PART = 1 / 8;

/** Shapes seen lately, by their hashes: a power of two. */
const SEEN_MAX = 4096;

/**
 * Parses statements like `parseSql`, and remembers the syntax tree of a shape that comes a second time, with places for the literals:
 * the next statement that differs in literals only is lexed and looked up. A statement of a shape that is not known is put together
 * of its select items and conditions, whose shapes mostly are.
 */
export class ShapeCache {
  readonly #shapes: BoundedCache<string, KnownShape>;
  readonly #templates: BoundedCache<string, Template>;
  readonly #parse: (source: SourceText) => SqlStatement;
  /** A hash of a shape at the place that its last bits say. */
  readonly #seen = new Int32Array(SEEN_MAX);

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
    return this.#known(source, shape, () => this.#inParts(source, shape) ?? this.#parse(source));
  }

  #known(source: SourceText, shape: Shape, parse: () => SqlStatement): SqlStatement {
    const known = this.#shapes.find(shape.key);
    const template = known && this.#templates.find(keyWith(shape, source, known.pinned));
    if (template !== undefined) return template.fill(shape, source);
    const tree = parse();
    if (known !== undefined || this.#wasSeen(shape.key)) this.#keep(source, shape, tree, known);
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

  /** Whether a shape was seen lately; it is from now on. */
  #wasSeen(key: string): boolean {
    // FNV-1a.
    let hash = 0x811c9dc5;
    for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    const place = hash & (SEEN_MAX - 1);
    const wasSeen = this.#seen[place] === hash;
    this.#seen[place] = hash;
    return wasSeen;
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
    return shape === undefined ? this.#parse(source) : this.#known(source, shape, () => this.#parse(source));
  }
}
