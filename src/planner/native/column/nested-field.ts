// Reads `nested-field` virtual columns.

import type { ObjectReader } from '../../../base/json-reader.js';
import { type PathPart, parseJqPath, parseJsonPath, printJsonPath } from '../../../expression/json-path.js';
import type { VirtualColumn } from '../../../model/aggregator.js';
import { call, type Expression, text } from '../../../model/expression.js';
import { JSON_TYPE } from '../../../model/schema.js';
import { refuse } from '../reader.js';
import { readWrittenType } from '../typed-value.js';

/**
 * `nested-field`: what lies at a path in a JSON column, as a value of `expectedType`, or as JSON with `processFromRaw`. It is
 * the function json_value or json_query of that path, so that both find the same and profit of the same columns.
 */
export function readNestedField(reader: ObjectReader): VirtualColumn {
  const column = reader.string('columnName');
  const fromRaw = reader.boolean('processFromRaw', false);
  const expected = reader.raw('expectedType');
  const type = expected === undefined ? (fromRaw ? JSON_TYPE : 'STRING') : readWrittenType(expected, reader.at('expectedType'));
  const operands: readonly Expression[] = [{ kind: 'column', name: column }, text(readPath(reader))];
  return {
    name: reader.string('outputName'),
    expression: type === JSON_TYPE ? call('json_query', ...operands) : call('json_value', ...operands, text(type)),
    outputType: type,
  };
}

/** Reads a path as JSONPath. Parts win over a path, because a path is parsed into parts. */
function readPath(reader: ObjectReader): string {
  const isJq = reader.boolean('useJqSyntax', false);
  const path = reader.optionalString('path');
  if (reader.has('pathParts')) return printJsonPath(reader.list('pathParts', (value, at) => readPart(reader.reader(value, at))));
  if (path === undefined) refuse(reader.at('path'), 'a path (or pathParts)', undefined);
  return printJsonPath(isJq ? parseJqPath(path) : parseJsonPath(path));
}

function readPart(reader: ObjectReader): PathPart {
  const type = reader.choice('type', ['field', 'arrayElement'], undefined);
  const part: PathPart =
    type === 'field'
      ? { kind: 'field', name: reader.string('field') }
      : {
          kind: 'element',
          index: reader.optionalInteger('index', Number.MIN_SAFE_INTEGER) ?? refuse(reader.at('index'), 'an integer', undefined),
        };
  reader.end();
  return part;
}
