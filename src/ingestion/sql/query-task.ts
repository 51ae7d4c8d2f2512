// Reads the statement of a `query_controller` task: INSERT, REPLACE or SELECT.

import { ServiceError } from '../../base/errors.js';
import { type EpochMs, ETERNITY } from '../../base/instant.js';
import { stringifyJson } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { dataSource } from '../../model/access/resource.js';
import type { PublishRequest } from '../../model/publication.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { PlannedQuery } from '../../model/statement.js';
import { schemaOfTask } from '../../planner/sql/catalog/statement-schema.js';
import { tablesOf } from '../../planner/sql/explain/explain.js';
import { resourcesOf } from '../../planner/sql/explain/resources.js';
import { planSql } from '../../planner/sql/plan-sql.js';
import type { TaskDescription } from '../contract.js';
import type { ExportStatement, SelectStatement, WriteStatement } from './output-rows.js';
import { parseQuerySettings, type QuerySettings } from './query-settings.js';
import { storedType } from './write-segments.js';

export interface QueryTask {
  readonly query: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly parameters: readonly unknown[];
  /** Schema that the statement is planned over, as the payload has it. */
  readonly schema: unknown;
  /** Format of the results of a statement that is asked for them later; null: its report has them. */
  readonly resultFormat: string | null;
  /** The user whose statement it is; null without security. */
  readonly user: string | null;
  readonly statement: WriteStatement | ExportStatement | SelectStatement;
  readonly settings: QuerySettings;
  /** The `spec` of the payload. */
  readonly statementSpec: Readonly<Record<string, unknown>>;
  /** The instant of CURRENT_TIMESTAMP. */
  readonly nowMs: EpochMs;
  readonly dataSource: string;
}

/** Datasource that public clients see for a plain SELECT. */
const SELECT_DATA_SOURCE = '__query_select';

/**
 * @param now  the instant of CURRENT_TIMESTAMP
 * @throws ServiceError for SQL that does not plan, or that a task cannot run
 */
export function parseQueryTask(fields: ObjectReader, now: EpochMs): QueryTask {
  return parseQuerySpec(fields.object('spec'), now);
}

/** The same, of the `spec` alone. */
export function parseQuerySpec(spec: ObjectReader, now: EpochMs): QueryTask {
  spec.accept(['query', 'context', 'parameters', 'schema', 'resultFormat', 'columns', 'user']);
  const contextFields = spec.reader(spec.raw('context') ?? {}, spec.at('context'));
  const context = contextFields.members;
  const settings = parseQuerySettings(contextFields);
  const query = spec.string('query');
  const parameters = spec.array('parameters');
  const schema = spec.raw('schema') ?? null;
  const resultFormat = spec.has('resultFormat') ? spec.string('resultFormat') : null;
  const user = spec.optionalString('user') ?? null;
  const statement = planSql({ query, context, parameters }, schemaOfTask(schema, 'spec.schema'), now);
  if (statement.kind === 'explain')
    throw new ServiceError('unsupported', 'EXPLAIN PLAN FOR is not run by a task; send it to the SQL endpoint');
  if (settings.removeNullBytes && tablesOf((statement.kind === 'select' ? statement : statement.query).source).length > 0)
    throw contextFields.unsupported('removeNullBytes', 'expected false: strings of datasources are read as they are stored');
  if (statement.kind !== 'insert' && statement.kind !== 'replace' && !contextFields.boolean('finalizeAggregations', true))
    throw contextFields.unsupported('finalizeAggregations', 'expected true: INSERT and REPLACE store states, results are values');
  if (statement.kind === 'insert' || statement.kind === 'replace') checkOutput(statement, settings);
  else if (statement.kind === 'select' && spec.has('columns') && stringifyJson(spec.raw('columns')) !== stringifyJson(statement.columns))
    throw spec.mismatch('columns', `those of the SELECT, ${stringifyJson(statement.columns)}`);
  const target = statement.kind === 'insert' || statement.kind === 'replace' ? statement.dataSource : SELECT_DATA_SOURCE;
  const common = { query, context, parameters, schema, resultFormat, user, statement, settings };
  return { ...common, statementSpec: spec.members, nowMs: now, dataSource: target };
}

export function plannedQuery({ statement }: QueryTask): PlannedQuery {
  return statement.kind === 'select' ? statement : statement.query;
}

/** Checks the task's settings against the columns of the SELECT, which the planner does not do. */
function checkOutput({ query: { columns } }: WriteStatement, settings: QuerySettings): void {
  for (const column of columns) storedType(column, settings);
  const names = columns.map(({ name }) => name);
  const unknown = settings.segmentSortOrder?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new ServiceError('sql_plan_invalid', `context.segmentSortOrder: the SELECT has no column "${unknown}"`);
  if (names.every((name) => name === TIME_COLUMN))
    throw new ServiceError('sql_plan_invalid', `the SELECT has no column besides ${TIME_COLUMN}`);
}

export function describeQueryTask({
  statement,
  query,
  context,
  parameters,
  schema,
  resultFormat,
  user,
}: QueryTask): Pick<TaskDescription, 'dataSource' | 'mode' | 'spec' | 'isReadOnly' | 'resources'> {
  const { source } = statement.kind === 'select' ? statement : statement.query;
  const resources = [
    ...resourcesOf(statement),
    ...tablesOf(source).map((name) => ({ resource: dataSource(name), action: 'READ' as const })),
  ];
  const format = resultFormat === null ? {} : { resultFormat };
  const owner = user === null ? {} : { user };
  const spec = { query, context, parameters, ...(schema === null || schema === undefined ? {} : { schema }), ...format, ...owner };
  const reading = { dataSource: SELECT_DATA_SOURCE, mode: { kind: 'append' }, isReadOnly: true, resources } as const;
  if (statement.kind === 'select') return { ...reading, spec: { ...spec, columns: statement.columns } };
  if (statement.kind === 'export') return { ...reading, spec };
  return { dataSource: statement.dataSource, mode: publishMode(statement), spec, resources };
}

export function publishMode({ overwrite, partitionedBy: granularity }: WriteStatement): PublishRequest['mode'] {
  if (overwrite === null) return { kind: 'append' };
  return { kind: 'replace', intervals: overwrite === 'all' ? [ETERNITY] : overwrite, granularity };
}
