import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startService } from '../services.js';

/** The tests of the metadata store, and those of the roles over it, with PostgreSQL in place of SQLite. */
const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const NOT_OVER_POSTGRESQL: readonly string[] = [
  'metadata/over-postgresql.test.js',
  'metadata/sqlite.test.js',
  'metadata/postgresql.test.js',
];
const OF_ROLES = ['kill', 'old-records', 'supervisor', 'coordinator', 'hidden-in-part', 'overlord', 'task-runs', 'task-locks', 'children'];
const FILES = [
  ...readdirSync(path.join(FOLDER, 'metadata'))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `metadata/${name}`),
  ...OF_ROLES.map((name) => `cluster/${name}.test.js`),
].filter((file) => !NOT_OVER_POSTGRESQL.includes(file));

const service = await startService('postgres');
const tests = suite('metadata over PostgreSQL');
for (const file of FILES) {
  if (service === undefined) {
    tests.skip(file);
    continue;
  }
  tests(file.replace(/js$/, 'ts'), async () => {
    const env = { ...process.env, DOLMEN_TEST_POSTGRESQL: JSON.stringify(service) };
    const { stdout, stderr, code } = await promisify(execFile)(process.execPath, ['--enable-source-maps', path.join(FOLDER, file)], {
      env,
    }).then(
      (ended) => ({ ...ended, code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => error,
    );
    assert.is(code, 0, stdout + stderr);
    assert.match(stripVTControlCharacters(stdout), /Passed: +[1-9]/);
  });
}
tests.after(async () => service?.stop());
tests.run();
