// Listens on the ports of the roles.

import { ServiceError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { serverFilesState, serverTls } from '../cluster/rpc/tls-material.js';
import type { Configuration } from '../configuration/configuration.js';
import type { Role } from '../configuration/properties.js';
import type { Gate } from './access/gate.js';
import { BodyBudget } from './body-intake.js';
import { type HttpServer, type ServeOptions, serve } from './http.js';
import type { Route } from './http.types.js';
import { LoopWatch } from './loop-watch.js';

export interface RoleServersOptions {
  readonly configuration: Configuration;
  readonly gate: Gate;
  readonly log: Log;
  /** Routes of a role without those of `/status`, which every port answers once. */
  readonly routesOf: (role: Role) => Iterable<Route>;
  readonly statusRoutes: Iterable<Route>;
  /** Told of every request that is answered with an error. */
  readonly onRefused?: ServeOptions['onRefused'];
}

/** The listening ports of a process. */
export interface RoleServers {
  /** `http://host:port` of the Router, or of the first role when the process has none. */
  readonly url: string;
  /** The roles are ready: from now on it is noticed when the event loop is late. */
  ready(): void;
  close(graceMs: number): Promise<void>;
}

/**
 * Listens for the roles of this process, one server for each port: Coordinator and Overlord share theirs by default.
 * @throws ServiceError `unavailable` when a port is taken; nothing listens then
 */
export async function listenForRoles({
  configuration,
  gate,
  log,
  routesOf,
  statusRoutes,
  onRefused,
}: RoleServersOptions): Promise<RoleServers> {
  const isPlain = configuration.get('svc.enablePlaintextPort');
  const tls = serverTls(configuration);
  if (!isPlain && tls === undefined)
    throw new ServiceError('input_invalid', 'property svc.enablePlaintextPort: found false, expected true unless svc.enableTlsPort is');
  const rolesByPort = new Map<number, Role[]>();
  const securePorts = new Set<number>();
  for (const role of configuration.roles()) {
    if (tls !== undefined) securePorts.add(configuration.tlsPort(role));
    const ports = [...(isPlain ? [configuration.port(role)] : []), ...(tls === undefined ? [] : [configuration.tlsPort(role)])];
    for (const port of ports) rolesByPort.set(port, [...(rolesByPort.get(port) ?? []), role]);
  }
  const host = configuration.get('svc.host');
  const bodies = new BodyBudget(configuration.get('svc.server.http.maxRequestBytesInFlight'));
  const servers: HttpServer[] = [];
  const watch = new LoopWatch(configuration.get('svc.server.eventLoop.lateTime'), log);
  const renewal = tls === undefined ? undefined : renewed(configuration, servers, log);
  const close = async (graceMs: number) => {
    clearInterval(renewal);
    await Promise.all(servers.map((server) => server.close(graceMs)));
    watch.stop();
  };
  try {
    for (const [port, roles] of rolesByPort) {
      servers.push(
        await serve({
          routes: watch.watched([...roles.flatMap((role) => [...routesOf(role)]), ...statusRoutes]),
          host,
          port,
          ...(tls !== undefined && securePorts.has(port) ? { tls } : {}),
          maxRequestBytes: configuration.get('svc.server.http.maxRequestBytes'),
          bodies,
          allowedHosts: configuration.get('svc.server.http.allowedHosts'),
          compressionLevel: configuration.get('svc.server.http.compressionLevel'),
          maxIdleMs: configuration.get('svc.server.http.maxIdleTime'),
          apiName: configuration.get('svc.server.http.apiName'),
          gate,
          onRefused,
          log: log.with({ port }),
        }),
      );
    }
  } catch (error) {
    await close(0);
    if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
    throw new ServiceError('unavailable', `${error.message}; --port-offset moves all ports, svc.<role>.port one of them`, error);
  }
  const [role] = configuration.roles().filter((each, _, all) => each === 'router' || !all.includes('router'));
  const front = role === undefined ? 0 : isPlain ? configuration.port(role) : configuration.tlsPort(role);
  return { url: `${isPlain ? 'http' : 'https'}://${host}:${front}`, ready: () => watch.start(), close };
}

/** Reads certificates and keys again when their files have changed; ones that cannot be used leave those before in force. */
function renewed(configuration: Configuration, servers: readonly HttpServer[], log: Log): NodeJS.Timeout | undefined {
  if (!configuration.get('svc.server.https.reloadSslContext')) return undefined;
  let state = serverFilesState(configuration);
  const look = (): void => {
    try {
      const found = serverFilesState(configuration);
      if (found === state) return;
      const tls = serverTls(configuration);
      if (tls !== undefined) for (const server of servers) server.renew(tls);
      state = found;
      log.info('certificates were read again');
    } catch (error) {
      log.error('changed certificates cannot be used; those before stay in force', { error });
    }
  };
  const timer = setInterval(look, configuration.get('svc.server.https.reloadSslContextSeconds') * 1000);
  timer.unref();
  return timer;
}
