// Reads the `context` of a native query.

import { ServiceError } from '../../base/errors.js';
import { describeValue } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { nearestName } from '../../base/nearest-name.js';
import { LIMIT_ROWS, type RunLimits } from '../../model/run-limits.js';
import { CONTEXT_KEYS, refusedKeys } from '../context-keys.js';
import { refuse } from './reader.js';

/** The `context` of a query, read. Numbers and booleans may come as text. */
export interface QueryContext {
  /** All keys as they were sent. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Null: one is to be made. */
  readonly queryId: string | null;
  /** Null: the server's default; 0: none. */
  readonly timeoutMs: number | null;
  readonly priority: number;
  readonly kernels: string | null;
  /** Whether sums of doubles are exact; null: what the server says. */
  readonly exactSums: boolean | null;
  readonly limits: RunLimits;
  readonly lane: string | null;
  /** Whether the answer's header carries the whole profile, not a summary. */
  readonly profile: boolean;
  readonly caching: {
    readonly useCache: boolean;
    readonly populateCache: boolean;
    readonly useResultLevelCache: boolean;
    readonly populateResultLevelCache: boolean;
  };
  /** Whether each segment has a result of its own. */
  readonly bySegment: boolean;
  /** Whether published segments are left out. */
  readonly realtimeSegmentsOnly: boolean;
  /** Whether a row of several values may be in the groups of each; else such a column cannot be a key. */
  readonly unnestsMultiValues: boolean;
  readonly skipEmptyBuckets: boolean;
  /** Whether aggregators put out values, not their states. */
  readonly finalizes: boolean;
  readonly grandTotal: boolean;
  readonly sortByDimensionsFirst: boolean;
  readonly serializeDateTimeAsLong: boolean;
  /** Whether a row of a groupBy query is an array: the time of its bucket, dimensions, aggregators, post-aggregators. */
  readonly resultAsArray: boolean;
  /** Keys of the user's own; they travel into logs. */
  readonly other: Readonly<Record<string, unknown>>;
  /** Warnings for the client: keys that look misspelt. */
  readonly warnings: readonly string[];
}

const REFUSED_KEYS = refusedKeys('native');

/** An id comes back in a header, and clients read headers of a few thousand bytes. */
const QUERY_ID_LENGTH_MAX = 256;

/** @throws ServiceError `query_invalid` naming the key */
export function readQueryId(context: Readonly<Record<string, unknown>>, key: 'queryId' | 'sqlQueryId'): string | null {
  const id = own(context, key) ?? null;
  if (id === null) return null;
  if (typeof id !== 'string' || id === '' || id.length > QUERY_ID_LENGTH_MAX || /[^\x20-\x7e]/.test(id))
    refuse(`context.${key}`, `1 to ${QUERY_ID_LENGTH_MAX} characters of printable ASCII`, typeof id === 'string' ? id.slice(0, 200) : id);
  return id;
}

/** Reads the `context` field of a query. */
export function readContext(query: ObjectReader): QueryContext {
  const value = query.raw('context') ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) refuse('context', 'an object', value);
  const keys = value as Readonly<Record<string, unknown>>;
  const queryId = readQueryId(keys, 'queryId');
  const kernels = keys['kernels'] ?? null;
  if (kernels !== null && typeof kernels !== 'string') refuse('context.kernels', 'the name of a kernel set', kernels);
  const lane = keys['lane'] ?? null;
  if (lane !== null && typeof lane !== 'string') refuse('context.lane', 'the name of a lane', lane);
  for (const [key, accepted] of REFUSED_KEYS) {
    const given = own(keys, key) ?? null;
    if (given !== null && !accepted.some((value) => String(value) === String(given)))
      throw new ServiceError('unsupported', `context.${key}: ${describeValue(given)} is not supported`);
  }
  const other = Object.fromEntries(Object.entries(keys).filter(([key]) => !CONTEXT_KEYS.has(key)));
  return {
    given: keys,
    queryId,
    timeoutMs: integer(keys, 'timeout', 0),
    priority: integer(keys, 'priority', Number.MIN_SAFE_INTEGER) ?? 0,
    kernels,
    exactSums: keys['exactSums'] === undefined ? null : boolean(keys, 'exactSums'),
    limits: readLimits(keys),
    lane,
    profile: boolean(keys, 'profile'),
    caching: {
      useCache: boolean(keys, 'useCache', true),
      populateCache: boolean(keys, 'populateCache', true),
      useResultLevelCache: boolean(keys, 'useResultLevelCache', true),
      populateResultLevelCache: boolean(keys, 'populateResultLevelCache', true),
    },
    bySegment: boolean(keys, 'bySegment'),
    realtimeSegmentsOnly: boolean(keys, 'realtimeSegmentsOnly'),
    unnestsMultiValues: boolean(keys, 'groupByEnableMultiValueUnnesting', true),
    skipEmptyBuckets: boolean(keys, 'skipEmptyBuckets'),
    finalizes: boolean(keys, 'finalize', true),
    grandTotal: boolean(keys, 'grandTotal'),
    sortByDimensionsFirst: boolean(keys, 'sortByDimsFirst'),
    serializeDateTimeAsLong: boolean(keys, 'serializeDateTimeAsLong'),
    resultAsArray: boolean(keys, 'resultAsArray'),
    other,
    warnings: Object.keys(other).flatMap((key) => {
      const nearest = nearestName(key, [...CONTEXT_KEYS.keys()]);
      return nearest === undefined ? [] : [`context.${key} is not a known key and has no effect; did you mean "${nearest}"?`];
    }),
  };
}

/** Limits that a context sets for its query. */
export function readLimits(keys: Readonly<Record<string, unknown>>): RunLimits {
  return Object.fromEntries(
    LIMIT_ROWS.map(([name, { minimum, unlimited = [] }]) => [
      name,
      unlimited.includes(String(keys[name])) ? null : integer(keys, name, minimum),
    ]),
  );
}

/** A number or its digits. Clients write the largest long for "without limit": that is read as the largest number there is. */
function integer(keys: Readonly<Record<string, unknown>>, key: string, minimum: number): number | null {
  const value = own(keys, key) ?? null;
  if (value === null) return null;
  const given = typeof value === 'string' && /^[+-]?\d{1,30}$/.test(value) ? BigInt(value) : value;
  const isLong = typeof given === 'bigint' && given <= 0x7fff_ffff_ffff_ffffn;
  const number = isLong ? Math.min(Number(given), Number.MAX_SAFE_INTEGER) : given;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < minimum)
    refuse(`context.${key}`, minimum >= 0 ? `an integer of at least ${minimum}` : 'an integer', value);
  return number;
}

function boolean(keys: Readonly<Record<string, unknown>>, key: string, absent = false): boolean {
  const value = own(keys, key) ?? absent;
  if (typeof value === 'boolean') return value;
  return value === 'true' || value === 'false' ? value === 'true' : refuse(`context.${key}`, 'true or false', value);
}
