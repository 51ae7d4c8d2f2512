import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

import { taskFileName } from '../../src/model/task-file-name.js';
import { exportRows } from './export-rows.js';
import { run, type TaskRun } from './run-task.js';

/** INSERT INTO EXTERN: the rows of a query as files. */
const exporting = suite<{ folder: string }>('export');
exporting.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-export-'));
});
exporting.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const DATA = [
  { t: 0, page: 'a, "b"', v: 1.5, tags: ['x', 'y'] },
  { t: 60_000, page: null, v: 2, tags: [] },
  { t: 120_000, page: 'é\n', v: null, tags: ['z'] },
];
const SIGNATURE = [
  { name: 't', type: 'long' },
  { name: 'page', type: 'string' },
  { name: 'v', type: 'double' },
  { name: 'tags', type: 'array<string>' },
];
const LINES = DATA.map((row) => JSON.stringify(row)).join('\n');
const fromOf = (data: string): string =>
  `FROM TABLE(EXTERN('${JSON.stringify({ type: 'inline', data }).replaceAll("'", "''")}', '{"type":"json"}', '${JSON.stringify(SIGNATURE)}'))`;
const FROM = fromOf(LINES);

function runExport(folder: string, query: string, context: Record<string, unknown> = {}): Promise<TaskRun> {
  return run({ type: 'query_controller', spec: { query, context } }, { exportDirectory: folder });
}

const nameOf = (file: number, format: string): string => `query-${taskFileName('task-1')}-worker0-run1-partition${file}.${format}`;

exporting('CSV: a header in each file, files of so many rows, a manifest', async ({ folder }) => {
  const query = `INSERT INTO EXTERN(local(exportPath => '${folder}/new/one')) AS CSV SELECT MILLIS_TO_TIMESTAMP(t) AS "when", page, v ${FROM}`;
  const done = await runExport(folder, query, { rowsPerPage: 2 });
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  assert.equal(done.published, []);
  const target = path.join(folder, 'new', 'one');
  assert.is(
    readFileSync(path.join(target, nameOf(0, 'csv')), 'utf8'),
    'when,page,v\n1970-01-01T00:00:00.000Z,"a, ""b""",1.5\n1970-01-01T00:01:00.000Z,,2.0\n',
  );
  assert.is(readFileSync(path.join(target, nameOf(1, 'csv')), 'utf8'), 'when,page,v\n1970-01-01T00:02:00.000Z,"é\n",\n');
  const manifest = readFileSync(path.join(target, '_symlink_format_manifest', 'manifest'), 'utf8')
    .trim()
    .split('\n');
  assert.equal(
    manifest.map((line) => path.basename(new URL(line).pathname)),
    [nameOf(0, 'csv'), nameOf(1, 'csv')],
  );
  assert.equal(readdirSync(target).length, 3);
});

exporting('JSON: an object a line, arrays as arrays; a path of the base directory; the zone of the statement', async ({ folder }) => {
  const query = `INSERT INTO EXTERN(LOCAL(exportPath=>'it''s')) AS json SELECT MILLIS_TO_TIMESTAMP(t) AS "when", tags ${FROM} WHERE t < 100000`;
  const done = await runExport(folder, query, { sqlTimeZone: '+01:00' });
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  const lines = readFileSync(path.join(folder, "it's", nameOf(0, 'json')), 'utf8')
    .trimEnd()
    .split('\n');
  assert.equal(
    lines.map((line) => JSON.parse(line)),
    [
      { when: '1970-01-01T01:00:00.000+01:00', tags: ['x', 'y'] },
      { when: '1970-01-01T01:01:00.000+01:00', tags: [] },
    ],
  );
});

exporting('no rows: an empty manifest', async ({ folder }) => {
  const done = await runExport(folder, `INSERT INTO EXTERN(local(exportPath => 'none')) AS CSV SELECT v ${FROM} WHERE v > 10`);
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  assert.equal(readdirSync(path.join(folder, 'none')), ['_symlink_format_manifest']);
  const query = `INSERT INTO EXTERN(local(exportPath => 'refused')) AS CSV SELECT v ${FROM} WHERE v > 10`;
  const refused = await runExport(folder, query, { failOnEmptyInsert: true });
  assert.match(refused.outcome.errorMessage ?? '', /failOnEmptyInsert/);
  assert.equal(readdirSync(path.join(folder, 'refused')), []);
});

exporting('what an earlier run of the task left is replaced, anything else refuses the folder', async ({ folder }) => {
  const query = `INSERT INTO EXTERN(local(exportPath => 'used')) AS CSV SELECT v ${FROM}`;
  mkdirSync(path.join(folder, 'used'));
  writeFileSync(path.join(folder, 'used', `${nameOf(7, 'csv')}.part`), 'half a row');
  assert.ok((await runExport(folder, query)).outcome.succeeded);
  assert.equal(readdirSync(path.join(folder, 'used')).sort(), ['_symlink_format_manifest', nameOf(0, 'csv')].sort());
  // It had ended, but nobody heard of it.
  assert.ok((await runExport(folder, query)).outcome.succeeded);
  writeFileSync(path.join(folder, 'used', 'theirs.csv'), 'v\n');
  const refused = await runExport(folder, query);
  assert.is(refused.outcome.succeeded, false);
  assert.match(refused.outcome.errorMessage ?? '', /holds files already, theirs.csv among them; rows are exported into an empty folder/);
  assert.is(readFileSync(path.join(folder, 'used', 'theirs.csv'), 'utf8'), 'v\n');
});

exporting('of two exports into one empty folder at once, the second is refused', async ({ folder }) => {
  const target = { kind: 'export', exportPath: 'both', format: 'csv' } as const;
  const options = {
    baseDirectory: folder,
    attempt: 1,
    rowsPerFile: 10,
    timeZone: 'UTC',
    refuseEmpty: null,
    signal: new AbortController().signal,
    now: Date.now,
  };
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  async function* none(): AsyncGenerator<never> {
    await ended;
    yield* [];
  }
  const first = exportRows(none(), [], target, { ...options, taskId: 'one' });
  while (!existsSync(path.join(folder, 'both', '_export_claim'))) await new Promise((resolve) => setTimeout(resolve, 5));
  try {
    await exportRows(none(), [], target, { ...options, taskId: 'two' });
    assert.unreachable();
  } catch (error) {
    assert.is((error as { readonly code?: string }).code, 'conflict', String(error));
  }
  end();
  await first;
  // A run that was lost half way; a further one of its task takes its place.
  writeFileSync(path.join(folder, 'both', '_export_claim'), `query-${taskFileName('one')}-`);
  await exportRows(none(), [], target, { ...options, taskId: 'one', attempt: 2 });
  assert.equal(readdirSync(path.join(folder, 'both')), ['_symlink_format_manifest']);
});

exporting('the claim of a task that has died is taken over after a while, with what it had written', async ({ folder }) => {
  const there = path.join(folder, 'stale');
  mkdirSync(there);
  const prefix = `query-${taskFileName('dead')}-`;
  const [claim, part] = [path.join(there, '_export_claim'), path.join(there, `${prefix}worker0-run1-partition0.csv.part`)];
  for (const file of [claim, part]) writeFileSync(file, prefix);
  const target = { kind: 'export', exportPath: 'stale', format: 'csv' } as const;
  const options = {
    baseDirectory: folder,
    taskId: 'next',
    attempt: 1,
    rowsPerFile: 10,
    timeZone: 'UTC',
    refuseEmpty: null,
    signal: new AbortController().signal,
  };
  async function* none(): AsyncGenerator<never> {
    yield* [];
  }
  const refused = await exportRows(none(), [], target, { ...options, now: Date.now }).catch(
    (error: { readonly code?: string }) => error.code,
  );
  assert.is(refused, 'conflict');
  await exportRows(none(), [], target, { ...options, now: () => Date.now() + 600_000 });
  assert.equal(readdirSync(there), ['_symlink_format_manifest']);
});

exporting('a failure half way leaves no file', async ({ folder }) => {
  const query = `INSERT INTO EXTERN(local(exportPath => 'failed')) AS CSV SELECT v ${fromOf(`${LINES}\nno JSON`)}`;
  const done = await runExport(folder, query, { rowsPerPage: 1, maxParseExceptions: 0 });
  assert.is(done.outcome.succeeded, false);
  assert.equal(readdirSync(path.join(folder, 'failed')), []);
  const aborted = new AbortController();
  aborted.abort();
  const stopped = await run(
    { type: 'query_controller', spec: { query: `INSERT INTO EXTERN(local(exportPath => 'stopped')) AS CSV SELECT v ${FROM}` } },
    { exportDirectory: folder, signal: aborted.signal },
  );
  assert.is(stopped.outcome.succeeded, false);
  assert.equal(existsSync(path.join(folder, 'stopped')) ? readdirSync(path.join(folder, 'stopped')) : [], []);
});

for (const [name, exportPath] of [
  ['a path above', '../outside'],
  ['an absolute path', '/tmp/dolmen-elsewhere'],
  ['a link out', 'link/below'],
] as const)
  exporting(`refused: ${name}`, async ({ folder }) => {
    const outside = mkdtempSync(path.join(tmpdir(), 'dolmen-outside-'));
    try {
      symlinkSync(outside, path.join(folder, 'link'));
      const done = await runExport(folder, `INSERT INTO EXTERN(local(exportPath => '${exportPath}')) AS CSV SELECT v ${FROM}`);
      assert.match(done.outcome.errorMessage ?? '', /exportPath: .* is not below .* \(svc\.export\.storage\.baseDir\)/);
      assert.equal(readdirSync(outside), []);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

exporting.run();
