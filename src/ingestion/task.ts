// Entry of ingestion: validates and runs a task of any type.

import { ServiceError } from '../base/errors.js';
import type { EpochMs } from '../base/instant.js';
import { ObjectReader, readContextOf } from '../base/json-reader.js';
import { resourcesOfInput } from '../planner/sql/explain/resources.js';
import { runIndexTask } from './batch/index-task.js';
import { runSubTask } from './batch/sub-task.js';
import { dataSourceOf, parseSubTask, type SubTaskSpec, writtenSpec } from './batch/sub-task-spec.js';
import { isSubTaskType, SUB_TASK_TYPES } from './batch/sub-task-types.js';
import { parseCompactSpec, writtenPayload } from './compaction/compact-spec.js';
import { runCompactTask } from './compaction/compact-task.js';
import type { TaskContext, TaskDescription, TaskOutcome } from './contract.js';
import { runQueryTask } from './sql/controller.js';
import { describeQueryTask, parseQueryTask } from './sql/query-task.js';
import { describeWorkerTask, runWorkerTask, WORKER_TASK } from './sql/stages/worker-task.js';
import { runStreamTask } from './stream/run/run-stream-task.js';
import { describeStreamTask, isStreamTaskType, parseStreamTask, STREAM_TASK_TYPES } from './stream/stream-task.js';
import { parseIndexSpec, publishModeOf } from './task-spec/index-spec.js';
import { parseTaskContext } from './task-spec/task-context.js';

const TYPES = ['index_parallel', 'index', 'query_controller', WORKER_TASK, 'compact', ...SUB_TASK_TYPES, ...STREAM_TASK_TYPES] as const;
/** Keys of a task's context that would set up its Java process. */
const JAVA_OPTIONS = /^[a-z]+\.indexer\.(runner\.javaOpts(Array)?|fork\.property\..*)$/;
const KEYS = ['id', 'groupId', 'resource', 'spec', 'context', 'dataSource'];

/**
 * Checks a task payload as far as that goes without reading any input.
 * @param now  the instant of CURRENT_TIMESTAMP in a statement
 * @throws ServiceError `input_invalid` or `unsupported` naming the field
 */
export function validateTask(payload: unknown, now: EpochMs): TaskDescription {
  const fields = new ObjectReader(payload, '', readContextOf('input_invalid', 'the task'));
  const type = fields.type(TYPES);
  if (type !== 'compact' && !isSubTaskType(type) && !isStreamTaskType(type)) fields.accept(KEYS);
  const common = { id: fields.optionalString('id') ?? null, groupId: fields.optionalString('groupId') ?? null, context: contextOf(fields) };
  if (isNative(type)) parseTaskContext(fields.optionalObject('context'), type);
  if (isStreamTaskType(type)) return { type, ...common, ...describeStreamTask(fields, type) };
  if (type === 'compact') return { type, ...common, ...describeCompactTask(fields) };
  if (type === WORKER_TASK) return { type, ...common, ...describeWorkerTask(fields) };
  if (type === 'query_controller') return { type, ...common, ...describeQueryTask(parseQueryTask(fields, now)) };
  if (isSubTaskType(type)) return { type, ...common, ...describeSubTask(parseSubTask(fields, type), fields) };
  const spec = parseIndexSpec(fields.object('spec'), type);
  const resources = resourcesOfInput(fields.object('spec').object('ioConfig').raw('inputSource'));
  return { type, ...common, dataSource: spec.dataSchema.dataSource, mode: publishModeOf(spec), spec: spec.source, resources };
}

/**
 * Runs a task to its end. Nothing is visible before `context.publish`, which is called at most once.
 * @returns the outcome, also of a task that failed or was cancelled
 */
export async function runTask(payload: unknown, context: TaskContext): Promise<TaskOutcome> {
  try {
    const fields = new ObjectReader(payload, '', readContextOf('input_invalid', 'the task'));
    const run = readTask(fields, context.now());
    const { inertKeys } = fields.context;
    if (inertKeys.length > 0) context.log(`without effect here: ${inertKeys.join(', ')}`);
    return await run(context);
  } catch (error) {
    const errorMessage = error instanceof Error ? error.message : String(error);
    context.log(`failed: ${errorMessage}`);
    if (!(error instanceof ServiceError) && error instanceof Error) context.log(error.stack ?? '');
    return { succeeded: false, errorMessage, report: {} };
  }
}

/** Reads a payload whole; what comes back does its work. */
function readTask(fields: ObjectReader, now: EpochMs): (context: TaskContext) => Promise<TaskOutcome> {
  const type = fields.type(TYPES);
  if (type === WORKER_TASK) return (context) => runWorkerTask(fields, context);
  if (type === 'compact') {
    const spec = parseCompactSpec(fields);
    return (context) => runCompactTask(spec, context);
  }
  if (type === 'query_controller') {
    const task = parseQueryTask(fields, now);
    return (context) => runQueryTask(task, context);
  }
  if (isSubTaskType(type)) {
    const subTask = parseSubTask(fields, type);
    return (context) => runSubTask(subTask, context);
  }
  if (isStreamTaskType(type)) {
    const task = parseStreamTask(fields, type);
    return (context) => runStreamTask(task, context);
  }
  const spec = parseIndexSpec(fields.object('spec'), type);
  const { subTaskTimeoutMs: timeoutMs } = parseTaskContext(fields.optionalObject('context'), type);
  const tuning = { ...spec.tuning, subTasks: { ...spec.tuning.subTasks, timeoutMs } };
  return (context) => runIndexTask({ ...spec, tuning }, context);
}

/** Statements have contexts of their own. */
function isNative(type: (typeof TYPES)[number]): boolean {
  return type === 'index_parallel' || type === 'index' || type === 'compact' || isStreamTaskType(type);
}

function describeCompactTask(fields: ObjectReader): Omit<TaskDescription, 'type' | 'id' | 'groupId' | 'context'> {
  const { dataSource, input, state } = parseCompactSpec(fields);
  return { dataSource, mode: { kind: 'replace', intervals: input.intervals }, spec: writtenPayload(fields), compactionState: state };
}

/** It publishes nothing, and so takes no lock. */
function describeSubTask(subTask: SubTaskSpec, fields: ObjectReader): Omit<TaskDescription, 'type' | 'id' | 'groupId' | 'context'> {
  return { dataSource: dataSourceOf(subTask), mode: { kind: 'append' }, spec: writtenSpec(fields), isChild: true };
}

function contextOf(fields: ObjectReader): Readonly<Record<string, unknown>> {
  const context = fields.optionalObject('context');
  for (const key of context?.keys() ?? [])
    if (JAVA_OPTIONS.test(key))
      throw context?.unsupported(key, 'tasks are no Java processes: svc.indexer.task.maxHeapBytes and maxKernelBytes set their memory');
  return context?.members ?? {};
}
