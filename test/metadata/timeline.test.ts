import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveTimeline, type TimelineSegment, visibleSegments } from '../../src/metadata/timeline.js';

interface Case {
  readonly start: number;
  readonly end: number;
  readonly version: string;
  readonly partition: number;
  readonly partitions: number;
}

function segment({ start, end, version, partition, partitions }: Case): TimelineSegment {
  return {
    id: { dataSource: 'ds', interval: { start, end }, version, partitionNumber: partition },
    shardSpec: { type: 'numbered', partitionNum: partition, partitions },
  };
}

const nameOf = ({ id }: TimelineSegment): string => `${id.interval.start}-${id.interval.end} ${id.version}.${id.partitionNumber}`;

const timeline = suite('timeline');

const cases: readonly {
  name: string;
  segments: readonly Case[];
  visible: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}[] = [
  { name: 'nothing', segments: [], visible: {} },
  { name: 'one chunk', segments: [{ start: 0, end: 10, version: 'a', partition: 0, partitions: 1 }], visible: { '0-10 a.0': [[0, 10]] } },
  {
    name: 'a newer version hides an older one',
    segments: [
      { start: 0, end: 10, version: 'a', partition: 0, partitions: 1 },
      { start: 0, end: 10, version: 'b', partition: 0, partitions: 1 },
    ],
    visible: { '0-10 b.0': [[0, 10]] },
  },
  {
    name: 'a newer version inside leaves both ends of the older one',
    segments: [
      { start: 0, end: 10, version: 'a', partition: 0, partitions: 1 },
      { start: 4, end: 6, version: 'b', partition: 0, partitions: 1 },
    ],
    visible: {
      '0-10 a.0': [
        [0, 4],
        [6, 10],
      ],
      '4-6 b.0': [[4, 6]],
    },
  },
  {
    name: 'a newer version with a core partition missing hides nothing',
    segments: [
      { start: 0, end: 10, version: 'a', partition: 0, partitions: 1 },
      { start: 0, end: 10, version: 'b', partition: 1, partitions: 2 },
    ],
    visible: { '0-10 a.0': [[0, 10]] },
  },
  {
    name: 'appended partitions are not waited for',
    segments: [
      { start: 0, end: 10, version: 'a', partition: 0, partitions: 1 },
      { start: 0, end: 10, version: 'a', partition: 7, partitions: 1 },
      { start: 10, end: 20, version: 'a', partition: 3, partitions: 0 },
    ],
    visible: { '0-10 a.0': [[0, 10]], '0-10 a.7': [[0, 10]], '10-20 a.3': [[10, 20]] },
  },
  {
    name: 'an older version shows again after a newer one ends',
    segments: [
      { start: 0, end: 5, version: 'b', partition: 0, partitions: 1 },
      { start: 0, end: 10, version: 'a', partition: 0, partitions: 1 },
      { start: 8, end: 12, version: 'c', partition: 0, partitions: 1 },
    ],
    visible: { '0-5 b.0': [[0, 5]], '0-10 a.0': [[5, 8]], '8-12 c.0': [[8, 12]] },
  },
];
for (const { name, segments, visible } of cases)
  timeline(name, () => {
    const found = resolveTimeline(segments.map(segment)).flatMap((chunk) =>
      chunk.segments.map((each) => [nameOf(each), chunk.visible.map(({ start, end }) => [start, end])] as const),
    );
    assert.equal(Object.fromEntries(found), visible);
  });

const LAST = 12;
const anySegment = fc
  .record({
    start: fc.integer({ min: 0, max: LAST - 1 }),
    length: fc.integer({ min: 1, max: LAST }),
    version: fc.constantFrom('a', 'b', 'c'),
    partition: fc.integer({ min: 0, max: 2 }),
    partitions: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ start, length, ...rest }) => ({ start, end: Math.min(LAST, start + length), ...rest }));
const anySegments = fc.uniqueArray(anySegment, {
  maxLength: 14,
  selector: (each) => `${each.start}-${each.end}-${each.version}-${each.partition}`,
});

/** For one instant, straight from the definition: the winning chunk's key, looking at all pairs. */
function winnerAt(instant: number, segments: readonly Case[]): string | undefined {
  const keys = new Map<string, Case[]>();
  for (const each of segments)
    keys.set(`${each.start}-${each.end} ${each.version}`, [...(keys.get(`${each.start}-${each.end} ${each.version}`) ?? []), each]);
  const candidates = [...keys].filter(([, members]) => {
    const [first] = members;
    if (first === undefined || first.start > instant || first.end <= instant) return false;
    const core = Math.max(...members.map((each) => each.partitions));
    return Array.from({ length: core }, (_, number) => number).every((number) => members.some((each) => each.partition === number));
  });
  const beats = (a: Case, b: Case): boolean =>
    a.version !== b.version ? a.version > b.version : a.start !== b.start ? a.start < b.start : a.end > b.end;
  return candidates.find(([, [mine]]) =>
    candidates.every(([, [other]]) => mine === other || (mine !== undefined && other !== undefined && beats(mine, other))),
  )?.[0];
}

timeline('shows at every instant the chunk that the definition names', () => {
  fc.assert(
    fc.property(anySegments, (segments) => {
      const chunks = resolveTimeline(segments.map(segment));
      for (let instant = 0; instant < LAST; instant++) {
        const shown = chunks.filter((chunk) => chunk.visible.some((piece) => piece.start <= instant && instant < piece.end));
        assert.ok(shown.length <= 1, `two chunks at ${instant}`);
        assert.is(
          shown[0] === undefined ? undefined : `${shown[0].interval.start}-${shown[0].interval.end} ${shown[0].version}`,
          winnerAt(instant, segments),
        );
      }
    }),
    { numRuns: 2000 },
  );
});

timeline('pieces are sorted, apart, inside of their chunk; chunks keep all their segments', () => {
  fc.assert(
    fc.property(anySegments, (segments) => {
      for (const chunk of resolveTimeline(segments.map(segment))) {
        chunk.visible.forEach((piece, at) => {
          assert.ok(piece.start < piece.end && piece.start >= chunk.interval.start && piece.end <= chunk.interval.end);
          const before = chunk.visible[at - 1];
          assert.ok(before === undefined || before.end < piece.start);
        });
        const members = segments.filter(
          (each) => each.start === chunk.interval.start && each.end === chunk.interval.end && each.version === chunk.version,
        );
        assert.is(chunk.segments.length, members.length);
      }
    }),
  );
});

timeline('does not depend on the order of the segments', () => {
  fc.assert(
    fc.property(anySegments, (segments) => {
      const forward = visibleSegments(segments.map(segment)).map(nameOf);
      assert.equal(visibleSegments(segments.toReversed().map(segment)).map(nameOf), forward);
    }),
  );
});

timeline.run();
