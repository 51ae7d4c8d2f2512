import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { parseInputFormat } from '../../src/ingestion/format/input-format.js';
import { compressInto, frameBytesMax } from '../../src/storage/codecs/zstd.js';
import { valuesOfFile } from './blocks.js';

const require = createRequire(import.meta.url);
const { streams } = require('avsc') as typeof import('avsc');
const { compressSync } = require('snappy') as typeof import('snappy');

const ROW = {
  type: 'record',
  name: 'Row',
  namespace: 'of.rows',
  fields: [
    { name: 't', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'whole', type: 'int' },
    { name: 'half', type: 'double' },
    { name: 'yes', type: 'boolean' },
    { name: 'text', type: ['null', 'string'] },
    { name: 'raw', type: 'bytes' },
    { name: 'four', type: { type: 'fixed', name: 'Four', size: 4 } },
    { name: 'suit', type: { type: 'enum', name: 'Suit', symbols: ['HEARTS', 'SPADES'] } },
    { name: 'list', type: { type: 'array', items: ['null', 'int'] } },
    { name: 'map', type: { type: 'map', values: 'string' } },
    { name: 'inner', type: { type: 'record', name: 'Inner', fields: [{ name: 'constructor', type: 'string' }] } },
    { name: 'either', type: ['null', 'int', 'string', 'Inner', { type: 'array', items: 'int' }] },
  ],
} as const;

const row = (number: number, either: unknown = null): Readonly<Record<string, unknown>> => ({
  t: 1_000_000 + number,
  whole: -number,
  half: number / 2,
  yes: number % 2 === 0,
  text: number % 3 === 0 ? null : `text ${number}`,
  raw: Buffer.from([0xc3, 0xa9]),
  four: Buffer.from('abcd'),
  suit: 'SPADES',
  list: [number, null, -1],
  map: { constructor: 'a', b: `${number}` },
  inner: { constructor: `c${number}` },
  either,
});

/** The value of each column, as JSON would hold it. */
const expected = (number: number, either: unknown = null): Readonly<Record<string, unknown>> => ({
  ...row(number),
  raw: 'w6k=',
  four: 'YWJjZA==',
  either,
});

type Codecs = Readonly<Record<string, (bytes: Buffer, done: (error: null, bytes: Buffer) => void) => void>>;
const CODECS: Codecs = {
  null: (bytes, done) => done(null, bytes),
  deflate: (bytes, done) => done(null, deflateRawSync(bytes)),
  snappy(bytes, done) {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(bytes));
    done(null, Buffer.concat([compressSync(bytes), sum]));
  },
  zstandard(bytes, done) {
    const frame = Buffer.alloc(frameBytesMax(bytes.length));
    done(null, frame.subarray(0, compressInto(frame, bytes)));
  },
  strange: (bytes, done) => done(null, bytes),
};

async function file(schema: unknown, rows: readonly unknown[], codec = 'null'): Promise<Buffer> {
  const encoder = new streams.BlockEncoder(schema as never, { codec, codecs: CODECS as never, blockSize: 4096 });
  for (const each of rows) encoder.write(each);
  encoder.end();
  const chunks: Buffer[] = [];
  for await (const chunk of encoder) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes before the blocks of a file; the last 16 end every block. */
async function header(schema: unknown, row: unknown): Promise<Buffer> {
  const bytes = await file(schema, [row]);
  return bytes.subarray(0, bytes.indexOf(bytes.subarray(-16)) + 16);
}

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-avro-'));

const read = (bytes: Buffer, options: object = {}): Promise<Record<string, unknown>[]> =>
  valuesOfFile(bytes, { type: 'avro_ocf', ...options }, { name: 'a.avro', workDirectory: folder, pieceBytes: 997 });

const avro = suite('avro');
avro.after(() => rmSync(folder, { recursive: true, force: true }));

for (const codec of ['null', 'deflate', 'snappy', 'zstandard']) {
  avro(`rows of every type, codec ${codec}`, async () => {
    const rows = Array.from({ length: 1000 }, (_, number) => row(number));
    assert.equal(
      await read(await file(ROW, rows, codec)),
      rows.map((_, number) => expected(number)),
    );
  });
}

avro('bytes as strings', async () => {
  const [first] = await read(await file(ROW, [row(0)]), { binaryAsString: true });
  assert.is(first?.['raw'], 'é');
  assert.is(first?.['four'], 'abcd');
});

const LONGS = { type: 'record', name: 'L', fields: [{ name: 'n', type: 'bytes' }] };
avro('longs beyond 2^53 keep their digits', async () => {
  // The library writes numbers only, so the bytes of the longs are written as Avro defines them, and the schema said afterwards.
  const zigzag = (value: bigint): Buffer => {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    return Buffer.from([...bytes, Number(rest)]);
  };
  const values = [0n, -1n, 9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n)];
  const longs = { type: 'record', name: 'L', fields: [{ name: 'n', type: 'long' }] };
  const head = await header(longs, { n: 1 });
  const data = Buffer.concat(values.map(zigzag));
  const bytes = Buffer.concat([head, zigzag(BigInt(values.length)), zigzag(BigInt(data.length)), data, head.subarray(-16)]);
  assert.equal(
    (await read(bytes)).map(({ n }) => n),
    [0, -1, ...values.slice(2)],
  );
  // Doubles are rounded.
  const doubles = { type: 'record', name: 'L', fields: [{ name: 'n', type: 'double' }] };
  assert.equal(
    (await read(bytes, { schema: doubles })).map(({ n }) => n),
    values.map(Number),
  );
});

const EITHER = [
  { value: null, plain: null, typed: null },
  { value: { int: 5 }, plain: 5, typed: { int: 5 } },
  { value: { string: 'five' }, plain: 'five', typed: { string: 'five' } },
  { value: { 'of.rows.Inner': { constructor: 'x' } }, plain: { constructor: 'x' }, typed: { Inner: { constructor: 'x' } } },
  { value: { array: [1, 2] }, plain: [1, 2], typed: { array: [1, 2] } },
];
for (const { value, plain: unwrapped, typed } of EITHER) {
  avro(`a union of several types: ${JSON.stringify(value)}`, async () => {
    const wrapped = { ...row(1, value), text: { string: 'text 1' }, list: [{ int: 1 }, null, { int: -1 }] };
    const schema = (require('avsc') as typeof import('avsc')).Type.forSchema(ROW as never, { wrapUnions: true });
    const bytes = await file(schema, [wrapped]);
    assert.equal((await read(bytes))[0], expected(1, unwrapped));
    const fields = [
      { type: 'path', name: 'at', expr: '$.either' },
      { type: 'path', name: 'text2', expr: '$.text' },
      { type: 'root', name: 'either' },
    ];
    const [extracted] = await read(bytes, { extractUnionsByType: true, flattenSpec: { useFieldDiscovery: false, fields } });
    assert.equal(extracted, { at: typed, text2: 'text 1', either: unwrapped });
  });
}

avro('paths into records, maps and lists', async () => {
  const fields = [
    { type: 'path', name: 'a', expr: '$.map.b' },
    { type: 'path', name: 'b', expr: '$.list[0]' },
    { type: 'path', name: 'c', expr: "$.inner['constructor']" },
  ];
  assert.equal(await read(await file(ROW, [row(7)]), { flattenSpec: { useFieldDiscovery: false, fields } }), [{ a: '7', b: 7, c: 'c7' }]);
});

avro('a reader schema leaves fields out, adds defaults and widens numbers', async () => {
  const schema = {
    type: 'record',
    name: 'Row',
    namespace: 'of.rows',
    fields: [
      { name: 'whole', type: 'long' },
      { name: 'more', type: 'string', default: 'none' },
    ],
  };
  assert.equal(await read(await file(ROW, [row(3)]), { schema }), [{ whole: -3, more: 'none' }]);
});

const damages: readonly {
  readonly name: string;
  readonly bytes: () => Promise<Buffer>;
  readonly options?: object;
  readonly message: RegExp;
}[] = [
  {
    name: 'another format',
    bytes: async () => Buffer.from('PAR1 and more'),
    message: /a\.avro cannot be read: it is not an Avro container file: it begins with "PAR1"/,
  },
  {
    name: 'cut in a block',
    bytes: async () => (await file(ROW, [row(1)])).subarray(0, -20),
    message: /the block at byte \d+: the file ends too early/,
  },
  {
    name: 'cut in its header',
    bytes: async () => (await file(ROW, [row(1)])).subarray(0, 30),
    message: /a\.avro cannot be read: the file ends too early/,
  },
  { name: 'another mark', bytes: async () => flipped(await file(ROW, [row(1)]), -1), message: /does not end with the mark of the file/ },
  {
    name: 'a checksum that differs',
    bytes: async () => flipped(await file(ROW, [row(1)], 'snappy'), -17),
    message: /its checksum differs/,
  },
  {
    name: 'a codec that is not read',
    bytes: () => file(ROW, [row(1)], 'strange'),
    message: /its codec is "strange"; accepted: null, deflate, snappy/,
  },
  { name: 'no record', bytes: () => file('long', [1]), message: /its schema cannot be read: the schema is that of a (abstract:)?long/ },
  {
    name: 'rows without bytes',
    bytes: () => file({ type: 'record', name: 'R', fields: [{ name: 'a', type: 'null' }] }, [{ a: null }]),
    message: /its rows have no bytes/,
  },
  {
    name: 'lists of items without bytes',
    bytes: () => file({ type: 'record', name: 'R', fields: [{ name: 'a', type: { type: 'array', items: 'null' } }] }, [{ a: [null] }]),
    message: /lists whose items have no bytes/,
  },
  {
    name: 'a list of more items than there are bytes',
    // The length of the bytes becomes the count of a list: 64 MiB of nothing.
    bytes: async () => {
      const list = { type: 'record', name: 'L', fields: [{ name: 'n', type: { type: 'array', items: 'int' } }] };
      const head = await header(list, { n: [] });
      return Buffer.concat([head, Buffer.from([2, 8, 0x80, 0x80, 0x80, 0x40]), head.subarray(-16)]);
    },
    message: /the block at byte \d+: a count or length of 67108864 is more than there are bytes/,
  },
  {
    name: 'a key that objects lose',
    bytes: () => file(ROW, [{ ...row(1), map: JSON.parse('{"__proto__": "x"}') }]),
    message: /the key "__proto__" in a map/,
  },
  {
    name: 'a row that is not all',
    bytes: async () => changed(await file(LONGS, [{ n: Buffer.from([1, 2, 3, 4]) }]), -21, 90),
    message: /more than there are bytes|behind the end/,
  },
  {
    name: 'a reader schema that does not fit',
    bytes: () => file(ROW, [row(1)]),
    options: { schema: { type: 'record', name: 'Row', namespace: 'of.rows', fields: [{ name: 'absent', type: 'int' }] } },
    message: /absent/,
  },
];
for (const { name, bytes, options, message } of damages) {
  avro(`refused: ${name}`, async () => {
    try {
      await read(await bytes(), options);
    } catch (error) {
      assert.instance(error, ServiceError, String(error));
      assert.is((error as ServiceError).code, 'input_unreadable');
      assert.match((error as ServiceError).message, message);
      return;
    }
    assert.unreachable();
  });
}

const options: readonly { readonly name: string; readonly options: object; readonly message: RegExp }[] = [
  { name: 'an unknown key', options: { binaryAsStrin: true }, message: /inputFormat: unknown key "binaryAsStrin"/ },
  {
    name: 'a schema that is none',
    options: { schema: { type: 'recordd' } },
    message: /inputFormat\.schema: expected the Avro schema of a record/,
  },
];
for (const { name, options: given, message } of options)
  avro(`refused: ${name}`, () => {
    assert.throws(
      () =>
        parseInputFormat(new ObjectReader({ type: 'avro_ocf', ...given }, 'inputFormat', readContextOf('input_invalid', 'inputFormat'))),
      message,
    );
  });

function changed(bytes: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length + at] = byte;
  return copy;
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const place = at < 0 ? copy.length + at : at;
  copy[place] = (copy[place] ?? 0) ^ 1;
  return copy;
}

avro.run();
