// Copies of nodes of the syntax tree, with a position of their own.

import type { SelectItem, SqlExpression } from '../syntax.js';

/**
 * A copy of a node, of whatever kind, whose children are those of the node.
 * @param at  its position; -1: the node has none
 */
export function copyOf(node: object, at: number): object {
  if (Array.isArray(node)) return node.slice();
  if (node instanceof Map) return new Map(node);
  if (at >= 0) return copyOfExpression(node as SqlExpression, at) ?? { ...node, at };
  return isItem(node) ? { expression: node.expression, alias: node.alias } : { ...node };
}

function isItem(node: object): node is SelectItem {
  return 'alias' in node && 'expression' in node;
}

/**
 * The kinds that most nodes are of, spelled out: `{...node}` of nodes of many kinds goes through V8's runtime.
 * Undefined for the others.
 */
function copyOfExpression(node: SqlExpression, at: number): SqlExpression | undefined {
  switch (node.kind) {
    case 'literal':
      return { kind: 'literal', at, type: node.type, value: node.value };
    case 'instant':
      return { kind: 'instant', at, type: node.type, text: node.text };
    case 'name':
      return { kind: 'name', at, path: node.path };
    case 'star':
      return { kind: 'star', at, path: node.path };
    case 'arithmetic':
      return { kind: 'arithmetic', at, operator: node.operator, left: node.left, right: node.right };
    case 'compare':
      return { kind: 'compare', at, operator: node.operator, left: node.left, right: node.right };
    case 'and':
    case 'or':
      return { kind: node.kind, at, operands: node.operands };
    case 'is':
      return { kind: 'is', at, negated: node.negated, what: node.what, operand: node.operand };
    case 'between': {
      const { negated, symmetric, operand, low, high } = node;
      return { kind: 'between', at, negated, symmetric, operand, low, high };
    }
    case 'in':
      return { kind: 'in', at, negated: node.negated, operand: node.operand, items: node.items };
    case 'like':
      return { kind: 'like', at, negated: node.negated, operand: node.operand, pattern: node.pattern, escape: node.escape };
    case 'case':
      return { kind: 'case', at, operand: node.operand, whens: node.whens, otherwise: node.otherwise };
    case 'cast':
      return { kind: 'cast', at, operand: node.operand, type: node.type };
    case 'call': {
      const { name, unit, returning, distinct, filter, orderBy, over, nulls } = node;
      const call = { kind: 'call', at, name, arguments: node.arguments, unit, returning, distinct, filter, orderBy, over } as const;
      return nulls === undefined ? call : { ...call, nulls };
    }
    default:
      return undefined;
  }
}
