import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../../src/base/json-reader.js';
import { recordsOf } from '../../../src/ingestion/stream/message-block.js';
import { openStreamReader } from '../../../src/ingestion/stream/open-reader.js';
import { OffsetsGone, type StreamReader, type StreamRecord } from '../../../src/ingestion/stream/stream-reader.js';
import { parseStreamSource } from '../../../src/ingestion/stream/stream-source.js';
import { startKafka } from './kafka.js';

const kafka = await startKafka();
const taskReading = { kinesis: { credentials: null, addressesOf: async () => [] } };
const reading = suite('reading Kafka');

function open(
  stream: string,
  ioConfig: Readonly<Record<string, unknown>> = {},
  properties: Readonly<Record<string, unknown>> = {},
): Promise<StreamReader> {
  const fields = new ObjectReader(
    { consumerProperties: { 'bootstrap.servers': kafka?.servers, ...properties }, ...ioConfig },
    'ioConfig',
    readContextOf('input_invalid', 'ioConfig'),
  );
  return openStreamReader(parseStreamSource('kafka', fields, stream), { ...taskReading, allowedVariables: [], now: Date.now });
}

const from = (places: Readonly<Record<string, number>>) =>
  new Map(Object.entries(places).map(([partition, offset]) => [partition, { offset: String(offset), isExclusive: false }]));

/** Polls until partitions stand at these offsets, by records or ends. */
async function readUntil(reader: StreamReader, ends: Readonly<Record<string, number>>): Promise<readonly StreamRecord[]> {
  const records: StreamRecord[] = [];
  const at = new Map<string, number>();
  for (let polls = 0; Object.entries(ends).some(([partition, end]) => (at.get(partition) ?? -1) < end); polls++) {
    assert.ok(polls < 300, `stands at ${JSON.stringify([...at])}`);
    const batch = await reader.poll({ maxRows: 1000, maxBytes: 1 << 20, timeoutMs: 100 });
    for (const record of [...batch.records, ...recordsOf(batch.blocks)]) {
      records.push(record);
      at.set(record.partition, Number(record.offset) + 1);
    }
    for (const [partition, offset] of batch.positions) at.set(partition, Number(offset));
  }
  return records;
}

const text = (bytes: Uint8Array | null | undefined): string | null =>
  bytes === null || bytes === undefined ? null : Buffer.from(bytes).toString();

if (kafka === undefined) {
  reading.skip('a broker', () => undefined);
} else {
  reading.after(() => kafka.stop());

  reading('records come from the offsets asked for, with key, time and headers; tombstones too', async () => {
    await kafka.createTopic('plain', 2);
    await kafka.send('plain', [
      {
        value: 'a',
        key: 'k',
        timestampMs: 1234,
        headers: [
          ['h', '1'],
          ['i', '2'],
        ],
      },
      { value: null, key: 'gone' },
      { value: 'c' },
      { value: 'd', partition: 1 },
    ]);
    const reader = await open('plain');
    assert.equal(await reader.partitions(), ['0', '1']);
    assert.equal(
      await reader.earliest(['0', '1']),
      new Map([
        ['0', '0'],
        ['1', '0'],
      ]),
    );
    assert.equal(
      await reader.latest(['0', '1']),
      new Map([
        ['0', '3'],
        ['1', '1'],
      ]),
    );
    await reader.assign(from({ 0: 0, 1: 0 }));
    const records = await readUntil(reader, { 0: 3, 1: 1 });
    assert.equal(records.map(({ partition, offset, values }) => `${partition}:${offset} ${text(values[0])}`).sort(), [
      '0:0 a',
      '0:1 null',
      '0:2 c',
      '1:0 d',
    ]);
    const first = records.find(({ values }) => text(values[0]) === 'a');
    assert.is(first?.timestampMs, 1234);
    assert.is(text(first?.key), 'k');
    assert.equal(
      first?.headers.map(([name, value]) => `${name}=${text(value)}`),
      ['h=1', 'i=2'],
    );
    await reader.assign(from({ 0: 2 }));
    assert.equal(
      (await readUntil(reader, { 0: 3 })).map(({ offset }) => offset),
      ['2'],
    );
    await reader.close();
  });

  reading('aborted transactions are passed over, and what an end lies behind is told', async () => {
    await kafka.createTopic('sums', 1);
    await kafka.sendInTransaction('sums', [{ value: '1' }, { value: '2' }], 'commit');
    await kafka.sendInTransaction('sums', [{ value: '3' }], 'abort');
    await kafka.sendInTransaction('sums', [{ value: '4' }], 'commit');
    await kafka.sendInTransaction('sums', [{ value: '5' }], 'abort');
    // Five messages, and a marker behind each transaction.
    const reader = await open('sums');
    assert.equal(await reader.latest(['0']), new Map([['0', '9']]));
    await reader.assign(from({ 0: 0 }));
    assert.equal(
      (await readUntil(reader, { 0: 9 })).map(({ values }) => text(values[0])),
      ['1', '2', '4'],
    );
    await reader.close();
    const all = await open('sums', {}, { 'isolation.level': 'read_uncommitted' });
    await all.assign(from({ 0: 0 }));
    assert.equal(
      (await readUntil(all, { 0: 9 })).map(({ values }) => text(values[0])),
      ['1', '2', '3', '4', '5'],
    );
    await all.close();
  });

  reading('several topics are read by a pattern of their whole names', async () => {
    for (const name of ['many-a', 'many-b', 'not-many-a']) await kafka.createTopic(name, 1);
    await kafka.send('many-a', [{ value: 'x' }]);
    await kafka.send('many-b', [{ value: 'y' }]);
    const reader = await open('many-.', { multiTopic: true });
    assert.equal(await reader.partitions(), ['many-a:0', 'many-b:0']);
    await reader.assign(from({ 'many-a:0': 0, 'many-b:0': 0 }));
    const records = await readUntil(reader, { 'many-a:0': 1, 'many-b:0': 1 });
    assert.equal(records.map(({ partition, topic, values }) => `${partition} ${topic} ${text(values[0])}`).sort(), [
      'many-a:0 many-a x',
      'many-b:0 many-b y',
    ]);
    await reader.close();
  });

  reading('offsets that are gone, or not there yet, are told by partition', async () => {
    await kafka.createTopic('short', 2);
    await kafka.send('short', [{ value: 'a' }, { value: 'b' }, { value: 'c' }, { value: 'd', partition: 1 }]);
    await kafka.forget('short', 0, 2);
    for (const [place, lost] of [
      [{ 0: 1, 1: 0 }, ['0', '1']],
      [{ 0: 2, 1: 7 }, ['1', '7']],
    ] as const) {
      const reader = await open('short');
      await reader.assign(from(place));
      const error: unknown = await readUntil(reader, { 0: 99 }).catch((fault: unknown) => fault);
      assert.ok(error instanceof OffsetsGone, String(error));
      assert.equal([...error.offsets], [lost]);
      await reader.close();
    }
  });

  reading('messages of ten megabytes come; a topic that is not there, and brokers that are not, are told', async () => {
    await kafka.createTopic('large', 1, { 'max.message.bytes': '15000000' });
    await kafka.send('large', [{ value: 'x'.repeat(10_000_000) }, { value: 'small' }]);
    const reader = await open('large');
    await reader.assign(from({ 0: 0 }));
    assert.equal(
      (await readUntil(reader, { 0: 2 })).map(({ values }) => values[0]?.length),
      [10_000_000, 5],
    );
    await reader.close();
    const missing = await open('nowhere');
    assert.is(await missing.partitions().catch((error: { code?: unknown }) => error.code), 'not_found');
    await missing.close();
    assert.is(await open('x', {}, { 'bootstrap.servers': '127.0.0.1:9' }).catch((error: { code?: unknown }) => error.code), 'unavailable');
  });
}

reading.run();
