import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import {
  condenseIntervals,
  contains,
  containsInstant,
  formatInterval,
  intersect,
  joinNearby,
  liesWithin,
  parseInterval,
} from '../../src/base/interval.js';

const intervals = suite('intervals');

const cases: readonly { text: string; start: string; end: string }[] = [
  { text: '2015-09-12/2015-09-13', start: '2015-09-12', end: '2015-09-13' },
  { text: '2015-09-12_2015-09-13', start: '2015-09-12', end: '2015-09-13' },
  { text: '2015-09-12T00Z/2015-09-13', start: '2015-09-12', end: '2015-09-13' },
  { text: '2015-09-12/P1D', start: '2015-09-12', end: '2015-09-13' },
  { text: 'P1M/2015-03-31', start: '2015-02-28', end: '2015-03-31' },
  { text: '2015/2016', start: '2015-01-01', end: '2016-01-01' },
  { text: '2015-09-12/2015-09-12', start: '2015-09-12', end: '2015-09-12' },
];
for (const { text, start, end } of cases)
  intervals(text, () => assert.equal(parseInterval(text), { start: Date.parse(start), end: Date.parse(end) }));

intervals('bounds and periods are those of a time zone', () => {
  const [start, end] = [Date.parse('2015-10-24T22:00Z'), Date.parse('2015-10-25T23:00Z')];
  assert.equal(parseInterval('2015-10-25/P1D', 'Europe/Berlin'), { start, end });
  assert.equal(parseInterval('P1D/2015-10-26', 'Europe/Berlin'), { start, end });
  assert.equal(parseInterval('2015-10-24T22:00Z/2015-10-26', 'Europe/Berlin'), { start, end });
});

for (const text of ['', '2015', '2015/', '/2015', '2015/2014', 'P1D/P1D', '2015/2016/2017', 'a/b']) {
  intervals(`"${text}" is none`, () => assert.is(parseInterval(text), undefined));
}

intervals('eternity, by name and by bounds', () => {
  assert.equal(parseInterval('eternity'), ETERNITY);
  assert.equal(parseInterval(formatInterval(ETERNITY)), ETERNITY);
  assert.is(formatInterval(ETERNITY), '-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z');
});

intervals('condensed intervals hold the same instants, sorted and apart', () => {
  const interval = fc.tuple(fc.nat(40), fc.nat(6)).map(([start, length]) => ({ start, end: start + length }));
  fc.assert(
    fc.property(fc.array(interval), (list) => {
      const condensed = condenseIntervals(list);
      for (let instant = 0; instant < 50; instant++) {
        const inside = list.some((each) => containsInstant(each, instant));
        assert.is(condensed.filter((each) => containsInstant(each, instant)).length, inside ? 1 : 0);
      }
      for (const [index, each] of condensed.entries()) assert.ok(index === 0 || (condensed[index - 1]?.end ?? 0) < each.start);
    }),
  );
});

intervals('an interval lies within one of some, or within none', () => {
  const interval = fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 6 })).map(([start, length]) => ({ start, end: start + length }));
  fc.assert(
    fc.property(fc.array(interval), interval, (list, inner) => {
      const condensed = condenseIntervals(list);
      assert.is(
        liesWithin(condensed, inner),
        condensed.some((outer) => contains(outer, inner)),
      );
    }),
  );
});

intervals('intervals with short gaps are joined, others are not', () => {
  const joined: readonly [readonly (readonly [number, number])[], readonly (readonly [number, number])[]][] = [
    [[], []],
    [[[0, 1]], [[0, 1]]],
    // Gaps of 4 and 5 times what follows.
    [
      [
        [0, 1],
        [5, 6],
        [11, 12],
      ],
      [
        [0, 6],
        [11, 12],
      ],
    ],
    [
      [
        [0, 1],
        [11, 14],
      ],
      [[0, 14]],
    ],
  ];
  const of = (list: readonly (readonly [number, number])[]) => list.map(([start, end]) => ({ start, end }));
  for (const [given, expected] of joined) assert.equal(joinNearby(of(given)), of(expected));
});

intervals('intersection and containment', () => {
  assert.equal(intersect({ start: 0, end: 10 }, { start: 5, end: 20 }), { start: 5, end: 10 });
  assert.is(intersect({ start: 0, end: 10 }, { start: 10, end: 20 }), undefined);
  assert.ok(contains({ start: 0, end: 10 }, { start: 0, end: 10 }));
  assert.not(contains({ start: 0, end: 10 }, { start: 0, end: 11 }));
});
intervals.run();
