// The route of the Overlord that lists who submitted which tasks, from the audit trail.

import { ServiceError } from '../../base/errors.js';
import type { Database } from '../../metadata/database.js';
import { auditHistory, auditKeys } from '../../metadata/settings.js';
import { itself, readable } from '../access/readable.js';
import type { Route } from '../http.types.js';
import { auditBody, json, LISTED, readHistorySelection, route } from './exchange.js';

export interface SubmissionSource {
  readonly database: Database;
  /** `svc.audit.manager.auditHistoryMillis`. */
  readonly auditHistoryMs: number;
  readonly now: () => number;
}

const SUBMISSIONS_LISTED_MAX = 10_000;
const TYPE = 'ingestion.batch';

/** Submissions of tasks, the newest first: of all datasources that the caller may read, or of `dataSource`; `interval` and `count` as in other histories. */
export function submissionRoutes({ database, auditHistoryMs, now }: SubmissionSource): readonly Route[] {
  return [
    route('GET', '/svc/indexer/v1/tasks/history', LISTED, async (request) => {
      const { interval, count } = readHistorySelection(request, now(), auditHistoryMs);
      if (count !== null && count > SUBMISSIONS_LISTED_MAX)
        throw new ServiceError('input_invalid', `count: found ${count}, expected at most ${SUBMISSIONS_LISTED_MAX}`);
      const key = request.query.get('dataSource');
      // The newest that the caller may see, not what is left of the newest of all.
      const keys = request.caller.isUnrestricted ? undefined : readable(request.caller, await auditKeys(database, TYPE), itself);
      const of = { type: TYPE, key, interval, count: count ?? SUBMISSIONS_LISTED_MAX, ...(keys === undefined ? {} : { keys }) };
      const entries = keys?.length === 0 ? [] : await auditHistory(database, of);
      return json(200, readable(request.caller, entries, ({ key: name }) => name).map(auditBody));
    }),
  ];
}
