// Size and urgency of work: which of two that have the same priority goes first.

/** Rows of an estimate (`work-size.ts`) that a thread reads in a millisecond. */
const ROWS_PER_MS = 100_000;

/** About how long work on so many rows takes alone. */
export function expectedMsOf(rows: number): number {
  return rows / ROWS_PER_MS;
}

/** Work as a thread knows it: how large it is thought to be, and what became of it so far. */
export interface Work {
  /** About how long it takes alone, in milliseconds. */
  readonly expectedMs: number;
  /** Time that the thread spent on it. */
  ranMs: number;
  /** Time that it was ready to be done while the thread did something else. */
  waitedMs: number;
}

export function newWork(expectedMs: number): Work {
  return { expectedMs, ranMs: 0, waitedMs: 0 };
}

/** Sizes that are told apart: below, fixed costs decide; above, every estimate is as good as another. */
const SIZE_MS = { min: 1, max: 60_000 } as const;

/** Size by which work is compared: the estimate, until it has taken longer. */
function sizeOf({ expectedMs, ranMs }: Work): number {
  return Math.min(SIZE_MS.max, Math.max(SIZE_MS.min, expectedMs, ranMs));
}

/**
 * Urgency of work that has waited for so long: the time it has waited over the root of its size. By the time alone small work would
 * wait as long as large work does (first come, first served); by time over size everybody would be slowed down by the same factor,
 * and the largest wait longest. Whoever waits becomes more urgent than anything that comes later, so nothing starves.
 */
export function urgencyOf(work: Work, waitedMs: number): number {
  return waitedMs / Math.sqrt(sizeOf(work));
}

/**
 * Work overtakes what has begun when it is this part of its size. What was overtaken goes on last of all on top of it, so that sizes which are
 * alike, or hardly known, would turn first come, first served into last come, first served.
 */
const MUCH_SMALLER = 1 / 8;

/** Whether work is so much smaller than other work that it should not wait for it to end. */
export function isMuchSmaller(work: Work, other: Work): boolean {
  return sizeOf(work) <= sizeOf(other) * MUCH_SMALLER;
}
