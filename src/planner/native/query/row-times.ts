// Times of rows that have none: those of inline rows, lookups and subqueries without `__time`.

import { ETERNITY } from '../../../base/instant.js';
import { long } from '../../../model/expression.js';
import type { ScanPlan } from '../../../model/plan.js';
import type { RowSource } from '../../../model/row-source.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import type { KnownTables } from '../../plan.js';
import { rowSourceColumns } from '../../row-source-columns.js';

type QuerySource = Extract<RowSource, { kind: 'query' }>;

/**
 * A source whose rows all have a time, so that intervals and buckets apply to them as to any others: groups of granularity
 * `all` stand at the start of their query, as their timestamp says, all other rows without a time at 1970-01-01.
 */
export function timedRows(source: RowSource, tables: KnownTables): RowSource {
  switch (source.kind) {
    case 'table':
    case 'external':
      return source;
    case 'union':
      return { ...source, sources: source.sources.map((each) => timedRows(each, tables)) };
    case 'filtered':
    case 'unnest':
      return { ...source, source: timedRows(source.source, tables) };
    case 'join': {
      const left = timedRows(source.left, tables);
      return { ...source, left, leftColumns: rowSourceColumns(left, tables) };
    }
    case 'inline': {
      const { rowCount, columns } = source.frame;
      if (columns.some(({ name }) => name === TIME_COLUMN)) return source;
      const values = new BigInt64Array(rowCount);
      return { kind: 'inline', frame: { rowCount, columns: [...columns, { kind: 'long', name: TIME_COLUMN, values, nulls: null }] } };
    }
    case 'lookup': {
      const columns = rowSourceColumns(source, tables).map(({ name }) => name);
      return withTime({ kind: 'query', plan: scanOf(columns), source }, 0);
    }
    case 'query': {
      if (rowSourceColumns(source, tables).some(({ name }) => name === TIME_COLUMN)) return source;
      const { plan } = source;
      return withTime(source, plan.operator === 'group' ? (plan.intervals[0]?.start ?? 0) : 0);
    }
  }
}

/** The rows of a query, all at one instant. */
export function withTime(source: QuerySource, instant: number): QuerySource {
  const { plan } = source;
  return {
    ...source,
    plan: { ...plan, post: [...plan.post, { step: 'compute', name: TIME_COLUMN, type: 'LONG', expression: long(instant) }] },
  };
}

/** All rows of a source, in these columns. */
function scanOf(columns: readonly string[]): ScanPlan {
  const all = { dataSource: '', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] };
  return { operator: 'scan', ...all, columns, timeOrder: null, offset: 0, limit: null };
}
