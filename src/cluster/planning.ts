import type { Planning } from '../ingestion/contract.js';
import { parseAggregator } from '../planner/native/columns.js';
import { parseFilter } from '../planner/native/filter.js';
import { planSql } from '../planner/sql/plan-sql.js';
import type { SchemaSource } from './broker/contract.js';

/** Statements of tasks read external sources only, so that a task needs no broker. */
const NO_TABLES: SchemaSource = { tables: () => [], table: () => undefined };

/** The planner as ingestion sees it, which lies below it. */
export function createPlanning(now: () => number): Planning {
  return { planSql: (request) => planSql(request, NO_TABLES, now()), parseFilter, parseAggregator };
}
