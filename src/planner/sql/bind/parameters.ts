// Binds the `?` parameters of a statement.

import { ServiceError } from '../../../base/errors.js';
import { describeValue } from '../../../base/json.js';
import { own } from '../../../base/names.js';
import { textOfValue, type Value } from '../../../expression/value.js';
import type { SqlArrayType, SqlType } from '../../../model/statement.js';
import { tokenize } from '../parse/lexer.js';
import { SourceText } from '../parse/source-text.js';
import { arrayOf, commonType, elementOf, isArray, isComplex, isInstant, nativeType, sqlTypeOf } from '../parse/sql-type.js';
import { type BoundLiteral, literal, NULL } from '../relation/bound.js';
import { castTo } from './cast.js';

/**
 * Values of the `?` of a statement: `{type, value}` each, the type being the name of a SQL type. Of ARRAY alone the elements say
 * what they are, of OTHER the value.
 * @returns a literal each, which nobody else has unless it is NULL
 * @throws ServiceError `sql_plan_invalid` naming the parameter
 */
export function bindParameters(parameters: readonly unknown[], timeZone: string): readonly BoundLiteral[] {
  return parameters.map((parameter, index) => bindParameter(parameter, `parameters[${index}]`, timeZone));
}

/** Refuses parameters beyond the `?` of a statement. One that is missing is told where its ? stands. */
export function refuseFurtherParameters({ length }: readonly unknown[], count: number): void {
  if (length > count) throw new ServiceError('sql_plan_invalid', `parameters: found ${length}, but the statement has ${count} ?`);
}

/** Words followed by a number of rows, which must not be NULL. */
const BEFORE_ROW_COUNTS: ReadonlySet<string> = new Set(['LIMIT', 'OFFSET', 'FIRST', 'NEXT']);

export interface UnknownParameter {
  readonly type: string;
  readonly value: unknown;
}

/**
 * A stand-in for each `?` of a statement that is planned before its values are known: NULL, which has any type.
 * @throws ServiceError `sql_invalid` for a string, name or comment that does not end
 */
export function unknownParameters(query: string): readonly UnknownParameter[] {
  const tokens = tokenize(new SourceText(query));
  return tokens.flatMap(({ kind, text }, index) => {
    if (kind !== 'symbol' || text !== '?') return [];
    const before = tokens[index - 1];
    const isRowCount = before?.kind === 'word' && BEFORE_ROW_COUNTS.has(before.text);
    return [isRowCount ? { type: 'BIGINT', value: 1 } : { type: 'NULL', value: null }];
  });
}

/** The largest value of the types that are narrower than what they are computed in. */
const INTEGER_MAX: Readonly<Record<string, bigint>> = { TINYINT: 127n, SMALLINT: 32_767n, INTEGER: 2_147_483_647n, INT: 2_147_483_647n };

const TYPES =
  'CHAR, VARCHAR, BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, DECIMAL, FLOAT, REAL, DOUBLE, TIMESTAMP, DATE, ARRAY, ARRAY<type>, OTHER, NULL';

function bindParameter(parameter: unknown, path: string, timeZone: string): BoundLiteral {
  const fail = (message: string): ServiceError => new ServiceError('sql_plan_invalid', `${path}${message}`);
  if (typeof parameter !== 'object' || parameter === null || Array.isArray(parameter)) throw fail(': expected an object {"type", "value"}');
  const { type, value, ...rest } = parameter as { readonly type?: unknown; readonly value?: unknown };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw fail(`: unknown key ${unknown}; accepted: type, value`);
  if (typeof type !== 'string') throw fail(`.type: expected the name of a SQL type: ${TYPES}`);
  const name = type.trim().toUpperCase();
  const isNull = value === null || value === undefined;
  // Clients send this for setNull; it also stands for values that are not known yet.
  if (isNull && (name === 'NULL' || name === 'OTHER' || name === 'ARRAY')) return NULL;
  if (name === 'ARRAY' || (name === 'OTHER' && Array.isArray(value))) return arrayOfOwnType(value, `${path}.value`, fail);
  if (name === 'OTHER') return written(value) ?? throwMismatch(fail, 'a string, a number, true, false or an array', value);
  const sqlType = sqlTypeOf(type);
  if (sqlType === undefined || isComplex(sqlType)) throw fail(`.type: unknown SQL type ${type}; accepted: ${TYPES}`);
  if (isNull) return literal(sqlType, null);
  const bound = isArray(sqlType) ? arrayOfType(value, sqlType, timeZone) : scalar(value, sqlType, timeZone);
  const max = own(INTEGER_MAX, name);
  const isOutside =
    max !== undefined && bound !== undefined && (Number(bound.value) > Number(max) || Number(bound.value) < -Number(max) - 1);
  return bound === undefined || isOutside ? throwMismatch(fail, withArticle(name), value) : bound;
}

function withArticle(type: string): string {
  return `${/^[AEIO]/.test(type) ? 'an' : 'a'} ${type}`;
}

function throwMismatch(fail: (message: string) => ServiceError, expected: string, value: unknown): never {
  throw fail(`.value: expected ${expected}, found ${describeValue(value)}`);
}

/** A value that is not null in a type; undefined when it is none of it. */
function scalar(value: unknown, type: SqlType, timeZone: string): BoundLiteral | undefined {
  const given = written(value);
  if (given === undefined || (type === 'VARCHAR' && given.type !== 'VARCHAR')) return undefined;
  if (type === 'BOOLEAN' ? given.type !== 'BOOLEAN' && given.type !== 'VARCHAR' : given.type === 'BOOLEAN') return undefined;
  const isWhole = nativeType(type) === 'LONG' && !isInstant(type) && type !== 'BOOLEAN';
  if (isWhole && (given.type === 'DOUBLE' || (given.type === 'VARCHAR' && !/^[+-]?\d+$/.test(String(given.value).trim()))))
    return undefined;
  const cast = castTo(isInstant(type) && given.type === 'BIGINT' ? { ...given, type } : given, type, timeZone);
  // One of its own, whatever casts give: values of parameters become places.
  return cast?.kind === 'literal' ? literal(cast.type, cast.value) : undefined;
}

function written(value: unknown): BoundLiteral | undefined {
  switch (typeof value) {
    case 'string':
      return literal('VARCHAR', value);
    case 'bigint':
      return value === BigInt.asIntN(64, value) ? literal('BIGINT', value) : undefined;
    case 'number':
      return Number.isSafeInteger(value) ? literal('BIGINT', BigInt(value)) : literal('DOUBLE', value);
    case 'boolean':
      return literal('BOOLEAN', value ? 1n : 0n);
    default:
      return undefined;
  }
}

/** The elements in the type that the parameter names. */
function arrayOfType(value: unknown, type: SqlArrayType, timeZone: string): BoundLiteral | undefined {
  const elementsOf = (list: readonly unknown[], of: SqlArrayType): readonly Value[] | undefined => {
    const inner = elementOf(of);
    const elements = list.map((element): Value | undefined => {
      if (element === null) return null;
      if (isArray(inner)) return Array.isArray(element) ? elementsOf(element, inner) : undefined;
      return isComplex(inner) ? undefined : scalar(element, inner, timeZone)?.value;
    });
    return elements.every((element) => element !== undefined) ? elements : undefined;
  };
  const elements = Array.isArray(value) ? elementsOf(value, type) : undefined;
  return elements === undefined ? undefined : literal(type, textOfValue(elements, nativeType(type)));
}

/** An array whose type its elements have: texts, or whole numbers, or numbers, or truth values, or arrays of one of these. */
function arrayOfOwnType(value: unknown, path: string, fail: (message: string) => ServiceError): BoundLiteral {
  if (!Array.isArray(value)) return throwMismatch(fail, 'an array', value);
  const type = arrayOf(typeOfElements(value, path) ?? 'VARCHAR');
  return arrayOfType(value, type, 'UTC') ?? throwMismatch(fail, withArticle(type), value);
}

/** Type of the elements; undefined when all of them are null. */
function typeOfElements(list: readonly unknown[], path: string): SqlType | undefined {
  let type: SqlType | undefined;
  for (const [index, element] of list.entries()) {
    if (element === null) continue;
    const own = Array.isArray(element) ? arrayOf(typeOfElements(element, `${path}[${index}]`) ?? 'VARCHAR') : written(element)?.type;
    const common = own === undefined || own === 'NULL' ? undefined : type === undefined || type === own ? own : commonType(type, own);
    if (common === undefined || (isArray(common) && own !== common && type !== common))
      throw new ServiceError(
        'sql_plan_invalid',
        `${path}[${index}]: expected ${type === undefined ? 'a string, a number, true, false, null or an array' : `${withArticle(type)} like the elements before it`}, found ${describeValue(element)}`,
      );
    type = common;
  }
  return type;
}
