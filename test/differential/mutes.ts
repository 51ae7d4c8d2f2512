import type { Answer, Difference, DifferentialCase, Fields, Json, Mute } from './case.js';
import { findDifference } from './compare.js';
import { EXPRESSION_MUTES } from './expressions/expression-mutes.js';
import { SQL_MUTES } from './sql/sql-mutes.js';

const mentions =
  (pattern: RegExp) =>
  ({ case: one }: Difference): boolean =>
    pattern.test(JSON.stringify(one.request, (_, value) => (typeof value === 'bigint' ? String(value) : value)));

export const MUTES: readonly Mute[] = [
  { id: 'original-fails', covers: ({ original }) => original.state === 'broken' },
  {
    id: 'answers-more',
    covers: ({ case: { kind }, dolmen, original }) => kind === 'native' && dolmen.state === 'rows' && original.state === 'refused',
  },
  { id: 'all-timestamp', equate: withoutTimesOfAll },
  { id: 'empty-buckets', equate: withoutEmptyBuckets },
  { id: 'mean-of-nothing', covers: mentions(/doubleMean/) },
  ...EXPRESSION_MUTES,
  ...SQL_MUTES,
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
