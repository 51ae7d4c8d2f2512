import type { Planning } from '../ingestion/contract.js';
import { parseAggregator } from '../planner/native/columns.js';
import { parseFilter } from '../planner/native/filter.js';
import { planSql } from '../planner/sql/plan-sql.js';
import { schemaOfTask } from '../planner/sql/statement-schema.js';

/** The planner as ingestion sees it, which lies below it. */
export function createPlanning(now: () => number): Planning {
  return {
    planSql: ({ schema, ...request }) => planSql(request, schemaOfTask(schema, 'spec.schema'), now()),
    parseFilter,
    parseAggregator,
  };
}
