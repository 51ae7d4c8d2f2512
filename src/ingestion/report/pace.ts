// Pace of a task: how fast it reads, how much of its input it has read, and when it will have read all.

import type { TaskProgress } from '../contract.js';

export interface Pace {
  readonly rowsRead: number;
  readonly rowsPerSecond: number;
  /** 0 to 100; null while the size of the input is not known. */
  readonly percent: number | null;
  /** Absolute; null while it cannot be told. */
  readonly expectedEndMs: number | null;
}

export function paceOf(progress: TaskProgress): Pace {
  const { bytesRead, bytesTotal, startedMs, atMs, processed, processedWithError, thrownAway, unparseable } = progress;
  const rowsRead = processed + processedWithError + thrownAway + unparseable;
  const elapsedMs = Math.max(0, atMs - startedMs);
  // A packed file may be read further than its size says.
  const fraction = bytesTotal === null || bytesTotal === 0 ? null : Math.min(1, bytesRead / bytesTotal);
  return {
    rowsRead,
    rowsPerSecond: elapsedMs === 0 ? 0 : Math.round((rowsRead * 1000) / elapsedMs),
    percent: fraction === null ? null : Math.round(fraction * 1000) / 10,
    expectedEndMs: fraction === null || fraction === 0 ? null : Math.round(atMs + (elapsedMs * (1 - fraction)) / fraction),
  };
}

/** The pace as a line of a log. */
export function paceText({ rowsRead, rowsPerSecond, percent, expectedEndMs }: Pace, nowMs: number): string {
  const share = percent === null ? '' : `, ${percent} % of the input`;
  const rest = expectedEndMs === null ? '' : `, about ${Math.max(0, Math.round((expectedEndMs - nowMs) / 1000))} s to go`;
  return `${rowsRead} rows read, ${rowsPerSecond} rows/s${share}${rest}`;
}
