import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { Quantiles } from '../../src/sketch/quantiles.js';

/** Values in any order, from few that are equal to those that lie at the ends of all doubles. */
const SHAPES: Readonly<Record<string, (next: () => number) => number>> = {
  even: (next) => next(),
  whole: (next) => Math.floor(next() * 50),
  equal: () => 7,
  skewed: (next) => next() ** -6,
  'of both signs': (next) => (next() - 0.5) * 10 ** Math.floor(next() * 40 - 20),
  'at the ends': (next) =>
    [Number.MAX_VALUE, -Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.MIN_VALUE, 0][Math.floor(next() * 5)] ?? 0,
  'one far away': (next) => (next() < 0.001 ? 1e300 : next()),
  denormal: (next) => Math.floor(next() * 1000) * Number.MIN_VALUE,
};

const many = suite('quantiles of many values at once');

/** Furthest that a rank is from the one that was asked for, as a part of all values. */
function rankError(sketch: Quantiles, sorted: Float64Array): number {
  const fractions = Array.from({ length: 99 }, (_, index) => (index + 1) / 100);
  return Math.max(
    ...fractions.map((fraction) => {
      const value = sketch.quantile(fraction);
      const [first, last] = [sorted.findIndex((each) => each >= value), sorted.findLastIndex((each) => each <= value)];
      return Math.max(first / sorted.length - fraction, fraction - (last + 1) / sorted.length);
    }),
  );
}

for (const [shape, valueOf] of Object.entries(SHAPES))
  many(`are within the documented error: ${shape}`, () => {
    let beyond = 0;
    for (let seed = 0; seed < 10; seed++) {
      const next = randomSource(seed);
      const sketch = new Quantiles(128);
      const all: number[] = [];
      // In pieces, so that buffers are full, empty and between.
      for (const count of [seed * 31, 3000, 256, 20_000, 1, 2303, 9000]) {
        const values = Float64Array.from({ length: count }, () => valueOf(next));
        all.push(...values);
        sketch.addSorted(values.sort(), 0, values.length);
        assert.is(sketch.count, all.length);
      }
      const sorted = Float64Array.from(all).sort();
      assert.equal([sketch.min, sketch.max], [sorted[0], sorted.at(-1)]);
      // Levels are those of the number of values, which is how they are read.
      assert.equal(Quantiles.decode(sketch.encode()).encode(), sketch.encode());
      // 1.725 % with k 128, 99 % of the time.
      beyond += rankError(sketch, sorted) > 0.01725 ? 1 : 0;
    }
    assert.ok(beyond <= 1, `${beyond} of 10 sketches are beyond the documented error`);
  });

many('of few values that come in several parts, and others behind them, weigh as much as there are', () => {
  for (const first of [1, 17, 100, 129, 150, 200, 255]) {
    const sketch = new Quantiles(128);
    const values = Float64Array.from({ length: 1000 }, (_, at) => at + 1);
    sketch.addFew(values, 0, first >> 1);
    sketch.addFew(values, first >> 1, first);
    sketch.addAscending(values, first, values.length);
    assert.is(sketch.distribution().count, 1000);
    assert.ok(Math.abs(sketch.quantile(0.5) - 500) <= 1000 * 0.01725);
    for (const fraction of [0, 0.001, 0.25, 0.5, 0.75, 1]) assert.is(sketch.quantile(fraction), sketch.distribution().quantile(fraction));
  }
});

many.run();
