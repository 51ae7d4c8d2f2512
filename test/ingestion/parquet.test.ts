import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ParquetFormat, readParquet } from '../../src/ingestion/format/parquet.js';
import type { InputEntity } from '../../src/ingestion/source/source-kind.js';

const FORMAT: ParquetFormat = { binaryAsString: false, flatten: null };
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

parquet('only the columns asked for', async ({ folder, file }) => {
  assert.equal(Object.keys(await columnsOf(entity(file('zstd.parquet')), ['page', 'absent'], folder)), ['page']);
});

parquet('an input that is no local file is brought here first', async ({ folder, file }) => {
  assert.is((await columnsOf(entity(file('snappy.parquet'), false), ['small'], folder))['small']?.length, ROWS);
});

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
