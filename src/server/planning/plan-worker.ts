import { parentPort } from 'node:worker_threads';
import type { ErrorCode } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import type { PlannedStatement } from '../../model/statement.js';
import { planSql, type SqlRequest } from '../../planner/sql/plan-sql.js';
import { type PlanStage, PlanWatch } from '../../planner/sql/plan-watch.js';
import { asServiceError } from '../errors.js';
import { type SchemaSnapshot, schemaOf } from './schema-snapshot.js';

export interface PlanAssignment {
  readonly request: Omit<SqlRequest, 'watch'>;
  readonly schema: SchemaSnapshot;
  readonly now: EpochMs;
  /** Milliseconds that planning may take. */
  readonly remainingMs: number;
}

export type PlanOutcome = { readonly stages: readonly PlanStage[] } & (
  | { readonly statement: PlannedStatement }
  | { readonly code: ErrorCode; readonly message: string }
);

/** Entry of the thread that plans long statements, one after the other. */
parentPort?.on('message', (assignment: PlanAssignment) => {
  const outcome = plan(assignment);
  try {
    parentPort?.postMessage(outcome);
  } catch (error) {
    parentPort?.postMessage(failure(error, outcome.stages));
  }
});

function plan({ request, schema, now, remainingMs }: PlanAssignment): PlanOutcome {
  const watch = new PlanWatch(performance.now() + remainingMs);
  try {
    return { statement: planSql({ ...request, watch }, schemaOf(schema), now), stages: watch.stages };
  } catch (error) {
    return failure(error, watch.stages);
  }
}

function failure(error: unknown, stages: readonly PlanStage[]): PlanOutcome {
  const { code, message } = asServiceError(error);
  return { code, message, stages };
}
