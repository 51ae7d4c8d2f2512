import { parseSql } from '../../../../src/planner/sql/parse/parse.js';
import { SourceText } from '../../../../src/planner/sql/parse/source-text.js';
import type { SqlExpression } from '../../../../src/planner/sql/parse/syntax.js';

/** The tree of the only select item of a statement as an S-expression: shapes are compared, not that it parses. */
export function expressionShape(sql: string): string {
  const statement = parseSql(new SourceText(`SELECT ${sql}`));
  const [item] = statement.query.kind === 'select' ? statement.query.items : [];
  if (item === undefined || item.alias !== null) throw new Error(`not one plain expression: ${JSON.stringify(item?.alias)}`);
  return shape(item.expression);
}

function shape(expression: SqlExpression): string {
  const list = (head: string, ...parts: readonly string[]): string => `(${[head, ...parts].join(' ')})`;
  const negated = (name: string, no: boolean): string => (no ? `not ${name}` : name);
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string'
        ? `'${expression.value}'`
        : expression.type === 'BOOLEAN'
          ? expression.value === 1n
            ? 'TRUE'
            : 'FALSE'
          : expression.type === 'NULL'
            ? 'NULL'
            : `${expression.value}:${expression.type}`;
    case 'instant':
      return list(expression.type, `'${expression.text}'`);
    case 'interval':
      return list('INTERVAL', `'${expression.text}'`, expression.from, ...(expression.to === null ? [] : [expression.to]));
    case 'name':
      return expression.path.join('.');
    case 'star':
      return [...expression.path, '*'].join('.');
    case 'parameter':
      return `?${expression.index}`;
    case 'negate':
    case 'not':
      return list(expression.kind, shape(expression.operand));
    case 'arithmetic':
    case 'compare':
      return list(expression.operator, shape(expression.left), shape(expression.right));
    case 'distinctFrom':
      return list(negated('distinct', expression.negated), shape(expression.left), shape(expression.right));
    case 'and':
    case 'or':
      return list(expression.kind, ...expression.operands.map(shape));
    case 'is':
      return list(negated('is', expression.negated), expression.what, shape(expression.operand));
    case 'between':
      return list(negated('between', expression.negated), shape(expression.operand), shape(expression.low), shape(expression.high));
    case 'in':
      return list(negated('in', expression.negated), shape(expression.operand), ...expression.items.map(shape));
    case 'inQuery':
      return list(negated('in', expression.negated), ...expression.operands.map(shape), '(query)');
    case 'exists':
    case 'scalarQuery':
      return list(expression.kind, '(query)');
    case 'row':
    case 'array':
      return list(expression.kind, ...expression.elements.map(shape));
    case 'element':
      return list('element', shape(expression.array), shape(expression.index));
    case 'like':
      return list(
        negated('like', expression.negated),
        shape(expression.operand),
        shape(expression.pattern),
        ...(expression.escape === null ? [] : [shape(expression.escape)]),
      );
    case 'case':
      return list(
        'case',
        ...(expression.operand === null ? [] : [shape(expression.operand)]),
        ...expression.whens.map(({ when, then }) => `[${shape(when)} ${shape(then)}]`),
        ...(expression.otherwise === null ? [] : [shape(expression.otherwise)]),
      );
    case 'cast':
      return list('cast', shape(expression.operand), expression.type);
    case 'call':
      return list(
        `${expression.name}${expression.unit === null ? '' : `:${expression.unit}`}${expression.distinct ? ':distinct' : ''}`,
        ...expression.arguments.map(shape),
        ...(expression.filter === null ? [] : [`filter ${shape(expression.filter)}`]),
      );
  }
}
