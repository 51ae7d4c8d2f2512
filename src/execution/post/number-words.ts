// Words that put columns of numbers into order.

import { type Check, checkedLoop } from '../block/checked-loops.js';
import type { ResultColumn } from '../block/result-table.js';

const SIGN = 0x80000000;
const NAN_HIGH = 0x7ff80000;
const TWO_32 = 2 ** 32;

/**
 * The words that put numbers into their order: NaN is above every other double and -0 equal to 0. Null rows are all before
 * or all behind the others, whichever way these go. One word where the numbers are near each other.
 */
export function wordsOfNumbers(
  column: Extract<ResultColumn, { kind: 'long' | 'double' }>,
  { descending, nullsFirst }: { readonly descending: boolean; readonly nullsFirst: boolean },
  check: Check,
): Uint32Array[] {
  const { kind, nulls, values } = column;
  const rowCount = values.length;
  const stored = new Uint32Array(values.buffer, values.byteOffset, rowCount * 2);
  const [high, low] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
  const flip = descending ? -1 : 0;
  const range = new Range();
  checkedLoop(rowCount, check, (start, end) => {
    let [upperMin, lowerMin, upperMax, lowerMax] = [Infinity, 0, -1, 0];
    for (let row = start; row < end; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      let upper = stored[row * 2 + 1] ?? 0;
      let lower = stored[row * 2] ?? 0;
      if (kind === 'double') {
        if (upper === SIGN && lower === 0) upper = 0;
        const isNaN = (upper & 0x7ff00000) === 0x7ff00000 && ((upper & 0xfffff) !== 0 || lower !== 0);
        if (isNaN) {
          upper = NAN_HIGH;
          lower = 0;
        } else if (upper >= SIGN) {
          // The larger a negative double's bits are, the smaller it is.
          upper = ~upper ^ SIGN;
          lower = ~lower;
        }
      }
      upper = (upper ^ SIGN ^ flip) >>> 0;
      lower = (lower ^ flip) >>> 0;
      high[row] = upper;
      low[row] = lower;
      if (upper < upperMin || (upper === upperMin && lower < lowerMin)) [upperMin, lowerMin] = [upper, lower];
      if (upper > upperMax || (upper === upperMax && lower > lowerMax)) [upperMax, lowerMax] = [upper, lower];
    }
    if (upperMax < 0) return;
    range.add(upperMin, lowerMin);
    range.add(upperMax, lowerMax);
  });
  if (nulls !== null) fillNulls({ high, low }, nulls, range, check);
  const words = range.isNarrow ? [lessThan(range.lowerMin, low, check)] : [high, low];
  return nulls === null ? words : [nullWord(nulls, nullsFirst, check), ...words];
}

/** The smallest and the largest of numbers in two words. */
class Range {
  lowerMin = 0;
  upperMin = Infinity;
  #lowerMax = 0;
  #upperMax = -1;

  add(upper: number, lower: number): void {
    if (upper < this.upperMin || (upper === this.upperMin && lower < this.lowerMin)) {
      this.upperMin = upper;
      this.lowerMin = lower;
    }
    if (upper > this.#upperMax || (upper === this.#upperMax && lower > this.#lowerMax)) {
      this.#upperMax = upper;
      this.#lowerMax = lower;
    }
  }

  /** Their differences fit into one word. */
  get isNarrow(): boolean {
    return (this.#upperMax - this.upperMin) * TWO_32 + this.#lowerMax - this.lowerMin < TWO_32;
  }
}

/** Null rows, which another word tells apart, have the smallest number: so the range stays as it is. */
function fillNulls(
  { high, low }: { readonly high: Uint32Array; readonly low: Uint32Array },
  nulls: Uint8Array,
  { upperMin, lowerMin }: Range,
  check: Check,
): void {
  checkedLoop(nulls.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      if (nulls[row] !== 1) continue;
      high[row] = upperMin;
      low[row] = lowerMin;
    }
  });
}

function lessThan(least: number, words: Uint32Array, check: Check): Uint32Array {
  checkedLoop(words.length, check, (start, end) => {
    for (let row = start; row < end; row++) words[row] = (words[row] ?? 0) - least;
  });
  return words;
}

function nullWord(nulls: Uint8Array, nullsFirst: boolean, check: Check): Uint32Array {
  const word = new Uint32Array(nulls.length);
  const flip = nullsFirst ? 1 : 0;
  checkedLoop(nulls.length, check, (start, end) => {
    for (let row = start; row < end; row++) word[row] = (nulls[row] ?? 0) ^ flip;
  });
  return word;
}
