// Conformance checks of the kernels of calendar.ts.

import { type Lab, MIN_I64 } from './lab.js';

const DAY = 86_400_000n;
/** 400 years, after which dates and weekdays come again. */
const ERA_MS = 146_097n * DAY;

/** Runs of a day; days of the years 1 to 9999 in any order; ends of months and years; any instant. */
const SHAPES = ['runs', 'years', 'ends', 'far'] as const;

export const CALENDAR_CHECKS = {
  calendarI64(lab: Lab) {
    for (const [field, of] of FIELDS.entries()) {
      perInstant(lab, {
        kernel: (at, rows, out) => lab.kernels.calendarI64(at, rows, field, out),
        expected(value) {
          const { date, years } = dateOf(value);
          return of(date, years);
        },
        what: `field ${field}`,
      });
    }
  },
  clockI64(lab: Lab) {
    for (const [cycle, unit] of [
      [1000n, 1n],
      [60_000n, 1000n],
      [3_600_000n, 60_000n],
      [DAY, 3_600_000n],
      [7n * DAY, DAY],
      [7n, 3n],
    ] as const) {
      perInstant(lab, {
        kernel: (at, rows, out) => lab.kernels.clockI64(at, rows, cycle, unit, out),
        expected: (value) => (((value % cycle) + cycle) % cycle) / unit,
        what: 'unit',
      });
    }
  },
  floorMonthsI64(lab: Lab) {
    for (const months of [1n, 3n, 7n, 12n, 1200n]) {
      perInstant(lab, {
        kernel: (at, rows, out) => lab.kernels.floorMonthsI64(at, rows, months, out),
        instantsOf: nearInstants,
        expected(value) {
          const month = monthOf(value);
          return startOfMonth(month - (((month % months) + months) % months));
        },
        what: 'floor',
      });
    }
  },
  addMonthsI64(lab: Lab) {
    for (const [months, days] of [
      [1n, 0n],
      [-1n, 0n],
      [12n, 1n],
      [-37n, -400n],
      [0n, 30n],
      [4800n, 0n],
    ] as const) {
      perInstant(lab, {
        kernel: (at, rows, out) => lab.kernels.addMonthsI64(at, rows, months, days, out),
        instantsOf: nearInstants,
        expected: (value) => moved(value, months) + days * DAY,
        what: 'sum',
      });
    }
  },
  monthsBetweenI64(lab: Lab) {
    for (const [oneStart, oneEnd] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ] as const)
      lab.each(SHAPES, (rows, shape) => {
        const starts = safeInstants(lab, oneStart === 1 ? 1 : rows, shape);
        const ends = safeInstants(lab, oneEnd === 1 ? 1 : rows, shape).map((value, row) => {
          const start = starts[row] ?? 0n;
          return lab.random(3) === 0 && isSafe(start) ? moved(start, BigInt(lab.random(50) - 25)) + BigInt(lab.random(3) - 1) : value;
        });
        const isInPlace = oneStart === 0 && lab.random(2) === 0;
        const to = lab.place('I64', ends);
        const from = isInPlace ? lab.output('I64', rows, starts) : lab.place('I64', starts);
        const out = isInPlace ? from : lab.output('I64', rows);
        const others = lab.output('I64', Math.ceil(rows / 64));
        const pairs = Array.from({ length: rows }, (_, row) => ({
          start: starts[oneStart === 1 ? 0 : row] ?? 0n,
          end: ends[oneEnd === 1 ? 0 : row] ?? 0n,
        }));
        const isOther = pairs.map(({ start, end }) => !isSafe(start) || !isSafe(end));
        lab.expectResult(
          lab.call(() => lab.kernels.monthsBetweenI64(from, oneStart, to, oneEnd, rows, out, others)),
          isOther.filter((each) => each).length,
        );
        lab.expectBits(others, isOther);
        lab.expect(
          'I64',
          out,
          pairs.map(({ start, end }, row) => (isOther[row] === true ? 0n : wholeMonths(start, end))),
          'months',
        );
      });
  },
  step32(lab: Lab) {
    stepped(lab, 'U32', (at, rows, starts, count, results, out) => lab.kernels.step32(at, rows, starts, count, results, out));
  },
  step64(lab: Lab) {
    stepped(lab, 'I64', (at, rows, starts, count, results, out) => lab.kernels.step64(at, rows, starts, count, results, out));
  },
  addStepsI64(lab: Lab) {
    stepped(
      lab,
      'I64',
      (at, rows, starts, count, results, out) => lab.kernels.addStepsI64(at, rows, starts, count, results, out),
      (value) => value,
    );
  },
  floorStepsI64(lab: Lab) {
    for (const width of [1n, 1000n, 60_000n, 3_600_000n]) {
      lab.each(SHAPES, (rows, shape) => {
        const values = nearInstants(lab, rows, shape);
        const starts = [MIN_I64, ...sorted(instants(lab, 1 + lab.random(30), 'years'))];
        const offsets = starts.map(() => BigInt(lab.random(100_000) - 50_000) * 1000n);
        const [at, bounds, from] = [lab.place('I64', values), lab.place('I64', starts), lab.place('I64', offsets)];
        const out = lab.output('I64', rows);
        lab.call(() => lab.kernels.floorStepsI64(at, rows, width, bounds, starts.length, from, out));
        lab.expect(
          'I64',
          out,
          values.map((value) => {
            const step = stepOf(starts, value);
            const offset = offsets[step] ?? 0n;
            const local = value + offset;
            const floored = local - (((local % width) + width) % width) - offset;
            const start = starts[step] ?? 0n;
            return floored < start ? start : floored;
          }),
          'floor',
        );
      });
    }
  },
};

/** So many months on, by the date. */
function moved(value: bigint, months: bigint): bigint {
  const month = monthOf(value) + months;
  const first = startOfMonth(month);
  const last = startOfMonth(month + 1n) - DAY;
  const wanted = first + BigInt(dateOf(value).date.getUTCDate() - 1) * DAY;
  return (wanted < last ? wanted : last) + (((value % DAY) + DAY) % DAY);
}

/** The most months that can be added to the earlier without passing the later. */
function wholeMonths(start: bigint, end: bigint): bigint {
  if (end < start) return -wholeMonths(end, start);
  const most = monthOf(end) - monthOf(start);
  return moved(start, most) > end ? most - 1n : most;
}

function isSafe(value: bigint): boolean {
  return value > -(2n ** 53n) && value < 2n ** 53n;
}

/** Instants of which many are such as doubles tell apart, some the last of these. */
function safeInstants(lab: Lab, count: number, shape: (typeof SHAPES)[number]): bigint[] {
  const ends = [2n ** 53n - 1n, 2n ** 53n, 1n - 2n ** 53n, -(2n ** 53n)];
  return instants(lab, count, shape).map((value) =>
    lab.random(50) === 0 ? (ends[lab.random(ends.length)] ?? 0n) : shape === 'far' ? value >> BigInt(lab.random(24)) : value,
  );
}

/** A kernel of one instant in, one number out. */
interface PerInstant {
  kernel(values: number, rows: number, out: number): void;
  readonly instantsOf?: typeof instants;
  expected(value: bigint): bigint;
  readonly what: string;
}

function perInstant(lab: Lab, { kernel, instantsOf = instants, expected, what }: PerInstant): void {
  lab.each(SHAPES, (rows, shape) => {
    const values = instantsOf(lab, rows, shape);
    const at = lab.place('I64', values);
    const out = lab.output('I64', rows);
    lab.call(() => kernel(at, rows, out));
    lab.expect('I64', out, values.map(expected), what);
  });
}

type Field = (date: Date, years: bigint) => bigint;

/** Fields of a date by their number; `years` are to be added to those of the date. */
const FIELDS: readonly Field[] = [
  (date) => BigInt(date.getUTCDate()),
  (date) => BigInt(weekday(date)),
  (date) => BigInt(dayOfYear(date)),
  (date) => BigInt(Math.floor((dayOfYear(thursday(date)) + 6) / 7)),
  (date) => BigInt(date.getUTCMonth() + 1),
  (date) => BigInt(Math.floor(date.getUTCMonth() / 3) + 1),
  (date, years) => BigInt(date.getUTCFullYear()) + years,
  (date, years) => BigInt(thursday(date).getUTCFullYear()) + years,
  (date, years) => (BigInt(date.getUTCFullYear()) + years) / 10n,
  (date, years) => ceiling(BigInt(date.getUTCFullYear()) + years, 100n),
  (date, years) => ceiling(BigInt(date.getUTCFullYear()) + years, 1000n),
];

function ceiling(value: bigint, by: bigint): bigint {
  return value / by + (value % by > 0n ? 1n : 0n);
}

function weekday(date: Date): number {
  return date.getUTCDay() === 0 ? 7 : date.getUTCDay();
}

function thursday(date: Date): Date {
  return new Date(date.getTime() + (4 - weekday(date)) * Number(DAY));
}

function dayOfYear(date: Date): number {
  const first = new Date(date);
  first.setUTCMonth(0, 1);
  first.setUTCHours(0, 0, 0, 0);
  return Math.floor((date.getTime() - first.getTime()) / Number(DAY)) + 1;
}

/** The date in the 400 years from 1970 on that the calendar goes on from like this one. */
function dateOf(value: bigint): { readonly date: Date; readonly years: bigint } {
  const past = ((value % ERA_MS) + ERA_MS) % ERA_MS;
  return { date: new Date(Number(past)), years: ((value - past) / ERA_MS) * 400n };
}

/** Months since 1970. */
function monthOf(value: bigint): bigint {
  const { date, years } = dateOf(value);
  return (BigInt(date.getUTCFullYear()) + years - 1970n) * 12n + BigInt(date.getUTCMonth());
}

/** Start of a month since 1970. */
function startOfMonth(month: bigint): bigint {
  const past = ((month % 4800n) + 4800n) % 4800n;
  const date = new Date(0);
  date.setUTCFullYear(1970, Number(past), 1);
  return BigInt(date.getTime()) + ((month - past) / 4800n) * ERA_MS;
}

function instants(lab: Lab, count: number, shape: (typeof SHAPES)[number]): bigint[] {
  const first = BigInt(Date.UTC(2024, 1, 20));
  if (shape === 'far') return lab.values('I64', count).map(BigInt);
  return Array.from({ length: count }, (_, row) => {
    if (shape === 'runs') return first + (BigInt(row) * DAY) / 7n;
    const day = BigInt(lab.random(3_652_059) - 719_162);
    if (shape === 'years') return day * DAY + BigInt(lab.random(86_400_000));
    const date = new Date(Number(day * DAY));
    date.setUTCMonth(lab.random(3) === 0 ? 12 : date.getUTCMonth() + 1, 1);
    return BigInt(date.getTime() - lab.random(3));
  });
}

/** Instants that are far enough from the ends of time to be moved. */
function nearInstants(lab: Lab, count: number, shape: (typeof SHAPES)[number]): bigint[] {
  return instants(lab, count, shape).map((value) => value / 2n);
}

function sorted(values: readonly bigint[]): bigint[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function stepOf(starts: readonly bigint[], value: bigint): number {
  let step = 0;
  while (step + 1 < starts.length && (starts[step + 1] ?? 0n) <= value) step++;
  return step;
}

type StepKernel = (values: number, rows: number, starts: number, count: number, results: number, out: number) => void;

function stepped(lab: Lab, type: 'U32' | 'I64', kernel: StepKernel, base: (value: bigint) => bigint = () => 0n): void {
  lab.each(SHAPES, (rows, shape) => {
    const values = instants(lab, rows, shape);
    const starts = sorted(instants(lab, 1 + lab.random(40), shape));
    const results = lab.values(type, starts.length).map(BigInt);
    const [at, bounds, from] = [lab.place('I64', values), lab.place('I64', starts), lab.place(type, results)];
    const out = lab.output(type, rows);
    lab.call(() => kernel(at, rows, bounds, starts.length, from, out));
    const expected = values.map((value) => BigInt.asIntN(64, base(value) + (results[stepOf(starts, value)] ?? 0n)));
    lab.expect(type, out, type === 'U32' ? expected.map(Number) : expected, 'result');
  });
}
