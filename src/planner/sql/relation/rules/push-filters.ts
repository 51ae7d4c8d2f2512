// Rule: pushes conditions down to the tables.

import { extended } from '../../../../base/names.js';
import { and, type Bound, columnNames, conjuncts, substitute } from '../bound.js';
import { sideOf, unprefixed } from '../join-condition.js';
import {
  type AggregateRelation,
  columnsOf,
  type JoinRelation,
  mapInputs,
  mayGiveSeveral,
  putsOutRight,
  type Relation,
} from '../relation.js';
import { isSmall } from './expression-size.js';

/** Conditions go as far down as they can: to the tables that have their columns, into joins that compare two of them. */
export function pushFilters(relation: Relation): Relation {
  return push(relation, []);
}

/** `pending`: conditions over the columns of the relation that its rows have to meet. */
function push(relation: Relation, pending: readonly Bound[]): Relation {
  switch (relation.kind) {
    case 'filter':
      return push(relation.input, [...conjuncts(relation.condition), ...pending]);
    case 'project': {
      const meanings = new Map(relation.columns.map(({ name, bound }) => [name, bound]));
      const parts = pending.map((part) => ({ part, below: substitute(part, (name) => meanings.get(name)) }));
      const given = (part: Bound): Bound[] => [part, ...[...columnNames(part)].flatMap((name) => meanings.get(name) ?? [])];
      const sized = parts.map((each) => extended(each, { isSmall: isSmall([each.below], given(each.part)) }));
      const small = sized.filter((each) => each.isSmall);
      const kept = sized.filter((each) => !each.isSmall);
      return filtered(
        mapInputs(relation, (input) =>
          push(
            input,
            small.map(({ below }) => below),
          ),
        ),
        kept.map(({ part }) => part),
      );
    }
    case 'aggregate':
      return pushBelowAggregate(relation, pending);
    case 'sort':
      return mapInputs(relation, (input) => push(input, pending));
    case 'union':
      return mapInputs(relation, (input) => push(input, pending));
    case 'unnest': {
      const isAbout = (part: Bound): boolean => columnNames(part).has(relation.name);
      return filtered(
        mapInputs(relation, (input) =>
          push(
            input,
            pending.filter((part) => !isAbout(part)),
          ),
        ),
        pending.filter(isAbout),
      );
    }
    case 'join':
      return pushIntoJoin(relation, pending);
    case 'limit':
    case 'window':
    case 'source':
      return filtered(
        mapInputs(relation, (input) => push(input, [])),
        pending,
      );
  }
}

function filtered(input: Relation, conditions: readonly Bound[]): Relation {
  return conditions.length === 0 ? input : { kind: 'filter', input, condition: and(conditions) };
}

/** A condition on keys alone holds for all rows of a group or for none; unless a row with several values is in several groups. */
function pushBelowAggregate(relation: AggregateRelation, pending: readonly Bound[]): Relation {
  const multiValue = new Set(columnsOf(relation.input).flatMap(({ name, schema }) => (schema?.multiValue === true ? [name] : [])));
  const isSingle = (bound: Bound): boolean => !mayGiveSeveral(bound, (name) => multiValue.has(name));
  const keys = new Map(relation.keys.filter(({ bound }) => isSingle(bound)).map(({ name, bound }) => [name, bound]));
  const isOfKeys = (part: Bound): boolean => {
    const names = [...columnNames(part)];
    return names.length > 0 && names.every((name) => keys.has(name));
  };
  const below = pending.filter(isOfKeys).map((part) => substitute(part, (name) => keys.get(name)));
  return filtered(
    mapInputs(relation, (input) => push(input, below)),
    pending.filter((part) => !isOfKeys(part)),
  );
}

/**
 * Conditions after a join go to a side that keeps no rows without partner on the other's account; those of the join itself to
 * a side of which rows may be left out.
 */
function pushIntoJoin(join: JoinRelation, pending: readonly Bound[]): Relation {
  const { type, prefix } = join;
  const sides = { left: [] as Bound[], right: [] as Bound[] };
  const on: Bound[] = [];
  const above: Bound[] = [];
  for (const part of pending) {
    const side = readsMark(part, join) ? 'both' : sideOf(part, prefix);
    if (side === 'left' && (type === 'inner' || type === 'left' || !putsOutRight(join))) sides.left.push(part);
    else if (side === 'right' && (type === 'inner' || type === 'right')) sides.right.push(unprefixed(part, prefix));
    else if (side === 'both' && type === 'inner') on.push(part);
    else above.push(part);
  }
  for (const part of conjuncts(join.condition)) {
    const side = sideOf(part, prefix);
    if (side === 'left' && (type === 'inner' || type === 'right' || type === 'semi')) sides.left.push(part);
    else if (side === 'right' && (type === 'inner' || type === 'left' || !putsOutRight(join))) sides.right.push(unprefixed(part, prefix));
    else on.push(part);
  }
  const [left, right] = [push(join.left, sides.left), push(join.right, sides.right)];
  return filtered({ ...join, left, right, condition: on.length === 0 ? null : and(on) }, above);
}

function readsMark(part: Bound, { mark }: JoinRelation): boolean {
  return mark !== undefined && columnNames(part).has(mark);
}
