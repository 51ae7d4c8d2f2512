import { Buffer } from 'node:buffer';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from './run-task.js';

/** Text of binary formats that is not UTF-8 rejects its row, as that of text formats does; U+FFFD that a file really has is a character. */

const require = createRequire(import.meta.url);
const arrow = require('apache-arrow') as typeof import('apache-arrow');
const { streams } = require('avsc') as typeof import('avsc');

/** Stands in files where bytes are put that are not UTF-8: of as many. */
const BAD = '!BAD';
const NOT_UTF8 = Buffer.from([0xff, 0xc3, 0xfe, 0x80]);
const ROWS = 12;
/** Texts and lists by row: those of rows 3 and 7 are not UTF-8. */
const textOf = (row: number): string => (row === 3 ? `x${BAD}y` : row === 5 ? '\ufffd' : `é ${row % 4}`);
const listOf = (row: number): string[] => (row === 7 ? ['a', BAD] : ['\ufffd', 'ü']);
const GOOD = Array.from({ length: ROWS }, (_, row) => row).filter((row) => row !== 3 && row !== 7);

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(BAD); at >= 0; at = copy.indexOf(BAD, at)) NOT_UTF8.copy(copy, at);
  return copy;
}

async function parquet(file: string, options: string): Promise<Buffer> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = Array.from({ length: ROWS }, (_, row) => `(${row}, '${textOf(row)}', [${listOf(row).map((text) => `'${text}'`)}])`);
  await connection.run(`CREATE TABLE t AS SELECT * FROM (VALUES ${rows}) v(t, s, l)`);
  await connection.run(`COPY t TO '${file}' (FORMAT parquet, CODEC uncompressed, ${options})`);
  connection.closeSync();
  return readFileSync(file);
}

async function avro(): Promise<Buffer> {
  const fields = [
    { name: 't', type: 'long' },
    { name: 's', type: 'string' },
    { name: 'l', type: { type: 'array', items: 'string' } },
  ];
  const encoder = new streams.BlockEncoder({ type: 'record', name: 'Row', fields } as never, { codec: 'null' });
  for (let row = 0; row < ROWS; row++) encoder.write({ t: row, s: textOf(row), l: listOf(row) });
  encoder.end();
  const chunks: Buffer[] = [];
  for await (const chunk of encoder) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function arrowFile(text: InstanceType<typeof arrow.DataType>): Buffer {
  const list = new arrow.List(new arrow.Field('item', new arrow.Utf8(), true));
  const rows = Array.from({ length: ROWS }, (_, row) => row);
  const columns = {
    t: arrow.vectorFromArray(rows, new arrow.Int32()),
    s: arrow.vectorFromArray(rows.map(textOf), text as never),
    l: arrow.vectorFromArray(rows.map(listOf), list as never),
  };
  return Buffer.from(arrow.tableToIPC(new arrow.Table(columns as never), 'file'));
}

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-not-text-'));

const FILES: readonly { readonly name: string; readonly type: string; readonly bytes: () => Promise<Buffer> }[] = [
  { name: 'Parquet with dictionaries', type: 'parquet', bytes: () => parquet(path.join(folder, 'w'), 'ROW_GROUP_SIZE 100') },
  { name: 'Parquet without dictionaries', type: 'parquet', bytes: () => parquet(path.join(folder, 'w'), 'DICTIONARY_SIZE_LIMIT 1') },
  { name: 'Avro', type: 'avro_ocf', bytes: avro },
  { name: 'Arrow', type: 'arrow', bytes: async () => arrowFile(new arrow.Utf8()) },
  {
    name: 'Arrow with a dictionary',
    type: 'arrow',
    bytes: async () => arrowFile(new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())),
  },
];

interface Event {
  readonly type: string;
  readonly details: readonly string[];
  readonly record: number;
  readonly line: number | null;
}

const texts = suite('text that is not UTF-8');
texts.after(() => rmSync(folder, { recursive: true, force: true }));

for (const { name, type, bytes } of FILES)
  texts(`${name}: its rows are rejected, and told by their numbers`, async () => {
    const file = path.join(folder, 'input');
    writeFileSync(file, damaged(await bytes()));
    const task = (dimensions: unknown[]): unknown => ({
      type: 'index_parallel',
      spec: {
        dataSchema: {
          dataSource: 'ds',
          timestampSpec: { column: 't', format: 'millis' },
          dimensionsSpec: { dimensions },
          granularitySpec: { rollup: false, segmentGranularity: 'all' },
        },
        ioConfig: { type: 'index_parallel', inputSource: { type: 'local', files: [file] }, inputFormat: { type } },
        tuningConfig: { type: 'index_parallel', maxSavedParseExceptions: 10 },
      },
    });
    const all = ['s', { type: 'string', name: 'l', multiValueHandling: 'ARRAY' }];
    const { outcome, rows } = await run(task(all), { allowedDirectories: [folder] });
    assert.is(outcome.errorMessage, null);
    assert.equal(
      rows.map(({ __time }) => Number(__time)),
      GOOD,
    );
    assert.equal(
      rows.map(({ s }) => s),
      GOOD.map(textOf),
    );
    assert.equal(rows[0]?.['l'], listOf(0));
    // biome-ignore lint/suspicious/noExplicitAny: the report is compared with what it should be
    const { unparseableEvents, rows: balance } = (outcome.report as any).ingestionStatsAndErrors.payload;
    assert.equal(balance, { read: ROWS, stored: GOOD.length, rolledUp: 0, filtered: 0, rejected: 2 });
    const events = unparseableEvents.buildSegments as readonly Event[];
    assert.equal(
      events.map(({ type: kind, record, line }) => [kind, record, line]),
      [
        ['unparseable', 4, null],
        ['unparseable', 8, null],
      ],
    );
    for (const { details } of events) assert.match(details.join(), /has text that is not valid UTF-8/);
    // Columns that nobody asks for of formats in columns are not read.
    if (type === 'avro_ocf') return;
    const { rows: without } = await run(task([{ type: 'long', name: 't' }]), { allowedDirectories: [folder] });
    assert.is(without.length, ROWS);
  });

texts.run();
