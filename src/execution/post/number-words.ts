// Words that put columns of numbers into order.

import { ascending, type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import type { ResultColumn } from '../block/result-table.js';

const SIGN = 0x80000000;
const NAN_HIGH = 0x7ff80000;
const TWO_32 = 2 ** 32;
/** Up to it halves of whole numbers are doubles as well. */
const TWO_52 = 2 ** 52;

type Numbers = Extract<ResultColumn, { kind: 'long' | 'double' }>;

interface NumberOrder {
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/**
 * The words that put numbers into their order: NaN is above every other double and -0 equal to 0. Null rows are all before
 * or all behind the others, whichever way these go. One word where the numbers are whole, or decimal fractions of one power of ten,
 * and near each other.
 */
export function wordsOfNumbers(column: Numbers, { descending, nullsFirst }: NumberOrder, check: Check): Uint32Array[] {
  const words = wholeDistances(column, descending, check) ?? bothHalves(column, descending, check);
  return column.nulls === null ? words : [nullWord(column.nulls, nullsFirst, check), ...words];
}

/** The distances of whole numbers or fractions from the first in the order, 0 for null; undefined where they are too far, or neither. */
function wholeDistances(column: Numbers, descending: boolean, check: Check): Uint32Array[] | undefined {
  const { nulls } = column;
  if (column.kind === 'long') return longDistances(column.values, nulls, descending, check);
  const scale = scaleOf(column.values, nulls);
  return scale === undefined ? undefined : fractionDistances(column.values, nulls, { scale, descending }, check);
}

function longDistances(values: BigInt64Array, nulls: Uint8Array | null, descending: boolean, check: Check): Uint32Array[] | undefined {
  const rowCount = values.length;
  const stored = new Uint32Array(values.buffer, values.byteOffset, rowCount * 2);
  let [least, most] = [Infinity, -Infinity];
  let isAscending = true;
  let areAlike = false;
  checkedLoop(rowCount, check, (start, end) => {
    let [low, high, before] = [least, most, most];
    for (let row = start; row < end; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      const value = ((stored[row * 2 + 1] ?? 0) | 0) * TWO_32 + (stored[row * 2] ?? 0);
      if (value < before) isAscending = false;
      else if (value === before) areAlike = true;
      before = value;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    [least, most] = [low, high];
  });
  if (least > most) return [new Uint32Array(rowCount)];
  if (isAscending && least >= Number.MIN_SAFE_INTEGER && most <= Number.MAX_SAFE_INTEGER) {
    if (nulls === null && !areAlike) return [placesInTurn(rowCount, descending, check)];
    return [ranksInTurn(stored, nulls, descending, check)];
  }
  if (most - least >= TWO_32 || least < Number.MIN_SAFE_INTEGER || most > Number.MAX_SAFE_INTEGER) return undefined;
  const words = new Uint32Array(rowCount);
  // The lower halves alone tell how far numbers are from each other.
  const first = descending ? most : least;
  const base = first - Math.floor(first / TWO_32) * TWO_32;
  checkedLoop(rowCount, check, (start, end) => {
    if (descending) for (let row = start; row < end; row++) words[row] = base - (stored[row * 2] ?? 0);
    else for (let row = start; row < end; row++) words[row] = (stored[row * 2] ?? 0) - base;
  });
  zeroNulls(words, nulls, check);
  return [words];
}

/** The ranks of rows that come in their order and are all different. */
function placesInTurn(rowCount: number, descending: boolean, check: Check): Uint32Array {
  if (!descending) return ascending(rowCount, check);
  const words = new Uint32Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) words[row] = rowCount - 1 - row;
  });
  return words;
}

/** Numbers of the different longs, of rows that come in their order: few bits, however far they are from each other. */
function ranksInTurn(stored: Uint32Array, nulls: Uint8Array | null, descending: boolean, check: Check): Uint32Array {
  const words = new Uint32Array(stored.length / 2);
  let [rank, low, high] = [-1, 0, 0];
  checkedLoop(words.length, check, (start, end) => {
    let [own, lower, upper] = [rank, low, high];
    for (let row = start; row < end; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      const [nextLower, nextUpper] = [stored[row * 2] ?? 0, stored[row * 2 + 1] ?? 0];
      if (own < 0 || nextLower !== lower || nextUpper !== upper) own++;
      lower = nextLower;
      upper = nextUpper;
      words[row] = own;
    }
    [rank, low, high] = [own, lower, upper];
  });
  if (descending)
    checkedLoop(words.length, check, (start, end) => {
      for (let row = start; row < end; row++) if (nulls === null || nulls[row] !== 1) words[row] = rank - (words[row] ?? 0);
    });
  return words;
}

/** Doubles by which the power of ten is chosen that makes them whole. */
const SAMPLED = 256;
const POWER_MAX = 9;

/** A power of ten that makes a sample of the numbers whole; undefined where none does. */
function scaleOf(values: Float64Array, nulls: Uint8Array | null): number | undefined {
  const step = Math.max(1, Math.floor(values.length / SAMPLED));
  let power = 0;
  for (let row = 0; row < values.length; row += step) {
    if (nulls !== null && nulls[row] === 1) continue;
    while (!isWhole(values[row] ?? 0, 10 ** power)) if (++power > POWER_MAX) return undefined;
  }
  return 10 ** power;
}

/** Whether a number is a whole one through the scale: then none else is the same one, and larger numbers are larger ones. */
function isWhole(value: number, scale: number): boolean {
  return Math.round(value * scale) / scale === value && Math.abs(value * scale) <= TWO_52;
}

function fractionDistances(
  values: Float64Array,
  nulls: Uint8Array | null,
  { scale, descending }: { readonly scale: number; readonly descending: boolean },
  check: Check,
): Uint32Array[] | undefined {
  const rowCount = values.length;
  let [least, most] = [Infinity, -Infinity];
  let areWhole = true;
  for (let start = 0; start < rowCount && areWhole; start += ROWS_PER_CHECK) {
    check();
    const end = Math.min(rowCount, start + ROWS_PER_CHECK);
    for (let row = start; row < end; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      const value = values[row] ?? 0;
      const whole = Math.round(value * scale);
      if (whole / scale !== value) areWhole = false;
      if (whole < least) least = whole;
      if (whole > most) most = whole;
    }
    areWhole &&= !(most - least >= TWO_32) && !(least < -TWO_52) && !(most > TWO_52);
  }
  if (!areWhole) return undefined;
  const words = new Uint32Array(rowCount);
  if (least > most) return [words];
  checkedLoop(rowCount, check, (start, end) => {
    if (descending) for (let row = start; row < end; row++) words[row] = most - Math.round((values[row] ?? 0) * scale);
    else for (let row = start; row < end; row++) words[row] = Math.round((values[row] ?? 0) * scale) - least;
  });
  zeroNulls(words, nulls, check);
  return [words];
}

function zeroNulls(words: Uint32Array, nulls: Uint8Array | null, check: Check): void {
  if (nulls === null) return;
  checkedLoop(words.length, check, (start, end) => {
    for (let row = start; row < end; row++) if (nulls[row] === 1) words[row] = 0;
  });
}

/** The bits of numbers in two words, the higher one first; one where they are near each other. */
function bothHalves(column: Numbers, descending: boolean, check: Check): Uint32Array[] {
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
  return range.isNarrow ? [lessThan(range.lowerMin, low, check)] : [high, low];
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
