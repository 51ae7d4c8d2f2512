import { AggregateList } from './aggregates.js';
import { bindExpression, condition, type Place } from './bind-expression.js';
import { type BoundSource, bindExtern, bindNothing, bindTable, bindValues } from './bind-source.js';
import { type Bound, boundKey, children, settledType, transform } from './bound.js';
import type { NamedBound, ProjectedColumn, Relation, RelationSortKey } from './relation.js';
import type { SqlSchema } from './schema.js';
import { Scope } from './scope.js';
import type { Session } from './session.js';
import type { SelectItem, SqlExpression, SqlQuery, SqlRelation } from './syntax.js';

/** A bound query: its tree, whose top node is a `project`. */
export interface BoundQuery {
  readonly relation: Extract<Relation, { kind: 'project' }>;
  /** Nothing but columns and filters over its source: it can be merged into a query around it. */
  readonly plain: boolean;
}

interface Output {
  readonly name: string;
  /** Of its select item, for errors. */
  readonly at: number;
  readonly bound: Bound;
}

/** Syntax tree → bound relational tree. */
export function bindQuery(session: Session, schema: SqlSchema, query: SqlQuery): BoundQuery {
  const source = bindFrom(session, schema, query.from);
  const where: Place = { session, scope: source.scope, aggregates: 'in WHERE' };
  let relation: Relation =
    query.where === null ? source.relation : { kind: 'filter', input: source.relation, condition: condition(where, query.where) };

  const list = new AggregateList();
  const select: Place = { session, scope: source.scope, aggregates: list };
  const outputs = selectOutputs(select, query.items);
  const items = new Map(query.items.flatMap(({ alias, expression }) => (alias === null ? [] : [[alias, expression] as const])));
  const groupBy = query.groupBy?.map((expression) =>
    bindReference({ ...select, aggregates: 'in GROUP BY', aliases: { items, before: false } }, expression, outputs),
  );
  const having = query.having === null ? null : condition({ ...select, aliases: { items, before: false } }, query.having);
  const orderBy = query.orderBy.map((item) => ({
    ...item,
    at: item.expression.at,
    bound: bindReference({ ...select, aliases: { items, before: true } }, item.expression, outputs),
  }));

  const grouped = groupBy !== undefined || having !== null || list.aggregates.length > 0;
  let rename = (bound: Bound, _at: number): Bound => bound;
  if (grouped) {
    const aggregate = aggregation(relation, groupBy ?? [], list);
    relation = aggregate.relation;
    rename = (bound, at) => aggregate.rename(bound, at, session);
    if (having !== null) relation = { kind: 'filter', input: relation, condition: rename(having, query.having?.at ?? query.at) };
  }
  let columns = outputs.map((output) => ({ ...output, bound: rename(output.bound, output.at) }));
  let sortKeys = orderBy.map((item) => ({ ...item, bound: rename(item.bound, item.at) }));
  if (query.distinct && !(grouped && keepsAllKeys(relation, columns))) {
    if (grouped) throw session.source.unsupported(query.at, 'SELECT DISTINCT over a part of the GROUP BY columns');
    const distinct = aggregation(
      relation,
      columns.map(({ bound }) => bound),
      new AggregateList(),
    );
    relation = distinct.relation;
    columns = columns.map((column) => ({ ...column, bound: distinct.rename(column.bound, column.at, session) }));
    sortKeys = sortKeys.map((item) => ({
      ...item,
      bound: distinct.rename(item.bound, item.at, session, 'ORDER BY of a SELECT DISTINCT can only use selected columns'),
    }));
  }

  const by = sortOrder(sortKeys);
  if (by.length > 0) relation = { kind: 'sort', input: relation, by };
  const [offset, limit] = [rowCount(where, query.offset, 'OFFSET') ?? 0, rowCount(where, query.limit, 'LIMIT')];
  if (offset > 0 || limit !== null) relation = { kind: 'limit', input: relation, offset, limit };
  const projected = columns.map(({ name, bound }): ProjectedColumn => ({ name, bound, type: settledType(bound.type) }));
  return {
    relation: { kind: 'project', input: relation, columns: projected },
    plain: !grouped && !query.distinct && by.length === 0 && offset === 0 && limit === null,
  };
}

function bindFrom(session: Session, schema: SqlSchema, from: SqlRelation | null): BoundSource {
  switch (from?.kind) {
    case undefined:
      return bindNothing();
    case 'table':
      return bindTable(session, schema, from);
    case 'extern':
      return bindExtern(session, from);
    case 'values':
      return bindValues(session, from);
    case 'subquery': {
      const { relation, plain } = bindQuery(session, schema, from.query);
      if (!plain) throw session.source.unsupported(from.at, 'a subquery with DISTINCT, aggregates, ORDER BY or LIMIT');
      const names = from.columnNames ?? relation.columns.map(({ name }) => name);
      if (names.length !== relation.columns.length)
        throw session.source.error(
          'sql_plan_invalid',
          from.at,
          `the subquery has ${relation.columns.length} columns and ${names.length} names`,
        );
      const columns = relation.columns.map(({ bound }, index) => ({ name: names[index] ?? '', bound }));
      return { relation: relation.input, scope: new Scope(columns, from.alias === null ? [] : [[from.alias]]) };
    }
  }
}

/** The select list with `*` spelled out and every column named, no two alike. */
function selectOutputs(place: Place, items: readonly SelectItem[]): readonly Output[] {
  const outputs: Output[] = [];
  const taken = new Set<string>();
  const add = (wanted: string | undefined, at: number, bound: Bound): void => {
    const base = wanted ?? `EXPR$${outputs.length}`;
    let name = base;
    for (let suffix = 0; taken.has(name); suffix++) name = `${base}${suffix}`;
    taken.add(name);
    outputs.push({ name, at, bound });
  };
  for (const { expression, alias } of items) {
    const { at } = expression;
    if (expression.kind === 'star')
      for (const column of place.scope.all(place.session.source, at, expression.path)) add(column.name, at, column.bound);
    else add(alias ?? (expression.kind === 'name' ? expression.path.at(-1) : undefined), at, bindExpression(place, expression));
  }
  if (outputs.length === 0)
    throw place.session.source.error('sql_plan_invalid', items[0]?.expression.at ?? 0, 'there are no columns to select: * needs a FROM');
  return outputs;
}

/** In GROUP BY and ORDER BY a bare integer counts select items. */
function bindReference(place: Place, expression: SqlExpression, outputs: readonly Output[]): Bound {
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

interface Aggregation {
  readonly relation: Relation;
  /** An expression over the rows below, in terms of the keys and aggregates. */
  rename(bound: Bound, at: number, session: Session, otherwise?: string): Bound;
}

function aggregation(input: Relation, keyBounds: readonly Bound[], list: AggregateList): Aggregation {
  const keys = new Map<string, NamedBound>();
  for (const bound of keyBounds) {
    const key = boundKey(bound);
    if (!keys.has(key)) keys.set(key, { name: `d${keys.size}`, bound });
  }
  const aggregates = list.aggregates.map((aggregate, index) => ({ ...aggregate, name: `a${index}` }));
  return {
    relation: { kind: 'aggregate', input, keys: [...keys.values()], aggregates },
    rename: (bound, at, session, otherwise) =>
      transform(bound, (part) => {
        if (part.kind === 'aggregate') return { kind: 'column', type: part.type, name: aggregates[part.index]?.name ?? '' };
        const key = keys.get(boundKey(part));
        if (key !== undefined) return { kind: 'column', type: part.type, name: key.name };
        if (part.kind === 'column')
          throw session.source.error(
            'sql_plan_invalid',
            at,
            otherwise ?? `column ${part.name} is neither in GROUP BY nor inside an aggregate`,
          );
        return undefined;
      }),
  };
}

/** Rows of a GROUP BY differ in its keys already. */
function keepsAllKeys(relation: Relation, columns: readonly { readonly bound: Bound }[]): boolean {
  const aggregate = relation.kind === 'filter' ? relation.input : relation;
  if (aggregate.kind !== 'aggregate') return false;
  return aggregate.keys.every(({ name }) => columns.some(({ bound }) => bound.kind === 'column' && bound.name === name));
}

/** Nulls are the lowest value unless said otherwise. Constants and repeated keys order nothing. */
function sortOrder(
  items: readonly { readonly bound: Bound; readonly descending: boolean; readonly nulls: 'first' | 'last' | null }[],
): readonly RelationSortKey[] {
  const seen = new Set<string>();
  return items.flatMap(({ bound, descending, nulls }) => {
    const key = boundKey(bound);
    if (bound.kind === 'literal' || seen.has(key)) return [];
    seen.add(key);
    return [{ bound, descending, nulls: nulls ?? (descending ? ('last' as const) : ('first' as const)) }];
  });
}

function rowCount(place: Place, expression: SqlExpression | null, clause: string): number | null {
  if (expression === null) return null;
  const bound = bindExpression({ ...place, aggregates: `in ${clause}` }, expression);
  if (bound.kind === 'literal' && typeof bound.value === 'bigint' && bound.value >= 0n && bound.value <= BigInt(Number.MAX_SAFE_INTEGER))
    return Number(bound.value);
  throw place.session.source.error('sql_plan_invalid', expression.at, `${clause} takes an integer that is not negative`);
}
