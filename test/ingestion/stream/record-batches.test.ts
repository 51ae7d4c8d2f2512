import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { crc32c } from '../../../src/ingestion/stream/kafka/crc32c.js';
import { type BatchesToRead, readRecordBatches } from '../../../src/ingestion/stream/kafka/record-batches.js';
import { before, recordsOf } from '../../../src/ingestion/stream/message-block.js';

const { compressSync } = createRequire(import.meta.url)('snappy') as typeof import('snappy');
const { compress: compressZstd } = createRequire(import.meta.url)('zstd-napi') as typeof import('zstd-napi');

/** Batches as Kafka documents their bytes. */
const batches = suite('batches of records');

interface Written {
  readonly value: string | null;
  readonly key?: string;
  readonly ms?: number;
  readonly headers?: readonly (readonly [string, string | null])[];
}

interface BatchOptions {
  readonly first?: number;
  readonly firstMs?: number;
  readonly logMs?: number;
  readonly codec?: number;
  readonly compress?: (bytes: Buffer) => Uint8Array;
  readonly producer?: bigint;
  readonly isTransactional?: boolean;
  readonly isControl?: boolean;
  /** Told instead of the count of messages. */
  readonly count?: number;
}

/** A number of seven bits a byte, its sign in the lowest bit. */
function varint(value: number): Buffer {
  let left = value < 0 ? BigInt(-value) * 2n - 1n : BigInt(value) * 2n;
  const bytes: number[] = [];
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Buffer.from([...bytes, Number(left)]);
}

const sized = (text: string | null | undefined): Buffer =>
  text === null || text === undefined ? varint(-1) : Buffer.concat([varint(Buffer.byteLength(text)), Buffer.from(text)]);

function recordBytes({ value, key, ms = 0, headers = [] }: Written, at: number): Buffer {
  const named = headers.flatMap(([name, content]) => [sized(name), sized(content)]);
  const rest = Buffer.concat([Buffer.from([0]), varint(ms), varint(at), sized(key), sized(value), varint(headers.length), ...named]);
  return Buffer.concat([varint(rest.length), rest]);
}

function batch(messages: readonly Written[], options: BatchOptions = {}): Buffer {
  const { first = 0, firstMs = 1000, logMs, codec = 0, compress, producer = -1n, isTransactional = false, isControl = false } = options;
  const plain = Buffer.concat(messages.map(recordBytes));
  const records = compress === undefined ? plain : compress(plain);
  const head = Buffer.alloc(61);
  head.writeBigInt64BE(BigInt(first), 0);
  head.writeInt32BE(49 + records.length, 8);
  head.writeInt8(2, 16);
  head.writeInt16BE(codec | (logMs === undefined ? 0 : 8) | (isTransactional ? 16 : 0) | (isControl ? 32 : 0), 21);
  head.writeInt32BE(messages.length - 1, 23);
  head.writeBigInt64BE(BigInt(firstMs), 27);
  head.writeBigInt64BE(BigInt(logMs ?? firstMs), 35);
  head.writeBigInt64BE(producer, 43);
  head.writeInt32BE(options.count ?? messages.length, 57);
  const all = Buffer.concat([head, records]);
  all.writeUInt32BE(crc32c(all.subarray(21)), 17);
  return all;
}

const read = (bytes: Buffer, options: Partial<BatchesToRead> = {}) =>
  readRecordBatches(bytes, { place: { topic: 'topic', name: '0' }, from: 0, aborted: [], checks: true, ...options });
const text = (bytes: Uint8Array | null | undefined): string | null =>
  bytes === null || bytes === undefined ? null : Buffer.from(bytes).toString();
const valuesOf = (bytes: Buffer, options: Partial<BatchesToRead> = {}): readonly (string | null)[] =>
  recordsOf(read(bytes, options).blocks).map(({ values }) => text(values[0]));

/** Snappy as the Java client frames it: magic, two versions, and blocks of a size and that many bytes. */
function javaSnappy(bytes: Buffer): Buffer {
  const blocks = [bytes.subarray(0, 50), bytes.subarray(50)].flatMap((block) => {
    const compressed = compressSync(block);
    const size = Buffer.alloc(4);
    size.writeInt32BE(compressed.length);
    return [size, compressed];
  });
  return Buffer.concat([Buffer.from('82534e41505059000000000100000001', 'hex'), ...blocks]);
}

batches('the checksum is that of Castagnoli: its published check value, and that of 32 zeros (RFC 3720)', () => {
  assert.is(crc32c(Buffer.from('123456789')), 0xe3069283);
  assert.is(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  assert.is(crc32c(Buffer.alloc(32, 255)), 0x62a8ab43);
});

batches('offset, time, key, value and headers of each message', () => {
  const written: readonly Written[] = [
    {
      value: 'a',
      key: 'k',
      ms: 5,
      headers: [
        ['h', '1'],
        ['h', null],
      ],
    },
    { value: null, key: '', ms: -700 },
    { value: '', ms: 2 ** 40 },
    { value: 'ä'.repeat(100) },
  ];
  const { blocks, next } = read(batch(written, { first: 7_000_000_000 }));
  assert.is(next, 7_000_000_004);
  assert.equal(
    recordsOf(blocks).map(({ offset, timestampMs, key, values, headers }) => [
      ...[offset, timestampMs, text(key), text(values[0])],
      headers.map(([name, value]) => `${name}=${text(value)}`).join(),
    ]),
    [
      ['7000000000', 1005, 'k', 'a', 'h=1,h=null'],
      ['7000000001', 300, '', null, ''],
      ['7000000002', 1000 + 2 ** 40, null, '', ''],
      ['7000000003', 1000, null, 'ä'.repeat(100), ''],
    ],
  );
});

batches('the time of the log is that of all messages of a batch that has it', () => {
  const { blocks } = read(
    batch(
      [
        { value: 'a', ms: 5 },
        { value: 'b', ms: 9 },
      ],
      { logMs: 4321 },
    ),
  );
  assert.equal(
    recordsOf(blocks).map(({ timestampMs }) => timestampMs),
    [4321, 4321],
  );
});

batches('messages before the offset asked for are left out, and a batch that is cut off', () => {
  const both = Buffer.concat([batch([{ value: 'a' }, { value: 'b' }]), batch([{ value: 'c' }, { value: 'd' }], { first: 2 })]);
  assert.equal(valuesOf(both, { from: 1 }), ['b', 'c', 'd']);
  for (let cut = 1; cut < 60; cut++) {
    const { blocks, next } = read(both.subarray(0, both.length - cut));
    assert.equal([recordsOf(blocks).length, next], [2, 2]);
  }
});

const CODECS: readonly (readonly [name: string, codec: number, compress: (bytes: Buffer) => Uint8Array])[] = [
  ['gzip', 1, (bytes) => gzipSync(bytes)],
  ['snappy', 2, (bytes) => compressSync(bytes)],
  ['snappy in blocks', 2, javaSnappy],
  ['zstd', 4, (bytes) => compressZstd(bytes)],
];
for (const [name, codec, compress] of CODECS) {
  batches(`${name}: messages of one byte and of none`, () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({ value: at % 2 === 0 ? 'x' : null }));
    assert.equal(
      valuesOf(batch(many, { codec, compress })),
      many.map(({ value }) => value),
    );
  });

  batches(`${name}: damaged bytes are refused by the offset of their batch, whichever of them it is`, () => {
    const good = batch(
      Array.from({ length: 40 }, (_, at) => ({ value: `value ${at}` })),
      { codec, compress, first: 90 },
    );
    for (let at = 61; at < good.length; at += 7) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 0x55;
      assert.throws(() => read(bad), /partition 0 of topic topic: the batch at offset 90 is damaged: its checksum differs/);
      // Without checksums it is refused or read, but nothing else happens.
      try {
        read(bad, { checks: false });
      } catch (error) {
        assert.match(String(error), /the batch at offset 90 is damaged/);
      }
    }
  });
}

batches('a compressed batch may have more messages than bytes', () => {
  const bytes = batch(
    Array.from({ length: 50_000 }, () => ({ value: null })),
    { codec: 4, compress: (plain) => compressZstd(plain) },
  );
  assert.ok(bytes.length < 50_000, String(bytes.length));
  assert.is(recordsOf(read(bytes).blocks).length, 50_000);
});

batches('a compression that Kafka does not name is refused', () => {
  assert.throws(() => read(batch([{ value: 'a' }], { codec: 6 })), /compressed by number 6/);
});

batches('a count of more messages than its bytes hold is refused before room is made for them', () => {
  assert.throws(() => read(batch([{ value: 'a' }], { count: 2 ** 31 - 1 })), /it has more messages than fit into its bytes/);
  const compressed = { codec: 1, compress: (bytes: Buffer) => gzipSync(bytes), count: 3 };
  assert.throws(() => read(batch([{ value: 'a' }, { value: 'b' }], compressed)), /is damaged/);
});

batches('aborted transactions are left out until the marker of their producer, those of others stay', () => {
  const of = (producer: bigint, first: number, value: string): Buffer => batch([{ value }], { producer, first, isTransactional: true });
  const marker = (producer: bigint, first: number): Buffer =>
    batch([{ value: 'marker', key: 'marker' }], { producer, first, isTransactional: true, isControl: true });
  const log = Buffer.concat([
    ...[of(1n, 0, 'lost'), of(2n, 1, 'kept'), of(1n, 2, 'lost'), marker(2n, 3), marker(1n, 4)],
    ...[of(1n, 5, 'kept too'), batch([{ value: 'plain' }], { first: 6, producer: 1n }), marker(1n, 7)],
  ]);
  const aborted = [{ producerId: 1n, firstOffset: 0 }];
  assert.equal(valuesOf(log, { aborted }), ['kept', 'kept too', 'plain']);
  assert.is(read(log, { aborted }).next, 8);
  assert.equal(valuesOf(log), ['lost', 'kept', 'lost', 'kept too', 'plain']);
});

batches('a batch that compaction has emptied moves on, and one of before Kafka 0.11 is refused', () => {
  const emptied = batch([{ value: 'a' }, { value: 'b' }], { count: 0 });
  assert.equal(read(emptied), { blocks: [], next: 2, sizeBytes: emptied.length });
  const old = batch([{ value: 'a' }]);
  old[16] = 1;
  assert.throws(() => read(old), /before Kafka 0\.11/);
});

batches('the messages before an offset', () => {
  const [block] = read(batch([{ value: 'a' }, { value: 'b' }, { value: 'c' }], { first: 10 })).blocks;
  assert.ok(block !== undefined);
  for (const [end, expected] of [
    [0, ''],
    [10, ''],
    [12, 'ab'],
    [13, 'abc'],
    [99, 'abc'],
  ] as const)
    assert.is(
      recordsOf([before(block, end)])
        .map(({ values }) => text(values[0]))
        .join(''),
      expected,
    );
});

batches('a compressed batch that fills a piece of the decompressor to the last byte is read', () => {
  let value = 'x'.repeat(131_072);
  while (recordBytes({ value }, 0).length > 131_072) value = value.slice(1);
  assert.is(recordBytes({ value }, 0).length, 131_072);
  assert.equal(valuesOf(batch([{ value }], { codec: 4, compress: (bytes) => compressZstd(bytes) })), [value]);
});

const three: readonly Written[] = [{ value: 'a' }, { value: 'b' }, { value: 'c' }];
/** A batch with other bytes at a place, and the checksum of these. */
function damaged(change: (bytes: Buffer) => void, written: readonly Written[] = three): Buffer {
  const bytes = batch(written);
  change(bytes);
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17);
  return bytes;
}
const DAMAGED: readonly (readonly [what: string, bytes: Buffer, message: RegExp])[] = [
  ['a count below the records', damaged((bytes) => bytes.writeInt32BE(2, 57)), /bytes stand behind its last record/],
  ['a negative count', damaged((bytes) => bytes.writeInt32BE(-1, 57)), /fewer than no messages/],
  ['offsets beyond the last', damaged((bytes) => bytes.writeInt32BE(1, 23)), /the offset of a record is not one of its batch/],
  // The last byte of a record without headers is their count.
  ['more headers than there are bytes', damaged((bytes) => bytes.writeUInt8(2, bytes.length - 1)), /not as long as its fields/],
  ['fewer than no headers', damaged((bytes) => bytes.writeUInt8(1, bytes.length - 1)), /fewer than no headers/],
];
for (const [what, bytes, message] of DAMAGED)
  batches(`${what} is damage, whether or not checksums are compared`, () => {
    for (const checks of [true, false]) assert.throws(() => read(bytes, { checks }), message);
  });

batches('batches behind 32 MiB of decompressed ones are left to the next answer', () => {
  const large = batch([{ value: 'x'.repeat(2 ** 24) }], { codec: 4, compress: (bytes) => compressZstd(bytes) });
  const all = Buffer.concat(
    [0, 1, 2, 3].map((first) => {
      const bytes = Buffer.from(large);
      bytes.writeBigInt64BE(BigInt(first), 0);
      return bytes;
    }),
  );
  const { blocks, next, sizeBytes } = read(all);
  assert.is(blocks.length, 2);
  assert.is(next, 2);
  assert.ok(sizeBytes > 2 ** 25);
  assert.is(read(all, { from: 2 }).next, 4);
});

batches.run();
