import type { Answer, Difference, DifferentialCase, Fields, Json } from './case.js';
import { findDifference } from './compare.js';

/** A difference that is meant. Each has a row of the same id in `docs/differences.md`. */
export type Mute = {
  readonly id: string;
} & (
  | { readonly covers: (difference: Difference) => boolean }
  /** Rows of either side without what may differ. */
  | { readonly equate: (rows: Json, one: DifferentialCase) => Json }
);

const mentions =
  (pattern: RegExp) =>
  ({ case: one }: Difference): boolean =>
    pattern.test(JSON.stringify(one.request, (_, value) => (typeof value === 'bigint' ? String(value) : value)));

export const MUTES: readonly Mute[] = [
  {
    // Many statements are more than the original's planner has a native query for.
    id: 'sql-answered-here-only',
    covers: ({ case: { kind }, dolmen, original }) => kind === 'sql' && original.state === 'refused' && dolmen.state === 'rows',
  },
  { id: 'original-fails', covers: ({ original }) => original.state === 'broken' },
  {
    id: 'answers-more',
    covers: ({ case: { kind }, dolmen, original }) => kind !== 'sql' && dolmen.state === 'rows' && original.state === 'refused',
  },
  { id: 'all-timestamp', equate: withoutTimesOfAll },
  { id: 'empty-buckets', equate: withoutEmptyBuckets },
  { id: 'value-types', equate: (rows, one) => (one.kind === 'expressions' ? loosely(rows) : rows) },
  { id: 'mean-of-nothing', covers: mentions(/doubleMean/) },
  { id: 'json-merge-lists', covers: mentions(/json_merge/) },
  { id: 'json-trailing', covers: mentions(/parse_json\((?!')/) },
];

export function isMuted(difference: Difference): boolean {
  if (MUTES.some((mute) => 'covers' in mute && mute.covers(difference))) return true;
  const equated = (answer: Answer): Answer =>
    answer.state !== 'rows'
      ? answer
      : { ...answer, rows: MUTES.reduce((rows, mute) => ('equate' in mute ? mute.equate(rows, difference.case) : rows), answer.rows) };
  return findDifference(difference.case, equated(difference.dolmen), equated(difference.original)) === undefined;
}

function queryOf(one: DifferentialCase): Fields {
  return one.kind === 'native' ? one.request : {};
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutTimesOfAll(rows: Json, one: DifferentialCase): Json {
  const granularity = queryOf(one)['granularity'] ?? (one.kind === 'native' ? 'all' : undefined);
  const name = isFields(granularity) ? granularity['type'] : granularity;
  if (typeof name !== 'string' || name.toLowerCase() !== 'all' || !Array.isArray(rows)) return rows;
  return (rows as Json[]).map((row) => (isFields(row) && 'timestamp' in row ? { ...row, timestamp: null } : row));
}

function withoutEmptyBuckets(rows: Json, one: DifferentialCase): Json {
  const { queryType } = queryOf(one);
  if ((queryType !== 'topN' && queryType !== 'search') || !Array.isArray(rows)) return rows;
  return (rows as Json[]).filter((row) => !isFields(row) || !Array.isArray(row['result']) || row['result'].length > 0);
}

/** A number for its string, the element for a list of one. */
function loosely(value: Json): Json {
  if (Array.isArray(value)) return value.length === 1 ? loosely(value[0] ?? null) : value.map(loosely);
  if (typeof value === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value)) return Number(value);
  return typeof value === 'bigint' ? Number(value) : value;
}
