import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApproximateHistogram } from '../../src/sketch/approximate-histogram.js';
import { fromBase64 } from '../../src/sketch/base64.js';
import { FixedHistogram } from '../../src/sketch/fixed-histogram.js';
import { Tuple } from '../../src/sketch/tuple.js';
import { run, type TaskRun } from './run-task.js';

/** 100 rows of two pages; users 0 to 9 on each, values that are the number of the row, every tenth of them missing. */
const VISITS = Array.from({ length: 100 }, (_, row) => ({
  t: row,
  page: row % 2 === 0 ? 'a' : 'b',
  user: `user ${Math.floor(row / 2) % 10}`,
  v: row % 20 >= 18 ? null : row,
}));

const FIXED = { lowerLimit: 0, upperLimit: 100, numBuckets: 4, outlierHandlingMode: 'overflow' };
const METRICS = [
  { type: 'arrayOfDoublesSketch', name: 'keys', fieldName: 'user', metricColumns: ['v'] },
  { type: 'approxHistogram', name: 'approximate', fieldName: 'v', resolution: 100 },
  { type: 'approxHistogramFold', name: 'fold', fieldName: 'v', resolution: 100 },
  { type: 'fixedBucketsHistogram', name: 'fixed', fieldName: 'v', ...FIXED },
];
/** The same over what was stored. */
const MERGING = [
  { type: 'arrayOfDoublesSketch', name: 'keys', fieldName: 'keys' },
  { type: 'approxHistogramFold', name: 'approximate', fieldName: 'approximate', resolution: 100 },
  { type: 'approxHistogramFold', name: 'fold', fieldName: 'fold', resolution: 100 },
  { type: 'fixedBucketsHistogram', name: 'fixed', fieldName: 'fixed', ...FIXED },
];

function ingest(rows: readonly object[], metricsSpec: readonly object[], rollup = true): Promise<TaskRun> {
  return run({
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'visits',
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions: ['page'] },
        metricsSpec,
        granularitySpec: { segmentGranularity: 'day', queryGranularity: 'day', rollup },
      },
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'inline', data: rows.map((row) => JSON.stringify(row)).join('\n') },
        inputFormat: { type: 'json' },
      },
      tuningConfig: { type: 'index_parallel' },
    },
  });
}

function read(row: Record<string, unknown> | undefined): Record<string, unknown> {
  const bytes = (name: string): Uint8Array => fromBase64(String(row?.[name]));
  const keys = Tuple.decode(bytes('keys'), 4096);
  const fixed = FixedHistogram.decode(bytes('fixed'));
  const of = (histogram: ApproximateHistogram): unknown[] => [histogram.count, histogram.min, histogram.max, histogram.quantile(0.5)];
  return {
    keys: [keys.estimate(), keys.moments()[0]?.sum],
    approximate: of(ApproximateHistogram.decode(bytes('approximate'))),
    fold: of(ApproximateHistogram.decode(bytes('fold'))),
    fixed: [...fixed.counts, fixed.nulls, fixed.min, fixed.max],
  };
}

function expected(page: string): Record<string, unknown> {
  const members = VISITS.filter((visit) => visit.page === page);
  const values = members.flatMap(({ v }) => (v === null ? [] : [v]));
  const sum = values.reduce((total, value) => total + value, 0);
  const [min = 0, max = 0, median] = [values[0], values.at(-1), values[Math.ceil(values.length / 2)]];
  const quarters = [0, 25, 50, 75].map((from) => values.filter((value) => value >= from && value < from + 25).length);
  const histogram = [values.length, min, max, median];
  return {
    // The tenth user has no values.
    keys: [9, sum],
    approximate: histogram.slice(0, 3),
    fold: histogram.slice(0, 3),
    fixed: [...quarters, members.length - values.length, min, max],
  };
}

const states = suite('further states in segments');

function check(rows: readonly Record<string, unknown>[]): void {
  for (const page of ['a', 'b']) {
    const found = read(rows.find((row) => row['page'] === page));
    const wanted = expected(page);
    for (const name of ['approximate', 'fold']) found[name] = (found[name] as unknown[]).slice(0, 3);
    assert.equal(found, wanted, page);
  }
}

states('are rolled up as by a query', async () => {
  const { outcome, rows, published } = await ingest(VISITS, METRICS);
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  assert.is(rows.length, 2);
  check(rows);
  const types = new Map(published[0]?.segments[0]?.columns.map(({ name, type }) => [name, type]));
  assert.equal(
    METRICS.map(({ name }) => types.get(name)),
    ['COMPLEX<arrayOfDoublesSketch>', 'COMPLEX<approximateHistogram>', 'COMPLEX<approximateHistogram>', 'COMPLEX<fixedBucketsHistogram>'],
  );
});

states('are ingested again from their texts', async () => {
  const single = await ingest(VISITS, METRICS, false);
  assert.is(single.rows.length, VISITS.length);
  const texts = single.rows.map(({ __time, ...row }) => ({ t: Number(__time), ...row }));
  const { outcome, rows } = await ingest(texts, MERGING);
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  check(rows);
});

for (const type of ['expression', 'bloom', 'grouping'])
  states(`an aggregator of type ${type} is for queries`, async () => {
    try {
      const { outcome } = await ingest(VISITS, [{ type, name: 'x' }]);
      assert.match(String(outcome.errorMessage), /for queries only/);
    } catch (error) {
      assert.match(String(error), /for queries only/);
    }
  });

states.run();
