import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Assignment,
  type AssignmentInput,
  assignSegments as assignAmong,
  type Target,
} from '../../src/cluster/coordinator/assignment.js';
import type { ServerInventory } from '../../src/cluster/rpc/services.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { inventoryOf, segmentOf } from './fakes.js';

const ids = (segments: readonly SegmentDescriptor[]): string[] => segments.map((segment) => segmentIdText(segment.id));
const target = (segment: SegmentDescriptor, tieredReplicants: Target['tieredReplicants'] = { _default_tier: 1 }): Target => ({
  id: segmentIdText(segment.id),
  segment,
  tieredReplicants,
});

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
      heldBytes: currentSizeBytes,
      generation: '',
      places: Infinity,
    })),
    mayLoad,
  });
}

assignment('asks no server for more segments than it has places for, and what is settled is told', () => {
  const segments = [0, 1, 2, 3].map((day) => segmentOf('ds', day, 'v1'));
  const [first = ''] = ids(segments);
  const servers = [
    {
      host: 'a',
      tier: '_default_tier',
      served: new Set([first]),
      loading: new Set<string>(),
      freeBytes: 1000,
      heldBytes: 0,
      generation: '',
      places: 2,
    },
    {
      host: 'b',
      tier: 'cold',
      served: new Set<string>(),
      loading: new Set<string>(),
      freeBytes: 1000,
      heldBytes: 0,
      generation: '',
      places: 9,
    },
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

assignment('a silent server is told nothing; its copies count, and no other one goes for their sake', () => {
  const [first, second, third] = [0, 1, 2].map((day) => segmentOf('ds', day, 'v1'));
  if (first === undefined || second === undefined || third === undefined) throw new Error('three segments');
  const server = (host: string, held: readonly SegmentDescriptor[], isSilent: boolean) => {
    return {
      host,
      tier: '_default_tier',
      served: new Set(ids(held)),
      loading: new Set<string>(),
      freeBytes: 1e9,
      heldBytes: 0,
      generation: '',
      places: 10,
      isSilent,
    };
  };
  const { loads, drops } = assignAmong({
    // The second one has a copy too many, the third one a copy too few.
    targets: [target(first), target(second), target(third, { _default_tier: 2 })],
    unneeded: ['old'],
    servers: [
      server('a', [first, second, third], true),
      { ...server('b', [second], false), served: new Set([...ids([second]), 'old']) },
      { ...server('c', [], true), served: new Set(['old']) },
    ],
    mayLoad: () => true,
  });
  assert.equal([...loads], [['b', [third]]]);
  assert.equal([...drops], [['b', ['old']]]);
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
