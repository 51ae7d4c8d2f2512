import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame } from '../../../../src/model/frame.js';
import { toBase64 } from '../../../../src/sketch/base64.js';
import { Bloom, hash64OfDouble, hash64OfFloat, hash64OfLong, hash64OfText, NULL_HASH } from '../../../../src/sketch/bloom.js';
import { answersOver } from '../frame-queries.js';

const texts = ['a', null, 'b', 'A'];
const nulls = Uint32Array.of(0b10, 0);
const frame: Frame = {
  rowCount: 4,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.of(0n, 1n, 2n, 3n), nulls: null },
    { kind: 'string', name: 'text', ids: Uint32Array.of(0, 1, 2, 3), dictionary: texts },
    { kind: 'multi', name: 'many', offsets: Uint32Array.of(0, 2, 2, 3, 4), ids: Uint32Array.of(0, 1, 1, 0), dictionary: ['a', 'b'] },
    { kind: 'long', name: 'long', values: BigInt64Array.of(1n, 0n, 2n, 3n), nulls },
    { kind: 'double', type: 'DOUBLE', name: 'double', values: Float64Array.of(0.1, 0, 2, 3), nulls },
    { kind: 'double', type: 'FLOAT', name: 'float', values: Float64Array.of(Math.fround(0.1), 0, 2, 3), nulls },
    { kind: 'string', name: 'place', ids: Uint32Array.of(0, 1, 2, 3), dictionary: ['1,1', null, '4,4', 'nowhere'] },
  ],
};

const bloomOf = (...hashes: Parameters<Bloom['add']>[0][]): string => {
  const filter = Bloom.create(10);
  for (const hash of hashes) filter.add(hash);
  return toBase64(filter.encode());
};

/** The numbers of the rows that match. */
async function matches(filter: object, more: object = {}): Promise<number[]> {
  const rows = await answersOver([frame], { queryType: 'scan', granularity: undefined, columns: ['__time'], filter, ...more });
  return rows.map((row) => Number(row.__time));
}

const filters = suite('filters by a set');

const upper = { type: 'upper' };
const rectangle = { type: 'rectangular', minCoords: [0, 0], maxCoords: [2, 2] };
for (const { name, filter, rows } of [
  { name: 'a text', filter: { type: 'bloom', dimension: 'text', bloomKFilter: bloomOf(hash64OfText('a')) }, rows: [0] },
  { name: 'null, which is in a filter or not', filter: { type: 'bloom', dimension: 'text', bloomKFilter: bloomOf(NULL_HASH) }, rows: [1] },
  {
    name: 'none of them, null included',
    filter: { type: 'not', field: { type: 'bloom', dimension: 'text', bloomKFilter: bloomOf(hash64OfText('a')) } },
    rows: [1, 2, 3],
  },
  {
    name: 'an extracted text',
    filter: { type: 'bloom', dimension: 'text', extractionFn: upper, bloomKFilter: bloomOf(hash64OfText('A')) },
    rows: [0, 3],
  },
  { name: 'any of several values', filter: { type: 'bloom', dimension: 'many', bloomKFilter: bloomOf(hash64OfText('b')) }, rows: [0, 2] },
  { name: 'a LONG', filter: { type: 'bloom', dimension: 'long', bloomKFilter: bloomOf(hash64OfLong(2n)) }, rows: [2] },
  { name: 'a DOUBLE', filter: { type: 'bloom', dimension: 'double', bloomKFilter: bloomOf(hash64OfDouble(0.1)) }, rows: [0] },
  { name: 'a FLOAT', filter: { type: 'bloom', dimension: 'float', bloomKFilter: bloomOf(hash64OfFloat(0.1)) }, rows: [0] },
  {
    name: 'by an expression',
    filter: { type: 'expression', expression: `bloom_filter_test(lower(text), '${bloomOf(hash64OfText('a'), NULL_HASH)}') == 1` },
    rows: [0, 1, 3],
  },
  { name: 'a place in a rectangle', filter: { type: 'spatial', dimension: 'place', bound: rectangle }, rows: [0] },
  {
    name: 'a place outside of it, which of null is not known',
    filter: { type: 'not', field: { type: 'spatial', dimension: 'place', bound: rectangle } },
    rows: [2, 3],
  },
  {
    name: 'a place in reach',
    filter: { type: 'spatial', dimension: 'place', bound: { type: 'radius', coords: [4, 5], radius: 1 } },
    rows: [2],
  },
  {
    name: 'a place in reach by miles',
    filter: { type: 'spatial', dimension: 'place', bound: { type: 'radius', coords: [1, 2], radius: 69.2, radiusUnit: 'miles' } },
    rows: [0],
  },
  {
    name: 'a place in a triangle',
    filter: { type: 'spatial', dimension: 'place', bound: { type: 'polygon', abscissa: [0, 3, 0], ordinate: [0, 0, 3] } },
    rows: [0],
  },
])
  filters(name, async () => assert.equal(await matches(filter), rows));

filters('in the filter of an aggregator', async () => {
  const [row] = await answersOver([frame], {
    aggregations: [
      { type: 'filtered', filter: { type: 'spatial', dimension: 'place', bound: rectangle }, aggregator: { type: 'count', name: 'n' } },
    ],
  });
  assert.is(row?.n, 1n);
});

for (const { name, filter, message } of [
  { name: 'a text that is no Bloom filter', filter: { type: 'bloom', dimension: 'text', bloomKFilter: 'AAAA' }, message: /bloomKFilter/ },
  { name: 'a Bloom filter of a column', filter: { type: 'expression', expression: 'bloom_filter_test(text, place)' }, message: /constant/ },
  {
    name: 'an unknown area',
    filter: { type: 'spatial', dimension: 'place', bound: { type: 'circle' } },
    message: /rectangular, radius, polygon/,
  },
  {
    name: 'bounds of different dimension',
    filter: { type: 'spatial', dimension: 'place', bound: { ...rectangle, maxCoords: [1] } },
    message: /maxCoords/,
  },
  {
    name: 'two corners',
    filter: { type: 'spatial', dimension: 'place', bound: { type: 'polygon', abscissa: [0, 1], ordinate: [0, 1] } },
    message: /abscissa/,
  },
])
  filters(`refuses ${name}`, async () => {
    try {
      await matches(filter);
    } catch (error) {
      return assert.match(String(error), message);
    }
    assert.unreachable('was accepted');
  });

filters.run();
