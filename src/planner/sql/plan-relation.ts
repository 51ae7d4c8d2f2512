import type { PlannedQuery } from '../../model/statement.js';
import type { Binding } from './bind-from.js';
import { bindQuery } from './bind-query.js';
import { lowerQuery } from './lower-query.js';
import { applyRules } from './rules/rules.js';
import type { SqlQuery } from './syntax.js';

/** Syntax tree → bound relational tree → rules → plan. */
export function planRelation(binding: Binding, query: SqlQuery): PlannedQuery {
  const { rulesOff, watch } = binding.session;
  const { relation, names } = watch.stage('bind', () => bindQuery(binding, query, null));
  const ruled = applyRules(relation, rulesOff, watch);
  const planned = watch.stage('lower', () => lowerQuery(ruled));
  return { ...planned, columns: planned.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name })) };
}
