// Plans a query: bind, apply rules, lower.

import type { PlannedQuery } from '../../model/statement.js';
import { bindQuery } from './bind/bind-query.js';
import type { Binding, BoundQuery } from './bind/binding.js';
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
  return planBinding({ session, schema, query: bindQuery }, query, outerLimit).planned;
}

/** The same with the states of aggregates as results, and the aggregators that add them up, each under the name of its column. */
export function planStates(session: Session, schema: SqlSchema, query: SqlQuery): ReturnType<typeof planBinding> {
  return planBinding({ session, schema, query: bindQuery, storedAs: 'state' }, query, null);
}

function planBinding(
  binding: Binding,
  query: SqlQuery,
  outerLimit: number | null,
): { readonly planned: PlannedQuery; readonly stored: BoundQuery['stored'] } {
  const { rulesOff, limits, watch } = binding.session;
  const { relation, names, stored } = watch.stage('bind', () => bindQuery(binding, query, null));
  const ruled = applyRules(outerLimit === null ? relation : limited(relation, outerLimit), { rulesOff, limits, watch });
  const planned = watch.stage('lower', () => lowerQuery(ruled));
  const columns = planned.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }));
  return { planned: { ...planned, columns }, stored };
}

/** The query with a LIMIT, merged with its own LIMIT if it has one, so that the plan is that of a query written this way. */
function limited(query: ProjectRelation, rowsMax: number): ProjectRelation {
  const { input } = query;
  if (input.kind !== 'limit') return { ...query, input: { kind: 'limit', input, offset: 0, limit: rowsMax } };
  return { ...query, input: { ...input, limit: input.limit === null ? rowsMax : Math.min(input.limit, rowsMax) } };
}
