import { ServiceError } from '../../base/errors.js';
import { type Bound, literal, NULL } from './bound.js';
import { castTo } from './cast.js';
import { tokenize } from './lexer.js';
import { SourceText } from './source-text.js';
import { isInstant, nativeType, sqlTypeOf } from './sql-type.js';

/**
 * Values of the `?` of a statement: `{type, value}` each, the type being the name of a SQL type.
 * @throws ServiceError `sql_plan_invalid` naming the parameter
 */
export function bindParameters(parameters: readonly unknown[], timeZone: string): readonly Bound[] {
  return parameters.map((parameter, index) => bindParameter(parameter, `parameters[${index}]`, timeZone));
}

/** Behind these words a number of rows stands, which NULL is not. */
const BEFORE_ROW_COUNTS: ReadonlySet<string> = new Set(['LIMIT', 'OFFSET', 'FIRST', 'NEXT']);

/**
 * A stand-in for each `?` of a statement that is planned before its values are known: NULL, which has any type.
 * @throws ServiceError `sql_invalid` for a string, name or comment that does not end
 */
export function unknownParameters(query: string): readonly { readonly type: string; readonly value: unknown }[] {
  const tokens = tokenize(new SourceText(query));
  return tokens.flatMap(({ kind, text }, index) => {
    if (kind !== 'symbol' || text !== '?') return [];
    const before = tokens[index - 1];
    const isRowCount = before?.kind === 'word' && BEFORE_ROW_COUNTS.has(before.text);
    return [isRowCount ? { type: 'BIGINT', value: 1 } : { type: 'NULL', value: null }];
  });
}

function bindParameter(parameter: unknown, path: string, timeZone: string): Bound {
  const fail = (message: string): ServiceError => new ServiceError('sql_plan_invalid', `${path}${message}`);
  if (typeof parameter !== 'object' || parameter === null || Array.isArray(parameter)) throw fail(': expected an object {"type", "value"}');
  const { type, value, ...rest } = parameter as { readonly type?: unknown; readonly value?: unknown };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw fail(`: unknown key ${unknown}; accepted: type, value`);
  if (typeof type !== 'string') throw fail('.type: expected the name of a SQL type such as VARCHAR or BIGINT');
  // What a client sends for setNull, and what stands for values that are not known yet.
  if (type.toUpperCase() === 'NULL' && (value === null || value === undefined)) return NULL;
  const sqlType = sqlTypeOf(type.toUpperCase());
  if (sqlType === undefined)
    throw type.toUpperCase() === 'ARRAY'
      ? new ServiceError('unsupported', `${path}.type: ARRAY is not supported`)
      : fail(`.type: unknown SQL type ${type}`);
  if (value === null || value === undefined) return literal(sqlType, null);
  const given = written(value);
  const numeric = nativeType(sqlType) !== 'STRING' && sqlType !== 'BOOLEAN';
  const fits =
    given !== undefined &&
    (sqlType === 'VARCHAR'
      ? given.type === 'VARCHAR'
      : sqlType === 'BOOLEAN'
        ? given.type === 'BOOLEAN' || given.type === 'VARCHAR'
        : numeric && given.type !== 'BOOLEAN');
  const cast =
    given === undefined || !fits
      ? undefined
      : castTo(isInstant(sqlType) && given.type === 'BIGINT' ? { ...given, type: sqlType } : given, sqlType, timeZone);
  if (cast?.kind !== 'literal')
    throw fail(`.value: expected a ${sqlType}, found ${JSON.stringify(typeof value === 'bigint' ? String(value) : value)}`);
  return cast;
}

function written(value: unknown): ReturnType<typeof literal> | undefined {
  switch (typeof value) {
    case 'string':
      return literal('VARCHAR', value);
    case 'bigint':
      return value === BigInt.asIntN(64, value) ? literal('BIGINT', value) : undefined;
    case 'number':
      return Number.isInteger(value) ? literal('BIGINT', BigInt(value)) : literal('DOUBLE', value);
    case 'boolean':
      return literal('BOOLEAN', value ? 1n : 0n);
    default:
      return undefined;
  }
}
