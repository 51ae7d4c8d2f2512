// Checks a submitted task and makes the record that is queued.

import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { type EpochMs, ETERNITY } from '../../base/instant.js';
import { describeValue } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import type { TaskDescription } from '../../ingestion/contract.js';
import type { LockRequest } from '../../metadata/locks.js';
import type { NewTask } from '../../metadata/tasks.js';

/** A task's payload, JSON, as it is stored, and what it says. */
export interface TaskRead {
  readonly document: string;
  readonly description: TaskDescription;
}

/** Reads a payload away from the event loop; throws `input_invalid` or `unsupported` for one that could not run. */
export type ReadTask = (document: string) => Promise<TaskRead>;

/** Characters of an id: it names a log file and the folder of the task's files in deep storage. */
const TASK_ID = /^(?! )[^/\\\p{Cc}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;
/** Priority of batch tasks when the context names none: a task takes the locks of those below it. */
const DEFAULT_PRIORITY = 50;
/** Priorities of tasks that give way to those that bring rows. */
const PRIORITY_BY_TYPE: ReadonlyMap<string, number> = new Map([
  ['compact', 25],
  ['kill', 0],
]);

/** The row that a checked payload becomes. */
export function newTask({ document, description }: TaskRead, nowMs: EpochMs): NewTask {
  const id = description.id ?? generateId(description, nowMs);
  if (!TASK_ID.test(id) || id === '.' || id === '..')
    throw new ServiceError(
      'input_invalid',
      `id: found '${id.slice(0, 100)}', expected 1 to 200 characters without / and \\, no space at either end`,
    );
  return {
    id,
    groupId: description.groupId ?? id,
    type: description.type,
    dataSource: description.dataSource,
    priority: parsePriority(description.context['priority'], PRIORITY_BY_TYPE.get(description.type) ?? DEFAULT_PRIORITY),
    payload: document,
  };
}

/** Lock that a task must hold before it runs. */
export function lockRequestOf(taskId: string, description: TaskDescription): LockRequest {
  const { dataSource, mode } = description;
  return mode.kind === 'append'
    ? { taskId, dataSource, kind: 'shared', intervals: [ETERNITY] }
    : { taskId, dataSource, kind: 'exclusive', intervals: mode.intervals };
}

/** Tasks whose fields stand in the payload itself, rather than in its `spec`. */
const FLAT_TYPES: ReadonlySet<string> = new Set(['compact', 'kill']);

/** The body of the payload endpoint. */
export function payloadDocument(
  { id, groupId }: { readonly id: string; readonly groupId: string },
  { type, dataSource, context, spec }: TaskDescription,
): Readonly<Record<string, unknown>> {
  const common = { type, id, groupId, resource: { availabilityGroup: groupId, requiredCapacity: 1 }, context, dataSource };
  return FLAT_TYPES.has(type) ? { ...spec, ...common } : { ...common, spec };
}

function parsePriority(value: unknown, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  const priority = typeof value === 'string' ? Number(value) : value;
  if (typeof priority !== 'number' || !Number.isInteger(priority))
    throw new ServiceError('input_invalid', `context.priority: found ${describeValue(value)}, expected an integer`);
  return priority;
}

/** Unique without asking anyone, and telling what it is in lists and file names. */
function generateId({ type, dataSource }: TaskDescription, nowMs: EpochMs): string {
  const readable = dataSource.replace(/[/\\\s\p{Cc}]/gu, '-').slice(0, 80);
  return `${type}_${readable}_${randomBytes(5).toString('hex')}_${formatInstant(nowMs)}`;
}
