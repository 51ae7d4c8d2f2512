// Binds ORDER BY, OFFSET and LIMIT.

import { askOf, placedOf } from '../../places/recording.js';
import type { SqlExpression, SqlQuery } from '../parse/syntax.js';
import { type Bound, type BoundLiteral, boundKey, children, type LiteralValue, settledType } from '../relation/bound.js';
import type { ProjectedColumn, ProjectRelation, Relation, RelationSortKey } from '../relation/relation.js';
import { bindExpression } from './bind-expression.js';
import type { Place } from './expression/place.js';

/** The ending that SELECT and set operations share: ORDER BY, OFFSET, LIMIT, and the columns. */
interface Ending {
  readonly relation: Relation;
  readonly columns: readonly { readonly name: string; readonly bound: Bound }[];
  readonly sortKeys: readonly { readonly bound: Bound; readonly descending: boolean; readonly nulls: 'first' | 'last' | null }[];
}

/** ORDER BY, OFFSET and LIMIT, then the columns. */
export function ending(place: Place, query: SqlQuery, { relation, columns, sortKeys }: Ending): ProjectRelation {
  const by = sortOrder(sortKeys);
  let rows = relation;
  if (by.length > 0) rows = { kind: 'sort', input: rows, by };
  const [skipped, limit] = [rowCount(place, query.offset, 'OFFSET'), rowCount(place, query.limit, 'LIMIT')];
  const offset = Number(skipped?.value ?? 0);
  if (limit !== null) rows = limitedTo(rows, offset, limit);
  else if (offset > 0) rows = { kind: 'limit', input: rows, offset, limit: null };
  const projected = columns.map(({ name, bound }): ProjectedColumn => ({ name, bound, type: settledType(bound.type) }));
  return { kind: 'project', input: rows, columns: projected };
}

/** In GROUP BY and ORDER BY a bare integer counts select items. */
export function bindReference(place: Place, expression: SqlExpression, outputs: readonly { readonly bound: Bound }[]): Bound {
  if (expression.kind !== 'literal' || typeof expression.value !== 'bigint' || expression.type === 'BOOLEAN')
    return bindExpression(place, expression);
  const output = outputs[Number(expression.value) - 1];
  if (output === undefined)
    throw place.session.source.error(
      'sql_plan_invalid',
      expression.at,
      `there is no column ${expression.value}; the query selects ${outputs.length}`,
    );
  if (typeof place.aggregates === 'string' && usesAggregate(output.bound))
    throw place.session.source.error(
      'sql_plan_invalid',
      expression.at,
      `column ${expression.value} is an aggregate, which cannot stand ${place.aggregates}`,
    );
  return output.bound;
}

function usesAggregate(bound: Bound): boolean {
  return bound.kind === 'aggregate' || children(bound).some(usesAggregate);
}

/** Nulls are the lowest value unless said otherwise. Constants and repeated keys order nothing. */
function sortOrder(items: Ending['sortKeys']): readonly RelationSortKey[] {
  const seen = new Set<string>();
  return items.flatMap(({ bound, descending, nulls }) => {
    const key = boundKey(bound);
    if (bound.kind === 'literal' || seen.has(key)) return [];
    seen.add(key);
    return [{ bound, descending, nulls: nulls ?? (descending ? ('last' as const) : ('first' as const)) }];
  });
}

function limitedTo(input: Relation, offset: number, limit: BoundLiteral): Relation {
  return placedOf(limit, 'value', Number, (rows) => ({ kind: 'limit', input, offset, limit: rows }));
}

/** A literal that counts rows. */
function rowCount(place: Place, expression: SqlExpression | null, clause: string): BoundLiteral | null {
  if (expression === null) return null;
  const bound = bindExpression({ ...place, aggregates: `in ${clause}`, subqueries: `in ${clause}` }, expression);
  if (bound.kind === 'literal' && askOf(bound, 'value', isRowCount)) return bound;
  throw place.session.source.error('sql_plan_invalid', expression.at, `${clause} takes an integer that is not negative`);
}

function isRowCount(value: LiteralValue): boolean {
  return typeof value === 'bigint' && value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER);
}
