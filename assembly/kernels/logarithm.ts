// The natural logarithm, bit for bit that of JavaScript in V8 and of Java's StrictMath: the method of fdlibm's e_log.
// x is 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) is a polynomial of s = f / (2 + f).

@inline
const LN2_HIGH: f64 = 6.9314718036912381649e-1;
@inline
const LN2_LOW: f64 = 1.90821492927058770002e-10;
@inline
const C1: f64 = 6.66666666666673513e-1;
@inline
const C2: f64 = 3.999999999940941908e-1;
@inline
const C3: f64 = 2.857142874366239149e-1;
@inline
const C4: f64 = 2.222219843214978396e-1;
@inline
const C5: f64 = 1.818357216161805012e-1;
@inline
const C6: f64 = 1.531383769920937332e-1;
@inline
const C7: f64 = 1.479819860511658591e-1;
@inline
const THIRD: f64 = 1 / 3.0;

@inline
const FRACTION: i64 = 0xfffffffffffff;
/** Upper halves of the fraction that one step carries beyond sqrt(2). */
@inline
const CARRY: i64 = 0x95f64;
/** Upper halves of the fraction between which the polynomial stands behind f²/2. */
@inline
const MIDDLE_FROM: i64 = 0x6147a;
@inline
const MIDDLE_TO: i64 = 0x6b851;
@inline
const SMALLEST_NORMAL: i64 = 0x0010000000000000;
@inline
const INFINITE: i64 = 0x7ff0000000000000;

export function logarithm(x: f64): f64 {
  let bits = reinterpret<i64>(x);
  let k: i64 = 0;
  if (bits < SMALLEST_NORMAL) {
    if (x == 0) return -Infinity;
    if (bits < 0) return NaN;
    k = -54;
    bits = reinterpret<i64>(x * 18014398509481984.0);
  }
  if (bits >= INFINITE) return x;
  const upper = (bits & FRACTION) >> 32;
  const carried = (upper + CARRY) & 0x100000;
  k += (bits >> 52) - 1023 + (carried >> 20);
  const f = reinterpret<f64>((bits & FRACTION) | ((carried ^ 0x3ff00000) << 32)) - 1;
  const n = <f64>k;
  if (((upper + 2) & 0xfffff) < 3) {
    const r = f * f * (0.5 - THIRD * f);
    return n * LN2_HIGH - (r - n * LN2_LOW - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const r = z * (C1 + w * (C3 + w * (C5 + w * C7))) + w * (C2 + w * (C4 + w * C6));
  if (upper < MIDDLE_FROM || upper > MIDDLE_TO) return n * LN2_HIGH - (s * (f - r) - n * LN2_LOW - f);
  const half = 0.5 * f * f;
  return n * LN2_HIGH - (half - (s * (half + r) + n * LN2_LOW) - f);
}
