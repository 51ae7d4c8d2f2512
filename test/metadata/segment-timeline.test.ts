import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SegmentTimeline, type TimelineBlock } from '../../src/metadata/segment-timeline.js';
import { resolveTimeline, type TimelineSegment } from '../../src/metadata/timeline.js';

const MINUTE = 60_000;
const segment = (start: number, end: number, version = 'a', partition = 0, partitions = 1): TimelineSegment => ({
  id: { dataSource: 'ds', interval: { start: start * MINUTE, end: end * MINUTE }, version, partitionNumber: partition },
  shardSpec: { type: 'numbered', partitionNum: partition, partitions },
});
const nameOf = ({ id }: TimelineSegment): string => JSON.stringify(id);

const timelines = suite('a timeline that changes');

const LAST = 3000;
const anySegment = fc
  .record({
    start: fc.integer({ min: 0, max: LAST - 1 }),
    length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: LAST })),
    version: fc.constantFrom('a', 'b', 'c'),
    partition: fc.integer({ min: 0, max: 1 }),
    partitions: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ start, length, version, partition, partitions }) =>
    segment(start, Math.min(LAST, start + length), version, partition, partitions),
  );
const anyChange = fc.record({
  added: fc.array(anySegment, { maxLength: 12 }),
  removed: fc.array(fc.nat(), { maxLength: 6 }),
  strangers: fc.array(anySegment, { maxLength: 2 }),
});
/** Hours behind each other, so that there are many blocks to begin with. */
const anyBeginning = fc.integer({ min: 0, max: LAST }).map((count) => Array.from({ length: count }, (_, at) => segment(at, at + 1)));

timelines('has at any time the chunks of all its segments, and its blocks lie one behind the other', () => {
  fc.assert(
    fc.property(anyBeginning, fc.array(anyChange, { maxLength: 6 }), (beginning, changes) => {
      const timeline = new SegmentTimeline<TimelineSegment>();
      const there = new Map<string, TimelineSegment>();
      const change = (removed: readonly TimelineSegment[], added: readonly TimelineSegment[]): void => {
        const before = timeline.blocks;
        const result = timeline.change(removed, added);
        for (const each of removed) there.delete(nameOf(each));
        for (const each of added) there.set(nameOf(each), each);
        const chunks = timeline.blocks.flatMap((block) => block.chunks);
        assert.equal(chunks, resolveTimeline(there.values()));
        assert.is(timeline.blocks.flatMap(({ segments }) => segments).length, there.size);
        timeline.blocks.forEach((block, at) => assert.ok(block.start >= (timeline.blocks[at - 1]?.end ?? -Infinity)));
        const kept = (blocks: readonly TimelineBlock<TimelineSegment>[], gone: readonly TimelineBlock<TimelineSegment>[]) =>
          blocks.filter((block) => !gone.includes(block));
        assert.ok(kept(before, result.before).every((block, at) => block === kept(timeline.blocks, result.after)[at]));
      };
      change([], beginning);
      for (const { added, removed, strangers } of changes) {
        const present = [...there.values()];
        const known = new Map(added.map((each) => [nameOf(each), each]));
        change([...removed.flatMap((at) => present[at % Math.max(1, present.length)] ?? []), ...strangers], [...known.values()]);
      }
    }),
    { numRuns: 60 },
  );
});

timelines('one segment more leaves all blocks but one as they are', () => {
  const timeline = new SegmentTimeline<TimelineSegment>();
  timeline.change(
    [],
    Array.from({ length: 20_000 }, (_, at) => segment(60 * at, 60 * at + 60)),
  );
  assert.ok(timeline.blocks.length > 40 && timeline.blocks.length < 160, `${timeline.blocks.length} blocks`);
  for (const at of [20_000, 10_000.5, 777]) {
    const blocks = timeline.blocks.length;
    const { before, after } = timeline.change([], [segment(60 * at, 60 * at + 30, 'b')]);
    assert.is(before.length, 1);
    assert.ok(Math.abs(timeline.blocks.length - blocks) <= 1 && after.length <= 2);
  }
});

timelines.run();
