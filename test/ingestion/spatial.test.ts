import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run, type TaskRun } from './run-task.js';

const ROWS = [
  { t: 0, x: 1.5, y: -2, place: null },
  { t: 1, x: '10', y: '20.25', place: '' },
  { t: 2, x: 'east', y: 1 },
  { t: 3, x: 5 },
  { t: 4, x: 1, y: 1, place: '7,8.5' },
  { t: 5, place: [3.5, 4.5] },
  { t: 6, place: 'nowhere' },
];

function ingest(dimensionsSpec: object, transformSpec?: object): Promise<TaskRun> {
  return run({
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'places',
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec,
        granularitySpec: { segmentGranularity: 'day', rollup: false },
        ...(transformSpec === undefined ? {} : { transformSpec }),
      },
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'inline', data: ROWS.map((row) => JSON.stringify(row)).join('\n') },
        inputFormat: { type: 'json' },
      },
      tuningConfig: { type: 'index_parallel' },
    },
  });
}

async function places(dimensionsSpec: object, transformSpec?: object): Promise<unknown[]> {
  const { outcome, rows } = await ingest(dimensionsSpec, transformSpec);
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  return [...rows].sort((a, b) => Number(a['__time']) - Number(b['__time'])).map((row) => row['place']);
}

const spatial = suite('spatial dimensions');

const JOINED = ['1.5,-2', '10,20.25', null, null, '7,8.5', '3.5,4.5', 'nowhere'];
/** The text that is no coordinates becomes null. */
const EXPECTED = JOINED.map((text) => (text === 'nowhere' ? null : text));

spatial('are made of their parts, unless they are there themselves', async () => {
  const dimensions = [{ type: 'double', name: 'x' }];
  assert.equal(await places({ dimensions, spatialDimensions: [{ dimName: 'place', dims: ['x', 'y'] }] }), EXPECTED);
});

spatial('are a type of dimension too', async () => {
  assert.equal(await places({ dimensions: [{ type: 'spatial', name: 'place', dims: ['x', 'y'] }] }), EXPECTED);
});

spatial('without parts are what is there', async () => {
  assert.equal(await places({ dimensions: ['x'], spatialDimensions: [{ dimName: 'place' }] }), [
    null,
    null,
    null,
    null,
    '7,8.5',
    '3.5,4.5',
    null,
  ]);
});

spatial('see what transforms make of their parts', async () => {
  const transformSpec = { transforms: [{ type: 'expression', name: 'y', expression: "cast(y, 'DOUBLE') * 2" }] };
  const found = await places({ dimensions: ['x'], spatialDimensions: [{ dimName: 'place', dims: ['x', 'y'] }] }, transformSpec);
  assert.equal(found.slice(0, 2), ['1.5,-4.0', '10,40.5']);
});

spatial('leave their parts out of what is discovered', async () => {
  const { rows } = await ingest({ spatialDimensions: [{ dimName: 'place', dims: ['x', 'y'] }] });
  assert.equal(Object.keys(rows[0] ?? {}).sort(), ['__time', 'place']);
});

spatial.run();
