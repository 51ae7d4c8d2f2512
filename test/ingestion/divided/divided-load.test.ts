import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DividedInput, divisions, type LoadOutcome, loadDivided, MINUTE } from './divided-run.js';

// Inputs that are easily read otherwise in parts, each by one, two and three threads.

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const csv = { type: 'csv', findColumnsFromHeader: true };
const numbered = (count: number, line: (row: number) => string): string => Array.from({ length: count }, (_, row) => line(row)).join('\n');
const clean = (count: number): Readonly<Record<string, number>> => ({
  processed: count,
  processedWithError: 0,
  thrownAway: 0,
  unparseable: 0,
});

interface Expected {
  readonly counts?: Readonly<Record<string, number>>;
  readonly saved?: readonly (readonly [type: string, input: string])[];
  readonly failure?: readonly [code: string, message: RegExp];
}

/** Checks that all outcomes are equal, and what the first of them is. */
async function check(input: DividedInput, expected: Expected, partBytes: readonly number[] = [60, 900]): Promise<LoadOutcome> {
  const outcomes = await loadDivided(input, divisions(partBytes));
  const [first] = outcomes as [LoadOutcome];
  for (const other of outcomes) assert.equal(other, first);
  const { counts, saved, failure } = expected;
  if (failure === undefined) assert.is(first.failure, null, first.failure?.[1]);
  else {
    assert.is(first.failure?.[0], failure[0]);
    assert.match(first.failure?.[1] ?? '', failure[1]);
  }
  if (counts !== undefined) assert.equal(first.counts, counts);
  if (saved !== undefined)
    assert.equal(
      first.saved.map(([type, row]) => [type, row]),
      saved,
    );
  return first;
}

const load = suite('input on several threads');

load('a quoted field that looks like rows belongs to the row that it stands in', async () => {
  const decoys = '0,decoy,1,1\n'.repeat(20);
  const rows = numbered(60, (row) => `${row * MINUTE},${row % 3 === 0 ? `"${decoys}"` : 'plain'},${row},0.5`);
  const { segments, bytesRead } = await check(
    { files: [{ name: 'a.csv', bytes: bytes(`t,s,n,d\n${rows}`) }], inputFormat: csv },
    { counts: clean(60) },
  );
  assert.is(segments.length, 1);
  assert.is(bytesRead, Buffer.byteLength(`t,s,n,d\n${rows}`));
});

load('a field that is never closed is one row, to the end of its file', async () => {
  const rows = numbered(30, (row) => `${row * MINUTE},s,${row},1`);
  const rest = `"${numbered(30, (row) => `${row},t,1,1`)}`;
  await check(
    { files: ['a.csv', 'b.csv'].map((name) => ({ name, bytes: bytes(`t,s,n,d\n${rows}\n${rest}`) })), inputFormat: csv },
    { counts: { ...clean(60), unparseable: 2 } },
  );
});

load('what stands before the rows may be longer than a part', async () => {
  const head = `skip\n\n${'very '.repeat(30)}long\nt,s,n,d\n`;
  const file = { name: 'a.csv', bytes: bytes(`${head}${numbered(20, (row) => `${row * MINUTE},s,${row},1`)}\n`) };
  await check({ files: [file, { ...file, name: 'b.csv' }], inputFormat: { ...csv, skipHeaderRows: 3 } }, { counts: clean(40) }, [7, 50]);
});

load('a header without rows, and empty files, between others', async () => {
  const files = ['', 't,s,n,d\n', `t,s,n,d\n${numbered(40, (row) => `${row * MINUTE},s,${row},1`)}`, '', 't,s,n,d'].map((text, at) => ({
    name: `${at}.csv`,
    bytes: bytes(text),
  }));
  await check({ files, inputFormat: csv }, { counts: clean(40) }, [3, 50]);
});

load('exceptions of every kind are kept in the order of the rows, up to their number', async () => {
  const lines = numbered(90, (row) => {
    if (row % 9 === 1) return `{"t":${row},"s":"misfit","n":"x"}`;
    if (row % 9 === 2) return `{broken ${row}`;
    if (row % 9 === 4) return `{"s":"timeless ${row}"}`;
    return `{"t":${row},"s":"good","n":${row}}`;
  });
  const saved = Array.from({ length: 30 }, (_, at) => {
    const row = Math.floor(at / 3) * 9 + ([1, 2, 4][at % 3] ?? 0);
    if (row % 9 === 1) return ['processedWithError', `{"t":${row},"s":"misfit","n":"x"}`] as const;
    return row % 9 === 2 ? (['unparseable', `{broken ${row}`] as const) : (['unparseable', `{"s":"timeless ${row}"}`] as const);
  });
  const input = { files: [{ name: 'a.json', bytes: bytes(lines) }], inputFormat: { type: 'json' } };
  const counts = { processed: 60, processedWithError: 10, thrownAway: 0, unparseable: 20 };
  await check({ ...input, tuning: { maxSavedParseExceptions: 100 } }, { counts, saved });
  await check({ ...input, tuning: { maxSavedParseExceptions: 7 } }, { counts, saved: saved.slice(0, 7) });
  // The twelfth exception is that of row 31, the one too many that of row 37.
  await check(
    { ...input, tuning: { maxSavedParseExceptions: 100, maxParseExceptions: 12 } },
    {
      counts: { processed: 38 - 13, processedWithError: 5, thrownAway: 0, unparseable: 8 },
      saved: saved.slice(0, 13),
      failure: ['input_unreadable', /more than 12 rows could not be parsed \(maxParseExceptions\); the last: .*"t":37/],
    },
  );
});

load('a row that is too long is refused, wherever it lies in its part', async () => {
  const maxRowBytes = 2000;
  for (const [inputFormat, longRow, row] of [
    [csv, (length: number) => `0,${'x'.repeat(length - 2)}`, '0,s,1,1'],
    [{ type: 'json' }, (length: number) => `{"t":0,"s":"${'x'.repeat(length - 14)}"}`, '{"t":0,"s":"s"}'],
  ] as const) {
    const head = inputFormat === csv ? 't,s,n,d\n' : '';
    const rows = `${row}\n`.repeat(50);
    const files = (length: number) => [{ name: 'rows', bytes: bytes(`${head}${rows}${longRow(length)}\n${rows}`) }];
    await check({ files: files(maxRowBytes), inputFormat, maxRowBytes }, { counts: clean(101) });
    await check(
      { files: files(maxRowBytes + 1), inputFormat, maxRowBytes },
      { counts: clean(50), failure: ['resource_limit', /rows: a row is longer than svc.ingestion.maxRowBytes \(2000 bytes\)/] },
    );
  }
});

load('a file that changes while it is read is refused', async () => {
  const rows = (separator: string): string => numbered(40, (row) => `${row * MINUTE}${separator}s`);
  for (const [name, inputFormat] of [
    ['a.csv', { type: 'csv', columns: ['t', 's'] }],
    ['a.tsv', { type: 'tsv', columns: ['t', 's'] }],
    ['a.log', { type: 'regex', pattern: '(.*),(.*)', columns: ['t', 's'] }],
  ] as const)
    for (const { failure, segments } of await loadDivided(
      {
        files: [{ name, bytes: bytes(rows(name === 'a.tsv' ? '\t' : ',')) }],
        inputFormat,
        begins: ([file]) => appendFileSync(file ?? '', '\n1,s'),
      },
      divisions([30, 100], 'threads'),
    )) {
      assert.is(failure?.[0], 'input_unreadable');
      assert.match(failure?.[1] ?? '', /a\.\w+ was changed/);
      assert.equal(segments, []);
    }
});

load('Parquet is divided by its row groups', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-groups-'));
  const file = path.join(folder, 'groups.parquet');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = `SELECT i * ${MINUTE / 100} AS t, 's ' || (i % 700) AS s, i AS n, i / 8.0::DOUBLE AS d FROM range(20000) r(i)`;
  await connection.run(`COPY (${rows}) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`);
  connection.closeSync();
  const content = readFileSync(file);
  rmSync(folder, { recursive: true });
  const { segments } = await check(
    { files: ['a.parquet', 'b.parquet'].map((name) => ({ name, bytes: content })), inputFormat: { type: 'parquet' } },
    { counts: clean(40_000) },
    [content.length / 20, content.length / 3],
  );
  assert.is(segments.length, 4);
});

for (const [type, options] of [
  ['lines', {}],
  ['regex', { pattern: '(\\d+) (\\S*) .*', columns: ['t', 's'] }],
  ['json', { useJsonNodeReader: true }],
  ['json', { flattenSpec: { fields: [{ type: 'path', name: 's', expr: '$.in.s' }] } }],
] as const)
  load(`${type} ${Object.keys(options).join(', ')}`, async () => {
    const rows = numbered(50, (row) =>
      type === 'json' ? `{"t":${row * MINUTE},"in":{"s":"${row % 7}"}}${row % 3 === 0 ? '' : '\r'}` : `${row * MINUTE} ${row % 7} rest`,
    );
    await check(
      {
        files: ['a', 'b'].map((name) => ({ name, bytes: bytes(rows) })),
        inputFormat: { type, ...options },
        schema: type === 'lines' ? { timestampSpec: { column: 'none', missingValue: '1970-01-01' } } : {},
      },
      { counts: clean(100) },
      [40, 300],
    );
  });

load('a task that is cancelled ends with its threads', async () => {
  const ended = new AbortController();
  const input: DividedInput = {
    files: [{ name: 'a.csv', bytes: bytes(`t,s,n,d\n${numbered(500, (row) => `${row},s,1,1`)}`) }],
    inputFormat: csv,
    signal: ended.signal,
    begins: () => ended.abort(),
  };
  for (const { failure, segments } of await loadDivided(input, divisions([20, 50], 'threads'))) {
    assert.equal(failure, ['cancelled', 'the task was cancelled']);
    assert.equal(segments, []);
  }
});

load.run();
