// Table of the rules, and their application.

import { assert, ServiceError } from '../../../../base/errors.js';
import type { RunLimits } from '../../../../model/run-limits.js';
import type { Session } from '../../bind/session.js';
import { identity, inputsOf, type ProjectRelation, type Relation } from '../relation.js';
import { coarserSets } from './coarser-sets.js';
import { liftCommonConditions } from './common-conditions.js';
import { constantKeys } from './constant-keys.js';
import { cutBranches } from './cut-branches.js';
import { distinctPartners } from './distinct-partners.js';
import { distributeJoins } from './distribute-joins.js';
import { foldConstants } from './fold-constants.js';
import { impliedConditions } from './implied-conditions.js';
import { liftProjects } from './lift-projects.js';
import { mergeProjects } from './merge-projects.js';
import { orderJoins } from './order-joins.js';
import { pruneColumns } from './prune-columns.js';
import { pushAggregates } from './push-aggregates.js';
import { pushFilters } from './push-filters.js';
import { reduceOuterJoins } from './reduce-outer-joins.js';
import { semiJoins } from './semi-joins.js';
import { splitSums } from './split-sums.js';
import { swapJoinSides } from './swap-join-sides.js';
import { RelationVerifier } from './verify-relation.js';

/** A rewrite to a cheaper relation with the same rows and columns. */
export interface Rule {
  readonly name: string;
  /** Nodes without any of which it changes nothing; left out: it is about all. No rule makes the first one of its tree. */
  readonly of?: readonly Relation['kind'][];
  /** @param limits  of the run */
  apply(relation: Relation, limits: RunLimits): Relation;
}

/** All rules in the order of application. The context key `plannerRulesOff` names rules to leave out. */
export const RULES: readonly Rule[] = [
  { name: 'coarser-sets', of: ['union'], apply: coarserSets },
  { name: 'semi-joins', of: ['join'], apply: semiJoins },
  { name: 'common-conditions', of: ['filter', 'join'], apply: liftCommonConditions },
  { name: 'push-filters', apply: pushFilters },
  { name: 'reduce-outer-joins', of: ['join'], apply: reduceOuterJoins },
  { name: 'push-filters-again', of: ['join'], apply: pushFilters },
  { name: 'implied-conditions', of: ['join'], apply: impliedConditions },
  { name: 'lift-projects', of: ['join'], apply: liftProjects },
  { name: 'order-joins', of: ['join'], apply: orderJoins },
  { name: 'distinct-partners', of: ['join'], apply: distinctPartners },
  { name: 'fold-constants', apply: foldConstants },
  { name: 'swap-join-sides', of: ['join'], apply: swapJoinSides },
  { name: 'merge-projects', apply: mergeProjects },
  { name: 'distribute-joins', of: ['union'], apply: distributeJoins },
  { name: 'lift-projects-again', of: ['join'], apply: liftProjects },
  { name: 'merge-lifted-projects', of: ['join', 'union'], apply: mergeProjects },
  { name: 'push-filters-into-branches', of: ['union'], apply: pushFilters },
  { name: 'cut-branches', of: ['union'], apply: cutBranches },
  { name: 'push-aggregates', of: ['union'], apply: pushAggregates },
  { name: 'merge-projects-again', of: ['union'], apply: mergeProjects },
  { name: 'fold-constants-again', of: ['union'], apply: foldConstants },
  { name: 'constant-keys', of: ['aggregate'], apply: constantKeys },
  { name: 'split-sums', of: ['aggregate'], apply: splitSums },
  { name: 'prune-columns', apply: pruneColumns },
];

const STAGES: ReadonlyMap<Rule, string> = new Map(RULES.map((rule) => [rule, `rule ${rule.name}`]));

/**
 * All rules but those that are off and those that find nothing of theirs; each is timed, and what they make of the relation is verified.
 * @throws ServiceError `timeout` between two rules
 */
export function applyRules(
  relation: ProjectRelation,
  { rulesOff, limits, watch }: Pick<Session, 'rulesOff' | 'limits' | 'watch'>,
): ProjectRelation {
  const kinds = kindsOf(relation);
  const rules = RULES.filter(({ name, of }) => !rulesOff.has(name) && (of?.some((kind) => kinds.has(kind)) ?? true));
  const verifier = new RelationVerifier();
  let current: Relation = relation;
  try {
    for (const rule of rules) {
      const before: Relation = current;
      current = watch.stage(STAGES.get(rule) ?? rule.name, () => rule.apply(before, limits));
    }
    watch.stage('verify', () => verifier.verify(current, 'all rules'));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'internal') verifyEach(relation, rules, limits);
    throw error;
  }
  const top = current.kind === 'project' ? current : null;
  const named: ProjectRelation = top ?? { kind: 'project', input: current, columns: identity(relation.columns) };
  const same =
    named.columns.length === relation.columns.length && named.columns.every(({ name }, index) => name === relation.columns[index]?.name);
  assert(same, 'rules have changed the columns of a query');
  return named;
}

function kindsOf(relation: Relation, into = new Set<Relation['kind']>()): ReadonlySet<Relation['kind']> {
  into.add(relation.kind);
  for (const input of inputsOf(relation)) kindsOf(input, into);
  return into;
}

/** Finds out who breaks a tree: it goes the same way again, and looks at every step. */
function verifyEach(relation: Relation, rules: readonly Rule[], limits: RunLimits): void {
  const verifier = new RelationVerifier();
  verifier.verify(relation, 'binding');
  let current = relation;
  for (const rule of rules) {
    current = rule.apply(current, limits);
    verifier.verify(current, rule.name);
  }
}
