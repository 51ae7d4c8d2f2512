// Wire format of replies between roles.

import { deserialize, serialize } from 'node:v8';
import { type ErrorCode, type ErrorDetails, ServiceError } from '../../base/errors.js';

/**
 * Wire format of a reply: messages one after another, each
 *
 *   offset 0  u32 little-endian  bytes of the payload
 *   offset 4  u8                 kind: 0 value, 1 end, 2 error
 *   offset 5  payload            V8's structured clone format; empty for `end`
 *
 * A call gives one value and the end, a stream any number of values and the end; an error takes the place of the end.
 * A reply without either was cut off. Only internal routes, which know the cluster's key, ever read this format.
 */
export const RPC_CONTENT_TYPE = 'application/x-dolmen-v8';
export const CLUSTER_KEY_HEADER = 'x-dolmen-cluster-key';
/** Milliseconds the caller still waits; relative, so that clocks need not agree. */
export const REMAINING_HEADER = 'x-dolmen-remaining-ms';

export type Message =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: ServiceError };

const HEADER_BYTES = 5;
const KINDS = ['value', 'end', 'error'] as const;
/** A larger message is a stream that lost its step, not a frame. */
const PAYLOAD_BYTES_MAX = 2 ** 31;

export function encodeValue(value: unknown): Buffer {
  return serialize(value);
}

export function decodeValue(bytes: Uint8Array): unknown {
  try {
    return deserialize(bytes);
  } catch (error) {
    throw new ServiceError('input_invalid', `internal message: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

export function encodeMessage(message: Message): Buffer {
  const payload = payloadOf(message);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  bytes.writeUInt32LE(payload.length, 0);
  bytes.writeUInt8(KINDS.indexOf(message.kind), 4);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** Cuts chunks of any size into messages. */
export async function* decodeMessages(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Message> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let wanted = HEADER_BYTES;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const bytes =
        parts.length === 1 && parts[0] !== undefined
          ? Buffer.from(parts[0].buffer, parts[0].byteOffset, parts[0].length)
          : Buffer.concat(parts);
      const length = bytes.readUInt32LE(0);
      if (length > PAYLOAD_BYTES_MAX) throw new ServiceError('internal', `internal message of ${length} bytes: the stream is out of step`);
      wanted = HEADER_BYTES + length;
      const whole = bytes.length >= wanted;
      const rest = whole ? bytes.subarray(wanted) : bytes;
      if (whole) yield decodeMessage(bytes.subarray(0, wanted));
      if (whole) wanted = HEADER_BYTES;
      parts = rest.length === 0 ? [] : [rest];
      size = rest.length;
    }
  }
  if (size > 0) throw new ServiceError('unavailable', 'internal stream was cut off inside of a message');
}

export function toServiceError(error: unknown): ServiceError {
  return error instanceof ServiceError
    ? error
    : new ServiceError('internal', error instanceof Error ? error.message : String(error), error);
}

function payloadOf(message: Message): Uint8Array {
  switch (message.kind) {
    case 'value':
      return encodeValue(message.value);
    case 'end':
      return new Uint8Array(0);
    case 'error':
      return encodeValue(plainError(message.error));
  }
}

function decodeMessage(bytes: Buffer): Message {
  const kind = KINDS[bytes.readUInt8(4)];
  if (kind === 'end') return { kind };
  // Copied: typed arrays of the value would otherwise keep the whole network buffer, at offsets they cannot align to.
  const value = decodeValue(Buffer.from(bytes.subarray(HEADER_BYTES)));
  if (kind === 'value') return { kind, value };
  return { kind: 'error', error: fromPlain(value as PlainServiceError) };
}

/** An error as plain data. */
export interface PlainServiceError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails | null;
}

export function plainError(error: unknown): PlainServiceError {
  const { code, message, details } = toServiceError(error);
  return { code, message, details };
}

/** The error that `plainError` was given. */
export function fromPlain({ code, message, details }: PlainServiceError): ServiceError {
  return new ServiceError(code, message, undefined, details);
}
