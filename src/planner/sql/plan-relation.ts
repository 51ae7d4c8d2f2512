import type { PlannedQuery } from '../../model/statement.js';
import type { Binding } from './bind/bind-from.js';
import { bindQuery } from './bind/bind-query.js';
import { lowerQuery } from './lower/lower-query.js';
import type { SqlQuery } from './parse/syntax.js';
import { applyRules } from './relation/rules/rules.js';

/** Syntax tree → bound relational tree → rules → plan. */
export function planRelation(binding: Binding, query: SqlQuery): PlannedQuery {
  const { rulesOff, watch } = binding.session;
  const { relation, names } = watch.stage('bind', () => bindQuery(binding, query, null));
  const ruled = applyRules(relation, rulesOff, watch);
  const planned = watch.stage('lower', () => lowerQuery(ruled));
  return { ...planned, columns: planned.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name })) };
}
