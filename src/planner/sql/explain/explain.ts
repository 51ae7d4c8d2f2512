// Answers EXPLAIN PLAN FOR.

import { formatInterval } from '../../../base/interval.js';
import { stringifyJson } from '../../../base/json.js';
import { type Granularity, granularityName } from '../../../model/granularity.js';
import { externalsOf, leavesOf, type RowSource } from '../../../model/row-source.js';
import type { ExplainedStatement, ExportTarget, IngestionTarget, OutputColumn, PlannedQuery } from '../../../model/statement.js';
import { printOverSource } from '../../print-source.js';
import { inlineFrame } from '../catalog/inline-frame.js';
import { nativeForm } from './native-form.js';
import { resourcesOfQuery } from './resources.js';

/** All of them texts. */
export const EXPLAIN_COLUMNS: readonly OutputColumn[] = ['PLAN', 'RESOURCES', 'ATTRIBUTES'].map((name) => ({
  name,
  sqlType: 'VARCHAR',
  nativeType: 'STRING',
}));

/**
 * EXPLAIN PLAN FOR with its answer: one row of the plan, the resources it reads and writes, and what kind of statement it is.
 * @param ingestion  null: of a SELECT
 * @param isNative   PLAN is JSON: the native query that gives the same rows, or the lines of the plan where there is no such query;
 *   else the text of the plan (context key `useNativeQueryExplain`)
 */
export function explain(query: PlannedQuery, ingestion: IngestionTarget | ExportTarget | null, isNative: boolean): ExplainedStatement {
  const plan = isNative ? stringifyJson([describedQuery(query)]) : printOverSource(query.plan, query.source).join('\n');
  const cells = [plan, stringifyJson(shownResources(query.source, ingestion)), stringifyJson(attributesOf(ingestion))].map((cell) => [
    cell,
  ]);
  const columns = EXPLAIN_COLUMNS.map(({ name, nativeType }) => ({ name, type: nativeType }));
  const resources = resourcesOfQuery(query.source, ingestion);
  return { kind: 'explain', frame: inlineFrame(columns, cells, 1), tables: tablesOf(query.source), resources };
}

/** `signature`: the columns of the query that the statement puts out; `columnMappings`: under which names. */
function describedQuery(query: PlannedQuery): unknown {
  const form = nativeForm(query);
  const columns = 'none' in form ? query.columns.map(({ name }) => ({ queryColumn: name, outputColumn: name })) : form.columns;
  const signature = columns.map(({ queryColumn }, index) => ({ name: queryColumn, type: query.columns[index]?.nativeType }));
  const what = 'none' in form ? { noNativeQuery: form.none, plan: printOverSource(query.plan, query.source) } : { query: form.query };
  return { ...what, signature, columnMappings: columns };
}

function shownResources(source: RowSource, ingestion: IngestionTarget | ExportTarget | null): unknown {
  const read = [...externalsOf(source).map(() => EXTERNAL), ...tablesOf(source).map(resourceOf)];
  const written = ingestion === null ? [] : [ingestion.kind === 'export' ? EXTERNAL : resourceOf(ingestion.dataSource)];
  const all = [...read, ...written];
  return all.filter(({ name, type }, index) => all.findIndex((other) => other.name === name && other.type === type) === index);
}

const EXTERNAL = { name: 'EXTERNAL', type: 'EXTERNAL' };

function resourceOf(name: string): { readonly name: string; readonly type: string } {
  return { name, type: 'DATASOURCE' };
}

function attributesOf(ingestion: IngestionTarget | ExportTarget | null): unknown {
  if (ingestion === null) return { statementType: 'SELECT' };
  if (ingestion.kind === 'export') return { statementType: 'INSERT', targetDataSource: 'EXTERNAL' };
  const { kind, dataSource, partitionedBy, clusteredBy, overwrite } = ingestion;
  return {
    statementType: kind.toUpperCase(),
    targetDataSource: dataSource,
    partitionedBy: partitionName(partitionedBy),
    ...(clusteredBy.length === 0 ? {} : { clusteredBy }),
    ...(overwrite === null ? {} : { replaceTimeChunks: overwrite === 'all' ? overwrite : overwrite.map(formatInterval).join(',') }),
  };
}

/** A granularity as native specs have it: `DAY`, or an object where it has no name. */
function partitionName(granularity: Granularity): unknown {
  if (granularity.kind !== 'period') return { type: granularity.kind };
  const name = granularityName(granularity);
  const { period, timeZone } = granularity;
  return /^[a-z_]+$/.test(name) ? name.toUpperCase() : { type: 'period', period, timeZone, origin: null };
}

/** The datasources that rows are read from, in the order they are met. */
export function tablesOf(source: RowSource): readonly string[] {
  return leavesOf(source).flatMap((leaf) => (leaf.kind === 'table' ? [leaf.name] : []));
}
