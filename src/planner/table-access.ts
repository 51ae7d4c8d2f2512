// Tables as their readers may see them: not at all, or through a policy.

import { ServiceError } from '../base/errors.js';
import { ObjectReader, readContextOf } from '../base/json-reader.js';
import { refuseAccess } from '../model/access/authorizer.js';
import type { Policy } from '../model/access/policy.js';
import type { Filter } from '../model/filter.js';
import type { RowSource } from '../model/row-source.js';
import { type ColumnSchema, TIME_COLUMN } from '../model/schema.js';
import { givenColumns } from './native/column/column-types.js';
import { readFilter } from './native/filter/filter.js';

/** A reader's restriction; a table without one is seen whole. */
export type TableAccess = ForbiddenTable | RestrictedTable;

interface ForbiddenTable {
  readonly kind: 'forbidden';
}

/** A table whose `columns` are those that its reader sees. */
export interface RestrictedTable {
  readonly kind: 'restricted';
  readonly policy: Policy;
  /** Rows for which it is true are seen. */
  readonly rowFilter: Filter;
  /** All columns, hidden ones among them, which the row filter may read. */
  readonly stored: readonly ColumnSchema[];
  /** Names of the hidden columns. */
  readonly hidden: readonly string[];
}

export const FORBIDDEN_TABLE: ForbiddenTable = { kind: 'forbidden' };

/** The part of a table's description that says who sees what of it. */
export interface AccessedTable {
  readonly access?: TableAccess;
}

/**
 * The columns that a policy leaves of a table, and its restriction. A policy whose filter cannot be read leaves nothing.
 * @param stored  all columns of the table
 */
export function restrictedBy(
  policy: Policy,
  stored: readonly ColumnSchema[],
): { readonly columns: readonly ColumnSchema[]; readonly access: TableAccess } {
  const seen = policy.columns === null ? null : new Set([TIME_COLUMN, ...policy.columns]);
  const columns = seen === null ? stored : stored.filter(({ name }) => seen.has(name));
  try {
    const rowFilter = readPolicyFilter(policy.rowFilter, stored);
    const hidden = seen === null ? [] : stored.flatMap(({ name }) => (seen.has(name) ? [] : [name]));
    return { columns, access: { kind: 'restricted', policy, rowFilter, stored, hidden } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { columns: [], access: FORBIDDEN_TABLE };
  }
}

/**
 * The filter of a policy over a table.
 * @throws ServiceError `query_invalid` or `unsupported`, naming the field
 */
export function readPolicyFilter(rowFilter: Policy['rowFilter'], columns: readonly ColumnSchema[]): Filter {
  if (rowFilter === null) return { kind: 'true' };
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const reader = new ObjectReader(rowFilter, 'rowFilter', readContextOf('query_invalid', 'policy'));
  return readFilter(
    reader,
    givenColumns((name) => types.get(name)),
  );
}

/**
 * The rows of a table as its reader sees them. Whatever reads a table reads this, so that a restricted one is filtered before anything
 * else, and is no table to whoever would answer from descriptions of segments.
 * @throws ServiceError `forbidden`
 */
export function sourceOfTable(name: string, table: AccessedTable | undefined): RowSource {
  const source: RowSource = { kind: 'table', name };
  if (table?.access === undefined) return source;
  return table.access.kind === 'forbidden' ? refuseAccess() : { kind: 'filtered', source, filter: table.access.rowFilter };
}
