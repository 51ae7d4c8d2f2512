import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SegmentCatalog } from '../../src/cluster/coordinator/catalog.js';
import { PlanAge } from '../../src/cluster/coordinator/plan-age.js';
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

rules('time goes on for the datasources alone whose rules hang on it', async () => {
  const { database, close } = await openMetadata();
  try {
    await database.transaction(async (queries) => insertSegments(queries, SEGMENTS, 0, await bumpRevision(queries)));
    const catalog = new SegmentCatalog(database);
    await catalog.refresh();
    const period = fc.constantFrom('P1D', 'P2D', 'PT30H');
    const rule = fc.oneof(
      fc.constantFrom(...LISTS.flat()),
      fc.record({ type: fc.constantFrom('loadByPeriod', 'dropByPeriod', 'broadcastByPeriod'), period, includeFuture: fc.boolean() }),
      fc.record({ type: fc.constant('dropBeforeByPeriod'), period }),
    );
    const list = fc.array(rule, { maxLength: 3 });
    const hour = fc.integer({ min: 0, max: 5 * 24 }).map((hours) => (hours * DAY) / 24);
    let hanging = 0;
    await fc.assert(
      fc.asyncProperty(fc.tuple(list, list, list, list), hour, hour, async (lists, from, later) => {
        for (const [at, name] of [...NAMES, DEFAULT_RULES_NAME].entries())
          await database.transaction((queries) => writeRules(queries, name, JSON.stringify(lists[at]), 0));
        const asOf = async (nowMs: number): Promise<TargetRules> => {
          return { catalog, retention: await Retention.read(database), nowMs, everywhere: { _default_tier: Number.MAX_SAFE_INTEGER } };
        };
        const [before, after] = [await asOf(from), await asOf(from + later)];
        const [all, some] = [new Targets(), new Targets()];
        for (const targets of [all, some]) await targets.planAll(before);
        await all.planAll(after);
        for (const name of NAMES.filter((each) => after.retention.hangsOnTime(each))) {
          hanging++;
          await some.plan(catalog.used(name), after);
        }
        assert.equal([...some.byId].sort(byName), [...all.byId].sort(byName));
      }),
      { numRuns: 200 },
    );
    assert.ok(hanging > 50 && hanging < 550, `${hanging} of 600`);
  } finally {
    await close();
  }
});

for (const { name, steps } of [
  {
    name: 'all first, and again after a quarter of an hour',
    steps: [
      [1e9, [], null],
      [1e9 + 1, [], []],
      [1e9 + 15 * 60_000, [], null],
    ],
  },
  {
    name: 'those that hang on the time each minute',
    steps: [
      [1e9, [], null],
      [1e9 + 59_999, ['b'], ['b']],
      [1e9 + 60_000, ['b'], ['b', 't']],
      [1e9 + 60_001, [], []],
      [1e9 + 120_000, [], ['t']],
    ],
  },
  {
    name: 'all when the default rules have changed',
    steps: [
      [1e9, [], null],
      [1e9 + 1000, null, null],
      [1e9 + 60_000, [], []],
      [1e9 + 61_000, [], ['t']],
    ],
  },
] as const)
  rules(`are planned anew: ${name}`, () => {
    const age = new PlanAge();
    for (const [now, ofRules, expected] of steps) {
      const due = age.due(now, ofRules, () => ['t']);
      assert.equal(due, expected);
      age.note(now, due);
    }
  });

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

rules.run();
