import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { namedSegments, planReads, withinData } from '../../src/cluster/broker/scatter.js';
import type { ClusterView } from '../../src/cluster/broker/view.js';
import { resolveTimeline } from '../../src/metadata/timeline.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { DAY, inventoryOf, segmentOf } from './fakes.js';

const ids = (segments: readonly SegmentDescriptor[]): string[] => segments.map((segment) => segmentIdText(segment.id));
const _versionsOf = (view: ClusterView, dataSource = 'ds'): readonly string[] =>
  view.find(dataSource)?.chunks.map((chunk) => chunk.version) ?? [];

const OLD = [0, 1, 2].map((day) => segmentOf('ds', day, 'v1'));
const _NEW = [0, 1, 2].map((day) => segmentOf('ds', day, 'v2'));

const scatter = suite('scatter');

scatter('all segments of one server are one read of the whole intervals', async () => {
  const intervals = [{ start: 0, end: 2 * DAY }];
  const reads = await planReads(resolveTimeline(OLD), intervals, { of: () => [inventoryOf('a', [])] });
  assert.equal(reads, [{ host: 'a', segmentIds: ids(OLD.slice(0, 2)), intervals }]);
  assert.is(reads[0]?.intervals, intervals);
});

const series: GroupPlan = {
  operator: 'group',
  dataSource: 'ds',
  intervals: [
    { start: -DAY, end: DAY },
    { start: 2 * DAY, end: 9 * DAY },
  ],
  filter: null,
  virtualColumns: [],
  post: [],
  keys: [],
  aggregators: [],
  emptyGroup: true,
  withinData: true,
};
const narrowed = [
  {
    name: 'to the span of the segments',
    plan: series,
    intervals: [
      { start: 0, end: DAY },
      { start: 2 * DAY, end: 3 * DAY },
    ],
  },
  { name: 'to nothing beyond them', plan: { ...series, intervals: [{ start: 5 * DAY, end: 9 * DAY }] }, intervals: undefined },
  { name: 'not at all unless asked', plan: { ...series, withinData: false }, intervals: series.intervals },
];
for (const { name, plan, intervals } of narrowed)
  scatter(`intervals are narrowed ${name}`, () => assert.equal(withinData(plan, resolveTimeline(OLD))?.intervals, intervals));

scatter('a chunk that is hidden in part is read only where it shows', async () => {
  const month: SegmentDescriptor = {
    ...segmentOf('ds', 0, 'v1'),
    id: { dataSource: 'ds', interval: { start: 0, end: 10 * DAY }, version: 'v1', partitionNumber: 0 },
  };
  const inside = segmentOf('ds', 4, 'v2');
  const reads = await planReads(resolveTimeline([month, inside]), [{ start: 3 * DAY, end: 6 * DAY }], { of: () => [inventoryOf('a', [])] });
  assert.equal(reads, [
    {
      host: 'a',
      segmentIds: ids([month]),
      intervals: [
        { start: 3 * DAY, end: 4 * DAY },
        { start: 5 * DAY, end: 6 * DAY },
      ],
    },
    { host: 'a', segmentIds: ids([inside]), intervals: [{ start: 3 * DAY, end: 6 * DAY }] },
  ]);
});

const DAYS = [0, 1, 2].map((day) => ({ start: day * DAY, end: (day + 1) * DAY }));
const PARTS = [segmentOf('ds', 0, 'v1'), { ...segmentOf('ds', 0, 'v1'), id: { ...segmentOf('ds', 0, 'v1').id, partitionNumber: 1 } }];
const HOUR = { start: DAY + 1, end: DAY + 10 };
for (const [name, segments, slices, expected] of [
  ['none', OLD, [], []],
  [
    'some',
    OLD,
    [
      [DAYS[2], 'v1', 0],
      [DAYS[0], 'v1', 0],
    ],
    [
      [OLD[0], [DAYS[0]]],
      [OLD[2], [DAYS[2]]],
    ],
  ],
  ['a part of one', OLD, [[HOUR, 'v1', 0]], [[OLD[1], [HOUR]]]],
  [
    'one several times, in parts that overlap',
    OLD,
    [
      [HOUR, 'v1', 0],
      [DAYS[1], 'v1', 0],
      [HOUR, 'v1', 0],
    ],
    [[OLD[1], [DAYS[1]]]],
  ],
  ['one of the partitions of a chunk', PARTS, [[DAYS[0], 'v1', 1]], [[PARTS[1], [DAYS[0]]]]],
  ['another version', OLD, [[DAYS[0], 'v2', 0]], /version "v2"/],
  ['another partition', OLD, [[DAYS[0], 'v1', 7]], /partition 7/],
  ['an interval beyond its end', OLD, [[{ start: DAY, end: 3 * DAY }, 'v1', 0]], /1970-01-02T00:00:00.000Z\/1970-01-04/],
  ['an interval before all', OLD, [[{ start: -DAY, end: 0 }, 'v1', 0]], /1969-12-31/],
] as const)
  scatter(`segments that a query names: ${name}`, () => {
    const asked = slices.map(([interval, version, partitionNumber]) => ({ interval: interval ?? HOUR, version, partitionNumber }));
    const named = () => namedSegments(resolveTimeline(segments), { intervals: [], segments: asked });
    if (expected instanceof RegExp)
      assert.throws(
        named,
        (error: unknown) => error instanceof ServiceError && error.code === 'segments_unavailable' && expected.test(error.message),
      );
    else
      assert.equal(
        named().map(({ segments: [only], visible }) => [only, visible]),
        expected,
      );
  });

scatter('only servers of the highest priority are asked, each segment always at the same one', async () => {
  const servers = [inventoryOf('a', [], { priority: 5 }), inventoryOf('b', [], { priority: 5 }), inventoryOf('c', [], { priority: 1 })];
  const many = Array.from({ length: 50 }, (_, day) => segmentOf('ds', day, 'v1'));
  const plan = () => planReads(resolveTimeline(many), [{ start: 0, end: 50 * DAY }], { of: () => servers });
  assert.equal((await plan()).map((read) => read.host).sort(), ['a', 'b']);
  assert.is(
    (await plan()).reduce((count, read) => count + read.segmentIds.length, 0),
    50,
  );
  assert.equal(await plan(), await plan());
});

scatter('a segment that nobody serves fails the query by name', async () => {
  try {
    await planReads(resolveTimeline(OLD), [{ start: DAY, end: 2 * DAY }], { of: () => [] });
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'segments_unavailable');
    assert.ok(
      error.message.includes(
        segmentIdText(OLD[1]?.id ?? { dataSource: '', interval: { start: 0, end: 0 }, version: '', partitionNumber: 0 }),
      ),
    );
  }
});

scatter.run();
