/** The few functions of statistics that bounds and tests are made of, in double precision. */

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** The logarithm of the gamma function, for x > 0; relative error about 1e-14 (Lanczos, g = 7). */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const shifted = x - 1;
  const base = shifted + 7.5;
  let sum = LANCZOS[0] ?? 0;
  for (let index = 1; index < LANCZOS.length; index++) sum += (LANCZOS[index] ?? 0) / (shifted + index);
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(base) - base + Math.log(sum);
}

/** The regularised incomplete beta function I_x(a, b), for a, b > 0 and x from 0 to 1: a continued fraction (Lentz). */
export function regularizedBeta(x: number, a: number, b: number): number {
  if (!(x > 0)) return Number.isNaN(x) ? Number.NaN : 0;
  if (x >= 1) return 1;
  // It converges fast on one side of the mean; the other side is its mirror image.
  if (x > (a + 1) / (a + b + 2)) return 1 - regularizedBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= STEPS_MAX; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * fraction;
}

/** Steps grow with the root of the larger parameter; this is enough for some ten billion. */
const STEPS_MAX = 100_000;

function away(value: number): number {
  return Math.abs(value) < 1e-300 ? 1e-300 : value;
}

/** The regularised upper incomplete gamma function Q(a, x), for a > 0 and x >= 0. */
export function upperGamma(a: number, x: number): number {
  if (x <= 0) return x === 0 ? 1 : Number.NaN;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n <= STEPS_MAX && term > sum * 1e-16; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  let b = x + 1 - a;
  let c = 1 / 1e-300;
  let d = 1 / away(b);
  let fraction = d;
  for (let n = 1; n <= STEPS_MAX; n++) {
    const step = -n * (n - a);
    b += 2;
    d = 1 / away(step * d + b);
    c = away(b + step / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * fraction;
}

/** Two-tailed probability of the standard normal distribution: that a variable is farther from 0 than z, on either side. */
export function normalTwoTailed(z: number): number {
  return upperGamma(0.5, (z * z) / 2);
}

/** Two-tailed probability of Student's t distribution: that a variable is farther from 0 than t, on either side. */
export function studentTwoTailed(t: number, degreesOfFreedom: number): number {
  return regularizedBeta(degreesOfFreedom / (degreesOfFreedom + t * t), degreesOfFreedom / 2, 0.5);
}
