// Converts expressions of the parser's tree into ours.

import { own } from '../../../base/names.js';
import { nearestName } from '../../../base/nearest-name.js';
import type { Conversion } from './conversion.js';
import { convertOver, orderItem } from './convert-window.js';
import { type DataType, type Expr, type FuncCall, type Keyword, type Node, offsetOf, type ParenExpr } from './cst.js';
import { numberLiteral } from './literal/literal.js';
import { SQL_TYPE_NAMES, sqlTypeOf } from './sql-type.js';
import type { ArithmeticOperator, CompareOperator, SqlCall, SqlExpression } from './syntax.js';

type BinaryNode = Extract<Node, { readonly type: 'binary_expr' }>;
type Quantified = Extract<Node, { readonly type: 'quantifier_expr' }>;

const ARITHMETIC: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '%': 2, '||': 2 };
const COMPARISONS: readonly string[] = ['=', '<>', '<', '<=', '>', '>='];
/** Functions whose first argument is a bare unit. */
const UNIT_FIRST: readonly string[] = ['TIMESTAMPADD', 'TIMESTAMPDIFF'];

/** @throws ServiceError `unsupported` for every construct that is not ours, whatever the parser makes of it */
export function convertExpression(conversion: Conversion, node: Node): SqlExpression {
  const at = offsetOf(conversion.text, node);
  switch (node.type) {
    case 'paren_expr':
      return convertExpression(conversion, node.expr);
    case 'identifier':
      return { kind: 'name', at, path: [node.name] };
    case 'member_expr':
      return node.property.type === 'array_subscript' ? element(conversion, node, at) : memberName(conversion, node);
    case 'all_columns':
      return { kind: 'star', at, path: [] };
    case 'parameter':
      return { kind: 'parameter', at, index: conversion.parameters.get(at) ?? 0 };
    case 'string_literal':
      if (!node.text.startsWith("'")) throw conversion.source.unsupported(at, `the string form ${node.text.slice(0, 2)}`);
      return { kind: 'literal', at, type: 'VARCHAR', value: textAt(conversion, at) ?? node.value };
    case 'number_literal':
      return numberLiteral(at, node.text);
    case 'boolean_literal': {
      const mark = conversion.marks.get(at);
      if (mark?.kind === 'condition') return mark.expression;
      return { kind: 'literal', at, type: 'BOOLEAN', value: node.value ? 1n : 0n };
    }
    case 'null_literal':
      return { kind: 'literal', at, type: 'NULL', value: null };
    case 'timestamp_literal':
      return { kind: 'instant', at, type: 'TIMESTAMP', text: node.string.value };
    case 'date_literal':
      return { kind: 'instant', at, type: 'DATE', text: node.string.value };
    case 'interval_literal': {
      const mark = conversion.marks.get(at);
      if (mark?.kind !== 'interval' || node.value.type !== 'string_literal')
        throw conversion.source.error('sql_invalid', at, "an interval is written INTERVAL '1' DAY");
      return { kind: 'interval', at, text: node.value.value, from: mark.from, to: mark.to };
    }
    case 'prefix_op_expr':
      return prefix(conversion, at, operatorText(node.operator), node.expr);
    case 'postfix_op_expr':
      return postfix(conversion, at, operatorText(node.operator), node.expr);
    case 'binary_expr':
      return binary(conversion, node, at);
    case 'between_expr': {
      const words = operatorText(node.betweenKw);
      const bounds = { low: convertExpression(conversion, node.begin), high: convertExpression(conversion, node.end) };
      return {
        kind: 'between',
        at,
        negated: words.startsWith('NOT'),
        symmetric: words.endsWith('SYMMETRIC'),
        operand: convertExpression(conversion, node.left),
        ...bounds,
      };
    }
    case 'case_expr': {
      const whens: { when: SqlExpression; then: SqlExpression }[] = [];
      let otherwise: SqlExpression | null = null;
      for (const clause of node.clauses) {
        if (clause.type === 'case_when')
          whens.push({ when: convertExpression(conversion, clause.condition), then: convertExpression(conversion, clause.result) });
        else otherwise = convertExpression(conversion, clause.result);
      }
      return { kind: 'case', at, operand: node.expr === undefined ? null : convertExpression(conversion, node.expr), whens, otherwise };
    }
    case 'cast_expr': {
      const { expr, dataType } = node.args.expr;
      return { kind: 'cast', at, operand: convertExpression(conversion, expr), type: convertType(conversion, dataType) };
    }
    case 'extract_expr': {
      const mark = conversion.marks.get(at);
      if (mark?.kind !== 'unit') throw conversion.source.error('sql_invalid', at, 'expected EXTRACT(unit FROM timestamp)');
      return call(at, 'EXTRACT', [convertExpression(conversion, node.args.expr.expr)], mark.unit);
    }
    case 'func_call':
      return functionCall(conversion, node, at);
    case 'select_stmt':
    case 'compound_select_stmt':
      return { kind: 'scalarQuery', at, query: conversion.query(conversion, node, conversion.named) };
    case 'empty':
      throw conversion.source.error('sql_invalid', at, 'expected an expression');
    case 'list_expr':
      return { kind: 'row', at, elements: node.items.map((item) => convertExpression(conversion, item)) };
    case 'row_constructor':
      return { kind: 'row', at, elements: node.row.expr.items.map((item) => convertExpression(conversion, item)) };
    case 'array_literal_expr':
      return { kind: 'array', at, elements: node.expr.expr.items.map((item) => convertExpression(conversion, item)) };
    case 'array_constructor':
      throw conversion.source.unsupported(at, 'ARRAY of a query; use ARRAY_AGG');
    default:
      throw conversion.source.unsupported(at, `this syntax (${node.type.replaceAll('_', ' ')})`);
  }
}

/** `array[1]`. */
function element(conversion: Conversion, node: Extract<Node, { type: 'member_expr' }>, at: number): SqlExpression {
  const index = node.property.type === 'array_subscript' ? node.property.expr : node.property;
  if (index.type === 'array_subscript_specifier' || index.type === 'array_slice_specifier')
    throw conversion.source.unsupported(at, 'this form of subscript');
  return { kind: 'element', at, array: convertExpression(conversion, node.object), index: convertExpression(conversion, index) };
}

/** `a.b.c` and `t.*`. */
function memberName(conversion: Conversion, node: Node): SqlExpression {
  const at = offsetOf(conversion.text, node);
  if (node.type === 'identifier') return { kind: 'name', at, path: [node.name] };
  if (node.type !== 'member_expr') throw conversion.source.unsupported(at, 'a member of an expression');
  const object = memberName(conversion, node.object);
  if (object.kind !== 'name') throw conversion.source.unsupported(at, 'a member of an expression');
  if (node.property.type === 'identifier') return { kind: 'name', at, path: [...object.path, node.property.name] };
  if (node.property.type === 'all_columns') return { kind: 'star', at, path: object.path };
  throw conversion.source.unsupported(at, 'a subscript');
}

/** The parts of a name; `undefined` for anything else. */
export function namePath(conversion: Conversion, node: Node): readonly string[] {
  const name = memberName(conversion, node);
  if (name.kind !== 'name') throw conversion.source.error('sql_invalid', name.at, 'expected a name');
  return name.path;
}

function textAt(conversion: Conversion, at: number): string | undefined {
  const mark = conversion.marks.get(at);
  return mark?.kind === 'text' ? mark.value : undefined;
}

function operatorText(operator: string | Keyword | readonly Keyword[] | Node | readonly Node[]): string {
  if (typeof operator === 'string') return operator;
  if (Array.isArray(operator)) return operator.map((part: Node) => (part.type === 'keyword' ? part.name : '?')).join(' ');
  return 'name' in operator && typeof operator.name === 'string' ? operator.name : '?';
}

function prefix(conversion: Conversion, at: number, operator: string, operand: Expr): SqlExpression {
  if (operator === '-' && operand.type === 'number_literal') return numberLiteral(at, `-${operand.text}`);
  if (operator === '-') return { kind: 'negate', at, operand: convertExpression(conversion, operand) };
  if (operator === '+') return convertExpression(conversion, operand);
  if (operator === 'NOT') return { kind: 'not', at, operand: convertExpression(conversion, operand) };
  if (operator === 'EXISTS') return { kind: 'exists', at, query: conversion.query(conversion, operand, conversion.named) };
  throw conversion.source.unsupported(at, `the operator ${operator}`);
}

function postfix(conversion: Conversion, at: number, operator: string, operand: Expr): SqlExpression {
  if (operator !== 'IS UNKNOWN' && operator !== 'IS NOT UNKNOWN') throw conversion.source.unsupported(at, `the operator ${operator}`);
  return { kind: 'is', at, negated: operator === 'IS NOT UNKNOWN', what: 'UNKNOWN', operand: convertExpression(conversion, operand) };
}

function binary(conversion: Conversion, node: BinaryNode, at: number): SqlExpression {
  const operator = operatorText(node.operator);
  if (operator === 'AND' || operator === 'OR')
    return {
      kind: operator === 'AND' ? 'and' : 'or',
      at,
      operands: spine(node, operator).map((operand) => convertExpression(conversion, operand)),
    };
  if (own(ARITHMETIC, operator) !== undefined) return arithmetic(conversion, node);
  if (isComparison(operator)) {
    const { left, right } = node;
    if (right.type === 'quantifier_expr') return quantified(conversion, left, operator, right, at);
    return { kind: 'compare', at, operator, left: convertExpression(conversion, left), right: convertExpression(conversion, right) };
  }
  const negated = operator.startsWith('NOT ') || operator.startsWith('IS NOT');
  switch (operator) {
    case 'IS':
    case 'IS NOT': {
      const what =
        node.right.type === 'null_literal'
          ? 'NULL'
          : node.right.type === 'boolean_literal'
            ? node.right.value
              ? 'TRUE'
              : 'FALSE'
            : undefined;
      if (what === undefined) throw conversion.source.unsupported(at, `${operator} with anything but NULL, TRUE, FALSE, UNKNOWN`);
      return { kind: 'is', at, negated, what, operand: convertExpression(conversion, node.left) };
    }
    case 'IS DISTINCT FROM':
    case 'IS NOT DISTINCT FROM':
      return {
        kind: 'distinctFrom',
        at,
        negated,
        left: convertExpression(conversion, node.left),
        right: convertExpression(conversion, node.right),
      };
    case 'IN':
    case 'NOT IN':
      if (isQuery(node.right)) {
        const operand = convertExpression(conversion, node.left);
        const operands = operand.kind === 'row' ? operand.elements : [operand];
        return { kind: 'inQuery', at, negated, operator: '=', operands, query: conversion.query(conversion, node.right, conversion.named) };
      }
      return { kind: 'in', at, negated, operand: convertExpression(conversion, node.left), items: listItems(conversion, node.right) };
    case 'LIKE':
    case 'NOT LIKE': {
      const { right } = node;
      const escaped = right.type === 'binary_expr' && operatorText(right.operator) === 'ESCAPE' ? right : null;
      const pattern = convertExpression(conversion, escaped === null ? right : escaped.left);
      return {
        kind: 'like',
        at,
        negated,
        operand: convertExpression(conversion, node.left),
        pattern,
        escape: escaped === null ? null : convertExpression(conversion, escaped.right),
      };
    }
    default:
      throw conversion.source.unsupported(at, `the operator ${operator}`);
  }
}

const OPPOSITES: Readonly<Record<CompareOperator, CompareOperator>> = { '=': '<>', '<>': '=', '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

/** `a > ANY (SELECT ...)`, or SOME; it is true for ALL where the opposite is true for none. */
function quantified(conversion: Conversion, left: Node, compared: CompareOperator, right: Quantified, at: number): SqlExpression {
  const { name } = right.quantifierKw;
  const operand = convertExpression(conversion, left);
  const [operator, operands] = [name === 'ALL' ? OPPOSITES[compared] : compared, operand.kind === 'row' ? operand.elements : [operand]];
  if (!isQuery(right.expr)) throw conversion.source.unsupported(at, `${name} of anything but a query`);
  if (operands.length > 1 && operator !== '=')
    throw conversion.source.unsupported(at, `a row of several values before ${compared} ${name}`);
  const query = conversion.query(conversion, right.expr, conversion.named);
  return { kind: 'inQuery', at, negated: name === 'ALL', operator, operands, query };
}

function isComparison(operator: string): operator is CompareOperator {
  return COMPARISONS.includes(operator);
}

/** Operands of `a AND b AND c`, without recursion: a generated condition may have thousands. */
function spine(node: BinaryNode, operator: string): Expr[] {
  const operands: Expr[] = [];
  let rest: Expr = node;
  while (rest.type === 'binary_expr' && operatorText(rest.operator) === operator) {
    operands.push(rest.right as Expr);
    rest = rest.left as Expr;
  }
  operands.push(rest);
  return operands.reverse();
}

/**
 * The parser gives `||` a lower rank than `+`; here it binds like `*`. So a chain of operators without parentheses
 * is put back in its written order and associated anew.
 */
function arithmetic(conversion: Conversion, root: BinaryNode): SqlExpression {
  const operands: SqlExpression[] = [];
  const operators: ArithmeticOperator[] = [];
  const reduce = (rank: number): void => {
    for (let operator = operators.at(-1); operator !== undefined && (ARITHMETIC[operator] ?? 0) >= rank; operator = operators.at(-1)) {
      operators.pop();
      const right = operands.pop();
      const left = operands.pop();
      if (left === undefined || right === undefined) return;
      operands.push({ kind: 'arithmetic', at: left.at, operator, left, right });
    }
  };
  for (const part of writtenOrder(root)) {
    if (typeof part !== 'string') operands.push(convertExpression(conversion, part));
    else {
      reduce(ARITHMETIC[part] ?? 0);
      operators.push(part);
    }
  }
  reduce(0);
  const [result] = operands;
  if (result === undefined) throw conversion.source.error('internal', 0, 'an operator without operands');
  return result;
}

function writtenOrder(root: BinaryNode): (ArithmeticOperator | Expr)[] {
  const parts: (ArithmeticOperator | Expr)[] = [];
  const pending: (ArithmeticOperator | Expr)[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string' || next.type !== 'binary_expr') parts.push(next);
    else {
      const operator = operatorText(next.operator);
      if (isArithmetic(operator)) pending.push(next.right as Expr, operator, next.left as Expr);
      else parts.push(next as Expr);
    }
  }
  return parts;
}

function isArithmetic(operator: string): operator is ArithmeticOperator {
  return own(ARITHMETIC, operator) !== undefined;
}

function isQuery(node: Node): boolean {
  const inner = node.type === 'paren_expr' ? node.expr : node;
  return inner.type === 'select_stmt' || inner.type === 'compound_select_stmt';
}

function listItems(conversion: Conversion, node: Node): readonly SqlExpression[] {
  const inner = node.type === 'paren_expr' ? (node as ParenExpr).expr : node;
  if (inner.type !== 'list_expr') return [convertExpression(conversion, inner)];
  const first = inner.items[0];
  const mark = first === undefined ? undefined : conversion.marks.get(offsetOf(conversion.text, first));
  return mark?.kind === 'items' ? mark.items : inner.items.map((item) => convertExpression(conversion, item));
}

function functionCall(conversion: Conversion, node: FuncCall, at: number): SqlExpression {
  const { source } = conversion;
  if (node.name.type !== 'identifier') throw source.unsupported(at, 'a function of a schema');
  const written = node.name.name.toUpperCase();
  // A word that the parser calls without parentheses is a column, unless it asks for the time.
  if (node.args === undefined && !/^(CURRENT_|LOCALTIME)/.test(written)) return { kind: 'name', at, path: [node.name.name] };
  const args = node.args?.expr;
  for (const extra of [args?.limit, args?.having])
    if (extra !== undefined) throw source.unsupported(offsetOf(conversion.text, extra), 'this clause in a function call');
  const items = args?.args.items ?? [];
  const mark = conversion.marks.get(at);
  const name = mark?.kind === 'function' ? mark.name : written;
  const filter = node.filter === undefined ? null : convertExpression(conversion, node.filter.where.expr.expr);
  const [first] = items;
  if (mark?.kind === 'unit')
    return {
      ...call(
        at,
        name,
        items.slice(0, -1).map((item) => convertExpression(conversion, item)),
        mark.unit,
      ),
      filter,
    };
  if (UNIT_FIRST.includes(name) && first?.type === 'identifier')
    return {
      ...call(
        at,
        name,
        items.slice(1).map((item) => convertExpression(conversion, item)),
        first.name.toUpperCase(),
      ),
      filter,
    };
  const converted = items.map((item) => convertExpression(conversion, item));
  return {
    ...call(at, name, mark?.kind === 'function' && mark.swapped ? converted.reverse() : converted, null),
    distinct: args?.distinctKw !== undefined,
    filter,
    over: node.over === undefined ? null : convertOver(conversion, node.over.window),
    returning: mark?.kind === 'returning' ? mark.type : null,
    ...(args?.nullHandlingKw === undefined ? {} : { nulls: args.nullHandlingKw[0].name === 'IGNORE' ? 'ignore' : 'respect' }),
    orderBy: args?.orderBy?.specifications.items.map((item) => orderItem(conversion, item)) ?? [],
  };
}

function call(at: number, name: string, args: readonly SqlExpression[], unit: string | null): SqlCall & { readonly at: number } {
  return { kind: 'call', at, name, arguments: args, unit, returning: null, distinct: false, filter: null, orderBy: [], over: null };
}

function convertType(conversion: Conversion, node: DataType): NonNullable<ReturnType<typeof sqlTypeOf>> {
  const at = offsetOf(conversion.text, node);
  const name = typeName(node);
  const type = name === undefined ? undefined : sqlTypeOf(name);
  const nearest = name === undefined || type !== undefined ? undefined : nearestName(name, SQL_TYPE_NAMES);
  if (nearest !== undefined) throw conversion.source.error('sql_plan_invalid', at, `unknown type ${name}; did you mean ${nearest}?`);
  if (type === undefined) throw conversion.source.unsupported(at, `the type ${name ?? node.type.replaceAll('_', ' ')}`);
  return type;
}

function typeName(node: DataType): string | undefined {
  switch (node.type) {
    case 'data_type_name':
      return operatorText(node.name);
    case 'identifier':
      return node.name.toUpperCase();
    case 'modified_data_type':
      return typeName(node.dataType);
    case 'array_data_type': {
      const element = typeName(node.dataType);
      return element === undefined ? undefined : `${element} ARRAY`;
    }
    case 'time_data_type':
      return node.timeZoneKw === undefined ? node.timeKw.name : undefined;
    default:
      return undefined;
  }
}
