import { type Conversion, convertExpression, namePath } from './convert-expression.js';
import { type Node, offsetOf } from './cst.js';
import type { OrderItem, SelectItem, SqlExpression, SqlQuery, SqlRelation } from './syntax.js';

/** CTEs in scope by name; a later one may use an earlier one. */
type NamedQueries = ReadonlyMap<string, { readonly query: SqlQuery; readonly columnNames: readonly string[] | null }>;

/** A SELECT, VALUES or TABLE statement of the parser as our query. */
export function convertQuery(conversion: Conversion, node: Node, outer: NamedQueries = new Map()): SqlQuery {
  const at = offsetOf(conversion.text, node);
  if (node.type === 'paren_expr') return convertQuery(conversion, node.expr, outer);
  if (node.type === 'compound_select_stmt') throw conversion.source.unsupported(at, 'UNION, INTERSECT or EXCEPT');
  if (node.type !== 'select_stmt')
    throw conversion.source.unsupported(at, `the statement ${node.type.replaceAll('_', ' ').replace(' stmt', '').toUpperCase()}`);
  const query: { -readonly [Key in keyof SqlQuery]: SqlQuery[Key] } = {
    at,
    distinct: false,
    items: [star(at)],
    from: null,
    where: null,
    groupBy: null,
    having: null,
    orderBy: [],
    offset: null,
    limit: null,
  };
  let named = outer;
  // Typed wider than the parser's own list, which leaves VALUES out.
  const clauses: readonly Node[] = node.clauses;
  for (const clause of clauses) {
    const place = offsetOf(conversion.text, clause);
    switch (clause.type) {
      case 'with_clause':
        named = namedQueries(conversion, clause, named);
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
        query.from = relation(conversion, clause.table, named);
        break;
      case 'from_clause':
        query.from = relation(conversion, clause.expr, named);
        break;
      case 'where_clause':
        query.where = convertExpression(conversion, clause.expr);
        break;
      case 'group_by_clause':
        if (clause.distinctKw !== undefined || clause.withRollupKw !== undefined)
          throw conversion.source.unsupported(place, 'GROUP BY with DISTINCT, ALL or ROLLUP');
        query.groupBy = groupBy(conversion, clause.columns.items);
        break;
      case 'having_clause':
        query.having = convertExpression(conversion, clause.expr);
        break;
      case 'order_by_clause':
        query.orderBy = clause.specifications.items.map((item) => orderItem(conversion, item));
        break;
      case 'limit_clause':
        if (clause.rowsExamined !== undefined) throw conversion.source.unsupported(place, 'ROWS EXAMINED');
        if (clause.count !== undefined && clause.count.type !== 'limit_all') query.limit = convertExpression(conversion, clause.count);
        if (clause.offset !== undefined) query.offset = convertExpression(conversion, clause.offset);
        break;
      case 'offset_clause':
        query.offset = convertExpression(conversion, clause.offset);
        break;
      case 'fetch_clause':
        if (Array.isArray(clause.withTiesKw)) throw conversion.source.unsupported(place, 'WITH TIES');
        query.limit =
          clause.count === undefined
            ? { kind: 'literal', at: place, type: 'INTEGER', value: 1n }
            : convertExpression(conversion, clause.count);
        break;
      default:
        throw conversion.source.unsupported(place, `the clause ${clause.type.replaceAll('_', ' ').replace(' clause', '').toUpperCase()}`);
    }
  }
  return query;
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

function namedQueries(conversion: Conversion, clause: Extract<Node, { type: 'with_clause' }>, outer: NamedQueries): NamedQueries {
  if (clause.recursiveKw !== undefined)
    throw conversion.source.unsupported(offsetOf(conversion.text, clause.recursiveKw), 'WITH RECURSIVE');
  const named = new Map(outer);
  for (const table of clause.tables.items) {
    if (table.materializedKw !== undefined || table.search !== undefined || table.cycle !== undefined)
      throw conversion.source.unsupported(offsetOf(conversion.text, table), 'this form of WITH');
    named.set(table.table.name, {
      query: convertQuery(conversion, table.expr.expr, named),
      columnNames: table.columns?.expr.items.map((column) => column.name) ?? null,
    });
  }
  return named;
}

function relation(conversion: Conversion, node: Node, named: NamedQueries): SqlRelation {
  const at = offsetOf(conversion.text, node);
  const { source } = conversion;
  switch (node.type) {
    case 'alias': {
      const inner = relation(conversion, node.expr, named);
      const columnNames = node.columnAliases?.expr.items.map((column) => column.name) ?? null;
      if (columnNames === null) return { ...inner, alias: node.alias.name };
      if (inner.kind !== 'values' && inner.kind !== 'subquery') throw source.unsupported(at, 'column names after a table');
      return { ...inner, alias: node.alias.name, columnNames };
    }
    case 'identifier': {
      const query = named.get(node.name);
      if (query !== undefined) return { kind: 'subquery', at, query: query.query, columnNames: query.columnNames, alias: node.name };
      return { kind: 'table', at, path: [node.name], alias: null };
    }
    case 'member_expr':
      return { kind: 'table', at, path: namePath(conversion, node), alias: null };
    case 'paren_expr': {
      const { expr } = node;
      // `(VALUES (1))` with a single row reads as a call of a function named VALUES.
      if (expr.type === 'func_call' && expr.name.type === 'identifier' && expr.name.text.toUpperCase() === 'VALUES')
        return {
          kind: 'values',
          at,
          rows: [(expr.args?.expr.args.items ?? []).map((item) => convertExpression(conversion, item))],
          columnNames: null,
          alias: null,
        };
      if (expr.type !== 'select_stmt' && expr.type !== 'compound_select_stmt') return relation(conversion, expr, named);
      const query = convertQuery(conversion, expr, named);
      const only = expr.type === 'select_stmt' && expr.clauses.length === 1 && query.from?.kind === 'values' ? query.from : undefined;
      return only ?? { kind: 'subquery', at, query, columnNames: null, alias: null };
    }
    case 'func_call': {
      const name = node.name.type === 'identifier' ? node.name.name.toUpperCase() : '?';
      if (name !== 'EXTERN') throw source.unsupported(at, `the table function ${name}`);
      const mark = conversion.marks.get(at);
      const args = (node.args?.expr.args.items ?? []).map((item) => convertExpression(conversion, item));
      return { kind: 'extern', at, arguments: args, columns: mark?.kind === 'columns' ? mark.columns : null, alias: null };
    }
    case 'join_expr':
      throw source.unsupported(offsetOf(conversion.text, node.right), 'a join');
    case 'unnest_expr':
    case 'unnest_with_offset_expr':
      throw source.unsupported(at, 'UNNEST');
    case 'tablesample_expr':
      throw source.unsupported(at, 'TABLESAMPLE');
    case 'pivot_expr':
    case 'unpivot_expr':
      throw source.unsupported(at, 'PIVOT');
    default:
      throw source.unsupported(at, `this kind of table (${node.type.replaceAll('_', ' ')})`);
  }
}

function values(conversion: Conversion, clause: Node): SqlRelation {
  const at = offsetOf(conversion.text, clause);
  if (clause.type !== 'values_clause') throw conversion.source.unsupported(at, 'this kind of VALUES');
  const rows = clause.values.items.map((row) => {
    const list = row.type === 'row_constructor' ? row.row.expr : row.expr;
    return list.items.map((item) => convertExpression(conversion, item));
  });
  return { kind: 'values', at, rows, columnNames: null, alias: null };
}

function groupBy(conversion: Conversion, items: readonly Node[]): readonly SqlExpression[] {
  const [first] = items;
  if (items.length === 1 && first?.type === 'paren_expr' && first.expr.type === 'list_expr' && first.expr.items.length === 0) return [];
  return items.map((item) => {
    if (item.type.startsWith('group_by_'))
      throw conversion.source.unsupported(
        offsetOf(conversion.text, item),
        item.type.replace('group_by_', '').replaceAll('_', ' ').toUpperCase(),
      );
    return convertExpression(conversion, item);
  });
}

function orderItem(conversion: Conversion, node: Node): OrderItem {
  if (node.type !== 'sort_specification') return { expression: convertExpression(conversion, node), descending: false, nulls: null };
  const { direction, nullHandlingKw } = node;
  if (direction?.type === 'sort_direction_using_operator')
    throw conversion.source.unsupported(offsetOf(conversion.text, direction), 'ORDER BY USING');
  const nulls = nullHandlingKw === undefined ? null : nullHandlingKw[1].name === 'FIRST' ? 'first' : 'last';
  return { expression: convertExpression(conversion, node.expr), descending: direction?.type === 'sort_direction_desc', nulls };
}
