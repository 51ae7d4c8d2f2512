// Virtual columns of a native query.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { compileExpression } from '../../../expression/evaluate.js';
import { expressionType } from '../../../expression/expression-type.js';
import { parseExpression } from '../../../expression/parse.js';
import type { VirtualColumn } from '../../../model/aggregator.js';
import { columnsOfExpression } from '../../../model/columns-read.js';
import type { Expression } from '../../../model/expression.js';
import { type ColumnType, isArrayType, isComplexType, TIME_COLUMN } from '../../../model/schema.js';
import { UNSUPPORTED_VIRTUAL_COLUMNS } from '../names.js';
import { readByType, refuse } from '../reader.js';
import { readWrittenType } from '../typed-value.js';
import type { ColumnTypes } from './column-types.js';
import { keepsListed, keepsMatching, keepsPrefixed } from './multi-value-filters.js';
import { readNestedField } from './nested-field.js';

/** Virtual columns by type. */
const VIRTUAL_COLUMNS: Readonly<Record<string, (reader: ObjectReader) => VirtualColumn>> = {
  expression: (reader) => ({
    name: reader.string('name'),
    expression: parseExpression(reader.string('expression')),
    outputType: reader.has('outputType') ? readWrittenType(reader.raw('outputType'), reader.at('outputType')) : null,
  }),
  'nested-field': readNestedField,
  'mv-filtered': (reader) => {
    const values = reader.stringsAndNulls('values');
    const isAllowList = reader.boolean('isAllowList', true);
    return keptValues(reader, (column) => keepsListed(column, values, isAllowList));
  },
  'mv-regex-filtered': (reader) => {
    const pattern = reader.string('pattern');
    return keptValues(reader, (column) => keepsMatching(column, pattern));
  },
  'mv-prefix-filtered': (reader) => {
    const prefix = reader.string('prefix');
    return keptValues(reader, (column) => keepsPrefixed(column, prefix));
  },
};

function keptValues(reader: ObjectReader, keeps: (column: string) => Expression): VirtualColumn {
  const column = reader.string('delegate');
  return { name: reader.string('name'), expression: { kind: 'column', name: column }, outputType: 'STRING', keeps: keeps(column) };
}

/** Depth of virtual columns computed from one another: each level takes stack to type and to compute. */
const VIRTUAL_DEPTH_MAX = 100;

/** Columns computed from expressions. Aggregators over expressions add theirs as they are read. */
export class VirtualColumns {
  readonly list: VirtualColumn[] = [];
  readonly #tableTypes: ColumnTypes;
  readonly #byName = new Map<string, VirtualColumn>();
  /** Types of virtual columns that were asked for before: each may be read by many others. */
  readonly #types = new Map<string, ColumnType | undefined>();

  constructor(tableTypes: ColumnTypes) {
    this.#tableTypes = tableTypes;
  }

  /** The type of a virtual or stored column. */
  readonly typeOf: ColumnTypes = (name) => {
    const virtual = this.#byName.get(name);
    if (virtual === undefined) return this.#tableTypes(name);
    if (virtual.outputType !== null) return virtual.outputType;
    if (this.#types.has(name)) return this.#types.get(name);
    const type = expressionType(virtual.expression, (inner) => (inner === name ? undefined : this.typeOf(inner)));
    this.#types.set(name, type);
    return type;
  };

  find(name: string): VirtualColumn | undefined {
    return this.#byName.get(name);
  }

  #push(column: VirtualColumn): void {
    this.list.push(column);
    this.#byName.set(column.name, column);
  }

  read(reader: ObjectReader): void {
    reader.list('virtualColumns', (value, path) => {
      const column = readByType(reader.reader(value, path), VIRTUAL_COLUMNS, UNSUPPORTED_VIRTUAL_COLUMNS, 'virtual column');
      if (column.name === TIME_COLUMN) refuse(`${path}.name`, `a name other than ${TIME_COLUMN}`, column.name);
      if (this.#byName.has(column.name))
        throw new ServiceError('query_invalid', `${path}.name: two virtual columns are called "${column.name}"`);
      this.#push(column);
    });
    this.#refuseCircles();
    // An expression that does not type fails here, with its own message, rather than on a server.
    for (const column of this.list) {
      const { name, expression, keeps } = column;
      this.typeOf(name);
      const delegate =
        keeps !== undefined && expression.kind === 'column' && expression.name !== name ? this.typeOf(expression.name) : undefined;
      if (isArrayType(delegate) || isComplexType(delegate))
        throw new ServiceError(
          'unsupported',
          `virtual column ${name}: its delegate is of type ${delegate}; accepted: a STRING of several values`,
        );
    }
  }

  /** A column may read itself, as it is stored, but not a column that reads it. */
  #refuseCircles(): void {
    const reads = new Map(
      this.list.map(({ name, expression, keeps }) => {
        const names = columnsOfExpression(expression);
        if (keeps !== undefined) columnsOfExpression(keeps, names);
        names.delete(name);
        return [name, names] as const;
      }),
    );
    // Columns whose depth is known are in no circle: those that read stored columns only are at depth 0, others one below the
    // deepest that they read.
    const readBy = new Map<string, string[]>();
    const unknown = new Map<string, number>();
    for (const [name, names] of reads) {
      const computed = [...names].filter((each) => reads.has(each));
      unknown.set(name, computed.length);
      for (const each of computed) {
        const readers = readBy.get(each);
        if (readers === undefined) readBy.set(each, [name]);
        else readers.push(name);
      }
    }
    let level = [...reads.keys()].filter((name) => unknown.get(name) === 0);
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > VIRTUAL_DEPTH_MAX)
        throw new ServiceError(
          'query_invalid',
          `virtualColumns: ${level[0]} is computed from more than ${VIRTUAL_DEPTH_MAX} others, one from another`,
        );
      const next: string[] = [];
      for (const name of level) {
        unknown.delete(name);
        for (const reader of readBy.get(name) ?? []) {
          const left = (unknown.get(reader) ?? 0) - 1;
          unknown.set(reader, left);
          if (left === 0) next.push(reader);
        }
      }
      level = next;
    }
    if (unknown.size > 0)
      throw new ServiceError('query_invalid', `virtualColumns: ${[...unknown.keys()].join(', ')} read each other in a circle`);
  }

  readonly isComputedArray = (name: string): boolean => this.#byName.get(name)?.outputType === null && isArrayType(this.typeOf(name));

  /** A column for an expression that has no name of its own. */
  add(expression: string): string {
    return this.compute(parseExpression(expression));
  }

  /**
   * A column for what an extraction function or a filtered dimension computes.
   * @throws ServiceError for constants of the expression that are no pattern, zone, ...
   */
  compute(expression: Expression, keeps?: Expression): string {
    for (const each of keeps === undefined ? [expression] : [expression, keeps]) compileExpression(each, this.typeOf);
    let number = this.list.length;
    const isTaken = (name: string): boolean => this.#tableTypes(name) !== undefined || this.#byName.has(name);
    while (isTaken(`__expression${number}`)) number++;
    const name = `__expression${number}`;
    this.#push({ name, expression, outputType: null, ...(keeps === undefined ? {} : { keeps }) });
    return name;
  }
}
