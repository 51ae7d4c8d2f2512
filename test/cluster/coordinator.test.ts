import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { Coordinator } from '../../src/cluster/coordinator/coordinator.js';
import { DYNAMIC_CONFIG_DEFAULTS, DYNAMIC_CONFIG_NAME, mergeDynamicConfig } from '../../src/cluster/coordinator/dynamic-config.js';
import { parseRules } from '../../src/cluster/coordinator/rules.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import { StorageOwner } from '../../src/cluster/storage-owner.js';
import type { Database } from '../../src/metadata/database.js';
import { takeLease } from '../../src/metadata/leadership.js';
import { bumpRevision, insertSegments, markUnused, selectSegments } from '../../src/metadata/segments.js';
import { writeConfig, writeRules } from '../../src/metadata/settings.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { openMetadata } from '../metadata/fixture.js';
import { DAY, emptyHistorical, inventoryOf, memoryStorage, segmentOf } from './fakes.js';

const ids = (segments: readonly SegmentDescriptor[]): string[] => segments.map((segment) => segmentIdText(segment.id));

interface Context {
  database: Database;
  close(): Promise<void>;
}

const duties = suite<Context>('coordinator');
duties.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
/** Coordinators of the test that runs, which end before its database is closed, also when it fails. */
const leading: Coordinator[] = [];
duties.after.each(async (context) => {
  for (const coordinator of leading.splice(0)) await coordinator.lost();
  await context.close();
});

/** A leading coordinator over one fake historical that loads at once, and a broker that reports what the test says. */
async function lead(database: Database, { now = Date.now, held = new Map<string, SegmentDescriptor>(), log = unexpected } = {}) {
  const storage = memoryStorage();
  const state = {
    ...{ held, inUse: {} as Record<string, number>, dropped: [] as string[], asked: [] as number[] },
    ...{ isGone: false, tier: '_default_tier' },
  };
  const historical = {
    ...emptyHistorical(),
    inventoryAfter: async () => ({ ...inventoryOf('h', [...held.keys()]), tier: state.tier }),
    loadSegments: async (segments: readonly SegmentDescriptor[]) => {
      state.asked.push(segments.length);
      for (const segment of segments) held.set(segmentIdText(segment.id), segment);
    },
    dropSegments: async (dropped: readonly string[]) => {
      for (const id of dropped) held.delete(id);
      state.dropped.push(...dropped);
    },
  };
  const broker = { revisionsInUse: async () => state.inUse, wake: async () => undefined };
  const peers = {
    all: (role: string) =>
      role === 'historical' && state.isGone ? [] : [{ host: 'h', session: 's', service: role === 'historical' ? historical : broker }],
  } as unknown as Peers;
  const coordinator = new Coordinator({
    database,
    storage,
    owner: new StorageOwner(storage),
    peers,
    periodMs: 10,
    cleanupPeriodMs: 60_000,
    orphanAgeMs: 0,
    loadRetryMs: 1000,
    compactionPeriodMs: 3_600_000,
    kill: null,
    oldRecords: { lookMs: 3_600_000, audit: null, rules: null, compaction: null },
    readTask: async () => {
      throw new Error('no task is submitted here');
    },
    now,
    log,
  });
  leading.push(coordinator);
  await gain(database, coordinator);
  return { coordinator, state };
}

/** Leads with the next epoch. */
async function gain(database: Database, coordinator: Coordinator): Promise<void> {
  const leader = await takeLease(database, { role: 'coordinator', host: 'c', heldEpoch: null, nowMs: Date.now(), leaseMs: 60_000 });
  await coordinator.gained({ role: 'coordinator', epoch: leader.epoch });
}

const unexpected = (line: string): void => assert.unreachable(line);
const NOWHERE = { type: 'loadForever', useDefaultTierForNull: false };
const setRules = (database: Database, rules: readonly object[]): Promise<void> =>
  database.transaction((queries) => writeRules(queries, 'ds', JSON.stringify(parseRules(rules)), 0));
const looks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

const insert = (database: Database, segments: readonly SegmentDescriptor[]): Promise<void> =>
  database.transaction(async (queries) => insertSegments(queries, segments, 0, await bumpRevision(queries)));

const configure = (database: Database, config: Readonly<Record<string, unknown>>): Promise<void> =>
  database.transaction((queries) => writeConfig(queries, DYNAMIC_CONFIG_NAME, JSON.stringify(config)));

duties('what is broadcast goes to the tiers that there are, and only its plan hangs on them', async ({ database }) => {
  const { coordinator, state } = await lead(database);
  const [everywhere, elsewhere] = [segmentOf('ds', 0, 'v1'), segmentOf('other', 0, 'v1')];
  await setRules(database, [{ type: 'broadcastForever' }]);
  await insert(database, [everywhere, elsewhere]);
  const planned = () => ids([everywhere, elsewhere]).map((id) => coordinator.picture.targets.get(id)?.tieredReplicants);
  const all = Number.MAX_SAFE_INTEGER;
  for (const tier of ['_default_tier', 'hot']) {
    state.tier = tier;
    await until(() => coordinator.picture.servers[0]?.tier === tier && planned()[0]?.[tier] === all);
    assert.equal(planned(), [{ [tier]: all }, { _default_tier: 2 }]);
  }
});

duties('published segments get loaded; replaced ones stay until no broker reads them', async ({ database }) => {
  const { coordinator, state } = await lead(database);
  const [old, fresh] = [segmentOf('ds', 0, 'v1'), segmentOf('ds', 0, 'v2')];
  await insert(database, [old]);
  await until(() => state.held.has(segmentIdText(old.id)));
  state.inUse = { ds: (await coordinator.snapshot()).revision };

  await database.transaction(async (queries) => {
    await markUnused(queries, 'ds', { kind: 'all' }, 0);
    await insertSegments(queries, [fresh], 0, await bumpRevision(queries));
  });
  await until(() => state.held.has(segmentIdText(fresh.id)));
  // Many looks later the broker still reads the old revision.
  for (let look = 0; look < 5; look++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(state.dropped, []);
  state.inUse = { ds: (await coordinator.snapshot()).revision };
  await until(() => state.dropped.length > 0);
  assert.equal(state.dropped, ids([old]));
});

duties('the snapshot holds what is visible and shall be loaded; rules that change it raise the revision', async ({ database }) => {
  const { coordinator } = await lead(database);
  await insert(database, [segmentOf('a', 0, 'v1'), segmentOf('b', 0, 'v1'), segmentOf('b', 0, 'v0')]);
  const before = await coordinator.snapshot();
  assert.equal(ids(before.segments).sort(), ids([segmentOf('a', 0, 'v1'), segmentOf('b', 0, 'v1')]));
  await database.transaction((queries) =>
    writeRules(queries, 'b', JSON.stringify(parseRules([{ type: 'loadForever', useDefaultTierForNull: false }])), 0),
  );
  const after = await coordinator.snapshot();
  assert.equal(ids(after.segments), ids([segmentOf('a', 0, 'v1')]));
  assert.ok(after.revision > before.revision);
  assert.is(await coordinator.snapshotAfter(after.revision), null);
});

duties('after a known revision the snapshot holds what came and what went since', async ({ database }) => {
  const [old, other, fresh] = [segmentOf('a', 0, 'v1'), segmentOf('a', 1, 'v1'), segmentOf('a', 0, 'v2')];
  // Before the Coordinator looks first, which otherwise might know the revision before them.
  await insert(database, [old, other]);
  const { coordinator } = await lead(database);
  const { revision, term } = await coordinator.snapshot();
  await insert(database, [fresh]);
  const after = await coordinator.snapshotAfter(revision, term);
  assert.equal(after?.since, { revision, gone: ids([old]) });
  assert.equal(ids(after?.segments ?? []), ids([fresh]));
  assert.equal(ids((await coordinator.snapshot()).segments).sort(), ids([other, fresh]).sort());
  // Nothing is known of a revision from before the Coordinator looked first.
  assert.is((await coordinator.snapshotAfter(0, term))?.since, undefined);
  // Nor of what another leader has told.
  assert.is((await coordinator.snapshotAfter(revision))?.since, undefined);
  assert.is((await coordinator.snapshotAfter(revision, (term ?? 0) - 1))?.segments.length, 2);
});

duties('the snapshot tells the copies of its segments, and used segments that are hidden or loaded nowhere', async ({ database }) => {
  const { coordinator } = await lead(database);
  const [hidden, shown, cold] = [segmentOf('a', 0, 'v0'), segmentOf('a', 0, 'v1'), segmentOf('b', 0, 'v1')];
  await database.transaction((queries) => writeRules(queries, 'b', JSON.stringify(parseRules([NOWHERE])), 0));
  await insert(database, [hidden, shown, cold]);
  const first = await coordinator.snapshot();
  assert.equal([ids(first.segments), first.copies], [ids([shown]), [{ _default_tier: 2 }]]);
  const others = (first.others ?? []).map((segment, at) => [segmentIdText(segment.id), first.overshadowed?.[at]]);
  assert.equal(others.sort(), [
    [segmentIdText(hidden.id), true],
    [segmentIdText(cold.id), false],
  ]);
  const { replicationFactor, segment } = (await coordinator.usedSegments(['b']))[0] ?? {};
  assert.equal([segment, replicationFactor], [cold, 0]);
  // Rules that change the copies alone raise the revision as well.
  const once = parseRules([{ type: 'loadForever', tieredReplicants: { _default_tier: 1 } }]);
  await database.transaction((queries) => writeRules(queries, 'a', JSON.stringify(once), 0));
  const second = await coordinator.snapshotAfter(first.revision, first.term);
  assert.equal([ids(second?.segments ?? []), second?.copies, second?.others], [ids([shown]), [{ _default_tier: 1 }], []]);
  // The one that hid another goes: the other is a target, and it is used no more.
  await database.transaction((queries) => markUnused(queries, 'a', { kind: 'ids', ids: ids([shown]) }, 0));
  const third = await coordinator.snapshotAfter(second?.revision ?? 0, second?.term);
  assert.equal([third?.since?.gone, ids(third?.segments ?? []), third?.others], [ids([shown]), ids([hidden]), []]);
});

duties('many segments are asked for by and by, and all of them are loaded', async ({ database }) => {
  const { state } = await lead(database);
  const segments = Array.from({ length: 3000 }, (_, day) => segmentOf('ds', day, 'v1'));
  await insert(database, segments);
  await until(() => state.held.size === segments.length);
  assert.ok(
    state.asked.every((count) => count <= 500),
    `${state.asked}`,
  );
});

duties('a lost server is replaced by others, whatever was settled before', async ({ database }) => {
  const { coordinator, state } = await lead(database);
  const segment = segmentOf('ds', 0, 'v1');
  await insert(database, [segment]);
  await until(() => state.held.size === 1);
  for (let look = 0; look < 3; look++) await new Promise((resolve) => setTimeout(resolve, 20));
  state.held.clear();
  state.isGone = true;
  await until(() => coordinator.picture.servers.length === 0);
  state.isGone = false;
  await until(() => state.held.size === 1);
});

duties('a new leader that plans otherwise by its clock says so, and drops nothing that brokers read', async ({ database }) => {
  const segment = segmentOf('ds', 0, 'v1');
  await setRules(database, [{ type: 'loadByPeriod', period: 'P2D' }, NOWHERE]);
  await insert(database, [segment]);
  const clock = { ms: 2 * DAY };
  const { coordinator, state } = await lead(database, { now: () => clock.ms });
  await until(() => state.held.size === 1);
  const told = await coordinator.snapshot();
  assert.equal(ids(told.segments), ids([segment]));
  await coordinator.lost();
  clock.ms = 4 * DAY;
  const next = await lead(database, { now: () => clock.ms, held: state.held });
  next.state.inUse = { ds: told.revision };
  const after = await next.coordinator.snapshotAfter(told.revision, told.term);
  assert.equal(after?.segments, []);
  await looks();
  assert.equal(next.state.dropped, []);
  next.state.inUse = { ds: after?.revision ?? 0 };
  await until(() => next.state.dropped.length === 1);
});

duties('segments for all servers are loaded as soon as a leader knows the servers, again and again', async ({ database }) => {
  const segments = [0, 1].map((day) => segmentOf('ds', day, 'v1'));
  await setRules(database, [{ type: 'broadcastForever' }]);
  await insert(database, segments);
  // Its clock stands still: plans do not grow old.
  const { coordinator, state } = await lead(database, { now: () => 1_000_000 });
  for (let term = 0; term < 2; term++) {
    for (let look = 0; look < 30 && state.held.size < segments.length; look++) await looks();
    assert.equal([...state.held.keys()].sort(), ids(segments));
    await coordinator.lost();
    state.held.clear();
    await gain(database, coordinator);
  }
});

duties('a leader that comes back does not go by what it knew before', async ({ database }) => {
  const segment = segmentOf('ds', 0, 'v1');
  await insert(database, [segment]);
  const first = await lead(database);
  const { state } = first;
  await until(() => state.held.size === 1);
  state.inUse = { ds: 0 };
  await setRules(database, [NOWHERE]);
  assert.equal((await first.coordinator.snapshot()).segments, []);
  await looks();
  await first.coordinator.lost();
  const second = await lead(database, { held: state.held });
  second.state.inUse = { ds: 0 };
  await setRules(database, []);
  const { revision } = await second.coordinator.snapshot();
  await setRules(database, [NOWHERE]);
  await second.coordinator.snapshot();
  await second.coordinator.lost();
  state.inUse = { ds: revision };
  await gain(database, first.coordinator);
  await first.coordinator.snapshot();
  await looks();
  assert.equal(state.dropped, [], 'a broker still reads it');
});

duties('a plan whose revision could not be written is told with the next one', async ({ database }) => {
  const segment = segmentOf('ds', 0, 'v1');
  await insert(database, [segment]);
  let failures = 0;
  const busy: Database = Object.assign(Object.create(database), {
    transaction: (work: Parameters<Database['transaction']>[0]) =>
      failures-- > 0 ? Promise.reject(new ServiceError('unavailable', 'busy')) : database.transaction(work),
  });
  const { coordinator } = await lead(busy, { log: (line) => assert.match(line, 'busy') });
  const { revision, term } = await coordinator.snapshot();
  await configure(database, { pauseCoordination: true });
  await looks();
  failures = 1;
  await setRules(database, [NOWHERE]);
  await until(async () => (await coordinator.snapshot().catch(() => undefined))?.segments.length === 0);
  const after = await coordinator.snapshotAfter(revision, term);
  assert.equal(after?.since?.gone, ids([segment]));
});

duties('segments published while something else reads metadata are in the next snapshot', async ({ database }) => {
  const { coordinator } = await lead(database);
  await insert(database, [segmentOf('a', 0, 'v1')]);
  const before = await coordinator.snapshot();
  await insert(database, [segmentOf('a', 1, 'v1')]);
  // A duty refreshes the catalog like this after it has marked segments unused.
  await coordinator.catalog.refresh();
  const after = await coordinator.snapshotAfter(before.revision, before.term);
  assert.equal(ids(after?.segments ?? []), ids([segmentOf('a', 1, 'v1')]));
  assert.is(after?.revision, coordinator.catalog.revision);
});

duties('drop rules and complete newer versions make segments unused', async ({ database }) => {
  await lead(database);
  await insert(database, [
    segmentOf('a', 0, 'v0'),
    segmentOf('a', 0, 'v1'),
    segmentOf('b', 0, 'v1'),
    segmentOf('c', 0, 'v1'),
    segmentOf('c', 0, 'v2', 1, 2),
  ]);
  await database.transaction((queries) => writeRules(queries, 'b', JSON.stringify(parseRules([{ type: 'dropForever' }])), 0));
  const used = async () => ids(await selectSegments(database, { used: true })).sort();
  const withoutDropped = ids([segmentOf('a', 0, 'v0'), segmentOf('a', 0, 'v1'), segmentOf('c', 0, 'v1'), segmentOf('c', 0, 'v2', 1, 2)]);
  await until(async () => (await used()).length === withoutDropped.length);
  assert.equal(await used(), withoutDropped.sort());
  // Overshadowed segments are marked unused only after the wait that the dynamic configuration asks for.
  await configure(database, { millisToWaitBeforeDeleting: 0 });
  await until(async () => (await used()).length < withoutDropped.length);
  assert.equal(await used(), ids([segmentOf('a', 0, 'v1'), segmentOf('c', 0, 'v1'), segmentOf('c', 0, 'v2', 1, 2)]).sort());
});

duties('nothing is loaded while coordination is paused', async ({ database }) => {
  await configure(database, { pauseCoordination: true });
  const { coordinator, state } = await lead(database);
  await insert(database, [segmentOf('ds', 0, 'v1')]);
  await until(() => coordinator.picture.targets.size === 1);
  assert.is(state.held.size, 0);
  await configure(database, { pauseCoordination: false });
  await until(() => state.held.size === 1);
});

duties('dynamic configuration: changes are merged, strangers and wrong types refused', () => {
  const merge = (changes: Readonly<Record<string, unknown>>) =>
    mergeDynamicConfig(DYNAMIC_CONFIG_DEFAULTS, new Map(Object.entries(changes)));
  assert.equal(merge({ replicantLifetime: 3 }), { ...DYNAMIC_CONFIG_DEFAULTS, replicantLifetime: 3 });
  for (const [changes, code] of [
    [{ replicantLifetme: 3 }, 'input_invalid'],
    [{ replicantLifetime: '3' }, 'input_invalid'],
    [{ decommissioningNodes: 'a:1' }, 'input_invalid'],
    [{ smartSegmentLoading: false }, 'unsupported'],
  ] as const)
    assert.throws(
      () => merge(changes),
      (error: unknown) => error instanceof ServiceError && error.code === code,
    );
});

duties('a coordinator that does not lead answers nothing', async ({ database }) => {
  const { coordinator } = await lead(database);
  await coordinator.lost();
  assert.is(await coordinator.snapshot().catch((error: ServiceError) => error.code), 'not_leader');
});

duties.run();
