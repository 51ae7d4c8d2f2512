// The routes of each role that a process plays.

import type { Log } from '../../base/log.js';
import type { ReadTask } from '../../cluster/overlord/submission.js';
import { type Cluster, logStorage } from '../../cluster/roles.js';
import type { Configuration } from '../../configuration/configuration.js';
import type { Role } from '../../configuration/properties.js';
import type { Tracer } from '../../model/tracing/span.js';
import type { Gate } from '../access/gate.js';
import { createAlias } from '../alias.js';
import type { Route } from '../http.types.js';
import { type Answerer, type AnswerOptions, createAnswerer } from '../responder.js';
import { brokerRoutes } from './broker.js';
import { compactionDutyRoutes, compactionRoutes } from './compaction.js';
import { segmentRoutes } from './coordinator/segments.js';
import { coordinatorRoutes } from './coordinator.js';
import { historicalRoutes } from './historical.js';
import { internalRoutes } from './internal.js';
import { leaderRoutes, onLeader } from './leader-only.js';
import { middleManagerRoutes } from './middlemanager.js';
import { overlordRoutes } from './overlord.js';
import { routerRoutes } from './router.js';
import { submissionRoutes } from './submissions.js';
import { workerConfigRoutes } from './worker-config.js';

export interface RoleRoutesOptions {
  readonly configuration: Configuration;
  readonly cluster: Cluster;
  readonly log: Log;
  readonly gate: Gate;
  /** Told of every request that is answered with an error. */
  readonly onRefused: AnswerOptions['onRefused'];
  /** Users, roles and group mappings. */
  readonly securityRoutes: readonly Route[];
  readonly readTask: ReadTask;
  /** Native and SQL queries, when this process has a broker. */
  readonly queryRoutes: readonly Route[];
  /** Told of the work for each query; undefined: nobody listens. */
  readonly tracer?: Tracer | undefined;
}

/** The routes of each role that this process plays; of another role, none. `/status` is not among them. */
export function roleRoutes(options: RoleRoutesOptions): (role: Role) => readonly Route[] {
  const { configuration, cluster, log, gate, onRefused, queryRoutes, readTask, securityRoutes, tracer } = options;
  const { database, coordination, client, peers, coordinator, overlord, sampling, broker, historical, middleManager, hostOf } = cluster;
  const scheme = configuration.get('svc.enableTlsPort') ? 'https' : 'http';
  const auditHistoryMs = configuration.get('svc.audit.manager.auditHistoryMillis');
  const routes = new Map<Role, readonly Route[]>();
  if (historical !== undefined) routes.set('historical', [...historicalRoutes(historical), ...internalRoutes('historical', historical)]);
  if (broker !== undefined) routes.set('broker', [...queryRoutes, ...brokerRoutes(broker), ...internalRoutes('broker', broker)]);
  if (middleManager !== undefined)
    routes.set('middleManager', [
      ...middleManagerRoutes(middleManager, hostOf('middleManager')),
      ...internalRoutes('middleManager', middleManager),
    ]);
  if (coordinator !== undefined) {
    const leading = { role: 'coordinator', scheme, coordination, leading: () => coordinator.leading } as const;
    routes.set('coordinator', [
      ...leaderRoutes('/svc/coordinator/v1', leading),
      ...onLeader(leading, [
        ...coordinatorRoutes({ coordinator, database, peers, auditHistoryMs, now: Date.now }),
        ...securityRoutes,
        ...compactionDutyRoutes({
          configs: coordinator.compaction.configs,
          coordinator: async () => coordinator,
          auditHistoryMs,
          now: Date.now,
        }),
      ]),
      ...internalRoutes('coordinator', coordinator),
    ]);
  }
  if (overlord !== undefined && sampling !== undefined) {
    const leading = { role: 'overlord', scheme, coordination, leading: () => overlord.leading } as const;
    const logs = { logDirectory: configuration.get('svc.indexer.logs.directory'), logStorage: logStorage(configuration) };
    const listsSegments = configuration.get('svc.indexer.auditLog.enabled');
    const isTls = configuration.get('svc.enableTlsPort');
    routes.set('overlord', [
      ...leaderRoutes('/svc/indexer/v1', leading),
      ...onLeader(leading, [
        ...overlordRoutes({
          overlord,
          coordinator: () => peers.leading('coordinator'),
          database,
          readTask,
          sampling,
          ...logs,
          listsSegments,
          isTls,
        }),
        ...compactionRoutes({
          configs: overlord.compactionConfigs,
          coordinator: async () => peers.leading('coordinator'),
          auditHistoryMs,
          now: Date.now,
        }),
        ...workerConfigRoutes({ overlord, auditHistoryMs, now: Date.now }),
        ...submissionRoutes({ database, auditHistoryMs, now: Date.now }),
        ...segmentRoutes('/svc/indexer/v1/datasources', {
          marking: overlord.marking,
          kill: (dataSource, interval) => overlord.kill(dataSource, interval),
        }),
      ]),
      ...internalRoutes('overlord', overlord),
    ]);
  }

  const answerers = new Map<Role, { readonly host: string; readonly answerer: Answerer }>();
  const alias = createAlias(configuration.get('svc.server.http.apiName'));
  for (const [role, own] of routes) {
    const host = hostOf(role);
    const answerer = createAnswerer({ routes: own, alias, host, gate, log: log.with({ role }), onRefused });
    answerers.set(role, { host, answerer });
  }
  routes.set('router', [
    ...routerRoutes({
      coordination,
      client,
      tracer,
      local: (role, host) => {
        const own = answerers.get(role);
        return own?.host === host ? own.answerer : undefined;
      },
    }),
  ]);
  return (role) => routes.get(role) ?? [];
}
