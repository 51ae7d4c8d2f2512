// Prints expressions.

import { stringifyJson } from '../base/json.js';
import type { Expression } from '../model/expression.js';
import { type ColumnType, elementType, isArrayType, isTextType } from '../model/schema.js';
import { constantOf } from './expression-type.js';
import { isArrayValue, Structured, type Value } from './value.js';

/** An expression as text that parses back to it: calls by name, operators in full parentheses. For plans and messages. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      if (typeof expression.value === 'object' && expression.value !== null) return `<${expression.value.length} entries>`;
      return expression.type === 'STRING' || !isTextType(expression.type)
        ? printLiteral(expression.value, expression.type)
        : printLiteral(constantOf(expression)?.value ?? null, expression.type);
    case 'column':
      return printName(expression.name);
    case 'call': {
      const operands = expression.arguments.map(printExpression);
      if (/^:?\w/.test(expression.function)) return `${expression.function}(${operands.join(', ')})`;
      return operands.length === 1 ? `${expression.function}(${operands[0]})` : `(${operands.join(` ${expression.function} `)})`;
    }
    case 'lambda':
      return `(${expression.parameters.map(printName).join(', ')}) -> ${printExpression(expression.body)}`;
  }
}

function printName(name: string): string {
  return `"${name.replace(/[\\"]/g, '\\$&')}"`;
}

/** Arrays as array literals; JSON, which has no literal, as the text it is parsed from. */
function printLiteral(value: Value, type: ColumnType | null): string {
  if (isArrayValue(value)) {
    const element = type !== null && isArrayType(type) ? elementType(type) : 'STRING';
    return `<${element}>[${value.map((each) => printLiteral(each, element)).join(', ')}]`;
  }
  if (value instanceof Structured) return `parse_json(${printLiteral(stringifyJson(value.data), 'STRING')})`;
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&')}'`;
  if (typeof value !== 'number' || !Number.isFinite(value)) return String(value);
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
