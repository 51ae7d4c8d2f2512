import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fencedTransaction, findLeader, giveUpLease, renewLeases, takeLease } from '../../src/metadata/leadership.js';
import { acquireLocks, releaseLocks } from '../../src/metadata/locks.js';
import { migrate } from '../../src/metadata/migrations.js';
import { findConfig, writeConfig } from '../../src/metadata/settings.js';
import { insertTask } from '../../src/metadata/tasks.js';
import { day, openMetadata } from './fixture.js';

type Context = Awaited<ReturnType<typeof openMetadata>>;
const leadership = suite<Context>('leadership and locks');
leadership.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
leadership.after.each((context) => context.close());

const at = (host: string, nowMs: number, heldEpoch: number | null = null) => ({
  role: 'coordinator',
  host,
  heldEpoch,
  nowMs,
  leaseMs: 100,
});

leadership('one candidate leads until its lease runs out; every change of hands raises the epoch', async ({ database }) => {
  assert.is((await takeLease(database, at('a', 0))).epoch, 1);
  assert.equal(await takeLease(database, at('b', 50)), { role: 'coordinator', epoch: 1, host: 'a', expiresMs: 100 });
  assert.equal(await takeLease(database, at('a', 90, 1)), { role: 'coordinator', epoch: 1, host: 'a', expiresMs: 190 });
  assert.equal(await takeLease(database, at('b', 190)), { role: 'coordinator', epoch: 2, host: 'b', expiresMs: 290 });
  // The first one wakes up late and believes to lead still.
  assert.is((await takeLease(database, at('a', 200, 1))).host, 'b');
});

leadership('a restarted process takes over from its own address at once, under a new epoch', async ({ database }) => {
  await takeLease(database, at('a', 0));
  assert.equal(await takeLease(database, at('a', 1)), { role: 'coordinator', epoch: 2, host: 'a', expiresMs: 101 });
});

leadership('a lease given up lets the next one in; one given up too late changes nothing', async ({ database }) => {
  await takeLease(database, at('a', 0));
  await giveUpLease(database, 'coordinator', 1);
  assert.is((await takeLease(database, at('b', 1))).host, 'b');
  await giveUpLease(database, 'coordinator', 1);
  assert.is((await findLeader(database, 'coordinator'))?.expiresMs, 101);
});

leadership('a deposed leader cannot commit anything', async ({ database, open }) => {
  await takeLease(database, at('a', 0));
  const deposed = { role: 'coordinator', epoch: 1 };
  await fencedTransaction(database, deposed, (queries) => writeConfig(queries, 'x', '1'));
  const other = await open();
  await takeLease(other, at('b', 1000));
  await other.close();
  let code: unknown;
  await fencedTransaction(database, deposed, (queries) => writeConfig(queries, 'x', '2')).catch((error: { code?: unknown }) => {
    code = error.code;
  });
  assert.is(code, 'not_leader');
  assert.is(await findConfig(database, 'x'), '1');
});

leadership('two processes that write at once both get through', async ({ database, open }) => {
  const other = await open();
  await database.transaction((queries) => writeConfig(queries, 'count', '0'));
  const increment = (through: typeof database) =>
    through.transaction(async (queries) => writeConfig(queries, 'count', String(Number(await findConfig(queries, 'count')) + 1)));
  await Promise.all(Array.from({ length: 40 }, (_, turn) => increment(turn % 2 === 0 ? database : other)));
  assert.is(await findConfig(other, 'count'), '40');
  await other.close();
});

leadership('migrations run once, however many processes open the file at the same time', async ({ open }) => {
  const databases = await Promise.all([open(), open(), open()]);
  await Promise.all(databases.map(migrate));
  const rows = await databases[0]?.rows<{ version: number }>('SELECT version FROM schema_version');
  assert.is(rows?.length, 1);
  await Promise.all(databases.map((each) => each.close()));
});

leadership('a lease follows a clock that steps back, but no renewal that comes late', async ({ database }) => {
  const HOUR = 3_600_000;
  await takeLease(database, at('a', 10 * HOUR));
  const renewed = async (expiresMs: number, epoch = 1) => {
    await renewLeases(database, [{ role: 'coordinator', epoch }], expiresMs);
    return (await findLeader(database, 'coordinator'))?.expiresMs;
  };
  assert.is(await renewed(10 * HOUR + 300), 10 * HOUR + 300);
  assert.is(await renewed(10 * HOUR + 200), 10 * HOUR + 300, 'late');
  assert.is(await renewed(10 * HOUR - 5000), 10 * HOUR + 300, 'late by a statement that took long');
  assert.is(await renewed(9 * HOUR + 100), 9 * HOUR + 100, 'the clock has stepped back');
  assert.is(await renewed(9 * HOUR + 400, 2), 9 * HOUR + 100, 'of another epoch');
});

leadership('exclusive locks keep others out of their intervals, shared ones only exclusive ones', async ({ database }) => {
  const ask = (
    taskId: string,
    kind: 'shared' | 'exclusive',
    intervals: readonly { start: number; end: number }[],
    dataSource = 'ds',
    nowMs = 1000,
  ) =>
    database.transaction(async (queries) => {
      await insertTask(queries, { id: taskId, groupId: taskId, type: 'index', dataSource, priority: 0, payload: '{}' }, 0);
      return (await acquireLocks(queries, { taskId, dataSource, kind, intervals }, nowMs))?.[0]?.version;
    });
  assert.is(await ask('a', 'exclusive', [day(0)]), '1970-01-01T00:00:01.000Z');
  assert.is(await ask('b', 'shared', [day(0)]), undefined);
  assert.is(await ask('c', 'exclusive', [day(1), day(0)]), undefined);
  assert.ok(await ask('d', 'exclusive', [day(1)]));
  assert.ok(await ask('e', 'exclusive', [day(0)], 'other'));
  await database.transaction((queries) => releaseLocks(queries, 'a'));
  assert.ok(await ask('b', 'shared', [day(0)]));
  assert.ok(await ask('f', 'shared', [day(0)]));
  assert.is(await ask('g', 'exclusive', [day(0)]), undefined);
});

leadership('versions of a datasource strictly increase, even when the clock stands still or steps back', async ({ database }) => {
  const versions: string[] = [];
  for (const [turn, nowMs] of [1000, 1000, 500, 2000].entries()) {
    await database.transaction(async (queries) => {
      const taskId = `t${turn}`;
      await insertTask(queries, { id: taskId, groupId: taskId, type: 'index', dataSource: 'ds', priority: 0, payload: '{}' }, 0);
      versions.push(
        (await acquireLocks(queries, { taskId, dataSource: 'ds', kind: 'shared', intervals: [day(0)] }, nowMs))?.[0]?.version ?? '',
      );
    });
  }
  assert.equal(versions, ['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:01.001Z', '1970-01-01T00:00:01.002Z', '1970-01-01T00:00:02.000Z']);
});

leadership.run();
