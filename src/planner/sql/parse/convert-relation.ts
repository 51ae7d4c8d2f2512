// Converts the relations in FROM.

import type { Conversion, NamedQueries } from './conversion.js';
import { convertExpression, namePath } from './convert-expression.js';
import { withPivots } from './convert-pivot.js';
import { tableFunction } from './convert-table-function.js';
import { type Keyword, type Node, offsetOf } from './cst.js';
import type { JoinType, SqlRelation } from './syntax.js';

/** Converts the relation in FROM. A name of `named` is a query of WITH. */
export function convertRelation(conversion: Conversion, node: Node, named: NamedQueries): SqlRelation {
  const at = offsetOf(conversion.text, node);
  const { source } = conversion;
  switch (node.type) {
    case 'alias': {
      const inner = convertRelation(conversion, node.expr, named);
      if (inner.kind === 'join') throw source.unsupported(at, 'an alias of a join');
      const columnNames = node.columnAliases?.expr.items.map((column) => column.name) ?? null;
      if (columnNames === null) return { ...inner, alias: node.alias.name };
      if (inner.kind === 'table' || inner.kind === 'extern' || inner.kind === 'append')
        throw source.unsupported(at, 'column names after a table');
      return { ...inner, alias: node.alias.name, columnNames };
    }
    case 'join_expr':
      return join(conversion, node, named);
    default:
      return withPivots(conversion, convertTable(conversion, node, named), at);
  }
}

/** One table, without what stands behind it. */
function convertTable(conversion: Conversion, node: Node, named: NamedQueries): SqlRelation {
  const at = offsetOf(conversion.text, node);
  const { source } = conversion;
  switch (node.type) {
    case 'identifier': {
      const query = named.get(node.name);
      if (query !== undefined) return { kind: 'subquery', at, query: query.query, columnNames: query.columnNames, alias: node.name };
      return { kind: 'table', at, path: [node.name], alias: null, queries: named };
    }
    case 'member_expr':
      return { kind: 'table', at, path: namePath(conversion, node), alias: null, queries: named };
    case 'paren_expr':
      return parenthesized(conversion, node.expr, named, at);
    case 'lateral_derived_table':
      if (node.expr.type !== 'paren_expr') throw source.unsupported(at, 'LATERAL of anything but a subquery');
      return parenthesized(conversion, node.expr.expr, named, at);
    case 'func_call':
      return tableFunction(conversion, node, at);
    case 'unnest_expr':
      return { kind: 'unnest', at, operand: convertExpression(conversion, node.expr.expr), columnNames: null, alias: null };
    case 'unnest_with_offset_expr':
    case 'with_ordinality_expr':
      throw source.unsupported(at, 'UNNEST WITH ORDINALITY');
    case 'tablesample_expr':
      throw source.unsupported(at, 'TABLESAMPLE');
    default:
      throw source.unsupported(at, `this kind of table (${node.type.replaceAll('_', ' ')})`);
  }
}

function parenthesized(conversion: Conversion, inner: Node, named: NamedQueries, at: number): SqlRelation {
  // `(VALUES (1))` with a single row reads as a call of a function named VALUES.
  if (inner.type === 'func_call' && inner.name.type === 'identifier' && inner.name.text.toUpperCase() === 'VALUES')
    return {
      kind: 'values',
      at,
      rows: [(inner.args?.expr.args.items ?? []).map((item) => convertExpression(conversion, item))],
      columnNames: null,
      alias: null,
    };
  if (inner.type !== 'select_stmt' && inner.type !== 'compound_select_stmt') return convertRelation(conversion, inner, named);
  const query = conversion.query(conversion, inner, named);
  const isValues = inner.type === 'select_stmt' && inner.clauses.length === 1 && query.kind === 'select' && query.from?.kind === 'values';
  return isValues && query.from !== null ? query.from : { kind: 'subquery', at, query, columnNames: null, alias: null };
}

function join(conversion: Conversion, node: Extract<Node, { type: 'join_expr' }>, named: NamedQueries): SqlRelation {
  const { source } = conversion;
  const at = offsetOf(conversion.text, node.right);
  const { operator, specification } = node;
  const keywords: readonly Keyword[] = operator === ',' ? [] : Array.isArray(operator) ? operator : [operator];
  const words = keywords.map(({ name }) => name);
  const type = (['LEFT', 'RIGHT', 'FULL'].find((word) => words.includes(word))?.toLowerCase() ?? 'inner') as JoinType;
  const isFree = operator === ',' || words.includes('CROSS');
  const [first] = keywords;
  const isNatural = first !== undefined && conversion.marks.get(offsetOf(conversion.text, first))?.kind === 'natural';
  if ((isFree || isNatural) && specification !== undefined)
    throw source.error('sql_invalid', at, `a ${isNatural ? 'NATURAL' : 'CROSS'} JOIN takes no ON and no USING`);
  if (!isFree && !isNatural && specification === undefined)
    throw source.error('sql_invalid', at, 'a join needs ON or USING; CROSS JOIN pairs every row with every row');
  const left = convertRelation(conversion, node.left, named);
  const right = convertRelation(conversion, node.right, named);
  if (isNatural) return { kind: 'join', at, type, left, right, on: { kind: 'natural' } };
  if (specification === undefined) return { kind: 'join', at, type, left, right, on: null };
  if (specification.type === 'join_using_specification')
    return { kind: 'join', at, type, left, right, on: { kind: 'using', columns: specification.expr.expr.items.map(({ name }) => name) } };
  return { kind: 'join', at, type, left, right, on: convertExpression(conversion, specification.expr) };
}
