// Writes virtual columns, filters and aggregators as native JSON.

import { printExpression } from '../../../expression/print.js';
import { plainData, valueOfText } from '../../../expression/value.js';
import type { Aggregator, VirtualColumn } from '../../../model/aggregator.js';
import type { Expression } from '../../../model/expression.js';
import type { Filter } from '../../../model/filter.js';
import { type ColumnType, isArrayType, isComplexType, isNumberType } from '../../../model/schema.js';
import { type FilterValue, valuesOf } from '../../../model/value-list.js';

/* Parts of plans as native queries write them. */

export type Json = Readonly<Record<string, unknown>>;

/** A native query has no words for what a plan does. */
export class NoNativeForm extends Error {}

/** @throws NoNativeForm */
export function none(what: string): never {
  throw new NoNativeForm(what);
}

export function virtualColumn({ name, expression, outputType: type, keeps }: VirtualColumn): Json {
  if (keeps !== undefined) return none('values of a row filtered one by one');
  return { type: 'expression', name, expression: printed(expression), ...(type === null ? {} : { outputType: type }) };
}

export function aggregation(aggregator: Aggregator): Json {
  const { name, filter } = aggregator;
  const plain = plainAggregation(aggregator);
  return filter === null ? plain : { type: 'filtered', name, filter: nativeFilter(filter), aggregator: plain };
}

function plainAggregation(aggregator: Aggregator): Json {
  const { name } = aggregator;
  switch (aggregator.kind) {
    case 'count':
      return { type: 'count', name };
    case 'sum':
    case 'min':
    case 'max':
      return { type: `${aggregator.type.toLowerCase()}${capital(aggregator.kind)}`, name, fieldName: aggregator.column };
    case 'state': {
      const { aggregateState, columns, input, output } = aggregator;
      const [fieldName, timeColumn] = columns;
      const isPlain =
        (aggregateState.type === 'first' || aggregateState.type === 'last') &&
        input === 'values' &&
        output === 'value' &&
        timeColumn !== undefined;
      if (
        !isPlain ||
        !(isNumberType(aggregateState.valueType) || aggregateState.valueType === 'STRING') ||
        aggregateState.firstOnly === true
      )
        return none(`an aggregate of kind ${aggregateState.type}`);
      const bytes = aggregateState.valueType === 'STRING' ? { maxStringBytes: aggregateState.maxStringBytes } : {};
      return { type: `${aggregateState.valueType.toLowerCase()}${capital(aggregateState.type)}`, name, fieldName, timeColumn, ...bytes };
    }
    default:
      return none('exact counts of distinct values and aggregates of distinct values');
  }
}

/** @throws NoNativeForm for a function that only plans of SQL call */
export function printed(expression: Expression): string {
  refuseOwnFunctions(expression);
  return printExpression(expression);
}

function refuseOwnFunctions(expression: Expression): void {
  if (expression.kind === 'lambda') refuseOwnFunctions(expression.body);
  if (expression.kind !== 'call') return;
  if (expression.function.startsWith(':')) none(`the function ${expression.function.slice(1)} of SQL`);
  expression.arguments.forEach(refuseOwnFunctions);
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

export function nativeFilter(filter: Filter): Json {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return { type: filter.kind };
    case 'and':
    case 'or':
      return { type: filter.kind, fields: filter.filters.map(nativeFilter) };
    case 'not':
      return { type: 'not', field: nativeFilter(filter.filter) };
    case 'isTrue':
      return { type: 'istrue', field: nativeFilter(filter.filter) };
    case 'null':
      return { type: 'null', column: filter.column };
    case 'equals':
      return { type: 'equals', column: filter.column, matchValueType: filter.type, matchValue: matchValue(filter.value, filter.type) };
    case 'in':
      if (filter.values.length === 0) return none('a condition of no values');
      if (filter.type === 'STRING') return { type: 'in', dimension: filter.column, values: valuesOf(filter.values) };
      return {
        type: 'or',
        fields: valuesOf(filter.values).map((value) => nativeFilter({ kind: 'equals', column: filter.column, type: filter.type, value })),
      };
    case 'range': {
      const { column, type, ordering, lower, upper, lowerStrict, upperStrict } = filter;
      if (ordering !== (isNumberType(type) ? 'numeric' : 'lexicographic')) return none(`the order ${ordering}`);
      const bounds = {
        ...(lower === null ? {} : { lower: matchValue(lower, type), lowerOpen: lowerStrict }),
        ...(upper === null ? {} : { upper: matchValue(upper, type), upperOpen: upperStrict }),
      };
      return { type: 'range', column, matchValueType: type, ...bounds };
    }
    case 'like':
      return {
        type: 'like',
        dimension: filter.column,
        pattern: filter.pattern,
        ...(filter.escape === null ? {} : { escape: filter.escape }),
      };
    case 'expression':
      return { type: 'expression', expression: printed(filter.expression) };
  }
}

function matchValue(value: FilterValue, type: ColumnType): unknown {
  if (isComplexType(type)) return none(`conditions on values of type ${type}`);
  return typeof value === 'string' && isArrayType(type) ? plainData(valueOfText(value, type)) : value;
}
