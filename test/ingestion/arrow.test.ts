import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { compressInto, frameBytesMax } from '../../src/storage/codecs/zstd.js';
import { valuesOfFile } from './blocks.js';

const require = createRequire(import.meta.url);
const arrow = require('apache-arrow') as typeof import('apache-arrow');
const { compressFrameSync } = require('lz4-napi') as typeof import('lz4-napi');

/** Columns of every type that the library writes: the values given, and the plain values they are read as. */
const COLUMNS: readonly {
  readonly name: string;
  readonly type: InstanceType<typeof arrow.DataType>;
  readonly given: readonly unknown[];
  readonly read?: readonly unknown[];
}[] = [
  { name: 'int', type: new arrow.Int32(), given: [1, null, -3] },
  { name: 'long', type: new arrow.Int64(), given: [5n, null, 9_007_199_254_740_993n], read: [5, null, 9_007_199_254_740_993n] },
  { name: 'unsigned', type: new arrow.Uint64(), given: [5n, 0n, null], read: [5, 0, null] },
  { name: 'double', type: new arrow.Float64(), given: [0.5, null, -2.25] },
  { name: 'float', type: new arrow.Float32(), given: [0.5, null, -2.25] },
  { name: 'yes', type: new arrow.Bool(), given: [true, null, false] },
  { name: 'text', type: new arrow.Utf8(), given: ['a', null, 'ü'] },
  { name: 'word', type: new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), given: ['x', null, 'x'] },
  { name: 'raw', type: new arrow.Binary(), given: [Buffer.from('abc'), null, Buffer.from('')], read: ['YWJj', null, ''] },
  { name: 'day', type: new arrow.DateDay(), given: [new Date(86_400_000), null, new Date(0)], read: [86_400_000, null, 0] },
  { name: 'seconds', type: new arrow.TimestampSecond(), given: [1000, null, -1000], read: [1000, null, -1000] },
  { name: 'millis', type: new arrow.TimestampMillisecond(), given: [1234, null, -1], read: [1234, null, -1] },
  { name: 'list', type: new arrow.List(new arrow.Field('item', new arrow.Int32(), true)), given: [[1, null], null, []] },
  {
    name: 'record',
    type: new arrow.Struct([new arrow.Field('constructor', new arrow.Utf8(), true), new arrow.Field('n', new arrow.Int64(), true)]),
    given: [{ constructor: 'c', n: 1n }, null, { constructor: null, n: 2n }],
    read: [{ constructor: 'c', n: 1 }, null, { constructor: null, n: 2 }],
  },
  { name: 'constructor', type: new arrow.Int32(), given: [7, 8, 9] },
];

function table(columns: typeof COLUMNS = COLUMNS): InstanceType<typeof arrow.Table> {
  const fields = columns.map(({ name, type }) => new arrow.Field(name, type, true));
  const schema = new arrow.Schema(fields);
  const children = columns.map(({ type, given }) => arrow.vectorFromArray(given as never, type as never).data[0]);
  const data = arrow.makeData({
    type: new arrow.Struct(fields),
    length: columns[0]?.given.length ?? 0,
    nullCount: 0,
    children: children as never,
  });
  return new arrow.Table(schema, new arrow.RecordBatch(schema, data as never));
}

const bytesOf = (kind: 'file' | 'stream', columns = COLUMNS, compression: number | null = null): Buffer => {
  const writer = (
    kind === 'file'
      ? new arrow.RecordBatchFileWriter({ compressionType: compression })
      : new arrow.RecordBatchStreamWriter({ compressionType: compression })
  ) as InstanceType<typeof arrow.RecordBatchStreamWriter>;
  writer.writeAll(table(columns) as never);
  return Buffer.from(writer.finish().toUint8Array(true));
};

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-arrow-'));

const read = (bytes: Buffer, options: object = {}): Promise<Record<string, unknown>[]> =>
  valuesOfFile(bytes, { type: 'arrow', ...options }, { name: 'a.arrow', workDirectory: folder, pieceBytes: 97 });

const suiteOf = suite('arrow');
suiteOf.after(() => rmSync(folder, { recursive: true, force: true }));

const expected = [0, 1, 2].map((row) =>
  Object.fromEntries(COLUMNS.map(({ name, given, read: plainValues = given }) => [name, plainValues[row]])),
);
for (const kind of ['file', 'stream'] as const) {
  suiteOf(`a ${kind} of every type`, async () => assert.equal(await read(bytesOf(kind)), expected));
}

const ENCODERS = {
  zstd: {
    type: arrow.CompressionType.ZSTD,
    encode(bytes: Uint8Array): Uint8Array {
      const frame = Buffer.alloc(frameBytesMax(bytes.length));
      return frame.subarray(0, compressInto(frame, bytes));
    },
  },
  lz4: { type: arrow.CompressionType.LZ4_FRAME, encode: (bytes: Uint8Array): Uint8Array => compressFrameSync(Buffer.from(bytes)) },
};
for (const [name, { type, encode }] of Object.entries(ENCODERS))
  suiteOf(`buffers compressed by ${name}`, async () => {
    // The reader has registered its decoders by now.
    await read(bytesOf('stream'));
    arrow.compressionRegistry.set(type, { ...arrow.compressionRegistry.get(type), encode });
    for (const kind of ['file', 'stream'] as const) assert.equal(await read(bytesOf(kind, COLUMNS, type)), expected);
  });

suiteOf('paths', async () => {
  const fields = [{ type: 'path', name: 'at', expr: "$.record['constructor']" }];
  assert.equal(await read(bytesOf('file'), { flattenSpec: { useFieldDiscovery: false, fields } }), [
    { at: 'c' },
    { at: null },
    { at: null },
  ]);
});
suiteOf('bytes as strings', async () => {
  assert.equal(
    (await read(bytesOf('file'), { binaryAsString: true })).map(({ raw }) => raw),
    ['abc', null, ''],
  );
});

suiteOf('nanoseconds belong to the millisecond that they are in', async () => {
  const type = new arrow.TimestampNanosecond();
  const values = new BigInt64Array([1_442_016_000_123_999_999n, 0n, -1n, -1_000_000n]);
  const schema = new arrow.Schema([new arrow.Field('at', type, true)]);
  const nullBitmap = new Uint8Array([0b1101]);
  const column = arrow.makeData({ type, length: 4, nullCount: 1, nullBitmap, data: values });
  const record = arrow.makeData({ type: new arrow.Struct(schema.fields), length: 4, nullCount: 0, children: [column] });
  const bytes = arrow.tableToIPC(new arrow.Table(schema, new arrow.RecordBatch(schema, record as never)), 'stream');
  assert.equal(
    (await read(Buffer.from(bytes))).map(({ at }) => at),
    [1_442_016_000_123, null, -1, -1],
  );
});

suiteOf('a file that is cut off is refused, wherever it is', async () => {
  const whole = bytesOf('file', COLUMNS.slice(0, 2));
  for (let length = 10; length < whole.length; length++) {
    const rows = await read(whole.subarray(0, length)).catch((error: unknown) => error);
    assert.instance(rows, ServiceError, `${length} of ${whole.length} bytes`);
  }
});

suiteOf('a stream that is cut off is refused, also between its messages; and so is one behind another', async () => {
  const [column = []] = [COLUMNS.slice(0, 2)];
  const batches = [table(column), table(column), table(column)];
  const whole = Buffer.from(
    arrow.tableToIPC(
      batches.reduce((all, each) => all.concat(each)),
      'stream',
    ),
  );
  assert.is((await read(whole)).length, 9);
  for (let length = 10; length < whole.length; length++) {
    const rows = await read(whole.subarray(0, length)).catch((error: unknown) => error);
    assert.instance(rows, ServiceError, `${length} of ${whole.length} bytes`);
  }
  const twice = await read(Buffer.concat([whole, whole])).catch((error: unknown) => error);
  assert.instance(twice, ServiceError);
});

const refused: readonly { readonly name: string; readonly bytes: () => Buffer; readonly message: RegExp }[] = [
  { name: 'another format', bytes: () => Buffer.from('{"a": 1}\n'.repeat(100)), message: /a\.arrow cannot be read as Arrow/ },
  { name: 'a file that is cut off', bytes: () => bytesOf('file').subarray(0, 900), message: /a\.arrow cannot be read as Arrow/ },
  { name: 'a stream that is cut off', bytes: () => bytesOf('stream').subarray(0, -300), message: /a\.arrow cannot be read as Arrow/ },
  {
    name: 'a column twice',
    bytes: () => bytesOf('stream', [...COLUMNS.slice(0, 1), ...COLUMNS.slice(0, 1)]),
    message: /names the column "int" twice/,
  },
  {
    name: 'a type without plain values',
    bytes: () => bytesOf('stream', [{ name: 'span', type: new arrow.IntervalYearMonth(), given: [new Int32Array([1, 2])] }]),
    message: /column "span" is of type Interval/,
  },
];
for (const { name, bytes, message } of refused)
  suiteOf(`refused: ${name}`, async () => {
    try {
      await read(bytes());
    } catch (error) {
      assert.instance(error, ServiceError, String(error));
      assert.is((error as ServiceError).code, 'input_unreadable');
      assert.match((error as ServiceError).message, message);
      return;
    }
    assert.unreachable();
  });

suiteOf.run();
