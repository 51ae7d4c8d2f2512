// Replaces `json_value` by the stored field of its path, where segments have one.

import { parseJsonPath, printJsonPath } from '../../expression/json-path.js';
import { call, type Expression, replacedCalls, text } from '../../model/expression.js';
import { type ColumnType, isArrayType, isNumberType, parseColumnType } from '../../model/schema.js';
import { fieldName } from '../../storage/field-name.js';

/** A `json_value(column, path, type)`: the field where segments may keep its values, and the wanted type. */
interface JsonField {
  readonly name: string;
  readonly type: ColumnType;
}

/** undefined for any other expression, and where no column of single values gives what reading the JSON does. */
function fieldOf(expression: Expression): JsonField | undefined {
  if (expression.kind !== 'call' || expression.function !== 'json_value') return undefined;
  const [column, path, named] = expression.arguments;
  if (column?.kind !== 'column' || path?.kind !== 'literal' || typeof path.value !== 'string') return undefined;
  if (named !== undefined && (named.kind !== 'literal' || typeof named.value !== 'string')) return undefined;
  const type = named?.kind === 'literal' ? parseColumnType(String(named.value)) : 'STRING';
  const use = isArrayType(type) ? 'array' : type === 'STRING' ? 'text' : isNumberType(type) ? 'number' : undefined;
  if (type === undefined || use === undefined) return undefined;
  return { name: fieldName(column.name, printJsonPath(parseJsonPath(path.value)), use), type };
}

/** The names that an expression reads: fields of JSON columns rather than the columns, where `hasField` says so. */
export function columnsAndFields(expression: Expression, isStored: (column: string) => boolean, into: (name: string) => void): void {
  if (expression.kind === 'column') return into(expression.name);
  if (expression.kind === 'lambda') {
    const { parameters, body } = expression;
    const isColumn = (name: string): boolean => !parameters.includes(name);
    const read = (name: string): void => {
      if (isColumn(name)) into(name);
    };
    return columnsAndFields(body, (name) => isColumn(name) && isStored(name), read);
  }
  if (expression.kind !== 'call') return;
  const field = fieldOf(expression);
  const [column] = expression.arguments;
  if (field !== undefined && column?.kind === 'column' && isStored(column.name)) return into(field.name);
  for (const argument of expression.arguments) columnsAndFields(argument, isStored, into);
}

/** The expression with columns of a segment in place of the paths that it keeps. */
export function readingFields(expression: Expression, typeOf: (field: string) => ColumnType | undefined): Expression {
  return replacedCalls(expression, (called, parameters) => {
    const [of] = called.arguments;
    const field = of?.kind === 'column' && parameters.includes(of.name) ? undefined : fieldOf(called);
    const stored = field === undefined ? undefined : typeOf(field.name);
    if (field === undefined || stored === undefined) return undefined;
    const column: Expression = { kind: 'column', name: field.name };
    return stored === field.type ? column : call('cast', column, text(field.type));
  });
}
