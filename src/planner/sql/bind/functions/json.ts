// SQL JSON functions.

import { JSON_TYPE } from '../../../../model/schema.js';
import type { SqlType } from '../../../../model/statement.js';
import { elementOf, isArray, isComplex, nativeType } from '../../parse/sql-type.js';
import { type Bound, call, text } from '../../relation/bound.js';
import { castTo } from '../cast.js';
import { type FunctionCall, plain, type SqlFunction } from '../function-call.js';

/** JSON_VALUE(json, path [RETURNING type]): a value that is not an object; text unless another type is asked for. */
function value(bound: FunctionCall): Bound {
  const type = bound.returning ?? 'VARCHAR';
  const read = readAs(type);
  if (read === undefined) throw bound.error(bound.at, `JSON_VALUE: RETURNING ${type} is not possible`);
  const native = nativeType(read);
  const found = call(read, 'json_value', bound.any(0), bound.text(1), text(native === 'FLOAT' ? 'DOUBLE' : native));
  const cast = castTo(found, type, bound.session.timeZone);
  if (cast === undefined) throw bound.error(bound.at, `JSON_VALUE: RETURNING ${type} is not possible`);
  return cast;
}

/** The type that JSON is read as before it is converted. */
function readAs(type: SqlType): SqlType | undefined {
  if (isComplex(type)) return undefined;
  if (isArray(type)) return isArray(elementOf(type)) ? undefined : type;
  if (type === 'TIMESTAMP' || type === 'DATE') return 'VARCHAR';
  return type === 'BOOLEAN' ? 'BIGINT' : type;
}

export const JSON_FUNCTIONS: readonly SqlFunction[] = [
  { name: 'JSON_VALUE', minArguments: 2, maxArguments: 2, bind: value },
  { name: 'JSON_VALUE_ANY', minArguments: 2, maxArguments: 2, bind: value },
  plain('JSON_QUERY', 'json_query', ['any', 'text'], JSON_TYPE),
  plain('JSON_QUERY_ARRAY', 'json_query_array', ['any', 'text'], `ARRAY<${JSON_TYPE}>`),
  plain('JSON_KEYS', 'json_keys', ['any', 'text'], 'ARRAY<VARCHAR>'),
  plain('JSON_PATHS', 'json_paths', ['any'], 'ARRAY<VARCHAR>'),
  {
    name: 'JSON_OBJECT',
    minArguments: 0,
    maxArguments: Infinity,
    bind(bound) {
      if (bound.count % 2 === 1) throw bound.error(bound.at, 'JSON_OBJECT takes pairs of a key and a value');
      return call(
        JSON_TYPE,
        'json_object',
        ...bound.arguments.map((argument, index) => (index % 2 === 0 ? bound.string(index) : argument)),
      );
    },
  },
  { name: 'JSON_MERGE', minArguments: 1, maxArguments: Infinity, bind: (bound) => call(JSON_TYPE, 'json_merge', ...bound.arguments) },
  plain('PARSE_JSON', 'parse_json', ['string'], JSON_TYPE),
  plain('TRY_PARSE_JSON', 'try_parse_json', ['string'], JSON_TYPE),
  plain('TO_JSON_STRING', 'to_json_string', ['any'], 'VARCHAR'),
];
