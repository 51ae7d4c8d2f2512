import type { Expression } from '../model/expression.js';

/** An expression as text that parses back to it: calls by name, operators in full parentheses. For plans and messages. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return printLiteral(expression.value);
    case 'column':
      return `"${expression.name.replace(/[\\"]/g, '\\$&')}"`;
    case 'call': {
      const operands = expression.arguments.map(printExpression);
      if (/^:?\w/.test(expression.function)) return `${expression.function}(${operands.join(', ')})`;
      return operands.length === 1 ? `${expression.function}(${operands[0]})` : `(${operands.join(` ${expression.function} `)})`;
    }
  }
}

function printLiteral(value: string | number | bigint | null): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&')}'`;
  if (typeof value !== 'number' || !Number.isFinite(value)) return String(value);
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
