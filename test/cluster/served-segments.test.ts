import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LoopTurns } from '../../src/base/loop-turns.js';
import { ServedSegments } from '../../src/cluster/broker/known/served-segments.js';
import type { InventoryUpdate } from '../../src/cluster/rpc/services.js';

const HOSTS = ['a', 'b', 'c', 'd'];
const IDS = ['s0', 's1', 's2', 's3', 's4', 's5'];

interface Server {
  priority: number;
  generation: number;
  readonly served: Set<string>;
}

/** Steps of a cluster: what a server serves from then on, whether it tells all of it, its priority; or that it is gone. */
const step = fc.record({
  host: fc.constantFrom(...HOSTS),
  served: fc.subarray(IDS),
  isWhole: fc.boolean(),
  priority: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
  isGone: fc.boolean(),
});

const served = suite('servers of segments');

served('are those that told last that they serve them, by priority, then by host', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 3 }), { maxLength: 12 }), async (looks) => {
      const there = new Map<string, Server>();
      const notes = new Map<string, boolean>();
      const segments = new ServedSegments((id, isServed) => {
        assert.is.not(notes.get(id) ?? false, isServed, 'told of what has not changed');
        notes.set(id, isServed);
      });
      const listOf = (id: string): readonly string[] =>
        [...there]
          .filter(([, server]) => server.served.has(id))
          .sort(([a, one], [b, other]) => other.priority - one.priority || (a < b ? -1 : 1))
          .map(([host]) => host);
      const lists = () => IDS.map(listOf);
      for (const look of looks) {
        const before = lists();
        const factsBefore = JSON.stringify([...there].map(([host, { priority }]) => [host, priority]).sort());
        const updates: InventoryUpdate[] = [];
        const told = new Set<string>();
        for (const { host, served: now, isWhole, priority, isGone } of look) {
          // One update of a server in a look, of what has changed at once.
          if (told.has(host)) continue;
          told.add(host);
          if (isGone) {
            there.delete(host);
            continue;
          }
          const known = there.get(host);
          const server: Server = {
            priority: priority ?? known?.priority ?? 0,
            generation: (known?.generation ?? 0) + 1,
            served: new Set(now),
          };
          there.set(host, server);
          const facts = { host, tier: 't', priority: server.priority, maxSizeBytes: 1, currentSizeBytes: 0, loading: [], failed: {} };
          const gone = [...(known?.served ?? [])].filter((id) => !server.served.has(id));
          const isPart = known !== undefined && !isWhole;
          updates.push({ ...facts, generation: String(server.generation), segmentIds: now, ...(isPart ? { since: { gone } } : {}) });
        }
        const { isChanged, isOther } = await segments.update(updates, new Set(there.keys()), new LoopTurns());
        const after = lists();
        assert.equal(
          IDS.map((id) => (segments.byId.get(id) ?? []).map(({ host }) => host)),
          after,
        );
        assert.equal(
          [...segments.byId.keys()].sort(),
          IDS.filter((_, at) => (after[at] ?? []).length > 0),
        );
        assert.equal(
          IDS.map((id) => notes.get(id) ?? false),
          after.map((hosts) => hosts.length > 0),
        );
        assert.equal(segments.servers.map(({ host }) => host).sort(), [...there.keys()].sort());
        for (const [host, { generation }] of there) assert.is(segments.generationOf(host), String(generation));
        // The same list for the same servers.
        for (const id of IDS)
          for (const other of IDS) {
            const [one, two] = [segments.byId.get(id), segments.byId.get(other)];
            if (JSON.stringify(one) === JSON.stringify(two)) assert.is(one, two);
          }
        const facts = JSON.stringify([...there].map(([host, { priority }]) => [host, priority]).sort());
        const areOther = before.some((hosts, at) => hosts.length > 0 && JSON.stringify(hosts) !== JSON.stringify(after[at]));
        if (facts !== factsBefore || areOther) assert.ok(isOther);
        if (JSON.stringify(before) !== JSON.stringify(after)) assert.ok(isChanged);
        if (look.length === 0) assert.not.ok(isChanged || isOther);
      }
    }),
    { numRuns: 300 },
  );
});

served.run();
