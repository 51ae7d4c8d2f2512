// Binds PIVOT and UNPIVOT.

import { arrayOf } from '../parse/sql-type.js';
import type { SqlExpression, SqlRelation } from '../parse/syntax.js';
import { type Bound, call, column, columnNames, integer, isNull, NULL, not, or, settledType, text } from '../relation/bound.js';
import { columnsOf, freeName, type ProjectedColumn, type Relation } from '../relation/relation.js';
import { AggregateList } from './aggregate-list.js';
import { SQL_AGGREGATES } from './aggregates.js';
import { bindExpression } from './bind-expression.js';
import type { Binding, BoundFrom } from './binding.js';
import type { Place } from './expression/place.js';
import { unify } from './function-call.js';
import { aggregation } from './grouping.js';
import { Scope, type ScopeColumn } from './scope.js';
import type { Session } from './session.js';

/** Columns that one PIVOT may make: each is an aggregate of its own. */
const CELLS_MAX = 10_000;

type Pivot = Extract<SqlRelation, { kind: 'pivot' }>;
type Unpivot = Extract<SqlRelation, { kind: 'unpivot' }>;

/**
 * PIVOT is a grouping by the columns that neither its aggregates nor its axes read; each value of the axes gives every
 * aggregate over the rows that have it.
 */
export function bindPivot(binding: Binding, from: Pivot, input: BoundFrom, parent: Scope | null): BoundFrom {
  const { session } = binding;
  const { source } = session;
  session.numbers.next();
  if (from.values.length * from.aggregates.length > CELLS_MAX)
    throw source.error('resource_limit', from.at, `PIVOT makes more than ${CELLS_MAX} columns`);
  const used = columnsRead(session, from, input.scope);
  const keys = input.scope.all(source, from.at, []).filter(({ bound }) => ![...columnNames(bound)].some((name) => used.has(name)));
  const list = new AggregateList();
  const place: Place = { session, scope: input.scope, aggregates: list, subqueries: 'in PIVOT' };
  const cells = from.values.flatMap(({ expressions, name }) => {
    checkValues(place, from, expressions);
    return from.aggregates.map(({ expression, alias }) => ({
      name: alias === null ? name : `${name}_${alias}`,
      bound: bindExpression(place, overRows(expression, from.axes, expressions)),
    }));
  });
  const groups = aggregation(session, input.relation, [keys.map(({ bound }) => bound)], list, () => false);
  const columns = [...keys, ...cells].map(({ name, bound }) => ({ name, bound: groups.rename(bound, from.at) }));
  return asTable(session, from, groups.relation, columns, parent);
}

/** The columns that aggregates and axes read. */
function columnsRead(session: Session, { aggregates, axes }: Pivot, scope: Scope): ReadonlySet<string> {
  const { source } = session;
  const list = new AggregateList();
  const place: Place = { session, scope, aggregates: list, subqueries: 'in PIVOT' };
  for (const { expression } of aggregates) {
    if (expression.kind !== 'call' || !Object.hasOwn(SQL_AGGREGATES, expression.name) || expression.over !== null)
      throw source.error('sql_plan_invalid', expression.at, 'PIVOT takes calls of aggregate functions before FOR');
    bindExpression(place, expression);
  }
  const used = new Set<string>();
  for (const axis of axes) {
    if (axis.kind !== 'name') throw source.error('sql_plan_invalid', axis.at, 'PIVOT takes columns behind FOR');
    columnNames(scope.resolve(source, axis.at, axis.path), used);
  }
  for (const { operands, filter } of list.aggregates)
    for (const bound of filter === null ? operands : [...operands, filter]) columnNames(bound, used);
  return used;
}

function checkValues({ session, ...place }: Place, { axes, at }: Pivot, values: readonly SqlExpression[]): void {
  const { source } = session;
  if (values.length !== axes.length)
    throw source.error(
      'sql_plan_invalid',
      values[0]?.at ?? at,
      `PIVOT has ${axes.length} columns behind FOR and ${values.length} values here`,
    );
  for (const value of values)
    if (bindExpression({ ...place, session, aggregates: 'in PIVOT' }, value).kind !== 'literal')
      throw source.error('sql_plan_invalid', value.at, 'PIVOT takes literals behind IN');
}

/** The same aggregate over the rows whose axes have these values. */
function overRows(expression: SqlExpression, axes: readonly SqlExpression[], values: readonly SqlExpression[]): SqlExpression {
  if (expression.kind !== 'call') return expression;
  const conditions = axes.flatMap((left, index): SqlExpression[] => {
    const right = values[index];
    return right === undefined ? [] : [{ kind: 'compare', at: right.at, operator: '=', left, right }];
  });
  const operands = expression.filter === null ? conditions : [expression.filter, ...conditions];
  const [only] = operands;
  return { ...expression, filter: operands.length === 1 && only !== undefined ? only : { kind: 'and', at: expression.at, operands } };
}

/** UNPIVOT: each row is met once for every item, by an array of their numbers; what it has then is chosen by the number. */
export function bindUnpivot(binding: Binding, from: Unpivot, input: BoundFrom, parent: Scope | null): BoundFrom {
  const { session } = binding;
  const { source } = session;
  session.numbers.next();
  const place: Place = { session, scope: input.scope, aggregates: 'in UNPIVOT', subqueries: 'in UNPIVOT' };
  const items = from.items.map(({ columns, labels }) => {
    const [first] = columns;
    const at = first?.at ?? from.at;
    if (columns.length !== from.measures.length)
      throw source.error('sql_plan_invalid', at, `UNPIVOT has ${from.measures.length} columns before FOR and ${columns.length} here`);
    if (labels !== null && labels.length !== from.axes.length)
      throw source.error(
        'sql_plan_invalid',
        labels[0]?.at ?? at,
        `UNPIVOT has ${from.axes.length} columns behind FOR and ${labels.length} labels here`,
      );
    const names = columns.map((each) => {
      if (each.kind !== 'name') throw source.error('sql_plan_invalid', each.at, 'UNPIVOT takes columns behind IN');
      return each.path.at(-1) ?? '';
    });
    return {
      at,
      columns: columns.map((each) => bindExpression(place, each)),
      labels: from.axes.map((_axis, index) => {
        const label = labels?.[index];
        const bound = label === undefined ? text(names.join('_')) : bindExpression(place, label);
        if (bound.kind !== 'literal') throw source.error('sql_plan_invalid', label?.at ?? at, 'UNPIVOT takes literals behind AS');
        return bound;
      }),
    };
  });
  const number = freeName('item', columnsOf(input.relation));
  const numbers = call(arrayOf('BIGINT'), 'array', ...items.map((_item, index) => integer(index)));
  const unnested: Relation = { kind: 'unnest', input: input.relation, array: numbers, name: number, type: 'BIGINT' };
  const chosen = (what: string, valueOf: (item: (typeof items)[number]) => Bound | undefined): Bound => {
    const mismatch = (index: number): Error =>
      source.error('sql_plan_invalid', items[index]?.at ?? from.at, `UNPIVOT: ${what} does not have one type`);
    const { type, arguments: values } = unify(
      items.flatMap((item) => valueOf(item) ?? []),
      mismatch,
      session,
    );
    const branches = values.flatMap((value, index): Bound[] => [
      { kind: 'compare', type: 'BOOLEAN', operator: '=', domain: 'BIGINT', left: column('BIGINT', number), right: integer(index) },
      value,
    ]);
    return call(type, 'case_searched', ...branches, NULL);
  };
  const axes = from.axes.map((name, index) => ({ name, bound: chosen(name, ({ labels }) => labels[index]) }));
  const measures = from.measures.map((name, index) => ({ name, bound: chosen(name, ({ columns }) => columns[index]) }));
  const used = new Set(items.flatMap(({ columns }) => columns.flatMap((bound) => [...columnNames(bound)])));
  const others = input.scope.all(source, from.at, []).filter(({ bound }) => ![...columnNames(bound)].some((name) => used.has(name)));
  const rows: Relation = from.includesNulls
    ? unnested
    : { kind: 'filter', input: unnested, condition: or(measures.map(({ bound }) => not(isNull(bound)))) };
  return asTable(session, from, rows, [...others, ...axes, ...measures], parent);
}

/** Rows with new columns, known by the alias. They are in no order of time, which the engine takes a column of that name for. */
function asTable(
  session: Session,
  from: Pivot | Unpivot,
  input: Relation,
  columns: readonly ScopeColumn[],
  parent: Scope | null,
): BoundFrom {
  const names = from.columnNames ?? columns.map(({ name }) => name);
  if (names.length !== columns.length)
    throw session.source.error(
      'sql_plan_invalid',
      from.at,
      `${from.kind.toUpperCase()} gives ${columns.length} columns, found ${names.length} names`,
    );
  const projected = columns.map(({ bound }, index): ProjectedColumn => ({ name: `c${index}`, type: settledType(bound.type), bound }));
  const known = projected.map(({ name, type }, index): ScopeColumn => ({ name: names[index] ?? '', bound: column(type, name) }));
  return {
    relation: { kind: 'project', input, columns: projected },
    scope: new Scope([{ columns: known, qualifiers: from.alias === null ? [] : [[from.alias]] }], parent),
  };
}
