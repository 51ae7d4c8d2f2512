import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { decodeMessages, encodeMessage } from '../../src/cluster/rpc/message.js';
import { SegmentPacker, SegmentUnpacker } from '../../src/cluster/rpc/packed-segments.js';
import { fromParts, inParts, type PartedLists } from '../../src/cluster/rpc/parts.js';
import { withSharedParts } from '../../src/metadata/shared-parts.js';
import type { SegmentColumn, SegmentDescriptor, ShardSpec } from '../../src/model/segment.js';

const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'é "x"\n', '');
const column = fc.record(
  {
    name,
    type: fc.constantFrom('STRING', 'LONG', 'COMPLEX<json>'),
    multiValue: fc.boolean(),
    hasNulls: fc.boolean(),
  },
  { requiredKeys: ['name', 'type', 'multiValue', 'hasNulls'] },
) as fc.Arbitrary<SegmentColumn>;
const shard = fc.oneof(
  fc.record({ type: fc.constant('numbered'), partitionNum: fc.nat({ max: 2 }), partitions: fc.nat({ max: 2 }) }),
  fc.record({ type: fc.constant('tombstone'), partitionNum: fc.constant(0), partitions: fc.constant(1) }),
  fc.record({
    ...{ type: fc.constant('range'), dimensions: fc.array(name), isSingle: fc.boolean(), start: fc.constantFrom(null, ['x', null]) },
    ...{ end: fc.constant(null), partitionNum: fc.nat(), partitions: fc.nat() },
  }),
) as fc.Arbitrary<ShardSpec>;
/** Descriptors as they are, and with fields that another version may have. */
const segment = fc.record(
  {
    id: fc.record({
      dataSource: name,
      interval: fc.record({ start: fc.integer(), end: fc.integer() }),
      version: fc.constantFrom('v1', 'v2'),
      partitionNumber: fc.nat({ max: 2 }),
    }),
    shardSpec: shard,
    loadSpec: fc.record({ type: fc.constantFrom('local', 's3'), path: fc.string(), bucket: name }, { requiredKeys: ['type', 'path'] }),
    sizeBytes: fc.nat(),
    rowCount: fc.nat(),
    dimensions: fc.array(name),
    metrics: fc.array(name),
    columns: fc.array(column, { maxLength: 3 }),
    distinctCounts: fc.array(fc.integer({ min: -1, max: 2 ** 31 - 1 }), { maxLength: 3 }),
    lastCompactionState: fc.string(),
    liveId: fc.string(),
    later: fc.constant({ field: [1] }),
  },
  {
    requiredKeys: ['id', 'shardSpec', 'loadSpec', 'sizeBytes', 'rowCount', 'dimensions', 'metrics', 'columns'],
    noNullPrototype: true,
  },
) as unknown as fc.Arbitrary<SegmentDescriptor>;

/** Values of `messages`, read as another process does. */
async function* sent(messages: Iterable<Buffer>): AsyncGenerator<unknown> {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield* messages;
  };
  for await (const message of decodeMessages(chunks())) if (message.kind === 'value') yield message.value;
}

async function messagesOf(value: unknown, lists: PartedLists): Promise<Buffer[]> {
  const messages: Buffer[] = [];
  for await (const part of inParts(value, lists)) messages.push(encodeMessage({ kind: 'value', value: part }));
  return messages;
}

const LISTS: PartedLists = { segments: 'segments', names: 'values' };
const plain = <Value>(value: Value): Value => structuredClone(value);

const parts = suite('values in parts');

parts('descriptors are packed, and are the same afterwards, whatever they have', () => {
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 12 }), (drawn) => {
      const segments = plain(drawn);
      deepStrictEqual(segments.map(withSharedParts), segments);
      for (const given of [segments, segments.map(withSharedParts)]) {
        const [packer, unpacker] = [new SegmentPacker(), new SegmentUnpacker()];
        // In two messages, the second of which leaves out what the first has told.
        for (const part of [given.slice(0, 5), given.slice(5)])
          deepStrictEqual(unpacker.unpack(structuredClone(packer.pack(part))), plain(part));
      }
    }),
  );
});

parts('a value that came in parts is the one in one piece', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(segment, { minLength: 1, maxLength: 4 }),
      fc.nat({ max: 1200 }),
      fc.nat({ max: 5000 }),
      fc.boolean(),
      async (drawn, segmentCount, nameCount, isPartial) => {
        const some = plain(drawn);
        const value = {
          revision: 7,
          segments: Array.from({ length: segmentCount }, (_, at) => some[at % some.length]),
          ...(isPartial ? { since: { gone: ['x'] } } : { names: Array.from({ length: nameCount }, (_, at) => `name ${at}`) }),
        };
        deepStrictEqual(await fromParts(sent(await messagesOf(value, LISTS))), value);
      },
    ),
    { numRuns: 30 },
  );
  assert.is(await fromParts(sent(await messagesOf(null, LISTS))), null);
});

parts('parts without the others are never taken for the whole', async () => {
  const some = fc.sample(segment, { numRuns: 3, seed: 5 }).map(plain);
  const value = { revision: 7, segments: Array.from({ length: 700 }, (_, at) => some[at % 3]), names: ['a', 'b'] };
  const messages = await messagesOf(value, LISTS);
  assert.is(messages.length, 5);
  for (let missing = 0; missing < messages.length; missing++) {
    for (const left of [messages.slice(0, missing), messages.filter((_, at) => at !== missing || at === 0)]) {
      if (left.length === messages.length) continue;
      const refused = await fromParts(sent(left)).then(
        () => 'taken',
        (error: unknown) => (error instanceof ServiceError ? error.code : 'other'),
      );
      assert.is(refused, 'unavailable', `${left.length} of ${messages.length}`);
    }
  }
});

parts.run();
