// Resolves names of an expression to the columns of a segment.

import { ServiceError } from '../../base/errors.js';
import { own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { Expression } from '../../model/expression.js';
import type { ColumnType } from '../../model/schema.js';
import { allTexts } from '../../storage/columns/read-dictionary.js';
import type { NumberColumnView, SegmentView, StringColumnView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import { readingFields } from './json-field.js';
import type { Vector } from './vector.js';

/** Source of a column name in a segment. */
export type Source =
  | { readonly kind: 'missing' }
  | { readonly kind: 'number'; readonly column: NumberColumnView }
  | { readonly kind: 'string'; readonly column: StringColumnView }
  | { readonly kind: 'computed'; readonly vector: Vector; readonly expression: Expression };

export interface VirtualColumns {
  readonly [name: string]: VirtualColumn;
}

const NO_VIRTUAL_COLUMNS: VirtualColumns = Object.freeze({});

export function virtualColumnsByName(columns: readonly VirtualColumn[]): VirtualColumns {
  return columns.length === 0 ? NO_VIRTUAL_COLUMNS : Object.fromEntries(columns.map((column) => [column.name, column]));
}

/** Source of a name that is not a virtual column's. */
export function storedSource(view: SegmentView, name: string): Source {
  const column = Object.hasOwn(view.columns, name) ? own(view.columns, name) : undefined;
  if (column === undefined) return { kind: 'missing' };
  return column.kind === 'string' ? { kind: 'string', column } : { kind: 'number', column };
}

/** undefined: the column is missing. */
export function typeOfSource(source: Source): ColumnType | undefined {
  switch (source.kind) {
    case 'missing':
      return undefined;
    case 'string':
    case 'number':
      return source.column.type;
    case 'computed':
      return source.vector.type;
  }
}

/** The stored column a name stands for, through virtual columns that only rename. */
export function storedName(virtualColumns: VirtualColumns, name: string): string {
  const seen = new Set<string>();
  let current = name;
  for (;;) {
    const virtual = Object.hasOwn(virtualColumns, current) && !seen.has(current) ? own(virtualColumns, current) : undefined;
    if (virtual === undefined || virtual.expression.kind !== 'column' || virtual.keeps !== undefined) return current;
    seen.add(current);
    current = virtual.expression.name;
  }
}

/** Source of the values of a virtual column in a segment; `openScope` gives it. */
export type ComputeColumn = (scope: SegmentScope, column: VirtualColumn) => Source;

/**
 * One segment being read by one thread for one query: what names mean there. Scratch memory of whatever is bound to
 * the segment comes from `arena` and ends with it.
 */
export class SegmentScope {
  readonly context: RunContext;
  readonly view: SegmentView;
  readonly arena: Arena;
  /** Whether every row will be read, as far as is known before columns are compiled. */
  readsEveryRow = false;
  readonly #virtualColumns: VirtualColumns;
  readonly #compute: ComputeColumn;
  readonly #computed = new Map<string, Source>();
  readonly #made = new Map<string, { readonly of: object; readonly source: Source }>();
  readonly #open = new Set<string>();
  readonly #texts = new Map<StringColumnView, (string | null)[]>();

  constructor(context: RunContext, view: SegmentView, virtualColumns: VirtualColumns, arena: Arena, compute: ComputeColumn) {
    this.context = context;
    this.view = view;
    this.arena = arena;
    this.#virtualColumns = virtualColumns;
    this.#compute = compute;
  }

  source(name: string): Source {
    const made = this.#made.get(name);
    if (made !== undefined) return made.source;
    const virtual = Object.hasOwn(this.#virtualColumns, name) && !this.#open.has(name) ? own(this.#virtualColumns, name) : undefined;
    return virtual === undefined ? storedSource(this.view, name) : this.#virtual(virtual);
  }

  /** A column that is made of another, once for each description; its name is no other column's. */
  made(description: string, of: object, make: () => Source): Expression {
    let name = `:${description}`;
    const isAnother = (): boolean =>
      Object.hasOwn(this.view.columns, name) || Object.hasOwn(this.#virtualColumns, name) || (this.#made.get(name)?.of ?? of) !== of;
    while (isAnother()) name = `:${name}`;
    if (!this.#made.has(name)) this.#made.set(name, { of, source: make() });
    return { kind: 'column', name };
  }

  /** The expression and type of a virtual column that computes something, before anything is compiled; undefined for any other name. */
  computation(name: string): Pick<VirtualColumn, 'expression' | 'outputType'> | undefined {
    const virtual = Object.hasOwn(this.#virtualColumns, name) && !this.#open.has(name) ? own(this.#virtualColumns, name) : undefined;
    if (virtual === undefined || virtual.keeps !== undefined || virtual.expression.kind === 'column') return undefined;
    return { expression: this.readingFields(virtual.expression), outputType: virtual.outputType };
  }

  /** The decoded dictionary; for what looks at every distinct value anyway. */
  texts(column: StringColumnView): readonly (string | null)[] {
    const known = this.#texts.get(column);
    if (known !== undefined) return known;
    const texts = allTexts(this.context.memory, column.dictionary);
    this.#texts.set(column, texts);
    return texts;
  }

  /** Type of a column here; undefined when it is missing. */
  typeOf(name: string): ColumnType | undefined {
    return typeOfSource(this.source(name));
  }

  /** The expression, with the columns that this segment keeps of paths into JSON in place of reading the JSON. */
  readingFields(expression: Expression): Expression {
    return readingFields(expression, (field) => own(this.view.columns, field)?.type);
  }

  #virtual(given: VirtualColumn): Source {
    const known = this.#computed.get(given.name);
    if (known !== undefined) return known;
    const virtual = { ...given, expression: this.readingFields(given.expression) };
    const { name, expression, outputType, keeps } = virtual;
    if (this.#open.size > 100)
      throw new ServiceError('unsupported', `virtual column ${name}: more than 100 virtual columns that use each other`);
    // A virtual column that names itself means the stored column of that name.
    this.#open.add(name);
    try {
      const inner = expression.kind === 'column' && keeps === undefined ? this.source(expression.name) : undefined;
      const source: Source =
        inner !== undefined &&
        (outputType === null ||
          inner.kind === 'missing' ||
          outputType === this.typeOf(expression.kind === 'column' ? expression.name : name))
          ? inner
          : this.#compute(this, virtual);
      this.#computed.set(name, source);
      return source;
    } finally {
      this.#open.delete(name);
    }
  }
}
