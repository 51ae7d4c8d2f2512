// Plain TypeScript twins of the kernels of calendar.ts.

// Reference kernels: calendar.

import { civilFromDays, DAY_MS, dayOfWeek, daysFromCivil, daysInMonth } from '../../base/calendar.js';
import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';

const DAY = BigInt(DAY_MS);
/** Days of 400 years, after which dates and weekdays come again. */
const ERA_DAYS = 146_097n;

export function calendarKernels(memory: KernelMemory) {
  const each = (values: Address, rows: number, out: Address, result: (value: bigint) => bigint): void => {
    const column = memory.i64(values, rows);
    const results = memory.i64(out, rows);
    for (let row = 0; row < rows; row++) results[row] = result(column[row] ?? 0n);
  };
  const stepsOf = (starts: Address, count: number): ((value: bigint) => number) => {
    const bounds = memory.i64(starts, count);
    return (value) =>
      Math.max(
        0,
        bounds.findLastIndex((start) => start <= value),
      );
  };
  return {
    calendarI64(values: Address, rows: number, field: number, out: Address) {
      each(values, rows, out, (value) => fieldOf(floorDivide(value, DAY), field));
    },
    clockI64(values: Address, rows: number, cycle: bigint, unit: bigint, out: Address) {
      each(values, rows, out, (value) => (value - floorDivide(value, cycle) * cycle) / unit);
    },
    floorMonthsI64(values: Address, rows: number, months: bigint, out: Address) {
      each(values, rows, out, (value) => {
        const month = monthOf(civilOf(floorDivide(value, DAY)));
        return BigInt.asIntN(64, dayInMonth(floorDivide(month - EPOCH_MONTH, months) * months + EPOCH_MONTH, 1) * DAY);
      });
    },
    addMonthsI64(values: Address, rows: number, months: bigint, days: bigint, out: Address) {
      each(values, rows, out, (value) => {
        const day = floorDivide(value, DAY);
        const date = civilOf(day);
        const moved = dayInMonth(monthOf(date) + months, date.day) + days;
        return BigInt.asIntN(64, value + (moved - day) * DAY);
      });
    },
    monthsBetweenI64(
      starts: Address,
      oneStart: number,
      ends: Address,
      oneEnd: number,
      rows: number,
      out: Address,
      others: Address,
    ): number {
      const [from, to] = [memory.i64(starts, oneStart === 1 ? 1 : rows), memory.i64(ends, oneEnd === 1 ? 1 : rows)];
      const [results, bits] = [memory.i64(out, rows), memory.u32(others, Math.ceil(rows / 64) * 2)];
      const one = from[0] ?? 0n;
      const other = to[0] ?? 0n;
      bits.fill(0);
      let count = 0;
      for (let row = 0; row < rows; row++) {
        const [start, end] = [oneStart === 1 ? one : (from[row] ?? 0n), oneEnd === 1 ? other : (to[row] ?? 0n)];
        const isKnown = [start, end].every((instant) => instant >= -FARTHEST && instant <= FARTHEST);
        results[row] = isKnown ? monthsBetween(start, end) : 0n;
        if (isKnown) continue;
        count++;
        bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
      }
      return count;
    },
    step32(values: Address, rows: number, starts: Address, count: number, results: Address, out: Address) {
      const column = memory.i64(values, rows);
      const stepOf = stepsOf(starts, count);
      const from = memory.u32(results, count);
      const into = memory.u32(out, rows);
      for (let row = 0; row < rows; row++) into[row] = from[stepOf(column[row] ?? 0n)] ?? 0;
    },
    step64(values: Address, rows: number, starts: Address, count: number, results: Address, out: Address) {
      const stepOf = stepsOf(starts, count);
      const from = memory.i64(results, count);
      each(values, rows, out, (value) => from[stepOf(value)] ?? 0n);
    },
    addStepsI64(values: Address, rows: number, starts: Address, count: number, results: Address, out: Address) {
      const stepOf = stepsOf(starts, count);
      const from = memory.i64(results, count);
      each(values, rows, out, (value) => BigInt.asIntN(64, value + (from[stepOf(value)] ?? 0n)));
    },
    floorStepsI64(values: Address, rows: number, width: bigint, starts: Address, count: number, offsets: Address, out: Address) {
      const stepOf = stepsOf(starts, count);
      const bounds = memory.i64(starts, count);
      const from = memory.i64(offsets, count);
      each(values, rows, out, (value) => {
        const step = stepOf(value);
        const offset = from[step] ?? 0n;
        const floored = floorDivide(value + offset, width) * width - offset;
        const start = step === 0 ? floored : (bounds[step] ?? 0n);
        return floored < start ? start : floored;
      });
    },
  };
}

interface Civil {
  readonly year: bigint;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

const EPOCH_MONTH = 1970n * 12n;

function floorDivide(value: bigint, by: bigint): bigint {
  return value / by - (value % by < 0n ? 1n : 0n);
}

function civilOf(day: bigint): Civil {
  const era = floorDivide(day, ERA_DAYS);
  const { year, month, day: dayOfMonth } = civilFromDays(Number(day - era * ERA_DAYS));
  return { year: BigInt(year) + era * 400n, month, day: dayOfMonth };
}

function monthOf({ year, month }: Civil): bigint {
  return year * 12n + BigInt(month) - 1n;
}

/** Day number of a day of a month since the year 0, or of the last one where there are fewer. */
function dayInMonth(month: bigint, dayOfMonth: number): bigint {
  const era = floorDivide(month, 4800n);
  const within = Number(month - era * 4800n);
  const [year, monthOfYear] = [Math.floor(within / 12), (within % 12) + 1];
  return BigInt(daysFromCivil(year, monthOfYear, Math.min(dayOfMonth, daysInMonth(year, monthOfYear)))) + era * ERA_DAYS;
}

const FARTHEST = 2n ** 53n - 1n;

function monthsBetween(start: bigint, end: bigint): bigint {
  if (end < start) return -monthsBetween(end, start);
  const day = floorDivide(start, DAY);
  const [from, to] = [civilOf(day), civilOf(floorDivide(end, DAY))];
  const moved = start + (dayInMonth(monthOf(to), from.day) - day) * DAY;
  return monthOf(to) - monthOf(from) - (moved > end ? 1n : 0n);
}

function fieldOf(day: bigint, field: number): bigint {
  const weekday = dayOfWeek(Number(((day % 7n) + 7n) % 7n));
  const { year, month, day: dayOfMonth } = civilOf(day);
  const thursday = day - BigInt(weekday) + 4n;
  const dayOfYear = (of: bigint): number => Number(of - dayInMonth(civilOf(of).year * 12n, 1)) + 1;
  switch (field) {
    case 0:
      return BigInt(dayOfMonth);
    case 1:
      return BigInt(weekday);
    case 2:
      return BigInt(dayOfYear(day));
    case 3:
      return BigInt(Math.ceil(dayOfYear(thursday) / 7));
    case 4:
      return BigInt(month);
    case 5:
      return BigInt(Math.ceil(month / 3));
    case 6:
      return year;
    case 7:
      return civilOf(thursday).year;
    case 8:
      return year / 10n;
    case 9:
      return year > 0n ? (year + 99n) / 100n : year / 100n;
    default:
      return year > 0n ? (year + 999n) / 1000n : year / 1000n;
  }
}
