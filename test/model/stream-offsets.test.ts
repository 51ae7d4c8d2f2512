import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { instantOf } from '../../src/ingestion/stream/duration.js';
import { parseOffsets, type StreamKind } from '../../src/model/stream/offsets.js';

const reading = suite('positions in streams, as documents write them');

const readerOf = (members: object): ObjectReader => new ObjectReader(members, '', readContextOf('input_invalid', 'the body'));
const refusalOf = (read: () => unknown): string => {
  try {
    return `read as ${JSON.stringify(read())}`;
  } catch (error) {
    return (error as Error).message;
  }
};

const OFFSETS: readonly (readonly [kind: StreamKind, partition: string, offset: unknown, refusal: RegExp | null])[] = [
  ['kafka', '0', 5, null],
  ['kafka', '999999999', '5', null],
  ['kafka', 'some.topic-of_mine:12', 5n, null],
  ['kafka', '0', 2 ** 63, null],
  ['kafka', 'x', 5, /x: a partition is a whole number/],
  ['kafka', '', 5, /a partition is a whole number/],
  ['kafka', '-1', 5, /-1: a partition/],
  ['kafka', '1.5', 5, /1\.5: a partition/],
  ['kafka', '1e3', 5, /1e3: a partition/],
  ['kafka', '01', 5, /01: a partition/],
  ['kafka', 'topic:', 5, /topic:: a partition/],
  ['kafka', '__proto__', 5, /__proto__: a partition/],
  ['kafka', '0', -1, /0: expected an offset of at least 0/],
  ['kafka', '0', 1.5, /0: expected an offset/],
  ['kafka', '0', '9223372036854775808', /0: expected an offset/],
  ['kinesis', 'shardId-000000000001', '49590338271490256608559692538361571095921575989136588898', null],
  ['kinesis', 'shardId-000000000001', 'NO_END_SEQUENCE_NUMBER', null],
  ['kinesis', 'a shard', '1', /a shard: a partition is the id of a shard/],
  ['kinesis', 'shardId-000000000001', 7, /expected a sequence number as a string/],
];
for (const [kind, partition, offset, refusal] of OFFSETS)
  reading(`${kind}: ${JSON.stringify(partition)} at ${String(offset)}`, () => {
    const read = (): unknown => [...parseOffsets(kind, readerOf(Object.fromEntries([[partition, offset]])))];
    if (refusal !== null) assert.match(refusalOf(read), refusal);
    else assert.equal(read(), [[partition, offset === 2 ** 63 ? '9223372036854775807' : String(offset)]]);
  });

for (const [value, expected] of [
  ['2026-01-01', Date.UTC(2026, 0, 1)],
  [1500, 1500],
  [-1500, -1500],
  [null, null],
] as const)
  reading(`the instant ${JSON.stringify(value)}`, () => assert.is(instantOf(readerOf({ from: value ?? undefined }), 'from'), expected));
for (const value of [1e300, 1.5, 'yesterday', true, -1e20])
  reading(`no instant: ${JSON.stringify(value)}`, () =>
    assert.match(
      refusalOf(() => instantOf(readerOf({ from: value }), 'from')),
      /from: expected/,
    ),
  );

reading.run();
