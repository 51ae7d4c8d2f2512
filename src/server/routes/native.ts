// Routes of native queries.

import { ServiceError } from '../../base/errors.js';
import { ETERNITY } from '../../base/instant.js';
import { condenseIntervals } from '../../base/interval.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { extended } from '../../base/names.js';
import type { BrokerQueries, QueryOptions, SegmentToRun } from '../../cluster/broker/contract.js';
import { Coverage } from '../../cluster/broker/coverage.js';
import type { Frame } from '../../model/frame.js';
import type { Plan, SegmentMetadataPlan } from '../../model/plan.js';
import type { Query } from '../../model/query.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { type PlannedNative, planNative } from '../../planner/native/plan-native.js';
import { tablesOf } from '../../planner/native/query/datasource.js';
import { parseQuery } from '../../planner/native/query/query.js';
import { type KnownTables, scanColumns } from '../../planner/plan.js';
import { tablesOf as sourceTables } from '../../planner/sql/explain/explain.js';
import { PlanWatch } from '../../planner/sql/plan-watch.js';
import { CallerTables } from '../access/caller-tables.js';
import { authorizeContext, NO_FURTHER_RIGHTS } from '../access/query-rights.js';
import { isUnderPolicy } from '../access/readable.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import { JSON_TYPES, readMediaType } from '../media-type.js';
import { PLANNED_HERE_LENGTH_MAX } from '../planning/plan-thread.js';
import type { NamedTables } from '../planning/schema-snapshot.js';
import type { QueryEntryOptions } from '../queries/query-entry.js';
import type { QueryRun } from '../queries/query-log.js';
import { writeBySegment } from '../results/native/by-segment.js';
import { candidatesBody } from '../results/native/candidates.js';
import { writeSegmentMetadata } from '../results/native/segment-metadata.js';
import { indentJson } from '../results/native/text-stream.js';
import { writeGroupBy, writeScan, writeTimeseries, writeTopN } from '../results/native/write-rows.js';
import { writeDataSourceMetadata, writeSearch, writeTimeBoundary } from '../results/native/write-small.js';
import { datasourceRoutes } from './datasources.js';
import { found, STATE_WRITE } from './exchange.js';
import { profileHeader } from './profile.js';

/** The native query endpoint: `POST /svc/v2`, its candidates, cancellation by query id, and what can be queried. */
export function nativeRoutes(broker: BrokerQueries, options: QueryEntryOptions): Route[] {
  const tables = new CallerTables(broker);
  const common = { permission: found('query'), errors: 'query' } as const;
  return [
    {
      method: 'POST',
      path: '/svc/v2',
      ...common,
      handle: async (request) => answerQuery(broker, options, request, tables.of(request.caller)),
    },
    {
      method: 'POST',
      path: '/svc/v2/candidates',
      ...common,
      permission: STATE_WRITE,
      handle: async (request) => findCandidates(broker, request),
    },
    {
      method: 'DELETE',
      path: '/svc/v2/{id}',
      ...common,
      // Accepted whether or not such a query still runs, as clients expect.
      handle: async ({ caller }, { id = '' }) => {
        if (options.log.mayCancel(id, caller, 'WRITE')) broker.cancel(id);
        return { status: 202 };
      },
    },
    ...datasourceRoutes(broker, options),
  ];
}

async function answerQuery(
  broker: BrokerQueries,
  options: QueryEntryOptions,
  request: HttpRequest,
  tables: NamedTables,
): Promise<HttpResponse> {
  const receivedMs = performance.now();
  const { body, viaAlias, signal } = request;
  if (body.length <= PLANNED_HERE_LENGTH_MAX)
    return runNative(broker, options, request, { tables, planned: planNative(readBody(request), viaAlias, tables), receivedMs });
  readMediaType(request.headers['content-type'], JSON_TYPES);
  const watch = new PlanWatch(receivedMs + options.defaultTimeoutMs);
  const planned = await options.planThread.planNative(body, viaAlias, tables, { watch, signal });
  return runNative(broker, options, request, { tables, planned, receivedMs });
}

interface AskedNative {
  readonly planned: PlannedNative;
  /** Tables as the sender of the query sees them. */
  readonly tables: KnownTables;
  /** `performance.now()` when the request came in. */
  readonly receivedMs: number;
}

function runNative(
  broker: BrokerQueries,
  options: QueryEntryOptions,
  request: HttpRequest,
  { planned, tables, receivedMs }: AskedNative,
): HttpResponse {
  const { context, query } = planned;
  authorizeContext(options.rights ?? NO_FURTHER_RIGHTS, request.caller, context.given);
  const queryId = context.queryId ?? options.newQueryId();
  const deadlineMs = options.now() + readTimeout(context.timeoutMs, options);
  const read = sourceTables(planned.source);
  const description = {
    queryId,
    queryType: query.queryType,
    dataSource: query.dataSource,
    tables: read,
    user: request.caller.identity.user,
    isUnderPolicy: isUnderPolicy(request.caller, read),
  };
  const sent = options.log.logsRequests ? { remoteAddress: request.remoteAddress, request, native: request.body } : undefined;
  const run = options.log.begin(description, receivedMs, sent, options.log.isTraced ? request.headers['traceparent'] : undefined);
  const { priority, kernels, exactSums, caching, lane, limits } = context;
  const asked = { priority, lane, dataSource: query.dataSource, intervals: planned.plans[0]?.intervals ?? [] };
  const coverage = Coverage.of(limits);
  const queryOptions = {
    queryId,
    traceparent: run.traceparent,
    deadlineMs,
    limits,
    kernels,
    exactSums,
    realtimeSegmentsOnly: context.realtimeSegmentsOnly,
    caching,
    profile: run.profile,
    coverage,
    signal: request.signal,
    onEnd: (reason: unknown) => run.end(reason),
  };
  const body = run.body(
    options.scheduler.during(asked, (granted) =>
      writeAnswer(broker, { planned, tables }, extended(queryOptions, { priority: granted }), run),
    ),
  );
  const warnings = [...context.warnings, ...planned.ignoredKeys.map((path) => `${path} is not a known key and was ignored`)];
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/json',
      'X-Svc-Query-Id': queryId,
      ...(warnings.length === 0 ? {} : { 'X-Svc-Warning': headerText(warnings.join('; ')) }),
    },
    lateHeaders: profileHeader(run, context.profile, coverage),
    ended: () => run.ended,
    body: request.query.has('pretty') ? indentJson(body) : body,
  };
}

function readTimeout(timeoutMs: number | null, { defaultTimeoutMs, maxTimeoutMs }: QueryEntryOptions): number {
  if (timeoutMs === null) return defaultTimeoutMs;
  if (timeoutMs > maxTimeoutMs)
    throw new ServiceError(
      'query_invalid',
      `context.timeout: ${timeoutMs} is above the ${maxTimeoutMs} ms of svc.server.http.maxQueryTimeout`,
    );
  return timeoutMs === 0 ? maxTimeoutMs : timeoutMs;
}

/** The answer as a whole, or one for each segment. */
function writeAnswer(
  broker: BrokerQueries,
  asked: Pick<AskedNative, 'planned' | 'tables'>,
  options: QueryOptions,
  run: QueryRun,
): AsyncIterable<string> {
  const { planned } = asked;
  const { source, plans, query, context } = planned;
  if (!context.bySegment) return writeResult(broker, asked, options, (plan) => run.frames(broker.runOver(plan, source, options)));
  if (source.kind !== 'table' || query.queryType === 'segmentMetadata')
    throw new ServiceError('unsupported', 'context.bySegment: only queries of the rows of one table have results by segment');
  const segments = broker.bySegment(source.name, plans[0] ?? { intervals: [] }, options);
  const results = (segment: SegmentToRun): AsyncIterable<string> =>
    writeResult(broker, asked, options, (plan) => run.frames(segment.run(plan)));
  return writeBySegment(segments, results, { timesAsLong: context.serializeDateTimeAsLong });
}

/** Frames to the JSON of the query's type. */
function writeResult(
  broker: BrokerQueries,
  { planned: { query, source, plans, context }, tables }: Pick<AskedNative, 'planned' | 'tables'>,
  queryOptions: QueryOptions,
  framesOf: (plan: Exclude<Plan, SegmentMetadataPlan>) => AsyncIterable<Frame>,
): AsyncIterable<string> {
  const writeOptions = { timesAsLong: context.serializeDateTimeAsLong, asArray: context.resultAsArray };
  // No interval of a plan means that no segment can have a row for it.
  const frames = (plan: Plan | undefined): AsyncIterable<Frame> =>
    plan === undefined || plan.operator === 'segmentMetadata' || plan.intervals.length === 0 ? noFrames() : framesOf(plan);
  const [plan, second] = plans;
  switch (query.queryType) {
    case 'timeseries':
      return writeTimeseries(query, frames(plan), second === undefined ? null : frames(second), writeOptions);
    case 'topN':
      return writeTopN(query, frames(plan), writeOptions);
    case 'groupBy':
      return writeGroupBy(query, inTurn(plans.map(frames)), writeOptions);
    case 'scan':
      return writeScan(
        query,
        plan?.operator === 'scan' ? scanColumns(plan) : [],
        frames(plan),
        knownColumns(query, tablesOf(source, tables)),
      );
    case 'search':
      return writeSearch(
        query,
        plans.map((each) => ({ dimension: searchedDimension(each), frames: frames(each) })),
        writeOptions,
      );
    case 'timeBoundary':
      return writeTimeBoundary(query, frames(plan), writeOptions);
    case 'dataSourceMetadata':
      return writeDataSourceMetadata(frames(plan), writeOptions);
    case 'segmentMetadata':
      return analyzed(plan?.operator === 'segmentMetadata' ? plan : undefined);
  }

  async function* analyzed(metadataPlan: SegmentMetadataPlan | undefined): AsyncIterable<string> {
    if (query.queryType !== 'segmentMetadata' || metadataPlan === undefined) return yield '[]';
    yield* writeSegmentMetadata(query, await broker.analyze(metadataPlan, queryOptions));
  }
}

/** Whether a name is that of a column which the rows of a query have. */
function knownColumns({ dataSource, virtualColumns }: Query, tables: KnownTables): (name: string) => boolean {
  const columns = [...(tables.table(dataSource)?.columns ?? []), ...virtualColumns];
  const names = new Set([TIME_COLUMN, ...columns.map(({ name }) => name)]);
  return (name) => names.has(name);
}

/** A search plan groups by its dimension last. */
function searchedDimension(plan: Plan): string {
  return (plan.operator === 'group' ? plan.keys.at(-1)?.name : undefined) ?? '';
}

/** One after the other: the next is asked for when the one before has ended. */
async function* inTurn(answers: readonly AsyncIterable<Frame>[]): AsyncIterable<Frame> {
  for (const frames of answers) yield* frames;
}

async function* noFrames(): AsyncIterable<Frame> {}

/** The segments a query would read and who serves them. */
function findCandidates(broker: BrokerQueries, request: HttpRequest): HttpResponse {
  const { query, source } = parseQuery(readBody(request), request.viaAlias, broker);
  if (source.kind !== 'table') throw new ServiceError('unsupported', `dataSource: candidates of anything but one table are not supported`);
  const asked = { ...query, intervals: condenseIntervals(query.intervals ?? [ETERNITY]) };
  const candidates = broker.candidates(query.dataSource, asked);
  const body = stringifyJson(candidatesBody(candidates, null), request.query.has('pretty') ? 2 : 0);
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
}

function readBody(request: HttpRequest): unknown {
  readMediaType(request.headers['content-type'], JSON_TYPES);
  return parseJson(request.body.toString('utf8'));
}

/** The string reduced to what a header can carry: printable ASCII of bounded length. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 2000);
}
