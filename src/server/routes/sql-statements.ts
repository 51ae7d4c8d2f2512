import { ServiceError } from '../../base/errors.js';
import type { BrokerQueries, QueryOptions } from '../../cluster/broker/contract.js';
import type { QueryScheduler } from '../../cluster/broker/query-scheduler.js';
import type { Frame } from '../../model/frame.js';
import type { EpochMs } from '../../model/interval.js';
import type { OutputColumn, PlannedQuery, PlannedStatement } from '../../model/statement.js';
import type { SqlContext } from '../../planner/sql/context.js';
import { explain, tablesOf } from '../../planner/sql/explain.js';
import { PlanCache } from '../../planner/sql/plan-cache.js';
import type { SqlRequest } from '../../planner/sql/plan-sql.js';
import type { SqlSchema } from '../../planner/sql/schema.js';
import { planOverSystem, type SystemRow, type SystemTableName } from '../../planner/sql/system-schema.js';
import type { QueryLog, QueryRun } from './query-log.js';

export interface SqlStatementOptions {
  now(): EpochMs;
  /** For statements that name none. */
  newQueryId(): string;
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly log: QueryLog;
  readonly scheduler: QueryScheduler;
  /** Names of the lookups that are loaded. */
  lookups(): readonly string[];
  /** Rows of a table of `sys`, as they are now. */
  systemRows(table: SystemTableName): Promise<readonly SystemRow[]>;
  /** What clients under the alias call the schema of datasources; left out: `druid`. */
  readonly aliasSchemaName?: string;
}

const PLANS_KEPT = 500;

export type Ingestion = Extract<PlannedStatement, { readonly kind: 'insert' | 'replace' }>;

export function isIngestion(statement: PlannedStatement): statement is Ingestion {
  return statement.kind === 'insert' || statement.kind === 'replace';
}

/** What gives rows. */
export type Answerable = Exclude<PlannedStatement, Ingestion>;

export interface StatementRun {
  /** For messages and `sys.queries`. */
  readonly sql: string;
  readonly read: SqlContext;
  readonly sqlQueryId: string;
  /** `performance.now()` when the request came in. */
  readonly receivedMs: number;
  /** Ends the query. */
  readonly signal: AbortSignal;
}

export interface RunningStatement {
  readonly columns: readonly OutputColumn[];
  /** Read to the end or left early, inside of `logged.body`. */
  readonly frames: AsyncIterable<Frame>;
  readonly logged: QueryRun;
}

/** SQL statements, planned and run for whichever protocol they came in by. */
export class SqlStatements {
  readonly #broker: BrokerQueries;
  readonly #options: SqlStatementOptions;
  readonly #plans = new PlanCache(PLANS_KEPT);
  readonly #schema: SqlSchema;

  constructor(broker: BrokerQueries, options: SqlStatementOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#schema = {
      tables: () => broker.tables(),
      table: (name) => broker.table(name),
      lookups: () => options.lookups(),
    };
  }

  newQueryId(): string {
    return this.#options.newQueryId();
  }

  /** False when no query has this id. */
  cancel(sqlQueryId: string): boolean {
    return this.#broker.cancel(sqlQueryId);
  }

  /** @param viaAlias  the client calls the schema of datasources by the alias */
  plan(request: SqlRequest, viaAlias: boolean): Promise<PlannedStatement> {
    const { aliasSchemaName = 'druid', systemRows, now } = this.#options;
    const asked = viaAlias ? { ...request, schemaName: aliasSchemaName } : request;
    return planOverSystem(this.#schema, systemRows, (schema) => this.#plans.plan(asked, schema, now()));
  }

  /** The query begins when its first frame is asked for. */
  run(statement: Answerable, { sql, read, sqlQueryId, receivedMs, signal }: StatementRun): RunningStatement {
    const { log, scheduler } = this.#options;
    const options = this.#queryOptions(read, sqlQueryId, signal);
    const { source } = statement.kind === 'explain' ? statement.query : statement;
    const [dataSource = null] = tablesOf(source);
    const logged = log.begin({ queryId: sqlQueryId, queryType: 'sql', dataSource, sql }, receivedMs);
    if (statement.kind === 'explain') {
      const { columns, frame } = explain(statement.query);
      return { columns, frames: logged.frames(only(frame)), logged };
    }
    const frames = scheduler.during(
      { priority: options.priority, lane: read.lane, dataSource: dataSource ?? '', intervals: statement.plan.intervals },
      (priority) => this.#frames(statement, { ...options, priority, profile: logged.profile }),
    );
    return { columns: statement.columns, frames: logged.frames(frames), logged };
  }

  #frames({ plan, source }: PlannedQuery, options: QueryOptions): AsyncIterable<Frame> {
    if (source.kind === 'external')
      throw new ServiceError('unsupported', 'TABLE(EXTERN(...)) is read by INSERT and REPLACE on /svc/v2/sql/task only');
    return source.kind === 'table' ? this.#broker.run(plan, options) : this.#broker.runOver(plan, source, options);
  }

  #queryOptions(context: SqlContext, queryId: string, signal: AbortSignal): QueryOptions {
    const { maxTimeoutMs, defaultTimeoutMs, now } = this.#options;
    const { timeoutMs, priority, kernels, exactSums, caching, gatherBytesMax, subqueryRowsMax, subqueryBytesMax } = context;
    if (timeoutMs !== null && timeoutMs > maxTimeoutMs)
      throw new ServiceError(
        'query_invalid',
        `context.timeout: ${timeoutMs} ms is above the limit of svc.server.http.maxQueryTimeout, ${maxTimeoutMs} ms`,
      );
    const allowedMs = timeoutMs === null ? defaultTimeoutMs : timeoutMs === 0 ? maxTimeoutMs : timeoutMs;
    const limits = { deadlineMs: now() + allowedMs, gatherBytesMax, subqueryRowsMax, subqueryBytesMax };
    const { maxOnDiskStorage, perSegmentTimeoutMs, realtimeSegmentsOnly } = context;
    const bounds = { maxOnDiskStorage, perSegmentTimeoutMs, realtimeSegmentsOnly };
    return { queryId, ...limits, ...bounds, priority, kernels, exactSums, caching, signal };
  }
}

async function* only(frame: Frame): AsyncGenerator<Frame, void, undefined> {
  yield frame;
}
