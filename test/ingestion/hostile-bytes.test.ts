import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { caseCount } from '../case-count.js';
import { run } from './run-task.js';

/**
 * Files of every format, cut, flipped and filled at random places: a task reads them or refuses them by name, counts every row, keeps to
 * `maxParseExceptions` and grows no further than its limits.
 */
const hostile = suite('damaged files');

const require = createRequire(import.meta.url);
const arrow = require('apache-arrow') as typeof import('apache-arrow');
const { streams } = require('avsc') as typeof import('avsc');

const ROWS = 400;
const rowsOf = Array.from({ length: ROWS }, (_, row) => ({
  t: 1_700_000_000_000 + row,
  name: `name ${row % 13} é`,
  n: row * 7,
  x: row / 3,
}));

type Bytes = (folder: string) => Promise<Buffer>;
interface Format {
  readonly name: string;
  readonly inputFormat: object;
  readonly bytes: Bytes;
  readonly extension: string;
}

const text =
  (lines: readonly string[]): Bytes =>
  async () =>
    Buffer.from(lines.join('\n'));
const CSV_LINES = ['t,name,n,x', ...rowsOf.map(({ t, name, n, x }) => `${t},"${name}",${n},${x}`)];

async function parquet(folder: string, options: string): Promise<Buffer> {
  const { readFileSync } = await import('node:fs');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const file = path.join(folder, 'made.parquet');
  await connection.run(
    `COPY (SELECT 1700000000000 + i AS t, 'name ' || (i % 13) AS name, i * 7 AS n, i / 3.0 AS x, [i, i + 1] AS list FROM range(${ROWS}) r(i)) TO '${file}' (FORMAT parquet, ${options})`,
  );
  connection.closeSync();
  return readFileSync(file);
}

const FORMATS: readonly Format[] = [
  { name: 'json', extension: 'json', inputFormat: { type: 'json' }, bytes: text(rowsOf.map((row) => JSON.stringify(row))) },
  {
    name: 'json over lines',
    extension: 'json',
    inputFormat: { type: 'json', useJsonNodeReader: true },
    bytes: async () => Buffer.from(JSON.stringify(rowsOf, null, 1)),
  },
  {
    name: 'json, flattened',
    extension: 'json',
    inputFormat: { type: 'json', flattenSpec: { fields: [{ type: 'path', name: 'deep', expr: '$.a[0].b' }] } },
    bytes: text(rowsOf.map((row) => JSON.stringify({ ...row, a: [{ b: row.n }] }))),
  },
  { name: 'csv', extension: 'csv', inputFormat: { type: 'csv', findColumnsFromHeader: true }, bytes: text(CSV_LINES) },
  {
    name: 'tsv',
    extension: 'tsv',
    inputFormat: { type: 'tsv', columns: ['t', 'name', 'n', 'x'] },
    bytes: text(rowsOf.map(({ t, name, n, x }) => [t, name, n, x].join('\t'))),
  },
  {
    name: 'regex',
    extension: 'log',
    inputFormat: { type: 'regex', pattern: '^(\\d+) (.*) (\\d+)$', columns: ['t', 'name', 'n'] },
    bytes: text(rowsOf.map(({ t, name, n }) => `${t} ${name} ${n}`)),
  },
  {
    name: 'avro',
    extension: 'avro',
    inputFormat: { type: 'avro_ocf' },
    bytes: () => avro('null'),
  },
  { name: 'avro, deflate', extension: 'avro', inputFormat: { type: 'avro_ocf' }, bytes: () => avro('deflate') },
  { name: 'arrow file', extension: 'arrow', inputFormat: { type: 'arrow' }, bytes: async () => arrowBytes('file') },
  { name: 'arrow stream', extension: 'arrows', inputFormat: { type: 'arrow' }, bytes: async () => arrowBytes('stream') },
  { name: 'parquet', extension: 'parquet', inputFormat: { type: 'parquet' }, bytes: (folder) => parquet(folder, "CODEC 'uncompressed'") },
  {
    name: 'parquet, v2',
    extension: 'parquet',
    inputFormat: { type: 'parquet' },
    bytes: (folder) => parquet(folder, "CODEC 'zstd', PARQUET_VERSION V2, ROW_GROUP_SIZE 128"),
  },
  {
    name: 'json.gz',
    extension: 'json.gz',
    inputFormat: { type: 'json' },
    bytes: async () => gzipSync(rowsOf.map((row) => JSON.stringify(row)).join('\n')),
  },
];

function avro(codec: string): Promise<Buffer> {
  const schema = {
    type: 'record',
    name: 'Row',
    fields: [
      { name: 't', type: 'long' },
      { name: 'name', type: 'string' },
      { name: 'n', type: ['null', 'int'] },
      { name: 'x', type: 'double' },
      { name: 'list', type: { type: 'array', items: 'string' } },
      { name: 'map', type: { type: 'map', values: 'bytes' } },
    ],
  };
  const encoder = new streams.BlockEncoder(schema as never, { codec, blockSize: 2000 } as never);
  const chunks: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<Buffer>((resolve) => encoder.on('end', () => resolve(Buffer.concat(chunks))));
  for (const { t, name, n, x } of rowsOf) encoder.write({ t, name, n, x, list: ['a', name], map: { k: Buffer.from('v') } });
  encoder.end();
  return ended;
}

function arrowBytes(kind: 'file' | 'stream'): Buffer {
  const part = (from: number, to: number) => {
    const slice = rowsOf.slice(from, to);
    return arrow.tableFromArrays({
      t: BigInt64Array.from(slice.map(({ t }) => BigInt(t))),
      name: slice.map(({ name }) => name),
      n: Int32Array.from(slice.map(({ n }) => n)),
      x: Float64Array.from(slice.map(({ x }) => x)),
    });
  };
  return Buffer.from(arrow.tableToIPC(part(0, ROWS), kind));
}

type Damage = (bytes: Buffer, random: () => number) => Buffer;
const DAMAGES: Readonly<Record<string, Damage>> = {
  cut: (bytes, random) => bytes.subarray(0, Math.floor(random() * bytes.length)),
  'cut in front': (bytes, random) => bytes.subarray(Math.floor(random() * bytes.length)),
  flipped(bytes, random) {
    const damaged = Buffer.from(bytes);
    for (let change = 0; change < 1 + Math.floor(random() * 4); change++) {
      const at = Math.floor(random() * bytes.length);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    }
    return damaged;
  },
  'other bytes'(bytes, random) {
    const damaged = Buffer.from(bytes);
    const EDGES = [0, 1, 10, 34, 127, 128, 192, 237, 254, 255];
    for (let change = 0; change < 1 + Math.floor(random() * 4); change++)
      damaged[Math.floor(random() * bytes.length)] = EDGES[Math.floor(random() * EDGES.length)] ?? 0;
    return damaged;
  },
  'a run of one byte'(bytes, random) {
    const damaged = Buffer.from(bytes);
    const from = Math.floor(random() * bytes.length);
    return damaged.fill(random() < 0.5 ? 0 : 255, from, Math.min(bytes.length, from + 1 + Math.floor(random() * 64)));
  },
  'a piece twice'(bytes, random) {
    const at = Math.floor(random() * bytes.length);
    const piece = bytes.subarray(at, at + Math.floor(random() * 300));
    return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
  },
  'a piece left out'(bytes, random) {
    const at = Math.floor(random() * bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 300))]);
  },
  noise: (_, random) => Buffer.from(Array.from({ length: Math.floor(random() * 5000) }, () => Math.floor(random() * 256))),
};

const EXCEPTIONS_MAX = 20;
for (const { name, inputFormat, bytes, extension } of FORMATS) {
  hostile(`of format ${name}`, async () => {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'dolmen-hostile-')));
    try {
      const whole = await bytes(folder);
      const file = path.join(folder, `input.${extension}`);
      const random = randomSource(name.length * 7919);
      const load = (isStrict: boolean) =>
        run(
          {
            type: 'index',
            spec: {
              dataSchema: {
                dataSource: 'ds',
                timestampSpec: { column: 't', format: 'auto' },
                dimensionsSpec: { useSchemaDiscovery: true },
              },
              ioConfig: { type: 'index', inputSource: { type: 'local', files: [file] }, inputFormat },
              tuningConfig: { type: 'index', ...(isStrict ? { maxParseExceptions: EXCEPTIONS_MAX } : {}), maxSavedParseExceptions: 3 },
            },
          },
          { allowedDirectories: [folder] },
        );
      writeFileSync(file, whole);
      const sound = await load(true);
      assert.is(sound.rows.length, ROWS, sound.outcome.errorMessage ?? '');
      const before = process.memoryUsage.rss();
      for (const [damage, apply] of Object.entries(DAMAGES)) {
        for (let round = 0; round < caseCount(2); round++) {
          const damaged = apply(whole, random);
          writeFileSync(file, damaged);
          const isStrict = round % 2 === 0;
          const { outcome, rows, log } = await load(isStrict);
          const about = `${damage}, round ${round}: ${outcome.errorMessage ?? 'read'}`;
          assert.not(
            log.some((line) => /^\w*Error\b.*\n\s+at /s.test(line)),
            `${about}\n${log.join('\n')}`,
          );
          const { payload } = outcome.report['ingestionStatsAndErrors'] as {
            readonly payload: { readonly rowStats: { readonly buildSegments: Readonly<Record<string, number>> } };
          };
          const { processed = 0, processedWithError = 0, thrownAway = 0, unparseable = 0 } = payload.rowStats.buildSegments;
          if (outcome.succeeded) {
            assert.is(rows.length, processed + processedWithError, about);
            assert.is(thrownAway, 0);
            if (isStrict) assert.ok(unparseable + processedWithError <= EXCEPTIONS_MAX, about);
          } else {
            assert.ok((outcome.errorMessage ?? '').length > 0);
            assert.is(rows.length, 0);
          }
        }
      }
      const grown = (process.memoryUsage.rss() - before) >> 20;
      assert.ok(grown < 600, `${grown} MiB`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

hostile.run();
