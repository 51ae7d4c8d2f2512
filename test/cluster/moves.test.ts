import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AssignedServer, assignSegments, type Target } from '../../src/cluster/coordinator/assignment.js';
import { Moves, planMoves } from '../../src/cluster/coordinator/moves.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { segmentOf } from './fakes.js';

const TIER = '_default_tier';
const idOf = (segment: SegmentDescriptor): string => segmentIdText(segment.id);

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
    const loads = await planMoves({ targets, servers: this.servers, mayLoad });
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
    planMoves({
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
  assert.is((await planMoves({ targets: new Map(), servers: tier.servers, mayLoad: () => true })).size, 0);
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
    assert.is((await all.plan(revision, { targets, servers, mayLoad: () => true })).size, 0);
    assert.is(looks, looked);
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
