import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame } from '../../../../src/model/frame.js';
import { answersOver } from '../frame-queries.js';
import { frameOf, things } from './frames.js';

const grouping = suite('grouping');

const GROUPED = {
  queryType: 'groupBy',
  dimensions: ['name', 'long'],
  aggregations: [{ type: 'grouping', name: 'g', groupings: ['name', 'long'] }],
};

grouping('numbers the parts of subtotals by what they leave out', async () => {
  const rows = await answersOver([things], { ...GROUPED, subtotalsSpec: [['name', 'long'], ['name'], ['long'], []] });
  assert.equal(
    rows.map((row) => row.g),
    [0n, 0n, 0n, 1n, 1n, 1n, 2n, 2n, 2n, 3n],
  );
});

grouping('without subtotals is 0', async () => {
  const rows = await answersOver([things], GROUPED);
  assert.equal(
    rows.map((row) => row.g),
    [0n, 0n, 0n],
  );
});

for (const { name, query, message } of [
  { name: 'no columns', query: { ...GROUPED, aggregations: [{ type: 'grouping', name: 'g', groupings: [] }] }, message: /groupings/ },
  { name: 'a timeseries', query: { aggregations: [{ type: 'grouping', name: 'g', groupings: ['name'] }] }, message: /groupBy/ },
  {
    name: 'a filter',
    query: { ...GROUPED, aggregations: [{ type: 'filtered', filter: { type: 'true' }, aggregator: GROUPED.aggregations[0] }] },
    message: /over rows/,
  },
])
  grouping(`refuses ${name}`, async () => {
    try {
      await answersOver([things], query);
    } catch (error) {
      return assert.match(String(error), message);
    }
    assert.unreachable('was accepted');
  });

grouping.run();

const single = suite('a single value');

const singleOf = (fieldName: string, columnType: string): object => ({
  aggregations: [{ type: 'singleValue', name: 'v', fieldName, columnType }],
});
for (const [column, type, values] of [
  ['name', 'STRING', ['a', null, 'b']],
  ['long', 'LONG', [1n, null, 7n]],
  ['double', 'DOUBLE', [0.5, null, -2]],
  ['nowhere', 'STRING', [null, null, null]],
] as const)
  single(`${column} as ${type}: of the one row of each group`, async () => {
    const rows = await answersOver([things], { intervals: '1970-01-01/PT3S', granularity: 'second', ...singleOf(column, type) });
    assert.equal(
      rows.map(({ v }) => v),
      values,
    );
  });

single('is merged with segments that have no row in the group', async () => {
  const elsewhere = {
    ...things,
    columns: things.columns.map((column) =>
      column.kind === 'long' && column.name === '__time' ? { ...column, values: column.values.map((at) => at + 3000n) } : column,
    ),
  };
  const rows = await answersOver([things, elsewhere], { intervals: '1970-01-01/PT6S', granularity: 'second', ...singleOf('long', 'LONG') });
  assert.equal(
    rows.map(({ v }) => v),
    [1n, null, 7n, 1n, null, 7n],
  );
});

single('unfinalized is the value as well', async () => {
  const query = { ...singleOf('long', 'LONG'), intervals: '1970-01-01/PT1S', context: { finalize: false } };
  assert.equal(await answersOver([things], query), [{ v: 1n }]);
});

single('of no rows is null', async () => {
  assert.equal(await answersOver([things], { ...singleOf('name', 'STRING'), filter: { type: 'false' } }), [{ v: null }]);
});

for (const [name, frames, query, message] of [
  ['two rows of a segment', [things], singleOf('long', 'LONG'), /more than one row/],
  [
    'rows of two segments',
    [things, things],
    { intervals: '1970-01-01/PT3S', granularity: 'second', ...singleOf('long', 'LONG') },
    /more than one row/,
  ],
  ['a type that is none', [things], singleOf('long', 'INT'), /columnType: expected the type of a column/],
  ['a sketch', [things], singleOf('long', 'COMPLEX<thetaSketch>'), /columnType: expected the type of a column/],
] as const)
  single(`refuses ${name}`, async () => {
    try {
      await answersOver(frames, query);
    } catch (error) {
      return assert.match(String(error), message);
    }
    assert.unreachable('was accepted');
  });

single.run();

const several = suite('numbers in a column of several values');

/** '1', '2' | '3' | none | 'a', null, '2'. */
const listed: Frame = {
  rowCount: 4,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.of(0n, 1000n, 2000n, 3000n), nulls: null },
    {
      kind: 'multi',
      name: 'tags',
      offsets: Uint32Array.of(0, 2, 3, 3, 6),
      ids: Uint32Array.of(2, 3, 4, 1, 0, 3),
      dictionary: [null, 'a', '1', '2', '3'],
    },
  ],
};
// Druid 33 gives these; each value counts, a string that is not a number as 0 in sums and not at all in extremes.
for (const [type, fieldName, expected] of [
  ['longSum', 'tags', 8n],
  ['doubleSum', 'tags', 8],
  ['floatSum', 'tags', 8],
  ['longMin', 'tags', 1n],
  ['longMax', 'tags', 3n],
  ['doubleMax', 'tags', 3],
  ['longSum', 'doubled', 88n],
  ['longMin', 'doubled', 11n],
  ['longSum', 'some', 8n],
] as const)
  several(`${type} of ${fieldName}`, async () => {
    const virtualColumns = [
      { type: 'expression', name: 'doubled', expression: 'concat(tags, 1 + __time / 1000)', outputType: 'STRING' },
      { type: 'mv-filtered', name: 'some', delegate: 'tags', values: ['1', '2', '3'] },
    ];
    const aggregations = [{ type, name: 'n', fieldName }];
    assert.equal(await answersOver([listed], { virtualColumns, aggregations }), [{ n: expected }]);
    const alone = await answersOver([listed], { virtualColumns, aggregations, intervals: '1970-01-01T00:00:02/PT1S' });
    assert.equal(alone, [{ n: null }]);
  });

several.run();

const scripts = suite('JavaScript');

const script = { type: 'javascript', name: 'x', function: 'f', dimension: 'name' };
for (const [place, query] of Object.entries({
  filter: { filter: script },
  aggregator: { aggregations: [script] },
  'post-aggregator': { postAggregations: [script] },
  'extraction function': { filter: { type: 'selector', dimension: 'name', value: 'x', extractionFn: script } },
}))
  scripts(`as ${place} is disabled, and the refusal says so`, async () => {
    try {
      await answersOver([things], query);
    } catch (error) {
      return assert.match(String(error), new RegExp(`${place} "javascript" is not supported: JavaScript is disabled`));
    }
    assert.unreachable('was accepted');
  });

scripts.run();

const times = suite('timeMin and timeMax');
const extremes = (fieldName: string): object[] => ['timeMin', 'timeMax'].map((type) => ({ type, name: type, fieldName }));

const [EARLY, LATE] = ['2015-07-28T01:00:00.000Z', '2015-07-29T04:00:00.000Z'];
for (const [name, frame] of Object.entries({
  'ISO 8601 strings': frameOf([{ at: LATE }, { at: null }, { at: EARLY }]),
  instants: frameOf([{ at: BigInt(Date.parse(EARLY)) }, { at: null }, { at: BigInt(Date.parse(LATE)) }]),
  'stored extremes': frameOf([{ at: String(Date.parse(EARLY)) }, { at: '' }, { at: String(Date.parse(LATE)) }], { at: 'COMPLEX<time>' }),
}))
  times(`of ${name}`, async () => {
    const [row] = await answersOver([frame], { aggregations: extremes('at') });
    assert.equal([row?.timeMin, row?.timeMax], [EARLY, LATE]);
  });

times('of no times are null', async () => {
  const [row] = await answersOver([frameOf([{ at: null }])], { aggregations: extremes('at') });
  assert.equal([row?.timeMin, row?.timeMax], [null, null]);
});

times.run();
