// Prints doubles with a fixed number of digits.

/** Powers of ten that doubles hold exactly, so that a quotient by one of them is rounded once. */
export const POWERS_OF_TEN: readonly number[] = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * A number that is not negative in units of its last digit, rounded half up on the digits that it prints with. Undefined for more than 15
 * digits, and places that no power is known of.
 */
export function roundedUnits(size: number, places: number): number | undefined {
  const power = POWERS_OF_TEN[places];
  if (power === undefined) return undefined;
  const whole = Math.floor(size * power);
  // With no more than 15 digits, the number half way is the double that prints as it: what is not below it is rounded up.
  return whole < 1e14 ? (size >= (whole + 0.5) / power ? whole + 1 : whole) : undefined;
}

/**
 * A finite double with a fixed number of digits after the point, rounded half away from zero on the digits it prints
 * with: 1.005 has two digits more to round than the double nearest to it would say.
 */
export function fixedText(value: number, places: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const units = roundedUnits(Math.abs(value), places);
  if (units !== undefined) return sign + pointed(units, places);
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  return sign + pointed(rounded(BigInt(digits), digits.length - 1 - Number(exponent), places), places);
}

/** A finite double as one digit, a point, `places` digits and a power of ten: `1.235e+01`. */
export function exponentText(value: number, places: number): string {
  const [mantissa = '0', exponentPart = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  let exponent = Number(exponentPart);
  let scaled = rounded(BigInt(digits), digits.length - 1, places);
  if (scaled >= 10n ** BigInt(places + 1)) {
    scaled /= 10n;
    exponent++;
  }
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return `${sign}${pointed(scaled, places)}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** digits / 10^scale, times 10^places, as an integer. */
function rounded(digits: bigint, scale: number, places: number): bigint {
  if (places >= scale) return digits * 10n ** BigInt(places - scale);
  const unit = 10n ** BigInt(scale - places);
  return (digits + unit / 2n) / unit;
}

function pointed(scaled: bigint | number, places: number): string {
  const text = scaled.toString().padStart(places + 1, '0');
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}
