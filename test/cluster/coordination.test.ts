import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { membershipOver } from '../../src/cluster/membership/membership-store.js';
import { StoredCoordination } from '../../src/cluster/membership/stored.js';
import { type Database, openSqlite } from '../../src/metadata/database.js';
import type { Fence } from '../../src/metadata/leadership.js';
import { openMetadata } from '../metadata/fixture.js';

/** All processes of a test read one clock, so that nothing expires unless the test says so. */
let nowMs = 1000;
const EXPIRY_MS = 150;

interface Context {
  database: Database;
  file: string;
  close(): Promise<void>;
}

const coordination = suite<Context>('coordination over the metadata file');
coordination.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
coordination.after.each((context) => context.close());

/** A process of its own connection and session; `end` as kill -9 would: nothing is withdrawn. */
async function join(file: string, session: string) {
  const database = await openSqlite(file);
  let paused = false;
  const guarded: Database = {
    ...database,
    rows: (sql, bindings) => (paused ? new Promise(() => undefined) : database.rows(sql, bindings)),
    transaction: (work) => (paused ? new Promise(() => undefined) : database.transaction(work)),
    close: () => database.close(),
  };
  const member = new StoredCoordination({
    store: membershipOver(guarded, () => nowMs),
    session,
    heartbeatMs: 10,
    expiryMs: EXPIRY_MS,
    onError: (error) => assert.unreachable(String(error)),
  });
  return {
    member,
    stall: () => {
      paused = true;
    },
    leave: async () => {
      await member.close();
      await database.close();
    },
    database,
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const events = () => {
  const seen: string[] = [];
  return {
    seen,
    candidate: { gained: async ({ epoch }: Fence) => void seen.push(`gained ${epoch}`), lost: async () => void seen.push('lost') },
  };
};

coordination('a member sees itself at once and others a little later, and both see members leave', async ({ file }) => {
  const a = await join(file, 'a');
  const b = await join(file, 'b');
  assert.is(a.member.discovered, false);
  // Watched before there is anything to see: a slow machine may let b see it while a still announces.
  let changes = 0;
  b.member.watch(() => changes++);
  await a.member.announce('historical', 'h:1', { tier: 'hot' });
  assert.is(a.member.discovered, true);
  assert.equal(a.member.members('historical'), [{ role: 'historical', host: 'h:1', session: 'a', details: { tier: 'hot' } }]);
  // Listeners hear of a change when the whole picture is read, a little after the members are.
  await until(() => changes > 0 && b.member.members('historical').length === 1);
  assert.is(changes, 1);
  await a.leave();
  await until(() => b.member.members('historical').length === 0);
  await b.leave();
});

coordination('a process that was killed is gone after the expiry; the next one at its address replaces it at once', async ({ file }) => {
  const killed = await join(file, 'killed');
  const other = await join(file, 'other');
  await killed.member.announce('middleManager', 'w:1', {});
  await killed.member.announce('middleManager', 'w:2', {});
  killed.stall();
  const next = await join(file, 'next');
  await next.member.announce('middleManager', 'w:1', {});
  await until(() => other.member.members('middleManager').some(({ session }) => session === 'next'));
  assert.equal(
    next.member.members('middleManager').map(({ host, session }) => `${host} ${session}`),
    ['w:1 next', 'w:2 killed'],
  );
  nowMs += EXPIRY_MS + 1;
  await until(() => other.member.members('middleManager').length === 1);
  await next.leave();
  await other.leave();
  await killed.database.close();
});

coordination('one candidate leads; when it leaves the other takes over under a new epoch', async ({ file }) => {
  const [a, b] = [await join(file, 'a'), await join(file, 'b')];
  const [first, second] = [events(), events()];
  await a.member.campaign('coordinator', 'c:1', first.candidate);
  await b.member.campaign('coordinator', 'c:2', second.candidate);
  assert.equal([first.seen, second.seen], [['gained 1'], []]);
  assert.is(b.member.leader('coordinator')?.host, 'c:1');
  await a.leave();
  assert.equal(first.seen, ['gained 1', 'lost']);
  await until(() => second.seen.length === 1);
  assert.equal(second.seen, ['gained 2']);
  assert.is(b.member.leader('coordinator')?.host, 'c:2');
  await b.leave();
});

coordination('a leader that falls silent loses its lease to the other candidate', async ({ file }) => {
  const [a, b] = [await join(file, 'a'), await join(file, 'b')];
  const [first, second] = [events(), events()];
  await a.member.campaign('overlord', 'o:1', first.candidate);
  await b.member.campaign('overlord', 'o:2', second.candidate);
  a.stall();
  nowMs += EXPIRY_MS + 1;
  await until(() => second.seen.length === 1);
  assert.equal(second.seen, ['gained 2']);
  await b.leave();
  await a.database.close();
});

coordination('a process that begins outlives the loss of its session; what does not pass ends it', async ({ database }) => {
  const lost = new ServiceError('unavailable', 'metadata: the session was ended');
  const broken = new ServiceError('internal', 'metadata: no such table');
  for (const [method, failures] of [
    ['announce', [lost, lost]],
    ['stand', [lost]],
    ['stand', [lost, broken]],
    ['announce', [broken]],
  ] as const) {
    const store = membershipOver(database, () => nowMs);
    const left: Error[] = [...failures];
    const failing = (...args: readonly unknown[]): unknown => {
      const failure = left.shift();
      // The arguments are those of the method.
      return failure === undefined ? (store[method] as (...all: readonly unknown[]) => unknown)(...args) : Promise.reject(failure);
    };
    const told: unknown[] = [];
    const member = new StoredCoordination({
      store: { ...store, [method]: failing },
      session: 's',
      heartbeatMs: 60_000,
      expiryMs: EXPIRY_MS,
      onError: (error) => told.push(error),
    });
    const { seen, candidate } = events();
    const begun = member.announce('coordinator', 'c:1', {}).then(() => member.campaign('coordinator', 'c:1', candidate));
    const failure = await begun.then(
      () => undefined,
      (error: unknown) => error,
    );
    const isBroken = failures.some((each) => each === broken);
    assert.is(failure, isBroken ? broken : undefined);
    if (!isBroken) assert.equal([told, seen.length, member.discovered], [failures, 1, true]);
    await member.close();
  }
});

coordination('a process whose metadata store is away ends all that it leads, and its connection', async ({ database }) => {
  const errors: string[] = [];
  const away = () => Promise.reject(new Error('away'));
  let isConnected = true;
  const member = new StoredCoordination({
    store: {
      ...membershipOver(database, () => nowMs),
      giveUp: away,
      withdrawAll: away,
      disconnect: async () => {
        isConnected = false;
      },
    },
    session: 'a',
    heartbeatMs: 10,
    expiryMs: EXPIRY_MS,
    onError: (error) => void errors.push(String(error)),
  });
  const [first, second] = [events(), events()];
  await member.campaign('coordinator', 'a:1', first.candidate);
  await member.campaign('overlord', 'a:2', second.candidate);
  await member.close();
  assert.equal([first.seen, second.seen], Array(2).fill(['gained 1', 'lost']));
  assert.not.ok(isConnected);
  assert.equal(errors, Array(3).fill('Error: away'));
});

coordination.run();
