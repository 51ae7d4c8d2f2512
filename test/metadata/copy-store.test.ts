import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { copyStore, OWN_TABLES, TABLES } from '../../src/metadata/copy-store.js';
import type { Database } from '../../src/metadata/database.js';
import { takeLease } from '../../src/metadata/leadership.js';
import { publishSegments } from '../../src/metadata/publish.js';
import { audit, auditHistory, writeConfig, writeRules } from '../../src/metadata/settings.js';
import { writeSupervisor } from '../../src/metadata/supervisors.js';
import { day, openMetadata, openSqliteStore, openStore, pushed, runningTask } from './fixture.js';

const SEGMENTS = 450;
const author = { author: 'a', comment: '?', ip: '' };
const copies = suite('copies of a metadata store');

async function fill(database: Database): Promise<void> {
  await takeLease(database, { role: 'overlord', host: 'h', heldEpoch: null, nowMs: 0, leaseMs: 1 });
  const all = { start: day(0).start, end: day(SEGMENTS).end };
  await runningTask(database, 'é "task"', 'shared', [all], 'ds');
  const segments = Array.from({ length: SEGMENTS }, (_, at) => pushed(day(at)));
  await database.transaction(async (queries) => {
    await publishSegments(queries, { taskId: 'é "task"', dataSource: 'ds', mode: { kind: 'append' }, segments }, 0);
    await writeRules(queries, 'ds', '[]', 1);
    await writeConfig(queries, 'x', '{"a":"?"}');
    for (const key of ['a', 'b']) await audit(queries, { type: 'rules', key }, author, '[]', 5);
    await writeSupervisor(queries, { id: 's', dataSource: 'ds', document: '{}' }, 6);
  });
}

async function contentsOf(database: Database): Promise<Readonly<Record<string, unknown>>> {
  const read = async ({ name, key }: (typeof TABLES)[number]) =>
    [name, await database.rows(`SELECT * FROM ${name} ${key.length === 0 ? '' : `ORDER BY ${key.join(', ')}`}`)] as const;
  return Object.fromEntries(await Promise.all(TABLES.map(read)));
}

copies('a file goes to the store and back again, and numbers count on', async () => {
  const [file, store, back] = [await openSqliteStore(), await openStore(), await openSqliteStore()];
  try {
    await fill(file.database);
    const told: number[] = [];
    const counts = await copyStore(file.database, store.database, ({ rows, rowsMax }) => told.push(rows / rowsMax));
    assert.is(counts.get('segments'), SEGMENTS);
    assert.is(told.at(-1), 1);
    await copyStore(store.database, back.database, () => undefined);
    const contents = await contentsOf(file.database);
    assert.equal(await contentsOf(store.database), contents);
    assert.equal(await contentsOf(back.database), contents);
    for (const { database } of [store, back]) {
      await database.transaction((queries) => audit(queries, { type: 'rules', key: 'c' }, author, '[]', 5));
      const history = await auditHistory(database, { type: 'rules', key: null, interval: null, count: null });
      assert.equal(
        history.map(({ key }) => key),
        ['c', 'b', 'a'],
      );
    }
  } finally {
    for (const each of [file, store, back]) await each.close();
  }
});

copies('a store that holds anything is refused and left as it is', async () => {
  const [file, store] = [await openSqliteStore(), await openMetadata()];
  try {
    await fill(file.database);
    await store.database.transaction((queries) => writeConfig(queries, 'clusterKey', 'k'));
    const before = await contentsOf(store.database);
    const refused: unknown = await copyStore(file.database, store.database, () => undefined).catch((error: unknown) => error);
    assert.match(String(refused), /the metadata store to copy into is in use: config has rows/);
    assert.equal(await contentsOf(store.database), before);
  } finally {
    for (const each of [file, store]) await each.close();
  }
});

copies('a source of another version is refused', async () => {
  const [file, store] = [await openSqliteStore(), await openStore()];
  try {
    await file.database.rows('UPDATE schema_version SET version = version - 1');
    const refused: unknown = await copyStore(file.database, store.database, () => undefined).catch((error: unknown) => error);
    assert.match(String(refused), /the schema of the metadata store is \d+, expected \d+/);
  } finally {
    for (const each of [file, store]) await each.close();
  }
});

copies('every table is copied, or named as one that is not', async () => {
  const file = await openSqliteStore();
  const found = await file.database.rows<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  assert.equal(
    found.map(({ name }) => name),
    [...TABLES.map(({ name }) => name), ...OWN_TABLES].sort(),
  );
  await file.close();
});

copies.run();
