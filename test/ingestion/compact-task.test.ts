import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatInterval } from '../../src/base/interval.js';
import { caseCount } from '../case-count.js';
import { type Compacted, compact, type Load } from './compaction.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ofDay = { ioConfig: { inputSpec: { type: 'interval', interval: '1970-01-01/1970-01-02' } } };

const segmentsOf = ({ published }: Compacted): readonly string[] =>
  (published?.segments ?? []).map(
    ({ interval, rowCount }) => `${formatInterval(interval).slice(11, 16)}-${formatInterval(interval).slice(36, 41)} ${rowCount}`,
  );

const SUM = { type: 'longSum', name: 'v', fieldName: 'v' };
const COUNT = { type: 'count', name: 'n' };
const HLL = { type: 'HLLSketchBuild', name: 'users', fieldName: 'user' };

/** Three hours of two rows each; hour 0 in two segments. */
const HOURS: Load = {
  rows: [0, 1, 2].flatMap((hour) => [
    { t: hour * HOUR + 1, page: 'a', v: 1 },
    { t: hour * HOUR + 2, page: 'b', v: 10 },
  ]),
  maxRowsPerSegment: 1,
  metricsSpec: [SUM],
};

interface Case {
  readonly name: string;
  readonly loads: readonly Load[];
  readonly payload: Readonly<Record<string, unknown>>;
  readonly segments: readonly string[];
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  readonly state?: Readonly<Record<string, unknown>>;
}

const sixRows = [0, 1, 2].flatMap((hour) => [
  { __time: BigInt(hour * HOUR + 1), page: 'a', v: 1n },
  { __time: BigInt(hour * HOUR + 2), page: 'b', v: 10n },
]);

const CASES: readonly Case[] = [
  {
    name: 'time chunks stay, segments of each become one',
    loads: [HOURS],
    payload: ofDay,
    segments: ['00:00-01:00 2', '01:00-02:00 2', '02:00-03:00 2'],
    rows: sixRows,
  },
  {
    name: 'hours become a day',
    loads: [HOURS],
    payload: { ...ofDay, granularitySpec: { segmentGranularity: 'day' } },
    segments: ['00:00-00:00 6'],
    rows: sixRows,
    state: {
      partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 5_000_000 },
      dimensionsSpec: { dimensions: [{ type: 'string', name: 'page', multiValueHandling: 'ARRAY' }], dimensionExclusions: [] },
      metricsSpec: [SUM],
      transformSpec: null,
      granularitySpec: { segmentGranularity: 'DAY', queryGranularity: 'NONE', rollup: false },
    },
  },
  {
    name: 'a day becomes hours, and only those with rows',
    loads: [{ ...HOURS, segmentGranularity: 'day' }],
    payload: { ...ofDay, granularitySpec: { segmentGranularity: 'hour' } },
    segments: ['00:00-01:00 2', '01:00-02:00 2', '02:00-03:00 2'],
    rows: sixRows,
  },
  {
    name: 'maxRowsPerSegment cuts a chunk evenly',
    loads: [HOURS],
    payload: {
      ...ofDay,
      granularitySpec: { segmentGranularity: 'day' },
      tuningConfig: { type: 'index_parallel', partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 4 } },
    },
    segments: ['00:00-00:00 3', '00:00-00:00 3'],
  },
  {
    name: 'hashed partitions',
    loads: [HOURS],
    payload: {
      ...ofDay,
      granularitySpec: { segmentGranularity: 'day' },
      tuningConfig: { partitionsSpec: { type: 'hashed', numShards: 1, partitionDimensions: ['page'] } },
    },
    segments: ['00:00-00:00 6'],
    rows: sixRows,
    state: {
      partitionsSpec: { type: 'hashed', numShards: 1, partitionDimensions: ['page'] },
      dimensionsSpec: { dimensions: [{ type: 'string', name: 'page', multiValueHandling: 'ARRAY' }], dimensionExclusions: [] },
      metricsSpec: [SUM],
      transformSpec: null,
      granularitySpec: { segmentGranularity: 'DAY', queryGranularity: 'NONE', rollup: false },
    },
  },
  {
    name: 'range partitions',
    loads: [HOURS],
    payload: {
      ...ofDay,
      granularitySpec: { segmentGranularity: 'day' },
      tuningConfig: { partitionsSpec: { type: 'range', partitionDimensions: ['page'], targetRowsPerSegment: 2 } },
    },
    segments: ['00:00-00:00 3', '00:00-00:00 3'],
    rows: sixRows,
  },
  {
    name: 'queryGranularity and rollup with the metrics of the segments',
    loads: [{ ...HOURS, metricsSpec: [SUM, COUNT], rollup: true, queryGranularity: 'second' }],
    payload: { ...ofDay, granularitySpec: { segmentGranularity: 'day', queryGranularity: 'day' } },
    segments: ['00:00-00:00 2'],
    rows: [
      { __time: 0n, page: 'a', v: 3n, n: 3n },
      { __time: 0n, page: 'b', v: 30n, n: 3n },
    ],
  },
  {
    name: 'rows of loads without rollup stay as they are',
    loads: [{ ...HOURS, metricsSpec: [SUM, COUNT], queryGranularity: 'hour' }],
    payload: { ...ofDay, granularitySpec: { segmentGranularity: 'day' } },
    segments: ['00:00-00:00 6'],
  },
  {
    name: 'rollup is turned on',
    loads: [HOURS],
    payload: {
      ...ofDay,
      granularitySpec: { segmentGranularity: 'day', queryGranularity: 'day', rollup: true },
      dimensionsSpec: { dimensions: [{ type: 'string', name: 'nothing' }] },
    },
    segments: ['00:00-00:00 1'],
    rows: [{ __time: 0n, v: 33n }],
  },
  {
    name: 'metricsSpec of the payload counts stored rows',
    loads: [{ ...HOURS, metricsSpec: [SUM, COUNT] }],
    payload: {
      ...ofDay,
      granularitySpec: { segmentGranularity: 'day', queryGranularity: 'day', rollup: true },
      metricsSpec: [{ type: 'longSum', name: 'total', fieldName: 'v' }, { type: 'longMax', name: 'v', fieldName: 'v' }, COUNT],
    },
    segments: ['00:00-00:00 2'],
    rows: [
      { __time: 0n, page: 'a', total: 3n, v: 1n, n: 3n },
      { __time: 0n, page: 'b', total: 30n, v: 10n, n: 3n },
    ],
  },
  {
    name: 'a filter takes rows away, and all of the interval is replaced',
    loads: [HOURS],
    payload: { ...ofDay, transformSpec: { filter: { type: 'selector', dimension: 'page', value: 'a' } } },
    segments: ['00:00-01:00 1', '01:00-02:00 1', '02:00-03:00 1'],
    rows: sixRows.filter(({ page }) => page === 'a'),
  },
  {
    name: 'a filter that nothing passes leaves no segment',
    loads: [HOURS],
    payload: { ...ofDay, transformSpec: { filter: { type: 'selector', dimension: 'page', value: 'z' } } },
    segments: [],
    rows: [],
  },
  {
    name: 'dimensionExclusions',
    loads: [HOURS],
    payload: { ...ofDay, granularitySpec: { segmentGranularity: 'day' }, dimensionsSpec: { dimensionExclusions: ['page'] } },
    segments: ['00:00-00:00 6'],
    rows: sixRows.map(({ __time, v }) => ({ __time, v })),
  },
  {
    name: 'rows of an hour that a newer load covers are not read again',
    loads: [
      { ...HOURS, segmentGranularity: 'day' },
      { ...HOURS, rows: [{ t: HOUR + 5, page: 'new', v: 7 }] },
    ],
    payload: ofDay,
    segments: ['00:00-00:00 5'],
    rows: [...sixRows.slice(0, 2), { __time: BigInt(HOUR + 5), page: 'new', v: 7n }, ...sixRows.slice(4)],
  },
  {
    name: 'columns of several types take the widest, lists and arrays stay',
    loads: [
      {
        rows: [{ t: 1, x: 1, l: ['b', 'a'], z: [1, 2] }],
        dimensions: [{ type: 'long', name: 'x' }, 'l', { type: 'auto', name: 'z' }],
        segmentGranularity: 'day',
      },
      {
        rows: [{ t: HOUR * 3, x: 'two', l: 'c', z: [2.5] }],
        dimensions: ['x', 'l', { type: 'auto', name: 'z' }],
        segmentGranularity: 'hour',
      },
    ],
    payload: ofDay,
    segments: ['00:00-00:00 2'],
    rows: [
      { __time: 1n, x: '1', l: ['a', 'b'], z: [1, 2] },
      { __time: BigInt(HOUR * 3), x: 'two', l: 'c', z: [2.5] },
    ],
  },
  {
    name: 'segments of the inputSpec',
    loads: [{ rows: [{ t: 1, page: 'a' }] }],
    payload: {
      ioConfig: {
        type: 'compact',
        inputSpec: { type: 'segments', segments: ['edits_1970-01-01T00:00:00.000Z_1970-01-01T01:00:00.000Z_2020-01-01T00:00:00.000Z'] },
      },
    },
    segments: ['00:00-01:00 1'],
  },
];

const tasks = suite('compact');

for (const { name, loads, payload, segments, rows, state } of CASES)
  tasks(name, async () => {
    const compacted = await compact(loads, payload);
    assert.ok(compacted.outcome.succeeded, compacted.outcome.errorMessage ?? '');
    assert.equal(segmentsOf(compacted), segments);
    assert.equal(compacted.published?.inputs?.length, compacted.inputs.length);
    if (rows !== undefined) assert.equal(sorted(compacted.rows), sorted(rows));
    if (state !== undefined) assert.equal(JSON.parse(compacted.published?.segments[0]?.lastCompactionState ?? ''), state);
  });

tasks('sketches are merged, and counts add up', async () => {
  const rows = Array.from({ length: 500 }, (_, row) => ({ t: (row % 4) * HOUR, page: 'a', user: `u${row % 200}` }));
  const load: Load = { rows, metricsSpec: [HLL, COUNT], rollup: true };
  const { outcome, rows: compacted } = await compact([load], {
    ...ofDay,
    granularitySpec: { segmentGranularity: 'day', queryGranularity: 'day' },
  });
  const whole = await compact([{ ...load, segmentGranularity: 'day', queryGranularity: 'day' }], ofDay);
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  assert.equal(compacted, whole.rows);
  assert.equal(
    compacted.map(({ n }) => n),
    [500n],
  );
});

const REFUSED: readonly (readonly [name: string, loads: readonly Load[], payload: Readonly<Record<string, unknown>>, message: RegExp])[] = [
  ['nothing to compact', [HOURS], { ioConfig: { inputSpec: { type: 'interval', interval: '1980/1981' } } }, /has no segments in 1980/],
  [
    'an interval that cuts a segment',
    [HOURS],
    { ioConfig: { inputSpec: { type: 'interval', interval: '1970-01-01/PT90M' } } },
    /cuts segment edits_1970-01-01T01/,
  ],
  [
    'an interval that cuts a time chunk',
    [HOURS],
    { ioConfig: { inputSpec: { type: 'interval', interval: '1970-01-01/PT2H' } }, granularitySpec: { segmentGranularity: 'day' } },
    /cuts time chunks of granularitySpec.segmentGranularity/,
  ],
  [
    'buckets beyond the time chunk',
    [HOURS],
    { ...ofDay, granularitySpec: { queryGranularity: 'day' } },
    /do not fit into the time chunk 1970-01-01T01/,
  ],
  [
    'a digest of other segments',
    [HOURS],
    { ioConfig: { inputSpec: { type: 'interval', interval: '1970-01-01/1970-01-02', sha256OfSortedSegmentIds: 'abc' } } },
    /sha256OfSortedSegmentIds: .* have changed since/,
  ],
  [
    'rollup without aggregators',
    [
      { ...HOURS, metricsSpec: [{ ...SUM, type: 'longMin' }] },
      { rows: [{ t: 3 * HOUR, page: 'c', v: 1 }], metricsSpec: [SUM] },
    ],
    { ...ofDay, granularitySpec: { segmentGranularity: 'day', rollup: true } },
    /do not agree on how "v" was made/,
  ],
  [
    'a sketch of sketches',
    [{ rows: [{ t: 1, page: 'a', user: 'u' }], metricsSpec: [HLL] }],
    { ...ofDay, metricsSpec: [{ ...HLL, fieldName: 'users' }] },
    /"users" reads the values of "users", which holds aggregate states/,
  ],
];
for (const [name, loads, payload, message] of REFUSED)
  tasks(`refused: ${name}`, async () => {
    const { outcome, published } = await compact(loads, payload);
    assert.not.ok(outcome.succeeded);
    assert.match(outcome.errorMessage ?? '', message);
    assert.is(published, undefined);
  });

/** Rows in no order that means anything. */
function sorted(rows: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return rows
    .map((row) =>
      Object.entries(row)
        .flatMap(([name, value]) => (value === null ? [] : [`${name}=${printed(value)}`]))
        .sort()
        .join(' '),
    )
    .sort();
}

const printed = (value: unknown): string => (Array.isArray(value) ? `[${value.map(printed).join()}]` : String(value));

const value = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom('a', 'b', '', '7'),
  fc.array(fc.constantFrom('x', 'y'), { maxLength: 3 }),
);
const load = fc.record({
  rows: fc.array(fc.record({ t: fc.integer({ min: 0, max: 2 * DAY - 1 }), page: value, other: value, v: fc.integer({ min: 0, max: 9 }) }), {
    minLength: 1,
    maxLength: 30,
  }),
  segmentGranularity: fc.constantFrom('hour', 'six_hour', 'day', 'month'),
  dimensions: fc.constantFrom<readonly unknown[]>(
    ['page', 'other'],
    [{ type: 'auto', name: 'page' }],
    [{ type: 'auto', name: 'other' }, 'page'],
  ),
  metricsSpec: fc.constant([SUM]),
  maxRowsPerSegment: fc.integer({ min: 1, max: 20 }),
});

/** Time and `v` of the rows that no later load hides, from the input alone. */
function expectedRows(loads: readonly Load[]): readonly string[] {
  const startOf = (t: number, { segmentGranularity }: Load): number => {
    if (segmentGranularity === 'month') return 0;
    const length = segmentGranularity === 'hour' ? HOUR : segmentGranularity === 'day' ? DAY : 6 * HOUR;
    return t - (t % length);
  };
  const isHidden = (t: number, later: Load): boolean => later.rows.some((row) => startOf(Number(row['t']), later) === startOf(t, later));
  return loads
    .flatMap((each, at) => each.rows.filter(({ t }) => !loads.slice(at + 1).some((later) => isHidden(Number(t), later))))
    .map(({ t, v }) => `${t} ${v}`)
    .sort();
}

tasks('rows before are the rows after, whatever the layout', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(load, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(null, 'hour', 'day', 'month'),
      async (loads, granularity) => {
        const ofAll = { ioConfig: { inputSpec: { type: 'interval', interval: '1969-12-01/1970-03-01' } } };
        const other = await compact(loads, { ...ofAll, granularitySpec: { segmentGranularity: 'six_hour' } });
        const { outcome, rows } = await compact(loads, {
          ...ofAll,
          ...(granularity === null ? {} : { granularitySpec: { segmentGranularity: granularity } }),
        });
        assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
        assert.equal(rows.map((row) => `${row['__time']} ${row['v']}`).sort(), expectedRows(loads));
        assert.equal(sorted(rows), sorted(other.rows));
      },
    ),
    { numRuns: caseCount(25) },
  );
});

tasks.run();
