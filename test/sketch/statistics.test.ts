import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addToMoments, emptyMoments, mergeMoments, varianceOf } from '../../src/sketch/moments.js';
import { logGamma, normalTwoTailed, regularizedBeta, studentTwoTailed, upperGamma } from '../../src/sketch/special-functions.js';
import { tTest, zScore, zTest } from '../../src/sketch/statistical-test.js';

const near = (found: number, expected: number, tolerance = 1e-9): void => {
  assert.ok(Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${found} is not ${expected}`);
};

const functions = suite('special functions');

functions('log gamma of integers and halves', () => {
  near(logGamma(1), 0);
  near(logGamma(11), Math.log(3_628_800));
  near(logGamma(0.5), Math.log(Math.sqrt(Math.PI)));
  // Stirling's series, whose terms left out are below 1e-20 there.
  const x = 1e6;
  near(logGamma(x), (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x), 1e-13);
});

functions('the incomplete beta function is a sum of binomial terms', () => {
  // P(X >= 3) of 5 tosses with p = 0.3.
  const p = 0.3;
  near(regularizedBeta(p, 3, 3), 10 * p ** 3 * 0.7 ** 2 + 5 * p ** 4 * 0.7 + p ** 5);
  near(regularizedBeta(0.9, 1, 4), 1 - 0.1 ** 4);
  assert.is(regularizedBeta(0, 2, 3), 0);
  assert.is(regularizedBeta(1, 2, 3), 1);
});

functions('the incomplete gamma function of whole parameters is a sum of Poisson terms', () => {
  near(upperGamma(3, 2), Math.exp(-2) * (1 + 2 + 2));
  near(upperGamma(3, 9), Math.exp(-9) * (1 + 9 + 40.5));
  assert.is(upperGamma(1, 0), 1);
});

functions('tails of the normal and of the t distribution, as tables have them', () => {
  near(normalTwoTailed(1.959963985), 0.05, 1e-8);
  near(normalTwoTailed(-2.575829304), 0.01, 1e-8);
  near(studentTwoTailed(2.228138852, 10), 0.05, 1e-8);
  // One degree of freedom is the Cauchy distribution.
  near(studentTwoTailed(1, 1), 0.5);
  near(studentTwoTailed(3, 1), 1 - (2 / Math.PI) * Math.atan(3));
});

functions.run();

const tests = suite('statistical tests');

tests('the t-test of two samples of unequal variance', () => {
  const sample = (values: readonly number[]) => {
    const moments = emptyMoments();
    for (const value of values) addToMoments(moments, value);
    return moments;
  };
  // Means 3 and 6, variances 2.5 and 10, five each: t = -3 / sqrt(2.5), degrees 6.25 / 1.0625.
  const p = tTest(sample([1, 2, 3, 4, 5]), sample([2, 4, 6, 8, 10]));
  near(p, studentTwoTailed(3 / Math.sqrt(2.5), 6.25 / 1.0625), 1e-12);
  assert.ok(p > 0.1 && p < 0.12, `${p}`);
  assert.ok(Number.isNaN(tTest(sample([1]), sample([1, 2]))));
});

tests('the z-score of two proportions', () => {
  // 300 of 500 and 450 of 600: 0.6 - 0.75 over the root of 0.24/500 + 0.1875/600.
  near(zScore(300, 500, 450, 600) ?? 0, -0.15 / Math.sqrt(0.00048 + 0.0003125), 1e-12);
  near(zTest(-5.328), normalTwoTailed(5.328));
  near(zTest(1.6448536269514722), 0.1, 1e-9);
  assert.is(zScore(5, 0, 1, 2), null);
  assert.is(zScore(5, 4, 1, 2), null);
});

tests.run();

const variances = suite('variances of large values');

variances('a group that meets an empty one keeps its variance, also where the square of its mean is infinite', () => {
  for (const [values, variance] of [
    [[1e200, 1e200], 0],
    [[1e200], 0],
    [[0, 1e200], Infinity],
  ] as const) {
    const [from, into] = [emptyMoments(), emptyMoments()];
    for (const value of values) addToMoments(from, value);
    mergeMoments(into, from);
    assert.is(varianceOf(into, 'population'), variance);
    assert.equal(into, from);
  }
});

variances.run();
