import type { EpochMs } from './interval.js';

/**
 * `all`: one bucket; `none`: one per millisecond. A `period` is an ISO 8601 period floored in a time zone,
 * counted from `origin` (null: the epoch, or the natural calendar start for weeks, months, years).
 */
export type Granularity =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'duration'; readonly durationMs: number; readonly origin: EpochMs }
  | { readonly kind: 'period'; readonly period: string; readonly timeZone: string; readonly origin: EpochMs | null };
