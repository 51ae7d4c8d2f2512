import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../../src/base/json-reader.js';
import { openStreamReader } from '../../../src/ingestion/stream/open-reader.js';
import { kinesisAccess } from '../../../src/ingestion/stream/stream-access.js';
import { OffsetsGone, type ReadFrom, type StreamReader, type StreamRecord } from '../../../src/ingestion/stream/stream-reader.js';
import { parseStreamSource } from '../../../src/ingestion/stream/stream-source.js';
import { startKinesis, type TestRecord } from './kinesis.js';

const kinesis = await startKinesis();
const reading = suite('reading Kinesis');

const rules = (allowedAddresses: readonly string[]) => ({
  maxBytes: 1 << 20,
  allowedProtocols: ['http', 'https'],
  allowedHosts: [],
  allowedAddresses,
});

function open(stream: string, ioConfig: Readonly<Record<string, unknown>> = {}, allowed = ['127.0.0.0/8']): Promise<StreamReader> {
  const fields = new ObjectReader({ endpoint: kinesis?.endpoint, ...ioConfig }, 'ioConfig', readContextOf('input_invalid', 'ioConfig'));
  return openStreamReader(parseStreamSource('kinesis', fields, stream), {
    allowedVariables: [],
    now: Date.now,
    kinesis: kinesisAccess(rules(allowed), () => [], { accessKeyId: 'a', secretAccessKey: 'b' }),
  });
}

const behind = (offsets: ReadonlyMap<string, string>, isExclusive = true): ReadonlyMap<string, ReadFrom> =>
  new Map([...offsets].map(([shard, offset]) => [shard, { offset, isExclusive }]));

async function read(reader: StreamReader, count: number, limits = { maxRows: 1000, maxBytes: 1 << 20 }): Promise<readonly StreamRecord[]> {
  const records: StreamRecord[] = [];
  for (let polls = 0; records.length < count; polls++) {
    assert.ok(polls < 600, `read ${records.length} of ${count} records`);
    records.push(...(await reader.poll({ ...limits, timeoutMs: 100 })).records);
  }
  return records;
}

const records = (from: number, to: number): readonly TestRecord[] =>
  Array.from({ length: to - from }, (_, at) => ({ key: `key ${(from + at) % 7}`, data: `m${from + at}` }));
const text = (record: StreamRecord): string => Buffer.from(record.values[0] ?? []).toString();
const numbers = (all: readonly StreamRecord[]): readonly number[] =>
  all.map((each) => Number(text(each).slice(1))).sort((left, right) => left - right);
const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

if (kinesis === undefined) {
  reading.skip('a server of Kinesis', () => undefined);
} else {
  reading.after(() => kinesis.stop());

  reading('records of all shards come from the beginning, each shard in its order, with key and time', async () => {
    await kinesis.createStream('plain', 2);
    const places = await kinesis.send('plain', records(0, 40));
    const reader = await open('plain');
    const shards = await reader.partitions();
    assert.equal(shards, ['shardId-000000000000', 'shardId-000000000001']);
    await reader.assign(behind(await reader.earliest(shards)));
    const all = await read(reader, 40);
    assert.equal(numbers(all), upTo(0, 40));
    for (const record of all) {
      const number = Number(text(record).slice(1));
      assert.equal([record.partition, record.offset], [places[number]?.shard, places[number]?.sequence]);
      assert.is(Buffer.from(record.key ?? []).toString(), `key ${number % 7}`);
      assert.ok(Math.abs(record.timestampMs - Date.now()) < 600_000);
    }
    for (const shard of shards) {
      const own = all.filter(({ partition }) => partition === shard).map((each) => Number(text(each).slice(1)));
      assert.equal(
        own,
        [...own].sort((left, right) => left - right),
      );
    }
    await reader.close();
  });

  reading('reading goes on at a record, or behind it, and from the end for what comes later', async () => {
    await kinesis.createStream('places', 1);
    const shard = 'shardId-000000000000';
    const reader = await open('places');
    const empty = await reader.latest([shard]);
    assert.equal(empty, await reader.earliest([shard]), 'nothing was written yet');
    const places = await kinesis.send('places', records(0, 10));
    const at = places[4]?.sequence ?? '';
    for (const [isExclusive, first] of [
      [false, 4],
      [true, 5],
    ] as const) {
      await reader.assign(behind(new Map([[shard, at]]), isExclusive));
      assert.equal(numbers(await read(reader, 10 - first)), upTo(first, 10));
    }
    await reader.assign(behind(empty));
    assert.equal(numbers(await read(reader, 10)), upTo(0, 10));
    const latest = await reader.latest([shard]);
    assert.is(latest.get(shard), places[9]?.sequence);
    await reader.assign(behind(latest));
    assert.is((await reader.poll({ maxRows: 10, maxBytes: 1 << 20, timeoutMs: 500 })).records.length, 0);
    await kinesis.send('places', records(10, 13));
    assert.equal(numbers(await read(reader, 3)), upTo(10, 13));
    assert.equal([...((await reader.behind?.(behind(latest)))?.keys() ?? [])], [shard]);
    await reader.close();
  });

  reading('a poll keeps to its limits, and takes one record at least', async () => {
    await kinesis.createStream('limits', 1);
    await kinesis.send('limits', records(0, 30));
    for (const ioConfig of [{}, { recordsPerFetch: 7 }]) {
      const reader = await open('limits', ioConfig);
      const first = behind(await reader.earliest(await reader.partitions()));
      for (const [limits, most] of [
        [{ maxRows: 4, maxBytes: 1 << 20 }, 4],
        [{ maxRows: 1000, maxBytes: 1 }, 1],
      ] as const) {
        await reader.assign(first);
        const taken: StreamRecord[] = [];
        for (let polls = 0; taken.length < 30; polls++) {
          assert.ok(polls < 600);
          const batch = await reader.poll({ ...limits, timeoutMs: 100 });
          assert.ok(batch.records.length <= most);
          taken.push(...batch.records);
        }
        assert.equal(
          taken.map(text),
          records(0, 30).map(({ data }) => data),
        );
      }
      await reader.close();
    }
  });

  reading('a shard that was split is read to its end, which is told; its children are found', async () => {
    await kinesis.createStream('split', 1);
    const parent = 'shardId-000000000000';
    await kinesis.send('split', records(0, 10));
    const reader = await open('split');
    await reader.assign(behind(await reader.earliest([parent])));
    await kinesis.split('split', parent);
    await kinesis.send('split', records(10, 20));
    let ended = '';
    const old: StreamRecord[] = [];
    for (let polls = 0; ended === ''; polls++) {
      assert.ok(polls < 600);
      const { records: taken, positions } = await reader.poll({ maxRows: 3, maxBytes: 1 << 20, timeoutMs: 100 });
      old.push(...taken);
      ended = positions.get(parent) ?? '';
    }
    assert.is(ended, 'EOS');
    assert.equal(numbers(old), upTo(0, 10));
    const children = (await reader.partitions()).filter((shard) => shard !== parent);
    assert.is(children.length, 2);
    await reader.assign(behind(new Map([[parent, 'EOS'], ...(await reader.earliest(children))])));
    assert.equal(numbers(await read(reader, 10)), upTo(10, 20));
    await reader.close();
  });

  reading('numbers that the stream does not have are told', async () => {
    await kinesis.createStream('gone', 1);
    const shard = 'shardId-000000000000';
    const [{ sequence = '' } = {}] = await kinesis.send('gone', records(0, 1));
    const reader = await open('gone');
    const other = String(BigInt(sequence) + 16n);
    const gone = (offset: string, of = shard) => reader.gone(new Map([[of, offset]]));
    assert.equal(await gone(sequence), []);
    assert.equal(await gone((await reader.earliest([shard])).get(shard) ?? ''), []);
    assert.equal(await gone('EOS'), []);
    assert.equal(await gone(other), [shard]);
    assert.equal(await gone('1'), [shard]);
    assert.equal(await gone(sequence, 'shardId-000000000009'), ['shardId-000000000009']);
    assert.equal([...(await reader.earliest(['shardId-000000000009'])).values()], ['EOS']);
    await reader.assign(behind(new Map([['shardId-000000000009', sequence]])));
    const error = await reader.poll({ maxRows: 1, maxBytes: 1, timeoutMs: 60_000 }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof OffsetsGone, String(error));
    await reader.close();
  });

  reading('a stream that is not there, an address that may not be read, a server that is not there', async () => {
    const reader = await open('nowhere');
    const refusal = (work: Promise<unknown>) =>
      work.then(
        () => 'no error',
        (error: ServiceError) => `${error.code}: ${error.message}`,
      );
    assert.match(await refusal(reader.partitions()), /not_found.*no stream nowhere/);
    await reader.close();
    assert.match(await refusal(open('plain', {}, [])), /forbidden/);
    const absent = await open('plain', { endpoint: 'http://127.0.0.1:1' });
    assert.match(await refusal(absent.partitions()), /unavailable/);
    await absent.close();
  });
}

reading.run();
