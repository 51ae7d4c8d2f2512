import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame } from '../../../../src/model/frame.js';
import { hash64OfLong } from '../../../../src/sketch/bloom.js';
import { answersOver } from '../frame-queries.js';
import { filterOf, frameOf, visits } from './frames.js';

const folds = suite('expression aggregator');

const numbers = (from: number, to: number): Frame =>
  frameOf(
    Array.from({ length: to - from }, (_, index) => ({
      long: BigInt(from + index),
      double: (from + index) / 4,
      text: `t${(from + index) % 3}`,
      hole: (from + index) % 2 === 0 ? null : BigInt(from + index),
    })),
  );
/** 1 to 10 in one piece, and in two, [1, 6) and [6, 11). */
const WHOLE = [numbers(1, 11)];
const PARTS = [numbers(1, 6), numbers(6, 11)];
const fold = (more: object): object => ({ aggregations: [{ type: 'expression', name: 'x', fields: [], ...more }] });

for (const { name, spec, whole, parts = whole } of [
  { name: 'a count', spec: { initialValue: '0', fold: '__acc + 1', combine: '__acc + x' }, whole: 10n },
  { name: 'a sum, which combines as it folds', spec: { fields: ['long'], initialValue: '0', fold: '__acc + long' }, whole: 55n },
  { name: 'a sum of doubles from a LONG on', spec: { fields: ['double'], initialValue: '0', fold: '__acc + double' }, whole: 13.75 },
  {
    name: 'a product of a column, by another accumulator',
    spec: { fields: ['long'], accumulatorIdentifier: 'p', initialValue: '1', fold: 'p * long' },
    whole: 3_628_800n,
  },
  {
    name: 'the sum of a product of columns, finished',
    spec: { fields: ['long', 'double'], initialValue: '0.0', fold: '__acc + long * double', combine: '__acc + x', finalize: 'o * 4' },
    whole: 385,
  },
  {
    name: 'texts in the order of rows, apart where segments meet',
    spec: {
      fields: ['text'],
      initialValue: "''",
      initialCombineValue: "'>'",
      fold: 'concat(__acc, text)',
      combine: "concat(__acc, '|', x)",
    },
    whole: 't1t2t0t1t2t0t1t2t0t1',
    parts: '>|t1t2t0t1t2|t0t1t2t0t1',
  },
  { name: 'nulls, which take part', spec: { fields: ['hole'], initialValue: '0', fold: '__acc + hole' }, whole: null },
  {
    name: 'nulls, which are left out',
    spec: { fields: ['hole'], initialValue: '0', fold: '__acc + hole', shouldAggregateNullInputs: false },
    whole: 25n,
  },
  {
    name: 'a column nobody has',
    spec: { fields: ['nowhere'], initialValue: '7', fold: '__acc + nowhere', shouldAggregateNullInputs: false },
    whole: null,
  },
  {
    name: 'no row, where that is not null',
    spec: {
      fields: ['nowhere'],
      initialValue: '7',
      fold: '__acc + nowhere',
      shouldAggregateNullInputs: false,
      isNullUnlessAggregated: false,
    },
    whole: 7n,
  },
])
  folds(name, async () => {
    const [one] = await answersOver(WHOLE, fold(spec));
    assert.is(one?.x, whole);
    const [several] = await answersOver(PARTS, fold(spec));
    assert.is(several?.x, parts);
  });

/** Rows of a, b; none; b; and a. */
const LISTS: Frame = {
  rowCount: 4,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.of(0n, 1n, 2n, 3n), nulls: null },
    { kind: 'multi', name: 'many', offsets: Uint32Array.of(0, 2, 2, 3, 4), ids: Uint32Array.of(0, 1, 1, 0), dictionary: ['a', 'b'] },
    { kind: 'long', name: 'n', values: BigInt64Array.of(3n, 1n, 2n, 1n), nulls: null },
  ],
};
const DISTINCT = { combine: 'array_set_add_all(__acc, x)' };
for (const { name, spec, expected } of [
  {
    name: 'distinct numbers',
    spec: { ...DISTINCT, fields: ['n'], initialValue: '<LONG>[]', fold: 'array_set_add(__acc, n)' },
    expected: [1n, 2n, 3n],
  },
  {
    name: 'distinct texts of all',
    spec: { ...DISTINCT, fields: ['n'], initialValue: '[]', fold: 'array_set_add(__acc, n)' },
    expected: ['1', '2', '3'],
  },
  {
    name: 'a list, finished as text',
    spec: {
      fields: ['n'],
      initialValue: '<LONG>[]',
      fold: 'array_append(__acc, n)',
      combine: 'array_concat(__acc, x)',
      finalize: "array_to_string(o, '|')",
    },
    expected: '3|1|2|1|3|1|2|1',
  },
  {
    name: 'each of several values of a row in turn',
    spec: {
      fields: ['many'],
      initialValue: "''",
      fold: 'concat(__acc, upper(many))',
      combine: 'concat(__acc, x)',
      shouldAggregateNullInputs: false,
    },
    expected: 'ABBAABBA',
  },
  {
    name: 'the values of a row as an array',
    spec: {
      fields: ['many'],
      initialValue: '0',
      fold: '__acc + array_length(many)',
      combine: '__acc + x',
      shouldAggregateNullInputs: false,
    },
    expected: 8n,
  },
])
  folds(`of lists: ${name}`, async () => {
    const [row] = await answersOver([LISTS, LISTS], fold(spec));
    assert.equal(row?.x, expected);
  });

folds('a sketch of distinct values, as the hyperUnique aggregator has it', async () => {
  const [row] = await answersOver([visits, visits], {
    aggregations: [
      {
        type: 'expression',
        name: 'x',
        fields: ['user'],
        initialValue: 'hyper_unique()',
        fold: 'hyper_unique_add(user, __acc)',
        combine: 'hyper_unique_add(x, __acc)',
        finalize: 'hyper_unique_estimate(o)',
      },
      { type: 'hyperUnique', name: 'same', fieldName: 'user' },
    ],
  });
  assert.is(row?.x, row?.same);
  assert.ok(Math.abs(Number(row?.x) / 250 - 1) < 0.1, String(row?.x));
});

folds('of lists that grow too long is refused', async () => {
  const spec = { fields: ['n'], initialValue: '[]', fold: 'array_append(__acc, n)', combine: 'array_concat(__acc, x)', maxSizeBytes: 10 };
  try {
    await answersOver([LISTS], fold(spec));
  } catch (error) {
    return assert.match(String(error), /maxSizeBytes/);
  }
  assert.unreachable('was accepted');
});

folds('of no rows is null, or the initial value finished', async () => {
  const spec = { initialValue: '0', fold: '__acc + 1', combine: '__acc + x', finalize: 'o + 100' };
  const none = { filter: { type: 'false' } };
  const [row] = await answersOver(WHOLE, { ...fold(spec), ...none });
  assert.is(row?.x, null);
  const [initial] = await answersOver(WHOLE, { ...fold({ ...spec, isNullUnlessAggregated: false }), ...none });
  assert.is(initial?.x, 100n);
});

folds('an hour without rows has the initial value, and an empty Bloom filter', async () => {
  const rows = await answersOver([frameOf([{ n: 1n }])], {
    granularity: 'hour',
    intervals: '1970-01-01T00/PT2H',
    aggregations: [
      { type: 'expression', name: 'x', fields: ['n'], initialValue: '7', fold: '__acc + n', isNullUnlessAggregated: false },
      { type: 'expression', name: 'y', fields: ['n'], initialValue: '7', fold: '__acc + n' },
      { type: 'bloom', name: 'b', field: 'n', maxNumEntries: 10 },
      { type: 'count', name: 'rows' },
    ],
  });
  assert.equal(
    rows.map(({ x, y, b, rows: count }) => [x, y, b, count]),
    [
      [8n, 8n, filterOf(hash64OfLong(1n)), 1n],
      [7n, null, filterOf(), 0n],
    ],
  );
});

folds('that is not finalized is its own state', async () => {
  const [row] = await answersOver(WHOLE, {
    ...fold({ fields: ['long'], initialValue: '0', fold: '__acc + long' }),
    context: { finalize: false },
  });
  assert.is(row?.x, 55n);
});

folds('by groups, ordered by its value', async () => {
  const rows = await answersOver(PARTS, {
    queryType: 'groupBy',
    dimensions: ['text'],
    ...fold({ fields: ['long'], initialValue: '0', fold: '__acc + long' }),
    limitSpec: { type: 'default', columns: [{ dimension: 'x', direction: 'descending' }] },
  });
  // 1 + 4 + 7 + 10, 3 + 6 + 9 and 2 + 5 + 8.
  assert.equal(
    rows.map(({ text, x }) => [text, x]),
    [
      ['t1', 22n],
      ['t0', 18n],
      ['t2', 15n],
    ],
  );
});

// Sums of which the one nearest to 17 comes first: 18, 15, 22.
const NEAREST = {
  fields: ['long'],
  initialValue: '0',
  fold: '__acc + long',
  finalize: 'o * 10',
  compare: 'if(abs(o1 - 17) < abs(o2 - 17), -1, if(abs(o1 - 17) == abs(o2 - 17), 0, 1))',
};

folds('ordered as its comparison says, in a groupBy and a topN', async () => {
  const groups = await answersOver(PARTS, {
    queryType: 'groupBy',
    dimensions: ['text'],
    ...fold(NEAREST),
    limitSpec: { type: 'default', limit: 2, columns: [{ dimension: 'x', direction: 'ascending' }] },
  });
  assert.equal(
    groups.map(({ text, x }) => [text, x]),
    [
      ['t0', 180n],
      ['t2', 150n],
    ],
  );
  const best = await answersOver(PARTS, { queryType: 'topN', dimension: 'text', threshold: 1, metric: 'x', ...fold(NEAREST) });
  assert.equal(
    best.map(({ text, x }) => [text, x]),
    [['t1', 220n]],
  );
});

for (const { name, spec, message } of [
  { name: 'a fold of a column that is no field', spec: { initialValue: '0', fold: '__acc + long', combine: 'x' }, message: /fold.*long/ },
  { name: 'an initial value that is none', spec: { initialValue: 'long', fold: '__acc', combine: 'x' }, message: /initialValue/ },
  { name: 'two fields without combine', spec: { fields: ['long', 'double'], initialValue: '0', fold: '__acc' }, message: /combine/ },
  { name: 'a size that is none', spec: { initialValue: '0', fold: '__acc', combine: 'x', maxSizeBytes: 'much' }, message: /maxSizeBytes/ },
  {
    name: 'what grows too long',
    spec: { fields: ['text'], initialValue: "''", fold: 'concat(__acc, text)', maxSizeBytes: 10 },
    message: /beyond 10 bytes/,
  },
])
  folds(`refuses ${name}`, async () => {
    try {
      await answersOver(WHOLE, fold(spec));
    } catch (error) {
      return assert.match(String(error), message);
    }
    assert.unreachable('was accepted');
  });

folds.run();
