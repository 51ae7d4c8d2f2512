import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { userRecords } from '../../../src/ingestion/stream/kinesis/user-records.js';

const records = suite('aggregated records of Kinesis');

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const field = (number: number, bytes: Uint8Array): Buffer => Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
const count = (number: number, value: number): Buffer => Buffer.concat([varint(number * 8), varint(value)]);

/** An aggregated record as the published format describes it: tables of keys, records by places in them, the digest behind all. */
function aggregated(parts: readonly (readonly [key: string, data: Uint8Array])[]): Buffer {
  const keys = [...new Set(parts.map(([key]) => key))];
  const message = Buffer.concat([
    ...keys.map((key) => field(1, Buffer.from(key))),
    field(2, Buffer.from('170141183460469231731687303715884105727')),
    ...parts.map(([key, data]) => field(3, Buffer.concat([count(1, keys.indexOf(key)), count(2, 0), field(3, data)]))),
  ]);
  return Buffer.concat([Buffer.from([0xf3, 0x89, 0x9a, 0xc2]), message, createHash('md5').update(message).digest()]);
}

const shown = (data: Uint8Array) => userRecords('whole', data).map((each) => [each.partitionKey, Buffer.from(each.data).toString('hex')]);

const part = fc.tuple(fc.string({ minLength: 1, maxLength: 20 }), fc.uint8Array({ maxLength: 300 }));

records('are taken apart, in their order, with the keys of each', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 50 }), (parts) => {
      const expected = parts.map(([key, data]) => [key, Buffer.from(data).toString('hex')]);
      assert.equal(shown(aggregated(parts)), expected);
    }),
  );
});

records('other bytes, and damaged ones, are one record', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (parts, at, flipped) => {
      const bytes = aggregated(parts);
      const place = at % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ flipped;
      assert.equal(shown(bytes), [['whole', bytes.toString('hex')]]);
      assert.equal(shown(bytes.subarray(0, place)), [['whole', bytes.subarray(0, place).toString('hex')]]);
    }),
  );
});

const message = (bytes: Buffer) => Buffer.concat([Buffer.from([0xf3, 0x89, 0x9a, 0xc2]), bytes, createHash('md5').update(bytes).digest()]);
for (const [name, bytes] of [
  ['a key that is not in the table', field(3, Buffer.concat([count(1, 7), field(3, Buffer.from('x'))]))],
  ['a record without data', Buffer.concat([field(1, Buffer.from('k')), field(3, count(1, 0))])],
  ['a length beyond the end', Buffer.concat([varint(10), varint(1000)])],
  ['a number without an end', Buffer.alloc(20, 0xff)],
  ['an unknown wire type', Buffer.from([0x0b, 1, 2])],
] as const)
  records(`one record: ${name}`, () => {
    const data = message(bytes);
    assert.equal(shown(data), [['whole', data.toString('hex')]]);
  });

records.run();
