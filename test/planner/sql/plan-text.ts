import { ETERNITY } from '../../../src/base/instant.js';
import { formatInterval } from '../../../src/base/interval.js';
import { printExpression } from '../../../src/expression/print.js';
import type { Filter } from '../../../src/model/filter.js';
import type { Plan, PostStep } from '../../../src/model/plan.js';
import type { RowSource } from '../../../src/model/row-source.js';
import type { ColumnType } from '../../../src/model/schema.js';
import type { PlannedQuery, PlannedStatement } from '../../../src/model/statement.js';
import { valuesOf } from '../../../src/model/value-list.js';
import type { SqlSchema } from '../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';

/** The table of the query benchmark. */
const WIKI: Readonly<Record<string, ColumnType>> = {
  __time: 'LONG',
  isRobot: 'STRING',
  channel: 'STRING',
  country: 'STRING',
  city: 'STRING',
  user: 'STRING',
  page: 'STRING',
  added: 'LONG',
  deleted: 'LONG',
  delta: 'LONG',
  price: 'DOUBLE',
  score: 'DOUBLE',
  ratio: 'FLOAT',
  v0: 'STRING',
};
const WIKI_TABLE = { columns: Object.entries(WIKI).map(([name, type]) => ({ name, type, multiValue: false, hasNulls: true })) };

export const SCHEMA: SqlSchema = { tables: () => ['wiki'], table: (name) => (name === 'wiki' ? WIKI_TABLE : undefined) };
export const NOW = Date.UTC(2024, 0, 15, 12);

export function planText(sql: string, context: Readonly<Record<string, unknown>> = {}, parameters: readonly unknown[] = []): string {
  return statementText(planSql({ query: sql, context, parameters }, SCHEMA, NOW));
}

function statementText(statement: PlannedStatement): string {
  if (statement.kind === 'select') return queryText(statement);
  if (statement.kind === 'explain') return `explain of ${statement.tables.join(' ')}`;
  if (statement.kind === 'export') return `export ${statement.format} to ${statement.exportPath}\n${queryText(statement.query)}`;
  const { dataSource, overwrite, partitionedBy, clusteredBy } = statement;
  const overwritten = overwrite === null ? '' : ` overwrite ${overwrite === 'all' ? 'all' : overwrite.map(formatInterval).join(' ')}`;
  return `${statement.kind} ${dataSource}${overwritten} by ${partitionedBy.kind === 'period' ? partitionedBy.period : partitionedBy.kind}${clusteredBy.length === 0 ? '' : ` clustered ${clusteredBy.join(' ')}`}\n${queryText(statement.query)}`;
}

function queryText({ plan, source, columns }: PlannedQuery): string {
  return [
    `${plan.operator} ${sourceText(source)}`,
    ...planLines(plan),
    `→ ${columns.map(({ name, sqlType }) => `${name} ${sqlType}`).join(', ')}`,
  ].join('\n');
}

function sourceText(source: RowSource): string {
  switch (source.kind) {
    case 'table':
      return source.name;
    case 'inline':
      return `inline[${source.frame.rowCount}]`;
    case 'external':
      return 'external';
    case 'lookup':
      return `lookup ${source.name}`;
    case 'filtered':
      return `(${sourceText(source.source)} where ${filterText(source.filter)})`;
    case 'unnest':
      return `(unnest ${printExpression(source.column.expression)} as ${source.column.name} of ${sourceText(source.source)})`;
    case 'query':
      return indented(`(\n${[`${source.plan.operator} ${sourceText(source.source)}`, ...planLines(source.plan)].join('\n')}`);
    case 'union':
      return indented(`union(\n${source.sources.map(sourceText).join('\n')}`);
    case 'join': {
      const { type, prefix, keys, condition } = source;
      const on = keys.map(({ left, right, type: as }) => `${printExpression(left)} = ${printExpression(right)} ${as}`);
      if (condition !== null) on.push(printExpression(condition));
      return indented(
        `join ${type} ${prefix} on ${on.join(' and ') || 'nothing'} (\n${sourceText(source.left)}\n${sourceText(source.right)}`,
      );
    }
  }
}

function indented(text: string): string {
  return `${text.replaceAll('\n', '\n  ')})`;
}

function planLines(plan: Plan): string[] {
  const lines: string[] = [];
  const [interval] = plan.intervals;
  const eternal = plan.intervals.length === 1 && interval?.start === ETERNITY.start && interval.end === ETERNITY.end;
  if (!eternal) lines.push(`in ${plan.intervals.map(formatInterval).join(' ')}`);
  if (plan.filter !== null) lines.push(`where ${filterText(plan.filter)}`);
  for (const { name, expression, outputType } of plan.virtualColumns) lines.push(`${name} := ${printExpression(expression)} ${outputType}`);
  if (plan.operator === 'group') {
    for (const key of plan.keys)
      lines.push(
        key.kind === 'time'
          ? `key ${key.name} = ${key.granularity.kind === 'period' ? `${key.granularity.period} ${key.granularity.timeZone}` : key.granularity.kind}`
          : `key ${key.name} = ${key.column} ${key.type}`,
      );
    for (const each of plan.aggregators)
      lines.push(
        `agg ${each.name} = ${each.kind}${'column' in each ? ` ${each.column}` : ''}${'type' in each ? ` ${each.type}` : ''}${each.filter === null ? '' : ` where ${filterText(each.filter)}`}`,
      );
    if (plan.emptyGroup) lines.push('one row over none');
  }
  if (plan.operator === 'scan')
    lines.push(
      `scan ${plan.columns.join(' ')}${plan.timeOrder === null ? '' : ` ${plan.timeOrder}`}${plan.limit === null && plan.offset === 0 ? '' : ` limit ${plan.limit} offset ${plan.offset}`}`,
    );
  return [...lines, ...plan.post.map(stepText)];
}

function stepText(step: PostStep): string {
  switch (step.step) {
    case 'compute':
      return `compute ${step.name} = ${printExpression(step.expression)} ${step.type}`;
    case 'filter':
      return `having ${filterText(step.filter)}`;
    case 'sort':
      return `sort ${step.by.map(({ column, descending, nulls, ordering }) => `${column} ${descending ? 'desc' : 'asc'} nulls ${nulls} ${ordering}`).join(', ')} limit ${step.limit} offset ${step.offset}`;
    case 'limit':
      return `limit ${step.limit} offset ${step.offset}`;
    case 'project':
      return `project ${step.columns.map(({ name, from }) => (name === from ? name : `${name}=${from}`)).join(' ')}`;
    case 'window':
      return `window ${step.functions.map(({ name, call, frame }) => `${name} = ${JSON.stringify(call)} ${frame.unit} ${frame.start} ${frame.end}`).join(', ')} by ${step.partition.join(' ')} order ${step.order.map(({ column, descending }) => `${column} ${descending ? 'desc' : 'asc'}`).join(' ')}`;
    default:
      return step.step;
  }
}

function filterText(filter: Filter): string {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return filter.kind;
    case 'and':
    case 'or':
      return `(${filter.filters.map(filterText).join(` ${filter.kind} `)})`;
    case 'not':
      return `not ${filterText(filter.filter)}`;
    case 'isTrue':
      return `(${filterText(filter.filter)}) is true`;
    case 'null':
      return `${filter.column} is null`;
    case 'equals':
      return `${filter.column} = ${filter.value} ${filter.type}`;
    case 'in':
      return `${filter.column} in [${valuesOf(filter.values).join(' ')}] ${filter.type}`;
    case 'range':
      return `${filter.lower === null ? '' : `${filter.lower} ${filter.lowerStrict ? '<' : '<='} `}${filter.column}${filter.upper === null ? '' : ` ${filter.upperStrict ? '<' : '<='} ${filter.upper}`} ${filter.type} ${filter.ordering}`;
    case 'like':
      return `${filter.column} like ${filter.pattern}${filter.escape === null ? '' : ` escape ${filter.escape}`}`;
    case 'expression':
      return printExpression(filter.expression);
  }
}
