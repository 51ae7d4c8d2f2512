import type { PlannedQuery } from '../../model/statement.js';
import { bindQuery } from './bind/bind-query.js';
import type { Session } from './bind/session.js';
import type { SqlSchema } from './catalog/schema.js';
import { lowerQuery } from './lower/lower-query.js';
import type { SqlQuery } from './parse/syntax.js';
import { applyRules } from './relation/rules/rules.js';

/** Syntax tree → bound relational tree → rules → plan. */
export function planRelation(session: Session, schema: SqlSchema, query: SqlQuery): PlannedQuery {
  const { rulesOff, watch } = session;
  const { relation, names } = watch.stage('bind', () => bindQuery({ session, schema, query: bindQuery }, query, null));
  const ruled = applyRules(relation, rulesOff, watch);
  const planned = watch.stage('lower', () => lowerQuery(ruled));
  return { ...planned, columns: planned.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name })) };
}
