// Checks a submitted task and makes the record that is queued.

import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { type EpochMs, ETERNITY } from '../../base/instant.js';
import { describeValue, isRecord, stringifyJson } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import type { TaskDescription } from '../../ingestion/contract.js';
import { withoutSecrets } from '../../ingestion/source/secrets.js';
import type { Queries } from '../../metadata/database.js';
import type { LockKind, LockRequest } from '../../metadata/locks.js';
import { type Author, audit } from '../../metadata/settings.js';
import type { NewTask } from '../../metadata/tasks.js';

/** A task's payload, JSON, as it is stored, and what it says. */
export interface TaskRead {
  readonly document: string;
  readonly description: TaskDescription;
}

/** Reads a payload away from the event loop; throws `input_invalid` or `unsupported` for one that could not run. */
export type ReadTask = (document: string) => Promise<TaskRead>;

/** Who submits a task. */
export interface Sender {
  /** For the audit trail; null: this cluster itself, in the name of the user that the task names, if it names one. */
  readonly author: Author | null;
  /** Throws for a task that the sender may not run. */
  authorize(description: TaskDescription): void;
}

/** Processes of this cluster, which have checked what they submit. */
export const THIS_CLUSTER: Sender = { author: null, authorize: () => undefined };

/** The author of a submission; null for what the cluster does by itself, which leaves no line. */
export function authorOf({ author }: Sender, { spec }: TaskDescription): Author | null {
  const { user } = spec;
  return author ?? (typeof user === 'string' ? { author: '', identity: user, comment: '', ip: '' } : null);
}

/** Files who submitted a task; to be called in the transaction that does. */
export async function auditSubmission(queries: Queries, task: NewTask, author: Author | null, nowMs: EpochMs): Promise<void> {
  const { id, groupId, type, dataSource } = task;
  if (author !== null)
    await audit(queries, { type: 'ingestion.batch', key: dataSource }, author, stringifyJson({ id, groupId, type }), nowMs);
}

/** Characters of an id: it names a log file and the folder of the task's files in deep storage. */
const TASK_ID = /^(?! )[^/\\\p{Cc}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;
/** Priority of batch tasks when the context names none: a task takes the locks of those below it. */
const DEFAULT_PRIORITY = 50;
/** Priorities of tasks that give way to those that bring rows, and of those whose rows are asked for at once. */
const PRIORITY_BY_TYPE: ReadonlyMap<string, number> = new Map([
  ['compact', 25],
  ['kill', 0],
  ['index_kafka', 75],
  ['index_kinesis', 75],
]);

/** The row that a checked payload becomes. */
export function newTask({ document, description }: TaskRead, nowMs: EpochMs): NewTask {
  // An unknown kind of lock is refused when the task is submitted.
  lockRequestOf('', description);
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

/** Lock that a task must hold before it runs. A task that reads a stream gets its locks chunk by chunk, with the segments for its rows. */
export function lockRequestOf(taskId: string, description: TaskDescription): LockRequest {
  const { dataSource, mode } = description;
  // Statements that read have a datasource in common: none waits for another, whatever its context asks for.
  if (description.isReadOnly === true) return { taskId, dataSource, kind: 'shared', intervals: [] };
  const appendsTo = STREAM_TASKS.has(description.type) ? [] : [ETERNITY];
  return { taskId, dataSource, kind: lockKindOf(description), intervals: mode.kind === 'append' ? appendsTo : mode.intervals };
}

const STREAM_TASKS: ReadonlySet<string> = new Set(['index_kafka', 'index_kinesis']);
const LOCK_KINDS: readonly LockKind[] = ['exclusive', 'shared', 'append', 'replace'];

/** Kind of a task's lock: the context says whether appends and a replace may run beside each other. */
function lockKindOf({ type, mode, context: ofTask, spec }: TaskDescription): LockKind {
  // A statement has a context of its own.
  const context = type === 'query_controller' && isRecord(spec['context']) ? { ...spec['context'], ...ofTask } : ofTask;
  const isAppend = mode.kind === 'append';
  if (isConcurrent(context['useConcurrentLocks'] ?? false)) return isAppend ? 'append' : 'replace';
  const written = context['taskLockType'] ?? null;
  if (written === null) return isAppend ? 'shared' : 'exclusive';
  const kind = LOCK_KINDS.find((each) => each.toUpperCase() === String(written).toUpperCase());
  if (kind === undefined)
    throw new ServiceError(
      'input_invalid',
      `context.taskLockType: found ${describeValue(written)}, expected EXCLUSIVE, SHARED, APPEND or REPLACE`,
    );
  const accepted: readonly LockKind[] = isAppend ? ['shared', 'append', 'exclusive'] : ['exclusive', 'replace'];
  if (accepted.includes(kind)) return kind;
  // A native task that replaces takes the lock of tasks that replace, whatever it is told of the others.
  if (!isAppend && type !== 'query_controller') return 'exclusive';
  const names = accepted.map((each) => each.toUpperCase()).join(', ');
  throw new ServiceError(
    'input_invalid',
    `context.taskLockType: found ${describeValue(written)}, but a task that ${isAppend ? 'appends' : 'replaces'} takes one of ${names}`,
  );
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

function isConcurrent(value: unknown): boolean {
  const flag = FLAGS.get(String(value).toLowerCase());
  if (flag === undefined)
    throw new ServiceError('input_invalid', `context.useConcurrentLocks: found ${describeValue(value)}, expected true or false`);
  return flag;
}

/** Tasks whose fields stand in the payload itself, rather than in its `spec`. */
const FLAT_TYPES: ReadonlySet<string> = new Set(['compact', 'kill', ...STREAM_TASKS]);

/** The body of the payload endpoint, without passwords. */
export function payloadDocument(
  { id, groupId }: { readonly id: string; readonly groupId: string },
  { type, dataSource, context, spec }: TaskDescription,
): Readonly<Record<string, unknown>> {
  const common = { type, id, groupId, resource: { availabilityGroup: groupId, requiredCapacity: 1 }, context, dataSource };
  return withoutSecrets(FLAT_TYPES.has(type) ? { ...spec, ...common } : { ...common, spec }) as Readonly<Record<string, unknown>>;
}

/** The metadata store keeps 32 bits. */
const PRIORITY_MAX = 2 ** 31 - 1;

function parsePriority(value: unknown, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  const priority = typeof value === 'string' ? Number(value) : value;
  if (typeof priority !== 'number' || !Number.isInteger(priority) || Math.abs(priority) > PRIORITY_MAX)
    throw new ServiceError(
      'input_invalid',
      `context.priority: found ${describeValue(value)}, expected an integer from -${PRIORITY_MAX} to ${PRIORITY_MAX}`,
    );
  return priority;
}

/** Unique without asking anyone, and telling what it is in lists and file names. */
function generateId({ type, dataSource }: TaskDescription, nowMs: EpochMs): string {
  const readable = dataSource.replace(/[/\\\s\p{Cc}]/gu, '-').slice(0, 80);
  return `${type}_${readable}_${randomBytes(5).toString('hex')}_${formatInstant(nowMs)}`;
}
