// Converts queries of the parser's tree into ours.

import type { Conversion, NamedQueries } from './conversion.js';
import { convertExpression } from './convert-expression.js';
import { convertRelation } from './convert-relation.js';
import { convertWindow, orderItem } from './convert-window.js';
import { type Node, offsetOf } from './cst.js';
import { QUALIFY_WINDOW } from './rewrite.js';
import type { GroupingElement, SelectItem, SelectQuery, SetQuery, SqlExpression, SqlQuery, SqlRelation } from './syntax.js';

type WindowDefinition = Extract<Node, { type: 'window_definition' }>;

/** A SELECT, VALUES, TABLE or set operation of the parser as our query. */
export function convertQuery(conversion: Conversion, node: Node, outer: NamedQueries = new Map()): SqlQuery {
  const at = offsetOf(conversion.text, node);
  if (node.type === 'paren_expr') return convertQuery(conversion, node.expr, outer);
  if (node.type === 'compound_select_stmt') return setOperation(conversion, node, outer);
  if (node.type !== 'select_stmt')
    throw conversion.source.unsupported(at, `the statement ${node.type.replaceAll('_', ' ').replace(' stmt', '').toUpperCase()}`);
  // Typed wider than the parser's own list, which leaves VALUES out.
  const clauses: readonly Node[] = node.clauses;
  const [inner, around] = bodyOf(clauses);
  const named = withQueries(conversion, clauses, outer);
  const scoped: Conversion = { ...conversion, named };
  // `WITH a AS (...) (SELECT ...) ORDER BY x`, and a set operation with clauses of its own.
  if (inner !== undefined) return ordered(scoped, convertQuery(scoped, inner, named), around);
  return selectQuery(scoped, at, clauses, named);
}

/** A query in the place of a SELECT clause, and the clauses around it. */
function bodyOf(clauses: readonly Node[]): readonly [Node | undefined, readonly Node[]] {
  const inner = clauses.find(({ type }) => type === 'paren_expr' || type === 'compound_select_stmt' || type === 'select_stmt');
  return [inner, clauses.filter((clause) => clause !== inner && clause.type !== 'with_clause')];
}

function ordered(conversion: Conversion, query: SqlQuery, clauses: readonly Node[]): SqlQuery {
  const clause = clauses[0];
  if (clause === undefined) return query;
  const order = orderClauses(conversion, clauses);
  if (query.orderBy.length === 0 && query.limit === null && query.offset === null) return { ...query, ...order };
  const { at } = query;
  const from: SqlRelation = { kind: 'subquery', at, query, columnNames: null, alias: null };
  return { ...emptySelect(at), from, ...order };
}

/**
 * `a UNION b ORDER BY x`: the parser leaves the clauses of the whole to its last SELECT; and it gives INTERSECT the rank of
 * UNION, though it binds closer.
 */
function setOperation(conversion: Conversion, node: Extract<Node, { type: 'compound_select_stmt' }>, outer: NamedQueries): SqlQuery {
  const named = withQueries(conversion, leadingClauses(node), outer);
  const scoped: Conversion = { ...conversion, named };
  const operands: SqlQuery[] = [];
  const operators: { readonly operator: SetQuery['operator']; readonly all: boolean }[] = [];
  for (let rest: Node = node; ; ) {
    const isSet = rest.type === 'compound_select_stmt';
    const operand: Node = rest.type === 'compound_select_stmt' ? rest.right : rest;
    operands.unshift(convertQuery(scoped, operand, named));
    if (!isSet || rest.type !== 'compound_select_stmt') break;
    const words = Array.isArray(rest.operator)
      ? rest.operator.map(({ name }) => name)
      : [(rest.operator as { readonly name: string }).name];
    operators.unshift({ operator: words[0] as SetQuery['operator'], all: words[1] === 'ALL' });
    rest = rest.left;
  }
  const last = operands.pop();
  if (last === undefined) throw conversion.source.error('internal', 0, 'a set operation without operands');
  const { right } = node;
  const isOpen = right.type === 'select_stmt' && right.clauses.some(({ type }) => ORDER_CLAUSES.includes(type));
  const none = { orderBy: [], offset: null, limit: null };
  const order = isOpen ? { orderBy: last.orderBy, offset: last.offset, limit: last.limit } : none;
  operands.push(isOpen ? { ...last, ...none } : last);
  for (const ranked of [['INTERSECT'], ['UNION', 'EXCEPT']])
    for (let index = 0; index < operators.length; ) {
      const [operator, left, right] = [operators[index], operands[index], operands[index + 1]];
      if (operator === undefined || left === undefined || right === undefined || !ranked.includes(operator.operator)) {
        index++;
        continue;
      }
      operands.splice(index, 2, { kind: 'set', at: left.at, ...operator, left, right, ...none });
      operators.splice(index, 1);
    }
  const [whole] = operands;
  if (whole === undefined) throw conversion.source.error('internal', 0, 'a set operation without operands');
  return { ...whole, ...order };
}

/** WITH in front of a set operation stands in its first SELECT, but is meant for all. */
function leadingClauses(node: Node): readonly Node[] {
  let first = node;
  while (first.type === 'compound_select_stmt') first = first.left;
  return first.type === 'select_stmt' ? first.clauses : [];
}

function emptySelect(at: number): SelectQuery {
  return {
    kind: 'select',
    at,
    distinct: false,
    items: [star(at)],
    from: null,
    where: null,
    groupBy: null,
    having: null,
    windows: new Map(),
    qualify: null,
    orderBy: [],
    offset: null,
    limit: null,
  };
}

function selectQuery(conversion: Conversion, at: number, clauses: readonly Node[], named: NamedQueries): SelectQuery {
  const query: { -readonly [Key in keyof SelectQuery]: SelectQuery[Key] } = emptySelect(at);
  for (const clause of clauses) {
    const place = offsetOf(conversion.text, clause);
    switch (clause.type) {
      case 'with_clause':
        break;
      case 'select_clause':
        query.distinct = isDistinct(conversion, clause.modifiers);
        if (clause.columns === undefined) throw conversion.source.error('sql_invalid', place, 'SELECT needs at least one column');
        query.items = clause.columns.items.map((item) => selectItem(conversion, item));
        break;
      case 'values_clause':
        query.from = values(conversion, clause);
        break;
      case 'table_clause':
        query.from = convertRelation(conversion, clause.table, named);
        break;
      case 'from_clause':
        query.from = convertRelation(conversion, clause.expr, named);
        break;
      case 'where_clause':
        query.where = convertExpression(conversion, clause.expr);
        break;
      case 'group_by_clause':
        if (clause.distinctKw !== undefined || clause.withRollupKw !== undefined)
          throw conversion.source.unsupported(place, 'GROUP BY with DISTINCT, ALL or ROLLUP');
        query.groupBy = clause.columns.items.map((item) => groupingElement(conversion, item));
        break;
      case 'having_clause':
        query.having = convertExpression(conversion, clause.expr);
        break;
      case 'window_clause':
        query.windows = new Map(
          clause.namedWindows.items
            .filter(({ name }) => name.name !== QUALIFY_WINDOW)
            .map(({ name, window }) => [name.name, convertWindow(conversion, window.expr)] as const),
        );
        for (const { name, window } of clause.namedWindows.items)
          if (name.name === QUALIFY_WINDOW) query.qualify = qualifyCondition(conversion, window.expr);
        break;
      default:
        if (!ORDER_CLAUSES.includes(clause.type))
          throw conversion.source.unsupported(place, `the clause ${clause.type.replaceAll('_', ' ').replace(' clause', '').toUpperCase()}`);
    }
  }
  return {
    ...query,
    ...orderClauses(
      conversion,
      clauses.filter(({ type }) => ORDER_CLAUSES.includes(type)),
    ),
  };
}

/** The condition that the window of QUALIFY is partitioned by. */
function qualifyCondition(conversion: Conversion, { partitionBy }: WindowDefinition): SqlExpression {
  const [condition] = partitionBy?.specifications.items ?? [];
  if (condition === undefined) throw conversion.source.error('internal', 0, 'a QUALIFY without a condition');
  return convertExpression(conversion, condition);
}

const ORDER_CLAUSES: readonly string[] = ['order_by_clause', 'limit_clause', 'offset_clause', 'fetch_clause'];

function orderClauses(conversion: Conversion, clauses: readonly Node[]): Pick<SelectQuery, 'orderBy' | 'offset' | 'limit'> {
  const order: { -readonly [Key in 'orderBy' | 'offset' | 'limit']: SelectQuery[Key] } = { orderBy: [], offset: null, limit: null };
  for (const clause of clauses) {
    const place = offsetOf(conversion.text, clause);
    switch (clause.type) {
      case 'order_by_clause':
        order.orderBy = clause.specifications.items.map((item) => orderItem(conversion, item));
        break;
      case 'limit_clause':
        if (clause.rowsExamined !== undefined) throw conversion.source.unsupported(place, 'ROWS EXAMINED');
        if (clause.count !== undefined && clause.count.type !== 'limit_all') order.limit = convertExpression(conversion, clause.count);
        if (clause.offset !== undefined) order.offset = convertExpression(conversion, clause.offset);
        break;
      case 'offset_clause':
        order.offset = convertExpression(conversion, clause.offset);
        break;
      case 'fetch_clause':
        if (Array.isArray(clause.withTiesKw)) throw conversion.source.unsupported(place, 'WITH TIES');
        order.limit =
          clause.count === undefined
            ? { kind: 'literal', at: place, type: 'INTEGER', value: 1n }
            : convertExpression(conversion, clause.count);
        break;
      default:
        throw conversion.source.unsupported(place, `the clause ${clause.type.replaceAll('_', ' ').replace(' clause', '').toUpperCase()}`);
    }
  }
  return order;
}

function star(at: number): SelectItem {
  return { expression: { kind: 'star', at, path: [] }, alias: null };
}

function isDistinct(conversion: Conversion, modifiers: readonly Node[]): boolean {
  for (const modifier of modifiers)
    if (modifier.type !== 'select_distinct' && modifier.type !== 'select_all')
      throw conversion.source.unsupported(offsetOf(conversion.text, modifier), 'this kind of SELECT');
  return modifiers.some((modifier) => modifier.type === 'select_distinct');
}

function selectItem(conversion: Conversion, node: Node): SelectItem {
  if (node.type === 'alias') return { expression: convertExpression(conversion, node.expr), alias: node.alias.name };
  return { expression: convertExpression(conversion, node), alias: null };
}

function withQueries(conversion: Conversion, clauses: readonly Node[], outer: NamedQueries): NamedQueries {
  if (!clauses.some(({ type }) => type === 'with_clause')) return outer;
  const named = new Map(outer);
  for (const clause of clauses) {
    if (clause.type !== 'with_clause') continue;
    const known = conversion.withClauses.get(clause);
    if (known !== undefined) {
      for (const [name, query] of known) named.set(name, query);
      continue;
    }
    if (clause.recursiveKw !== undefined)
      throw conversion.source.unsupported(offsetOf(conversion.text, clause.recursiveKw), 'WITH RECURSIVE');
    for (const table of clause.tables.items) {
      if (table.materializedKw !== undefined || table.search !== undefined || table.cycle !== undefined)
        throw conversion.source.unsupported(offsetOf(conversion.text, table), 'this form of WITH');
      named.set(table.table.name, {
        query: convertQuery(conversion, table.expr.expr, named),
        columnNames: table.columns?.expr.items.map((column) => column.name) ?? null,
      });
    }
    conversion.withClauses.set(clause, new Map(named));
  }
  return named;
}

function values(conversion: Conversion, clause: Node): SqlRelation {
  const at = offsetOf(conversion.text, clause);
  if (clause.type !== 'values_clause') throw conversion.source.unsupported(at, 'this kind of VALUES');
  const mark = conversion.marks.get(at);
  if (mark?.kind === 'rows') return { kind: 'values', at, rows: mark.rows, columnNames: null, alias: null };
  const rows = clause.values.items.map((row) => {
    const list = row.type === 'row_constructor' ? row.row.expr : row.expr;
    return list.items.map((item) => convertExpression(conversion, item));
  });
  return { kind: 'values', at, rows, columnNames: null, alias: null };
}

/** An expression, `()`, `(a, b)`, ROLLUP, CUBE or GROUPING SETS. */
function groupingElement(conversion: Conversion, item: Node): GroupingElement {
  const at = offsetOf(conversion.text, item);
  switch (item.type) {
    case 'group_by_rollup':
    case 'group_by_cube':
      return {
        kind: item.type === 'group_by_rollup' ? 'rollup' : 'cube',
        at,
        parts: item.columns.expr.items.map((part) => groupingExpressions(conversion, part)),
      };
    case 'group_by_grouping_sets':
      return { kind: 'sets', at, elements: item.columns.expr.items.map((part) => groupingElement(conversion, part)) };
    case 'group_by_all':
      throw conversion.source.unsupported(at, 'GROUP BY ALL');
    default:
      return { kind: 'expressions', at, expressions: groupingExpressions(conversion, item) };
  }
}

function groupingExpressions(conversion: Conversion, item: Node): readonly SqlExpression[] {
  if (item.type === 'paren_expr' && item.expr.type === 'list_expr')
    return item.expr.items.map((part) => convertExpression(conversion, part));
  return [convertExpression(conversion, item)];
}
