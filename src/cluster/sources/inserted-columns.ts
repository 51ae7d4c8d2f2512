// Puts expressions in the place of columns.

import { expressionType } from '../../expression/expression-type.js';
import { textOfValue } from '../../expression/value.js';
import { columnsOfFilter } from '../../model/columns-read.js';
import { call, type Expression, long, text } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import { type FilterValue, valuesOf } from '../../model/value-list.js';

/** Expressions by the names of the columns that they stand for. */
export type Columns = ReadonlyMap<string, Expression>;

export function inserted(expression: Expression, columns: Columns): Expression {
  switch (expression.kind) {
    case 'literal':
      return expression;
    case 'column':
      return columns.get(expression.name) ?? expression;
    case 'call':
      return { ...expression, arguments: expression.arguments.map((each) => inserted(each, columns)) };
    case 'lambda': {
      const { parameters, body } = expression;
      return { ...expression, body: inserted(body, new Map([...columns].filter(([name]) => !parameters.includes(name)))) };
    }
  }
}

/** A filter over expressions; undefined where a condition on one has no form as an expression. */
export function substituted(filter: Filter, columns: Columns): Filter | undefined {
  if (![...columnsOfFilter(filter)].some((name) => columns.has(name))) return filter;
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const filters = filter.filters.flatMap((part) => substituted(part, columns) ?? []);
      return filters.length < filter.filters.length ? undefined : { ...filter, filters };
    }
    case 'not':
    case 'isTrue': {
      const inner = substituted(filter.filter, columns);
      return inner === undefined ? undefined : { ...filter, filter: inner };
    }
    default: {
      const expression = expressionOf(filter, columns);
      return expression === undefined ? undefined : { kind: 'expression', expression };
    }
  }
}

/** A filter as an expression that is true, false and unknown for the same rows; undefined where there is none. */
export function expressionOf(filter: Filter, columns: Columns): Expression | undefined {
  switch (filter.kind) {
    case 'true':
      return long(1);
    case 'false':
      return long(0);
    case 'and':
    case 'or': {
      const parts = filter.filters.flatMap((part) => expressionOf(part, columns) ?? []);
      const [first, ...others] = parts;
      if (first === undefined || parts.length < filter.filters.length) return undefined;
      return others.reduce((all, each) => call(filter.kind === 'and' ? '&&' : '||', all, each), first);
    }
    case 'not':
    case 'isTrue': {
      const inner = expressionOf(filter.filter, columns);
      return inner && call(filter.kind === 'not' ? '!' : 'istrue', inner);
    }
    case 'expression':
      return inserted(filter.expression, columns);
    default: {
      const column = columns.get(filter.column);
      return column && comparison(filter, column);
    }
  }
}

function comparison(filter: Extract<Filter, { column: string }>, column: Expression): Expression | undefined {
  switch (filter.kind) {
    case 'null':
      return call('isnull', column);
    case 'equals': {
      const value = constantOf(filter.value, filter.type);
      return value !== undefined && expressionType(column, () => undefined) === filter.type ? call('==', column, value) : undefined;
    }
    case 'in': {
      const values = valuesOf(filter.values);
      if (filter.type !== 'STRING' || !values.every((value) => typeof value === 'string')) return undefined;
      const list: Expression = { kind: 'literal', type: 'ARRAY<STRING>', value: textOfValue(values, 'ARRAY<STRING>') };
      return call('scalar_in_array', column, list);
    }
    case 'range': {
      const { type, ordering, lower, upper, lowerStrict, upperStrict } = filter;
      if (type !== 'STRING' || ordering !== 'lexicographic') return undefined;
      const bounds = [
        lower === null ? [] : [call(lowerStrict ? '>' : '>=', column, text(String(lower)))],
        upper === null ? [] : [call(upperStrict ? '<' : '<=', column, text(String(upper)))],
      ].flat();
      const [first, second] = bounds;
      return first === undefined || second === undefined ? first : call('&&', first, second);
    }
    case 'like':
      return call('like', column, text(filter.pattern), ...(filter.escape === null ? [] : [text(filter.escape)]));
  }
}

function constantOf(value: FilterValue, type: string): Expression | undefined {
  if (type === 'STRING') return typeof value === 'string' ? text(value) : undefined;
  return type === 'LONG' && (typeof value === 'bigint' || typeof value === 'number') ? long(value) : undefined;
}
