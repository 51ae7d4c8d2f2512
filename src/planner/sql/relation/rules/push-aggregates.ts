// Rule: groups each branch of a UNION ALL before they are joined.

import { column } from '../bound.js';
import { type AggregateRelation, identity, mapInputs, type NamedAggregate, type NamedBound, type Relation } from '../relation.js';

/** Groups each query of a UNION ALL by itself first, so that its table is grouped where it lies; then all groups together. */
export function pushAggregates(relation: Relation): Relation {
  const node = mapInputs(relation, pushAggregates);
  if (node.kind !== 'aggregate' || node.input.kind !== 'union' || !node.aggregates.every(isDivisible)) return node;
  return divided(node, node.input.inputs);
}

function divided(node: AggregateRelation, inputs: readonly Relation[]): Relation {
  const keys = identity(node.keys.map(({ name, bound }) => ({ name, type: bound.type === 'NULL' ? 'VARCHAR' : bound.type })));
  return {
    ...node,
    input: { kind: 'union', inputs: inputs.map((input): Relation => ({ ...node, input })) },
    keys: keys.map(({ name, bound }): NamedBound => ({ name, bound })),
    aggregates: node.aggregates.map(
      (aggregate): NamedAggregate => ({
        ...aggregate,
        kind: aggregate.kind === 'count' ? 'sum' : aggregate.kind,
        operands: [column(aggregate.type, aggregate.name)],
        filter: null,
      }),
    ),
  };
}

/** Counts and sums of parts are added. Without keys every part gives a row, so that a count of none stays 0. */
function isDivisible({ kind }: NamedAggregate): boolean {
  return kind === 'sum' || kind === 'min' || kind === 'max' || kind === 'count';
}
