// Routes of query profiles, and the profile header.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import type { Coverage } from '../../cluster/broker/coverage.js';
import type { Route } from '../http.types.js';
import type { QueryLog, QueryRun } from '../queries/query-log.js';
import { found, json } from './exchange.js';

/** Profile of a query by its id, while it runs and as long as it is among the kept ones. */
export function profileRoutes(log: QueryLog): Route[] {
  return [
    {
      method: 'GET',
      path: '/svc/v2/profile/{queryId}',
      permission: found('owner'),
      errors: 'map',
      handle: async ({ caller }, { queryId = '' }) => {
        const run = log.find(queryId, caller);
        if (run === undefined)
          throw new ServiceError('not_found', `no query ${queryId} is among the last ones, of which svc.query.profile.kept are kept`);
        return json(200, run.report());
      },
    },
  ];
}

/** The header of every answer: a summary, or all of it where the context asks for that; and what has no segments. Known once the body begins. */
export function profileHeader(run: QueryRun, isWhole: boolean, coverage?: Coverage): () => Readonly<Record<string, string>> {
  return () => ({ 'X-Svc-Profile': profileText(run, isWhole), ...coverage?.header() });
}

export function profileText(run: QueryRun, isWhole: boolean): string {
  return isWhole ? stringifyJson(run.report()) : run.summary();
}
