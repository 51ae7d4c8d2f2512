import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Log } from '../../src/base/log.js';
import { createCluster, type Processing } from '../../src/cluster/roles.js';
import { Configuration } from '../../src/configuration/configuration.js';
import { openSqlite } from '../../src/metadata/database.js';

const roles = suite('roles of a process');

roles('a metadata store that cannot be brought up to date is closed again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-roles-'));
  const file = join(folder, 'metadata.sqlite');
  const foreign = await openSqlite(file);
  await foreign.rows('CREATE TABLE revision (of_somebody_else TEXT)');
  await foreign.close();
  const refusal: unknown = await createCluster({
    configuration: Configuration.read({ flags: [`svc.metadata.file=${file}`] }),
    log: {} as Log,
    processing: {} as Processing,
    readTask: () => Promise.reject(new Error('no tasks here')),
    readSampleLimits: () => Promise.reject(new Error('no samples here')),
    version: '0',
  }).catch((error: unknown) => error);
  assert.match(String(refusal), /revision already exists/);
  // SQLite removes its log with the last connection.
  assert.is(existsSync(file), true);
  assert.is(existsSync(`${file}-wal`), false);
  rmSync(folder, { recursive: true, force: true });
});

roles.run();
