// Recognizes doubles that are decimal fractions, to store them as integers.

/** Largest power of ten tried for doubles that are decimal fractions. */
const DECIMAL_POWER_MAX = 9;

/** The power p with which every value v is exactly Math.round(v * 10^p) / 10^p; null when there is none. */
export function decimalPower(values: Float64Array): number | null {
  let power = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? 0;
    while (!isDecimal(value, 10 ** power)) if (++power > DECIMAL_POWER_MAX) return null;
  }
  // Exact at a lower power need not mean exact at this one: rounding differs.
  const scale = 10 ** power;
  return power === 0 || values.every((value) => isDecimal(value, scale)) ? power : null;
}

function isDecimal(value: number, scale: number): boolean {
  const integer = Math.round(value * scale);
  return Math.abs(integer) <= Number.MAX_SAFE_INTEGER && integer / scale === value && !Object.is(value, -0);
}
