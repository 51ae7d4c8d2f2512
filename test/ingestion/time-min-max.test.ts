import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run, type TaskRun } from './run-task.js';

/** The rows of Druid's example of timeMin and timeMax. */
const ROWS = [
  ['2015-07-28T01:00:00.000Z', 'A'],
  ['2015-07-28T02:00:00.000Z', 'A'],
  ['2015-07-28T03:00:00.000Z', 'A'],
  ['2015-07-28T04:00:00.000Z', 'B'],
  ['2015-07-28T05:00:00.000Z', 'A'],
  ['2015-07-28T06:00:00.000Z', 'B'],
  ['2015-07-29T01:00:00.000Z', 'C'],
  ['2015-07-29T02:00:00.000Z', 'C'],
  ['2015-07-29T03:00:00.000Z', 'A'],
  ['2015-07-29T04:00:00.000Z', 'A'],
].map(([t, product]) => ({ t, product }));

/** Its result: day, product, earliest, latest; states are milliseconds. */
const EXTREMES = [
  ['2015-07-28', 'A', '2015-07-28T01:00:00.000Z', '2015-07-28T05:00:00.000Z'],
  ['2015-07-28', 'B', '2015-07-28T04:00:00.000Z', '2015-07-28T06:00:00.000Z'],
  ['2015-07-29', 'A', '2015-07-29T03:00:00.000Z', '2015-07-29T04:00:00.000Z'],
  ['2015-07-29', 'C', '2015-07-29T01:00:00.000Z', '2015-07-29T02:00:00.000Z'],
];

function ingest(rows: readonly object[], fieldNames: readonly [string, string]): Promise<TaskRun> {
  return run({
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'products',
        timestampSpec: { column: 't', format: 'auto' },
        dimensionsSpec: { dimensions: ['product'] },
        metricsSpec: [
          { type: 'timeMin', name: 'tmin', fieldName: fieldNames[0] },
          { type: 'timeMax', name: 'tmax', fieldName: fieldNames[1] },
        ],
        granularitySpec: { segmentGranularity: 'month', queryGranularity: 'day', rollup: true },
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

function extremesOf({ outcome, rows }: TaskRun): unknown {
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  const instant = (value: unknown): string => new Date(Number(value)).toISOString();
  return rows
    .map((row) => [instant(row['__time']).slice(0, 10), row['product'], instant(row['tmin']), instant(row['tmax'])])
    .sort((a, b) => (String(a) < String(b) ? -1 : 1));
}

const extremes = suite('timeMin and timeMax');

extremes('rollup keeps times that are finer than its granularity, from strings', async () => {
  assert.equal(extremesOf(await ingest(ROWS, ['t', 't'])), EXTREMES);
});

extremes('numbers are instants, missing times do not count', async () => {
  const rows = ROWS.flatMap(({ t, product }) => [
    { t, product, at: Date.parse(String(t)) },
    { t, product, at: null },
  ]);
  assert.equal(extremesOf(await ingest(rows, ['at', 't'])), EXTREMES);
});

extremes.run();
