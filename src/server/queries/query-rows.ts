// Rows of `sys.queries`.

import { formatInstant } from '../../base/time.js';
import { textWithoutSecrets } from '../../ingestion/source/secrets.js';
import type { SystemRow } from '../../planner/sql/catalog/system-schema.js';
import type { QueryLog, QueryState } from './query-log.js';

/** The SQL queries of this broker as rows of `sys.queries`, oldest first. */
export function queryRows(log: QueryLog): readonly SystemRow[] {
  return log.runs().flatMap(({ description: { queryType, queryId, sql }, startedAt, state }): SystemRow[] => {
    if (queryType !== 'sql') return [];
    const info = JSON.stringify({ sqlQueryId: queryId, sql: sql && textWithoutSecrets(sql), startTime: formatInstant(startedAt) });
    return [[queryId, 'native', wordOf(state), info]];
  });
}

function wordOf(state: QueryState): string {
  if (state.state === 'failed') return state.code === 'cancelled' ? 'CANCELED' : 'FAILED';
  return state.state === 'running' ? 'RUNNING' : 'SUCCESS';
}
