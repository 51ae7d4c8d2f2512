// Splits a join condition into keys and the rest.

import type { SqlType } from '../../../model/statement.js';
import { commonType, isInstant, isNumeric } from '../parse/sql-type.js';
import { type Bound, call, column, columnNames, conjuncts, integer, NULL, transform } from './bound.js';
import type { JoinRelation } from './relation.js';

interface JoinedBy {
  readonly left: Bound;
  readonly right: Bound;
  readonly domain: SqlType;
  /** Two nulls are equal. */
  readonly nullsMeet?: true;
}

/** A join condition taken apart. Right sides are over the right input's own columns, without the prefix. */
export interface JoinParts {
  readonly keys: readonly JoinedBy[];
  /** Conditions on both sides beside the equalities. */
  readonly residual: readonly Bound[];
}

/**
 * The equalities of a join, and the rest of its condition. In an outer join a condition on one side alone becomes a part of
 * a key, which is null, and so equals nothing, where the condition does not hold.
 */
export function joinParts(condition: Bound | null, prefix: string, type: JoinRelation['type']): JoinParts {
  const parts = conjuncts(condition).filter((part) => !(part.kind === 'literal' && part.value === 1n));
  const keys: JoinedBy[] = [];
  const sided = { left: [] as Bound[], right: [] as Bound[] };
  const residual: Bound[] = [];
  for (const part of parts) {
    const own = keyOf(part, prefix);
    const side = type === 'inner' ? 'both' : sideOf(part, prefix);
    if (own !== undefined) keys.push(own);
    else if (side === 'left' || side === 'none') sided.left.push(part);
    else if (side === 'right') sided.right.push(unprefixed(part, prefix));
    else residual.push(part);
  }
  if (sided.left.length + sided.right.length === 0) return { keys, residual };
  const plain = keys.find(({ nullsMeet }) => nullsMeet !== true);
  const first = plain ?? { left: integer(1), right: integer(1), domain: 'BIGINT' as const };
  return {
    keys: [
      { ...first, left: onlyWhere(sided.left, first.left), right: onlyWhere(sided.right, first.right) },
      ...keys.filter((key) => key !== plain),
    ],
    residual,
  };
}

function onlyWhere(conditions: readonly Bound[], key: Bound): Bound {
  return conditions.reduce((so, condition) => call(key.type, 'case_searched', condition, so, NULL), key);
}

function keyOf(part: Bound, prefix: string): JoinedBy | undefined {
  if (part.kind === 'compare' && part.operator === '=') return keyOfSides(part.left, part.right, part.domain, prefix);
  if (part.kind !== 'call' || part.function !== 'notdistinctfrom') return undefined;
  const [left = NULL, right = NULL] = part.arguments;
  if (left.type === 'NULL' || right.type === 'NULL') return undefined;
  const domain = commonType(left.type, right.type);
  const key = domain === undefined || !isOfKeys(domain) ? undefined : keyOfSides(left, right, domain, prefix);
  return key && { ...key, nullsMeet: true };
}

/** Whether keys are made of values of a type. */
export function isOfKeys(type: SqlType): boolean {
  return type === 'VARCHAR' || type === 'BIGINT' || type === 'INTEGER' || isInstant(type) || isNumeric(type);
}

function keyOfSides(one: Bound, other: Bound, domain: SqlType, prefix: string): JoinedBy | undefined {
  const sides = [sideOf(one, prefix), sideOf(other, prefix)];
  if (!sides.includes('left') || !sides.includes('right')) return undefined;
  const [left, right] = sides[0] === 'left' ? [one, other] : [other, one];
  return { left, right: unprefixed(right, prefix), domain };
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
