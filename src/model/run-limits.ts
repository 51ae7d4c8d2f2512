// Table of the query limits that a context may set.

/*
 * Limits that the context of a query may set. The record of them is carried whole from the route over the broker and the
 * historicals to the threads, so that a limit is a row here and the line that keeps it.
 */

interface LimitRow {
  /** The smallest number that is accepted. */
  readonly minimum: number;
  /** Values that ask for no limit. */
  readonly unlimited?: readonly string[];
}

/** Limits by context key. */
export const RUN_LIMITS = {
  /** Bytes of frames that each plan of the query may gather on the broker, at most what the property allows. */
  maxScatterGatherBytes: { minimum: 0 },
  /** Rows of each subquery and each right side of a join; bytes take precedence where both are set. */
  maxSubqueryRows: { minimum: 1 },
  /** Bytes of each subquery and each right side of a join; the words leave it to the memory there is. */
  maxSubqueryBytes: { minimum: 1, unlimited: ['auto', 'disabled'] },
  /** Bytes on disk that groups may take on a server, at most what the server allows; 0: none. */
  maxOnDiskStorage: { minimum: 0 },
  /** Milliseconds that a thread may work on the rows of one segment. */
  perSegmentTimeout: { minimum: 0, unlimited: ['0'] },
  /** Rows of a scan that may be held to sort them, at most what the property allows. */
  maxRowsQueuedForOrdering: { minimum: 1 },
  /** Intervals without segments that a header of the answer tells; 0: none, and no header. */
  uncoveredIntervalsLimit: { minimum: 0 },
} as const satisfies Readonly<Record<string, LimitRow>>;

export type LimitName = keyof typeof RUN_LIMITS;

/** The limits of one query; null or absent: none of its own. */
export type RunLimits = { readonly [Name in LimitName]?: number | null };

/** The rows of the table, for code that treats all limits alike. */
export const LIMIT_ROWS: readonly (readonly [LimitName, LimitRow])[] = (Object.keys(RUN_LIMITS) as LimitName[]).map((name) => [
  name,
  RUN_LIMITS[name],
]);
