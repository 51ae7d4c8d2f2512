// Table of the rules, and their application.

import { assert } from '../../../../base/errors.js';
import type { PlanWatch } from '../../plan-watch.js';
import { identity, type ProjectRelation, type Relation } from '../relation.js';
import { liftCommonConditions } from './common-conditions.js';
import { distinctPartners } from './distinct-partners.js';
import { foldConstants } from './fold-constants.js';
import { impliedConditions } from './implied-conditions.js';
import { mergeProjects } from './merge-projects.js';
import { orderJoins } from './order-joins.js';
import { pruneColumns } from './prune-columns.js';
import { pushAggregates } from './push-aggregates.js';
import { pushFilters } from './push-filters.js';
import { reduceOuterJoins } from './reduce-outer-joins.js';
import { semiJoins } from './semi-joins.js';
import { swapJoinSides } from './swap-join-sides.js';
import { RelationVerifier } from './verify-relation.js';

/** A rewrite to a cheaper relation with the same rows and columns. */
export interface Rule {
  readonly name: string;
  apply(relation: Relation): Relation;
}

/** All rules in the order of application. The context key `plannerRulesOff` names rules to leave out. */
export const RULES: readonly Rule[] = [
  { name: 'semi-joins', apply: semiJoins },
  { name: 'common-conditions', apply: liftCommonConditions },
  { name: 'push-filters', apply: pushFilters },
  { name: 'reduce-outer-joins', apply: reduceOuterJoins },
  { name: 'push-filters-again', apply: pushFilters },
  { name: 'implied-conditions', apply: impliedConditions },
  { name: 'order-joins', apply: orderJoins },
  { name: 'distinct-partners', apply: distinctPartners },
  { name: 'fold-constants', apply: foldConstants },
  { name: 'swap-join-sides', apply: swapJoinSides },
  { name: 'merge-projects', apply: mergeProjects },
  { name: 'push-aggregates', apply: pushAggregates },
  { name: 'merge-projects-again', apply: mergeProjects },
  { name: 'prune-columns', apply: pruneColumns },
];

/**
 * All rules but those that are off; each is timed, and what it makes is verified.
 * @throws ServiceError `timeout` between two rules
 */
export function applyRules(relation: ProjectRelation, off: ReadonlySet<string>, watch: PlanWatch): ProjectRelation {
  const verifier = new RelationVerifier();
  const verify = (made: Relation, stage: string) => watch.stage('verify', () => verifier.verify(made, stage));
  verify(relation, 'binding');
  let current: Relation = relation;
  for (const rule of RULES) {
    if (off.has(rule.name)) continue;
    const before: Relation = current;
    current = watch.stage(`rule ${rule.name}`, () => rule.apply(before));
    if (current !== before) verify(current, rule.name);
  }
  const top = current.kind === 'project' ? current : null;
  const named: ProjectRelation = top ?? { kind: 'project', input: current, columns: identity(relation.columns) };
  const same =
    named.columns.length === relation.columns.length && named.columns.every(({ name }, index) => name === relation.columns[index]?.name);
  assert(same, 'rules have changed the columns of a query');
  return named;
}
