// Columns of a row source, before it is read.

import { expressionType } from '../expression/expression-type.js';
import { stateColumn } from '../model/aggregate-state.js';
import { frameColumnType } from '../model/frame.js';
import type { RowSource, RowsPlan } from '../model/row-source.js';
import { type ColumnSchema, type ColumnType, elementType, isArrayType, TIME_COLUMN, widestType } from '../model/schema.js';
import { stateType } from '../model/state-traits.js';
import { aggregatorType } from './native/aggregator/aggregator.js';
import type { KnownTables } from './plan.js';

/** The columns of a row source, as far as they are known before it is read; of an unknown table, none. */
export function rowSourceColumns(source: RowSource, tables: KnownTables): readonly ColumnSchema[] {
  switch (source.kind) {
    case 'table':
      return tables.table(source.name)?.columns ?? [];
    case 'inline':
      return source.frame.columns.map((column) => ({
        name: column.name,
        type: frameColumnType(column),
        multiValue: column.kind === 'multi',
        hasNulls: true,
      }));
    case 'external':
      return source.signature.map(({ name, type }) => columnOf(name, type));
    case 'lookup':
      return [columnOf('k', 'STRING'), columnOf('v', 'STRING')];
    case 'query':
      return planColumns(source.plan, rowSourceColumns(source.source, tables));
    case 'union':
      return widestOfNames(source.sources.flatMap((each) => rowSourceColumns(each, tables)));
    case 'filtered':
      return rowSourceColumns(source.source, tables);
    case 'unnest': {
      const columns = rowSourceColumns(source.source, tables);
      const { name, expression, outputType } = source.column;
      const type = outputType ?? expressionType(expression, typesOf(columns));
      return [...columns.filter((column) => column.name !== name), columnOf(name, isArrayType(type) ? elementType(type) : type)];
    }
    case 'join':
      if (source.type === 'semi' || source.type === 'anti') return source.leftColumns;
      if (source.mark !== undefined) return [...source.leftColumns, { ...columnOf(source.mark, 'LONG'), hasNulls: false }];
      return distinctNames([
        ...source.rightColumns.map((column) => ({ ...column, name: source.prefix + column.name, hasNulls: true })),
        ...source.leftColumns,
      ]);
  }
}

export function typesOf(columns: readonly ColumnSchema[]): (name: string) => ColumnType | undefined {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  return (name) => types.get(name);
}

/** Output columns of a plan over rows of these columns. */
function planColumns(plan: RowsPlan, inputs: readonly ColumnSchema[]): readonly ColumnSchema[] {
  const stored = typesOf(inputs);
  const virtualColumns = new Map(plan.virtualColumns.map((column) => [column.name, column]));
  const typeOf = (name: string): ColumnType | undefined => {
    const virtual = virtualColumns.get(name);
    return virtual === undefined
      ? stored(name)
      : (virtual.outputType ?? expressionType(virtual.expression, (inner) => (inner === name ? stored(name) : typeOf(inner))));
  };
  let columns = [...leafColumns(plan, typeOf)];
  for (const step of plan.post) {
    if (step.step === 'compute') columns.push(columnOf(step.name, step.type));
    if (step.step === 'window') for (const { name, type } of step.functions) columns.push(columnOf(name, type));
    if (step.step !== 'project') continue;
    const before = typesOf(columns);
    columns = step.columns.map(({ name, from }) => columnOf(name, before(from) ?? 'STRING'));
  }
  return columns;
}

function leafColumns(plan: RowsPlan, typeOf: (name: string) => ColumnType | undefined): readonly ColumnSchema[] {
  switch (plan.operator) {
    case 'scan':
      return plan.columns.map((name) => ({
        ...columnOf(name, name === TIME_COLUMN ? 'LONG' : (typeOf(name) ?? 'STRING')),
        multiValue: true,
      }));
    case 'timeBoundary':
      return [columnOf('minTime', 'LONG'), columnOf('maxTime', 'LONG')];
    case 'group':
      return [
        ...plan.keys.map((key) => columnOf(key.name, key.kind === 'time' ? 'LONG' : (key.type ?? typeOf(key.column) ?? 'STRING'))),
        ...plan.aggregators.flatMap((aggregator) => [
          columnOf(aggregator.name, aggregatorType(aggregator)),
          ...(aggregator.kind === 'state' && aggregator.output === 'both'
            ? [columnOf(stateColumn(aggregator.name), stateType(aggregator.aggregateState))]
            : []),
        ]),
      ];
  }
}

function columnOf(name: string, type: ColumnType): ColumnSchema {
  return { name, type, multiValue: false, hasNulls: name !== TIME_COLUMN };
}

/** Each name once, with the type that holds the values of all columns of the name. */
function widestOfNames(columns: readonly ColumnSchema[]): readonly ColumnSchema[] {
  const byName = new Map<string, ColumnSchema[]>();
  for (const column of columns) {
    const same = byName.get(column.name);
    if (same === undefined) byName.set(column.name, [column]);
    else same.push(column);
  }
  return [...byName.values()].flatMap((same) => {
    const type = widestType(same.map((column) => column.type));
    return same.slice(0, 1).map((column) => ({ ...column, type, multiValue: same.some(({ multiValue }) => multiValue) }));
  });
}

function distinctNames(columns: readonly ColumnSchema[]): readonly ColumnSchema[] {
  return [...new Map(columns.toReversed().map((column) => [column.name, column])).values()].reverse();
}
