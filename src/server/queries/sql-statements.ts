// Plans and runs SQL statements, for HTTP and JDBC.

import { type CancelSignal, platformSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import { extended } from '../../base/names.js';
import type { BrokerQueries, QueryOptions, TableSchema } from '../../cluster/broker/contract.js';
import type { Coverage } from '../../cluster/broker/coverage.js';
import { type Caller, demand } from '../../model/access/authorizer.js';
import type { Frame } from '../../model/frame.js';
import { externalsOf } from '../../model/row-source.js';
import type { OutputColumn, PlannedQuery, PlannedStatement, StatementSchema } from '../../model/statement.js';
import { type UnknownParameter, unknownParameters } from '../../planner/sql/bind/parameters.js';
import type { SqlSchema } from '../../planner/sql/catalog/schema.js';
import { rememberedSchema } from '../../planner/sql/catalog/statement-schema.js';
import type { SystemRows, SystemTableName } from '../../planner/sql/catalog/system-schema.js';
import type { SqlContext } from '../../planner/sql/context.js';
import { EXPLAIN_COLUMNS, tablesOf } from '../../planner/sql/explain/explain.js';
import { resourcesOf } from '../../planner/sql/explain/resources.js';
import { PlanCache, planKey } from '../../planner/sql/plan-cache.js';
import { planOverSystem } from '../../planner/sql/plan-over-system.js';
import { planSql, type SqlRequest } from '../../planner/sql/plan-sql.js';
import { PlanWatch } from '../../planner/sql/plan-watch.js';
import { checkTypeChanges } from '../../planner/sql/type-changes.js';
import { CallerTables } from '../access/caller-tables.js';
import { authorizeContext, authorizeSystemTable, NO_FURTHER_RIGHTS, type QueryRights } from '../access/query-rights.js';
import { isUnderPolicy, mayHandle } from '../access/readable.js';
import { rowsFor } from '../access/system-rows.js';
import { PLANNED_HERE_LENGTH_MAX, type PlanThread } from '../planning/plan-thread.js';
import type { QueryEntryOptions } from './query-entry.js';
import type { Planning, QueryRun } from './query-log.js';
import type { LoggedRequest } from './request-log.js';
import type { SqlBody, SqlBodyText } from './sql-body.js';

export interface SqlStatementOptions extends QueryEntryOptions {
  /** Budget of the plan cache; a typical plan takes about 10 KiB. */
  readonly plansBytesMax: number;
  /** Names of the lookups that are loaded. */
  lookups(): readonly string[];
  /** Rows of a table of `sys`, as they are now; of queries, those that the caller may see. */
  systemRows(table: SystemTableName, caller: Caller): Promise<SystemRows>;
  /** Name of the datasource schema under the alias; default `druid`. */
  readonly aliasSchemaName?: string;
}

/** Planning looks at each column of a table some times: one may cost what so many characters of the statement do. */
const CHARACTERS_FOR_COLUMN = 16;

/** More are written in slices, between which the event loop gets its turn. */
const CELLS_AT_ONCE_MAX = 2000;

export type Ingestion = Extract<PlannedStatement, { readonly kind: 'insert' | 'replace' | 'export' }>;

export function isIngestion(statement: PlannedStatement): statement is Ingestion {
  return statement.kind === 'insert' || statement.kind === 'replace' || statement.kind === 'export';
}

/** Statements that return rows. */
export type Answerable = Exclude<PlannedStatement, Ingestion>;

export interface StatementRun {
  /** For messages and `sys.queries`. */
  readonly sql: string;
  readonly read: SqlContext;
  readonly caller: Caller;
  readonly sqlQueryId: string;
  /** `performance.now()` when the request came in. */
  readonly receivedMs: number;
  /** Time that planning took; absent when the plan came from the cache. */
  readonly watch?: PlanWatch | undefined;
  /** Ends the query. */
  readonly signal: CancelSignal;
  /** For the request log. */
  readonly request?: LoggedRequest | undefined;
  /** The header that came with it. */
  readonly traceparent?: string | undefined;
  readonly coverage?: Coverage | undefined;
}

/** Limits on planning a statement. */
export interface PlanLimits {
  /** Who sent the statement. */
  readonly caller: Caller;
  readonly watch: PlanWatch;
  /** Id under which planning can be cancelled. */
  readonly sqlQueryId?: string | null;
  /** Ends it; asked for only where it can come between. */
  readonly signal?: () => CancelSignal;
}

/** A statement that needs nothing to run. */
export interface KnownAnswer {
  readonly text: string;
  readonly logged: QueryRun;
}

export interface RunningStatement {
  readonly columns: readonly OutputColumn[];
  /** Frames of the result, to be read to the end or left early inside of `logged.body`. */
  readonly frames: AsyncIterable<Frame>;
  readonly logged: QueryRun;
}

/** SQL statements, planned and run for whichever protocol they came in by. */
export class SqlStatements {
  readonly #broker: BrokerQueries;
  readonly #options: SqlStatementOptions;
  readonly #plans: PlanCache;
  readonly #tables: CallerTables<TableSchema>;
  readonly #lookups: Required<Pick<SqlSchema, 'lookups'>>;
  /** The schema of those who may read everything. */
  readonly #whole: SqlSchema;
  readonly #schemas = new WeakMap<Caller, SqlSchema>();
  readonly #thread: PlanThread;
  /** Long statements. */
  readonly #beingPlanned = new Set<{ readonly sqlQueryId: string | null; readonly user: string; readonly cancelling: AbortController }>();

  constructor(broker: BrokerQueries, options: SqlStatementOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#thread = options.planThread;
    this.#plans = new PlanCache(options.plansBytesMax);
    this.#tables = new CallerTables(broker);
    this.#lookups = { lookups: () => options.lookups() };
    this.#whole = { tables: () => broker.tables(), table: (name) => broker.table(name), ...this.#lookups };
  }

  newQueryId(): string {
    return this.#options.newQueryId();
  }

  /** Whether requests are logged. */
  get logsRequests(): boolean {
    return this.#options.log.logsRequests;
  }

  /** Logs a statement that was handed over as a task. */
  get isTraced(): boolean {
    return this.#options.log.isTraced;
  }

  handedOver(request: LoggedRequest, caller: Caller, taskId: string, receivedMs: number): void {
    this.#options.log.handedOver(request, caller, taskId, receivedMs);
  }

  /** Logs a statement that was refused before it ran. */
  refused(request: LoggedRequest, caller: Caller, thrown: unknown): void {
    this.#options.log.refused(request, caller, thrown);
  }

  get #rights(): QueryRights {
    return this.#options.rights ?? NO_FURTHER_RIGHTS;
  }

  /** @throws ServiceError `forbidden` unless the caller may set each key of a context */
  authorizeContext(context: SqlRequest['context'], caller: Caller): void {
    authorizeContext(this.#rights, caller, context);
  }

  /** False when no query has this id. Throws `forbidden` for one that the caller neither sent nor may read all of. */
  cancel(sqlQueryId: string, caller: Caller): boolean {
    const planned = [...this.#beingPlanned].filter((each) => each.sqlQueryId === sqlQueryId && mayHandle(caller, each.user, 'WRITE'));
    const isRunning = this.#options.log.mayCancel(sqlQueryId, caller, 'READ');
    for (const { cancelling } of planned) cancelling.abort(new ServiceError('cancelled', 'the query was cancelled'));
    return (isRunning && this.#broker.cancel(sqlQueryId)) || planned.length > 0;
  }

  /** @param viaAlias  the client calls the schema of datasources by the alias */
  async plan(request: SqlRequest, viaAlias: boolean, limits: PlanLimits): Promise<PlannedStatement> {
    const statement = await this.#planned(request, viaAlias, limits);
    demand(limits.caller, resourcesOf(statement));
    return statement;
  }

  #planned(request: SqlRequest, viaAlias: boolean, limits: PlanLimits): Promise<PlannedStatement> {
    const { caller } = limits;
    const { now } = this.#options;
    const schema = this.#schemaOf(caller);
    const systemRows = (table: SystemTableName) => {
      authorizeSystemTable(this.#rights, caller, table);
      return rowsFor(caller, table, this.#options.systemRows);
    };
    const asked = extended(this.#named(request, viaAlias), { watch: limits.watch });
    if (this.#isPlannedHere(request.query)) return planOverSystem(schema, systemRows, (over) => this.#plans.plan(asked, over, now()));
    return this.#cancellable(limits, (signal) =>
      planOverSystem(schema, systemRows, (over) =>
        this.#plans.planElsewhere(asked, over, (watched) => this.#thread.plan(asked, watched, now(), { watch: limits.watch, signal })),
      ),
    );
  }

  /** A short statement over tables of few columns. */
  #isPlannedHere(query: string): boolean {
    if (query.length > PLANNED_HERE_LENGTH_MAX) return false;
    const words = /INFORMATION_SCHEMA/i.test(query) ? this.#whole.tables() : new Set(query.match(/[A-Za-z_]\w*|"(?:[^"]|"")*"/g));
    let columns = 0;
    for (const word of words) columns += this.#whole.table(word.startsWith('"') ? word.slice(1, -1) : word)?.columns.length ?? 0;
    return query.length + columns * CHARACTERS_FOR_COLUMN <= PLANNED_HERE_LENGTH_MAX;
  }

  /** Found by its id while it is planned. */
  async #cancellable<Result>({ caller, sqlQueryId, signal }: PlanLimits, work: (signal: CancelSignal) => Promise<Result>): Promise<Result> {
    const cancelling = new AbortController();
    const being = { sqlQueryId: sqlQueryId ?? null, user: caller.identity.user, cancelling };
    this.#beingPlanned.add(being);
    try {
      return await work(signal === undefined ? cancelling.signal : AbortSignal.any([cancelling.signal, platformSignal(signal())]));
    } finally {
      this.#beingPlanned.delete(being);
    }
  }

  /** Stand-ins for the `?` of a statement. */
  async unknownParameters(query: string, limits: PlanLimits): Promise<readonly UnknownParameter[]> {
    if (query.length <= PLANNED_HERE_LENGTH_MAX) return unknownParameters(query);
    return this.#cancellable(limits, (signal) => this.#thread.unknownParameters(query, { watch: limits.watch, signal }));
  }

  /** A long body, read on the thread. */
  readLong(body: SqlBodyText, receivedMs: number, signal: CancelSignal): Promise<SqlBody> {
    return this.#thread.readSqlBody(body, { watch: new PlanWatch(receivedMs + this.#options.defaultTimeoutMs), signal });
  }

  /** Like `plan`, and also returns the schema it used: a task has no broker to ask. */
  async planForTask(
    request: SqlRequest,
    viaAlias: boolean,
    limits: PlanLimits,
  ): Promise<{ readonly statement: PlannedStatement; readonly schema: StatementSchema }> {
    const { schema, asked } = rememberedSchema(this.#schemaOf(limits.caller));
    const { watch } = limits;
    const named = { ...this.#named(request, viaAlias), watch };
    const now = this.#options.now();
    const statement = this.#isPlannedHere(request.query)
      ? planSql(named, schema, now)
      : await this.#cancellable(limits, (signal) => this.#thread.plan(named, schema, now, { watch, signal }));
    demand(limits.caller, resourcesOf(statement));
    if (statement.kind === 'insert' || statement.kind === 'replace')
      checkTypeChanges(statement, this.#schemaOf(limits.caller).table(statement.dataSource)?.columns ?? [], request.context);
    return { statement, schema: asked() };
  }

  /** Key of the plan for `plannedBefore`; null when the plan is not cached. */
  planKey(request: SqlRequest, viaAlias: boolean): string | null {
    return planKey(this.#named(request, viaAlias));
  }

  /** A plan that still holds. */
  plannedBefore(key: string | null, caller: Caller): PlannedStatement | undefined {
    return key === null ? undefined : this.#allowed(this.#plans.find(key, this.#schemaOf(caller)), caller);
  }

  /** A plan that was made of another statement's, of the same shape. */
  plannedByShape(
    request: SqlRequest,
    key: string | null,
    viaAlias: boolean,
    { watch, caller }: Pick<PlanLimits, 'watch' | 'caller'>,
  ): PlannedStatement | undefined {
    const { query, context, parameters, schemaName } = viaAlias ? this.#named(request, viaAlias) : request;
    const asked = { query, context, parameters, watch, ...(schemaName === undefined ? {} : { schemaName }) };
    return this.#allowed(this.#plans.fill(asked, key, this.#schemaOf(caller), this.#options.now()), caller);
  }

  #schemaOf(caller: Caller): SqlSchema {
    if (caller.isUnrestricted) return this.#whole;
    let schema = this.#schemas.get(caller);
    if (schema === undefined) {
      schema = { ...this.#tables.of(caller), ...this.#lookups };
      this.#schemas.set(caller, schema);
    }
    return schema;
  }

  #allowed(statement: PlannedStatement | undefined, caller: Caller): PlannedStatement | undefined {
    if (statement !== undefined && !caller.isUnrestricted) demand(caller, resourcesOf(statement));
    return statement;
  }

  #named(request: SqlRequest, viaAlias: boolean): SqlRequest {
    return viaAlias ? { ...request, schemaName: this.#options.aliasSchemaName ?? 'druid' } : request;
  }

  /** The whole answer at once, when the result is known and short; else undefined, and it is to be run. */
  answerKnown(
    statement: Answerable,
    asked: Omit<StatementRun, 'signal'>,
    write: (frames: readonly Frame[], columns: readonly OutputColumn[]) => string,
  ): KnownAnswer | undefined {
    if (statement.kind === 'explain' || externalsOf(statement.source).length > 0) return undefined;
    const { plan, source, columns } = statement;
    const { read } = asked;
    const frames = this.#broker.knownResult(plan, source, read);
    if (frames === undefined) return undefined;
    const rows = frames.reduce((sum, { rowCount }) => sum + rowCount, 0);
    if (rows * columns.length > CELLS_AT_ONCE_MAX) return undefined;
    this.#allowedMs(read);
    const tables = tablesOf(source);
    const [dataSource = ''] = tables;
    const logged = this.#begin(tables, asked);
    logged.profile.resultCacheHits++;
    const text = logged.whole(rows, () => {
      // A known answer takes no time, but it is refused like any other when the scheduler admits nothing.
      this.#options.scheduler.pass({ priority: read.priority, lane: read.lane, dataSource, intervals: plan.intervals });
      return write(frames, columns);
    });
    return { text, logged };
  }

  /** The query begins when its first frame is asked for. */
  run(statement: Answerable, asked: StatementRun): RunningStatement {
    const { read, sqlQueryId, signal, coverage } = asked;
    const deadlineMs = this.#options.now() + this.#allowedMs(read);
    const tables = statement.kind === 'explain' ? statement.tables : tablesOf(statement.source);
    const [dataSource = ''] = tables;
    const logged = this.#begin(tables, asked);
    if (statement.kind === 'explain') return { columns: EXPLAIN_COLUMNS, frames: logged.frames(only(statement.frame)), logged };
    const { profile } = logged;
    const onEnd = (reason: unknown) => logged.end(reason);
    const frames = this.#options.scheduler.during(
      { priority: read.priority, lane: read.lane, dataSource, intervals: statement.plan.intervals },
      (priority) =>
        this.#frames(
          statement,
          extended(queryOptions(read, { queryId: sqlQueryId, deadlineMs, priority, signal, profile, onEnd }), {
            coverage,
            traceparent: logged.traceparent,
          }),
        ),
    );
    return { columns: statement.columns, frames: logged.frames(frames), logged };
  }

  /** The statement's entry in the log of queries. */
  #begin(
    tables: readonly string[],
    { sql, caller, sqlQueryId, receivedMs, watch, request, traceparent }: Omit<StatementRun, 'signal'>,
  ): QueryRun {
    return this.#options.log.begin(
      {
        queryId: sqlQueryId,
        queryType: 'sql',
        dataSource: tables[0] ?? null,
        sql,
        planning: planningOf(watch),
        tables,
        user: caller.identity.user,
        isUnderPolicy: isUnderPolicy(caller, tables),
      },
      receivedMs,
      request,
      traceparent,
    );
  }

  #frames({ plan, source }: PlannedQuery, options: QueryOptions): AsyncIterable<Frame> {
    if (externalsOf(source).length > 0)
      throw new ServiceError('unsupported', 'TABLE(EXTERN(...)) is read by INSERT and REPLACE on /svc/v2/sql/task only');
    return source.kind === 'table' ? this.#broker.run(plan, options) : this.#broker.runOver(plan, source, options);
  }

  /** Planning counts in the time that a statement may take. */
  planWatch(read: SqlContext, receivedMs: number): PlanWatch {
    return new PlanWatch(receivedMs + this.#allowedMs(read));
  }

  #allowedMs({ timeoutMs }: SqlContext): number {
    const { maxTimeoutMs, defaultTimeoutMs } = this.#options;
    if (timeoutMs !== null && timeoutMs > maxTimeoutMs)
      throw new ServiceError(
        'query_invalid',
        `context.timeout: ${timeoutMs} ms is above the limit of svc.server.http.maxQueryTimeout, ${maxTimeoutMs} ms`,
      );
    return timeoutMs === null ? defaultTimeoutMs : timeoutMs === 0 ? maxTimeoutMs : timeoutMs;
  }
}

function queryOptions(
  { kernels, exactSums, caching, limits, realtimeSegmentsOnly }: SqlContext,
  {
    queryId,
    deadlineMs,
    priority,
    signal,
    profile,
    onEnd,
  }: Required<Pick<QueryOptions, 'queryId' | 'deadlineMs' | 'priority' | 'signal' | 'profile' | 'onEnd'>>,
): QueryOptions {
  return { queryId, deadlineMs, limits, realtimeSegmentsOnly, priority, kernels, exactSums, caching, signal, profile, onEnd };
}

const FOUND: Planning = { cached: true, stages: [] };

/** Planning figures of a statement; a watch without stages means that another request had made the plan. */
function planningOf(watch: PlanWatch | undefined): Planning {
  return watch === undefined || watch.stages.length === 0 ? FOUND : { cached: false, stages: watch.stages };
}

async function* only(frame: Frame): AsyncGenerator<Frame, void, undefined> {
  yield frame;
}
