// The route of the Overlord that lists who submitted which tasks, from the audit trail.

import { ServiceError } from '../../base/errors.js';
import type { Database } from '../../metadata/database.js';
import { auditHistory } from '../../metadata/settings.js';
import { readable } from '../access/readable.js';
import type { Route } from '../http.types.js';
import { auditBody, json, LISTED, readHistorySelection, route } from './exchange.js';

export interface SubmissionSource {
  readonly database: Database;
  /** `svc.audit.manager.auditHistoryMillis`. */
  readonly auditHistoryMs: number;
  readonly now: () => number;
}

const SUBMISSIONS_LISTED_MAX = 10_000;

/** Submissions of tasks, the newest first: of all datasources that the caller may read, or of `dataSource`; `interval` and `count` as in other histories. */
export function submissionRoutes({ database, auditHistoryMs, now }: SubmissionSource): readonly Route[] {
  return [
    route('GET', '/svc/indexer/v1/tasks/history', LISTED, async (request) => {
      const { interval, count } = readHistorySelection(request, now(), auditHistoryMs);
      if (count !== null && count > SUBMISSIONS_LISTED_MAX)
        throw new ServiceError('input_invalid', `count: found ${count}, expected at most ${SUBMISSIONS_LISTED_MAX}`);
      const key = request.query.get('dataSource');
      const entries = await auditHistory(database, { type: 'ingestion.batch', key, interval, count: count ?? SUBMISSIONS_LISTED_MAX });
      return json(200, readable(request.caller, entries, ({ key: name }) => name).map(auditBody));
    }),
  ];
}
