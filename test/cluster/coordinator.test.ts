import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import {
  type Assignment,
  type AssignmentInput,
  assignSegments as assignAmong,
  type Target,
} from '../../src/cluster/coordinator/assignment.js';
import { Coordinator } from '../../src/cluster/coordinator/coordinator.js';
import { DYNAMIC_CONFIG_DEFAULTS, DYNAMIC_CONFIG_NAME, mergeDynamicConfig } from '../../src/cluster/coordinator/dynamic-config.js';
import { decide, parseRules } from '../../src/cluster/coordinator/rules.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { ServerInventory } from '../../src/cluster/rpc/services.js';
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
const target = (segment: SegmentDescriptor, tieredReplicants: Target['tieredReplicants'] = { _default_tier: 1 }): Target => ({
  id: segmentIdText(segment.id),
  segment,
  tieredReplicants,
});

const rules = suite('retention rules');

const NOW = 1000 * DAY;
const dayAgo = (days: number) => ({ start: NOW - days * DAY, end: NOW - (days - 1) * DAY });
const decisions: readonly {
  name: string;
  rules: unknown;
  interval: { start: number; end: number };
  kind: 'load' | 'drop' | 'broadcast';
}[] = [
  { name: 'no rule loads', rules: [], interval: dayAgo(500), kind: 'load' },
  {
    name: 'the first rule that applies decides',
    rules: [{ type: 'loadByPeriod', period: 'P10D' }, { type: 'dropForever' }],
    interval: dayAgo(5),
    kind: 'load',
  },
  {
    name: 'and else a later one',
    rules: [{ type: 'loadByPeriod', period: 'P10D' }, { type: 'dropForever' }],
    interval: dayAgo(50),
    kind: 'drop',
  },
  {
    name: 'a period that reaches into the future',
    rules: [{ type: 'loadByPeriod', period: 'P1D' }, { type: 'dropForever' }],
    interval: dayAgo(-5),
    kind: 'load',
  },
  {
    name: 'and one that does not',
    rules: [{ type: 'loadByPeriod', period: 'P1D', includeFuture: false }, { type: 'dropForever' }],
    interval: dayAgo(-5),
    kind: 'drop',
  },
  {
    name: 'overlap is enough to load by interval',
    rules: [{ type: 'loadByInterval', interval: '1970-01-01/1970-01-02T12:00' }, { type: 'dropForever' }],
    interval: { start: DAY, end: 2 * DAY },
    kind: 'load',
  },
  {
    name: 'to drop by interval it is not',
    rules: [{ type: 'dropByInterval', interval: '1970-01-01/1970-01-02T12:00' }],
    interval: { start: DAY, end: 2 * DAY },
    kind: 'load',
  },
  {
    name: 'containment is',
    rules: [{ type: 'dropByInterval', interval: '1970-01-01/1970-01-03' }],
    interval: { start: DAY, end: 2 * DAY },
    kind: 'drop',
  },
  { name: 'drop before a period', rules: [{ type: 'dropBeforeByPeriod', period: 'P30D' }], interval: dayAgo(31), kind: 'drop' },
  {
    name: 'not what reaches into it',
    rules: [{ type: 'dropBeforeByPeriod', period: 'P30D' }],
    interval: { start: NOW - 31 * DAY, end: NOW - 29 * DAY },
    kind: 'load',
  },
  { name: 'broadcast', rules: [{ type: 'broadcastForever' }], interval: dayAgo(1), kind: 'broadcast' },
];
for (const { name, rules: body, interval, kind } of decisions)
  rules(name, () => assert.is(decide(parseRules(body), interval, NOW).kind, kind));

const refused: readonly { name: string; body: unknown; says: RegExp }[] = [
  { name: 'no list', body: { type: 'loadForever' }, says: /expected an array/ },
  { name: 'an unknown type', body: [{ type: 'keepForever' }], says: /rules\[0\]\.type: found "keepForever", expected one of loadForever/ },
  { name: 'an unknown field', body: [{ type: 'dropForever', period: 'P1D' }], says: /rules\[0\]\.period/ },
  {
    name: 'a bad period',
    body: [{ type: 'loadForever' }, { type: 'dropBeforeByPeriod', period: '1 day' }],
    says: /rules\[1\]\.period: found "1 day"/,
  },
  {
    name: 'a count beyond all servers',
    body: [{ type: 'loadForever', tieredReplicants: { hot: 1e99 } }],
    says: /tieredReplicants\.hot: found 1e\+99/,
  },
  { name: 'a negative count', body: [{ type: 'loadForever', tieredReplicants: { hot: -1 } }], says: /tieredReplicants\.hot: found -1/ },
];
for (const { name, body, says } of refused)
  rules(`refuses ${name}`, () => {
    assert.throws(
      () => parseRules(body),
      (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid' && says.test(error.message),
    );
  });

rules('absent replicas take the default, or none at all', () => {
  assert.equal(parseRules([{ type: 'loadForever' }]), [
    { type: 'loadForever', tieredReplicants: { _default_tier: 2 }, useDefaultTierForNull: true },
  ]);
  assert.equal(parseRules([{ type: 'loadForever', useDefaultTierForNull: false }]), [
    { type: 'loadForever', tieredReplicants: {}, useDefaultTierForNull: false },
  ]);
});

rules.run();

const assignment = suite('assignment');
const always = { mayDrop: () => true, mayLoad: () => true };

/** The assignment among servers with these inventories; of what no target names, what may be dropped is. */
function assignSegments({
  targets,
  servers,
  mayDrop,
  mayLoad,
}: Pick<AssignmentInput, 'mayLoad'> & {
  readonly targets: readonly Target[];
  readonly servers: readonly ServerInventory[];
  readonly mayDrop: (id: string) => boolean;
}): Assignment {
  const wanted = new Set(targets.map(({ id }) => id));
  const sizes = new Map(targets.map(({ id, segment }) => [id, segment.sizeBytes]));
  const held = new Set(servers.flatMap(({ segmentIds }) => segmentIds));
  return assignAmong({
    targets,
    unneeded: [...held].filter((id) => !wanted.has(id) && mayDrop(id)),
    servers: servers.map(({ host, tier, segmentIds, loading, maxSizeBytes, currentSizeBytes }) => ({
      host,
      tier,
      served: new Set(segmentIds),
      loading: new Set(loading),
      freeBytes: maxSizeBytes - currentSizeBytes - loading.reduce((bytes, id) => bytes + (sizes.get(id) ?? 0), 0),
      places: Infinity,
    })),
    mayLoad,
  });
}

assignment('asks no server for more segments than it has places for, and what is settled is told', () => {
  const segments = [0, 1, 2, 3].map((day) => segmentOf('ds', day, 'v1'));
  const [first = ''] = ids(segments);
  const servers = [
    { host: 'a', tier: '_default_tier', served: new Set([first]), loading: new Set<string>(), freeBytes: 1000, places: 2 },
    { host: 'b', tier: 'cold', served: new Set<string>(), loading: new Set<string>(), freeBytes: 1000, places: 9 },
  ];
  const { loads, settled } = assignAmong({
    targets: segments.map((segment) => target(segment)),
    unneeded: [],
    servers,
    mayLoad: () => true,
  });
  assert.equal([...loads], [['a', segments.slice(1, 3)]]);
  assert.equal([...settled], [first]);
});

assignment('loads to the emptiest servers, no more copies than there are servers', () => {
  const segment = segmentOf('ds', 0, 'v1');
  const servers = [inventoryOf('a', [], { currentSizeBytes: 500 }), inventoryOf('b', []), inventoryOf('c', [], { tier: 'cold' })];
  assert.equal([...assignSegments({ targets: [target(segment)], servers, ...always }).loads], [['b', [segment]]]);
  assert.equal([...assignSegments({ targets: [target(segment, { _default_tier: 5 })], servers, ...always }).loads.keys()].sort(), [
    'a',
    'b',
  ]);
});

assignment('never fills a server beyond its size, and does not ask where it failed', () => {
  const segments = [0, 1, 2].map((day) => segmentOf('ds', day, 'v1'));
  const servers = [inventoryOf('a', [], { maxSizeBytes: 250 })];
  const targets = segments.map((segment) => target(segment));
  assert.is(assignSegments({ targets, servers, ...always }).loads.get('a')?.length, 2);
  assert.is(assignSegments({ targets, servers, mayDrop: () => true, mayLoad: () => false }).loads.size, 0);
});

assignment('a segment being loaded is not asked for again', () => {
  const segment = segmentOf('ds', 0, 'v1');
  const servers = [inventoryOf('a', [], { loading: ids([segment]) }), inventoryOf('b', [])];
  assert.is(assignSegments({ targets: [target(segment)], servers, ...always }).loads.size, 0);
});

assignment('a copy moves to another tier by being loaded there first', () => {
  const segment = segmentOf('ds', 0, 'v1');
  const moving = [target(segment, { cold: 1 })];
  const before = assignSegments({
    targets: moving,
    servers: [inventoryOf('a', ids([segment])), inventoryOf('c', [], { tier: 'cold' })],
    ...always,
  });
  assert.equal([[...before.loads.keys()], [...before.drops.keys()]], [['c'], []]);
  const after = assignSegments({
    targets: moving,
    servers: [inventoryOf('a', ids([segment])), inventoryOf('c', ids([segment]), { tier: 'cold' })],
    ...always,
  });
  assert.equal([[...after.loads.keys()], [...after.drops.keys()]], [[], ['a']]);
});

assignment('segments without a target are dropped once that is allowed', () => {
  const old = segmentOf('ds', 0, 'v1');
  const servers = [inventoryOf('a', ids([old])), inventoryOf('b', ids([old]))];
  assert.is(assignSegments({ targets: [], servers, mayDrop: () => false, mayLoad: () => true }).drops.size, 0);
  assert.equal(
    [...assignSegments({ targets: [], servers, ...always }).drops],
    [
      ['a', ids([old])],
      ['b', ids([old])],
    ],
  );
});

assignment('settles: what it asks for leaves nothing to ask for, and no wanted segment is ever without a copy', () => {
  const segments = Array.from({ length: 6 }, (_, day) => segmentOf('ds', day, 'v1'));
  const anyServer = fc.record({ tier: fc.constantFrom('_default_tier', 'cold'), held: fc.subarray([0, 1, 2, 3, 4, 5]) });
  const anyTargets = fc.array(fc.record({ hot: fc.integer({ min: 0, max: 3 }), cold: fc.integer({ min: 0, max: 3 }) }), {
    minLength: 6,
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(anyServer, { minLength: 1, maxLength: 5 }), anyTargets, (list, wanted) => {
      const targets = segments.flatMap((segment, at) => {
        const { hot, cold } = wanted[at] ?? { hot: 0, cold: 0 };
        return hot + cold === 0 ? [] : [target(segment, { _default_tier: hot, cold })];
      });
      let servers: ServerInventory[] = list.map(({ tier, held }, at) =>
        inventoryOf(`h${at}`, ids(held.flatMap((day) => segments[day] ?? [])), { tier }),
      );
      for (let round = 0; round < 4; round++) {
        const { loads, drops } = assignSegments({ targets, servers, ...always });
        if (loads.size === 0 && drops.size === 0) return;
        const before = servers;
        // The worst order: drops happen first.
        for (const { id } of targets) {
          const copies = before.filter((server) => server.segmentIds.includes(id) && drops.get(server.host)?.includes(id) !== true).length;
          assert.ok(copies > 0 || !before.some((server) => server.segmentIds.includes(id)), `no copy of ${id} is left`);
        }
        servers = servers.map((server) =>
          inventoryOf(
            server.host,
            [...server.segmentIds.filter((id) => drops.get(server.host)?.includes(id) !== true), ...ids(loads.get(server.host) ?? [])],
            { tier: server.tier },
          ),
        );
      }
      assert.unreachable('still asking after four rounds');
    }),
  );
});

assignment.run();

interface Context {
  database: Database;
  close(): Promise<void>;
}

const duties = suite<Context>('coordinator');
duties.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
duties.after.each((context) => context.close());

/** A leading coordinator over one fake historical that loads at once, and a broker that reports what the test says. */
async function lead(database: Database, { now = Date.now, held = new Map<string, SegmentDescriptor>(), log = unexpected } = {}) {
  const storage = memoryStorage();
  const state = { held, inUse: {} as Record<string, number>, dropped: [] as string[], asked: [] as number[], isGone: false };
  const historical = {
    ...emptyHistorical(),
    inventoryAfter: async () => inventoryOf('h', [...held.keys()]),
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
    now,
    log,
  });
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
  database.transaction((queries) => writeRules(queries, 'ds', JSON.stringify(parseRules(rules))));
const looks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

const insert = (database: Database, segments: readonly SegmentDescriptor[]): Promise<void> =>
  database.transaction(async (queries) => insertSegments(queries, segments, 0, await bumpRevision(queries)));

const configure = (database: Database, config: Readonly<Record<string, unknown>>): Promise<void> =>
  database.transaction((queries) => writeConfig(queries, DYNAMIC_CONFIG_NAME, JSON.stringify(config)));

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
  await coordinator.lost();
});

duties('the snapshot holds what is visible and shall be loaded; rules that change it raise the revision', async ({ database }) => {
  const { coordinator } = await lead(database);
  await insert(database, [segmentOf('a', 0, 'v1'), segmentOf('b', 0, 'v1'), segmentOf('b', 0, 'v0')]);
  const before = await coordinator.snapshot();
  assert.equal(ids(before.segments).sort(), ids([segmentOf('a', 0, 'v1'), segmentOf('b', 0, 'v1')]));
  await database.transaction((queries) =>
    writeRules(queries, 'b', JSON.stringify(parseRules([{ type: 'loadForever', useDefaultTierForNull: false }]))),
  );
  const after = await coordinator.snapshot();
  assert.equal(ids(after.segments), ids([segmentOf('a', 0, 'v1')]));
  assert.ok(after.revision > before.revision);
  assert.is(await coordinator.snapshotAfter(after.revision), null);
  await coordinator.lost();
});

duties('after a known revision the snapshot holds what came and what went since', async ({ database }) => {
  const { coordinator } = await lead(database);
  const [old, other, fresh] = [segmentOf('a', 0, 'v1'), segmentOf('a', 1, 'v1'), segmentOf('a', 0, 'v2')];
  await insert(database, [old, other]);
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
  await coordinator.lost();
});

duties('many segments are asked for by and by, and all of them are loaded', async ({ database }) => {
  const { coordinator, state } = await lead(database);
  const segments = Array.from({ length: 3000 }, (_, day) => segmentOf('ds', day, 'v1'));
  await insert(database, segments);
  await until(() => state.held.size === segments.length);
  assert.ok(
    state.asked.every((count) => count <= 500),
    `${state.asked}`,
  );
  await coordinator.lost();
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
  await coordinator.lost();
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
  await next.coordinator.lost();
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
  await first.coordinator.lost();
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
  await coordinator.lost();
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
  await coordinator.lost();
});

duties('drop rules and complete newer versions make segments unused', async ({ database }) => {
  const { coordinator } = await lead(database);
  await insert(database, [
    segmentOf('a', 0, 'v0'),
    segmentOf('a', 0, 'v1'),
    segmentOf('b', 0, 'v1'),
    segmentOf('c', 0, 'v1'),
    segmentOf('c', 0, 'v2', 1, 2),
  ]);
  await database.transaction((queries) => writeRules(queries, 'b', JSON.stringify(parseRules([{ type: 'dropForever' }]))));
  const used = async () => ids(await selectSegments(database, { used: true })).sort();
  const withoutDropped = ids([segmentOf('a', 0, 'v0'), segmentOf('a', 0, 'v1'), segmentOf('c', 0, 'v1'), segmentOf('c', 0, 'v2', 1, 2)]);
  await until(async () => (await used()).length === withoutDropped.length);
  assert.equal(await used(), withoutDropped.sort());
  // Overshadowed segments are marked unused only after the wait that the dynamic configuration asks for.
  await configure(database, { millisToWaitBeforeDeleting: 0 });
  await until(async () => (await used()).length < withoutDropped.length);
  assert.equal(await used(), ids([segmentOf('a', 0, 'v1'), segmentOf('c', 0, 'v1'), segmentOf('c', 0, 'v2', 1, 2)]).sort());
  await coordinator.lost();
});

duties('nothing is loaded while coordination is paused', async ({ database }) => {
  await configure(database, { pauseCoordination: true });
  const { coordinator, state } = await lead(database);
  await insert(database, [segmentOf('ds', 0, 'v1')]);
  await until(() => coordinator.picture.targets.size === 1);
  assert.is(state.held.size, 0);
  await configure(database, { pauseCoordination: false });
  await until(() => state.held.size === 1);
  await coordinator.lost();
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
