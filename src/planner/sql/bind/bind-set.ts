// Binds UNION, INTERSECT and EXCEPT.

import { TIME_COLUMN } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import { commonType, isArray, isComplex } from '../parse/sql-type.js';
import type { CompareOperator, SetQuery, SqlQuery } from '../parse/syntax.js';
import { and, type Bound, call, column, integer, transform } from '../relation/bound.js';
import { estimate } from '../relation/estimate.js';
import { isOfKeys } from '../relation/join-condition.js';
import {
  freeName,
  freePrefix,
  identity,
  type NamedAggregate,
  type NamedBound,
  type ProjectedColumn,
  type ProjectRelation,
  type Relation,
} from '../relation/relation.js';
import { mayHaveSeveral } from '../relation/several-values.js';
import { type Binding, type BoundQuery, storedInside } from './binding.js';
import { castTo } from './cast.js';
import type { Place } from './expression/place.js';
import { bindReference, ending } from './query-ending.js';
import { Scope } from './scope.js';
import type { Session } from './session.js';

/** UNION, INTERSECT and EXCEPT: columns by position, named as the first query names them. Two nulls are the same here. */
export function bindSet(binding: Binding, query: SetQuery, parent: Scope | null): BoundQuery {
  const { session } = binding;
  const operands = operandsOf(query).map((operand) => ({
    at: operand.at,
    relation: binding.query(storedInside(binding), operand, parent).relation,
  }));
  const inputs = aligned(session, operands);
  const [first] = inputs;
  if (first === undefined) throw session.source.error('internal', query.at, 'a set operation without operands');
  const combined = combine(session, query, inputs);
  const columns = first.columns.map(({ name, type }, index) => ({
    name: operands[0]?.relation.columns[index]?.name ?? name,
    // A column of nulls alone takes the type of what it meets outside.
    bound: nullsOf(inputs, index) ?? column(type, name),
  }));
  const scope = new Scope([{ columns, qualifiers: [] }], parent);
  const place: Place = { session, scope, aggregates: 'in ORDER BY of a set operation', subqueries: 'in ORDER BY of a set operation' };
  const sortKeys = query.orderBy.map((item) => ({ ...item, bound: bindReference(place, item.expression, columns) }));
  return { relation: ending(place, query, { relation: combined, columns, sortKeys }), names: columns.map(({ name }) => name) };
}

/** The null that a column is in all queries. */
function nullsOf(inputs: readonly ProjectRelation[], index: number): Bound | undefined {
  const bounds = inputs.map(({ columns }) => columns[index]?.bound);
  return bounds.every((bound) => bound?.kind === 'literal' && bound.type === 'NULL') ? bounds[0] : undefined;
}

/** `a UNION ALL b UNION ALL c` has three. */
function operandsOf(query: SetQuery): readonly SqlQuery[] {
  const operands: SqlQuery[] = [query.right];
  let left = query.left;
  while (query.operator === 'UNION' && isSame(left, query)) {
    operands.unshift(left.right);
    left = left.left;
  }
  return [left, ...operands];
}

function isSame(query: SqlQuery, other: SetQuery): query is SetQuery {
  const isBare = query.orderBy.length === 0 && query.offset === null && query.limit === null;
  return query.kind === 'set' && isBare && query.operator === other.operator && query.all === other.all;
}

/** All inputs with the names of the first and types that hold the values of all. */
function aligned(
  session: Session,
  operands: readonly { readonly at: number; readonly relation: ProjectRelation }[],
): readonly ProjectRelation[] {
  const [first] = operands;
  const width = first?.relation.columns.length ?? 0;
  for (const { at, relation } of operands)
    if (relation.columns.length !== width)
      throw session.source.error('sql_plan_invalid', at, `this query has ${relation.columns.length} columns, the first one ${width}`);
  const types = Array.from({ length: width }, (_, index) => {
    let type: SqlType | 'NULL' = 'NULL';
    for (const { at, relation } of operands) {
      const given = relation.columns[index];
      if (given === undefined || given.bound.type === 'NULL') continue;
      const common: SqlType | undefined = type === 'NULL' ? given.type : (commonType(type, given.type) ?? asText(type, given.type));
      if (common === undefined)
        throw session.source.error('sql_plan_invalid', at, `column ${index + 1} is ${given.type} here and ${type} in the queries before`);
      type = common;
    }
    return type === 'NULL' ? ('VARCHAR' as const) : type;
  });
  // A column called `__time` is taken for sorted.
  const names = (first?.relation.columns ?? []).map(({ name }) =>
    name === TIME_COLUMN ? freeName('time', first?.relation.columns ?? []) : name,
  );
  return operands.map(({ at, relation }) => {
    const unchanged = relation.columns.every(({ type, name }, index) => type === types[index] && name === names[index]);
    if (unchanged) return relation;
    const columns = relation.columns.map(({ name: own, type: from, bound }, index): ProjectedColumn => {
      const type = types[index] ?? from;
      const value = castTo(bound.type === 'NULL' ? bound : column(from, own), type, session.timeZone);
      if (value === undefined) throw session.source.error('sql_plan_invalid', at, `column ${index + 1} cannot be read as ${type}`);
      return { name: names[index] ?? own, type, bound: value };
    });
    return { kind: 'project', input: relation, columns };
  });
}

/** A text beside a number, an instant or a truth value makes texts of these. */
function asText(one: SqlType, other: SqlType): SqlType | undefined {
  const isScalar = (type: SqlType): boolean => !isArray(type) && !isComplex(type);
  return (one === 'VARCHAR' || other === 'VARCHAR') && isScalar(one) && isScalar(other) ? 'VARCHAR' : undefined;
}

/** Whether a join finds rows by all their columns: they have one value each, of types that are keys. */
function areKeys({ columns, input }: ProjectRelation): boolean {
  return columns.every(({ type, bound }) => isOfKeys(type) && (type !== 'VARCHAR' || !mayHaveSeveral(bound, input)));
}

/** So many bytes of keys are held in memory whatever else there is, as which a row and each value of it are counted; what is grouped may go to disk instead. */
const HELD_BYTES_MAX = 1 << 28;
const ROW_BYTES = 32;
const VALUE_BYTES = 16;

function isHeld(side: ProjectRelation): boolean {
  const rows = estimate(side)?.rows;
  return rows !== undefined && rows * (ROW_BYTES + VALUE_BYTES * side.columns.length) <= HELD_BYTES_MAX;
}

/** The rows found by a join, where the rows of one side may be held; what both sides have is the same either way. Undefined: too many. */
function joinedByKeys({ operator }: SetQuery, left: ProjectRelation, right: ProjectRelation): Relation | undefined {
  if (operator === 'EXCEPT') return isHeld(right) ? filteredByKeys(left, right, 'anti') : undefined;
  const isSmaller = (estimate(left)?.rows ?? Infinity) < (estimate(right)?.rows ?? Infinity);
  const [probed, held] = isSmaller ? [right, left] : [left, right];
  return isHeld(held) ? filteredByKeys(probed, held, 'semi') : undefined;
}

/** The different rows of the left side that have an equal one on the right, or none: a join reads both sides where they lie. */
function filteredByKeys(left: ProjectRelation, right: ProjectRelation, type: 'semi' | 'anti'): Relation {
  const prefix = freePrefix(left.input);
  const conditions = left.columns.flatMap(({ bound }, index): Bound[] => {
    const other = right.columns[index]?.bound;
    return other === undefined ? [] : [call('BOOLEAN', 'notdistinctfrom', bound, prefixed(other, prefix))];
  });
  const join: Relation = { kind: 'join', type, left: left.input, right: right.input, prefix, condition: and(conditions) };
  const keys = left.columns.map(({ name, bound }): NamedBound => ({ name, bound }));
  return { kind: 'project', input: { kind: 'aggregate', input: join, keys, aggregates: [] }, columns: identity(left.columns) };
}

function prefixed(bound: Bound, prefix: string): Bound {
  return transform(bound, (part) => (part.kind === 'column' ? column(part.type, prefix + part.name) : undefined));
}

const SIDE = 'side of a set operation';
const COUNT = 'number of equal rows';

/** A column of numbers, of a name that the rows beside it do not have. */
function numberColumn(wanted: string, { columns }: ProjectRelation): ProjectedColumn {
  const name = freeName(wanted, columns);
  return { name, type: 'BIGINT', bound: column('BIGINT', name) };
}

/** The column that `numbered` adds. */
function placeColumn(side: ProjectRelation): ProjectedColumn {
  return numberColumn('number among equal rows', side);
}

/** The rows with their numbers among those that are equal to them. */
function numbered(side: ProjectRelation): Relation {
  const frame = { unit: 'rows', start: 'unbounded', end: 'unbounded', exclude: null } as const;
  return {
    kind: 'window',
    input: side,
    partition: identity(side.columns).map(({ bound }) => bound),
    order: [],
    functions: [{ name: placeColumn(side).name, type: 'BIGINT', call: { kind: 'rowNumber' }, operands: [], filter: null, frame }],
  };
}

/**
 * INTERSECT ALL and EXCEPT ALL, where the groups of one side may be held: the other side's rows are numbered, and a join tells each how many
 * are equal to it. What both sides have is the same whichever is numbered.
 */
function countedByKeys({ operator }: SetQuery, left: ProjectRelation, right: ProjectRelation): Relation | undefined {
  const isIntersection = operator === 'INTERSECT';
  const isLarger = (estimate(left)?.rows ?? Infinity) > (estimate(right)?.rows ?? Infinity);
  const [own, others] = isIntersection && isLarger ? [right, left] : [left, right];
  if (!isHeld(others)) return undefined;
  const rows = numbered(own);
  const prefix = freePrefix(rows);
  const keys = identity(others.columns).map(({ name, bound }): NamedBound => ({ name, bound }));
  const { name } = numberColumn(COUNT, others);
  const count: NamedAggregate = { kind: 'count', name, operands: [], filter: null, type: 'BIGINT' };
  const counts: Relation = { kind: 'aggregate', input: others, keys, aggregates: [count] };
  const conditions = identity(own.columns).map(({ bound }) => call('BOOLEAN', 'notdistinctfrom', bound, prefixed(bound, prefix)));
  const type = isIntersection ? 'inner' : 'left';
  const join: Relation = { kind: 'join', type, left: rows, right: counts, prefix, condition: and(conditions) };
  const counted = column('BIGINT', prefix + name);
  const condition: Bound = {
    kind: 'compare',
    type: 'BOOLEAN',
    operator: isIntersection ? '<=' : '>',
    domain: 'BIGINT',
    left: placeColumn(own).bound,
    right: isIntersection ? counted : call('BIGINT', 'nvl', counted, integer(0)),
  };
  return { kind: 'project', input: { kind: 'filter', input: join, condition }, columns: identity(left.columns) };
}

function combine(session: Session, query: SetQuery, inputs: readonly ProjectRelation[]): Relation {
  const [left, right] = inputs;
  if (left === undefined || right === undefined) throw session.source.error('internal', query.at, 'a set operation without operands');
  const keys = identity(left.columns).map(({ name, bound }): NamedBound => ({ name, bound }));
  if (query.operator === 'UNION') {
    const union: Relation = { kind: 'union', inputs };
    return query.all ? union : { kind: 'aggregate', input: union, keys, aggregates: [] };
  }
  const byKeys = query.all ? countedByKeys : joinedByKeys;
  const joined = areKeys(left) && areKeys(right) ? byKeys(query, left, right) : undefined;
  if (joined !== undefined) return joined;
  // Each row says which side it is of; equal rows become one group, and the sides it was met on decide. With ALL the equal
  // rows of a side are numbered first: then no two are equal, and the n-th here stands or falls with the n-th there.
  const mark = numberColumn(SIDE, left);
  const number = placeColumn(left);
  const marked = [left, right].map((side, index): Relation => {
    const columns: ProjectedColumn[] = [...identity(side.columns), { ...mark, bound: integer(index) }];
    return { kind: 'project', input: query.all ? numbered(side) : side, columns: query.all ? [...columns, number] : columns };
  });
  const markOf = (kind: 'min' | 'max'): ProjectedColumn => numberColumn(`${kind} ${SIDE}`, left);
  const extreme = (kind: 'min' | 'max'): NamedAggregate => ({
    kind,
    name: markOf(kind).name,
    operands: [mark.bound],
    filter: null,
    type: 'BIGINT',
  });
  const grouped: Relation = {
    kind: 'aggregate',
    input: { kind: 'union', inputs: marked },
    keys: query.all ? [...keys, number] : keys,
    aggregates: [extreme('min'), extreme('max')],
  };
  const isSide = (kind: 'min' | 'max', operator: CompareOperator, side: number): Bound => ({
    kind: 'compare',
    type: 'BOOLEAN',
    operator,
    domain: 'BIGINT',
    left: markOf(kind).bound,
    right: integer(side),
  });
  const condition = query.operator === 'INTERSECT' ? and([isSide('min', '=', 0), isSide('max', '=', 1)]) : isSide('max', '=', 0);
  return { kind: 'project', input: { kind: 'filter', input: grouped, condition }, columns: identity(left.columns) };
}
