// Second step of a start: puts the roles of this process together.

import { join } from 'node:path';
import type { Log } from '../base/log.js';
import { schedulerOf } from '../cluster/broker/scheduling.js';
import { systemRows } from '../cluster/broker/system-tables.js';
import { type Cluster, createCluster, resultStorage } from '../cluster/roles.js';
import { CLUSTER_KEY_HEADER } from '../cluster/rpc/message.js';
import type { Configuration } from '../configuration/configuration.js';
import { ROLES, type Role } from '../configuration/properties.js';
import type { Engine } from '../execution/run/engine.js';
import { createEngine } from '../execution/run/local-engine.js';
import { claimSpillFolder } from '../execution/spill/spill-folder.js';
import type { Caller } from '../model/access/authorizer.js';
import type { Tracer } from '../model/tracing/span.js';
import type { SqlSchema } from '../planner/sql/catalog/schema.js';
import type { SystemTableName } from '../planner/sql/catalog/system-schema.js';
import { planSql } from '../planner/sql/plan-sql.js';
import { PlanWatch } from '../planner/sql/plan-watch.js';
import { createGate, type Gate } from '../server/access/gate.js';
import { itself, readable } from '../server/access/readable.js';
import { createAlias } from '../server/alias.js';
import { Avatica } from '../server/avatica/avatica.js';
import { AVATICA_CODECS } from '../server/avatica/codecs.js';
import type { AvaticaLimits } from '../server/avatica/connections.js';
import { AvaticaLogins } from '../server/avatica/logins.js';
import type { HttpRequest, Route } from '../server/http.types.js';
import { QueryMetrics } from '../server/metrics/query-metrics.js';
import { processMetrics, roleMetrics } from '../server/metrics/role-metrics.js';
import { PlanThread } from '../server/planning/plan-thread.js';
import { QueryLog } from '../server/queries/query-log.js';
import { queryRows } from '../server/queries/query-rows.js';
import type { RequestLog } from '../server/queries/request-log.js';
import { openRequestLog } from '../server/queries/request-sinks.js';
import { SqlStatements } from '../server/queries/sql-statements.js';
import { createQueryIds } from '../server/query-id.js';
import type { AnswerOptions } from '../server/responder.js';
import { avaticaRoutes } from '../server/routes/avatica.js';
import { whenReady } from '../server/routes/broker.js';
import { nativeRoutes } from '../server/routes/native.js';
import { profileRoutes } from '../server/routes/profile.js';
import { roleRoutes } from '../server/routes/roles.js';
import { securityRoutes } from '../server/routes/security/security-routes.js';
import { sqlRoutes } from '../server/routes/sql.js';
import { statusRoutes } from '../server/routes/status.js';
import { OtlpTracer } from '../server/tracing/otlp-tracer.js';
import type { Processing } from './open-processing.js';
import { Idleness } from './practice/idleness.js';
import { queryCounter } from './v8-flags.js';

/** The roles of this process, ready to be listened for. */
export interface OpenRoles {
  readonly gate: Gate;
  /** Told of every request that is answered with an error; undefined: nobody listens. */
  readonly onRefused: AnswerOptions['onRefused'];
  /** Headers that prove that a request comes from this cluster. */
  readonly processHeaders: Readonly<Record<string, string>>;
  readonly statusRoutes: readonly Route[];
  readonly routesOf: (role: Role) => readonly Route[];
  /** Announces the roles; to be called once the ports are open, because other processes call from then on. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Puts the parts of a process together, from the bottom up. */
export async function openRoles({
  configuration,
  processing,
  log,
  version,
}: {
  readonly configuration: Configuration;
  readonly processing: Processing;
  readonly log: Log;
  readonly version: string;
}): Promise<OpenRoles> {
  const spillFolder = claimSpillFolder(configuration.get('svc.query.groupBy.spillDirectory'));
  const engine = openEngine(configuration, processing, spillFolder);
  const planThread = new PlanThread(configuration.get('svc.broker.planning.maxQueued'));
  const readTask = (document: string) => planThread.readTask(document, Date.now());
  const readSampleLimits = (body: Uint8Array) => planThread.readSampleLimits(body);
  const tracer = openTracer(configuration, log, version);
  let cluster: Cluster;
  try {
    const options = { configuration, log, processing: { ...processing, engine }, readTask, readSampleLimits, version, tracer };
    cluster = await createCluster(options);
  } catch (error) {
    await engine.close();
    throw error;
  }
  const gate = gateOf(configuration, cluster);
  const security = securityRoutes(configuration, cluster, log.with({ part: 'access' }));
  const queryMetrics = new QueryMetrics();
  const requests = openRequestLog(configuration, log.with({ part: 'requests' }), Date.now);
  const idleness = new Idleness(engine.counters);
  const queries = openQueries(configuration, cluster, { planThread, queryMetrics, requests, log, tracer, asked: () => idleness.asked() });
  const ending = new AbortController();
  let practising = Promise.resolve();
  const onRefused: OpenRoles['onRefused'] = requests && ((request, error) => requests.refused(request, error));
  return {
    gate,
    onRefused,
    processHeaders: { [CLUSTER_KEY_HEADER]: cluster.clusterKey, ...cluster.access.escalator.headers },
    statusRoutes: [
      ...security.ofAll,
      ...statusRoutes({
        configuration,
        version,
        modules: modulesOf(configuration, version),
        selfDiscovered: () => cluster.coordination.discovered,
        metrics: async () => {
          const namespace = configuration.get('svc.emitter.prometheus.namespace');
          const ofQueries = cluster.broker === undefined ? '' : queryMetrics.write(namespace);
          return `${processMetrics()}${ofQueries}${await roleMetrics({ cluster, store: processing.store }, namespace)}`;
        },
      }),
    ],
    routesOf: roleRoutes({
      configuration,
      cluster,
      log,
      gate,
      onRefused,
      securityRoutes: security.ofLeader,
      readTask,
      queryRoutes: queries.routes,
      tracer,
    }),
    async start() {
      const started = cluster.start();
      // While segments are still being verified, or members written down, the SQL parser is loaded.
      if (cluster.broker !== undefined) planSql({ query: WARM_UP, context: {}, parameters: [] }, NO_TABLES, Date.now());
      await started;
      const isAsked = cluster.broker !== undefined || cluster.historical !== undefined;
      const practiceQueries = configuration.get('svc.processing.practiceQueries');
      if (!isAsked || practiceQueries === 0) return;
      const options = {
        processing,
        kernels: configuration.get('svc.processing.kernels'),
        folder: join(spillFolder, 'practice'),
        planThread,
        lookups: cluster.lookups,
        queries: practiceQueries,
        idleMs: () => idleness.ms,
        signal: ending.signal,
      };
      const begin = async () => (await import('./practice/practice.js')).practise(options);
      practising = begin().catch((error: unknown) => log.warn('practice ended early', { error }));
    },
    async stop() {
      ending.abort();
      await practising;
      await queries.stop();
      requests?.close();
      await cluster.stop();
      await planThread.stop();
      await engine.close();
      await tracer?.stop();
    },
  };
}

function gateOf(configuration: Configuration, { access, clusterKey }: Cluster): Gate {
  const alias = createAlias(configuration.get('svc.server.http.apiName'));
  return createGate({
    authentication: access.authentication,
    authorizers: access.authorizers,
    clusterKey,
    internalUser: access.escalator.user,
    unsecuredPaths: configuration.get('svc.auth.unsecuredPaths').map((path) => alias.path(path).path),
    loginPaths: Object.keys(AVATICA_CODECS),
  });
}

const NO_TABLES: SqlSchema = { tables: () => [], table: () => undefined };

/** Goes through every step that a statement goes through. */
const WARM_UP = "SELECT k, SUM(v) AS s FROM (VALUES ('a', 1), ('b', 2)) AS t (k, v) GROUP BY 1 ORDER BY 2 DESC LIMIT 1";

/** The threads run on after it is closed. */
function openEngine(
  configuration: Configuration,
  { memory, threads, makeRoom }: Processing,
  spillDirectory: string,
): Engine & { close(): Promise<void> } {
  return createEngine({
    kernels: configuration.get('svc.processing.kernels'),
    memory,
    threads: threads ?? 0,
    makeRoom,
    queryBytesMax: configuration.get('svc.query.maxMemoryBytes'),
    groupBytesMax: configuration.get('svc.query.groupBy.maxMemoryBytes'),
    spillDirectory,
    spillBytesMax: configuration.get('svc.query.groupBy.maxOnDiskStorage'),
    heldRowsMax: configuration.get('svc.query.scan.maxRowsQueuedForOrdering'),
  });
}

interface Queries {
  readonly routes: readonly Route[];
  /** Ends what lives longer than a request. */
  stop(): Promise<void>;
}

function openQueries(
  configuration: Configuration,
  { access, broker, peers, coordination, client, hostOf }: Cluster,
  {
    planThread,
    queryMetrics,
    requests,
    log: processLog,
    tracer,
    asked,
  }: {
    readonly planThread: PlanThread;
    readonly queryMetrics: QueryMetrics;
    readonly requests: RequestLog | undefined;
    readonly log: Log;
    readonly tracer: Tracer | undefined;
    /** Told of each query. */
    asked(): void;
  },
): Queries {
  if (broker === undefined) return { routes: [], async stop() {} };
  const countQuery = queryCounter();
  const log = new QueryLog({
    kept: configuration.get('svc.query.profile.kept'),
    now: Date.now,
    onQuery() {
      asked();
      countQuery();
    },
    requests,
    metrics: queryMetrics,
    tracer,
  });
  const options = {
    planThread,
    now: Date.now,
    newQueryId: createQueryIds(),
    defaultTimeoutMs: configuration.get('svc.server.http.defaultQueryTimeout'),
    maxTimeoutMs: configuration.get('svc.server.http.maxQueryTimeout'),
    scheduler: schedulerOf(configuration, broker, Date.now),
    rights: {
      authorizesContext: configuration.get('svc.auth.authorizeQueryContextParams'),
      unsecuredKeys: configuration.get('svc.auth.unsecuredContextKeys'),
      securedKeys: configuration.get('svc.auth.securedContextKeys'),
      authorizesSystemTables: configuration.get('svc.sql.planner.authorizeSystemTablesDirectly'),
    },
    log,
  };
  const known = {
    lookups: () => broker.lookups.names(),
    systemRows: (table: SystemTableName, caller: Caller) =>
      systemRows(
        {
          ...{ coordination, peers, client, roles: ROLES, isTls: configuration.get('svc.enableTlsPort') },
          readable: caller.isUnrestricted ? null : (names) => readable(caller, names, itself),
          queries: () => queryRows(log, caller),
          segmentsTable: (live) => broker.segmentsTable(live),
        },
        table,
      ),
  };
  const plansBytesMax = configuration.get('svc.broker.plans.maxBytes');
  const statements = new SqlStatements(broker, { ...options, ...known, plansBytesMax });
  const avatica = new Avatica(statements, avaticaLimits(configuration));
  const readLong = (path: string, { body, signal }: HttpRequest, receivedMs: number) =>
    planThread.readAvatica(path, body, { watch: new PlanWatch(receivedMs + options.defaultTimeoutMs), signal });
  const logins = new AvaticaLogins({
    login: async (credentials, remoteAddress) => access.authorizers.callerOf(await access.authentication.login(credentials, remoteAddress)),
    stranger: async (request) => access.authorizers.callerOf(await access.authentication.identify(request)),
  });
  const jdbc = configuration.get('svc.sql.avatica.enable')
    ? avaticaRoutes(avatica, { host: hostOf('broker'), log: processLog.with({ role: 'broker' }), logins, readLong })
    : [];
  const sql = sqlRoutes(statements, {
    overlord: () => peers.leading('overlord'),
    results: resultStorage(configuration),
    bodiesBytesMax: configuration.get('svc.broker.requests.maxBytes'),
  });
  return {
    routes: [...whenReady(broker, [...nativeRoutes(broker, options), ...sql, ...jdbc]), ...profileRoutes(log)],
    async stop() {
      avatica.stop();
    },
  };
}

/** Sends spans where the configuration says so; undefined: nowhere. */
function openTracer(configuration: Configuration, log: Log, version: string): OtlpTracer | undefined {
  const endpoint = configuration.get('svc.emitter.opentelemetry.endpoint');
  const roles = configuration.roles();
  const instance = `${configuration.get('svc.host')}:${roles.map((role) => configuration.port(role)).join(',')} ${roles.join(',')}`;
  return endpoint === '' ? undefined : new OtlpTracer({ endpoint, instance, version, log: log.with({ part: 'tracing' }) });
}

function avaticaLimits(configuration: Configuration): AvaticaLimits {
  return {
    maxConnections: configuration.get('svc.sql.avatica.maxConnections'),
    maxStatementsPerConnection: configuration.get('svc.sql.avatica.maxStatementsPerConnection'),
    maxRowsPerFrame: configuration.get('svc.sql.avatica.maxRowsPerFrame'),
    minRowsPerFrame: configuration.get('svc.sql.avatica.minRowsPerFrame'),
    connectionIdleTimeoutMs: configuration.get('svc.sql.avatica.connectionIdleTimeout'),
    fetchTimeoutMs: configuration.get('svc.sql.avatica.fetchTimeoutMs'),
  };
}

function modulesOf(
  configuration: Configuration,
  version: string,
): readonly { readonly name: string; readonly artifact: string; readonly version: string }[] {
  return [{ name: 'kernels', artifact: configuration.get('svc.processing.kernels'), version }];
}
