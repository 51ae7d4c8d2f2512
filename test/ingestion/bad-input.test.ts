import { appendFileSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { parseInputFormat } from '../../src/ingestion/format/input-format.js';
import { localEntities } from '../../src/ingestion/source/local.js';
import { DECOMPRESSION } from './blocks.js';
import { run } from './run-task.js';

/** Input that is large, wide, broken, or changes: a verdict by name, in bounded memory. */
const bad = suite<{ folder: string }>('bad input');
bad.before.each((context) => {
  context.folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'dolmen-bad-')));
});
bad.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const MAX_ROW_BYTES = 1 << 20;
const FORMATS: readonly { readonly type: string; readonly [option: string]: unknown }[] = [
  { type: 'json' },
  { type: 'json', useJsonNodeReader: true },
  { type: 'csv', columns: ['t', 'k'] },
  { type: 'csv', findColumnsFromHeader: true },
  { type: 'tsv', columns: ['t', 'k'] },
  { type: 'lines' },
  { type: 'regex', pattern: '(.*)', columns: ['t'] },
];

function task(inputSource: unknown, inputFormat: unknown, dimensionsSpec: unknown = { dimensions: ['k'] }): unknown {
  const dataSchema = { dataSource: 'ds', timestampSpec: { column: 't', format: 'millis' }, dimensionsSpec };
  return { type: 'index', spec: { dataSchema, ioConfig: { type: 'index', inputSource, inputFormat } } };
}

// 256 MiB of one letter take 256 KiB: a row without an end.
const BOMB = gzipSync(Buffer.alloc(256 << 20, '"'), { level: 9 });
for (const format of FORMATS) {
  bad(`a bomb of one row: ${JSON.stringify(format)}`, async ({ folder }) => {
    writeFileSync(path.join(folder, 'bomb.gz'), BOMB);
    const before = process.memoryUsage.rss();
    const { outcome } = await run(task({ type: 'local', files: [path.join(folder, 'bomb.gz')] }, format), {
      allowedDirectories: [folder],
      inputLimits: { maxColumns: 1000, maxRowBytes: MAX_ROW_BYTES, decompression: DECOMPRESSION },
    });
    assert.match(outcome.errorMessage ?? '', /svc\.ingestion\.maxRowBytes|no header row|header row is blank or has an open quote/);
    const grown = (process.memoryUsage.rss() - before) >> 20;
    assert.ok(grown < 160, `${grown} MiB`);
  });
}

const WIDE = 100_000;
bad('100,000 columns of CSV', async () => {
  const header = Array.from({ length: WIDE }, (_, column) => `c${column}`).join(',');
  const { outcome } = await run(task({ type: 'inline', data: `t,${header}\n1` }, { type: 'csv', findColumnsFromHeader: true }));
  assert.match(outcome.errorMessage ?? '', /100001 columns are more than svc\.ingestion\.maxColumns/);
});
bad('100,000 columns of JSON', async () => {
  const row = Object.fromEntries([['t', 1], ...Array.from({ length: WIDE }, (_, column) => [`c${column}`, column])]);
  const { outcome } = await run(task({ type: 'inline', data: JSON.stringify(row) }, { type: 'json' }, { useSchemaDiscovery: true }), {
    inputLimits: { maxColumns: 1000, maxRowBytes: 1 << 23, decompression: DECOMPRESSION },
  });
  assert.match(outcome.errorMessage ?? '', /svc\.ingestion\.maxColumns/);
});

bad('a NUL byte is a fault of its row', async () => {
  const data = '{"t":1,"k":"a"}\n{"t":2,"k":"\u0000"}\n{"t":3,"k":"c"}';
  const { outcome, rows } = await run(task({ type: 'inline', data }, { type: 'json' }));
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  assert.equal(
    rows.map((row) => row['k']),
    ['a', 'c'],
  );
});

bad('the columns that name the file of a row', async ({ folder }) => {
  for (const name of ['a.json', 'b.json']) writeFileSync(path.join(folder, name), '{"t":1,"k":"x"}\n{"t":2,"k":"y"}\n');
  const source = { type: 'local', baseDir: folder, filter: '*.json', systemFields: ['__file_uri', '__file_path'] };
  const { outcome, rows } = await run(task(source, { type: 'json' }, { dimensions: ['k', '__file_path', '__file_uri'] }), {
    allowedDirectories: [folder],
  });
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  assert.equal(
    rows.map((row) => `${row['k']} ${row['__file_path']} ${row['__file_uri']}`).sort(),
    ['a', 'b'].flatMap((name) => ['x', 'y'].map((k) => `${k} ${folder}/${name}.json file:${folder}/${name}.json`)).sort(),
  );
  const wrong = await run(task({ ...source, systemFields: ['__file_bucket'] }, { type: 'json' }));
  assert.match(wrong.outcome.errorMessage ?? '', /systemFields: expected __file_uri, __file_path, found "__file_bucket"/);
});

const CHANGES: readonly { readonly name: string; readonly change: (file: string) => void }[] = [
  { name: 'grows', change: (file) => appendFileSync(file, '{"k":"more"}\n') },
  { name: 'is cut off', change: (file) => truncateSync(file, 1 << 20) },
];
for (const { name, change } of CHANGES) {
  bad(`a file that ${name} while it is read`, async ({ folder }) => {
    const file = path.join(folder, 'rows.json');
    writeFileSync(file, '{"k":"some row of a file"}\n'.repeat(200_000));
    const [entity] = await localEntities({ baseDir: null, filter: null, files: [file] }, [folder]);
    if (entity === undefined) throw new Error('no file');
    const format = parseInputFormat(new ObjectReader({ type: 'json' }, 'inputFormat', readContextOf('input_invalid', 'the task')));
    const blocks = format.read(entity, {
      columns: null,
      workDirectory: folder,
      inputLimits: { maxColumns: 10, maxRowBytes: MAX_ROW_BYTES, decompression: DECOMPRESSION },
      read: () => undefined,
      reject: () => undefined,
    });
    await blocks.next();
    change(file);
    let failure: unknown;
    try {
      for await (const _ of blocks);
    } catch (error) {
      failure = error;
    }
    assert.instance(failure, ServiceError);
    assert.match(String(failure), /rows\.json was changed while it was read/);
  });
}

const REFUSED: readonly { readonly key: string; readonly type: string; readonly says: RegExp }[] = [
  {
    key: 'inputSource',
    type: 'google',
    says: /"google" is not supported; no client of such storage.*accepted: inline, local, http, s3, sql, druid, combining/,
  },
  { key: 'inputSource', type: 'iceberg', says: /name their Parquet files/ },
  {
    key: 'inputFormat',
    type: 'orc',
    says: /"orc" is not supported; there is no reader of ORC: convert the files to Parquet; accepted: json/,
  },
  { key: 'inputFormat', type: 'avro_stream', says: /it is for streams/ },
  { key: 'inputFormat', type: 'kafka', says: /it is for streams/ },
  { key: 'inputFormat', type: 'xml', says: /expected json, csv, tsv, parquet, avro_ocf, arrow, lines, regex, found "xml"/ },
];
for (const { key, type, says } of REFUSED) {
  bad(`refused with its reason: ${key} ${type}`, async () => {
    const given: Record<string, unknown> = { inputSource: { type: 'inline', data: '' }, inputFormat: { type: 'json' } };
    given[key] = { type };
    const { outcome } = await run(task(given['inputSource'], given['inputFormat']));
    assert.match(outcome.errorMessage ?? '', says);
  });
}

bad.run();
