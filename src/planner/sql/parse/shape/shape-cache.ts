// Cache of syntax trees by the shape of statements.

import { ServiceError } from '../../../../base/errors.js';
import { parseSql } from '../parse.js';
import { SourceText } from '../source-text.js';
import type { SelectItem, SqlStatement } from '../syntax.js';
import { assembled, onlyItem, type Part, partsOf } from './parts.js';
import { shapeOf, type WholeShape } from './shape.js';
import { type Shaped, TemplateCache } from './template-cache.js';

/** A statement with its shape. */
export type ShapedStatement = Shaped<SqlStatement, WholeShape>;

/** Longer statements are seldom sent twice. */
export const SHAPED_LENGTH_MAX = 4096;

/** Share of the budget for select items and conditions. */
const ITEMS_PART = 1 / 2;

/**
 * Parses statements like `parseSql`, and remembers the syntax tree of a shape that comes a second time: the next statement that differs in
 * literals only is lexed and looked up. A statement of a shape that is not known is put together
 * of its select items and conditions, whose shapes mostly are.
 */
export class ShapeCache {
  readonly #statements: TemplateCache<SqlStatement>;
  readonly #items: TemplateCache<SelectItem>;
  readonly #parse: (source: SourceText) => SqlStatement;

  /** @param parse  `parseSql`, or what gives the same */
  constructor(bytesMax: number, parse: (source: SourceText) => SqlStatement = parseSql) {
    this.#parse = parse;
    this.#statements = new TemplateCache(bytesMax * (1 - ITEMS_PART));
    this.#items = new TemplateCache(bytesMax * ITEMS_PART);
  }

  get bytes(): number {
    return this.#statements.bytes + this.#items.bytes;
  }

  /** @throws ServiceError as `parseSql` */
  parse(source: SourceText): SqlStatement {
    return this.parseShaped(source, this.look(source));
  }

  /** Statement, lexed; undefined for one whose tree is not made by its shape. */
  look(source: SourceText): ShapedStatement | undefined {
    const shape = source.text.length > SHAPED_LENGTH_MAX ? undefined : shapeOf(source);
    return shape && this.#statements.look(source, shape);
  }

  /** @param shaped  what `look` found */
  parseShaped(source: SourceText, shaped: ShapedStatement | undefined): SqlStatement {
    if (shaped === undefined) return this.#parse(source);
    return this.#statements.tree(source, shaped, () => this.#inParts(source, shaped.shape) ?? this.#parse(source));
  }

  /** Undefined for what has no such parts, or is not right: the parser says what is wrong. */
  #inParts(source: SourceText, shape: WholeShape): SqlStatement | undefined {
    const parts = partsOf(shape, source.text);
    if (parts === undefined) return undefined;
    const { frame, items, conditions } = parts;
    try {
      const parseFrame = (): SqlStatement => this.#parse(new SourceText(frame.text()));
      const statement = this.#statements.tree(source, this.#statements.look(source, frame.shape), parseFrame);
      return assembled(statement, this.#selected(source, items), this.#selected(source, conditions));
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  }

  #selected(source: SourceText, parts: readonly Part[]): readonly SelectItem[] | undefined {
    const selected: SelectItem[] = [];
    for (const { shape, text } of parts) {
      const item = this.#items.tree(source, this.#items.look(source, shape), () => onlyItem(this.#parse(new SourceText(text()))));
      if (item === undefined) return undefined;
      selected.push(item);
    }
    return selected;
  }
}
