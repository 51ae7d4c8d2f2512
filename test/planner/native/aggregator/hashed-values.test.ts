import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame } from '../../../../src/model/frame.js';
import { encodeHll, encodeTheta, SKETCH_SEED } from '../../../../src/sketch/base64-codec.js';
import { Hll } from '../../../../src/sketch/hll.js';
import { Murmur3, type StringEncoding } from '../../../../src/sketch/murmur3.js';
import { Theta } from '../../../../src/sketch/theta.js';
import { answersOver } from '../frame-queries.js';

// More rows than values wait for their states, so that some of a segment's wait and some do not.
const ROWS = 70_000;
const THETA_SIZE = 64;

type Value = string | bigint | null;

/** Values of a row, and the group it is in, by columns: few and many different ones, of a dictionary with null and without. */
const COLUMNS: Readonly<Record<string, (row: number) => readonly Value[]>> = {
  small: (row) => [row % 7 === 0 ? null : `city ${(row * 31) % 50} 日本 😀`],
  large: (row) => [`page ${(row * 7919) % 60_013}`],
  several: (row) => (row % 5 === 0 ? [] : row % 3 === 0 ? [`a ${row % 11}`, `b ${row % 1000}`] : [`a ${row % 13}`]),
  number: (row) => [row % 9 === 0 ? null : BigInt((row * 131) % 5003)],
  few: (row) => [row % 3 === 0 ? null : `group ${row % 3}`],
  crowd: (row) => [`group ${(row * 17) % 9001}`],
};

const frame: Frame = {
  rowCount: ROWS,
  columns: [{ kind: 'long', name: '__time', values: new BigInt64Array(ROWS), nulls: null }, ...Object.entries(COLUMNS).map(columnOf)],
};

function columnOf([name, valuesOf]: readonly [string, (row: number) => readonly Value[]]): Frame['columns'][number] {
  const rows = Array.from({ length: ROWS }, (_, row) => valuesOf(row));
  if (name === 'number') {
    const nulls = new Uint32Array(Math.ceil(ROWS / 64) * 2);
    rows.forEach(([value], row) => {
      if (value === null) nulls[row >> 5] = (nulls[row >> 5] ?? 0) | (1 << (row & 31));
    });
    return { kind: 'long', name, values: BigInt64Array.from(rows, ([value]) => BigInt(value ?? 0n)), nulls };
  }
  const texts = [...new Set(rows.flat() as (string | null)[])].sort((a, b) => (a === null ? -1 : b === null ? 1 : a < b ? -1 : 1));
  const idOf = new Map(texts.map((text, id) => [text, id]));
  const ids = Uint32Array.from(rows.flat() as (string | null)[], (text) => idOf.get(text) ?? 0);
  if (name !== 'several') return { kind: 'string', name, ids, dictionary: texts };
  let end = 0;
  return {
    kind: 'multi',
    name,
    ids,
    offsets: Uint32Array.from([[], ...rows], (row) => (end += row.length)),
    dictionary: texts as string[],
  };
}

/** Both sketches of some rows, made value by value. */
function expectedOf(column: string, rows: readonly number[]): { readonly hll: string; readonly theta: string } {
  const hll = new Hll(12);
  const theta = new Theta(THETA_SIZE);
  const hash = new Murmur3(SKETCH_SEED);
  for (const row of rows)
    for (const value of COLUMNS[column]?.(row) ?? []) {
      if (value === null) continue;
      const hashed = (encoding: StringEncoding): Murmur3 => {
        if (typeof value === 'bigint') hash.hashLong(value);
        else hash.hashText(value, encoding);
        return hash;
      };
      const { firstLow, secondHigh, secondLow } = hashed('utf16le');
      hll.addHash(firstLow, secondHigh, secondLow);
      const utf8 = hashed('utf8');
      theta.addHash(utf8.firstHigh, utf8.firstLow);
    }
  return { hll: encodeHll(hll, 4), theta: encodeTheta(theta) };
}

/** Filters, and whether a row passes: of few rows the values are hashed, of many the dictionary. */
const FILTERS = [
  { filter: null, keeps: () => true },
  { filter: { type: 'selector', dimension: 'few', value: 'group 1' }, keeps: (row: number) => row % 3 === 1 },
  { filter: { type: 'selector', dimension: 'crowd', value: 'group 17' }, keeps: (row: number) => row % 9001 === 1 },
];

for (const key of [null, 'few', 'crowd'])
  for (const { filter, keeps } of FILTERS)
    test(`HLL and theta sketches by ${key ?? 'no key'}, of rows by ${filter?.dimension ?? 'no filter'}, are those of each value`, async () => {
      const columns = ['small', 'large', 'several', 'number'];
      const answer = await answersOver([frame], {
        ...(key === null ? {} : { queryType: 'groupBy', dimensions: [key] }),
        filter,
        aggregations: columns.flatMap((column) => [
          { type: 'HLLSketchBuild', name: `${column} hll`, fieldName: column, lgK: 12, tgtHllType: 'HLL_4' },
          { type: 'thetaSketch', name: `${column} theta`, fieldName: column, size: THETA_SIZE },
        ]),
        context: { finalize: false },
      });
      const groups = new Map<Value, number[]>();
      for (let row = 0; row < ROWS; row++) {
        if (!keeps(row)) continue;
        const group = key === null ? null : (COLUMNS[key]?.(row)[0] ?? null);
        const rows = groups.get(group);
        if (rows === undefined) groups.set(group, [row]);
        else rows.push(row);
      }
      assert.is(answer.length, groups.size);
      for (const found of answer) {
        const rows = groups.get(key === null ? null : (found[key] as Value)) ?? [];
        for (const column of columns) {
          const { hll, theta } = expectedOf(column, rows);
          assert.is(found[`${column} hll`], hll, `${column} of ${String(found[key ?? ''])}`);
          assert.is(found[`${column} theta`], theta, `${column} of ${String(found[key ?? ''])}`);
        }
      }
    });

test.run();
