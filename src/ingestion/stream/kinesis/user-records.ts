// Takes aggregated records of Kinesis apart, by the format that the producer library of AWS publishes (aggregation-format.md).

import { createHash } from 'node:crypto';

export interface UserRecord {
  readonly partitionKey: string;
  readonly data: Uint8Array;
}

const MAGIC = Buffer.from([0xf3, 0x89, 0x9a, 0xc2]);
const DIGEST_BYTES = 16;
/** Wire types of protocol buffers. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

interface Field {
  readonly number: number;
  /** null: not one of bytes. */
  readonly bytes: Uint8Array | null;
  readonly value: number;
}

/** The records of users in an aggregated one; one that is not aggregated, or is damaged, is a record by itself, as in the library of AWS. */
export function userRecords(partitionKey: string, data: Uint8Array): readonly UserRecord[] {
  const whole = [{ partitionKey, data }];
  if (data.length < MAGIC.length + DIGEST_BYTES || MAGIC.compare(data, 0, MAGIC.length) !== 0) return whole;
  const message = data.subarray(MAGIC.length, data.length - DIGEST_BYTES);
  if (
    createHash('md5')
      .update(message)
      .digest()
      .compare(data.subarray(data.length - DIGEST_BYTES)) !== 0
  )
    return whole;
  const keys: string[] = [];
  const records: UserRecord[] = [];
  try {
    for (const { number, bytes } of fieldsOf(message)) {
      if (number === 1 && bytes !== null) keys.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
      else if (number === 3 && bytes !== null) records.push(recordOf(bytes, keys));
    }
  } catch (error) {
    if (error instanceof Damaged) return whole;
    throw error;
  }
  return records;
}

function recordOf(bytes: Uint8Array, keys: readonly string[]): UserRecord {
  let partitionKey: string | undefined;
  let data: Uint8Array | undefined;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1 && field.bytes === null) partitionKey = keys[field.value];
    else if (field.number === 3 && field.bytes !== null) data = field.bytes;
  }
  if (partitionKey === undefined || data === undefined) throw new Damaged();
  return { partitionKey, data };
}

class Damaged extends Error {}

function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || factor > 2 ** 63) throw new Damaged();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const taken = (size: number): Uint8Array => {
    if (size > bytes.length - at) throw new Damaged();
    at += size;
    return bytes.subarray(at - size, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === WIRE.varint) yield { number, bytes: null, value: varint() };
    else if (wire === WIRE.bytes) yield { number, bytes: taken(varint()), value: 0 };
    else if (wire === WIRE.fixed64) taken(8);
    else if (wire === WIRE.fixed32) taken(4);
    else throw new Damaged();
  }
}
