// Plans a query: bind, apply rules, lower.

import type { PlannedQuery } from '../../model/statement.js';
import { bindQuery } from './bind/bind-query.js';
import type { Session } from './bind/session.js';
import type { SqlSchema } from './catalog/schema.js';
import { lowerQuery } from './lower/lower-query.js';
import type { SqlQuery } from './parse/syntax.js';
import type { ProjectRelation } from './relation/relation.js';
import { applyRules } from './relation/rules/rules.js';

/**
 * Syntax tree → bound relational tree → rules → plan.
 * @param outerLimit  most rows that the query puts out; null: as many as there are
 */
export function planRelation(session: Session, schema: SqlSchema, query: SqlQuery, outerLimit: number | null = null): PlannedQuery {
  const { rulesOff, limits, watch } = session;
  const { relation, names } = watch.stage('bind', () => bindQuery({ session, schema, query: bindQuery }, query, null));
  const ruled = applyRules(outerLimit === null ? relation : limited(relation, outerLimit), { rulesOff, limits, watch });
  const planned = watch.stage('lower', () => lowerQuery(ruled));
  return { ...planned, columns: planned.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name })) };
}

/** The query with a LIMIT, merged with its own LIMIT if it has one, so that the plan is that of a query written this way. */
function limited(query: ProjectRelation, rowsMax: number): ProjectRelation {
  const { input } = query;
  if (input.kind !== 'limit') return { ...query, input: { kind: 'limit', input, offset: 0, limit: rowsMax } };
  return { ...query, input: { ...input, limit: input.limit === null ? rowsMax : Math.min(input.limit, rowsMax) } };
}
