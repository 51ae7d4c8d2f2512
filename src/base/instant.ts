/**
 * UTC milliseconds since 1970-01-01T00:00:00Z, an integer. Never a Date inside the engine: the eternity interval
 * lies outside what Date can hold.
 */
export type EpochMs = number;

/** Half-open: `start` inclusive, `end` exclusive. */
export interface Interval {
  readonly start: EpochMs;
  readonly end: EpochMs;
}

/** The bounds the interface prints as -146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z. */
export const ETERNITY: Interval = { start: -4611686018427387904, end: 4611686018427387903 };
