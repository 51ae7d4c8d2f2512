import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AssignedServer, assignSegments, type Target } from '../../src/cluster/coordinator/assignment.js';
import { MoveLooks } from '../../src/cluster/coordinator/move-looks.js';
import { calmServers, Moves, type MovesInput, planMoves } from '../../src/cluster/coordinator/moves.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { segmentOf } from './fakes.js';

const TIER = '_default_tier';
/** The default of `maxSegmentsToMove`. */
const MOST = 100;
const idOf = (segment: SegmentDescriptor): string => segmentIdText(segment.id);

/** Loads of one plan that looks at all there is. */
const loadsOf = async (input: Omit<MovesInput, 'most'>, most = MOST) => (await planMoves({ ...input, most }, new MoveLooks())).loads;

/** Servers of one tier and the segments that they hold, as bytes and ids. */
class Tier {
  readonly targets: ReadonlyMap<string, Target>;
  readonly held: Map<string, Set<string>>;
  readonly maxBytes: readonly number[];

  constructor(
    sizes: readonly number[],
    held: readonly (readonly number[])[],
    { copies = 1, maxBytes = [] }: { readonly copies?: number; readonly maxBytes?: readonly number[] } = {},
  ) {
    const segments = sizes.map((sizeBytes, day): SegmentDescriptor => ({ ...segmentOf('ds', day, 'v1'), sizeBytes }));
    this.targets = new Map(
      segments.map((segment) => [idOf(segment), { id: idOf(segment), segment, tieredReplicants: { [TIER]: copies } }]),
    );
    const ids = [...this.targets.keys()];
    this.held = new Map(held.map((days, at) => [`h${at}`, new Set(days.map((day) => ids[day] ?? ''))]));
    this.maxBytes = maxBytes;
  }

  bytes(host: string): number {
    return [...(this.held.get(host) ?? [])].reduce((sum, id) => sum + (this.targets.get(id)?.segment.sizeBytes ?? 0), 0);
  }

  get servers(): readonly AssignedServer[] {
    return [...this.held].map(([host, ids], at) => {
      const heldBytes = this.bytes(host);
      const freeBytes = (this.maxBytes[at] ?? 100_000) - heldBytes;
      return { host, tier: TIER, served: new Set(ids), loading: new Set(), freeBytes, heldBytes, generation: '', places: 500 };
    });
  }

  copies(id: string): number {
    return [...this.held.values()].filter((ids) => ids.has(id)).length;
  }

  /** Loads what moves, then drops what is surplus; the number of segments that moved. */
  async move(): Promise<number> {
    const { targets } = this;
    const mayLoad = (): boolean => true;
    const loads = await loadsOf({ targets, servers: this.servers, mayLoad });
    for (const [host, segments] of loads) for (const segment of segments) this.held.get(host)?.add(idOf(segment));
    const after = assignSegments({ targets: targets.values(), unneeded: [], servers: this.servers, mayLoad });
    assert.is(after.loads.size, 0);
    for (const [host, ids] of after.drops) for (const id of ids) this.held.get(host)?.delete(id);
    return [...loads.values()].reduce((sum, segments) => sum + segments.length, 0);
  }
}

const moves = suite('moves of segments');

moves('a server that comes later gets its share, from all over the time of the segments', async () => {
  const days = Array.from({ length: 300 }, (_, day) => day);
  const tier = new Tier(Array(300).fill(10), [days, []]);
  let rounds = 0;
  while ((await tier.move()) > 0) rounds++;
  // Rounds of ten, until 147 have moved: 300 - 2 m is less than a twentieth of 300 - m then.
  assert.is(rounds, 15);
  assert.ok(Math.abs(tier.bytes('h0') - tier.bytes('h1')) <= 0.05 * tier.bytes('h0') + 10);
  const moved = days.filter((_, at) => tier.held.get('h1')?.has([...tier.targets.keys()][at] ?? ''));
  assert.ok(moved.some((day) => day < 60) && moved.some((day) => day > 240));
});

moves('servers of different sizes are filled alike', async () => {
  const tier = new Tier(Array(40).fill(10), [Array.from({ length: 40 }, (_, day) => day), []], { maxBytes: [10_000, 30_000] });
  while ((await tier.move()) > 0);
  assert.equal([tier.bytes('h0'), tier.bytes('h1')], [100, 300]);
});

moves('nothing moves for a small difference, for a segment that would turn it round, and to where it does not fit', async () => {
  for (const [sizes, held, maxBytes] of [
    [[100, 100, 4], [[0, 2], [1]], []],
    [[100], [[0], []], []],
    [
      [60, 50],
      [[0, 1], []],
      [110, 40],
    ],
    [
      [100, 100, 100, 100],
      [[0, 1, 2], [3]],
      [300, 100],
    ],
  ] as const)
    assert.is(await new Tier(sizes, held, { maxBytes }).move(), 0);
});

moves('nothing moves to or from a silent server, where a load has failed, nor what no rule wants in the tier', async () => {
  const tier = new Tier([10, 10, 10, 10], [[0, 1, 2, 3], []]);
  const plan = (change: Partial<AssignedServer>, host: string, mayLoad = true) =>
    loadsOf({
      targets: tier.targets,
      servers: tier.servers.map((server) => (server.host === host ? { ...server, ...change } : server)),
      mayLoad: () => mayLoad,
    });
  assert.is((await plan({}, 'h0')).get('h1')?.length, 2);
  for (const host of ['h0', 'h1']) {
    assert.is((await plan({ isSilent: true }, host)).size, 0);
    assert.is((await plan({ tier: 'cold' }, host)).size, 0);
  }
  assert.is((await plan({ places: 1 }, 'h1')).get('h1')?.length, 1);
  assert.is((await plan({}, 'h0', false)).size, 0);
  assert.is((await loadsOf({ targets: new Map(), servers: tier.servers, mayLoad: () => true })).size, 0);
});

moves('where nothing can move, nothing is looked at again before something has changed', async () => {
  const tier = new Tier(
    [10, 10],
    [
      [0, 1],
      [0, 1],
    ],
    { copies: 2, maxBytes: [20, 100] },
  );
  let looks = 0;
  const targets = new Map(tier.targets);
  targets.get = (id) => {
    looks++;
    return tier.targets.get(id);
  };
  const all = new Moves();
  for (const [revision, generation, looked] of [
    [1, 'a', 2],
    [1, 'a', 2],
    [2, 'a', 4],
    [2, 'b', 6],
    [2, 'b', 6],
  ] as const) {
    const servers = tier.servers.map((server) => ({ ...server, generation }));
    assert.is((await all.plan(revision, { targets, servers, mayLoad: () => true, most: MOST })).size, 0);
    assert.is(looks, looked);
  }
});

moves('one that can move is found among very many that cannot, wherever it is', async () => {
  for (const movable of [0, 1, 4321, 9998, 9999]) {
    const days = Array.from({ length: 10_000 }, (_, day) => day);
    // All are too large for the other server but one.
    const tier = new Tier(
      days.map((day) => (day === movable ? 10 : 1000)),
      [days, []],
      { maxBytes: [10_000_000, 100] },
    );
    const all = new Moves();
    let plans = 1;
    const plan = () => all.plan(1, { targets: tier.targets, servers: tier.servers, mayLoad: () => true, most: MOST });
    let loads = await plan();
    for (; loads.size === 0 && plans < 10; plans++) loads = await plan();
    assert.equal([...(loads.get('h1') ?? [])].map(idOf), [[...tier.targets.keys()][movable]]);
    // 2000 of them are looked at a time.
    assert.ok(plans <= 5, `${plans} plans`);
    assert.equal([...all.moved], [{ tier: TIER, dataSource: 'ds', count: 1, bytes: 10 }]);
  }
});

moves('each segment is looked at once in a round, the next look goes on, and neighbours are looked at far from each other', () => {
  for (const size of [0, 1, 2, 3, 10, 144, 1000]) {
    const served = new Set(Array.from({ length: size }, (_, at) => String(at)));
    const looks = new MoveLooks();
    const [before, all]: [string[], string[]] = [[], []];
    for (const id of looks.next({ host: 'h', served }, 7)) before.push(id);
    looks.beginRounds();
    const [first] = looks.next({ host: 'h', served }, 1);
    assert.ok(size < 8 || !before.includes(first ?? ''), 'it goes on');
    looks.beginRounds();
    while (!looks.isThrough({ host: 'h', served })) for (const id of looks.next({ host: 'h', served }, 7)) all.push(id);
    assert.equal(
      all.map(Number).sort((a, b) => a - b),
      [...served].map(Number),
    );
    assert.equal([...looks.next({ host: 'h', served }, 7)], []);
    for (const [at, id] of all.entries())
      assert.ok(size < 10 || at === 0 || Math.abs(Number(id) - Number(all[at - 1])) > size / 4, `${all[at - 1]} and ${id} of ${size}`);
  }
});

moves('no more are under way in a tier than maxSegmentsToMove says', async () => {
  const days = Array.from({ length: 100 }, (_, day) => day);
  for (const { most, empty, moved } of [
    { most: 0, empty: 1, moved: 0 },
    { most: 1, empty: 1, moved: 1 },
    { most: 9, empty: 3, moved: 9 },
    { most: 2_147_483_647, empty: 1, moved: 10 },
    { most: 2_147_483_647, empty: 3, moved: 30 },
  ]) {
    const tier = new Tier(Array(100).fill(10), [days, ...Array.from({ length: empty }, () => [])]);
    const input = { targets: tier.targets, servers: tier.servers, mayLoad: () => true };
    const count = (loads: Awaited<ReturnType<typeof loadsOf>>) => [...loads.values()].flat().length;
    assert.is(count(await loadsOf(input, most)), moved, `${most} to ${empty} servers`);
    const all = new Moves();
    assert.is(count(await all.plan(1, { ...input, most })), moved);
    assert.ok(count(await all.plan(1, { ...input, most: 5 })) > 0, 'another bound is heeded at once');
  }
});

moves('a tier is calm when none of its servers that answer has something to do', () => {
  const server = (host: string, tier: string, { isSilent = false, loads = false } = {}): AssignedServer => ({
    ...{ host, tier, isSilent, served: new Set(), loading: new Set(loads ? ['id'] : []) },
    ...{ freeBytes: 1, heldBytes: 1, generation: '', places: 1 },
  });
  const segment = segmentOf('ds', 0, 'v1');
  for (const { name, servers, loads = [], drops = [], calm } of [
    { name: 'all', servers: [server('a', 'hot'), server('b', 'cold')], calm: ['a', 'b'] },
    { name: 'one loads', servers: [server('a', 'hot', { loads: true }), server('b', 'hot'), server('c', 'cold')], calm: ['c'] },
    { name: 'a silent one loads', servers: [server('a', 'hot', { loads: true, isSilent: true }), server('b', 'hot')], calm: ['a', 'b'] },
    { name: 'one is to load', servers: [server('a', 'hot'), server('b', 'cold')], loads: ['a'], calm: ['b'] },
    { name: 'one is to drop', servers: [server('a', 'hot'), server('b', 'cold')], drops: ['b'], calm: ['a'] },
    { name: 'both', servers: [server('a', 'hot'), server('b', 'cold')], loads: ['a'], drops: ['b'], calm: [] },
  ]) {
    const assignment = { loads: new Map(loads.map((host) => [host, [segment]])), drops: new Map(drops.map((host) => [host, ['id']])) };
    assert.equal(
      calmServers(servers, assignment).map(({ host }) => host),
      calm,
      name,
    );
  }
});

moves('come to an end, and leave every segment as many copies as before', async () => {
  const anyRoom = fc.array(fc.integer({ min: 45_000, max: 1_000_000 }), { minLength: 5, maxLength: 5 });
  const anySizes = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(
      anySizes,
      fc.integer({ min: 2, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
      anyRoom,
      async (sizes, hosts, wanted, seed, maxBytes) => {
        const copies = Math.min(wanted, hosts);
        // Each segment on some hosts, on the first ones more often.
        const held = Array.from({ length: hosts }, (): number[] => []);
        for (const day of sizes.keys()) {
          const first = (seed >> (day % 16)) % hosts === 0 ? day % hosts : 0;
          for (let copy = 0; copy < copies; copy++) held[(first + copy) % hosts]?.push(day);
        }
        const tier = new Tier(sizes, held, { copies, maxBytes });
        let rounds = 0;
        while ((await tier.move()) > 0) assert.ok(++rounds < 200, 'they go on');
        for (const id of tier.targets.keys()) assert.is(tier.copies(id), copies);
      },
    ),
  );
});

moves.run();
