import type { Planning } from '../ingestion/contract.js';
import { parseAggregator } from '../planner/native/column/columns.js';
import { parseFilter } from '../planner/native/filter/filter.js';
import { schemaOfTask } from '../planner/sql/catalog/statement-schema.js';
import { planSql } from '../planner/sql/plan-sql.js';

/** The planner as ingestion sees it, which lies below it. */
export function createPlanning(now: () => number): Planning {
  return {
    planSql: ({ schema, ...request }) => planSql(request, schemaOfTask(schema, 'spec.schema'), now()),
    parseFilter,
    parseAggregator,
  };
}
