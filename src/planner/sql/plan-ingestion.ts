// Plans INSERT and REPLACE.

import { ETERNITY, type Interval } from '../../base/instant.js';
import { parsePeriod } from '../../base/time.js';
import { floorInstant, type Granularity } from '../../model/granularity.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { IngestionTarget, PlannedQuery } from '../../model/statement.js';
import { comparesFunctions, extractTimeBounds } from '../rules/time-intervals.js';
import { condition } from './bind/bind-expression.js';
import { dataSchemaNames } from './bind/bind-source.js';
import type { Place } from './bind/expression/place.js';
import { unitPeriod } from './bind/functions/time.js';
import { Scope } from './bind/scope.js';
import type { Session } from './bind/session.js';
import type { SqlSchema } from './catalog/schema.js';
import { toFilter } from './lower/lower-filter.js';
import type { IngestionStatement, SelectItem, SqlExpression, SqlQuery } from './parse/syntax.js';
import { planRelation, planStates } from './plan-relation.js';

/** Periods that segments can be cut by; each divides the next natural one. */
const PARTITION_PERIODS: readonly string[] = [
  'PT1S',
  'PT1M',
  'PT5M',
  'PT10M',
  'PT15M',
  'PT30M',
  'PT1H',
  'PT6H',
  'PT8H',
  'P1D',
  'P1W',
  'P1M',
  'P3M',
  'P1Y',
];

/** Form that the results of aggregates are stored in. */
interface StoredForm {
  /** Values; else states. */
  readonly finalizes: boolean;
  /** Whether states and numbers are metrics, which further rows roll up into, where groups are stored. */
  readonly rollsUp: boolean;
}

/** INSERT and REPLACE: the columns of the query, by their names, become the columns of the datasource. */
export function planIngestion(
  session: Session,
  schema: SqlSchema,
  statement: IngestionStatement,
  { finalizes, rollsUp }: StoredForm,
): IngestionTarget & { readonly query: PlannedQuery } {
  const { source } = session;
  const { kind, query } = statement;
  if (query.orderBy.length > 0)
    throw source.error(
      'sql_plan_invalid',
      query.orderBy[0]?.expression.at ?? query.at,
      `${kind.toUpperCase()} takes no ORDER BY; use CLUSTERED BY`,
    );
  const partitionedBy = partitioning(session, statement.partitionedBy);
  const bounded = query.limit ?? query.offset;
  if (bounded !== null && partitionedBy.kind !== 'all')
    throw source.error('sql_plan_invalid', bounded.at, `LIMIT and OFFSET of ${kind.toUpperCase()} need PARTITIONED BY ALL`);
  const { planned, stored } = finalizes
    ? { planned: planRelation(session, schema, query), stored: undefined }
    : planStates(session, schema, query);
  checkColumns(session, statement, planned, partitionedBy);
  return {
    kind,
    dataSource: targetName(session, statement),
    overwrite:
      statement.overwrite === null || statement.overwrite === 'all'
        ? statement.overwrite
        : overwrittenIntervals(session, statement.overwrite, partitionedBy),
    partitionedBy,
    clusteredBy: [...new Set(statement.clusteredBy.map((expression) => clusterColumn(session, expression, statement, planned)))],
    query: planned,
    ...(stored === undefined || !rollsUp ? {} : { rollup: stored.filter((aggregator) => aggregator !== undefined) }),
  };
}

function targetName(session: Session, { target, at, kind }: IngestionStatement): string {
  const name = target.at(-1) ?? '';
  const prefix = target.slice(0, -1);
  if (prefix.length > 1 || (prefix.length === 1 && !dataSchemaNames(session).includes(prefix[0] ?? '')))
    throw session.source.error(
      'sql_plan_invalid',
      at,
      `${kind.toUpperCase()} INTO ${target.join('.')}: datasources are in the schema ${session.schemaName}`,
    );
  // Control characters and slashes would not survive as a path of segment files.
  if (name.trim() === '' || /[/\\\u0000-\u001f]/.test(name) || name.startsWith('.'))
    throw session.source.error('sql_plan_invalid', at, `${JSON.stringify(name)} cannot name a datasource`);
  return name;
}

function checkColumns(session: Session, { query }: IngestionStatement, planned: PlannedQuery, partitionedBy: Granularity): void {
  const items = selectItems(query);
  const fail = (message: string, index = -1): Error => {
    const item = items.some(({ expression }) => expression.kind === 'star') ? undefined : items[index];
    return session.source.error('sql_plan_invalid', item?.expression.at ?? query.at, message);
  };
  const names = planned.columns.map(({ name }) => name);
  const unnamed = names.findIndex((name) => /^EXPR\$\d+$/.test(name));
  if (unnamed >= 0) throw fail(`column ${unnamed + 1} of the query has no name; give it an alias`, unnamed);
  const seen = new Set<string>();
  const repeated = names.findIndex((name) => seen.size === seen.add(name).size);
  if (repeated >= 0) throw fail(`the query has two columns named ${names[repeated]}`, repeated);
  const time = planned.columns.find(({ name }) => name === TIME_COLUMN);
  if (time === undefined && partitionedBy.kind !== 'all')
    throw fail(`the query needs a column ${TIME_COLUMN} of type TIMESTAMP, unless it is PARTITIONED BY ALL`);
  if (time !== undefined && time.sqlType !== 'TIMESTAMP')
    throw fail(
      `column ${TIME_COLUMN} must be a TIMESTAMP, found ${time.sqlType}; TIME_PARSE and MILLIS_TO_TIMESTAMP make one`,
      planned.columns.indexOf(time),
    );
}

/** Select items of the query that names the columns. */
function selectItems(query: SqlQuery): readonly SelectItem[] {
  return query.kind === 'select' ? query.items : selectItems(query.left);
}

/** PARTITIONED BY ALL, a unit, TIME_FLOOR(__time, period), FLOOR(__time TO unit), or a period or unit as text; always in UTC. */
function partitioning(session: Session, clause: IngestionStatement['partitionedBy']): Granularity {
  const period = partitionPeriod(clause);
  if (period === 'ALL') return { kind: 'all' };
  if (period === undefined || parsePeriod(period) === undefined || !PARTITION_PERIODS.includes(period))
    throw session.source.error(
      'sql_plan_invalid',
      clause.at,
      `PARTITIONED BY takes ALL, HOUR, DAY, MONTH, YEAR, FLOOR(${TIME_COLUMN} TO unit) or TIME_FLOOR(${TIME_COLUMN}, period) with one of ${PARTITION_PERIODS.join(', ')}`,
    );
  return { kind: 'period', period, timeZone: 'UTC', origin: null };
}

function partitionPeriod(clause: IngestionStatement['partitionedBy']): string | undefined {
  if (clause.kind === 'unit') return unitOrAll(clause.unit);
  if (clause.kind === 'literal') return typeof clause.value === 'string' ? (unitOrAll(clause.value) ?? clause.value) : undefined;
  if (clause.kind !== 'call') return undefined;
  const [column, period, ...rest] = clause.arguments;
  if (column?.kind !== 'name' || column.path.length !== 1 || column.path[0] !== TIME_COLUMN || rest.length > 0) return undefined;
  if (clause.name === 'FLOOR' && clause.unit !== null) return unitPeriod(clause.unit);
  return clause.name === 'TIME_FLOOR' && period?.kind === 'literal' && typeof period.value === 'string' ? period.value : undefined;
}

function unitOrAll(text: string): string | undefined {
  const unit = text.toUpperCase().trim().replace(/\s+/g, ' ');
  return unit === 'ALL' || unit === 'ALL TIME' ? 'ALL' : unitPeriod(unit);
}

/** OVERWRITE WHERE: whole partitions of time and nothing else. */
function overwrittenIntervals(session: Session, expression: SqlExpression, partitionedBy: Granularity): readonly Interval[] {
  const { source } = session;
  checkTimeOnly(session, expression);
  const columns = [{ name: TIME_COLUMN, bound: { kind: 'column', type: 'TIMESTAMP', name: TIME_COLUMN } as const }];
  const place: Place = {
    session,
    scope: new Scope([{ columns, qualifiers: [] }]),
    aggregates: 'in OVERWRITE WHERE',
    subqueries: 'in OVERWRITE WHERE',
  };
  const filter = toFilter(condition(place, expression));
  const { intervals, rest } = extractTimeBounds(filter);
  if (rest !== null || comparesFunctions(filter))
    throw source.error('sql_plan_invalid', expression.at, `OVERWRITE WHERE can only compare ${TIME_COLUMN} with constants`);
  if (intervals.length === 0) throw source.error('sql_plan_invalid', expression.at, 'OVERWRITE WHERE selects no time at all');
  const aligned = (at: number): boolean => at === ETERNITY.start || at === ETERNITY.end || floorInstant(partitionedBy, at) === at;
  if (
    partitionedBy.kind === 'all'
      ? intervals.some(({ start, end }) => start !== ETERNITY.start || end !== ETERNITY.end)
      : intervals.some(({ start, end }) => !aligned(start) || !aligned(end))
  )
    throw source.error('sql_plan_invalid', expression.at, 'OVERWRITE WHERE must begin and end where partitions of PARTITIONED BY do');
  return intervals;
}

function checkTimeOnly(session: Session, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const { kind, path, at } = value as { readonly kind?: unknown; readonly path?: unknown; readonly at?: unknown };
  if (kind === 'name' && Array.isArray(path) && path.join('.') !== TIME_COLUMN)
    throw session.source.error(
      'sql_plan_invalid',
      Number(at),
      `OVERWRITE WHERE can only compare ${TIME_COLUMN} with constants, found ${path.join('.')}`,
    );
  for (const part of Object.values(value)) checkTimeOnly(session, part);
}

/** A column of the query by its name, by its number, or by the expression it is selected as. */
function clusterColumn(session: Session, expression: SqlExpression, { query }: IngestionStatement, { columns }: PlannedQuery): string {
  const names = columns.map(({ name }) => name);
  const chosen = (): string | undefined => {
    if (expression.kind === 'literal') return typeof expression.value === 'bigint' ? names[Number(expression.value) - 1] : undefined;
    const [name] = expression.kind === 'name' && expression.path.length === 1 ? expression.path : [];
    if (name !== undefined && names.includes(name)) return name;
    const item = selectItems(query).find((each) => shapeOf(each.expression) === shapeOf(expression));
    return item?.alias ?? (expression.kind === 'name' ? expression.path.at(-1) : undefined);
  };
  const name = chosen();
  if (name === undefined || !names.includes(name))
    throw session.source.error(
      'sql_plan_invalid',
      expression.at,
      `CLUSTERED BY takes columns of the query, by name, by number or as they are selected: ${names.join(', ')}`,
    );
  return name;
}

/** Equal for expressions that are written alike, wherever they stand. */
function shapeOf(expression: SqlExpression): string {
  return JSON.stringify(expression, (key, value: unknown) => (key === 'at' ? undefined : typeof value === 'bigint' ? `${value}n` : value));
}
