import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeHll, decodeKll, decodeQuantiles, decodeTheta } from '../../src/sketch/base64-codec.js';
import { decodeMoments, varianceOf } from '../../src/sketch/moments.js';
import { run, type TaskRun } from './run-task.js';

const HOUR = 3_600_000;

/** 600 rows over two hours and two pages; users 0 to 99, and values that are the number of the row. */
const VISITS = Array.from({ length: 600 }, (_, row) => ({
  t: (row % 2) * HOUR + 10_000 - row,
  page: row % 3 === 0 ? 'a' : 'b',
  user: `user ${(row * 7) % 100}`,
  v: row,
  label: `row ${row}`,
}));

const METRICS = [
  { type: 'count', name: 'rows' },
  { type: 'HLLSketchBuild', name: 'hll', fieldName: 'user', lgK: 10 },
  { type: 'thetaSketch', name: 'theta', fieldName: 'user' },
  { type: 'hyperUnique', name: 'unique', fieldName: 'user' },
  { type: 'cardinality', name: 'both', fields: ['user', 'label'], byRow: true },
  { type: 'quantilesDoublesSketch', name: 'quantiles', fieldName: 'v', k: 512 },
  { type: 'KllFloatsSketch', name: 'kll', fieldName: 'v', k: 1000 },
  { type: 'variance', name: 'variance', fieldName: 'v', estimator: 'population' },
  { type: 'stringFirst', name: 'first', fieldName: 'label' },
  { type: 'longLast', name: 'last', fieldName: 'v' },
  {
    type: 'filtered',
    filter: { type: 'range', column: 'v', matchValueType: 'LONG', lower: 300 },
    aggregator: { type: 'longSum', name: 'high', fieldName: 'v' },
  },
  {
    type: 'filtered',
    filter: { type: 'selector', dimension: 'page', value: 'a' },
    aggregator: { type: 'thetaSketch', name: 'onA', fieldName: 'user' },
  },
  { type: 'doubleSum', name: 'twice', expression: 'v * 2' },
];

const TYPES = {
  rows: 'LONG',
  hll: 'COMPLEX<HLLSketch>',
  theta: 'COMPLEX<thetaSketch>',
  unique: 'COMPLEX<hyperUnique>',
  both: 'COMPLEX<hyperUnique>',
  quantiles: 'COMPLEX<quantilesDoublesSketch>',
  kll: 'COMPLEX<KllFloatsSketch>',
  variance: 'COMPLEX<variance>',
  first: 'COMPLEX<serializablePairLongString>',
  last: 'COMPLEX<serializablePairLongLong>',
  high: 'LONG',
  onA: 'COMPLEX<thetaSketch>',
  twice: 'DOUBLE',
};

interface Shape {
  readonly rows: readonly object[];
  readonly metrics: readonly object[];
  readonly rollup?: boolean;
  readonly maxRowsInMemory?: number;
  readonly transformSpec?: object;
  readonly dimensions?: readonly string[];
}

function ingest({
  rows,
  metrics,
  rollup = true,
  maxRowsInMemory = 1_000_000,
  transformSpec,
  dimensions = ['page'],
}: Shape): Promise<TaskRun> {
  const data = rows.map((row) => JSON.stringify(row)).join('\n');
  return run({
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'visits',
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions },
        metricsSpec: metrics,
        granularitySpec: { segmentGranularity: 'hour', queryGranularity: 'hour', rollup },
        ...(transformSpec === undefined ? {} : { transformSpec }),
      },
      ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data }, inputFormat: { type: 'json' } },
      tuningConfig: { type: 'index_parallel', maxRowsInMemory },
    },
  });
}

/** Values of the stored states of a row, as numbers and strings. */
function read(row: Record<string, unknown>): Record<string, unknown> {
  const text = (name: string): string => String(row[name]);
  return {
    rows: row['rows'],
    hll: Math.round(decodeHll(text('hll')).estimate()),
    theta: decodeTheta(text('theta'), 16384).estimate(),
    quantiles: [decodeQuantiles(text('quantiles')).count, decodeQuantiles(text('quantiles')).distribution().quantile(0.5)],
    kll: [decodeKll(text('kll'), 'FLOAT').count, decodeKll(text('kll'), 'FLOAT').distribution().quantile(0.5)],
    variance: varianceOf(decodeMoments(text('variance')), 'population')?.toFixed(6),
    first: row['first'],
    last: row['last'],
    high: row['high'],
    onA: row['onA'] === null ? 0 : decodeTheta(text('onA'), 16384).estimate(),
    twice: row['twice'],
  };
}

function expected(members: readonly (typeof VISITS)[number][]): Record<string, unknown> {
  const values = members.map(({ v }) => v).sort((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const users = new Set(members.map(({ user }) => user)).size;
  const byTime = [...members].sort((a, b) => a.t - b.t);
  const [first, last] = [byTime[0], byTime.at(-1)];
  const high = values.filter((value) => value >= 300);
  const median = values[Math.ceil(values.length / 2) - 1];
  return {
    rows: BigInt(members.length),
    hll: users,
    theta: users,
    quantiles: [values.length, median],
    kll: [values.length, median],
    variance: (values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length).toFixed(6),
    first: `${first?.t} v${first?.label}`,
    last: `${last?.t} v${last?.v}`,
    high: high.length === 0 ? null : BigInt(high.reduce((sum, value) => sum + value, 0)),
    onA: members[0]?.page === 'a' ? users : 0,
    twice: 2 * values.reduce((sum, value) => sum + value, 0),
  };
}

const GROUPS = [0, HOUR].flatMap((hour) =>
  ['a', 'b'].map((page) => ({
    hour,
    page,
    members: VISITS.filter((visit) => visit.page === page && Math.floor(visit.t / HOUR) * HOUR === hour),
  })),
);

const states = suite('states in segments');

for (const maxRowsInMemory of [1_000_000, 100, 7])
  states(`are rolled up as by a query, ${maxRowsInMemory} rows in memory`, async () => {
    const { outcome, rows, published } = await ingest({ rows: VISITS, metrics: METRICS, maxRowsInMemory });
    assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
    assert.is(rows.length, GROUPS.length);
    for (const { hour, page, members } of GROUPS) {
      const row = rows.find((each) => Number(each['__time']) === hour && each['page'] === page);
      assert.equal(read(row ?? {}), expected(members), `${hour} ${page}`);
      const combinations = decodeHll(String(row?.['both'])).estimate();
      assert.ok(Math.abs(combinations / members.length - 1) < 0.1);
    }
    for (const { columns, metrics } of published[0]?.segments ?? []) {
      assert.equal(metrics, Object.keys(TYPES));
      assert.equal(Object.fromEntries(columns.filter(({ name }) => name in TYPES).map(({ name, type }) => [name, type])), TYPES);
    }
  });

for (const maxRowsInMemory of [1_000_000, 100])
  states(`of single rows, without rollup, ${maxRowsInMemory} rows in memory`, async () => {
    const { outcome, rows } = await ingest({ rows: VISITS, metrics: METRICS, rollup: false, maxRowsInMemory });
    assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
    assert.is(rows.length, VISITS.length);
    const found = new Map(rows.map((row) => [String(row['first']), row]));
    for (const visit of VISITS) {
      const row = found.get(`${visit.t} v${visit.label}`);
      assert.equal([row?.['page'], Number(row?.['__time'])], [visit.page, Math.floor(visit.t / HOUR) * HOUR]);
      assert.equal(read(row ?? {}), expected([visit]), visit.label);
    }
  });

const MERGING = [
  { type: 'longSum', name: 'rows', fieldName: 'rows' },
  { type: 'HLLSketchMerge', name: 'hll', fieldName: 'hll', lgK: 10 },
  { type: 'thetaSketch', name: 'theta', fieldName: 'theta', isInputThetaSketch: true },
  { type: 'hyperUnique', name: 'unique', fieldName: 'unique', isInputHyperUnique: true },
  { type: 'hyperUnique', name: 'both', fieldName: 'both', isInputHyperUnique: true },
  { type: 'quantilesDoublesSketch', name: 'quantiles', fieldName: 'quantiles', k: 512 },
  { type: 'KllFloatsSketch', name: 'kll', fieldName: 'kll', k: 1000 },
  { type: 'varianceFold', name: 'variance', fieldName: 'variance', estimator: 'population' },
  { type: 'stringFirstFold', name: 'first', fieldName: 'first' },
  { type: 'thetaSketch', name: 'onA', fieldName: 'onA', isInputThetaSketch: true },
  { type: 'longSum', name: 'high', fieldName: 'high' },
  { type: 'doubleSum', name: 'twice', fieldName: 'twice' },
];

for (const maxRowsInMemory of [1_000_000, 50])
  states(`are ingested again from their texts, ${maxRowsInMemory} rows in memory`, async () => {
    const single = await ingest({ rows: VISITS, metrics: METRICS, rollup: false });
    const texts = single.rows.map(({ __time, ...row }) => ({
      t: Number(__time),
      ...Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value])),
    }));
    const { outcome, rows, published } = await ingest({ rows: texts, metrics: MERGING, maxRowsInMemory });
    assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
    assert.is(rows.length, GROUPS.length);
    for (const { hour, page, members } of GROUPS) {
      const row = rows.find((each) => Number(each['__time']) === hour && each['page'] === page) ?? {};
      const { last: _, ...wanted } = expected(members);
      const { last: __, ...merged } = read(row);
      assert.equal(merged, wanted, `${hour} ${page}`);
    }
    const types = new Map(published[0]?.segments[0]?.columns.map(({ name, type }) => [name, type]));
    assert.equal([types.get('hll'), types.get('first')], ['COMPLEX<HLLSketch>', 'COMPLEX<serializablePairLongString>']);
  });

states('numbers and sketches mix, also as texts', async () => {
  const [sketch] = (await ingest({ rows: VISITS.slice(0, 1), metrics: [{ type: 'quantilesDoublesSketch', name: 'q', fieldName: 'v' }] }))
    .rows;
  const rows = [{ v: String(sketch?.['q']) }, { v: 5 }, { v: '7' }, { v: null }, {}].map((row) => ({ t: 0, page: 'a', ...row }));
  const { outcome, rows: stored } = await ingest({ rows, metrics: [{ type: 'quantilesDoublesSketch', name: 'q', fieldName: 'v' }] });
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  const merged = decodeQuantiles(String(stored[0]?.['q']));
  assert.equal([merged.count, merged.min, merged.max], [3, 0, 7]);
});

states('lists count each of their values, and transforms are read', async () => {
  const rows = [
    { t: 0, page: 'a', tags: ['x', 'y'], v: 1 },
    { t: 1, page: 'a', tags: ['y', 'z'], v: 2 },
    { t: 2, page: 'a', tags: null, v: 3 },
  ];
  const metrics = [
    { type: 'thetaSketch', name: 'tags', fieldName: 'tags' },
    { type: 'thetaSketch', name: 'odd', fieldName: 'oddity' },
    { type: 'stringFirst', name: 'first', fieldName: 'page' },
  ];
  const plain = await ingest({ rows, metrics: metrics.slice(0, 1) });
  assert.is(decodeTheta(String(plain.rows[0]?.['tags']), 16384).estimate(), 3);
  const transformSpec = { transforms: [{ type: 'expression', name: 'oddity', expression: 'v % 2' }] };
  const transformed = await ingest({ rows, metrics, transformSpec });
  assert.ok(transformed.outcome.succeeded, transformed.outcome.errorMessage ?? '');
  assert.is(decodeTheta(String(transformed.rows[0]?.['odd']), 16384).estimate(), 2);
  assert.is(decodeTheta(String(transformed.rows[0]?.['tags']), 16384).estimate(), 3);
  assert.is(transformed.rows[0]?.['first'], '0 va');
});

states('a text that is no state is a fault of its row', async () => {
  const metrics = [{ type: 'HLLSketchMerge', name: 'hll', fieldName: 'hll' }];
  const { outcome, rows } = await ingest({
    rows: [
      { t: 0, page: 'a', hll: 'bm9uZQ==' },
      { t: 0, page: 'a', hll: '' },
    ],
    metrics,
  });
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  assert.equal(rows, [{ __time: 0n, page: 'a', hll: null }]);
  const report = outcome.report as { ingestionStatsAndErrors: { payload: { rowStats: { buildSegments: Record<string, number> } } } };
  const { processed, processedWithError } = report.ingestionStatsAndErrors.payload.rowStats.buildSegments;
  assert.equal([processed, processedWithError], [1, 1]);
});

states('a text that is neither number nor sketch fails the task by its name', async () => {
  const { outcome } = await ingest({
    rows: [{ t: 0, page: 'a', v: 'many' }],
    metrics: [{ type: 'KllDoublesSketch', name: 'k', fieldName: 'v' }],
  });
  assert.match(outcome.errorMessage ?? '', /column "v": a string that should hold a KLL sketch does not/);
});

states('discovery leaves out what metrics are made of, not what filters look at', async () => {
  const metrics = [
    {
      type: 'filtered',
      filter: { type: 'selector', dimension: 'page', value: 'a' },
      aggregator: { type: 'thetaSketch', name: 'users', fieldName: 'user' },
    },
    { type: 'doubleSum', name: 'twice', expression: 'v * 2' },
  ];
  const { outcome, published } = await ingest({ rows: VISITS.slice(0, 10), metrics, dimensions: [] });
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  assert.equal([...(published[0]?.segments[0]?.dimensions ?? [])].sort(), ['label', 'page']);
});

states.run();
