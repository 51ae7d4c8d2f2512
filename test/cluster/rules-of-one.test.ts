import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SegmentCatalog } from '../../src/cluster/coordinator/catalog.js';
import { Retention } from '../../src/cluster/coordinator/retention.js';
import { DEFAULT_RULES_NAME } from '../../src/cluster/coordinator/rules.js';
import { type TargetRules, Targets } from '../../src/cluster/coordinator/targets.js';
import { Unneeded } from '../../src/cluster/coordinator/unneeded.js';
import type { Database } from '../../src/metadata/database.js';
import { bumpRevision, insertSegments } from '../../src/metadata/segments.js';
import { writeRules } from '../../src/metadata/settings.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { DAY, openMetadata } from '../metadata/fixture.js';
import { segmentOf } from './fakes.js';

const NOW = 100 * DAY;
const NAMES = ['a', 'b', 'c'];
/** Days, one of them overshadowed, and an hour that hides a part of one. */
const SEGMENTS = NAMES.flatMap((name): SegmentDescriptor[] => {
  const [first, second, older] = [segmentOf(name, 0, 'v1'), segmentOf(name, 1, 'v2'), segmentOf(name, 1, 'v1')];
  const hour = { ...first, id: { ...first.id, version: 'v3', interval: { start: DAY / 2, end: DAY / 2 + DAY / 24 } } };
  return [first, second, older, hour];
});
const load = (copies: number) => ({ type: 'loadForever', tieredReplicants: { _default_tier: copies } });
const LISTS = [
  [load(1)],
  [load(2)],
  [{ type: 'dropForever' }],
  [{ type: 'dropByInterval', interval: '1970-01-01T00/PT13H' }, load(1)],
  [{ type: 'loadForever', tieredReplicants: {}, useDefaultTierForNull: false }],
  [{ type: 'broadcastForever' }],
];

const write = (database: Database, name: string, list: number): Promise<void> =>
  database.transaction((queries) => writeRules(queries, name, JSON.stringify(LISTS[list]), 0));

const rules = suite('rules of one datasource');

rules('change the plan of its segments as planning all segments anew does', async () => {
  const { database, close } = await openMetadata();
  try {
    await database.transaction(async (queries) => insertSegments(queries, SEGMENTS, 0, await bumpRevision(queries)));
    const catalog = new SegmentCatalog(database);
    await catalog.refresh();
    const list = fc.nat({ max: LISTS.length - 1 });
    const lists = fc.tuple(list, list, list);
    await fc.assert(
      fc.asyncProperty(lists, lists, async (before, after) => {
        const asOf = async (numbers: readonly number[]): Promise<TargetRules> => {
          for (const [at, name] of NAMES.entries()) await write(database, name, numbers[at] ?? 0);
          return { catalog, retention: await Retention.read(database), nowMs: NOW, everywhere: { _default_tier: Number.MAX_SAFE_INTEGER } };
        };
        const old = await asOf(before);
        const [all, some] = [new Targets(), new Targets()];
        for (const targets of [all, some]) {
          await targets.planAll(old);
          targets.takeChanged();
        }
        const now = await asOf(after);
        const changed = now.retention.changedSince(old.retention);
        assert.equal(
          changed,
          NAMES.filter((_, at) => before[at] !== after[at]),
        );
        const unneeded = new Unneeded(catalog);
        // The first look is at all.
        await unneeded.find(old.retention, NOW, false);
        await all.planAll(now);
        for (const name of changed ?? []) {
          await some.plan(catalog.used(name), now);
          unneeded.touchDataSource(name);
        }
        assert.equal([...some.byId].sort(byName), [...all.byId].sort(byName));
        assert.equal([...some.takeChanged()].sort(), [...all.takeChanged()].sort());
        const dropped = await unneeded.find(now.retention, NOW, false);
        const wanted = [...(await new Unneeded(catalog).find(now.retention, NOW, false))];
        assert.equal(
          [...dropped],
          wanted.filter(([name]) => changed?.includes(name)),
        );
      }),
      { numRuns: 60 },
    );
    const before = await Retention.read(database);
    await write(database, DEFAULT_RULES_NAME, 1);
    // The default rules go for all datasources.
    assert.is((await Retention.read(database)).changedSince(before), null);
  } finally {
    await close();
  }
});

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

rules.run();
