import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY, type Interval } from '../../src/base/instant.js';
import { emptiedChunks } from '../../src/metadata/tombstones.js';
import { parseGranularity } from '../../src/model/granularity.js';
import { DAY, day } from './fixture.js';

const HOUR = DAY / 24;
const hours = (from: number, to: number): Interval => ({ start: from * HOUR, end: to * HOUR });

const CASES: readonly {
  readonly name: string;
  readonly replaced: readonly Interval[];
  readonly granularity?: string;
  readonly written?: readonly Interval[];
  readonly used: readonly Interval[];
  readonly emptied: readonly Interval[];
}[] = [
  { name: 'nothing was there', replaced: [day(0)], granularity: 'day', used: [day(1)], emptied: [] },
  { name: 'all is written anew', replaced: [day(0)], granularity: 'day', written: [day(0)], used: [day(0)], emptied: [] },
  { name: 'nothing is written', replaced: [day(0)], granularity: 'day', used: [day(0)], emptied: [day(0)] },
  {
    name: 'hours of a day, before, between and after those with rows',
    replaced: [hours(0, 5)],
    granularity: 'hour',
    written: [hours(1, 2), hours(3, 4)],
    used: [day(0)],
    emptied: [hours(0, 1), hours(2, 3), hours(4, 5)],
  },
  {
    name: 'what was there is finer than the chunks',
    replaced: [{ start: 0, end: 4 * DAY }],
    granularity: 'day',
    used: [hours(3, 4), hours(7, 8), hours(50, 51)],
    emptied: [day(0), day(2)],
  },
  { name: 'only the part that is replaced', replaced: [day(1)], granularity: 'day', used: [{ start: 0, end: 9 * DAY }], emptied: [day(1)] },
  {
    name: 'without time chunks, stretches',
    replaced: [day(0)],
    written: [hours(2, 3)],
    used: [hours(1, 9)],
    emptied: [hours(1, 2), hours(3, 9)],
  },
  { name: 'all of time, of which a stretch had rows', replaced: [ETERNITY], granularity: 'day', used: [day(3)], emptied: [day(3)] },
  { name: 'a segment of all time', replaced: [ETERNITY], granularity: 'all', used: [ETERNITY], emptied: [ETERNITY] },
  {
    name: 'a segment of all time, and days in its place',
    replaced: [ETERNITY],
    granularity: 'day',
    written: [day(0), day(2)],
    used: [ETERNITY],
    emptied: [{ start: ETERNITY.start, end: 0 }, day(1), { start: 3 * DAY, end: ETERNITY.end }],
  },
];

const tests = suite('tombstones');

for (const { name, replaced, granularity, written = [], used, emptied } of CASES)
  tests(`time chunks without rows: ${name}`, () => {
    const chunks = granularity === undefined ? undefined : parseGranularity(granularity, 'PARTITIONED BY');
    assert.equal(emptiedChunks(replaced, chunks, written, used), emptied);
  });

tests('5,000 of them at most', () => {
  const seconds = (count: number): Interval => ({ start: 0, end: count * 1000 });
  const second = parseGranularity('second', 'PARTITIONED BY');
  assert.is(emptiedChunks([day(0)], second, [], [seconds(5000)]).length, 5000);
  assert.throws(() => emptiedChunks([day(0)], second, [], [seconds(5001)]), /more than 5000 time chunks/);
});

tests.run();
