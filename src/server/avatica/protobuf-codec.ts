// Avatica in Protocol Buffers.

import { ServiceError } from '../../base/errors.js';
import { own } from '../../base/names.js';
import { decodeMessage, encodeMessage } from './protobuf.js';
import { floatOfBits } from './protobuf-frame.js';
import { ENVELOPE, flagOf, REQUESTS, RESPONSES } from './protobuf-messages.js';
import type { AvaticaCodec, AvaticaResponse } from './protocol.js';

type Fields = Readonly<Record<string, unknown>>;

/** Messages are named like the classes of Java that hold them. */
const REQUEST_PREFIX = 'org.apache.calcite.avatica.proto.Requests$';
const RESPONSE_PREFIX = 'org.apache.calcite.avatica.proto.Responses$';

/** The protocol as Protocol Buffers: each message in an envelope with its name. */
export const PROTOBUF_CODEC: AvaticaCodec = {
  contentType: 'application/octet-stream',
  read: decodeRequest,
  encode: (response, serverAddress) => {
    const { name, fields } = RESPONSES[response.response] ?? missing(response.response);
    const message = encodeMessage(fields, responseFields(response, { serverAddress }));
    return encodeMessage(ENVELOPE, { name: RESPONSE_PREFIX + name, message });
  },
  connectionOf: (body) => {
    try {
      const { connectionId, statementHandle } = decodeRequest(body);
      return (connectionId ?? (statementHandle as Fields | undefined)?.['connectionId']) as string | undefined;
    } catch {
      // The receiver of the value reports what is wrong with it.
      return undefined;
    }
  },
};

function missing(response: string): never {
  throw new ServiceError('internal', `there is no message for ${response}`);
}

function decodeRequest(body: Uint8Array): Fields {
  const { name = '', message = new Uint8Array() } = decodeMessage(ENVELOPE, body, '') as { name?: string; message?: Uint8Array };
  const known = name.startsWith(REQUEST_PREFIX) ? name.slice(REQUEST_PREFIX.length) : '';
  const request = own(REQUESTS, known);
  if (request === undefined)
    throw new ServiceError(
      'input_invalid',
      `name: expected ${REQUEST_PREFIX} and one of ${Object.keys(REQUESTS).join(', ')}, found ${JSON.stringify(name.slice(0, 100))}`,
    );
  const fields = decodeMessage(request.fields, message, '');
  const empty = Object.keys(request.fields).filter((key) => own(fields, flagOf(key)) === true && own(fields, key) === undefined);
  const texts = Object.fromEntries(empty.map((key) => [key, '']));
  return { request: request.request, ...fields, ...texts, ...own(ADJUSTMENTS, request.request)?.(fields) };
}

/** Fields that protobuf writes differently from JSON: zeros are omitted, and objects are lists of pairs. */
const ADJUSTMENTS: Readonly<Record<string, (fields: Fields) => Fields>> = {
  openConnection: ({ info = [] }) => ({
    info: Object.fromEntries((info as readonly Fields[]).map(({ key = '', value = '' }) => [key, value])),
  }),
  connectionSync: ({ connProps }) => ({ connProps: connProps === undefined ? undefined : connectionProperties(connProps as Fields) }),
  closeStatement: ({ statementId = 0 }) => ({ statementId }),
  prepareAndExecute: ({ statementId = 0 }) => ({ statementId }),
  execute: ({ statementHandle = {}, parameterValues = [], maxRowCount, maxRowCountUnsigned }) => ({
    statementHandle: { id: 0, ...(statementHandle as Fields) },
    parameterValues: (parameterValues as readonly Fields[]).map((value, index) => parameter(value, `parameterValues[${index}]`)),
    maxRowCount: maxRowCount ?? maxRowCountUnsigned,
  }),
  fetch: ({ statementId = 0, offset = 0, fetchMaxRowCount, maxRowCountUnsigned }) => ({
    statementId,
    offset,
    fetchMaxRowCount: fetchMaxRowCount ?? maxRowCountUnsigned,
  }),
};

function connectionProperties({ autoCommit, readOnly, hasAutoCommit, hasReadOnly, ...rest }: Fields): Fields {
  return {
    ...rest,
    ...(hasAutoCommit === true ? { autoCommit: autoCommit ?? false } : {}),
    ...(hasReadOnly === true ? { readOnly: readOnly ?? false } : {}),
  };
}

/** A typed value as JSON has it: `type` and `value`, and for an array the type of what is in it. */
function parameter(fields: Fields, path: string): Fields {
  const { type = 'PRIMITIVE_BOOLEAN', isNull, isLeftOut, array = [], componentType } = fields;
  if (isNull === true || isLeftOut === true || type === 'NULL') return { type: 'NULL', value: null };
  if (typeof type === 'number') throw new ServiceError('input_invalid', `${path}.type: there is no type with the number ${type}`);
  if (type !== 'ARRAY') return { type, value: scalarValue(type as string, fields) };
  const elements = (array as readonly Fields[]).map((element, index) => parameter(element, `${path}.value[${index}]`));
  const [first] = elements.filter((element) => element['type'] !== 'NULL');
  return { type, componentType: first?.['type'] ?? componentType, value: elements.map((element) => element['value']) };
}

const INTEGERS: ReadonlySet<string> = new Set([
  ...['PRIMITIVE_BYTE', 'BYTE', 'PRIMITIVE_SHORT', 'SHORT', 'PRIMITIVE_INT', 'INTEGER', 'PRIMITIVE_LONG', 'LONG', 'NUMBER'],
  ...['JAVA_SQL_TIME', 'JAVA_SQL_TIMESTAMP', 'JAVA_SQL_DATE', 'JAVA_UTIL_DATE'],
]);

/** The value of a scalar message; absent fields are 0, false or empty. */
function scalarValue(type: string, { bool = false, string = '', number = 0, bytes, double = 0 }: Fields): unknown {
  if (INTEGERS.has(type)) return number;
  if (type === 'PRIMITIVE_BOOLEAN' || type === 'BOOLEAN') return bool;
  if (type === 'PRIMITIVE_DOUBLE' || type === 'DOUBLE') return double;
  if (type === 'PRIMITIVE_FLOAT' || type === 'FLOAT') return floatOfBits(Number(number));
  if (type === 'BIG_INTEGER') return bigInteger((bytes as Uint8Array | undefined) ?? new Uint8Array());
  return string;
}

/** More than any number that has a use; what is longer still takes long to print in a message that refuses it. */
const BIG_INTEGER_BYTES_MAX = 32;

/** Two's complement, the highest byte first. */
function bigInteger(bytes: Uint8Array): bigint {
  if (bytes.length > BIG_INTEGER_BYTES_MAX)
    throw new ServiceError(
      'input_invalid',
      `parameterValues: a BIG_INTEGER has ${bytes.length} bytes, expected at most ${BIG_INTEGER_BYTES_MAX}`,
    );
  const digits = Buffer.from(bytes).toString('hex');
  return BigInt.asIntN(bytes.length * 8, digits === '' ? 0n : BigInt(`0x${digits}`));
}

function responseFields(response: AvaticaResponse, rpcMetadata: object): object {
  switch (response.response) {
    case 'executeResults':
      return { ...response, resultSets: response.resultSets.map((each) => ({ ...each, rpcMetadata })), rpcMetadata };
    case 'connectionSync':
      return { connProps: { ...response.connProps, hasAutoCommit: true, hasReadOnly: true }, rpcMetadata };
    case 'error':
      return { ...response, hasExceptions: true, rpcMetadata };
    default:
      return { ...response, rpcMetadata };
  }
}
