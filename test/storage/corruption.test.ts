import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { checksum } from '../../src/storage/codecs/checksum.js';
import { arraysOf, type Footer, HEADER_BYTES, TRAILER_BYTES } from '../../src/storage/format.js';
import { verifySegment } from '../../src/storage/jobs/verify-segment.js';
import type { Table } from './table.js';
import { DAY, descriptorOf, openWorkbench, writeTable } from './workbench.js';

const ROWS = 17_000;
const TABLE: Table = {
  __time: { kind: 'long', cells: Array.from({ length: ROWS }, (_, row) => BigInt(DAY.start + row)) },
  s: { kind: 'string', cells: Array.from({ length: ROWS }, (_, row) => `value ${row % 50}`) },
  m: { kind: 'multi', cells: Array.from({ length: ROWS }, (_, row) => (row % 3 === 0 ? [] : ['x', `y${row % 7}`])) },
  l: { kind: 'long', cells: Array.from({ length: ROWS }, (_, row) => (row % 9 === 0 ? null : BigInt(row))) },
  d: { kind: 'double', cells: Array.from({ length: ROWS }, (_, row) => Math.sqrt(row)) },
};

const bench = openWorkbench();
const file = join(bench.directory, 'whole.segment');
const descriptor = descriptorOf(await writeTable(file, TABLE, ['s']));
const whole = readFileSync(file);
const footer = verify(file);

function verify(name: string): Footer {
  const source = { file: name, descriptor: openSync(name, 'r') };
  try {
    return verifySegment(source);
  } finally {
    closeSync(source.descriptor);
  }
}

/** Opens the bytes as a segment whose descriptor fits their size, and returns why it was refused. */
async function refusalOf(bytes: Buffer): Promise<ServiceError> {
  const damaged = join(bench.directory, 'damaged.segment');
  writeFileSync(damaged, bytes);
  try {
    await bench.store.open(damaged, { ...descriptor, sizeBytes: bytes.length });
  } catch (error) {
    assert.instance(error, ServiceError);
    const refusal = error as ServiceError;
    assert.is(refusal.code, 'segment_corrupt', refusal.message);
    assert.ok(refusal.message.includes('damaged.segment'), 'the message names the file');
    assert.not.ok(refusal.message.includes(bench.directory), 'but not where it lies');
    return refusal;
  }
  throw new Error('a damaged file was opened');
}

/** Every part of the file: [name, start, end). */
const regions: [string, number, number][] = [
  ['header', 0, HEADER_BYTES],
  ...footer.columns.flatMap((column) =>
    arraysOf(column).flatMap((array, at) => {
      let start = array.start;
      return array.bytes.map((bytes, block): [string, number, number] => [
        `${column.name}, array ${at}, block ${block}`,
        start,
        (start += bytes),
      ]);
    }),
  ),
];
const footerStart = regions.at(-1)?.[2] ?? 0;
regions.push(['footer', footerStart, whole.length - TRAILER_BYTES], ['trailer', whole.length - TRAILER_BYTES, whole.length]);

const test = suite('damaged segment files');

test('the regions cover the file without gaps', () => {
  assert.is(regions[0]?.[1], 0);
  regions.forEach(([name, , end], at) => assert.is(regions[at + 1]?.[1] ?? whole.length, end, name));
  assert.ok(regions.length > 20, 'the file has null masks, offsets, dictionaries and bitmaps');
});

test('one changed bit anywhere is refused', async () => {
  for (const [name, start, end] of regions) {
    for (const at of new Set([start, Math.floor((start + end) / 2), end - 1])) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      const refusal = await refusalOf(bytes);
      const column = footer.columns.find((candidate) => name.startsWith(`${candidate.name},`));
      if (column !== undefined) assert.match(refusal.message, new RegExp(`column "${column.name}".*block ${name.at(-1)}`));
    }
  }
});

test('a file cut off at any border, or one byte from it, is refused', async () => {
  for (const [, start, end] of regions) {
    for (const length of new Set([start, start + 1, end - 1])) if (length < whole.length) await refusalOf(whole.subarray(0, length));
  }
});

test('bytes behind the end are refused', async () => {
  await refusalOf(Buffer.concat([whole, Buffer.from([0])]));
});

test('another format version is refused by its number', async () => {
  const bytes = Buffer.from(whole);
  bytes.writeUInt32LE(7, 8);
  bytes.writeUInt32LE(checksum(bytes.subarray(0, 12)), 12);
  assert.match((await refusalOf(bytes)).message, 'version 7; this program reads version 1');
});

test('a file that is no segment, and an empty one', async () => {
  await refusalOf(Buffer.from('{"not": "a segment", "but": "long enough to have room for header and trailer"}'));
  await refusalOf(Buffer.alloc(0));
});

test('a whole file that is not the one published', async () => {
  const open = async (change: Partial<typeof descriptor>): Promise<string> => {
    try {
      await bench.store.open(file, { ...descriptor, ...change });
    } catch (error) {
      assert.is((error as ServiceError).code, 'segment_corrupt');
      return (error as ServiceError).message;
    }
    throw new Error('opened');
  };
  assert.match(await open({ rowCount: 5 }), 'its descriptor says 5');
  assert.match(await open({ sizeBytes: 5 }), 'its descriptor says 5');
  assert.match(await open({ id: { ...descriptor.id, interval: { start: DAY.start + 1, end: DAY.end } } }), 'outside its interval');
  assert.match(await open({ id: { ...descriptor.id, interval: { start: DAY.start, end: DAY.start + ROWS - 1 } } }), 'outside its interval');
});

test('a missing file', async () => {
  try {
    await bench.store.open(join(bench.directory, 'absent'), descriptor);
    assert.unreachable();
  } catch (error) {
    assert.is((error as ServiceError).code, 'not_found');
  }
});

test('damage after the file was opened is found when the block is read', async () => {
  const later = join(bench.directory, 'later.segment');
  writeFileSync(later, whole);
  await bench.store.open(later, descriptor);
  const id = segmentIdText(descriptor.id);
  const region = regions.find(([name]) => name.startsWith('d, array 0, block 1'));
  const bytes = Buffer.from(whole);
  bytes[(region?.[1] ?? 0) + 40] = (bytes[(region?.[1] ?? 0) + 40] ?? 0) ^ 1;
  writeFileSync(later, bytes);
  const before = bench.memory.allocatedBytes;
  try {
    await bench.store.pin({ segmentIds: [id], columns: ['d', 'l'], globalDictionaries: [] });
    assert.unreachable();
  } catch (error) {
    assert.is((error as ServiceError).code, 'segments_unavailable');
    assert.match((error as ServiceError).message, 'column "d", values, block 1: it does not match its checksum');
  }
  const pin = await bench.store.pin({ segmentIds: [id], columns: ['l'], globalDictionaries: [] });
  pin.release();
  await bench.store.close(id);
  assert.is(bench.memory.allocatedBytes, before, 'a failed load keeps no memory');
});

test.after(() => bench.close());
test.run();
