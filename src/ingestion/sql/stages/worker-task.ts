// A `query_worker` task: the work of one order, for the controller that has submitted it.

import { ServiceError } from '../../../base/errors.js';
import type { EpochMs } from '../../../base/instant.js';
import { isRecord, parseJson } from '../../../base/json.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { ChildPayload, TaskContext, TaskDescription, TaskOutcome } from '../../contract.js';
import { failureOf } from '../../report/task-failure.js';
import { type FaultBody, faultOf, QueryFault } from '../query-fault.js';
import { parseQuerySpec, type QueryTask } from '../query-task.js';
import type { WorkOrder, WorkResult } from './contract.js';
import { runOrder } from './work.js';

export const WORKER_TASK = 'query_worker';

/** Message of a worker to its controller: its report. */
export type WorkerReport =
  | { readonly kind: 'done'; readonly result: WorkResult }
  | { readonly kind: 'failed'; readonly code: ServiceError['code']; readonly message: string; readonly fault: FaultBody };

interface WorkerSpec {
  /** The `spec` of the controller. */
  readonly statement: Readonly<Record<string, unknown>>;
  /** The instant of CURRENT_TIMESTAMP, one for all workers. */
  readonly nowMs: EpochMs;
  readonly order: WorkOrder;
}

/** Payload of a task that does the work of an order. */
export function workerPayload(id: string, { statementSpec, nowMs, dataSource }: QueryTask, order: WorkOrder): ChildPayload {
  const spec: WorkerSpec = { statement: statementSpec, nowMs, order };
  return { type: WORKER_TASK, id, dataSource, spec };
}

/** Order of a child of an earlier run, with the instant that its statement was planned at. */
export function orderOfPayload(payload: string): Pick<WorkerSpec, 'nowMs' | 'order'> {
  const { spec } = parseJson(payload) as { readonly spec: WorkerSpec };
  return { nowMs: spec.nowMs, order: withNumbers(spec.order) as WorkOrder };
}

/** An order as it was written: JSON is read with bigints where numbers are not exact, which the bounds of all time are not. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNumbers(each)]));
}

export function describeWorkerTask(fields: ObjectReader): Pick<TaskDescription, 'dataSource' | 'mode' | 'spec' | 'isChild'> {
  const spec = fields.object('spec');
  spec.accept(['statement', 'nowMs', 'order']);
  return { dataSource: fields.string('dataSource'), mode: { kind: 'append' }, spec: spec.members, isChild: true };
}

/** Never throws. */
export async function runWorkerTask(fields: ObjectReader, context: TaskContext): Promise<TaskOutcome> {
  try {
    const spec = fields.object('spec');
    // Only a controller, through the Overlord, submits such tasks.
    const { nowMs, order: written } = spec.members as unknown as WorkerSpec;
    const order = withNumbers(written) as WorkOrder;
    const task = parseQuerySpec(spec.object('statement'), nowMs);
    context.log(`stage ${order.stage}, worker ${order.worker}: ${order.kind}`);
    const report: WorkerReport = { kind: 'done', result: await runOrder(order, task, context) };
    return { succeeded: true, errorMessage: null, report: { ...report } };
  } catch (error) {
    const { failure, errorMessage } = failureOf(error, context);
    const { errorMessage: message, ...fault } = faultOf(failure, context);
    const code = failure instanceof ServiceError ? failure.code : 'internal';
    const report: WorkerReport = { kind: 'failed', code, message, fault };
    return { succeeded: false, errorMessage, report: { ...report } };
  }
}

/** Outcome of a worker task from its report; null: it has told none, so its process died or was stopped. */
export function readWorkerReport(report: string | null, taskId: string): WorkResult | QueryFault | null {
  const read = report === null ? null : (parseJson(report) as WorkerReport);
  if (read?.kind === 'done') return read.result;
  return read?.kind === 'failed' ? new QueryFault(read.code, read.message, read.fault, taskId) : null;
}
