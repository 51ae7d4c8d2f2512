// The part of the kernel contract that is over instants and dates.

import type { Address } from '../base/layout.js';

type Steps = (values: Address, rows: number, starts: Address, count: number, results: Address, out: Address) => void;

/** Over i64 milliseconds of a wall clock in the proleptic Gregorian calendar, of any size; `out` may be `values`. */
export interface CalendarKernels {
  /**
   * Field of the date: 0 day of month, 1 day of week (Monday 1), 2 day of year, 3 ISO week, 4 month, 5 quarter, 6 year, 7 year of the ISO
   * week, 8 decade, 9 century, 10 millennium.
   */
  readonly calendarI64: (values: Address, rows: number, field: number, out: Address) => void;
  /** Whole units since the last multiple of `cycle`, at most a week; out[i] = floor((value - floor(value / cycle) * cycle) / unit). */
  readonly clockI64: (values: Address, rows: number, cycle: bigint, unit: bigint, out: Address) => void;
  /** Start of the stretch of so many months, counted from 1970 on. */
  readonly floorMonthsI64: (values: Address, rows: number, months: bigint, out: Address) => void;
  /** So many months on, by the date (a day the month lacks becomes its last), then so many days. */
  readonly addMonthsI64: (values: Address, rows: number, months: bigint, days: bigint, out: Address) => void;
  /**
   * Whole months from starts[i] to ends[i] (one for all when `oneStart`, `oneEnd` is 1): the most that can be added to the earlier, as
   * above, without passing the later; below 0 where that is the start. Bits `others` (whole words): rows of which an instant is beyond 2^53 - 1
   * either way, whose result is 0; returns how many. `out` may be an array read.
   */
  readonly monthsBetweenI64: (
    starts: Address,
    oneStart: number,
    ends: Address,
    oneEnd: number,
    rows: number,
    out: Address,
    others: Address,
  ) => number;
  /** out[i] = results[step], where step is the last of `count` ascending starts at or below the value, else the first. Of 4 bytes; `out` is not `values`. */
  readonly step32: Steps;
  /** The same of 8 bytes. */
  readonly step64: Steps;
  /** value + results[step]. */
  readonly addStepsI64: Steps;
  /** max(starts[step], floor((value + offsets[step]) / width) * width - offsets[step]); of the first step without its start. */
  readonly floorStepsI64: (
    values: Address,
    rows: number,
    width: bigint,
    starts: Address,
    count: number,
    offsets: Address,
    out: Address,
  ) => void;
}
