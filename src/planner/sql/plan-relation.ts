import type { PlannedQuery } from '../../model/statement.js';
import type { Binding } from './bind-from.js';
import { bindQuery } from './bind-query.js';
import { lowerQuery } from './lower-query.js';
import { applyRules } from './rules/rules.js';
import type { SqlQuery } from './syntax.js';

/** Syntax tree → bound relational tree → rules → plan. */
export function planRelation(binding: Binding, query: SqlQuery): PlannedQuery {
  const { relation, names } = bindQuery(binding, query, null);
  const planned = lowerQuery(applyRules(relation, binding.session.rulesOff));
  return { ...planned, columns: planned.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name })) };
}
