// Splits a join condition into keys and the rest.

import { append } from '../../../base/lists.js';
import type { SqlType } from '../../../model/statement.js';
import { commonType, isInstant, isNumeric } from '../parse/sql-type.js';
import { type Bound, call, column, columnNames, conjuncts, integer, isNull, literal, NULL, transform } from './bound.js';
import type { JoinRelation } from './relation.js';

/** A join condition taken apart. Right sides are over the right input's own columns, without the prefix. */
export interface JoinParts {
  readonly keys: readonly { readonly left: Bound; readonly right: Bound; readonly domain: SqlType }[];
  /** Conditions on both sides beside the equalities. */
  readonly residual: readonly Bound[];
}

/**
 * The equalities of a join, and the rest of its condition. In an outer join a condition on one side alone becomes a part of
 * a key, which is null, and so equals nothing, where the condition does not hold.
 */
export function joinParts(condition: Bound | null, prefix: string, type: JoinRelation['type']): JoinParts {
  const parts = conjuncts(condition).filter((part) => !(part.kind === 'literal' && part.value === 1n));
  const keys: { left: Bound; right: Bound; domain: SqlType }[] = [];
  const sided = { left: [] as Bound[], right: [] as Bound[] };
  const residual: Bound[] = [];
  for (const part of parts) {
    const own = keysOf(part, prefix);
    const side = type === 'inner' ? 'both' : sideOf(part, prefix);
    if (own !== undefined) append(keys, own);
    else if (side === 'left' || side === 'none') sided.left.push(part);
    else if (side === 'right') sided.right.push(unprefixed(part, prefix));
    else residual.push(part);
  }
  if (sided.left.length + sided.right.length === 0) return { keys, residual };
  const [first = { left: integer(1), right: integer(1), domain: 'BIGINT' as const }, ...others] = keys;
  return {
    keys: [{ ...first, left: onlyWhere(sided.left, first.left), right: onlyWhere(sided.right, first.right) }, ...others],
    residual,
  };
}

function onlyWhere(conditions: readonly Bound[], key: Bound): Bound {
  return conditions.reduce((so, condition) => call(key.type, 'case_searched', condition, so, NULL), key);
}

type Keys = JoinParts['keys'];

function keysOf(part: Bound, prefix: string): Keys | undefined {
  if (part.kind === 'compare' && part.operator === '=') return keysOfSides(part.left, part.right, part.domain, prefix);
  if (part.kind !== 'call' || part.function !== 'notdistinctfrom') return undefined;
  const [left = NULL, right = NULL] = part.arguments;
  if (left.type === 'NULL' || right.type === 'NULL') return undefined;
  const domain = commonType(left.type, right.type);
  const stand = domain === undefined ? undefined : standInFor(domain);
  if (domain === undefined || stand === undefined) return undefined;
  // Two nulls are the same: whether a value is null is a key, and of nulls another value is.
  const isKnown = (side: Bound): Bound => call('BIGINT', 'case_searched', isNull(side), integer(0), integer(1));
  const known = (side: Bound): Bound => call(side.type, 'case_searched', isNull(side), stand, side);
  const values = keysOfSides(known(left), known(right), domain, prefix);
  const nulls = keysOfSides(isKnown(left), isKnown(right), 'BIGINT', prefix);
  return values === undefined || nulls === undefined ? undefined : [...values, ...nulls];
}

/** A value of a type that keys are made of; undefined for any other type. */
function standInFor(type: SqlType): Bound | undefined {
  if (type === 'VARCHAR') return literal(type, '');
  if (type === 'BIGINT' || type === 'INTEGER' || isInstant(type)) return literal(type, 0n);
  return isNumeric(type) ? literal(type, 0) : undefined;
}

function keysOfSides(one: Bound, other: Bound, domain: SqlType, prefix: string): Keys | undefined {
  const sides = [sideOf(one, prefix), sideOf(other, prefix)];
  if (!sides.includes('left') || !sides.includes('right')) return undefined;
  const [left, right] = sides[0] === 'left' ? [one, other] : [other, one];
  return [{ left, right: unprefixed(right, prefix), domain }];
}

/** The side of a join whose columns an expression reads. */
export function sideOf(bound: Bound, prefix: string): 'left' | 'right' | 'both' | 'none' {
  const names = [...columnNames(bound)];
  const rights = names.filter((name) => name.startsWith(prefix)).length;
  return names.length === 0 ? 'none' : rights === 0 ? 'left' : rights === names.length ? 'right' : 'both';
}

/** An expression over the columns of the right side of a join, as that side itself names them. */
export function unprefixed(bound: Bound, prefix: string): Bound {
  return transform(bound, (part) =>
    part.kind === 'column' && part.name.startsWith(prefix) ? column(part.type, part.name.slice(prefix.length)) : undefined,
  );
}
