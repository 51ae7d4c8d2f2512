// Verifies relational trees that rules have made.

import { ServiceError } from '../../../../base/errors.js';
import { type Bound, children } from '../bound.js';
import {
  columnsOf,
  inputsOf,
  type JoinRelation,
  type NamedAggregate,
  putsOutRight,
  type Relation,
  windowExpressions,
} from '../relation.js';

type Columns = ReturnType<typeof columnsOf>;

/**
 * Looks at relational trees: every name in an expression is a column of the node below it, and no node has two columns
 * of a name. Nodes never change and rules keep many of them: what was looked at once is not looked at again.
 */
export class RelationVerifier {
  readonly #verified = new Set<Relation>();
  /** Names by list of columns, which many nodes share with the one below. */
  readonly #names = new Map<Columns, ReadonlySet<string>>();
  /**
   * @param stage  what made the relation
   * @throws ServiceError `internal`: a mistake of the planner, better found here than as a wrong answer
   */
  verify(relation: Relation, stage: string): void {
    if (this.#verified.has(relation)) return;
    const inputs = inputsOf(relation);
    for (const input of inputs) this.verify(input, stage);
    const fail = (what: string): ServiceError => new ServiceError('internal', `the relational tree is broken after ${stage}: ${what}`);
    const columns = columnsOf(relation);
    const names = this.#namesOf(columns);
    if (names.size !== columns.length)
      throw fail(`a ${relation.kind} with two columns of a name: ${columns.map(({ name }) => name).join(', ')}`);
    const known = relation.kind === 'join' ? this.#namesOfPairs(relation) : inputs.map((input) => this.#namesOf(columnsOf(input)));
    const check = (bound: Bound): void => {
      if (bound.kind === 'column' && !known.some((below) => below.has(bound.name)))
        throw fail(`no column ${bound.name} below a ${relation.kind}`);
      if (bound.kind === 'outer' || bound.kind === 'aggregate' || bound.kind === 'window')
        throw fail(`an ${bound.kind} value in a ${relation.kind}`);
      if (bound.kind !== 'column' && bound.kind !== 'literal') for (const part of children(bound)) check(part);
    };
    for (const bound of expressionsOf(relation)) check(bound);
    if (relation.kind === 'union' && inputs.some((input) => !sameNames(columnsOf(input), columns)))
      throw fail('a union of different columns');
    this.#verified.add(relation);
  }

  /** Columns that the condition of a join may name. */
  #namesOfPairs(join: JoinRelation): readonly ReadonlySet<string>[] {
    if (putsOutRight(join)) return [this.#namesOf(columnsOf(join))];
    return [this.#namesOf(columnsOf(join.left)), new Set(columnsOf(join.right).map(({ name }) => join.prefix + name))];
  }

  #namesOf(columns: Columns): ReadonlySet<string> {
    let names = this.#names.get(columns);
    if (names === undefined) {
      names = new Set(columns.map(({ name }) => name));
      this.#names.set(columns, names);
    }
    return names;
  }
}

function sameNames(a: Columns, b: Columns): boolean {
  return a.length === b.length && a.every(({ name }, index) => name === b[index]?.name);
}

/** Operands and filters of aggregates. */
export function expressionsOfAggregates(aggregates: readonly NamedAggregate[]): readonly Bound[] {
  const expressions: Bound[] = [];
  for (const { operands, filter } of aggregates) {
    for (const operand of operands) expressions.push(operand);
    if (filter !== null) expressions.push(filter);
  }
  return expressions;
}

export function expressionsOf(relation: Relation): readonly Bound[] {
  switch (relation.kind) {
    case 'filter':
      return [relation.condition];
    case 'project':
      return relation.columns.map(({ bound }) => bound);
    case 'aggregate':
      return [...relation.keys.map(({ bound }) => bound), ...expressionsOfAggregates(relation.aggregates)];
    case 'sort':
      return relation.by.map(({ bound }) => bound);
    case 'join':
      return relation.condition === null ? [] : [relation.condition];
    case 'window':
      return [...relation.partition, ...relation.order.map(({ bound }) => bound), ...relation.functions.flatMap(windowExpressions)];
    case 'unnest':
      return [relation.array];
    default:
      return [];
  }
}
