import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../../src/base/json-reader.js';
import { RowStatistics } from '../../../src/ingestion/report/row-statistics.js';
import { messageBlocks, parseMessageFormat } from '../../../src/ingestion/stream/kafka-format.js';
import type { StreamRecord } from '../../../src/ingestion/stream/stream-reader.js';

const formats = suite('input format kafka');
const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));

function record(
  value: string | null,
  { key = null, headers = {} }: { key?: string | null; headers?: Readonly<Record<string, string>> } = {},
): StreamRecord {
  return {
    partition: '0',
    offset: '1',
    topic: 'edits',
    timestampMs: 1680795276351,
    key: bytes(key),
    values: [bytes(value)],
    headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]),
  };
}

const parse = (format: unknown) => parseMessageFormat(new ObjectReader(format, 'inputFormat', readContextOf('input_invalid', 'f')));

/** Rows as their columns have them. */
const rowsOf = (format: Readonly<Record<string, unknown>>, ...records: readonly StreamRecord[]) => rowsRead(format, null, records);

/** @param columns  those that are asked for; null: any */
async function rowsRead(format: Readonly<Record<string, unknown>>, columns: ReadonlySet<string> | null, records: readonly StreamRecord[]) {
  const statistics = new RowStatistics(
    { logParseExceptions: false, maxParseExceptions: 10, maxSavedParseExceptions: 10 } as never,
    () => undefined,
    () => 0,
  );
  const rejected: string[] = [];
  const reading = {
    columns,
    workDirectory: '/nowhere',
    inputLimits: { maxColumns: 100, maxRowBytes: 1 << 20, decompression: { maxBytes: 1 << 20, maxRatio: 100 } } as never,
    reject: (reason: string) => void rejected.push(reason),
  };
  const rows: Record<string, unknown>[] = [];
  for await (const block of messageBlocks({ records, blocks: [] }, parse(format), reading, statistics)) {
    if (block.kind !== 'values') throw new Error('a block of values');
    for (let row = 0; row < block.rowCount; row++)
      rows.push(Object.fromEntries(block.columns.map((name) => [name, block.values(name)[row]])));
  }
  return { rows, rejected };
}

const BESIDE = { 'kafka.timestamp': 1680795276351, 'kafka.topic': 'edits' };

formats('time, topic, headers and key stand beside the value, as documented', async () => {
  const format = {
    type: 'kafka',
    valueFormat: { type: 'json' },
    headerFormat: { type: 'string' },
    keyFormat: { type: 'tsv', findColumnsFromHeader: false, columns: ['x'] },
  };
  const message = record('{"page":"Salo Toraut","delta":31}', { key: 'wiki-edit', headers: { env: 'development', zone: 'z1' } });
  assert.equal((await rowsOf(format, message)).rows, [
    { page: 'Salo Toraut', delta: 31, 'kafka.header.env': 'development', 'kafka.header.zone': 'z1', ...BESIDE, 'kafka.key': 'wiki-edit' },
  ]);
});

const CASES: readonly {
  readonly name: string;
  readonly format: Readonly<Record<string, unknown>>;
  readonly message: StreamRecord;
  readonly rows: readonly unknown[];
}[] = [
  {
    name: 'columns of the value come first',
    format: { valueFormat: { type: 'json' }, topicColumnName: 'page' },
    message: record('{"page":"a"}'),
    rows: [{ page: 'a', 'kafka.timestamp': 1680795276351 }],
  },
  {
    name: 'CSV values',
    format: { valueFormat: { type: 'csv', columns: ['a', 'b'], findColumnsFromHeader: false } },
    message: record('1,x'),
    rows: [{ a: '1', b: 'x', ...BESIDE }],
  },
  {
    name: 'several rows of one message',
    format: { valueFormat: { type: 'json' }, timestampColumnName: 'at', topicColumnName: 'of' },
    message: record('{"n":1}\n{"n":2}'),
    rows: [
      { n: 1, at: 1680795276351, of: 'edits' },
      { n: 2, at: 1680795276351, of: 'edits' },
    ],
  },
  {
    name: 'a tombstone is a row of what stands beside it',
    format: { valueFormat: { type: 'json' }, keyFormat: { type: 'json' }, keyColumnName: 'k' },
    message: record(null, { key: '{"id":7}' }),
    rows: [{ ...BESIDE, k: 7 }],
  },
  {
    name: 'headers of another encoding and prefix',
    format: { valueFormat: { type: 'json' }, headerFormat: { type: 'string', encoding: 'ISO-8859-1' }, headerColumnPrefix: 'h.' },
    message: {
      ...record('{"n":1}'),
      headers: [
        ['x', Buffer.from([0xe4])],
        ['none', null],
      ],
    },
    rows: [{ n: 1, 'h.x': 'ä', 'h.none': null, ...BESIDE }],
  },
];
for (const { name, format, message, rows } of CASES)
  formats(name, async () => assert.equal((await rowsOf({ type: 'kafka', ...format }, message)).rows, rows));

formats('of what stands beside a value, columns that nobody asks for are left out, and keys count as they are', async () => {
  const format = { type: 'kafka', valueFormat: { type: 'json' }, keyFormat: { type: 'json' }, headerFormat: { type: 'string' } };
  const message = record('{"n":1}', { key: '{"id":7}', headers: { env: 'a', zone: 'b' } });
  const read = (...columns: readonly string[]) => rowsRead(format, new Set(columns), [message]);
  assert.equal((await read('n', 'kafka.header.zone', 'kafka.key')).rows, [{ n: 1, 'kafka.header.zone': 'b', 'kafka.key': 7 }]);
  assert.equal((await read('n', 'kafka.timestamp', 'kafka.topic', 'kafka.header.none', 'kafka.key')).rows, [
    { n: 1, ...BESIDE, 'kafka.key': 7 },
  ]);
  const { rejected } = await rowsRead(format, new Set(['n']), [record('{"n":1}', { key: '{' })]);
  assert.is(rejected.length, 1);
});

formats('a value that cannot be read is rejected, and the next is read', async () => {
  const { rows, rejected } = await rowsOf({ type: 'kafka', valueFormat: { type: 'json' } }, record('{'), record('{"n":1}'));
  assert.is(rejected.length, 1);
  assert.equal(rows, [{ n: 1, ...BESIDE }]);
});

formats('unknown keys and encodings are refused by name', () => {
  assert.throws(() => parse({ type: 'kafka' }), /valueFormat/);
  assert.throws(() => parse({ type: 'kafka', valueFormat: { type: 'json' }, keyColum: 'x' }), /keyColumnName/);
  assert.throws(
    () => parse({ type: 'kafka', valueFormat: { type: 'json' }, headerFormat: { type: 'string', encoding: 'UTF-7' } }),
    /encoding/,
  );
});

formats.run();
