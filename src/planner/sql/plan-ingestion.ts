import { parsePeriod } from '../../base/time.js';
import { floorInstant, type Granularity } from '../../model/granularity.js';
import { ETERNITY, type Interval } from '../../model/interval.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { IngestionTarget, PlannedQuery } from '../../model/statement.js';
import { extractTimeBounds } from '../rules/time-intervals.js';
import { condition, type Place } from './bind-expression.js';
import { dataSchemaNames } from './bind-source.js';
import { unitPeriod } from './functions/time.js';
import { toFilter } from './lower-filter.js';
import { planRelation } from './plan-relation.js';
import type { SqlSchema } from './schema.js';
import { Scope } from './scope.js';
import type { Session } from './session.js';
import type { IngestionStatement, SelectItem, SqlExpression, SqlQuery } from './syntax.js';

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

/** INSERT and REPLACE: the columns of the query, by their names, become the columns of the datasource. */
export function planIngestion(
  session: Session,
  schema: SqlSchema,
  statement: IngestionStatement,
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
  const planned = planRelation({ session, schema }, query);
  checkColumns(session, statement, planned, partitionedBy);
  return {
    kind,
    dataSource: targetName(session, statement),
    overwrite:
      statement.overwrite === null || statement.overwrite === 'all'
        ? statement.overwrite
        : overwrittenIntervals(session, statement.overwrite, partitionedBy),
    partitionedBy,
    clusteredBy: statement.clusteredBy.map((expression) => clusterColumn(session, expression, planned)),
    query: planned,
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
  const fail = (message: string): Error => session.source.error('sql_plan_invalid', query.at, message);
  const unnamed = planned.columns.findIndex(({ name }) => /^EXPR\$\d+$/.test(name));
  if (unnamed >= 0) throw fail(`column ${unnamed + 1} of the query has no name; give it an alias`);
  const aliases = selectItems(query).flatMap(
    ({ alias, expression }) => alias ?? (expression.kind === 'name' ? (expression.path.at(-1) ?? []) : []),
  );
  const repeated = aliases.find((name, index) => aliases.indexOf(name) !== index);
  if (repeated !== undefined) throw fail(`the query has two columns named ${repeated}`);
  const time = planned.columns.find(({ name }) => name === TIME_COLUMN);
  if (time === undefined && partitionedBy.kind !== 'all')
    throw fail(`the query needs a column ${TIME_COLUMN} of type TIMESTAMP, unless it is PARTITIONED BY ALL`);
  if (time !== undefined && time.sqlType !== 'TIMESTAMP')
    throw fail(`column ${TIME_COLUMN} must be a TIMESTAMP, found ${time.sqlType}; TIME_PARSE and MILLIS_TO_TIMESTAMP make one`);
}

/** Of the query that names the columns. */
function selectItems(query: SqlQuery): readonly SelectItem[] {
  return query.kind === 'select' ? query.items : selectItems(query.left);
}

/** PARTITIONED BY ALL, a unit, TIME_FLOOR(__time, period), FLOOR(__time TO unit) or a period as text; always in UTC. */
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
  if (clause.kind === 'unit') return clause.unit === 'ALL' ? 'ALL' : unitPeriod(clause.unit);
  if (clause.kind === 'literal') return typeof clause.value === 'string' ? clause.value : undefined;
  if (clause.kind !== 'call') return undefined;
  const [column, period, ...rest] = clause.arguments;
  if (column?.kind !== 'name' || column.path.length !== 1 || column.path[0] !== TIME_COLUMN || rest.length > 0) return undefined;
  if (clause.name === 'FLOOR' && clause.unit !== null) return unitPeriod(clause.unit);
  return clause.name === 'TIME_FLOOR' && period?.kind === 'literal' && typeof period.value === 'string' ? period.value : undefined;
}

/** OVERWRITE WHERE: whole partitions of time and nothing else. */
function overwrittenIntervals(session: Session, expression: SqlExpression, partitionedBy: Granularity): readonly Interval[] {
  const { source } = session;
  const columns = [{ name: TIME_COLUMN, bound: { kind: 'column', type: 'TIMESTAMP', name: TIME_COLUMN } as const }];
  const place: Place = {
    session,
    scope: new Scope([{ columns, qualifiers: [] }]),
    aggregates: 'in OVERWRITE WHERE',
    subqueries: 'in OVERWRITE WHERE',
  };
  const { intervals, rest } = extractTimeBounds(toFilter(condition(place, expression)));
  if (rest !== null)
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

function clusterColumn(session: Session, expression: SqlExpression, planned: PlannedQuery): string {
  const { source } = session;
  const names = planned.columns.map(({ name }) => name);
  const name =
    expression.kind === 'name' && expression.path.length === 1
      ? expression.path[0]
      : expression.kind === 'literal' && typeof expression.value === 'bigint'
        ? names[Number(expression.value) - 1]
        : undefined;
  if (name === undefined || !names.includes(name))
    throw source.error('sql_plan_invalid', expression.at, `CLUSTERED BY takes columns of the query by name or number: ${names.join(', ')}`);
  return name;
}
