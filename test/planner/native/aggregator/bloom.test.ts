import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hash64OfDouble, hash64OfLong, hash64OfText, NULL_HASH } from '../../../../src/sketch/bloom.js';
import { answersOver } from '../frame-queries.js';
import { filterOf, frameOf, things } from './frames.js';

const blooms = suite('bloom');

const bloom = (field: unknown): object => ({ aggregations: [{ type: 'bloom', name: 'x', field, maxNumEntries: 10 }] });

for (const { field, expected } of [
  { field: 'name', expected: filterOf(hash64OfText('a'), NULL_HASH, hash64OfText('b')) },
  { field: 'long', expected: filterOf(hash64OfLong(1n), NULL_HASH, hash64OfLong(7n)) },
  { field: 'double', expected: filterOf(hash64OfDouble(0.5), NULL_HASH, hash64OfDouble(-2)) },
  {
    field: { type: 'extraction', dimension: 'name', extractionFn: { type: 'upper' } },
    expected: filterOf(hash64OfText('A'), NULL_HASH, hash64OfText('B')),
  },
  { field: 'nowhere', expected: filterOf(NULL_HASH) },
])
  blooms(`of ${JSON.stringify(field)} has all its values, null among them`, async () => {
    const [row] = await answersOver([things], bloom(field));
    assert.is(row?.x, expected);
  });

blooms('of no rows is empty', async () => {
  const [row] = await answersOver([things], { ...bloom('name'), filter: { type: 'false' } });
  assert.is(row?.x, filterOf());
});

blooms('of stored filters has what either has', async () => {
  const stored = frameOf([{ f: filterOf(NULL_HASH) }, { f: filterOf(hash64OfLong(3n)) }], { f: 'COMPLEX<bloom>' });
  const [row] = await answersOver([stored], bloom('f'));
  assert.is(row?.x, filterOf(NULL_HASH, hash64OfLong(3n)));
});

blooms('order by how much they hold', async () => {
  const rows = frameOf(
    [
      ['x', 1n],
      ['y', 1n],
      ['y', 2n],
      ['z', 1n],
      ['z', 2n],
      ['z', 3n],
    ].map(([group = '', value = 0n]) => ({ group, value })),
  );
  const more = {
    type: 'fixedBucketsHistogram',
    name: 'h',
    fieldName: 'value',
    lowerLimit: 0,
    upperLimit: 9,
    outlierHandlingMode: 'ignore',
  };
  const bloomed = { type: 'bloom', name: 'x', field: 'value', maxNumEntries: 100 };
  for (const metric of ['x', 'h']) {
    const best = await answersOver([rows], { queryType: 'topN', dimension: 'group', threshold: 2, metric, aggregations: [bloomed, more] });
    assert.equal(
      best.map(({ group }) => group),
      ['z', 'y'],
    );
  }
});

blooms.run();
