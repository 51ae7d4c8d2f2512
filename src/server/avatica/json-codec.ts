// Avatica in JSON.

import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import type { AvaticaCodec, AvaticaResponse, ResultSet, Signature, WireFrame, WireType } from './protocol.js';

/** The protocol as JSON: requests and responses by the names they have there. */
export const JSON_CODEC: AvaticaCodec = {
  contentType: 'application/json;charset=utf-8',
  read: (body) => {
    const request = parseJson(body.toString('utf8'));
    if (typeof request !== 'object' || request === null || Array.isArray(request))
      throw new ServiceError('input_invalid', 'body: expected a JSON object with the field "request"');
    return request;
  },
  encode: (response, serverAddress) => stringifyJson(jsonResponse(response, { response: 'rpcMetadata', serverAddress })),
  // Searched, not parsed: whatever stands in front of it (a signature with its SQL) would have to hold the same key in
  // quotes, which JSON escapes inside of texts.
  connectionOf: (body) => /"connectionId"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body.toString('utf8'))?.[1],
};

/** Values of JSON need no types beside them. */
function jsonResponse(response: AvaticaResponse, rpcMetadata: unknown): object {
  switch (response.response) {
    case 'executeResults':
      return { ...response, resultSets: response.resultSets.map((each) => jsonResultSet(each, rpcMetadata)), rpcMetadata };
    case 'resultSet':
      return jsonResultSet(response, rpcMetadata);
    case 'prepare': {
      const { statement } = response;
      return { ...response, statement: { ...statement, signature: jsonSignature(statement.signature) }, rpcMetadata };
    }
    case 'fetch':
      return { ...response, frame: response.frame === null ? null : jsonFrame(response.frame), rpcMetadata };
    // The driver's messages of these two have no fields, and it refuses any.
    case 'commit':
    case 'rollback':
      return response;
    default:
      return { ...response, rpcMetadata };
  }
}

function jsonResultSet(resultSet: ResultSet, rpcMetadata: unknown): object {
  const { signature, firstFrame } = resultSet;
  return { ...resultSet, signature: jsonSignature(signature), firstFrame: jsonFrame(firstFrame), rpcMetadata };
}

function jsonSignature(signature: Signature): object {
  return { ...signature, columns: signature.columns.map((column) => ({ ...column, type: jsonType(column.type) })) };
}

const NUMBERS: ReadonlySet<string> = new Set(['INTEGER', 'LONG', 'FLOAT', 'DOUBLE']);

/**
 * Describes number elements of arrays as NUMBER: JSON readers turn a small long into an Integer, which the driver rejects in
 * an array of LONG. For columns the driver converts by itself.
 */
function jsonType(type: WireType): object {
  if (type.type === 'scalar') return type;
  const { component } = type;
  return { ...type, component: NUMBERS.has(component.rep) ? { ...component, rep: 'NUMBER' } : jsonType(component) };
}

function jsonFrame({ offset, done, rows }: WireFrame): object {
  return { offset, done, rows };
}
