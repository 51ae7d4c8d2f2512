import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { decodedOnThread } from '../../src/ingestion/codec/codec-thread.js';
import { Xxh32, xxh32 } from '../../src/ingestion/codec/xxh32.js';
import { filesOf } from '../../src/ingestion/source/archive.js';
import { contentOf } from '../../src/ingestion/source/decompress.js';
import type { InputEntity } from '../../src/ingestion/source/source-kind.js';
import { compressInto, frameBytesMax } from '../../src/storage/codecs/zstd.js';
import { DECOMPRESSION } from './blocks.js';

const require = createRequire(import.meta.url);
const { compressFrameSync } = require('lz4-napi') as typeof import('lz4-napi');
const { Compressor } = require('snappy') as typeof import('snappy');

/** Content of the files of test/fixtures/compressed, which bzip2, xz and lz4 made. */
const ROWS = Buffer.from(`${Array.from({ length: 40_000 }, (_, row) => `row ${row % 7}`).join('\n')}\n`);
const fixture = (name: string): Buffer => readFileSync(path.join('test', 'fixtures', 'compressed', name));

function zstd(bytes: Uint8Array): Buffer {
  const frame = Buffer.alloc(frameBytesMax(bytes.length));
  return frame.subarray(0, compressInto(frame, bytes));
}

async function snappy(bytes: Uint8Array): Promise<Buffer> {
  const compressor = new Compressor();
  return Buffer.concat([compressor.update(bytes), await compressor.finish()]);
}

interface Entry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly method?: number;
  readonly flags?: number;
  /** Instead of the true ones. */
  readonly size?: number;
  readonly crc?: number;
}

/** A zip archive by its specification (APPNOTE 6.3). */
function zip(entries: readonly Entry[]): Buffer {
  const files: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, method = 8, flags = 0, size = bytes.length, crc = crc32(bytes) } of entries) {
    const data = method === 8 ? deflateRawSync(bytes) : Buffer.from(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    list.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name)]));
    files.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(Buffer.concat(list).length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, ...list, Buffer.from('PK\x05\x06'), end]);
}

const compressed = suite<{ folder: string }>('compressed input');
compressed.before((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-compressed-'));
});
compressed.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const LIMITS = { maxColumns: 100, maxRowBytes: 1 << 20, decompression: DECOMPRESSION };

async function read(
  folder: string,
  { name, bytes, isLocal = false, decompression = DECOMPRESSION }: Input,
): Promise<{ readonly names: string[]; readonly contents: Buffer[]; readonly bytesRead: number }> {
  const file = path.join(folder, name);
  if (isLocal) writeFileSync(file, bytes);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 999) }, (_, at) => bytes.subarray(at * 999, at * 999 + 999));
  const input: InputEntity = {
    name,
    sizeBytes: bytes.length,
    localFile: isLocal ? file : null,
    open: async () => Readable.from(pieces, { objectMode: true }),
  };
  const names: string[] = [];
  const contents: Buffer[] = [];
  let bytesRead = 0;
  const reading = { workDirectory: folder, inputLimits: { ...LIMITS, decompression }, read: (count: number) => (bytesRead += count) };
  for await (const stored of filesOf(input, reading)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of contentOf(stored.entity, { ...reading, read: stored.read })) chunks.push(Buffer.from(chunk));
    names.push(stored.entity.name);
    contents.push(Buffer.concat(chunks));
  }
  return { names, contents, bytesRead };
}

interface Input {
  readonly name: string;
  readonly bytes: Buffer;
  readonly isLocal?: boolean;
  readonly decompression?: typeof DECOMPRESSION;
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const readable: readonly { readonly name: string; readonly bytes: () => Buffer | Promise<Buffer>; readonly content?: Buffer }[] = [
  { name: 'rows.gz', bytes: () => gzipSync(ROWS) },
  { name: 'rows.zst', bytes: () => zstd(ROWS) },
  { name: 'bzip2 of several blocks, by content alone', bytes: () => fixture('blocks.bz2') },
  { name: 'several streams.bz2', bytes: () => fixture('streams.bz2') },
  { name: 'nothing.bz2', bytes: () => Buffer.from('QlpoORdyRThQkAAAAAA=', 'base64'), content: Buffer.alloc(0) },
  { name: 'checksums of 64 bits.xz', bytes: () => fixture('crc64.xz') },
  { name: 'several streams.xz', bytes: () => fixture('streams.xz') },
  { name: 'blocks that refer to those before, a size and a checksum of the content.lz4', bytes: () => fixture('linked.lz4') },
  { name: 'several frames, of blocks with checksums and without any.lz4', bytes: () => fixture('streams.lz4') },
  { name: 'a frame to pass over.lz4', bytes: () => Buffer.concat([compressFrameSync(ROWS), Buffer.from('5a2a4d1803000000aabbcc', 'hex')]) },
  { name: 'rows.sz', bytes: () => snappy(ROWS) },
  { name: 'empty.csv', bytes: () => Buffer.alloc(0), content: Buffer.alloc(0) },
  { name: 'begins like bzip2.csv', bytes: () => Buffer.from('BZh9,a header'), content: Buffer.from('BZh9,a header') },
];
for (const [text, checksum] of [
  ['', 0x02cc5d05],
  ['a', 0x550d7456],
  ['abc', 0x32d153ff],
  ['Nobody inspects the spammish repetition', 0xe2293b2f],
] as const)
  compressed(`XXH32 of "${text}"`, () => {
    assert.is(xxh32(Buffer.from(text)), checksum);
    const pieces = new Xxh32();
    for (const byte of Buffer.from(text)) pieces.update(Buffer.from([byte]));
    assert.is(pieces.digest(), checksum);
  });

for (const { name, bytes, content = ROWS } of readable) {
  for (const isLocal of [false, true])
    compressed(`${name}${isLocal ? ', from disk' : ''}`, async ({ folder }) => {
      const input = await bytes();
      const { contents, bytesRead } = await read(folder, { name, bytes: input, isLocal });
      assert.equal(contents.map(digest), [digest(content)]);
      assert.is(bytesRead, input.length);
    });
}

const flipped = (bytes: Buffer, at = bytes.length >> 1): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x10;
  return copy;
};
const NOISE = Buffer.concat(Array.from({ length: 5000 }, (_, at) => createHash('sha256').update(`${at}`).digest()));
const damages: readonly { readonly name: string; readonly bytes: () => Buffer | Promise<Buffer>; readonly message: RegExp }[] = [
  {
    name: 'a.gz',
    bytes: () => flipped(gzipSync(NOISE)),
    message: /a\.gz is damaged: its gzip data cannot be decompressed, at or before byte \d+/,
  },
  { name: 'b.bz2', bytes: () => flipped(fixture('blocks.bz2')), message: /b\.bz2 is damaged: its bzip2 data .* at or before byte \d+/ },
  { name: 'c.bz2', bytes: () => fixture('blocks.bz2').subarray(0, -9), message: /c\.bz2 is damaged: .*the file ends too early/ },
  { name: 'd.bz2', bytes: () => Buffer.concat([fixture('blocks.bz2'), Buffer.from('more')]), message: /d\.bz2 is damaged/ },
  { name: 'e.xz', bytes: () => flipped(fixture('crc64.xz')), message: /e\.xz is damaged: its xz data .* at or before byte \d+/ },
  { name: 'f.xz', bytes: () => fixture('crc64.xz').subarray(0, -9), message: /f\.xz is damaged: .*ends too early/ },
  { name: 'g.xz', bytes: () => fixture('sha256.xz'), message: /CRC32 or CRC64 is/ },
  { name: 'h.xz', bytes: () => fixture('large-dictionary.xz'), message: /its dictionary is larger than 64 MiB/ },
  { name: 'i.lz4', bytes: () => flipped(fixture('streams.lz4'), 60), message: /i\.lz4 is damaged: .*the checksum of a block differs/ },
  { name: 'j.lz4', bytes: () => flipped(fixture('linked.lz4'), 5), message: /j\.lz4 is damaged: .*header/ },
  {
    name: 'k.lz4',
    bytes: () => flipped(fixture('linked.lz4'), fixture('linked.lz4').length - 1),
    message: /the checksum of the content differs/,
  },
  { name: 'l.lz4', bytes: () => fixture('linked.lz4').subarray(0, 200), message: /l\.lz4 is damaged: .*ends too early/ },
  { name: 'm.sz', bytes: async () => flipped(await snappy(NOISE)), message: /m\.sz is damaged: its framed snappy data/ },
  { name: 'n.sz', bytes: async () => (await snappy(NOISE)).subarray(0, -7), message: /n\.sz is damaged/ },
  { name: 'o.xz', bytes: () => Buffer.from('text'), message: /o\.xz is named like a xz file but is not one/ },
  { name: 'p.zip', bytes: () => Buffer.from('text'), message: /p\.zip is named like a zip archive but is not one/ },
  { name: 'q.zip', bytes: () => zip([{ name: 'x', bytes: ROWS }]).subarray(0, 300), message: /q\.zip is damaged/ },
  {
    name: 'r.zip',
    bytes: () => zip([{ name: 'x', bytes: ROWS, crc: 1 }]),
    message: /r\.zip#x, at byte 0 of the archive, is damaged: its checksum/,
  },
  { name: 's.zip', bytes: () => zip([{ name: 'x', bytes: ROWS, size: 5 }]), message: /s\.zip#x, at byte 0 of the archive, is damaged/ },
  { name: 't.zip', bytes: () => zip([{ name: 'x', bytes: ROWS, flags: 1 }]), message: /t\.zip#x is encrypted/ },
  { name: 'u.zip', bytes: () => zip([{ name: 'x', bytes: ROWS, method: 12 }]), message: /u\.zip#x is compressed by method 12; accepted/ },
  {
    name: 'v.zip',
    bytes: () =>
      zip([
        { name: 'x.zip', bytes: zip([]) },
        { name: 'y.zip', bytes: zip([{ name: 'z', bytes: ROWS }]) },
      ]),
    message: /v\.zip#y\.zip is a zip archive inside an archive/,
  },
];
for (const { name, bytes, message } of damages)
  compressed(`damaged or not readable: ${name}`, async ({ folder }) => {
    for (const isLocal of [false, true])
      await fails(async () => read(folder, { name, bytes: await bytes(), isLocal }), 'input_unreadable', message);
  });

compressed(
  'each entry of a zip archive is a file, folders and what macOS adds are none, a compressed one is decompressed',
  async ({ folder }) => {
    const bytes = zip([
      { name: 'a/', bytes: Buffer.alloc(0), method: 0 },
      { name: 'a/one.csv', bytes: Buffer.from('1') },
      { name: '__MACOSX/a/._one.csv', bytes: Buffer.from('00051607', 'hex') },
      { name: 'two.csv', bytes: Buffer.from('2'), method: 0 },
      { name: 'three.csv.gz', bytes: gzipSync(ROWS), method: 0 },
    ]);
    for (const isLocal of [false, true]) {
      const { names, contents, bytesRead } = await read(folder, { name: 'archive', bytes, isLocal });
      assert.equal(names, ['archive#a/one.csv', 'archive#two.csv', 'archive#three.csv.gz']);
      assert.equal(contents.map(digest), [Buffer.from('1'), Buffer.from('2'), ROWS].map(digest));
      assert.is(bytesRead, bytes.length);
    }
  },
);

const bombs: readonly (Input & { readonly message: RegExp })[] = [
  {
    name: 'entries.zip',
    bytes: zip(Array.from({ length: 11 }, (_, at) => ({ name: `${at}`, bytes: Buffer.from('x') }))),
    decompression: { ...DECOMPRESSION, maxEntries: 10 },
    message: /entries\.zip has more entries than svc\.ingestion\.decompression\.maxEntries \(10\)/,
  },
  {
    name: 'total.zip',
    bytes: zip(Array.from({ length: 11 }, (_, at) => ({ name: `${at}`, bytes: Buffer.alloc(1000) }))),
    decompression: { ...DECOMPRESSION, maxBytes: 10_000 },
    message: /total\.zip has more content than svc\.ingestion\.decompression\.maxBytes \(10000 bytes\)/,
  },
  {
    name: 'ratio.zip',
    bytes: zip([{ name: 'x', bytes: ROWS, size: 2 ** 31 }]),
    message: /ratio\.zip becomes more than svc\.ingestion\.decompression\.maxRatio \(1000\) times/,
  },
  {
    name: 'total.bz2',
    bytes: fixture('blocks.bz2'),
    decompression: { ...DECOMPRESSION, maxBytes: 100_000 },
    message: /total\.bz2 has more content than/,
  },
];
for (const { message, ...input } of bombs)
  compressed(`a bomb: ${input.name}`, ({ folder }) => fails(() => read(folder, input), 'resource_limit', message));

compressed('a file that keeps its library busy ends with the time for one piece, here that of starting a thread', async () => {
  const chunks = Readable.from([fixture('blocks.bz2')]) as AsyncIterable<Uint8Array>;
  try {
    for await (const _ of decodedOnThread('bzip2', chunks, 1));
  } catch (error) {
    assert.match(String(error), /one piece takes longer than 0.001 s/);
    return;
  }
  assert.unreachable();
});

compressed('whoever stops reading ends the thread that decompresses', async ({ folder }) => {
  const entity = { name: 'x', sizeBytes: null, localFile: null, open: async () => Readable.from([fixture('blocks.bz2')]) };
  for await (const _ of contentOf(entity, { read: () => undefined, inputLimits: LIMITS })) break;
  assert.ok(folder);
});

async function fails(work: () => Promise<unknown>, code: string, message: RegExp): Promise<void> {
  try {
    await work();
  } catch (error) {
    assert.instance(error, ServiceError, String(error));
    assert.is((error as ServiceError).code, code);
    assert.match((error as ServiceError).message, message);
    return;
  }
  assert.unreachable();
}

compressed.run();
