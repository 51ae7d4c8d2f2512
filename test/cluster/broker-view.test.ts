import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SYSTEM_CLOCK } from '../../src/base/clock/clock.js';
import { LoopTurns } from '../../src/base/loop-turns.js';
import { sealedInventory } from '../../src/cluster/broker/live-segments.js';
import { ClusterView } from '../../src/cluster/broker/view.js';
import type { LiveInventory } from '../../src/cluster/rpc/services.js';
import { tombstone } from '../../src/metadata/tombstones.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { DAY, inventoryOf, segmentOf } from './fakes.js';

const ids = (segments: readonly SegmentDescriptor[]): string[] => segments.map((segment) => segmentIdText(segment.id));
const versionsOf = (view: ClusterView, dataSource = 'ds'): readonly string[] =>
  view.find(dataSource)?.chunks.map((chunk) => chunk.version) ?? [];

const OLD = [0, 1, 2].map((day) => segmentOf('ds', day, 'v1'));
const NEW = [0, 1, 2].map((day) => segmentOf('ds', day, 'v2'));

const views = suite('broker view');

views('the first picture is taken as it is, served or not', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: OLD });
  assert.equal(versionsOf(view), ['v1', 'v1', 'v1']);
});

views('the first picture counts once all datasources of it are shown, however many turns that takes', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `ds${at}`);
  const view = new ClusterView();
  view.updateLive([liveOf('t', [segmentOf('streamed', 9, 'v1')])]);
  let nowMs = 0;
  LoopTurns.clock = { monotonicMs: () => (nowMs += 10) };
  try {
    let isAdopted = false;
    const adopted = view.adopt({ revision: 1, segments: names.map((name) => segmentOf(name, 0, 'v1')) }).then(() => {
      isAdopted = true;
    });
    let turns = 0;
    for (; !isAdopted; turns++) {
      assert.ok(view.revision === null || names.every((name) => view.find(name) !== undefined), `${view.dataSources()}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await adopted;
    assert.ok(turns > names.length);
    assert.is(view.revision, 1);
  } finally {
    LoopTurns.clock = SYSTEM_CLOCK;
  }
});

views('a publish over many chunks shows only when all of it is served, then at once', async () => {
  const view = new ClusterView();
  await view.updateServers([inventoryOf('a', ids(OLD))]);
  await view.adopt({ revision: 1, segments: OLD });
  for (const loaded of [0, 1, 2]) {
    await view.updateServers([inventoryOf('a', [...ids(OLD), ...ids(NEW.slice(0, loaded))])]);
    await view.adopt({ revision: 2, segments: NEW });
    assert.equal(versionsOf(view), ['v1', 'v1', 'v1']);
    assert.equal(view.revisionsInUse(), { ds: 1 });
  }
  await view.updateServers([inventoryOf('a', ids(OLD)), inventoryOf('b', ids(NEW))]);
  await view.adopt({ revision: 2, segments: NEW });
  assert.equal(versionsOf(view), ['v2', 'v2', 'v2']);
  assert.equal(view.revisionsInUse(), { ds: 2 });
});

views('a segment that cannot be read stays refused until what took its place is shown, whatever else changes', async () => {
  const view = new ClusterView();
  const [first, second] = OLD;
  if (first === undefined || second === undefined) throw new Error('there are days');
  const unreadable = [{ id: segmentIdText(second.id), dataSource: 'ds', interval: second.id.interval }];
  await view.updateServers([inventoryOf('a', ids([first]))]);
  await view.adopt({ revision: 1, segments: [first], unreadable });
  const next = segmentOf('ds', 1, 'v2');
  await view.adopt({ revision: 2, segments: [first, next], unreadable: [] });
  assert.equal(view.find('ds')?.unreadable, unreadable);
  view.updateLive([liveOf('t', [segmentOf('ds', 9, 'v3')])]);
  assert.equal([view.find('ds')?.unreadable, view.find('ds')?.chunks.length], [unreadable, 2]);
  await view.updateServers([inventoryOf('a', ids([first, next]))]);
  await view.catchUp();
  assert.equal([view.find('ds')?.unreadable, versionsOf(view).length], [[], 3]);
});

views('a tombstone hides what is older, served or not; with nothing but tombstones there is no table', async () => {
  const view = new ClusterView();
  const [first] = OLD;
  if (first === undefined) throw new Error('there are days');
  const { start, end } = first.id.interval;
  const middle = { start: start + DAY / 4, end: end - DAY / 4 };
  const tomb = tombstone({ ...first.id, version: 'v2', interval: middle });
  await view.updateServers([inventoryOf('a', ids(OLD))]);
  await view.adopt({ revision: 1, segments: OLD });
  await view.adopt({ revision: 2, segments: [...OLD, tomb] });
  const shown = view.find('ds');
  assert.equal(shown?.chunks.map(({ visible }) => visible)[0], [
    { start, end: middle.start },
    { start: middle.end, end },
  ]);
  assert.equal(shown?.chunks.length, 3);
  assert.equal(shown?.tombstones, [tomb]);
  assert.equal(
    shown?.schema.columns.map(({ hasNulls }) => hasNulls),
    first.columns.map(({ hasNulls }) => hasNulls),
  );
  await view.adopt({ revision: 3, segments: [tomb] });
  assert.equal(view.dataSources(), []);
  assert.is(view.find('ds'), undefined);
  assert.is(view.revisionOf('ds'), 3);
});

views('a new datasource appears when it is served; one without segments is gone', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: [] });
  await view.adopt({ revision: 2, segments: OLD });
  assert.equal(view.dataSources(), []);
  await view.updateServers([inventoryOf('a', ids(OLD))]);
  await view.adopt({ revision: 2, segments: OLD });
  assert.equal(view.dataSources(), ['ds']);
  await view.adopt({ revision: 3, segments: [] });
  assert.equal(view.dataSources(), []);
});

views('a datasource that goes before it was ever served is known to be gone', async () => {
  for (const dropped of [
    { revision: 3, segments: [] },
    { revision: 3, segments: [], since: { revision: 2, gone: ids(OLD) } },
  ]) {
    const view = new ClusterView();
    await view.adopt({ revision: 1, segments: [] });
    assert.is(view.revisionOf('ds'), 1);
    await view.adopt({ revision: 2, segments: OLD });
    assert.is(view.revisionOf('ds'), undefined);
    await view.adopt(dropped);
    assert.is(view.revisionOf('ds'), 3);
  }
});

views('one stuck datasource does not hold back another', async () => {
  const view = new ClusterView();
  const other = [segmentOf('other', 0, 'v1')];
  await view.updateServers([inventoryOf('a', [...ids(OLD), ...ids(other)])]);
  await view.adopt({ revision: 1, segments: OLD });
  await view.adopt({ revision: 2, segments: [...NEW, ...other] });
  assert.equal(versionsOf(view), ['v1', 'v1', 'v1']);
  assert.equal(versionsOf(view, 'other'), ['v1']);
  assert.equal(view.revisionsInUse(), { ds: 1, other: 2 });
});

views('a running query keeps its revision in use until it ends', async () => {
  const view = new ClusterView();
  await view.updateServers([inventoryOf('a', [...ids(OLD), ...ids(NEW)])]);
  await view.adopt({ revision: 1, segments: OLD });
  const first = view.pin('ds');
  const second = view.pin('ds');
  await view.adopt({ revision: 2, segments: NEW });
  assert.equal(
    first?.view.chunks.map((chunk) => chunk.version),
    ['v1', 'v1', 'v1'],
  );
  assert.equal(view.revisionsInUse(), { ds: 1 });
  first?.release();
  first?.release();
  assert.equal(view.revisionsInUse(), { ds: 1 });
  second?.release();
  assert.equal(view.revisionsInUse(), { ds: 2 });
});

views('changes are taken in like the whole', async () => {
  const facts = fc.record({ revision: fc.boolean(), used: fc.subarray([0, 1, 2, 3, 4, 5]), served: fc.subarray([0, 1, 2, 3, 4, 5, 6, 7]) });
  await fc.assert(
    fc.asyncProperty(fc.array(facts, { minLength: 1, maxLength: 12 }), async (list) => {
      const all = [0, 1, 2, 3, 4, 5, 6, 7].map((day) => segmentOf(day % 2 === 0 ? 'ds' : 'other', day >> 1, 'v1'));
      const [whole, changed] = [new ClusterView(), new ClusterView()];
      let [used, served]: [readonly SegmentDescriptor[], readonly string[]] = [[], []];
      let revision = 0;
      for (const fact of list) {
        const [usedNow, servedNow] = [fact.used.flatMap((at) => all[at] ?? []), ids(fact.served.flatMap((at) => all[at] ?? []))];
        const inventory = inventoryOf('a', servedNow);
        await whole.updateServers([inventory]);
        const gone = served.filter((id) => !servedNow.includes(id));
        const came = servedNow.filter((id) => !served.includes(id));
        await changed.updateServers([changed.generationOf('a') === null ? inventory : { ...inventory, segmentIds: came, since: { gone } }]);
        served = servedNow;
        if (fact.revision || revision === 0) {
          const before = used;
          used = usedNow;
          const segments = used.filter((segment) => !before.includes(segment));
          const since = { revision, gone: ids(before.filter((segment) => !used.includes(segment))) };
          revision++;
          await changed.adopt(revision === 1 ? { revision, segments: used } : { revision, segments, since });
        }
        await changed.catchUp();
        await whole.adopt({ revision, segments: used });
        assert.equal(changed.dataSources(), whole.dataSources());
        for (const dataSource of ['ds', 'other']) {
          assert.equal(changed.find(dataSource)?.chunks, whole.find(dataSource)?.chunks);
          assert.equal(changed.find(dataSource)?.schema, whole.find(dataSource)?.schema);
          assert.is(changed.revisionOf(dataSource), whole.revisionOf(dataSource));
        }
        for (const id of ids(all)) assert.equal(changed.serversOf(id).length, served.includes(id) ? 1 : 0);
      }
    }),
    { numRuns: 300 },
  );
});

views('who serves what is known anew only when a segment that was served has another server', async () => {
  const view = new ClusterView();
  await view.updateServers([inventoryOf('a', ids(OLD))]);
  const { serving } = view;
  await view.updateServers([inventoryOf('a', ids([...OLD, ...NEW]))]);
  assert.is(view.serving, serving);
  await view.updateServers([inventoryOf('a', ids([...OLD.slice(1), ...NEW]))]);
  assert.is.not(view.serving, serving);
  assert.equal(view.serving.of(ids(OLD)[0] ?? ''), []);
  await view.updateServers([], ['a']);
  assert.is(view.serversOf(ids(NEW)[0] ?? '').length, 1);
  await view.updateServers([]);
  assert.is(view.serversOf(ids(NEW)[0] ?? '').length, 0);
});

views('the event loop has turns while a server with very many segments comes and goes', async () => {
  const many = Array.from({ length: 40_000 }, (_, at) => segmentOf('ds', at, 'v1'));
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: many });
  for (const updates of [[inventoryOf('a', ids(many))], []]) {
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    await view.updateServers(updates);
    clearInterval(counting);
    assert.ok(turns > 0);
    assert.is(view.serversOf(ids(many).at(-1) ?? '').length, updates.length);
  }
});

views('a view is a whole revision whatever the order of arrival', async () => {
  const events = fc.array(
    fc.oneof(
      fc.record({ revision: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ loaded: fc.subarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) }),
    ),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(events, async (list) => {
      const revisions = [1, 2, 3, 4].map((revision) => [0, 1, 2].map((day) => segmentOf('ds', day, `v${revision}`)));
      const everything = revisions.flat();
      const view = new ClusterView();
      let newest = 0;
      let served = new Set<string>();
      for (const event of list) {
        if ('revision' in event) newest = Math.max(newest, event.revision);
        else {
          const loaded = event.loaded.flatMap((at) => everything[at] ?? []);
          served = new Set(ids(loaded));
          await view.updateServers([inventoryOf('a', ids(loaded))]);
        }
        const before = versionsOf(view)[0];
        if (newest > 0) await view.adopt({ revision: newest, segments: revisions[newest - 1] ?? [] });
        const versions = versionsOf(view);
        assert.ok(new Set(versions).size <= 1, `a mix: ${versions.join()}`);
        if (before !== undefined && versions[0] !== before) assert.ok(ids(revisions[newest - 1] ?? []).every((id) => served.has(id)));
      }
    }),
    { numRuns: 300 },
  );
});

views('distinct values are those of the fullest segment, or of all where nearly every row has its own', async () => {
  const view = new ClusterView();
  const counted = (day: number, rowCount: number, counts: readonly (number | undefined)[]): SegmentDescriptor => ({
    ...segmentOf('ds', day, 'v1'),
    rowCount,
    columns: counts.map((_, index) => ({ name: `c${index}`, type: 'LONG', multiValue: false, hasNulls: false })),
    distinctCounts: counts.map((count = -1) => count),
  });
  await view.adopt({ revision: 1, segments: [counted(0, 100, [7, 90, 3]), counted(1, 50, [9, 50, undefined])] });
  const columns = view.find('ds')?.schema.columns.slice(1) ?? [];
  assert.equal(columns.map(({ name, distinctCount }) => [name, distinctCount]).sort(), [
    ['c0', 9],
    ['c1', 140],
    ['c2', undefined],
  ]);
});

views('the schema is the union of columns with the widest type of each', async () => {
  const view = new ClusterView();
  const columns = (segment: SegmentDescriptor, extra: SegmentDescriptor['columns']): SegmentDescriptor => ({
    ...segment,
    columns: [...segment.columns, ...extra],
  });
  const column = (name: string, type: 'STRING' | 'LONG' | 'FLOAT' | 'DOUBLE') => ({ name, type, multiValue: false, hasNulls: false });
  await view.adopt({
    revision: 1,
    segments: [
      columns(segmentOf('ds', 0, 'v1'), [column('x', 'LONG'), column('y', 'DOUBLE')]),
      columns(segmentOf('ds', 1, 'v1'), [column('x', 'STRING'), column('z', 'FLOAT')]),
    ],
  });
  const schema = view.find('ds')?.schema;
  assert.equal(
    schema?.columns.map(({ name, type, hasNulls }) => `${name} ${type} ${hasNulls}`),
    ['__time LONG false', 'page STRING false', 'x STRING false', 'z FLOAT true', 'y DOUBLE true'],
  );
  assert.is(schema?.rowCount, 20);
  assert.equal(schema?.interval, { start: 0, end: 2 * DAY });
});

const LIVE = segmentOf('ds', 1, 'v1', 1, 0);
const FURTHER = segmentOf('ds', 3, 'v1', 0, 0);
const liveOf = (host: string, segments: readonly SegmentDescriptor[], isPublished = false): LiveInventory => ({
  host,
  generation: String(generation++),
  segments: segments.map((segment) => ({ ...segment, loadSpec: { type: 'live', path: segmentIdText(segment.id) }, isPublished })),
});
let generation = 0;

/** Takes in what tasks tell, as a look of the Broker does. */
async function told(view: ClusterView, served: readonly string[], live: readonly LiveInventory[]): Promise<void> {
  await view.updateServers([inventoryOf('a', served), ...live.map(sealedInventory)]);
  view.updateLive(live);
  await view.catchUp();
}
const shown = (view: ClusterView) =>
  view.find('ds')?.chunks.map(({ segments }) => segments.map(({ id, loadSpec }) => `${loadSpec.type} ${id.partitionNumber}`));
const hostsOf = (view: ClusterView, segment: SegmentDescriptor) => view.serversOf(segmentIdText(segment.id)).map(({ host }) => host);

views(
  'live segments join the chunk of their version, or are one of their own; parts of a view leave them out or have them alone',
  async () => {
    const view = new ClusterView();
    await told(view, ids(OLD), []);
    await view.adopt({ revision: 1, segments: OLD });
    await told(view, ids(OLD), [liveOf('t', [LIVE, FURTHER])]);
    assert.equal(shown(view), [['local 0'], ['local 0', 'live 1'], ['local 0'], ['live 0']]);
    assert.equal(view.find('ds')?.only('published').chunks.length, 3);
    assert.equal(
      view
        .find('ds')
        ?.only('live')
        .chunks.map(({ segments }) => segments.length),
      [1, 1],
    );
    assert.equal(view.revisionsInUse(), { ds: 1 });
    await told(view, ids(OLD), []);
    assert.equal(shown(view), [['local 0'], ['local 0'], ['local 0']]);
  },
);

views('a datasource with live segments alone is there, and a replaced chunk takes nothing from live rows', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: [] });
  await told(view, [], [liveOf('t', [LIVE])]);
  assert.equal(view.dataSources(), ['ds']);
  await told(view, ids(NEW), [liveOf('t', [LIVE])]);
  await view.adopt({ revision: 2, segments: NEW });
  assert.equal(shown(view), [['local 0'], ['live 1'], ['local 0'], ['local 0']]);
});

views('the handoff of a live segment is one change: published rows come as its own go, whoever serves them', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: [] });
  await told(view, [], [liveOf('t', [LIVE]), liveOf('u', [LIVE])]);
  assert.equal(hostsOf(view, LIVE), ['t', 'u']);
  // The one that has all rows is asked from then on.
  const sealed = [liveOf('t', [LIVE], true), liveOf('u', [LIVE])];
  await told(view, [], sealed);
  assert.equal(hostsOf(view, LIVE), ['t']);
  await view.adopt({ revision: 2, segments: [LIVE] });
  assert.equal(shown(view), [['local 1']]);
  assert.equal(hostsOf(view, LIVE), ['t']);
  await told(view, ids([LIVE]), sealed);
  assert.equal(hostsOf(view, LIVE), ['a', 't']);
  await told(view, ids([LIVE]), [liveOf('u', [LIVE])]);
  assert.equal(hostsOf(view, LIVE), ['a']);
  assert.equal(shown(view), [['local 1']]);
  // A later replacement does not bring the rows of the lagging replica back.
  await told(view, ids([LIVE, ...NEW]), [liveOf('u', [LIVE])]);
  await view.adopt({ revision: 3, segments: NEW });
  assert.equal(shown(view), [['local 0'], ['local 0'], ['local 0']]);
});

views('a segment that is published under another id than it was live as takes its place all the same', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: [] });
  await told(view, [], [liveOf('t', [LIVE], true)]);
  const published = { ...segmentOf('ds', 1, 'v2', 4, 0), liveId: segmentIdText(LIVE.id) };
  await view.adopt({ revision: 2, segments: [published] });
  assert.equal(shown(view), [['live 1']]);
  await told(view, ids([published]), [liveOf('t', [LIVE], true)]);
  assert.equal(shown(view), [['local 4']]);
});

views.run();
