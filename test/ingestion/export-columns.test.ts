import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { parseInputFormat } from '../../src/ingestion/format/input-format.js';
import { ENCODERS } from '../../src/ingestion/sql/export/formats.js';

import { type ArrayElement, arrayText } from '../../src/model/array-text.js';
import type { Frame, FrameColumn } from '../../src/model/frame.js';
import type { ArrayType, TextType } from '../../src/model/schema.js';
import type { OutputColumn, SqlType } from '../../src/model/statement.js';
import { DECOMPRESSION } from './blocks.js';
import { exportRows } from './export-rows.js';
import { run } from './run-task.js';

/** INSERT INTO EXTERN as Parquet and Arrow: files of typed columns, read back by DuckDB and by our own readers. */
const columns = suite<{ folder: string }>('export of columns');
columns.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-columns-'));
});
columns.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const MAX = 2n ** 63n - 1n;

function textColumn(name: string, type: TextType, values: readonly (string | null)[]): FrameColumn {
  return { kind: 'string', name, type, ids: Uint32Array.from(values, (_, id) => id), dictionary: values };
}

function arrayColumn(name: string, type: ArrayType, values: readonly (readonly ArrayElement[] | null)[]): FrameColumn {
  return textColumn(
    name,
    type,
    values.map((value) => value && arrayText(value, type)),
  );
}

function longColumn(name: string, values: readonly (bigint | null)[]): FrameColumn {
  return { kind: 'long', name, values: BigInt64Array.from(values, (value) => value ?? 0n), nulls: nullsOf(values) };
}

function doubleColumn(name: string, type: 'FLOAT' | 'DOUBLE', values: readonly (number | null)[]): FrameColumn {
  return { kind: 'double', name, type, values: Float64Array.from(values, (value) => value ?? 0), nulls: nullsOf(values) };
}

function nullsOf(values: readonly unknown[]): Uint32Array {
  return Uint32Array.of(values.reduce<number>((bits, value, row) => (value === null ? bits | (1 << row) : bits), 0));
}

/** Each column: its SQL type, its values in a frame, and what readers give. */
const CASES: readonly {
  readonly sqlType: SqlType;
  readonly column: FrameColumn;
  /** Read by DuckDB as JSON of SQL types. */
  readonly duckdb: readonly unknown[];
  /** Read by our own formats. */
  readonly read: readonly unknown[];
}[] = [
  {
    sqlType: 'BIGINT',
    column: longColumn('long', [MAX, -MAX - 1n, null]),
    duckdb: [String(MAX), String(-MAX - 1n), null],
    read: [MAX, -MAX - 1n, null],
  },
  {
    sqlType: 'DOUBLE',
    column: doubleColumn('double', 'DOUBLE', [0.1, -0, null]),
    duckdb: [0.1, -0, null],
    read: [0.1, -0, null],
  },
  {
    sqlType: 'FLOAT',
    column: doubleColumn('float', 'FLOAT', [0.5, Math.fround(0.1), null]),
    duckdb: [0.5, Math.fround(0.1), null],
    read: [0.5, Math.fround(0.1), null],
  },
  {
    sqlType: 'VARCHAR',
    column: textColumn('a "b".c', 'STRING', ['é😀', '', null]),
    duckdb: ['é😀', '', null],
    read: ['é😀', '', null],
  },
  {
    sqlType: 'BOOLEAN',
    column: longColumn('truth', [1n, 0n, null]),
    duckdb: [true, false, null],
    read: [true, false, null],
  },
  {
    sqlType: 'TIMESTAMP',
    column: longColumn('time', [1_442_016_000_771n, -1n, null]),
    duckdb: ['2015-09-12 00:00:00.771+00', '1969-12-31 23:59:59.999+00', null],
    read: [1_442_016_000_771, -1, null],
  },
  {
    // Midnight in Berlin, two hours before midnight of UTC in summer and one in winter.
    sqlType: 'DATE',
    column: longColumn('day', [BigInt(Date.UTC(2024, 6, 1) - 2 * 3_600_000), BigInt(-3_600_000), null]),
    duckdb: ['2024-07-01', '1970-01-01', null],
    read: [Date.UTC(2024, 6, 1), 0, null],
  },
  {
    sqlType: 'ARRAY<VARCHAR>',
    column: arrayColumn('tags', 'ARRAY<STRING>', [['x', null, ''], [], null]),
    duckdb: [['x', null, ''], [], null],
    read: [['x', null, ''], [], null],
  },
  {
    sqlType: 'ARRAY<BIGINT>',
    column: arrayColumn('longs', 'ARRAY<LONG>', [[1n, null], [2n ** 60n], []]),
    duckdb: [['1', null], [String(2n ** 60n)], []],
    read: [[1, null], [2n ** 60n], []],
  },
  {
    sqlType: 'ARRAY<ARRAY<DOUBLE>>',
    column: arrayColumn('nested', 'ARRAY<ARRAY<DOUBLE>>', [[[1.5, null], null, []], null, [[-0]]]),
    duckdb: [[[1.5, null], null, []], null, [[-0]]],
    read: [[[1.5, null], null, []], null, [[-0]]],
  },
  {
    sqlType: 'COMPLEX<json>',
    column: textColumn('json', 'COMPLEX<json>', ['{"a":[1]}', null, '"x"']),
    duckdb: ['{"a":[1]}', null, '"x"'],
    read: ['{"a":[1]}', null, '"x"'],
  },
  {
    sqlType: 'COMPLEX<HLLSketch>',
    column: textColumn('sketch', 'COMPLEX<HLLSketch>', ['AgEHDAMIAQA=', null, null]),
    duckdb: ['AgEHDAMIAQA=', null, null],
    read: ['AgEHDAMIAQA=', null, null],
  },
  {
    // Strings of several values are written as in CSV.
    sqlType: 'VARCHAR',
    column: { kind: 'multi', name: 'several', offsets: Uint32Array.of(0, 2, 3, 3), ids: Uint32Array.of(0, 1, 1), dictionary: ['a', null] },
    duckdb: ['["a",null]', null, null],
    read: ['["a",null]', null, null],
  },
];

const NATIVE: Readonly<Record<string, OutputColumn['nativeType']>> = {
  BIGINT: 'LONG',
  BOOLEAN: 'LONG',
  TIMESTAMP: 'LONG',
  DATE: 'LONG',
  DOUBLE: 'DOUBLE',
  FLOAT: 'FLOAT',
  VARCHAR: 'STRING',
};

function outputOf(sqlType: SqlType, column: FrameColumn): OutputColumn {
  const nativeType = NATIVE[sqlType] ?? (column.kind === 'string' ? (column.type ?? 'STRING') : 'STRING');
  return { name: column.name, sqlType, nativeType };
}

const OUTPUT = CASES.map(({ sqlType, column }) => outputOf(sqlType, column));
const FRAME: Frame = { rowCount: 3, columns: CASES.map(({ column }) => column) };

async function exported(
  folder: string,
  format: 'parquet' | 'arrow',
  frames: readonly Frame[],
  output: readonly OutputColumn[],
  rowsPerFile = 1e6,
): Promise<readonly string[]> {
  const options = { baseDirectory: folder, taskId: 'task', attempt: 1, rowsPerFile, timeZone: 'Europe/Berlin', refuseEmpty: null };
  async function* given(): AsyncGenerator<Frame> {
    yield* frames;
  }
  const target = { kind: 'export', exportPath: format, format } as const;
  return (await exportRows(given(), output, target, { ...options, signal: new AbortController().signal, now: Date.now })).files;
}

/** Longs of Parquet come as bigints, whatever their size. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : (value ?? null);
}

/** Values of a file by column, as an ingestion task reads them. */
async function readBack(format: 'parquet' | 'arrow', file: string, folder: string): Promise<Record<string, unknown[]>> {
  const opened = parseInputFormat(new ObjectReader({ type: format }, 'inputFormat', readContextOf('input_invalid', 'inputFormat')));
  const read: Record<string, unknown[]> = {};
  const entity = { name: file, sizeBytes: statSync(file).size, localFile: file, open: async () => createReadStream(file) };
  for await (const block of opened.read(entity, {
    columns: null,
    workDirectory: folder,
    inputLimits: { maxColumns: 100, maxRowBytes: 1 << 20, decompression: DECOMPRESSION },
    read: () => undefined,
    reject: () => undefined,
  })) {
    if (block.kind !== 'values') throw new Error(`a block of ${block.kind}`);
    for (const name of block.columns) read[name] = [...(read[name] ?? []), ...Array.from(block.values(name), plain)];
  }
  return read;
}

/** Rows of a query over Parquet files, as DuckDB gives them. */
async function duckdb(sql: string): Promise<readonly Record<string, unknown>[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`SET TimeZone = 'UTC'`);
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
  connection.closeSync();
  return rows as readonly Record<string, unknown>[];
}

columns('Parquet: DuckDB reads types and values', async ({ folder }) => {
  const [file] = await exported(folder, 'parquet', [FRAME], OUTPUT);
  const rows = await duckdb(`SELECT * FROM '${file}'`);
  for (const { column, duckdb: expected } of CASES)
    assert.equal(
      rows.map((row) => row[column.name]),
      expected,
      column.name,
    );
  const types = await duckdb(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${file}')`);
  assert.equal(
    types.map(({ column_type }) => column_type),
    ['BIGINT', 'DOUBLE', 'FLOAT', 'VARCHAR', 'BOOLEAN', 'TIMESTAMP WITH TIME ZONE', 'DATE', 'VARCHAR[]', 'BIGINT[]', 'DOUBLE[][]'].concat([
      'VARCHAR',
      'VARCHAR',
      'VARCHAR',
    ]),
  );
});

for (const format of ['parquet', 'arrow'] as const)
  columns(`${format}: read back by ingestion`, async ({ folder }) => {
    const [file = ''] = await exported(folder, format, [FRAME], OUTPUT);
    const read = await readBack(format, file, folder);
    assert.equal(
      Object.keys(read),
      CASES.map(({ column }) => column.name),
    );
    for (const { column, read: expected } of CASES) assert.equal(read[column.name], expected, column.name);
  });

/** Frames of long strings, many rows in all, and rows of a file after which the next one begins. */
function manyFrames(frames: number, rows: number, width: number): readonly Frame[] {
  return Array.from({ length: frames }, (_, frame) => {
    const numbers = Array.from({ length: rows }, (_, row) => BigInt(frame * rows + row));
    return {
      rowCount: rows,
      columns: [
        { kind: 'long' as const, name: 'n', values: BigInt64Array.from(numbers), nulls: null },
        textColumn(
          's',
          'STRING',
          numbers.map((n) => String(n).padStart(width, 'x')),
        ),
        {
          kind: 'double' as const,
          name: 'h',
          type: 'DOUBLE' as const,
          values: Float64Array.from(numbers, (n) => Number(n) / 2),
          nulls: null,
        },
      ],
    };
  });
}
const MANY: readonly OutputColumn[] = [
  { name: 'n', sqlType: 'BIGINT', nativeType: 'LONG' },
  { name: 's', sqlType: 'VARCHAR', nativeType: 'STRING' },
  { name: 'h', sqlType: 'DOUBLE', nativeType: 'DOUBLE' },
];

for (const format of ['parquet', 'arrow'] as const)
  columns(`${format}: many rows are written in groups of bounded size, in files of so many rows`, async ({ folder }) => {
    // 24,000 rows of a thousand characters: more than one group of 16 MiB in the first file.
    const files = await exported(folder, format, manyFrames(3, 8000, 1000), MANY, 20_000);
    assert.is(files.length, 2);
    const read: Record<string, unknown[]>[] = [];
    for (const file of files) read.push(await readBack(format, file, folder));
    assert.equal(
      read.map(({ n }) => n?.length),
      [20_000, 4000],
    );
    const all = (name: string): readonly unknown[] => read.flatMap((each) => each[name] ?? []);
    assert.ok(all('n').every((value, row) => value === row));
    assert.ok(all('s').every((value, row) => value === String(row).padStart(1000, 'x')));
    assert.ok(all('h').every((value, row) => value === row / 2));
    if (format === 'parquet') {
      const groups = await duckdb(`SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${files[0]}') ORDER BY 1`);
      assert.ok(groups.length >= 2, JSON.stringify(groups));
      const [sum] = await duckdb(`SELECT SUM(n)::BIGINT AS n, MIN(LENGTH(s)) AS s FROM read_parquet(['${files.join("', '")}'])`);
      assert.equal(sum, { n: String((24_000 * 23_999) / 2), s: '1000' });
    }
  });

columns('the sign of zero is kept where few values are repeated', async ({ folder }) => {
  const values = Array.from({ length: 2000 }, (_, row) => (row % 2 === 0 ? 0 : -0));
  const column: FrameColumn = { kind: 'double', name: 'd', type: 'DOUBLE', values: Float64Array.from(values), nulls: null };
  for (const format of ['parquet', 'arrow'] as const) {
    const [file = ''] = await exported(folder, format, [{ rowCount: 2000, columns: [column] }], [outputOf('DOUBLE', column)]);
    const { d = [] } = await readBack(format, file, folder);
    assert.ok(d.length === 2000 && d.every((value, row) => Object.is(value, values[row])), format);
  }
});

columns('the event loop has turns while rows are written', async () => {
  const [frame = { rowCount: 0, columns: [] }] = manyFrames(1, 15_000, 10);
  for (const [format, open] of Object.entries(ENCODERS)) {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const rows = await open(MANY, async () => undefined, 'UTC');
    // No group is full: nothing else is waited for.
    for (let times = 0; times < 6; times++) await rows.add(frame, 0, frame.rowCount);
    clearInterval(timer);
    assert.ok(turns > 0, format);
  }
});

columns('no more than a group is held back', async () => {
  for (const format of ['parquet', 'arrow'] as const) {
    let written = 0;
    const rows = await ENCODERS[format](
      MANY,
      async (bytes) => {
        written += bytes.length;
      },
      'UTC',
    );
    for (const frame of manyFrames(1, 17_000, 1000)) await rows.add(frame, 0, frame.rowCount);
    assert.ok(written > 0, format);
  }
});

columns('a value that is not of its column ends the export', async ({ folder }) => {
  const output = outputOf('BIGINT', longColumn('v', []));
  for (const format of ['parquet', 'arrow'] as const) {
    try {
      await exported(folder, format, [{ rowCount: 1, columns: [textColumn('v', 'STRING', ['x'])] }], [output]);
      assert.unreachable();
    } catch (error) {
      assert.is((error as ServiceError).code, 'internal', String(error));
    }
    assert.equal(readdirSync(path.join(folder, format)), []);
  }
});

const SIGNATURE = [
  { name: 't', type: 'long' },
  { name: 'page', type: 'string' },
  { name: 'tags', type: 'array<string>' },
];
const ROWS = [
  { t: 60_000, page: 'a', tags: ['x', 'y'] },
  { t: 120_000, page: null, tags: [] },
];

for (const format of ['parquet', 'arrow'] as const)
  columns(`statement: AS ${format}`, async ({ folder }) => {
    const source = { type: 'inline', data: ROWS.map((row) => JSON.stringify(row)).join('\n') };
    const query =
      `INSERT INTO EXTERN(local(exportPath => 'out')) AS ${format.toUpperCase()} ` +
      `SELECT MILLIS_TO_TIMESTAMP(t) AS "when", page, tags, t > 60000 AS late, t / 2e0 AS half, NULL AS nothing, 1.5 AS price, DATE '2024-07-01' AS d ` +
      `FROM TABLE(EXTERN('${JSON.stringify(source)}', '{"type":"json"}', '${JSON.stringify(SIGNATURE)}'))`;
    const done = await run({ type: 'query_controller', spec: { query, context: {} } }, { exportDirectory: folder });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    const files = readdirSync(path.join(folder, 'out')).filter((name) => name.endsWith(`.${format}`));
    assert.is(files.length, 1);
    const file = path.join(folder, 'out', files[0] ?? '');
    assert.equal(await readBack(format, file, folder), {
      when: [60_000, 120_000],
      page: ['a', null],
      tags: [['x', 'y'], []],
      late: [false, true],
      half: [30_000, 60_000],
      nothing: [null, null],
      price: [1.5, 1.5],
      d: [Date.UTC(2024, 6, 1), Date.UTC(2024, 6, 1)],
    });
    const manifest = readFileSync(path.join(folder, 'out', '_symlink_format_manifest', 'manifest'), 'utf8');
    assert.is(path.basename(new URL(manifest.trim()).pathname), files[0]);
  });

columns.run();
