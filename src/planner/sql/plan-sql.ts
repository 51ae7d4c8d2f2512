// Entry of the SQL planner: a statement → a plan.

import type { EpochMs } from '../../base/instant.js';
import type { ExportTarget, IngestionTarget, PlannedQuery, PlannedStatement } from '../../model/statement.js';
import { refusingMultiValues } from '../native/column/multi-value-keys.js';
import { readLimits } from '../native/context.js';
import { withQuantilesOfStates } from '../rules/quantiles-of-states.js';
import { withPlans } from '../source-plans.js';
import { bindParameters, refuseFurtherParameters } from './bind/parameters.js';
import type { Session } from './bind/session.js';
import { DATA_SCHEMA } from './catalog/information-schema.js';
import type { SqlSchema } from './catalog/schema.js';
import { sqlNativeExplain, sqlOuterLimit, sqlStoredForm, sqlTimeZone, sqlUnnestsMultiValues, sqlWindowRows } from './context.js';
import { explain } from './explain/explain.js';
import { withEmptyBuckets } from './lower/empty-buckets.js';
import { withWindowRows } from './lower/window-rows.js';
import { parseSql } from './parse/parse.js';
import { SourceText } from './parse/source-text.js';
import { planExport } from './plan-export.js';
import { planIngestion } from './plan-ingestion.js';
import { planRelation } from './plan-relation.js';
import { PlanWatch } from './plan-watch.js';
import { readRulesOff } from './relation/rules/rules-off.js';

export interface SqlRequest {
  readonly query: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** `{type, value}` for each `?`. */
  readonly parameters: readonly unknown[];
  /** The client's name for the datasource schema, when it is not `svc`. */
  readonly schemaName?: string;
  /** Rules of `relation/rules/rules.ts` by name, beside those that the context names: plans without them give the same rows. */
  readonly rulesOff?: readonly string[];
  /** Times the stages and sets the deadline; left out: no times, no deadline. */
  readonly watch?: PlanWatch;
}

/**
 * SQL text → syntax tree → bound relational tree → plan. Pure: the same request, schema and instant give the same plan.
 * @param now    the instant of CURRENT_TIMESTAMP
 * @param parse  gives what `parseSql` gives; the tree is only read
 * @throws ServiceError `sql_invalid` for text that does not parse, `sql_plan_invalid` for names and types that do not
 *   fit the schema, `unsupported` for what Dolmen does not do, each with line and column; `timeout` by the watch
 */
export function planSql(request: SqlRequest, schema: SqlSchema, now: EpochMs, parse = parseSql): PlannedStatement {
  return planSqlAt(request, schema, { clock: { now } }, parse);
}

/** Values of which only binding asks. */
export interface PlanValues {
  /** Holds the instant of CURRENT_TIMESTAMP. */
  readonly clock: Session['clock'];
  /** The parameters of the request; left out: they are bound by planning. */
  readonly parameters?: Session['parameters'];
}

/** Plans like `planSql`. */
export function planSqlAt(request: SqlRequest, schema: SqlSchema, { clock, parameters }: PlanValues, parse = parseSql): PlannedStatement {
  const source = new SourceText(request.query);
  const { watch = new PlanWatch(), rulesOff = [], context } = request;
  try {
    const statement = watch.stage('parse', () => parse(source));
    const timeZone = sqlTimeZone(context);
    refuseFurtherParameters(request.parameters, statement.parameterCount);
    const session: Session = {
      source,
      timeZone,
      clock,
      schemaName: request.schemaName ?? DATA_SCHEMA,
      parameters: parameters ?? bindParameters(request.parameters, timeZone),
      limits: readLimits(context),
      rulesOff: new Set([...rulesOff, ...readRulesOff(context['plannerRulesOff'])]),
      watch,
      numbers: numbers(source),
    };
    const explained = (query: PlannedQuery, ingestion: IngestionTarget | ExportTarget | null): PlannedStatement =>
      watch.stage('explain', () => explain(query, ingestion, sqlNativeExplain(context)));
    if (statement.kind === 'select') {
      const query = withKeys(withEmptyBuckets(planRelation(session, schema, statement.query, sqlOuterLimit(context)), context), context);
      return statement.explained ? explained(query, null) : { kind: 'select', ...withQuantiles(query) };
    }
    if (sqlOuterLimit(context) !== null)
      throw source.error('sql_plan_invalid', 0, 'context.sqlOuterLimit is of queries; INSERT and REPLACE load all rows');
    const planned =
      statement.kind === 'export'
        ? planExport(session, schema, statement)
        : planIngestion(session, schema, statement, sqlStoredForm(context));
    const { query: whole, ...ingestion } = planned;
    const query = withKeys(whole, context);
    return statement.explained ? explained(query, ingestion) : { ...ingestion, query };
  } catch (error) {
    if (error instanceof RangeError) throw source.error('resource_limit', 0, 'the statement is nested too deeply');
    throw error;
  }
}

/** The query, whose windows may be limited, and whose keys may be refused several values. */
function withKeys(given: PlannedQuery, context: SqlRequest['context']): PlannedQuery {
  const query = withWindowRows(given, sqlWindowRows(context));
  if (sqlUnnestsMultiValues(context)) return query;
  return { ...query, plan: refusingMultiValues(query.plan), source: withPlans(query.source, refusingMultiValues) };
}

/** The query as it is run: what EXPLAIN says of it has the states. */
function withQuantiles(query: PlannedQuery): PlannedQuery {
  return { ...query, ...withQuantilesOfStates(query) };
}

/** Queries and joins of one statement: WITH can name a query that names another twice, and so on. */
const PARTS_MAX = 2000;

function numbers(source: SourceText): Session['numbers'] {
  let given = 0;
  return {
    next() {
      if (given === PARTS_MAX) throw source.error('resource_limit', 0, `the statement has more than ${PARTS_MAX} subqueries and joins`);
      return given++;
    },
  };
}
