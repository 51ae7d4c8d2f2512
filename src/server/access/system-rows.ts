// Rows of `sys` as the sender of a request sees them.

import { type Caller, demand } from '../../model/access/authorizer.js';
import { STATE } from '../../model/access/resource.js';
import { parseSegmentId } from '../../model/segment-id.js';
import { rowsWhere } from '../../planner/sql/catalog/picked-rows.js';
import { SYSTEM_TABLES, type SystemCell, type SystemRows, type SystemTableName } from '../../planner/sql/catalog/system-schema.js';
import { itself, readable } from './readable.js';

interface SystemTableAccess {
  /** Whether the state of the cluster must be open to the reader. */
  readonly needsState: boolean;
  /** Columns: the datasource that a row tells of; a segment of it; the user whose query it is. Null: every row is for every reader. */
  readonly by: { readonly column: string; readonly names: 'dataSource' | 'segment' | 'user' } | null;
}

/** Who sees what of a table. One that is missing here does not compile. */
const ACCESS: Readonly<Record<SystemTableName, SystemTableAccess>> = {
  segments: { needsState: false, by: { column: 'datasource', names: 'dataSource' } },
  servers: { needsState: true, by: null },
  server_segments: { needsState: true, by: { column: 'segment_id', names: 'segment' } },
  tasks: { needsState: false, by: { column: 'datasource', names: 'dataSource' } },
  supervisors: { needsState: false, by: { column: 'datasource', names: 'dataSource' } },
  server_properties: { needsState: true, by: null },
  queries: { needsState: false, by: { column: 'info', names: 'user' } },
};

/**
 * The rows of a table that a caller may see.
 * @throws ServiceError `forbidden`
 */
export async function rowsFor(
  caller: Caller,
  table: SystemTableName,
  rowsOf: (table: SystemTableName, caller: Caller) => Promise<SystemRows>,
): Promise<SystemRows> {
  if (caller.isUnrestricted) return rowsOf(table, caller);
  const { needsState, by } = ACCESS[table];
  if (needsState) demand(caller, [{ resource: STATE, action: 'READ' }]);
  const rows = await rowsOf(table, caller);
  if (by === null || by.names === 'user') return rows;
  const columns: readonly (readonly [name: string, type: string])[] = SYSTEM_TABLES[table];
  const at = columns.findIndex(([name]) => name === by.column);
  if ('rowCount' in rows) return rowsWhere(rows, by.column, (text) => readable(caller, [text ?? ''], itself).length === 1);
  return readable(caller, rows, (row) => nameOf(row[at] ?? null, by.names === 'segment'));
}

/** The datasource of a row; of one that names none, a name that nobody is given by accident. */
function nameOf(cell: SystemCell, isSegment: boolean): string {
  const text = String(cell ?? '');
  return isSegment ? (parseSegmentId(text)?.dataSource ?? text) : text;
}
