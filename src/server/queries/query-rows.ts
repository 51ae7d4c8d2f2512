// Rows of `sys.queries`.

import { formatInstant } from '../../base/time.js';
import { textWithoutSecrets } from '../../ingestion/source/secrets.js';
import type { Caller } from '../../model/access/authorizer.js';
import type { SystemRow } from '../../planner/sql/catalog/system-schema.js';
import { mayHandle } from '../access/readable.js';
import type { QueryLog, QueryState } from './query-log.js';

/** The SQL queries of this broker that a caller may see as rows of `sys.queries`, oldest first. */
export function queryRows(log: QueryLog, caller: Caller): readonly SystemRow[] {
  return log.runs().flatMap(({ description: { queryType, queryId, sql, user }, startedAt, state }): SystemRow[] => {
    if (queryType !== 'sql' || !mayHandle(caller, user, 'READ')) return [];
    const info = JSON.stringify({ sqlQueryId: queryId, sql: sql && textWithoutSecrets(sql), startTime: formatInstant(startedAt) });
    return [[queryId, 'native', wordOf(state), info]];
  });
}

function wordOf(state: QueryState): string {
  if (state.state === 'failed') return state.code === 'cancelled' ? 'CANCELED' : 'FAILED';
  return state.state === 'running' ? 'RUNNING' : 'SUCCESS';
}
