import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PasswordHasher } from '../../src/cluster/access/password-hash.js';
import { parseLogin } from '../../src/cluster/access/records.js';
import { findAccessRecord } from '../../src/metadata/access-records.js';
import { openSqlite } from '../../src/metadata/database.js';

const users = suite('dolmen user add');
const PROGRAM = fileURLToPath(new URL('../../../bin/dolmen.mjs', import.meta.url));

users('the first user is made in a folder that is not there yet, once, with a password that fits', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-user-'));
  const dataDir = join(folder, 'data');
  const add = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, 'user', 'add', ...words, '--data-dir', dataDir], {
      env: { ...process.env, DOLMEN_PASSWORD: 'first secret' },
    });
  try {
    assert.match((await add('ann')).stdout, /^ann is there[\s\S]*svc\.auth\.authenticatorChain=\["basic"\]/);
    for (const [words, message] of [
      [['ann'], /ann is there already/],
      [['bob', '--role', 'nothing'], /role: found nothing/],
    ] as const) {
      const failure = await add(...words).then(
        () => '',
        (error: { stderr: string }) => error.stderr,
      );
      assert.match(failure, message);
    }
    const database = await openSqlite(join(dataDir, 'metadata.sqlite'));
    const find = (kind: 'login' | 'user', name: string) => findAccessRecord(database, { kind, owner: 'basic', name });
    const { credentials } = parseLogin(JSON.parse((await find('login', 'ann')) ?? ''));
    assert.ok(credentials !== null && (await new PasswordHasher(1).matches('first secret', credentials)));
    assert.equal(JSON.parse((await find('user', 'ann')) ?? ''), { roles: ['admin'] });
    assert.is(await find('login', 'bob'), undefined);
    await database.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

users.run();
