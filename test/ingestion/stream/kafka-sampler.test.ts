import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stringifyJson } from '../../../src/base/json.js';
import { runSampler } from '../../../src/ingestion/sampler/sampler.js';
import type { StreamReader } from '../../../src/ingestion/stream/stream-reader.js';
import { type FakeMessage, FakeStream } from '../fake-stream.js';
import { taskContext } from '../run-task.js';
import { startKafka } from './kafka.js';

interface Answer {
  readonly numRowsRead: number;
  readonly numRowsIndexed: number;
  readonly logicalSegmentSchema: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly { readonly unparseable?: boolean; readonly error?: string; readonly input?: Readonly<Record<string, unknown>> }[];
}

async function run(body: unknown, openReader?: () => Promise<StreamReader>): Promise<Answer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-sampler-'));
  try {
    const context = { ...taskContext(folder, []), now: Date.now };
    const { report, errorMessage } = await runSampler(Buffer.from(stringifyJson(body)), context, openReader);
    if (report.answer === undefined) throw new Error(`${report.errorCode ?? ''}: ${errorMessage ?? ''}`);
    return JSON.parse(report.answer) as Answer;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const errorOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'an answer',
    (error: unknown) => String(error),
  );

const DETECTION = { column: '__time', format: 'millis', missingValue: '1970-01-01T00:00:00Z' };
const SCHEMA = {
  dataSource: 'sample',
  timestampSpec: DETECTION,
  dimensionsSpec: { useSchemaDiscovery: true },
  granularitySpec: { rollup: false },
};
const JSON_FORMAT = { type: 'json', keepNullColumns: true };
const IO = {
  type: 'kafka',
  consumerProperties: { 'bootstrap.servers': 'localhost:1' },
  topic: 'events',
  inputFormat: JSON_FORMAT,
  useEarliestOffset: true,
};

/** A request as the console sends it: `kafka` in every place for the type. */
function request(io: Readonly<Record<string, unknown>>, config: unknown, schema: unknown = SCHEMA): unknown {
  return {
    type: 'kafka',
    spec: { type: 'kafka', ioConfig: { ...IO, ...io }, dataSchema: schema, tuningConfig: { type: 'kafka' } },
    samplerConfig: config,
  };
}

const sampling = suite('sampling streams');

interface Case {
  readonly name: string;
  readonly partitions: readonly (readonly FakeMessage[])[];
  readonly io?: Readonly<Record<string, unknown>>;
  readonly schema?: unknown;
  readonly config: unknown;
  readonly columns?: readonly (readonly [string, string])[];
  readonly rows: readonly unknown[];
}

const CASES: readonly Case[] = [
  {
    name: 'rows with their input, bad ones at their places, columns guessed; messages of one row and of several',
    partitions: [['{"k":"a","n":1}', 'not json', '{"k":"b",\n"n":2}', null, '', '{"k":"c","n":null,"o":null}']],
    config: { numRows: 5, timeoutMs: 20_000 },
    columns: [
      ['__time', 'LONG'],
      ['k', 'STRING'],
      ['n', 'LONG'],
      ['o', 'STRING'],
    ],
    rows: [
      { input: { k: 'a', n: 1 }, parsed: { __time: 0, k: 'a', n: 1, o: null } },
      { unparseable: true },
      { input: { k: 'b', n: 2 }, parsed: { __time: 0, k: 'b', n: 2, o: null } },
      { unparseable: true },
      { input: { k: 'c', n: null, o: null }, parsed: { __time: 0, k: 'c', n: null, o: null } },
    ],
  },
  {
    name: 'no more rows than asked for',
    partitions: [Array.from({ length: 50 }, (_, n) => `{"n":${n}}`)],
    config: { numRows: 2, timeoutMs: 20_000 },
    rows: [0, 1].map((n) => ({ input: { n }, parsed: { __time: 0, n } })),
  },
  {
    name: 'no more bad rows than asked for',
    partitions: [Array.from({ length: 50 }, () => '{')],
    config: { numRows: 2, timeoutMs: 20_000 },
    rows: [{ unparseable: true }, { unparseable: true }],
  },
  {
    name: 'the rows of all partitions that are there when the time is over',
    partitions: [['{"n":1}'], ['{"n":2}'], []],
    config: { numRows: 100, timeoutMs: 400 },
    rows: [1, 2].map((n) => ({ input: { n }, parsed: { __time: 0, n } })),
  },
  {
    name: 'an empty stream',
    partitions: [[]],
    config: { timeoutMs: 200 },
    columns: [['__time', 'LONG']],
    rows: [],
  },
  {
    name: 'from the latest on, what was there is not read',
    partitions: [['{"n":1}']],
    io: { useEarliestOffset: false },
    config: { timeoutMs: 200 },
    rows: [],
  },
  {
    name: 'what is filtered out makes room for others',
    partitions: [Array.from({ length: 1000 }, (_, n) => `{"n":${n}}`)],
    schema: { ...SCHEMA, transformSpec: { filter: { type: 'selector', dimension: 'n', value: '900' } } },
    config: { numRows: 1, timeoutMs: 20_000 },
    rows: [{ input: { n: 900 }, parsed: { __time: 0, n: 900 } }],
  },
  {
    name: 'connect: every message whole, with its key and time beside it',
    partitions: [['a,b\nc']],
    io: { inputFormat: { type: 'kafka', valueFormat: { type: 'regex', pattern: '([\\s\\S]*)', columns: ['raw'] }, keepNullColumns: true } },
    config: { numRows: 2, timeoutMs: 400 },
    rows: ['a,b', 'c'].map((raw) => ({
      input: { raw, 'kafka.timestamp': 0, 'kafka.topic': 't' },
      parsed: { __time: 0, raw, 'kafka.timestamp': 0, 'kafka.topic': 't' },
    })),
  },
];

for (const { name, partitions, io = {}, schema, config, columns, rows } of CASES) {
  sampling(name, async () => {
    const stream = new FakeStream(partitions.length);
    for (const [at, messages] of partitions.entries()) stream.send(at, ...messages);
    const answer = await run(request(io, config, schema), async () => stream.reader());
    assert.equal(
      answer.data.map(({ error, ...others }) => {
        assert.is(typeof error, others.unparseable === true ? 'string' : 'undefined');
        return others;
      }),
      rows,
    );
    assert.is(answer.numRowsRead, rows.length);
    assert.is(answer.numRowsIndexed, answer.data.filter(({ unparseable }) => unparseable !== true).length);
    if (columns !== undefined)
      assert.equal(
        answer.logicalSegmentSchema.map((column) => [column.name, column.type]),
        columns,
      );
  });
}

sampling('memory that is limited ends the sample', async () => {
  const stream = new FakeStream(1);
  stream.send(0, ...Array.from({ length: 1000 }, (_, n) => `{"n":${n},"k":"${'x'.repeat(1000)}"}`));
  stream.pollRows = 10;
  const config = { numRows: 1000, maxBytesInMemory: '200KiB', timeoutMs: 20_000 };
  const { numRowsRead } = await run(request({}, config), async () => stream.reader());
  assert.ok(numRowsRead > 0 && numRowsRead < 300, String(numRowsRead));
});

sampling('a stream that fails is an error', async () => {
  const stream = new FakeStream(1);
  stream.faults.push(new Error('broken'));
  assert.match(await errorOf(run(request({}, { timeoutMs: 5000 }), async () => stream.reader())), /internal: broken/);
});

sampling('rows that the console sends again as a text, with the ioConfig of the stream around them', async () => {
  const inputSource = { type: 'inline', data: '{"n":1}' };
  const spec = { type: 'index', ioConfig: { ...IO, type: 'index', taskCount: 2, inputSource }, dataSchema: SCHEMA };
  const { data } = await run({ type: 'index', spec });
  assert.equal(data, [{ input: { n: 1 }, parsed: { __time: 0, n: 1 } }]);
});

const refusals: readonly { readonly name: string; readonly body: unknown; readonly error: RegExp }[] = [
  { name: 'no spec', body: { type: 'kafka' }, error: /input_invalid: spec: expected an object/ },
  { name: 'no topic', body: request({ topic: null }, {}), error: /input_invalid: spec\.ioConfig\.topic/ },
  { name: 'no format', body: request({ inputFormat: null }, {}), error: /input_invalid: spec\.ioConfig\.inputFormat/ },
  { name: 'another type of spec', body: { type: 'kafka', spec: { type: 'kinesis' } }, error: /spec\.type/ },
  { name: 'an unknown key', body: request({ topik: 'x' }, {}), error: /spec\.ioConfig: unknown key "topik"; did you mean "topic"/ },
  {
    name: 'files in it',
    body: request({ inputSource: { type: 'inline', data: '' } }, {}),
    error: /spec\.ioConfig: unknown key "inputSource"/,
  },
  {
    name: 'classes in the place of interceptors',
    body: request({ consumerProperties: { 'bootstrap.servers': 'a:1', 'interceptor.classes': 'x' } }, {}),
    error: /unsupported: spec\.ioConfig\.consumerProperties\.interceptor\.classes/,
  },
  {
    name: 'a variable that specs may not name',
    body: request({ consumerProperties: { 'bootstrap.servers': 'a:1', 'sasl.password': { type: 'environment', variable: 'HOME' } } }, {}),
    error: /forbidden: the variable HOME is not among svc\.ingestion\.passwordVariables/,
  },
  {
    name: 'a wrong tuningConfig',
    body: { type: 'kafka', spec: { ioConfig: IO, tuningConfig: { maxRowsInMemory: 'x' } } },
    error: /spec\.tuningConfig\.maxRowsInMemory/,
  },
  { name: 'too many rows', body: request({}, { numRows: 5001 }), error: /samplerConfig\.numRows: expected .*5000/ },
  {
    name: 'a server of Kinesis at an address that may not be read',
    body: {
      type: 'kinesis',
      spec: { type: 'kinesis', ioConfig: { type: 'kinesis', stream: 's', endpoint: 'http://127.0.0.1:1', inputFormat: JSON_FORMAT } },
    },
    error: /forbidden: .*127\.0\.0\.1/,
  },
];
for (const { name, body, error } of refusals) {
  sampling(`refused: ${name}`, async () => {
    assert.match(await errorOf(run(body)), error);
  });
}

const kafka = await startKafka();
if (kafka === undefined) sampling.skip('a broker', () => undefined);
else {
  sampling.after(() => kafka.stop());
  const consumerProperties = { 'bootstrap.servers': kafka.servers };

  sampling('the messages of a broker, with key, headers and time; those of aborted transactions are passed over', async () => {
    await kafka.createTopic('events', 2);
    await kafka.send('events', [{ value: '{"n":1}', key: 'k', timestampMs: 1234, headers: [['h', 'x']] }]);
    await kafka.sendInTransaction('events', [{ value: '{"n":2}' }], 'abort');
    await kafka.send('events', [{ value: '{"n":3}', partition: 1, timestampMs: 5678 }, { value: '{' }]);
    const inputFormat = {
      type: 'kafka',
      valueFormat: { type: 'json' },
      keyFormat: { type: 'regex', pattern: '([\\s\\S]*)', columns: ['raw'] },
      headerFormat: { type: 'string' },
    };
    const dataSchema = { ...SCHEMA, timestampSpec: { column: 'kafka.timestamp', format: 'millis' } };
    const { data } = await run(request({ consumerProperties, inputFormat }, { numRows: 3, timeoutMs: 20_000 }, dataSchema));
    const inputs = data.map(({ input, unparseable = false }) =>
      stringifyJson([
        input?.['n'] ?? null,
        input?.['kafka.key'] ?? null,
        input?.['kafka.header.h'] ?? null,
        input?.['kafka.timestamp'] ?? null,
        unparseable,
      ]),
    );
    assert.equal(inputs.toSorted(), ['[1,"k","x",1234,false]', '[3,null,null,5678,false]', '[null,null,null,null,true]']);
  });

  sampling('a topic that is not there, brokers that are not', async () => {
    const config = { timeoutMs: 1000 };
    assert.match(await errorOf(run(request({ consumerProperties, topic: 'none' }, config))), /not_found: .*there is no topic none/);
    assert.match(await errorOf(run(request({}, config))), /unavailable: localhost:1/);
  });
}

sampling.run();
