import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY, type Interval } from '../../src/base/instant.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { type Candidate, type CandidateInput, findCandidates } from '../../src/cluster/compaction/candidates.js';
import { type CompactionPolicy, parseClusterConfig } from '../../src/cluster/compaction/cluster-config.js';
import { parseCompactionConfig } from '../../src/cluster/compaction/compaction-config.js';
import { slotsOf } from '../../src/cluster/compaction/compaction-duty.js';
import { inOrder, rejectedBecause } from '../../src/cluster/compaction/policy.js';
import { snapshotOf } from '../../src/cluster/compaction/snapshot.js';
import { resolveTimeline } from '../../src/metadata/timeline.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const hours = (from: number, to = from + 1): Interval => ({ start: from * HOUR, end: to * HOUR });
const days = (from: number, to = from + 1): Interval => ({ start: from * DAY, end: to * DAY });

interface Given {
  readonly interval: Interval;
  readonly version?: number;
  readonly partitions?: number;
  readonly bytes?: number;
  readonly state?: unknown;
}

function segments(given: readonly Given[]): SegmentDescriptor[] {
  return given.flatMap(({ interval, version = 1, partitions = 1, bytes = 100, state }) =>
    Array.from({ length: partitions }, (_, partitionNumber) => ({
      id: { dataSource: 'ds', interval, version: `2020-01-0${version}T00:00:00.000Z`, partitionNumber },
      shardSpec: { type: 'numbered', partitionNum: partitionNumber, partitions },
      loadSpec: { type: 'local', path: 'p' },
      sizeBytes: bytes,
      rowCount: 1,
      dimensions: [],
      metrics: [],
      columns: [],
      ...(state === undefined ? {} : { lastCompactionState: JSON.stringify(state) }),
    })),
  );
}

const configOf = (fields: Readonly<Record<string, unknown>>) =>
  parseCompactionConfig(
    new ObjectReader({ dataSource: 'ds', skipOffsetFromLatest: 'PT0S', ...fields }, '', readContextOf('input_invalid', 'body')),
  );

function candidatesOf(
  given: readonly Given[],
  fields: Readonly<Record<string, unknown>>,
  more: Partial<CandidateInput> = {},
): readonly Candidate[] {
  const input: CandidateInput = {
    config: configOf(fields),
    wanted: {},
    chunks: resolveTimeline(segments(given)),
    running: [],
    locked: [],
    unreadable: [],
    rest: () => undefined,
    ...more,
  };
  return [...findCandidates(input)];
}

const printed = (candidates: readonly Candidate[]): readonly string[] =>
  candidates.map(({ interval, segments: own, status }) => {
    const bounds = [interval.start, interval.end].map((instant) => instant / HOUR).join('-');
    return `${bounds} ${own.length} ${status.state}${'reason' in status ? `: ${status.reason}` : ''}`;
  });

const DAY_STATE = {
  partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 5_000_000 },
  granularitySpec: { segmentGranularity: 'DAY', queryGranularity: 'NONE', rollup: false },
};
const WANTS_DAY = { granularitySpec: { segmentGranularity: 'DAY' } };
const OF_DAYS = { granularitySpec: { segmentGranularity: 'day' } };
const NEW = 'PENDING: not compacted yet';

const CASES: readonly {
  readonly name: string;
  readonly given: readonly Given[];
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly more?: Partial<CandidateInput>;
  readonly expected: readonly string[];
}[] = [
  { name: 'no segments', given: [], expected: [] },
  {
    name: 'each time chunk by itself',
    given: [{ interval: hours(0), partitions: 3 }, { interval: hours(1) }],
    expected: [`0-1 3 ${NEW}`, `1-2 1 ${NEW}`],
  },
  {
    name: 'time chunks of the granularity',
    given: [{ interval: hours(0) }, { interval: hours(23) }, { interval: hours(24) }],
    fields: OF_DAYS,
    expected: [`0-24 2 ${NEW}`, `24-48 1 ${NEW}`],
  },
  {
    name: 'a week reaches over days',
    given: [{ interval: days(4, 11) }, { interval: days(12) }],
    fields: OF_DAYS,
    expected: [`96-264 1 ${NEW}`, `288-312 1 ${NEW}`],
  },
  {
    name: 'a chunk that a newer one covers in part, both together',
    given: [{ interval: days(0) }, { interval: hours(3), version: 2 }],
    expected: [`0-24 2 ${NEW}`],
  },
  {
    name: 'the skip offset counts from the end of the newest segment, to whole chunks',
    given: [{ interval: days(0) }, { interval: days(1) }, { interval: days(2) }, { interval: hours(80) }],
    fields: { ...OF_DAYS, skipOffsetFromLatest: 'PT10H' },
    expected: [
      `0-24 1 ${NEW}`,
      `24-48 1 ${NEW}`,
      '48-72 1 SKIPPED: skip offset from latest[PT10H]',
      '72-96 1 SKIPPED: skip offset from latest[PT10H]',
    ],
  },
  {
    name: 'made as it should be, or of another length, or with rows that came later',
    given: [
      { interval: days(0), state: DAY_STATE },
      { interval: days(1), state: { ...DAY_STATE, granularitySpec: { segmentGranularity: 'HOUR' } } },
      { interval: days(2), state: DAY_STATE },
      { interval: hours(49), version: 2 },
    ],
    fields: OF_DAYS,
    more: { wanted: WANTS_DAY },
    expected: ['0-24 1 COMPLETE', `24-48 1 PENDING: 'segmentGranularity' mismatch: required["DAY"], current["HOUR"]`, `48-72 2 ${NEW}`],
  },
  {
    name: 'parts that the configuration leaves open do not matter',
    given: [{ interval: days(0), state: DAY_STATE }],
    more: { wanted: { partitionsSpec: { maxRowsPerSegment: 5_000_000, type: 'dynamic' } } },
    expected: ['0-24 1 COMPLETE'],
  },
  {
    name: 'a part that the segments do not have',
    given: [{ interval: days(0), state: DAY_STATE }],
    more: { wanted: { transformSpec: { filter: { type: 'true' } } } },
    expected: [`0-24 1 PENDING: 'transformSpec' mismatch: required[{"filter":{"type":"true"}}], current[null]`],
  },
  {
    name: 'too many bytes for one task',
    given: [
      { interval: days(0), partitions: 2, bytes: 60 },
      { interval: days(1), bytes: 100 },
    ],
    fields: { inputSegmentSizeBytes: 100 },
    expected: [
      "0-24 2 SKIPPED: 'inputSegmentSize' exceeded: Total segment size[120] is larger than allowed inputSegmentSize[100]",
      `24-48 1 ${NEW}`,
    ],
  },
  {
    name: 'locked, under way, resting',
    given: [{ interval: days(0) }, { interval: days(1) }, { interval: days(2) }, { interval: days(3) }],
    more: { locked: [hours(2)], running: [days(1)], rest: ({ start }) => (start === 2 * DAY ? 'has failed' : undefined) },
    expected: [
      '0-24 1 SKIPPED: interval locked by another task',
      '24-48 1 RUNNING: a task for the interval has not ended',
      '48-72 1 SKIPPED: has failed',
      `72-96 1 ${NEW}`,
    ],
  },
  {
    name: 'a segment that cannot be read',
    given: [{ interval: days(0) }, { interval: days(1) }],
    more: { unreadable: [hours(30)] },
    expected: [`0-24 1 ${NEW}`, '24-48 1 SKIPPED: a segment of the interval cannot be read in the metadata store'],
  },
  {
    name: 'a segment of all time',
    given: [{ interval: ETERNITY }],
    fields: OF_DAYS,
    expected: [
      `${ETERNITY.start / HOUR}-${ETERNITY.end / HOUR} 1 SKIPPED: segments of the datasource have intervals without a start or an end`,
    ],
  },
];

const candidates = suite('compaction candidates');

for (const { name, given, fields = {}, more = {}, expected } of CASES)
  candidates(name, () => assert.equal(printed(candidatesOf(given, fields, more)), expected));

candidates('status counts bytes, segments and their intervals', () => {
  const found = candidatesOf(
    [
      { interval: hours(0), partitions: 2 },
      { interval: hours(1) },
      { interval: days(1), state: DAY_STATE },
      { interval: days(2), bytes: 7 },
    ],
    { ...OF_DAYS, skipOffsetFromLatest: 'P1D' },
    { wanted: WANTS_DAY },
  );
  const { message, scheduleStatus, ...counts } = snapshotOf('ds', found);
  assert.equal([message, scheduleStatus], [null, 'RUNNING']);
  assert.equal(counts, {
    dataSource: 'ds',
    bytesAwaitingCompaction: 300,
    bytesCompacted: 100,
    bytesSkipped: 7,
    segmentCountAwaitingCompaction: 3,
    segmentCountCompacted: 1,
    segmentCountSkipped: 1,
    intervalCountAwaitingCompaction: 2,
    intervalCountCompacted: 1,
    intervalCountSkipped: 1,
  });
});

const policyOf = (compactionPolicy: unknown): CompactionPolicy =>
  parseClusterConfig(new ObjectReader({ compactionPolicy }, '', readContextOf('input_invalid', 'body'))).compactionPolicy;

const POLICIES: readonly (readonly [policy: unknown, order: readonly string[]])[] = [
  [{ type: 'newestSegmentFirst' }, ['b 3', 'a 2', 'b 1', 'a 0']],
  [{ type: 'newestSegmentFirst', priorityDatasource: 'a' }, ['a 2', 'a 0', 'b 3', 'b 1']],
  [
    {
      type: 'fixedIntervalOrder',
      eligibleCandidates: [
        { datasource: 'b', interval: '1970-01-02/1970-01-03' },
        { datasource: 'a', interval: '1970/1971' },
      ],
    },
    ['b 1', 'a 2', 'a 0'],
  ],
  [{ type: 'mostFragmentedFirst', minUncompactedCount: 2, minUncompactedBytes: '1KB' }, ['a 2', 'b 3']],
];
for (const [written, order] of POLICIES)
  candidates(`order: ${JSON.stringify(written)}`, () => {
    const policy = policyOf(written);
    // Day 1 has one segment, day 0 too few bytes; day 2 has more segments than day 3.
    const all = [
      ...candidatesOf(
        [
          { interval: days(0), partitions: 2, bytes: 10 },
          { interval: days(2), partitions: 9, bytes: 1000 },
        ],
        { dataSource: 'a' },
      ),
      ...candidatesOf(
        [
          { interval: days(1), bytes: 1000 },
          { interval: days(3), partitions: 3, bytes: 1000 },
        ],
        { dataSource: 'b' },
      ),
    ];
    const chosen = inOrder(
      policy,
      all.filter((candidate) => rejectedBecause(policy, candidate) === undefined),
    );
    assert.equal(
      chosen.map(({ dataSource, interval }) => `${dataSource} ${interval.start / DAY}`),
      order,
    );
  });

for (const [ratio, max, capacity, slots] of [
  [0.1, 2 ** 31 - 1, 2, 1],
  [0.5, 2 ** 31 - 1, 10, 5],
  [0.5, 3, 10, 3],
  [0.19, 100, 10, 1],
  [0, 100, 10, 0],
  [1, 0, 10, 0],
  [1, 5, 0, 0],
] as const)
  candidates(`${ratio} of ${capacity} slots, at most ${max}`, () => {
    const config = parseClusterConfig(
      new ObjectReader({ compactionTaskSlotRatio: ratio, maxCompactionTaskSlots: max }, '', readContextOf('input_invalid', 'body')),
    );
    assert.is(slotsOf(config, capacity), slots);
  });

const REFUSED: readonly (readonly [fields: Readonly<Record<string, unknown>>, message: RegExp])[] = [
  [{ dataSource: '' }, /dataSource: expected the name of a datasource/],
  [{ skipOffsetFromLatest: 'a day' }, /skipOffsetFromLatest: expected an ISO 8601 period/],
  [{ skipOffsetFromLatest: '-P1D' }, /skipOffsetFromLatest/],
  [{ inputSegmentSizeBytes: -1 }, /inputSegmentSizeBytes: expected an integer of at least 0/],
  [{ maxRowsPerSegment: 0 }, /maxRowsPerSegment/],
  [{ engine: 'spark' }, /engine: expected one of native, msq/],
  [{ projections: [{ name: 'p' }] }, /projections: .* is not supported; segments have no projections/],
  [{ type: 'catalog' }, /type: "catalog" is not supported/],
  [{ ioConfig: { inputSpec: {} } }, /ioConfig: unknown key "inputSpec"/],
  [{ taskContext: { storeCompactionState: false } }, /taskContext.storeCompactionState: false is not supported/],
  [{ tuningConfigs: {} }, /unknown key "tuningConfigs"; did you mean "tuningConfig"/],
];
for (const [fields, message] of REFUSED)
  candidates(`refused: ${JSON.stringify(fields)}`, () => assert.throws(() => configOf(fields), message));

const REFUSED_OF_CLUSTER: readonly (readonly [fields: Readonly<Record<string, unknown>>, message: RegExp])[] = [
  [{ compactionTaskSlotRatio: 1.5 }, /compactionTaskSlotRatio: expected a number from 0 to 1/],
  [{ maxCompactionTaskSlots: 'lots' }, /maxCompactionTaskSlots/],
  [{ useSupervisors: 'maybe' }, /useSupervisors: expected true or false/],
  [{ storeCompactionStatePerSegment: false }, /storeCompactionStatePerSegment: false is not supported/],
  [{ compactionPolicy: { type: 'oldestFirst' } }, /compactionPolicy.type/],
  [
    { compactionPolicy: { type: 'mostFragmentedFirst', minUncompactedBytesPercentForFullCompaction: 5 } },
    /an interval is compacted as a whole; expected 0/,
  ],
  [{ compactionPolicy: { type: 'mostFragmentedFirst', minUncompactedBytes: 'many' } }, /minUncompactedBytes: expected a number of bytes/],
  [
    { compactionPolicy: { type: 'fixedIntervalOrder', eligibleCandidates: [{ datasource: 'a', interval: 'x' }] } },
    /eligibleCandidates\[0\].interval/,
  ],
];
for (const [fields, message] of REFUSED_OF_CLUSTER)
  candidates(`refused: ${JSON.stringify(fields)}`, () =>
    assert.throws(() => parseClusterConfig(new ObjectReader(fields, '', readContextOf('input_invalid', 'body'))), message),
  );

candidates.run();
