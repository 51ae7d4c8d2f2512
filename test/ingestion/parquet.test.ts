import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { DuckDBDateValue, DuckDBInstance, DuckDBTimestampMillisecondsValue, DuckDBTimestampValue } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import type { ServiceError } from '../../src/base/errors.js';
import { type ParquetFormat, readParquet } from '../../src/ingestion/format/parquet.js';
import { ColumnPages, flatValues } from '../../src/ingestion/format/parquet-column.js';
import type { InputEntity } from '../../src/ingestion/source/source-kind.js';
import { cellAt } from '../../src/model/frame.js';
import { plainColumn } from '../../src/storage/columns/packed-column.js';
import { caseCount } from '../case-count.js';
import { DECOMPRESSION } from './blocks.js';

const FORMAT: ParquetFormat = { binaryAsString: false, flatten: null };
const LIMITS = { maxColumns: 100, maxRowBytes: 4000, decompression: DECOMPRESSION };
const ROWS = 5000;

interface Context {
  folder: string;
  file: (name: string) => string;
}

const parquet = suite<Context>('Parquet');

parquet.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-parquet-'));
  context.file = (name) => path.join(context.folder, name);
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = `SELECT TIMESTAMP '2015-09-12 00:00:00.771' + INTERVAL (i) SECOND AS t, DATE '2015-09-12' AS day, CASE WHEN i % 3 = 0 THEN NULL ELSE 'page ' || i END AS page,
    CAST(i AS BIGINT) * 900719925474099 AS big, CAST(i AS INTEGER) AS small, i / 2.0::DOUBLE AS half, i % 2 = 0 AS even, ['a', 'b' || i] AS tags, {'x': i} AS nested FROM range(${ROWS}) r(i)`;
  for (const codec of ['snappy', 'zstd', 'gzip', 'uncompressed'])
    await connection.run(
      `COPY (${rows}) TO '${context.file(`${codec}.parquet`)}' (FORMAT parquet, COMPRESSION ${codec}, ROW_GROUP_SIZE 2048)`,
    );
  await connection.run(`COPY (SELECT 1.5::DECIMAL(30, 5) AS price) TO '${context.file('decimal.parquet')}' (FORMAT parquet)`);
  connection.closeSync();
  writeFileSync(context.file('text.parquet'), 'a,b,c\n1,2,3\n');
  writeFileSync(context.file('cut.parquet'), readFileSync(context.file('snappy.parquet')).subarray(0, 3000));
});

parquet.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

function entity(file: string, isLocal = true): InputEntity {
  return {
    name: file,
    sizeBytes: statSync(file).size,
    localFile: isLocal ? file : null,
    open: async () => Readable.from([readFileSync(file)]),
  };
}

async function columnsOf(input: InputEntity, columns: readonly string[] | null, workDirectory: string): Promise<Record<string, unknown[]>> {
  const read: Record<string, unknown[]> = {};
  for await (const block of readParquet(FORMAT, input, {
    columns: columns === null ? null : new Set(columns),
    workDirectory,
    inputLimits: LIMITS,
    read: () => undefined,
  })) {
    for (const name of block.columns) (read[name] ??= []).push(...block.values(name));
  }
  return read;
}

for (const codec of ['snappy', 'zstd', 'gzip', 'uncompressed']) {
  parquet(`types and nulls, ${codec}`, async ({ folder, file }) => {
    const read = await columnsOf(entity(file(`${codec}.parquet`)), null, folder);
    const rows = Array.from({ length: ROWS }, (_, row) => row);
    assert.equal(
      read['t'],
      rows.map((row) => Date.UTC(2015, 8, 12) + 771 + row * 1000),
    );
    assert.is(read['day']?.[7], Date.UTC(2015, 8, 12));
    assert.equal(
      read['page']?.map((value) => value ?? null),
      rows.map((row) => (row % 3 === 0 ? null : `page ${row}`)),
    );
    assert.equal(
      read['big']?.map((value) => BigInt(value as bigint)),
      rows.map((row) => BigInt(row) * 900719925474099n),
    );
    assert.equal(read['small'], rows);
    assert.equal(
      read['half'],
      rows.map((row) => row / 2),
    );
    assert.equal(
      read['even'],
      rows.map((row) => row % 2 === 0),
    );
    assert.equal(read['tags']?.[9], ['a', 'b9']);
  });
}

/** Rows whose columns the reader takes in typed form, over several blocks and pages, with texts outside of dictionaries and without them. */
const TYPED = `SELECT CASE WHEN i % 7 > 2 THEN 'few ' || i % 50 END AS few, 'text ' || i AS many, CASE WHEN i % 11 <> 4 THEN 'é' || i % 9000 END AS some,
    (i * 7919 % 100000)::BIGINT * 900719925474 AS big, CASE WHEN i % 3 = 1 THEN -(i % 500)::BIGINT END AS negative, (i - 20000)::INTEGER AS small,
    CASE WHEN i > 30000 THEN (i % 13)::SMALLINT END AS late, NULL::VARCHAR AS nothing, i / 8::DOUBLE AS eighths, CASE WHEN i % 2 = 0 THEN (i % 100 / 4)::FLOAT END AS quarters,
    DATE '1960-01-01' + (i % 20000)::INTEGER AS day, TIMESTAMP '1969-12-31 23:59:59' + to_milliseconds(i) AS micros,
    (TIMESTAMP '2015-01-01' + to_milliseconds(i * 1001))::TIMESTAMP_MS AS millis, i % 2 = 0 AS even FROM range(40000) r(i)`;
for (const options of [
  'ROW_GROUP_SIZE 122880',
  'ROW_GROUP_SIZE 10240, PARQUET_VERSION v2',
  'DICTIONARY_SIZE_LIMIT 1',
  'DICTIONARY_SIZE_LIMIT 40, CODEC zstd',
]) {
  parquet(`the values DuckDB reads, as values and typed: ${options}`, async ({ folder, file }) => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(`COPY (${TYPED}) TO '${file('typed.parquet')}' (FORMAT parquet, ${options})`);
    const answer = await connection.runAndReadAll(TYPED);
    const [expected, names] = [answer.getColumns(), answer.columnNames()];
    connection.closeSync();
    const isTyped = new Set<string>();
    const reading = { columns: null, workDirectory: folder, inputLimits: LIMITS, read: () => undefined };
    let before = 0;
    for await (const block of readParquet(FORMAT, entity(file('typed.parquet')), reading)) {
      for (const [at, name] of names.entries()) {
        const values = block.values(name);
        const found = block.typed?.(name);
        const typed = found?.kind === 'packed' ? plainColumn(found) : found;
        if (typed !== undefined) isTyped.add(name);
        for (let row = 0; row < block.rowCount; row++) {
          const wanted = plainCell(expected[at]?.[before + row]);
          assert.is(plainCell(values[row] ?? null), wanted, `${name}, row ${before + row}`);
          if (typed !== undefined) assert.is(plainCell(cellAt(typed, row)), wanted, `${name}, row ${before + row}, typed`);
        }
      }
      before += block.rowCount;
    }
    assert.is(before, 40_000);
    // Version 2 packs by differences, which is left to the library.
    if (!options.includes('v2'))
      assert.equal(
        [...isTyped],
        names.filter((name) => name !== 'even'),
      );
  });
}

parquet('texts of dictionary pages and plain ones in one block; each that is not UTF-8 reads as U+FFFD, and its row is at fault', () => {
  const texts = [Buffer.from('é'), Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xa9])];
  const stored = Buffer.concat(texts.flatMap((text) => [Buffer.from([text.length, 0, 0, 0]), text]));
  // Ids of two bits: a group of eight, of which four are values.
  const ids = Buffer.from([2, 3, 0b11100100, 0]);
  const pages = [
    { body: stored, header: { type: 'DICTIONARY_PAGE', dictionary_page_header: { num_values: 4 } } },
    { body: ids, header: { type: 'DATA_PAGE', data_page_header: { num_values: 4, encoding: 'RLE_DICTIONARY' } } },
    { body: stored, header: { type: 'DATA_PAGE', data_page_header: { num_values: 4, encoding: 'PLAIN' } } },
    { body: ids, header: { type: 'DATA_PAGE', data_page_header: { num_values: 4, encoding: 'RLE_DICTIONARY' } } },
  ];
  const element = { name: 'a', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' };
  const values = flatValues(element, { encodings: ['PLAIN', 'RLE_DICTIONARY'] }, { binaryAsString: false });
  if (values === null) throw new Error('strings are read page by page');
  const chunk = Uint8Array.from(Buffer.concat(pages.map(({ body }) => body))).buffer;
  let page = 0;
  const column = new ColumnPages(chunk, element, values, {
    header() {
      const { body, header } = pages[page++] ?? {};
      if (body === undefined || header === undefined) throw new Error('no page left');
      return { ...header, compressed_page_size: body.length, uncompressed_page_size: body.length };
    },
    unpacked: (bytes) => bytes,
  });
  const expected = ['é', '\ufffd', '\ufffd', '\ufffd'];
  for (const [count, wanted, faults] of [
    [2, expected.slice(0, 2), [1]],
    [10, [...expected.slice(2), ...expected, ...expected], [0, 1, 3, 4, 5, 7, 8, 9]],
  ] as const) {
    const read = column.read(count);
    assert.equal(column.faults, faults);
    const plain = read.kind === 'packed' ? plainColumn(read) : read;
    assert.equal(
      Array.from({ length: count }, (_, row) => cellAt(plain, row)),
      wanted,
    );
  }
});

/** Numbers and times as numbers. */
function plainCell(cell: unknown): unknown {
  if (typeof cell === 'bigint') return Number(cell);
  if (cell instanceof DuckDBDateValue) return cell.days * 86_400_000;
  if (cell instanceof DuckDBTimestampValue) return Number(cell.micros) / 1000;
  if (cell instanceof DuckDBTimestampMillisecondsValue) return Number(cell.millis);
  return cell;
}

parquet('a damaged file is read, or refused by name', async ({ folder, file }) => {
  const whole = readFileSync(file('snappy.parquet'));
  const random = randomSource(11);
  for (let round = 0; round < caseCount(150); round++) {
    const damaged = Buffer.from(whole);
    for (let change = 0; change < 1 + (round % 4); change++)
      damaged[4 + Math.floor(random() * (whole.length - 2000))] = Math.floor(random() * 256);
    writeFileSync(file('damaged.parquet'), damaged);
    try {
      await columnsOf(entity(file('damaged.parquet')), null, folder);
    } catch (error) {
      assert.is((error as ServiceError).code, 'input_unreadable', (error as Error).stack);
    }
  }
});

parquet('only the columns asked for', async ({ folder, file }) => {
  assert.equal(Object.keys(await columnsOf(entity(file('zstd.parquet')), ['page', 'absent'], folder)), ['page']);
});

parquet('an input that is no local file is brought here first', async ({ folder, file }) => {
  assert.is((await columnsOf(entity(file('snappy.parquet'), false), ['small'], folder))['small']?.length, ROWS);
});

parquet(
  'decimals are the nearest doubles, at any depth; times before 1970 end in the millisecond that they are in',
  async ({ folder, file }) => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const price = '((i - 500) * 12.345)::DECIMAL(15, 3)';
    await connection.run(
      `COPY (SELECT ${price} AS price, [${price}, NULL] AS list, CASE WHEN i % 2 = 0 THEN {'a': ${price}, 'b': [[0.1::FLOAT]]} END AS record,
      MAP {${price}: ${price}} AS map, [{'a': [${price}]}] AS records, make_timestamp_ns(-1 - i) AS nanos FROM range(1000) r(i)) TO '${file('decimals.parquet')}' (FORMAT parquet)`,
    );
    connection.closeSync();
    const read = await columnsOf(entity(file('decimals.parquet')), null, folder);
    for (let row = 0; row < 1000; row++) {
      // Thousandths, and what JavaScript reads of the decimal as text.
      const price = Number(`${(row - 500) * 12_345}e-3`);
      assert.is(read['price']?.[row], price);
      assert.equal(read['list']?.[row], [price, null]);
      assert.equal(read['record']?.[row] ?? null, row % 2 === 0 ? { a: price, b: [[Math.fround(0.1)]] } : null);
      assert.equal(read['map']?.[row], { [String(price)]: price });
      assert.equal(read['records']?.[row], [{ a: [price] }]);
      assert.is(read['nanos']?.[row], -1);
    }
  },
);

const refusals = [
  { name: 'text.parquet', message: /not a Parquet file: it begins with "a,b,"/ },
  { name: 'cut.parquet', message: /damaged Parquet file/ },
  { name: 'decimal.parquet', message: /"price" is DECIMAL\(30, 5\)/ },
];
for (const { name, message } of refusals) {
  parquet(`refused: ${name}`, async ({ folder, file }) => {
    try {
      await columnsOf(entity(file(name)), null, folder);
      assert.unreachable('it must be refused');
    } catch (error) {
      assert.match((error as Error).message, message);
    }
  });
}
parquet.run();
