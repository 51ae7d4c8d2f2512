import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SegmentCatalog } from '../../src/cluster/coordinator/catalog.js';
import { CoordinatorSettings } from '../../src/cluster/coordinator/settings.js';
import { membershipOver } from '../../src/cluster/membership/membership-store.js';
import { StoredCoordination } from '../../src/cluster/membership/stored.js';
import { readWorkerConfig } from '../../src/cluster/overlord/worker-config.js';
import type { Database } from '../../src/metadata/database.js';
import { type Fence, takeLease } from '../../src/metadata/leadership.js';
import { findPublication, publishSegments } from '../../src/metadata/publish.js';
import { dataSourceNames, deleteUnused, findSegment, selectSegments } from '../../src/metadata/segments.js';
import { auditHistory, writeConfig } from '../../src/metadata/settings.js';
import { finishTask, selectTasks, taskDocuments } from '../../src/metadata/tasks.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { day, openMetadata, pushed, runningTask } from '../metadata/fixture.js';

/**
 * Every column of every table that holds JSON, found in the database itself, is broken in one row, in every way. All
 * that reads the tables goes on with the other rows.
 */
const BROKEN = ['', '{', 'null', '7', '"text"', '[]', '{}', '[{"type":"unknown"}]', '{"id":{}}', '\u0000'];

/** Written as the roles write it, two rows of each kind. */
async function populate(database: Database): Promise<Fence> {
  const { epoch } = await takeLease(database, { role: 'coordinator', host: 'h', heldEpoch: null, nowMs: 0, leaseMs: 1 });
  const fence = { role: 'coordinator', epoch };
  for (const name of ['a', 'b']) {
    await runningTask(database, name, 'shared', [{ start: day(-10).start, end: day(10).end }], name);
    const segments = [pushed(day(0)), pushed(day(1))];
    await database.transaction((queries) =>
      publishSegments(queries, { taskId: name, dataSource: name, mode: { kind: 'append' }, segments }, 0),
    );
    await finishTask(database, name, { succeeded: true, error: null, report: '{"rows":1}' }, 0);
  }
  const settings = new CoordinatorSettings({ database, fence: () => fence, now: () => 0 });
  const author = { author: '', comment: '', ip: '' };
  for (const name of ['a', 'b']) await settings.writeRules(name, [{ type: 'loadForever', tieredReplicants: { hot: 3 } }], author);
  await settings.changeDynamicConfig(new Map([['maxSegmentsToMove', 7]]), author);
  await settings.changeLookups(() => ({ __default: { l: { version: 'v', lookupExtractorFactory: { type: 'map', map: {} } } } }), author);
  await database.transaction((queries) =>
    writeConfig(queries, 'worker.config', '{"type":"default","selectStrategy":{"type":"fillCapacity"}}'),
  );
  await database.rows(
    "INSERT INTO announcements VALUES ('router', 'r:1', 'x', '{\"startedMs\":1}', 1000), ('router', 'r:2', 'x', '{\"startedMs\":1}', 1000)",
  );
  return fence;
}

/** `table.column` → row ids of the JSON documents in it. */
async function jsonColumns(database: Database): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>();
  const tables = await database.rows<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  for (const { name: table } of tables) {
    const columns = await database.rows<{ name: string; type: string }>(`SELECT name, type FROM pragma_table_info('${table}')`);
    for (const { name: column } of columns.filter(({ type }) => type === 'TEXT')) {
      const rows = await database.rows<{ rowid: number }>(
        `SELECT rowid FROM ${table} WHERE ${column} LIKE '{%' OR ${column} LIKE '[%' ORDER BY rowid`,
      );
      if (rows.length > 0)
        found.set(
          `${table}.${column}`,
          rows.map(({ rowid }) => rowid),
        );
    }
  }
  return found;
}

/** Whatever reads the tables; throws where one row keeps it from reading the others. */
async function readAll(database: Database, fence: Fence) {
  const catalog = new SegmentCatalog(database);
  await catalog.refresh();
  const settings = new CoordinatorSettings({ database, fence: () => fence, now: () => 0 });
  const member = new StoredCoordination({
    store: membershipOver(database, () => 1000),
    session: 's',
    heartbeatMs: 60_000,
    expiryMs: 5000,
    onError: (error) => assert.unreachable(String(error)),
  });
  await member.announce('broker', 'b:1', {});
  const routers = member.members('router').length;
  await member.close();
  const retention = await settings.retention();
  await settings.dynamicConfig();
  await settings.lookups();
  await readWorkerConfig(database);
  await auditHistory(database, { type: 'rules', key: null, interval: null, count: null });
  for (const id of ['a', 'b']) {
    assert.ok(await findPublication(database, id), 'that it published is still known');
    assert.ok(await taskDocuments(database, id));
  }
  const segments = await selectSegments(database, { used: true });
  for (const segment of segments) assert.ok(await findSegment(database, segmentIdText(segment.id)));
  return {
    routers,
    dropped: segments.filter((segment) => retention.decide(segment, 0).kind === 'drop').length,
    visible: catalog.visible().length,
    tasks: (await selectTasks(database, { states: ['SUCCESS'] })).length,
    names: await dataSourceNames(database, 'used'),
  };
}

/** Read by nothing, or only by who asks for this very document. */
const NOT_INTERPRETED: readonly string[] = ['audit.payload', 'publications.load_paths', 'tasks.payload', 'tasks.report'];

const { database, close } = await openMetadata();
const fence = await populate(database);
const columns = await jsonColumns(database);
const broken = suite('a broken document in the metadata store');

broken('the tables hold the documents that are known', async () => {
  assert.equal([...columns.keys()].sort(), [
    'announcements.details',
    'audit.payload',
    'config.payload',
    'publications.load_paths',
    'publications.segment_ids',
    'rules.payload',
    'segments.payload',
    'tasks.payload',
    'tasks.report',
  ]);
  assert.equal(await readAll(database, fence), { routers: 2, dropped: 0, visible: 4, tasks: 2, names: ['a', 'b'] });
  assert.equal(database.faults.list(), []);
});

for (const [place, rows] of columns)
  broken(`${place} is set aside and shown, the rest is served`, async () => {
    const [table = '', column = ''] = place.split('.');
    for (const rowid of rows) {
      const [before] = await database.rows<{ text: string }>(`SELECT ${column} AS text FROM ${table} WHERE rowid = ?`, [rowid]);
      for (const text of BROKEN) {
        await database.rows(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`, [text, rowid]);
        const seen = await readAll(database, fence);
        assert.equal(seen, { ...seen, routers: 2, dropped: 0, tasks: 2, names: ['a', 'b'] }, JSON.stringify(text));
        assert.is(seen.visible, table === 'segments' ? 3 : 4, `${JSON.stringify(text)} hides one segment at most`);
        const faults = database.faults.list();
        if (NOT_INTERPRETED.includes(place)) assert.equal(faults, []);
        // Some of them are documents of some table: an empty list is a list of rules.
        else if (faults.length > 0 || text === '' || text === '{')
          assert.equal(
            faults.map((fault) => `${fault.table}.${fault.column}`),
            [place],
          );
      }
      await database.rows(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`, [before?.text ?? '', rowid]);
      await readAll(database, fence);
      assert.equal(database.faults.list(), [], 'what can be read again is no fault any more');
    }
  });

broken('a used segment that cannot be read is told of, with the interval that its columns have', async () => {
  const [row] = await database.rows<{ id: string; payload: string; version: string }>(
    "SELECT id, payload, version FROM segments WHERE data_source = 'b' ORDER BY start_ms",
  );
  assert.ok(row);
  const { id, payload, version } = row;
  const unreadable = async () => {
    const catalog = new SegmentCatalog(database);
    await catalog.refresh();
    return { unreadable: catalog.unreadable(), names: catalog.dataSources() };
  };
  const set = async (columns: string) => database.rows(`UPDATE segments SET ${columns} WHERE id = ?`, [id]);
  const names = ['a', 'b'];
  assert.equal(await unreadable(), { unreadable: [], names });
  await set("payload = '{'");
  assert.equal(await unreadable(), { unreadable: [{ id, dataSource: 'b', interval: day(0) }], names });
  await set("start_ms = 'long ago'");
  assert.equal(await unreadable(), { unreadable: [{ id, dataSource: 'b', interval: null }], names });
  // Inside of the other segment of the datasource, which is newer then, and older, and again the same.
  await set(`start_ms = ${day(1).start}, end_ms = ${day(1).end}, version = '0'`);
  assert.equal(await unreadable(), { unreadable: [], names });
  await set("version = '9999'");
  assert.equal(await unreadable(), { unreadable: [{ id, dataSource: 'b', interval: day(1) }], names });
  await set('used = 0');
  assert.equal(await unreadable(), { unreadable: [], names });
  await set(`start_ms = ${day(0).start}, end_ms = ${day(0).end}, used = 1`);
  await database.rows('UPDATE segments SET version = ?, payload = ? WHERE id = ?', [version, payload, id]);
  assert.equal(await unreadable(), { unreadable: [], names });
});

broken('a datasource is still known when none of its segments can be read', async () => {
  const rows = await database.rows<{ id: string; payload: string }>("SELECT id, payload FROM segments WHERE data_source = 'b'");
  await database.rows("UPDATE segments SET payload = '' WHERE data_source = 'b'");
  const catalog = new SegmentCatalog(database);
  await catalog.refresh();
  assert.equal(catalog.dataSources(), ['a', 'b']);
  assert.is(catalog.unreadable().length, rows.length);
  for (const { id, payload } of rows) await database.rows('UPDATE segments SET payload = ? WHERE id = ?', [payload, id]);
});

broken('the file of a segment whose document is broken is still found to be removed', async () => {
  await database.rows("UPDATE segments SET used = 0, payload = '{' WHERE data_source = 'a'");
  const [path] = await database.rows<{ load_path: string }>("SELECT load_path FROM segments WHERE data_source = 'a' ORDER BY start_ms");
  const { files: removed } = await database.transaction((queries) => deleteUnused(queries, { dataSource: 'a', interval: day(0) }, 10));
  assert.equal(removed, [{ type: 'local', path: path?.load_path }]);
});

broken.after(close);
broken.run();
