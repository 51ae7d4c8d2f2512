import { ServiceError } from '../../../base/errors.js';
import { type Bound, children } from '../bound.js';
import { columnsOf, inputsOf, type Relation, windowExpressions } from '../relation.js';

/**
 * Every name in an expression is a column of the node below it, and no node has two columns of a name.
 * @param stage  what made the relation
 * @throws ServiceError `internal`: a mistake of the planner, better found here than as a wrong answer
 */
export function verifyRelation(relation: Relation, stage: string): void {
  const inputs = inputsOf(relation);
  for (const input of inputs) verifyRelation(input, stage);
  const fail = (what: string): ServiceError => new ServiceError('internal', `the relational tree is broken after ${stage}: ${what}`);
  const names = columnsOf(relation).map(({ name }) => name);
  if (new Set(names).size !== names.length) throw fail(`a ${relation.kind} with two columns of a name: ${names.join(', ')}`);
  const known = relation.kind === 'join' ? new Set(names) : new Set(inputs.flatMap((input) => columnsOf(input).map(({ name }) => name)));
  const check = (bound: Bound): void => {
    if (bound.kind === 'column' && !known.has(bound.name)) throw fail(`no column ${bound.name} below a ${relation.kind}`);
    if (bound.kind === 'outer' || bound.kind === 'aggregate' || bound.kind === 'window')
      throw fail(`an ${bound.kind} value in a ${relation.kind}`);
    children(bound).forEach(check);
  };
  expressionsOf(relation).forEach(check);
  if (relation.kind !== 'union') return;
  const shape = (input: Relation): string =>
    columnsOf(input)
      .map(({ name }) => name)
      .join('\n');
  if (relation.inputs.some((input) => shape(input) !== names.join('\n'))) throw fail('a union of different columns');
}

export function expressionsOf(relation: Relation): readonly Bound[] {
  switch (relation.kind) {
    case 'filter':
      return [relation.condition];
    case 'project':
      return relation.columns.map(({ bound }) => bound);
    case 'aggregate':
      return [
        ...relation.keys.map(({ bound }) => bound),
        ...relation.aggregates.flatMap(({ operands, filter }) => [...operands, filter].filter((part) => part !== null)),
      ];
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
