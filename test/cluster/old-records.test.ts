import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OldRecordsDuty, type OldRecordsSettings } from '../../src/cluster/coordinator/old-records-duty.js';
import { OldLogs } from '../../src/cluster/middlemanager/old-logs.js';
import { OldTasks } from '../../src/cluster/overlord/old-tasks.js';
import { oldRecordsSettings, oldTasksSettings } from '../../src/cluster/retention-settings.js';
import { Configuration } from '../../src/configuration/configuration.js';
import { type Fence, takeLease } from '../../src/metadata/leadership.js';
import { publishSegments } from '../../src/metadata/publish.js';
import { allRules, audit, auditHistory, writeRules } from '../../src/metadata/settings.js';
import { findTask, finishTask, insertChild, insertTask } from '../../src/metadata/tasks.js';
import { day, openMetadata, pushed, runningTask } from '../metadata/fixture.js';
import { memoryStorage } from './fakes.js';

type Context = Awaited<ReturnType<typeof openMetadata>> & { fence: Fence };
const old = suite<Context>('records that are too old');
old.before.each(async (context) => {
  Object.assign(context, await openMetadata());
  const lease = await takeLease(context.database, { role: 'coordinator', host: 'h', heldEpoch: null, nowMs: Date.now(), leaseMs: 60_000 });
  context.fence = { role: 'coordinator', epoch: lease?.epoch ?? 0 };
});
old.after.each((context) => context.close());

const AUTHOR = { author: 'a', comment: '', ip: '' };
const log = (): void => undefined;

/** The duty at an instant, without configurations of compaction. */
function dutyAt({ database, fence }: Context, nowMs: () => number, changed: Partial<OldRecordsSettings> = {}): OldRecordsDuty {
  const oldRecords = {
    lookMs: 1,
    audit: { periodMs: 10, retainMs: 100 },
    rules: { periodMs: 10, retainMs: 100 },
    compaction: null,
    ...changed,
  };
  const configs = { all: async () => ({ dataSources: new Map() }) as never, remove: async () => undefined };
  return new OldRecordsDuty({ database, fence: () => fence, oldRecords, configs, now: nowMs, log, failed: log });
}

old('entries of the audit history go by their age, as many as there are, once a period', async (context) => {
  const { database } = context;
  await database.transaction(async (queries) => {
    for (let at = 0; at < 1200; at++) await audit(queries, { type: 'rules', key: 'x' }, AUTHOR, '{}', at < 1100 ? 899 : 900);
  });
  const count = async (): Promise<number> =>
    (await auditHistory(database, { type: 'rules', key: null, interval: null, count: null })).length;
  let nowMs = 1000;
  const duty = dutyAt(context, () => nowMs);
  await duty.run();
  assert.is(await count(), 100);
  nowMs = 1009;
  await duty.run();
  assert.is(await count(), 100);
  nowMs = 1010;
  await duty.run();
  assert.is(await count(), 0);
});

old('rules go with the last segment of their datasource, used or not, but not the default ones', async (context) => {
  const { database } = context;
  await runningTask(database, 'task', 'exclusive', [day(0)]);
  const request = { taskId: 'task', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'replace', intervals: [day(0)] } } as const;
  await database.transaction((queries) => publishSegments(queries, request, 1));
  for (const [name, changedMs] of [
    ['ds', 1],
    ['_default', 1],
    ['gone', 1],
    ['new', 950],
  ] as const)
    await writeRules(database, name, '[]', changedMs);
  const names = async (): Promise<readonly string[]> => [...(await allRules(database, (value) => value)).keys()];
  await dutyAt(context, () => 1000, { rules: null }).run();
  assert.equal(await names(), ['_default', 'ds', 'gone', 'new']);
  await dutyAt(context, () => 1000).run();
  assert.equal(await names(), ['_default', 'ds', 'new']);
  await database.rows('UPDATE segments SET used = 0');
  await dutyAt(context, () => 2000).run();
  assert.equal(await names(), ['_default', 'ds']);
});

old('configurations of compaction go with the last segment of their datasource', async ({ database, fence }) => {
  const removed: string[] = [];
  const configs = {
    all: async () => ({ dataSources: new Map([['gone', {}]]) }) as never,
    remove: async (name: string) => void removed.push(name),
  };
  const oldRecords = { lookMs: 1, audit: null, rules: null, compaction: { periodMs: 10 } };
  await new OldRecordsDuty({ database, fence: () => fence, oldRecords, configs, now: () => 1000, log, failed: log }).run();
  assert.equal(removed, ['gone']);
});

old('finished tasks go by their age, but not those whose parent or child runs', async ({ database, fence }) => {
  const task = (id: string) => ({ id, groupId: id, type: 'index', dataSource: 'ds', priority: 0, payload: '{}' });
  for (const [id, createdMs] of [
    ['old', 100],
    ['running', 100],
    ['new', 950],
    ['parent', 100],
  ] as const)
    await insertTask(database, task(id), createdMs);
  await insertChild(database, task('child'), 'running', 100);
  await insertChild(database, task('left'), 'parent', 100);
  for (const id of ['old', 'new', 'child', 'parent']) await finishTask(database, id, { succeeded: true, error: null, report: null }, 960);
  const left = async (): Promise<readonly string[]> => {
    const found = await Promise.all(['old', 'running', 'new', 'child', 'parent', 'left'].map((id) => findTask(database, id)));
    return found.flatMap((each) => each?.id ?? []);
  };
  let nowMs = 1000;
  const oldTasks = { retainMs: 100, initialDelayMs: 10, delayMs: 50 };
  const tasks = new OldTasks({ database, fence: () => fence, oldTasks, now: () => nowMs, log });
  await tasks.advance();
  assert.equal(await left(), ['old', 'running', 'new', 'child', 'parent', 'left']);
  nowMs = 1010;
  await tasks.advance();
  assert.equal(await left(), ['running', 'new', 'child', 'parent', 'left']);
  nowMs = 1059;
  for (const id of ['running', 'left']) await finishTask(database, id, { succeeded: true, error: null, report: null }, nowMs);
  await tasks.advance();
  assert.equal(await left(), ['running', 'new', 'child', 'parent', 'left']);
  nowMs = 1060;
  await tasks.advance();
  assert.equal(await left(), []);
});

old('logs go by their age, but not those of running tasks', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-logs-'));
  for (const name of ['old.log', 'running.log', 'new.log', 'other.txt']) {
    writeFileSync(path.join(folder, name), 'x');
    if (name !== 'new.log') utimesSync(path.join(folder, name), 1, 1);
  }
  const storage = memoryStorage(
    new Map([
      ['old.log', 1],
      ['new.log', Date.now()],
      ['running.log', 1],
    ]),
  );
  const oldTasks = { retainMs: 3_600_000, initialDelayMs: 0, delayMs: 3_600_000 };
  const done = new Promise<string>((resolve) => {
    const logs = new OldLogs({
      logDirectory: folder,
      logStorage: storage,
      oldTasks,
      inUse: () => new Set(['running.log']),
      now: Date.now,
      log: resolve,
    });
    logs.start();
  });
  // The timer of the logs keeps no process alive.
  const held = setTimeout(() => undefined, 60_000);
  assert.is(await done, 'removed 2 logs of tasks that are too old');
  clearTimeout(held);
  assert.equal(readdirSync(folder).sort(), ['new.log', 'other.txt', 'running.log']);
  assert.equal([...storage.files.keys()].sort(), ['new.log', 'running.log']);
  rmSync(folder, { recursive: true });
});

const read = (...properties: readonly string[]) => Configuration.read({ machine: { cores: 2, memoryBytes: 2 ** 33 }, flags: properties });

for (const [title, properties, refused] of [
  [
    'a time to keep tasks must be given where they are removed',
    ['svc.indexer.logs.kill.enabled=true'],
    /^svc.indexer.logs.kill.durationToRetain: it must be given/,
  ],
  [
    'a period that is shorter than the time between two looks is refused',
    ['svc.coordinator.kill.rule.period=PT1M'],
    /^svc.coordinator.kill.rule.period: found 60000 ms, expected no less than .*, 3600000 ms/,
  ],
] as const)
  old(title, () => {
    const configuration = read(...properties);
    assert.throws(() => [oldTasksSettings(configuration), oldRecordsSettings(configuration)], refused);
  });

old('what is not said is as documented', () => {
  const day = 86_400_000;
  assert.is(oldTasksSettings(read()), null);
  assert.equal(oldRecordsSettings(read()), {
    ...{ lookMs: day / 24, audit: { periodMs: day, retainMs: 90 * day } },
    ...{ rules: { periodMs: day, retainMs: 90 * day }, compaction: { periodMs: day } },
  });
  const tasks = oldTasksSettings(read('svc.indexer.logs.kill.enabled=true', 'svc.indexer.logs.kill.durationToRetain=1000'));
  assert.equal([tasks?.retainMs, tasks?.delayMs], [1000, 21_600_000]);
  assert.ok((tasks?.initialDelayMs ?? Number.NaN) < 300_000);
});

old.run();
