import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { planReads, withinData } from '../../src/cluster/broker/scatter.js';
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

scatter('all segments of one server are one read of the whole intervals', () => {
  const intervals = [{ start: 0, end: 2 * DAY }];
  const reads = planReads(resolveTimeline(OLD), intervals, () => [inventoryOf('a', [])]);
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

scatter('a chunk that is hidden in part is read only where it shows', () => {
  const month: SegmentDescriptor = {
    ...segmentOf('ds', 0, 'v1'),
    id: { dataSource: 'ds', interval: { start: 0, end: 10 * DAY }, version: 'v1', partitionNumber: 0 },
  };
  const inside = segmentOf('ds', 4, 'v2');
  const reads = planReads(resolveTimeline([month, inside]), [{ start: 3 * DAY, end: 6 * DAY }], () => [inventoryOf('a', [])]);
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

scatter('only servers of the highest priority are asked, each segment always at the same one', () => {
  const servers = [inventoryOf('a', [], { priority: 5 }), inventoryOf('b', [], { priority: 5 }), inventoryOf('c', [], { priority: 1 })];
  const many = Array.from({ length: 50 }, (_, day) => segmentOf('ds', day, 'v1'));
  const plan = () => planReads(resolveTimeline(many), [{ start: 0, end: 50 * DAY }], () => servers);
  assert.equal(
    plan()
      .map((read) => read.host)
      .sort(),
    ['a', 'b'],
  );
  assert.is(
    plan().reduce((count, read) => count + read.segmentIds.length, 0),
    50,
  );
  assert.equal(plan(), plan());
});

scatter('a segment that nobody serves fails the query by name', () => {
  try {
    planReads(resolveTimeline(OLD), [{ start: DAY, end: 2 * DAY }], () => []);
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
