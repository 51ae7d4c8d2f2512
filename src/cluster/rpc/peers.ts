// Finds the peers of a role: local objects, or clients of the same interface over HTTP.

import { type Clock, SYSTEM_CLOCK } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import { ROLES } from '../../configuration/properties.js';
import type { Coordination } from '../membership/coordination.js';
import { DESCRIPTIONS, type RpcRole, type RpcServices } from './descriptions.js';
import type { HttpClient } from './http-client.js';
import { remoteService } from './remote.js';

/** Processes of tasks are announced as those of roles are, by the MiddleManager that runs them. */
export const TASK_ROLE = 'task' satisfies RpcRole;

/** Gives a role its peers: the object itself when it lives in this process, else a client of the same interface. */
export class Peers {
  readonly #client: Pick<HttpClient, 'send'>;
  readonly #clock: Clock;
  readonly #coordination: Coordination;
  readonly #services = new Map<string, object>();
  readonly #here = new Set<string>();

  constructor(parts: { readonly client: Pick<HttpClient, 'send'>; readonly coordination: Coordination; readonly clock?: Clock }) {
    this.#client = parts.client;
    this.#clock = parts.clock ?? SYSTEM_CLOCK;
    this.#coordination = parts.coordination;
  }

  /** Makes a role of this process reachable without HTTP. */
  offer<Role extends RpcRole>(role: Role, host: string, service: RpcServices[Role]): void {
    this.#services.set(`${role}/${host}`, service);
    this.#here.add(`${role}/${host}`);
  }

  /** Whether the role plays in this process: it shares its memory. */
  isHere(role: RpcRole, host: string): boolean {
    return this.#here.has(`${role}/${host}`);
  }

  at<Role extends RpcRole>(role: Role, host: string): RpcServices[Role] {
    const key = `${role}/${host}`;
    const known = this.#services.get(key);
    // The key begins with the role, and both writers of the map keep to it.
    if (known !== undefined) return known as RpcServices[Role];
    const remote = remoteService<RpcServices[Role]>(DESCRIPTIONS[role], this.#client, { role, host }, this.#clock);
    this.#services.set(key, remote);
    return remote;
  }

  /** @throws ServiceError `unavailable` while no leader is known */
  leading<Role extends 'coordinator' | 'overlord'>(role: Role): RpcServices[Role] {
    const leader = this.#coordination.leader(role);
    if (leader === undefined) throw new ServiceError('unavailable', `no ${role} leads at the moment`);
    return this.at(role, leader.host);
  }

  /** `host:port` of everyone announced, in whatever role. */
  hosts(): readonly string[] {
    return [...ROLES, TASK_ROLE].flatMap((role) => this.#coordination.members(role).map(({ host }) => host));
  }

  /** All members announced in a role, with the service that each offers. */
  all<Role extends RpcRole>(
    role: Role,
  ): readonly { readonly host: string; readonly session: string; readonly service: RpcServices[Role] }[] {
    return this.#coordination.members(role).map(({ host, session }) => ({ host, session, service: this.at(role, host) }));
  }
}
