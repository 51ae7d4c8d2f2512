// Policies: which rows and columns of a datasource a reader sees.

import { isRecord, stringifyJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';

/** A restriction of READ on a datasource: the reader sees the table that is left as if it were the whole one. */
export interface Policy {
  /** Filter of the native language, as JSON, over stored columns: rows for which it is true are seen. Null: all. */
  readonly rowFilter: Readonly<Record<string, unknown>> | null;
  /** Columns that are seen, beside `__time`, which always is. Null: all. */
  readonly columns: readonly string[] | null;
}

/**
 * The policy of a reader who has several: rows that any of them shows, columns that all of them show. No row shows a column
 * that the policy which shows this row hides.
 * @param policies  at least one
 * @returns null for no restriction
 */
export function unionOfPolicies(policies: readonly Policy[]): Policy | null {
  const filters = policies.map(({ rowFilter }) => rowFilter);
  const lists = policies.flatMap(({ columns }) => (columns === null ? [] : [columns]));
  const columns = lists.length === 0 ? null : [...new Set(lists[0])].filter((name) => lists.every((list) => list.includes(name))).sort();
  const rowFilter = filters.includes(null) ? null : unionOfFilters(filters);
  return rowFilter === null && columns === null ? null : { rowFilter, columns };
}

function unionOfFilters(filters: readonly Policy['rowFilter'][]): Policy['rowFilter'] {
  const different = [...new Map(filters.map((filter) => [stringifyJson(filter), filter])).values()];
  return different.length === 1 ? (different[0] ?? null) : { type: 'or', fields: different };
}

/**
 * The `policy` of a permission: `{"type": "row", "rowFilter": ..., "columns": [...]}`, each of the two optional. Whether the filter can be
 * read is for the planner to say.
 * @throws ServiceError `input_invalid` naming the field
 */
export function parsePolicy(value: unknown, path: string): Policy {
  const reader = new ObjectReader(value, path, readContextOf('input_invalid', 'policy'));
  if (reader.has('type')) reader.type(['row']);
  const rowFilter = reader.raw('rowFilter') ?? null;
  if (rowFilter !== null && !isRecord(rowFilter)) throw reader.mismatch('rowFilter', 'a filter of the native language');
  const columns = reader.has('columns') ? reader.strings('columns') : null;
  reader.end();
  return { rowFilter, columns };
}
