// Puts together the routes of users, roles and group mappings.

import type { Log } from '../../../base/log.js';
import { tellOfChange } from '../../../cluster/access/notice.js';
import { leaderStore } from '../../../cluster/access/store.js';
import type { Cluster } from '../../../cluster/roles.js';
import type { Configuration } from '../../../configuration/configuration.js';
import type { Route } from '../../http.types.js';
import { authenticationRoutes } from './authentication.js';
import { authorizationRoutes } from './authorization.js';
import { CHANGED_PATH, loadStatusRoutes } from './load-status.js';

export interface SecurityRoutes {
  /** Routes of the leading Coordinator; none in a process without one. */
  readonly ofLeader: readonly Route[];
  /** Routes of every process. */
  readonly ofAll: readonly Route[];
}

export function securityRoutes(configuration: Configuration, cluster: Cluster, log: Log): SecurityRoutes {
  const { access, coordinator, database, client, peers, hostOf } = cluster;
  const { directory, hasher } = access;
  const ours = new Set(configuration.roles().map(hostOf));
  const hosts = () => peers.hosts().filter((host) => !ours.has(host));
  const tell = (owner?: string) => tellOfChange({ configuration, directory, client, hosts, path: CHANGED_PATH, log }, owner);
  const iterations = new Map(
    configuration
      .named('svc.auth.authenticator')
      .filter((each) => each.type === 'basic' && each['credentialsValidator.type'] === 'metadata')
      .map(({ name, credentialIterations }) => [name, credentialIterations]),
  );
  const authorizers = configuration
    .named('svc.auth.authorizer')
    .filter(({ type }) => type === 'basic')
    .map(({ name }) => name);
  const shared = { directory, iterations, authorizers, refreshAll: () => tell() };
  if (coordinator === undefined) return { ofLeader: [], ofAll: loadStatusRoutes(shared) };
  const source = { ...shared, hasher, store: leaderStore(database, () => coordinator.fence(), tell) };
  return { ofLeader: [...authenticationRoutes(source), ...authorizationRoutes(source)], ofAll: loadStatusRoutes(shared) };
}
