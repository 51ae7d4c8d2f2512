import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { membershipOver } from '../../src/cluster/membership/membership-store.js';
import { StoredCoordination } from '../../src/cluster/membership/stored.js';
import { openSqlite } from '../../src/metadata/database.js';
import { openMetadata } from '../metadata/fixture.js';

/** Leadership and liveness while an event loop is blocked, with the real clock. */
const HEARTBEAT_MS = 50;
const EXPIRY_MS = 1500;
/** A disk that has much to write holds a transaction up for seconds: where there is a folder in memory, time is not the disk's. */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const pulses = suite('a blocked event loop');

pulses('in one process leadership and members outlast any delay of the timers', async () => {
  const { database, close } = await openMetadata();
  let nowMs = 1000;
  const seen: string[] = [];
  const member = new StoredCoordination({
    store: membershipOver(database, () => nowMs),
    session: 's',
    heartbeatMs: 60_000,
    expiryMs: EXPIRY_MS,
    onError: (error) => assert.unreachable(String(error)),
  });
  await member.announce('middleManager', 'w:1', {});
  const candidate = { gained: async () => void seen.push('gained'), lost: async () => void seen.push('lost') };
  await member.campaign('overlord', 'o:1', candidate);
  // While nobody else takes the lease nothing changes, neither before the next heartbeat nor after it.
  for (const lateMs of [EXPIRY_MS, 100 * EXPIRY_MS, 1e9]) {
    nowMs += lateMs;
    assert.is(member.leader('overlord')?.host, 'o:1');
    assert.is(member.members('middleManager').length, 1);
    assert.is(member.isCurrent('overlord'), false);
    await member.refresh();
    assert.is(member.isCurrent('overlord'), true);
    assert.is(member.leader('overlord')?.epoch, 1);
    assert.is(member.members('middleManager').length, 1);
  }
  assert.equal(seen, ['gained']);
  await member.close();
  await close();
});

const cases: readonly { name: string; stallMs: number; blockedSees: string; otherSees: string }[] = [
  { name: 'a process that is busy keeps its leadership and its announcements', stallMs: 60_000, blockedSees: 'gained', otherSees: '' },
  { name: 'one that hangs longer than the limit is replaced', stallMs: 200, blockedSees: 'gained,lost', otherSees: 'gained' },
];
/** Told by the two processes in one run. */
interface Told {
  /** Turns of leadership, in order. */
  readonly blockedSees: string;
  readonly otherSees: string;
  /** Fewest members that the other one saw while the first was blocked. */
  readonly fewest: number;
}

async function run(stallMs: number, expiryMs: number): Promise<Told> {
  const { file, close } = await openMetadata(FOLDER);
  const seen: string[] = [];
  const database = await openSqlite(file);
  const other = new StoredCoordination({
    store: membershipOver(database, Date.now),
    session: 'other',
    heartbeatMs: HEARTBEAT_MS,
    expiryMs,
    onError: (error) => assert.unreachable(String(error)),
  });
  const blocked = new Worker(new URL('./blocked-process.js', import.meta.url), {
    workerData: { file, stallMs, heartbeatMs: HEARTBEAT_MS, expiryMs, blockMs: 2 * expiryMs },
  });
  const messages: string[] = [];
  const told = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = () => messages.length >= count && resolve();
      blocked.on('message', look);
      look();
    });
  blocked.on('message', (message: string) => messages.push(message));
  const ended = new Promise((resolve) => blocked.once('exit', resolve));
  try {
    await told(1);
    await other.announce('middleManager', 'w:2', {});
    const candidate = { gained: async () => void seen.push('gained'), lost: async () => void seen.push('lost') };
    await other.campaign('overlord', 'o:2', candidate);
    await told(2);
    let fewest = 2;
    while (messages.length < 3) {
      fewest = Math.min(fewest, other.members('middleManager').length);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { blockedSees: messages[2] ?? '', otherSees: seen.join(), fewest };
  } finally {
    await ended;
    await other.close();
    await database.close();
    await close();
  }
}

for (const { name, stallMs, blockedSees, otherSees } of cases)
  pulses(`of several processes ${name}`, async () => {
    const expected: Told = { blockedSees, otherSees, fewest: otherSees === '' ? 2 : 1 };
    // A machine that stands still for longer than the limit is the same to the others as a process that hangs: they are given more time.
    let told: Told | undefined;
    for (const expiryMs of [EXPIRY_MS, 3 * EXPIRY_MS, 6 * EXPIRY_MS]) {
      told = await run(stallMs, expiryMs);
      if (isDeepStrictEqual(told, expected)) return;
    }
    assert.equal(told, expected);
  });

pulses.run();
