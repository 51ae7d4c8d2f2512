// Plans INSERT INTO EXTERN.

import { EXPORT_FORMATS, type ExportTarget, type PlannedQuery } from '../../model/statement.js';
import type { Session } from './bind/session.js';
import type { SqlSchema } from './catalog/schema.js';
import type { SqlStatement } from './parse/syntax.js';
import { planRelation } from './plan-relation.js';

type ExportStatement = Extract<SqlStatement, { readonly kind: 'export' }>;

/** Object stores that the interface knows, and that nothing here writes to. */
const ELSEWHERE: readonly string[] = ['s3', 'google', 'azure'];

/** INSERT INTO EXTERN: the rows of the query become files. */
export function planExport(
  session: Session,
  schema: SqlSchema,
  { destination: { at, type, settings, format }, query }: ExportStatement,
): ExportTarget & { readonly query: PlannedQuery } {
  const { source } = session;
  if (ELSEWHERE.includes(type.toLowerCase()))
    throw source.unsupported(at, `EXTERN(${type}(…)); the destination is local(exportPath => 'path'), and`);
  if (type.toLowerCase() !== 'local')
    throw source.error('sql_plan_invalid', at, `${type} is no destination; expected local(exportPath => 'path')`);
  const exportPath = settings.get('exportPath');
  const stranger = [...settings.keys()].find((name) => name !== 'exportPath');
  if (exportPath === undefined || exportPath === '' || stranger !== undefined)
    throw source.error(
      'sql_plan_invalid',
      at,
      stranger === undefined ? 'local needs exportPath, the folder that the files go to' : `local has no ${stranger}; expected exportPath`,
    );
  const known = EXPORT_FORMATS.find((name) => name === format.toLowerCase());
  if (known === undefined) throw source.error('sql_plan_invalid', at, `${format} is no format; expected CSV, JSON, PARQUET or ARROW`);
  const planned = planRelation(session, schema, query);
  const names = planned.columns.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw source.error('sql_plan_invalid', query.at, `the query has two columns named ${repeated}`);
  return { kind: 'export', exportPath, format: known, query: planned };
}
