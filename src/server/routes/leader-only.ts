// Answers who leads, and redirects requests to the leader.

import { ServiceError } from '../../base/errors.js';
import type { Coordination } from '../../cluster/membership/coordination.js';
import type { Route } from '../http.types.js';
import { json, PUBLIC, route, STATE_READ, text } from './exchange.js';

export interface Leading {
  readonly role: 'coordinator' | 'overlord';
  /** Scheme of addresses that processes announce. */
  readonly scheme: 'http' | 'https';
  readonly coordination: Pick<Coordination, 'leader' | 'isCurrent' | 'refresh'>;
  /** Whether this process leads. */
  leading(): boolean;
}

/** `leader` and `isLeader`, which every candidate answers by itself. */
export function leaderRoutes(base: string, { role, scheme, coordination, leading }: Leading): readonly Route[] {
  return [
    route('GET', `${base}/leader`, STATE_READ, async () => {
      const leader = coordination.leader(role);
      return leader === undefined ? json(503, { error: `no ${role} leads at the moment` }) : text(`${scheme}://${leader.host}`);
    }),
    route('GET', `${base}/isLeader`, PUBLIC, async () => json(leading() ? 200 : 404, { leader: leading() })),
  ];
}

/** A standby sends callers to the leader: same path, same query. */
export function onLeader({ role, scheme, coordination, leading }: Leading, routes: readonly Route[]): readonly Route[] {
  return routes.map((each) => ({
    ...each,
    handle: async (request, parameters) => {
      // One that was stopped for a while may have been replaced without having heard of it.
      if (leading() && !coordination.isCurrent(role)) await coordination.refresh();
      if (leading()) {
        try {
          return await each.handle(request, parameters);
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== 'not_leader') throw error;
          await coordination.refresh();
          if (leading()) throw error;
        }
      }
      const leader = coordination.leader(role);
      if (leader === undefined) throw new ServiceError('unavailable', `no ${role} leads at the moment`);
      return { status: 307, headers: { Location: `${scheme}://${leader.host}${request.rawUrl}` } };
    },
  }));
}
