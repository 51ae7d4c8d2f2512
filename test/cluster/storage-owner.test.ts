import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { type CleanupReport, removeOrphans } from '../../src/cluster/coordinator/cleanup.js';
import { type Ownership, StorageOwner } from '../../src/cluster/storage-owner.js';
import { type Database, openSqlite } from '../../src/metadata/database.js';
import { type Fence, fencedTransaction, takeLease } from '../../src/metadata/leadership.js';
import { migrate } from '../../src/metadata/migrations.js';
import { publishSegments } from '../../src/metadata/publish.js';
import { finishTask, selectTasks } from '../../src/metadata/tasks.js';
import { taskFileName } from '../../src/model/task-file-name.js';
import { day, pushed, runningTask } from '../metadata/fixture.js';
import { memoryStorage } from './fakes.js';

/**
 * A metadata store and a deep storage that live through publishes, crashes, backups and restores. What any store ever
 * published is in `published`: no clean-up may remove it before a person confirmed a store that does not know it.
 */
class World {
  readonly storage = memoryStorage();
  readonly published = new Set<string>();
  readonly abandoned = new Set<string>();
  readonly backups: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'dolmen-owner-'));
  #owner = new StorageOwner(this.storage);
  #database: Database | undefined;
  #fence: Fence = { role: 'coordinator', epoch: 0 };
  #counter = 0;

  /** Opens a store: a new one, or the copy of a backup. */
  async open(copyOf?: string): Promise<void> {
    await this.#database?.close();
    const file = join(this.#folder, `store-${this.#counter++}.sqlite`);
    if (copyOf !== undefined) {
      const source = await openSqlite(copyOf);
      await source.rows(`VACUUM INTO '${file}'`);
      await source.close();
    }
    this.#database = await openSqlite(file);
    await migrate(this.#database);
    await this.restart();
  }

  /** A new process over the same files: running tasks have lost their worker. */
  async restart(): Promise<void> {
    const { epoch } = await takeLease(this.database, { role: 'coordinator', host: 'h', heldEpoch: null, nowMs: 0, leaseMs: 1 });
    this.#fence = { role: 'coordinator', epoch };
    this.#owner = new StorageOwner(this.storage);
    await this.check();
    for (const { id } of await selectTasks(this.database, { states: ['RUNNING'] }))
      await finishTask(this.database, id, { succeeded: false, error: 'lost', report: null }, 0);
  }

  get database(): Database {
    if (this.#database === undefined) throw new Error('no store is open');
    return this.#database;
  }

  check(): Promise<Ownership> {
    return this.#owner.check(this.database, this.#fence);
  }

  async confirm(): Promise<void> {
    await this.#owner.confirm(this.database, this.#fence, 1);
    this.published.clear();
  }

  async begin(): Promise<{ readonly id: string; readonly path: string }> {
    const id = `task ${this.#counter++}`;
    await runningTask(this.database, id, 'shared', [{ start: day(-1000).start, end: day(1000).end }], id);
    const path = `${taskFileName(id)}/0`;
    this.storage.files.set(path, 0);
    return { id, path };
  }

  /** A publish that is refused by its transaction. */
  async refuse(): Promise<void> {
    const { id, path } = await this.begin();
    this.abandoned.add(path);
    const refused = this.#owner.publish(this.database, id, () => Promise.reject(new ServiceError('conflict', 'no longer its run')));
    assert.is(await refused.catch((error: ServiceError) => error.code), 'conflict');
    await finishTask(this.database, id, { succeeded: false, error: 'refused', report: null }, 0);
  }

  async publish(crash = false): Promise<void> {
    const { id, path } = await this.begin();
    const commit = this.#owner.publish(this.database, id, (record) =>
      fencedTransaction(this.database, this.#fence, async (queries) => {
        const segment = { ...pushed(day(0)), loadSpec: { type: 'local', path } };
        await publishSegments(queries, { taskId: id, dataSource: id, mode: { kind: 'append' }, segments: [segment] }, 0);
        await record(queries);
        if (crash) throw new Error('killed before the commit');
      }),
    );
    if (crash) {
      await commit.catch(() => undefined);
      return this.restart();
    }
    await commit;
    this.published.add(path);
    await finishTask(this.database, id, { succeeded: true, error: null, report: null }, 0);
  }

  async abandon(): Promise<void> {
    const { id, path } = await this.begin();
    this.abandoned.add(path);
    await finishTask(this.database, id, { succeeded: false, error: 'failed', report: null }, 0);
  }

  async backUp(): Promise<void> {
    const file = join(this.#folder, `backup-${this.#counter++}.sqlite`);
    await this.database.rows(`VACUUM INTO '${file}'`);
    this.backups.push(file);
  }

  /** Long after every file was written. */
  async cleanUp(): Promise<CleanupReport> {
    const { database, storage } = this;
    const report = await removeOrphans({ database, storage, ownership: await this.check(), nowMs: 1e9, orphanAgeMs: 1000 });
    for (const path of this.published) assert.ok(storage.files.has(path), `${path} was published and then removed`);
    return report;
  }

  async close(): Promise<void> {
    await this.#database?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const owners = suite<{ world: World }>('owner of deep storage');
owners.before.each(async (context) => {
  context.world = new World();
  await context.world.open();
});
owners.after.each(({ world }) => world.close());

owners('a store that has seen every publish lets files of failed tasks go', async ({ world }) => {
  await world.publish();
  await world.abandon();
  await world.restart();
  assert.equal(await world.cleanUp(), { removed: 1, kept: 0, keptBytes: 0 });
  assert.equal([...world.storage.files.keys()], [...world.published]);
});

owners('a running task keeps its files; those of nobody stay until a person confirms the store', async ({ world }) => {
  const { path } = await world.begin();
  world.storage.files.set('stranger/old', 0);
  world.storage.files.set('stranger/new', 1e9 - 500);
  assert.is((await world.cleanUp()).kept, 2);
  await world.confirm();
  assert.is((await world.cleanUp()).removed, 1);
  // Written after the confirmation, which cannot have been about it.
  assert.equal([...world.storage.files.keys()].sort(), [path, 'stranger/new'].sort());
});

const losses: readonly { name: string; lose: (world: World) => Promise<void>; says: RegExp }[] = [
  { name: 'a new store', lose: (world) => world.open(), says: /is new or was emptied/ },
  {
    name: 'a store of another cluster',
    async lose(world) {
      const { storage } = world;
      const record = (await storage.readRecord()) ?? '';
      const files = new Map(storage.files);
      storage.files.clear();
      await world.open();
      await world.publish();
      world.published.clear();
      for (const [path, modifiedMs] of files) storage.files.set(path, modifiedMs);
      await storage.writeRecord(record);
    },
    says: /belongs to metadata store \S+; this one is \S+$/,
  },
  {
    name: 'an older copy',
    async lose(world) {
      await world.backUp();
      await world.publish();
      await world.publish();
      await world.open(world.backups[0]);
    },
    says: /is an older copy/,
  },
  {
    name: 'a record that cannot be read, with files of others',
    async lose(world) {
      world.storage.files.set('stranger/0', 0);
      await world.storage.writeRecord('{');
    },
    says: /no readable record/,
  },
];
for (const { name, lose, says } of losses)
  owners(`${name} removes nothing until a person confirms it, whatever it publishes meanwhile`, async ({ world }) => {
    await world.publish();
    await world.abandon();
    await lose(world);
    for (let round = 0; round < 3; round++) {
      const files = new Set(world.storage.files.keys());
      const ownership = await world.check();
      assert.match(ownership.state === 'unconfirmed' ? ownership.reason : ownership.state, says);
      assert.is((await world.cleanUp()).removed, 0);
      assert.equal(new Set(world.storage.files.keys()), files);
      await world.publish();
      await world.restart();
    }
    await world.confirm();
    assert.is((await world.check()).state, 'confirmed');
    assert.ok((await world.cleanUp()).removed > 0);
  });

owners('a publish that did not commit, or that the copy before it has not seen, keeps its files', async ({ world }) => {
  await world.publish(true);
  const ownership = await world.check();
  assert.is(ownership.state, 'confirmed');
  assert.equal(await world.cleanUp(), { removed: 0, kept: 1, keptBytes: 1 });
  await world.publish();
  assert.is((await world.cleanUp()).kept, 1);
  await world.confirm();
  assert.is((await world.cleanUp()).kept, 0);
});

owners('a publish that its transaction refuses leaves no record, and its files go', async ({ world }) => {
  await world.publish();
  const record = await world.storage.readRecord();
  await world.refuse();
  assert.is(await world.storage.readRecord(), record);
  assert.equal(await world.cleanUp(), { removed: 1, kept: 0, keptBytes: 0 });
});

owners('publishes at one time are recorded one after another', async ({ world }) => {
  await Promise.all(Array.from({ length: 5 }, () => world.publish()));
  assert.equal(await world.check(), { state: 'confirmed', confirmedMs: 0, unsettledTasks: [] });
});

owners('a record that arrives late, of a leader that was replaced, does not make the store a stranger', async ({ world }) => {
  await world.publish();
  const late = (await world.storage.readRecord()) ?? '';
  await world.publish();
  await world.publish();
  await world.storage.writeRecord(late);
  assert.is((await world.check()).state, 'confirmed', 'it has seen that publish');
  const unseen = {
    ...(JSON.parse(late) as object),
    publication: 'never committed',
    previous: JSON.parse(late).publication,
    taskId: 'lost',
  };
  await world.storage.writeRecord(JSON.stringify(unseen));
  assert.equal(await world.check(), { state: 'confirmed', confirmedMs: 0, unsettledTasks: ['lost'] });
  await world.publish();
  assert.equal(await world.check(), { state: 'confirmed', confirmedMs: 0, unsettledTasks: ['lost'] });
});

owners('metadata answers while deep storage does not', async ({ world }) => {
  const { writeRecord } = world.storage;
  let write = (): void => undefined;
  const isAsked = new Promise<void>((asked) => {
    world.storage.writeRecord = async (text) => {
      asked();
      await new Promise<void>((resolve) => {
        write = resolve;
      });
      world.storage.writeRecord = writeRecord;
      return writeRecord(text);
    };
  });
  const published = world.publish();
  await isAsked;
  assert.equal(await world.database.rows('SELECT 1 AS one'), [{ one: 1 }]);
  write();
  await published;
  assert.is((await world.check()).state, 'confirmed');
});

owners('a publish begins anew when a person confirms the store meanwhile', async ({ world }) => {
  await world.publish();
  const { writeRecord } = world.storage;
  world.storage.writeRecord = async (text) => {
    world.storage.writeRecord = writeRecord;
    await writeRecord(text);
    await world.confirm();
  };
  await world.publish();
  assert.equal(await world.check(), { state: 'confirmed', confirmedMs: 1, unsettledTasks: [] });
});

owners('a store whose deep storage was emptied goes on', async ({ world }) => {
  await world.publish();
  world.storage.files.clear();
  world.published.clear();
  await world.open();
  assert.is((await world.check()).state, 'confirmed');
});

owners('no order of events removes a published file', async () => {
  const step = fc.constantFrom(
    'publish',
    'crash',
    'refuse',
    'abandon',
    'backUp',
    'restore',
    'newStore',
    'restart',
    'cleanUp',
  ) as fc.Arbitrary<'publish' | 'crash' | 'refuse' | 'abandon' | 'backUp' | 'restore' | 'newStore' | 'restart' | 'cleanUp'>;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const world = new World();
      try {
        await world.open();
        const act: Readonly<Record<(typeof steps)[number], () => Promise<unknown>>> = {
          publish: () => world.publish(),
          crash: () => world.publish(true),
          refuse: () => world.refuse(),
          abandon: () => world.abandon(),
          backUp: () => world.backUp(),
          restore: async () => world.backups[0] !== undefined && (await world.open(world.backups[0])),
          newStore: () => world.open(),
          restart: () => world.restart(),
          cleanUp: () => world.cleanUp(),
        };
        for (const each of steps) await act[each]();
        const strayed = steps.some((each) => each === 'restore' || each === 'newStore');
        await world.cleanUp();
        // A store that was never exchanged removes what failed tasks left.
        if (!strayed) for (const path of world.abandoned) assert.not(world.storage.files.has(path));
      } finally {
        await world.close();
      }
    }),
    { numRuns: 20 },
  );
});

owners.run();
