// Maps the expressions of a relational node.

import { type Bound, mapAll } from '../bound.js';
import { mapWindowFunction, type Relation } from '../relation.js';

/** The same node with other expressions of the same types; the node itself when none has changed. */
export function mapExpressions(relation: Relation, change: (bound: Bound) => Bound): Relation {
  const list = <Item extends { readonly bound: Bound }>(items: readonly Item[]): readonly Item[] =>
    mapAll(items, (item) => {
      const bound = change(item.bound);
      return bound === item.bound ? item : { ...item, bound };
    });
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
      const aggregates = mapAll(relation.aggregates, (aggregate) => {
        const operands = mapAll(aggregate.operands, change);
        const filter = aggregate.filter === null ? null : change(aggregate.filter);
        return filter === aggregate.filter && operands === aggregate.operands ? aggregate : { ...aggregate, operands, filter };
      });
      return keys === relation.keys && aggregates === relation.aggregates ? relation : { ...relation, keys, aggregates };
    }
    case 'join': {
      const condition = relation.condition === null ? null : change(relation.condition);
      return condition === relation.condition ? relation : { ...relation, condition };
    }
    case 'window': {
      const partition = mapAll(relation.partition, change);
      const order = list(relation.order);
      const functions = mapAll(relation.functions, (each) => mapWindowFunction(each, change));
      const same = order === relation.order && partition === relation.partition && functions === relation.functions;
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
