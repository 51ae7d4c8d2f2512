// Maps the expressions of a relational node.

import type { Bound } from '../bound.js';
import { mapWindowFunction, type Relation } from '../relation.js';

/** The same node with other expressions of the same types; the node itself when none has changed. */
export function mapExpressions(relation: Relation, change: (bound: Bound) => Bound): Relation {
  const list = <Item extends { readonly bound: Bound }>(items: readonly Item[]): readonly Item[] => {
    const changed = items.map((item) => {
      const bound = change(item.bound);
      return bound === item.bound ? item : { ...item, bound };
    });
    return changed.every((item, index) => item === items[index]) ? items : changed;
  };
  switch (relation.kind) {
    case 'filter': {
      const condition = change(relation.condition);
      return condition === relation.condition ? relation : { ...relation, condition };
    }
    case 'project': {
      const columns = list(relation.columns);
      return columns === relation.columns ? relation : { ...relation, columns };
    }
    case 'sort': {
      const by = list(relation.by);
      return by === relation.by ? relation : { ...relation, by };
    }
    case 'aggregate': {
      const keys = list(relation.keys);
      const aggregates = relation.aggregates.map((aggregate) => {
        const operands = aggregate.operands.map(change);
        const filter = aggregate.filter === null ? null : change(aggregate.filter);
        const same = filter === aggregate.filter && operands.every((operand, index) => operand === aggregate.operands[index]);
        return same ? aggregate : { ...aggregate, operands, filter };
      });
      const same = keys === relation.keys && aggregates.every((aggregate, index) => aggregate === relation.aggregates[index]);
      return same ? relation : { ...relation, keys, aggregates };
    }
    case 'join': {
      const condition = relation.condition === null ? null : change(relation.condition);
      return condition === relation.condition ? relation : { ...relation, condition };
    }
    case 'window': {
      const partition = relation.partition.map(change);
      const order = list(relation.order);
      const functions = relation.functions.map((each) => mapWindowFunction(each, change));
      const same =
        order === relation.order &&
        partition.every((bound, index) => bound === relation.partition[index]) &&
        functions.every((each, index) => each === relation.functions[index]);
      return same ? relation : { ...relation, partition, order, functions };
    }
    case 'unnest': {
      const array = change(relation.array);
      return array === relation.array ? relation : { ...relation, array };
    }
    default:
      return relation;
  }
}
