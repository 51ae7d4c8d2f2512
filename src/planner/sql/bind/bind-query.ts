// Binds a query to a relational tree.

import { eachMember, extended } from '../../../base/names.js';
import type { SelectItem, SelectQuery, SqlExpression, SqlQuery } from '../parse/syntax.js';
import type { Bound } from '../relation/bound.js';
import type { Relation } from '../relation/relation.js';
import { AggregateList } from './aggregate-list.js';
import { aggregatorOf } from './aggregates/stored.js';
import { SQL_AGGREGATES } from './aggregates.js';
import { bindExpression, condition } from './bind-expression.js';
import { bindFrom } from './bind-from.js';
import { bindSet } from './bind-set.js';
import { type Binding, type BoundQuery, storedInside, unstored } from './binding.js';
import type { Place } from './expression/place.js';
import { type Aggregation, aggregation, groupingSets, refuseKeysAlike } from './grouping.js';
import { bindReference, ending } from './query-ending.js';
import type { Scope } from './scope.js';
import { Subqueries } from './subquery.js';
import { WindowList } from './window-list.js';

interface Output {
  readonly name: string;
  readonly written: string;
  /** Offset of its select item, for errors. */
  readonly at: number;
  readonly bound: Bound;
}

/** Syntax tree → bound relational tree. `parent`: what a subquery sees of the outer query. */
export function bindQuery(binding: Binding, query: SqlQuery, parent: Scope | null): BoundQuery {
  return query.kind === 'set' ? bindSet(binding, query, parent) : bindSelect(binding, query, parent);
}

function bindSelect(binding: Binding, query: SelectQuery, parent: Scope | null): BoundQuery {
  const { session } = binding;
  const apart = unstored(binding);
  // Rows that are not grouped are stored as they come from below.
  const from = bindFrom(query.groupBy === null ? storedInside(binding) : apart, query.from, parent);
  const { scope } = from;
  const whereQueries = new Subqueries(apart);
  const where: Place = { session, scope, aggregates: 'in WHERE', subqueries: whereQueries, positive: true };
  const filter = query.where === null ? null : condition(where, query.where);
  const rows = whereQueries.attach(from.relation, (bound) => bound);
  const filtered: Relation = filter === null ? rows : { kind: 'filter', input: rows, condition: filter };

  const list = new AggregateList();
  const [rowQueries, groupQueries] = [new Subqueries(apart), new Subqueries(storedInside(binding))];
  const windows = new WindowList(session, query.windows);
  const grouped: Place = { session, scope, aggregates: list, subqueries: groupQueries, rowSubqueries: rowQueries };
  const select: Place = extended(grouped, { windows });
  const items = new Map<string, SqlExpression>();
  for (const { alias, expression } of query.items) if (alias !== null) items.set(alias, expression);
  const keys: Place = { ...grouped, aggregates: 'in GROUP BY', subqueries: rowQueries };
  const keySets = query.groupBy === null ? null : groupingSets(session, query.at, query.groupBy);
  // Subqueries in group keys are joined to the rows, subqueries in other items to the groups.
  const keyItems = keySets === null ? NO_ITEMS : keyItemsOf(scope, keySets, query.items);
  // Distinct rows, and rows of several grouping sets, are not groups that further rows could be added to.
  const storesGroups = binding.storedAs === 'state' && !query.distinct && (keySets === null || keySets.length === 1);
  const outputs = selectOutputs(query.items, (item) => {
    if (keyItems.has(item)) return keys;
    if (binding.storedAs === undefined) return select;
    return { ...select, storedAs: storesGroups && isAggregate(item.expression) ? 'state' : 'value' };
  });
  const aggregators = outputs.map(({ name, bound }) => {
    const aggregate = bound.kind === 'aggregate' ? list.aggregates[bound.index] : undefined;
    return aggregate === undefined ? undefined : aggregatorOf(aggregate, name);
  });
  const bound = new Map<string, Bound>();
  if (keyItems.size > 0)
    for (const [index, item] of query.items.entries()) {
      const output = outputs[index];
      if (item.alias !== null && output !== undefined && keyItems.has(item)) bound.set(item.alias, output.bound);
    }
  const aliases = { items, bound, before: false };
  const named: Place = extended(keys, { aliases });
  const sets = keySets?.map((set) => set.map((expression) => bindReference(named, expression, outputs))) ?? null;
  if (keySets !== null && sets !== null && sets.length > 1) {
    const hasStar = query.items.some(({ expression }) => expression.kind === 'star');
    const written = (key: SqlExpression): SqlExpression => {
      if (key.kind === 'literal' && !hasStar) return query.items[Number(key.value) - 1]?.expression ?? key;
      const [name, second] = key.kind === 'name' ? key.path : [];
      return name === undefined || second !== undefined || scope.has([name]) ? key : (items.get(name) ?? key);
    };
    refuseKeysAlike(
      session,
      query.at,
      keySets.map((set) => set.map(written)),
      sets,
    );
  }
  const having = query.having === null ? null : condition(extended(grouped, { aliases, positive: true }), query.having);
  const qualify = query.qualify === null ? null : condition(extended(select, { aliases, positive: true }), query.qualify);
  const ordering: Place = extended(select, { aliases: { ...aliases, before: true } });
  const orderBy = query.orderBy.map((item) =>
    extended(item, { at: item.expression.at, bound: bindReference(ordering, item.expression, outputs) }),
  );

  const isGrouped = sets !== null || having !== null || list.aggregates.length > 0;
  const input = rowQueries.attach(filtered, (bound) => bound);
  const groups: Aggregation = isGrouped
    ? aggregation(session, input, sets ?? [[]], list, (name) => groupQueries.provides(name))
    : { relation: input, rename: (bound) => bound };
  let relation = groupQueries.attach(groups.relation, (bound) => groups.rename(bound, query.at));
  if (having !== null) relation = { kind: 'filter', input: relation, condition: groups.rename(having, query.having?.at ?? query.at) };
  relation = windows.attach(relation, (bound, at) => groups.rename(bound, at));
  const renamed = (bound: Bound, at: number): Bound => windows.resolved(groups.rename(bound, at));
  if (qualify !== null) relation = { kind: 'filter', input: relation, condition: renamed(qualify, query.qualify?.at ?? query.at) };
  let columns = outputs.map((output) => ({ ...output, bound: renamed(output.bound, output.at) }));
  let sortKeys = orderBy.map((item) => ({ ...item, bound: renamed(item.bound, item.at) }));
  if (query.distinct && !(isGrouped && keepsAllKeys(relation, columns))) {
    const keys = columns.map(({ bound }) => bound);
    const distinct = aggregation(session, relation, [keys], new AggregateList(), () => false);
    relation = distinct.relation;
    columns = columns.map((column) => ({ ...column, bound: distinct.rename(column.bound, column.at) }));
    sortKeys = sortKeys.map((item) => ({
      ...item,
      bound: distinct.rename(item.bound, item.at, 'ORDER BY of a SELECT DISTINCT can only use selected columns'),
    }));
  }
  const whole = { relation: ending(select, query, { relation, columns, sortKeys }), names: outputs.map(({ written }) => written) };
  return storesGroups && isGrouped ? { ...whole, stored: aggregators } : whole;
}

function isAggregate(expression: SqlExpression): boolean {
  return expression.kind === 'call' && expression.over === null && Object.hasOwn(SQL_AGGREGATES, expression.name);
}

const NO_ITEMS: ReadonlySet<SelectItem> = new Set();

/** Select items with subqueries that are elements of GROUP BY. */
function keyItemsOf(scope: Scope, keySets: readonly (readonly SqlExpression[])[], items: readonly SelectItem[]): ReadonlySet<SelectItem> {
  // `*` stands for any number of items.
  if (items.some(({ expression }) => expression.kind === 'star')) return NO_ITEMS;
  const asked = items.filter(({ expression }) => hasSubquery(expression));
  return new Set(asked.filter((item) => keySets.some((set) => set.some((key) => namesItem(scope, key, item, items)))));
}

/** Whether an element of GROUP BY is a select item: its number, or its name where no column has it. */
function namesItem(scope: Scope, key: SqlExpression, item: SelectItem, items: readonly SelectItem[]): boolean {
  if (key.kind === 'literal') return items[Number(key.value) - 1] === item;
  return key.kind === 'name' && key.path.length === 1 && key.path[0] === item.alias && !scope.has(key.path);
}

function hasSubquery(part: unknown): boolean {
  if (typeof part !== 'object' || part === null || isLeaf(part)) return false;
  if ('kind' in part && SUBQUERIES.includes(part.kind)) return true;
  let found = false;
  eachMember(part, (member) => {
    found ||= hasSubquery(member);
  });
  return found;
}

/** A literal is not looked at: it holds no other expression. */
function isLeaf(part: object): boolean {
  return 'kind' in part && (part.kind === 'literal' || part.kind === 'instant' || part.kind === 'interval');
}

const SUBQUERIES: readonly unknown[] = ['scalarQuery', 'exists', 'inQuery'] satisfies readonly SqlExpression['kind'][];

/** The select list with `*` spelled out and every column named, no two alike. `placeOf`: where an item is bound. */
function selectOutputs(items: readonly SelectItem[], placeOf: (item: SelectItem) => Place): readonly Output[] {
  const outputs: Output[] = [];
  const taken = new Set<string>();
  const add = (wanted: string | undefined, at: number, bound: Bound): void => {
    const base = wanted ?? `EXPR$${outputs.length}`;
    let name = base;
    for (let suffix = 0; taken.has(name); suffix++) name = `${base}${suffix}`;
    taken.add(name);
    outputs.push({ name, written: base, at, bound });
  };
  for (const item of items) {
    const { expression, alias } = item;
    const { at } = expression;
    const place = placeOf(item);
    if (expression.kind === 'star')
      for (const column of place.scope.all(place.session.source, at, expression.path)) add(column.name, at, column.bound);
    else add(alias ?? (expression.kind === 'name' ? expression.path.at(-1) : undefined), at, bindExpression(place, expression));
  }
  const [first] = items;
  if (outputs.length === 0 && first !== undefined)
    throw placeOf(first).session.source.error('sql_plan_invalid', first.expression.at, 'there are no columns to select: * needs a FROM');
  return outputs;
}

/** Rows of a GROUP BY differ in its keys already. */
function keepsAllKeys(relation: Relation, columns: readonly { readonly bound: Bound }[]): boolean {
  const aggregate = relation.kind === 'filter' ? relation.input : relation;
  if (aggregate.kind !== 'aggregate') return false;
  return aggregate.keys.every(({ name }) => columns.some(({ bound }) => bound.kind === 'column' && bound.name === name));
}
