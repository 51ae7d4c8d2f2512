// Binds FROM: tables, subqueries and joins.

import { extended } from '../../../base/names.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import { arrayOf, elementOf, isArray } from '../parse/sql-type.js';
import type { SqlRelation } from '../parse/syntax.js';
import { and, type Bound, call, column, transform } from '../relation/bound.js';
import { columnsOf, freeName, freePrefix, identity, type JoinRelation, type ProjectedColumn, type Relation } from '../relation/relation.js';
import { bindExpression, condition } from './bind-expression.js';
import { bindPivot, bindUnpivot } from './bind-pivot.js';
import { bindAppend, bindExtern, bindNothing, bindTable, bindValues } from './bind-source.js';
import type { Binding, BoundFrom } from './binding.js';
import { compare } from './comparison.js';
import type { Place } from './expression/place.js';
import { describe, unify } from './function-call.js';
import { Scope, type ScopeColumn, type ScopeTable } from './scope.js';
import type { Session } from './session.js';
import { Subqueries } from './subquery.js';

/** `parent`: the columns of the outer query, for correlated subqueries. */
export function bindFrom(binding: Binding, from: SqlRelation | null, parent: Scope | null): BoundFrom {
  const { session, schema } = binding;
  switch (from?.kind) {
    case undefined:
      return within(bindNothing(), parent);
    case 'table':
      return within(bindTable(session, schema, from), parent);
    case 'extern':
      return within(bindExtern(session, from), parent);
    case 'append':
      return within(bindAppend(session, schema, from), parent);
    case 'values':
      return within(bindValues(session, from), parent);
    case 'subquery':
      return bindSubquery(binding, from, parent);
    case 'unnest':
      return bindUnnest(binding, from, within(bindNothing(), parent));
    case 'pivot':
      return bindPivot(binding, from, bindFrom(binding, from.input, parent), parent);
    case 'unpivot':
      return bindUnpivot(binding, from, bindFrom(binding, from.input, parent), parent);
    case 'join':
      return bindJoin(binding, from, parent);
  }
}

function within({ relation, scope }: BoundFrom, parent: Scope | null): BoundFrom {
  return { relation, scope: new Scope(scope.tables, parent) };
}

function bindSubquery(binding: Binding, from: Extract<SqlRelation, { kind: 'subquery' }>, parent: Scope | null): BoundFrom {
  // A query that WITH names is bound wherever it is named.
  binding.session.numbers.next();
  const { relation } = binding.query(binding, from.query, parent);
  const names = from.columnNames ?? relation.columns.map(({ name }) => name);
  if (names.length !== relation.columns.length)
    throw binding.session.source.error(
      'sql_plan_invalid',
      from.at,
      `the subquery has ${relation.columns.length} columns and ${names.length} names`,
    );
  // Rows of a subquery are not in order of time, which the engine takes a column of that name for.
  const columns = relation.columns.map(
    (each): ProjectedColumn => (each.name === TIME_COLUMN ? { ...each, name: freeName('time', relation.columns) } : each),
  );
  const scopeColumns = columns.map(({ name, type }, index): ScopeColumn => ({ name: names[index] ?? '', bound: column(type, name) }));
  const table: ScopeTable = { columns: scopeColumns, qualifiers: from.alias === null ? [] : [[from.alias]] };
  return { relation: { ...relation, columns }, scope: new Scope([table], parent) };
}

/** UNNEST(array) AS alias(column), for each row of `input`. */
function bindUnnest({ session }: Binding, from: Extract<SqlRelation, { kind: 'unnest' }>, input: BoundFrom): BoundFrom {
  const place: Place = { session, scope: input.scope, aggregates: 'in UNNEST', subqueries: 'in UNNEST' };
  const array = bindExpression(place, from.operand);
  const type = array.type === 'NULL' ? arrayOf('VARCHAR') : array.type;
  if (!isArray(type)) {
    const hint = type === 'VARCHAR' ? '; MV_TO_ARRAY makes one of a multi-value string' : '';
    throw session.source.error('sql_plan_invalid', from.at, `UNNEST takes an ARRAY, found ${describe(array)}${hint}`);
  }
  if (from.columnNames !== null && from.columnNames.length !== 1)
    throw session.source.error('sql_plan_invalid', from.at, `UNNEST gives one column, found ${from.columnNames.length} names`);
  const name = freeName('unnest', columnsOf(input.relation));
  const element = elementOf(type);
  const table: ScopeTable = {
    columns: [{ name: from.columnNames?.[0] ?? 'EXPR$0', bound: column(element, name) }],
    qualifiers: from.alias === null ? [] : [[from.alias]],
  };
  return {
    relation: { kind: 'unnest', input: input.relation, array, name, type: element },
    scope: new Scope([...input.scope.tables, table], input.scope.parent, input.scope.merged),
  };
}

function bindJoin(binding: Binding, from: Extract<SqlRelation, { kind: 'join' }>, parent: Scope | null): BoundFrom {
  const { session } = binding;
  session.numbers.next();
  const bound = bindFrom(binding, from.left, parent);
  if (from.right.kind === 'unnest') {
    if (from.type !== 'inner') throw session.source.unsupported(from.at, `${from.type.toUpperCase()} JOIN UNNEST`);
    const unnested = bindUnnest(binding, from.right, bound);
    if (from.on === null) return unnested;
    if ('columns' in from.on || from.on.kind === 'natural') throw session.source.unsupported(from.at, 'JOIN UNNEST with USING or NATURAL');
    const place: Place = { session, scope: unnested.scope, aggregates: 'in ON', subqueries: 'in ON' };
    return { ...unnested, relation: { kind: 'filter', input: unnested.relation, condition: condition(place, from.on) } };
  }
  const right = bindFrom(binding, from.right, parent);
  const left = from.type === 'right' || from.type === 'full' ? withoutTime(bound) : bound;
  const prefix = freePrefix(left.relation);
  const rightTables = right.scope.tables.map((table) => renamed(table, prefix));
  const scope = new Scope([...left.scope.tables, ...rightTables], parent);
  const rightScope = new Scope(rightTables, null, renamedColumns(right.scope.merged, prefix));
  const join: Omit<JoinRelation, 'condition'> = { kind: 'join', left: left.relation, right: right.relation, prefix, type: from.type };
  const { on } = from;
  if (on !== null && (on.kind === 'using' || on.kind === 'natural')) {
    const leftNames = left.scope.all(session.source, from.at, []).map(({ name }) => name);
    const rightNames = new Set(rightScope.all(session.source, from.at, []).map(({ name }) => name));
    const names = on.kind === 'using' ? on.columns : [...new Set(leftNames)].filter((name) => rightNames.has(name));
    return byNames(session, from.at, { join, left: left.scope, right: rightScope, names, scope });
  }
  const merged = [...left.scope.merged, ...rightScope.merged.filter(({ name }) => !left.scope.has([name]))];
  const whole = new Scope(scope.tables, parent, left.scope.merged.length + rightScope.merged.length === 0 ? [] : merged);
  if (on === null || from.type !== 'inner') {
    const place: Place = { session, scope: whole, aggregates: 'in ON', subqueries: 'in ON of an outer join' };
    return { relation: extended(join, { condition: on === null ? null : condition(place, on) }), scope: whole };
  }
  const subqueries = new Subqueries(binding);
  const test = condition({ session, scope: whole, aggregates: 'in ON', subqueries, positive: true }, on);
  if (subqueries.isEmpty) return { relation: extended(join, { condition: test }), scope: whole };
  // They are joined to the pairs of rows, of which the condition keeps some: rules take its other parts back into the join.
  const pairs = subqueries.attach(extended(join, { condition: null }), (bound) => bound);
  const kept: Relation = { kind: 'filter', input: pairs, condition: test };
  return { relation: { kind: 'project', input: kept, columns: identity(columnsOf(extended(join, { condition: null }))) }, scope: whole };
}

/** USING and NATURAL: columns of one name must be equal and become one. */
function byNames(
  session: Session,
  at: number,
  {
    join,
    left,
    right,
    names,
    scope,
  }: {
    readonly join: Omit<JoinRelation, 'condition'>;
    readonly left: Scope;
    readonly right: Scope;
    readonly names: readonly string[];
    readonly scope: Scope;
  },
): BoundFrom {
  const pairs = names.map((name) => ({
    name,
    left: left.resolve(session.source, at, [name]),
    right: right.resolve(session.source, at, [name]),
  }));
  const equalities = pairs.map((pair) => compare(session, at, '=', pair.left, pair.right));
  const merged = pairs.map((pair): ScopeColumn => {
    if (join.type === 'inner' || join.type === 'left') return { name: pair.name, bound: pair.left };
    if (join.type === 'right') return { name: pair.name, bound: pair.right };
    const mismatch = (): Error => session.source.error('sql_plan_invalid', at, `the columns ${pair.name} are of different types`);
    const { type, arguments: sides } = unify([pair.left, pair.right], mismatch, session);
    return { name: pair.name, bound: call(type, 'coalesce', ...sides) };
  });
  const others = [...left.merged, ...right.merged].filter(({ name }) => !names.includes(name));
  return {
    relation: { ...join, condition: equalities.length === 0 ? null : and(equalities) },
    scope: new Scope(scope.tables, scope.parent, [...merged, ...others]),
  };
}

/** Rows that an outer join adds have no time, which a column of that name must have. */
function withoutTime(from: BoundFrom): BoundFrom {
  const columns = columnsOf(from.relation);
  if (!columns.some(({ name }) => name === TIME_COLUMN)) return from;
  const time = freeName('time', columns);
  const projected = columns.map(
    ({ name, type }): ProjectedColumn => ({ name: name === TIME_COLUMN ? time : name, type, bound: column(type, name) }),
  );
  const rename = (bound: Bound): Bound =>
    transform(bound, (part) => (part.kind === 'column' && part.name === TIME_COLUMN ? column(part.type, time) : undefined));
  const columnsRenamed = (list: readonly ScopeColumn[]): readonly ScopeColumn[] =>
    list.map(({ name, bound }) => ({ name, bound: rename(bound) }));
  const tables = from.scope.tables.map((table) => ({ ...table, columns: columnsRenamed(table.columns) }));
  return {
    relation: { kind: 'project', input: from.relation, columns: projected },
    scope: new Scope(tables, from.scope.parent, columnsRenamed(from.scope.merged)),
  };
}

function renamed(table: ScopeTable, prefix: string): ScopeTable {
  return { ...table, columns: renamedColumns(table.columns, prefix) };
}

function renamedColumns(columns: readonly ScopeColumn[], prefix: string): readonly ScopeColumn[] {
  return columns.map(({ name, bound }) => ({ name, bound: prefixed(bound, prefix) }));
}

/** The same expression over the output of a join whose right side it was bound to. */
function prefixed(bound: Bound, prefix: string): Bound {
  return transform(bound, (part) => (part.kind === 'column' ? column(part.type, prefix + part.name) : undefined));
}
