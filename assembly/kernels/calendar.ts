import { isAligned } from './lanes';

// The proleptic Gregorian calendar over i64 milliseconds of a wall clock. Rows come in runs of one day or bucket, so that the one before answers first.

@inline
export const DAY_MS: i64 = 86400000;
/** Up to here milliseconds are exact as f64, and so are quotients to their nearest integer. */
@inline
const EXACT: i64 = 1 << 50;
/** Adding this to a small f64 leaves its nearest integer in the low bits: far cheaper than a division or conversion. */
@inline
const ROUNDER: f64 = 6755399441055744; // 1.5 × 2^52
@inline
const DAYS_OF_ERA: u32 = 146097; // 400 years
/** Eras that make small day numbers positive, 2^30 of them. */
@inline
const ERAS_AHEAD: u32 = 7350;
/** Days from the first of March of the year 0 to 1970. */
@inline
const EPOCH: i32 = 719468;

@inline
function nearestOf(x: f64): i64 {
  return reinterpret<i64>(x + ROUNDER) - reinterpret<i64>(ROUNDER);
}

/** floor(value / width); `reciprocal` is 1 / width. */
@inline
function floorOf(value: i64, width: i64, reciprocal: f64): i64 {
  if (<u64>(value + EXACT) <= <u64>(2 * EXACT)) {
    const nearest = nearestOf(<f64>value * reciprocal);
    return nearest + ((value - nearest * width) >> 63);
  }
  return value / width - i64(value % width < 0);
}

@inline
export function dayOf(ms: i64): i64 {
  return floorOf(ms, DAY_MS, 1.0 / <f64>DAY_MS);
}

/** Year << 18 | month << 14 | day of month << 9 | day of year, these from 1. */
export function civil(day: i64): i64 {
  let era: i64;
  let day_: u32; // of the era, from the first of March on
  if (<u64>(day + (1 << 30)) < <u64>(<i64>1 << 31)) {
    const ahead = <u32>(<i32>day + (EPOCH + <i32>(DAYS_OF_ERA * ERAS_AHEAD)));
    const eras = ahead / DAYS_OF_ERA;
    day_ = ahead - eras * DAYS_OF_ERA;
    era = <i64>eras - ERAS_AHEAD;
  } else {
    const shifted = day + EPOCH;
    era = shifted / DAYS_OF_ERA - i64(shifted % DAYS_OF_ERA < 0);
    day_ = <u32>(shifted - era * DAYS_OF_ERA);
  }
  const yearOfEra = (day_ - day_ / 1460 + day_ / 36524 - day_ / 146096) / 365;
  const dayOfYear = day_ - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const month_ = (5 * dayOfYear + 2) / 153; // from March, 0
  const dayOfMonth = dayOfYear - (153 * month_ + 2) / 5 + 1;
  const isEarly = month_ >= 10; // January or February, of the next year
  const year = <i64>yearOfEra + era * 400 + i64(isEarly);
  const month = isEarly ? month_ - 9 : month_ + 3;
  const fromJanuary = isEarly ? dayOfYear - 305 : dayOfYear + 60 + u32(isLeap(yearOfEra));
  return (year << 18) | <i64>((month << 14) | (dayOfMonth << 9) | fromJanuary);
}

@inline
export function isLeap(year: u32): bool {
  return (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0);
}

/** Day number of a date; `month` from 1. */
export function dayOfDate(year: i32, month: u32, dayOfMonth: u32): i64 {
  const shifted = year - i32(month <= 2);
  const era = shifted / 400 - i32(shifted % 400 < 0);
  const yearOfEra = <u32>(shifted - era * 400);
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1;
  return <i64>era * DAYS_OF_ERA + <i64>(yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear) - EPOCH;
}

/** Months since the year 0 of what `civil` gave. */
@inline
function monthOf(date: i64): i64 {
  return (date >> 18) * 12 + ((date >> 14) & 15) - 1;
}

/** Day number of the `dayOfMonth`th of a month since the year 0, or the last where there are fewer. */
function dayInMonth(month: i64, dayOfMonth: u32): i64 {
  const year = <i32>(month / 12 - i64(month % 12 < 0));
  const monthOfYear = <u32>(month - <i64>year * 12) + 1;
  const first = dayOfDate(year, monthOfYear, 1);
  if (dayOfMonth <= 28) return first + dayOfMonth - 1;
  const next = monthOfYear == 12 ? dayOfDate(year + 1, 1, 1) : dayOfDate(year, monthOfYear + 1, 1);
  return min<i64>(first + dayOfMonth, next) - 1;
}

/** Monday 1 to Sunday 7. */
@inline
function weekdayOf(day: i64): i64 {
  const past = (day + 3) % 7;
  return (past < 0 ? past + 7 : past) + 1;
}

function fieldOf(day: i64, field: u32): i64 {
  if (field == 1) return weekdayOf(day);
  // A week belongs to the year that its Thursday is in.
  const date = civil(field == 3 || field == 7 ? day - weekdayOf(day) + 4 : day);
  const year = date >> 18;
  const month = (date >> 14) & 15;
  const dayOfYear = date & 511;
  if (field == 0) return (date >> 9) & 31;
  if (field == 2) return dayOfYear;
  if (field == 3) return <i64>((<u32>dayOfYear + 6) / 7);
  if (field == 4) return month;
  if (field == 5) return <i64>((<u32>month + 2) / 3);
  if (field == 8) return year / 10;
  if (field == 9) return year > 0 ? (year + 99) / 100 : year / 100;
  if (field == 10) return year > 0 ? (year + 999) / 1000 : year / 1000;
  return year;
}

/** Stretches that reach beyond the first or last i64 wrap around: what lies in them is computed each time. */
@inline
function widthFrom(start: i64, value: i64, width: u64): u64 {
  return start <= value && start + <i64>width > value ? width : 0;
}

export function calendarI64(values: usize, rows: u32, field: u32, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(out));
  let result: i64 = 0;
  let start: i64 = 0;
  let width: u64 = 0; // of what `result` holds for: nothing yet
  const end = <usize>rows << 3;
  for (let at: usize = 0; at < end; at += 8) {
    const value = load<i64>(values + at);
    if (<u64>(value - start) >= width) {
      const day = dayOf(value);
      start = day * DAY_MS;
      width = widthFrom(start, value, <u64>DAY_MS);
      result = fieldOf(day, field);
    }
    store<i64>(out + at, result);
  }
}

export function clockI64(values: usize, rows: u32, cycle: i64, unit: i64, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(out) && unit > 0 && cycle >= unit && cycle <= 604800000);
  const perCycle = 1.0 / <f64>cycle;
  const perUnit = 1.0 / <f64>unit;
  const end = <usize>rows << 3;
  for (let at: usize = 0; at < end; at += 8) {
    const value = load<i64>(values + at);
    const past = value - floorOf(value, cycle, perCycle) * cycle;
    // Half a millisecond keeps quotients away from the integers that they could be rounded to.
    store<i64>(out + at, nearestOf(floor<f64>((<f64>past + 0.5) * perUnit)));
  }
}

export function floorMonthsI64(values: usize, rows: u32, months: i64, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(out) && months > 0);
  let start: i64 = 0;
  let width: u64 = 0;
  const end = <usize>rows << 3;
  for (let at: usize = 0; at < end; at += 8) {
    const value = load<i64>(values + at);
    if (<u64>(value - start) >= width) {
      const month = monthOf(civil(dayOf(value))) - 1970 * 12;
      const first = (month / months - i64(month % months < 0)) * months + 1970 * 12;
      start = dayInMonth(first, 1) * DAY_MS;
      width = widthFrom(start, value, <u64>(dayInMonth(first + months, 1) * DAY_MS - start));
    }
    store<i64>(out + at, start);
  }
}

export function addMonthsI64(values: usize, rows: u32, months: i64, days: i64, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(out));
  let start: i64 = 0;
  let width: u64 = 0;
  let moved: i64 = 0;
  const end = <usize>rows << 3;
  for (let at: usize = 0; at < end; at += 8) {
    const value = load<i64>(values + at);
    if (<u64>(value - start) >= width) {
      const day = dayOf(value);
      const date = civil(day);
      start = day * DAY_MS;
      width = widthFrom(start, value, <u64>DAY_MS);
      moved = (dayInMonth(monthOf(date) + months, <u32>((date >> 9) & 31)) + days) * DAY_MS - start;
    }
    store<i64>(out + at, value + moved);
  }
}

/** Instants up to here, either way, have a day number that some eras make a positive u32. */
@inline
const FARTHEST: i64 = (1 << 53) - 1;
/** Eras that make such day numbers positive. */
@inline
const FAR_ERAS: u32 = 714;

/** Months since March of a year long ago, after Neri and Schneider: (month << 32) | day of the month, from 0. */
@inline
function marchMonth(day: i32): u64 {
  const ahead = 4 * <u32>(day + EPOCH + <i32>(DAYS_OF_ERA * FAR_ERAS)) + 3;
  const century = ahead / DAYS_OF_ERA;
  const product = <u64>2939745 * <u64>((ahead - century * DAYS_OF_ERA) | 3); // years of 365.25 days, and what is left over
  const month = 2141 * (<u32>product / 2939745 / 4) + 197913;
  const months = (century * 100 + <u32>(product >> 32)) * 12 + (month >> 16);
  return (<u64>months << 32) | <u64>((month & 0xffff) / 2141);
}

/** Whole months from an earlier instant to a later one. */
@inline
function wholeMonths(first: i64, last: i64): i64 {
  const firstDay = dayOf(first);
  const lastDay = dayOf(last);
  const from = marchMonth(<i32>firstDay);
  const to = marchMonth(<i32>lastDay);
  let dayFrom = <u32>from;
  const dayTo = <u32>to;
  // The last day of a month stands for those that it lacks.
  if (dayFrom > dayTo && dayTo >= 27 && <u32>marchMonth(<i32>lastDay + 1) == 0) dayFrom = dayTo;
  const past = <i64>dayTo * DAY_MS + last - lastDay * DAY_MS;
  return <i64>(<u32>(to >> 32) - <u32>(from >> 32)) - i64(<i64>dayFrom * DAY_MS + first - firstDay * DAY_MS > past);
}

export function monthsBetweenI64(starts: usize, oneStart: u32, ends: usize, oneEnd: u32, rows: u32, out: usize, others: usize): u32 {
  assert(isAligned<i64>(starts) && isAligned<i64>(ends) && isAligned<i64>(out) && isAligned<u64>(others));
  const stepOfStart: usize = oneStart == 1 ? 0 : 8;
  const stepOfEnd: usize = oneEnd == 1 ? 0 : 8;
  let count: u32 = 0;
  let bits: u64 = 0;
  const n = <usize>rows;
  for (let row: usize = 0; row < n; row++) {
    const start = load<i64>(starts);
    const end = load<i64>(ends);
    starts += stepOfStart;
    ends += stepOfEnd;
    let result: i64 = 0;
    if (<u64>(start + FARTHEST) <= <u64>(2 * FARTHEST) && <u64>(end + FARTHEST) <= <u64>(2 * FARTHEST)) {
      const isNegative = end < start;
      const months = wholeMonths(isNegative ? end : start, isNegative ? start : end);
      result = isNegative ? -months : months;
    } else {
      count++;
      bits |= <u64>1 << (row & 63);
    }
    store<i64>(out + (row << 3), result);
    if ((row & 63) == 63 || row + 1 == n) {
      store<u64>(others + ((row >> 6) << 3), bits);
      bits = 0;
    }
  }
  return count;
}

/** The last of `count` ascending starts at or below `value`, else the first. */
@inline
function stepOf(starts: usize, count: u32, value: i64): u32 {
  let at: u32 = 0;
  for (let left = count; left > 1; ) {
    const half = left >> 1;
    at = select<u32>(at + half, at, load<i64>(starts + (<usize>(at + half) << 3)) <= value);
    left -= half;
  }
  return at;
}

/** Value at which a step ends; the last step has no end. */
@inline
function endOf(starts: usize, count: u32, step: u32): i64 {
  return step + 1 < count ? load<i64>(starts + (<usize>step << 3), 8) : i64.MAX_VALUE;
}

@inline
function steps<T>(values: usize, rows: u32, starts: usize, count: u32, results: usize, isSum: bool, out: usize): void {
  let first: i64 = 0;
  let next: i64 = 0; // the step of the row before is [first, next); none at the start
  let result: T = 0;
  const end = <usize>rows;
  for (let row: usize = 0; row < end; row++) {
    const value = load<i64>(values + (row << 3));
    if (value < first || value >= next) {
      const step = stepOf(starts, count, value);
      first = step == 0 ? i64.MIN_VALUE : load<i64>(starts + (<usize>step << 3));
      next = endOf(starts, count, step);
      result = load<T>(results + <usize>step * sizeof<T>());
    }
    store<T>(out + row * sizeof<T>(), isSum ? <T>value + result : result);
  }
}

export function step32(values: usize, rows: u32, starts: usize, count: u32, results: usize, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(starts) && isAligned<u32>(results) && isAligned<u32>(out) && count > 0);
  steps<u32>(values, rows, starts, count, results, false, out);
}

export function step64(values: usize, rows: u32, starts: usize, count: u32, results: usize, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(starts) && isAligned<u64>(results) && isAligned<u64>(out) && count > 0);
  steps<u64>(values, rows, starts, count, results, false, out);
}

export function addStepsI64(values: usize, rows: u32, starts: usize, count: u32, results: usize, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(starts) && isAligned<i64>(results) && isAligned<i64>(out) && count > 0);
  steps<u64>(values, rows, starts, count, results, true, out);
}

export function floorStepsI64(values: usize, rows: u32, width: i64, starts: usize, count: u32, offsets: usize, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(starts) && isAligned<i64>(offsets) && isAligned<i64>(out) && count > 0 && width > 0);
  const reciprocal = 1.0 / <f64>width;
  let first: i64 = 0;
  let next: i64 = 0;
  let offset: i64 = 0;
  const end = <usize>rows << 3;
  for (let at: usize = 0; at < end; at += 8) {
    const value = load<i64>(values + at);
    if (value < first || value >= next) {
      const step = stepOf(starts, count, value);
      first = step == 0 ? i64.MIN_VALUE : load<i64>(starts + (<usize>step << 3));
      next = endOf(starts, count, step);
      offset = load<i64>(offsets + (<usize>step << 3));
    }
    const floored = floorOf(value + offset, width, reciprocal) * width - offset;
    store<i64>(out + at, max<i64>(floored, first));
  }
}
