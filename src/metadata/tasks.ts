// Tasks in the metadata store.

import type { EpochMs, Interval } from '../base/instant.js';
import { append } from '../base/lists.js';
import { taskFileName } from '../model/task-file-name.js';
import { type Binding, isAmong, placeholders, type Queries } from './database.js';

/** WAITING for locks, PENDING for a worker, RUNNING on one; the last two are final. */
export type TaskState = 'WAITING' | 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';

export interface TaskRecord {
  readonly id: string;
  readonly groupId: string;
  readonly type: string;
  readonly dataSource: string;
  readonly state: TaskState;
  readonly priority: number;
  readonly createdMs: EpochMs;
  readonly queuedMs: EpochMs;
  readonly startedMs: EpochMs | null;
  readonly finishedMs: EpochMs | null;
  readonly workerHost: string | null;
  /** Session of the process that runs it: a later process at that address does not know the task. */
  readonly workerSession: string | null;
  /** Number of its last run; 0 before the first. */
  readonly attempts: number;
  readonly error: string | null;
  /** The task that has submitted it, under whose locks it runs and with which it ends; null: it has its own. */
  readonly parentId: string | null;
  /** Number of the run of its parent that does it itself; null: a worker runs it as a task of its own. */
  readonly claimedBy: number | null;
}

interface TaskRow {
  readonly id: string;
  readonly group_id: string;
  readonly type: string;
  readonly data_source: string;
  readonly state: TaskState;
  readonly priority: number;
  readonly created_ms: number;
  readonly queued_ms: number;
  readonly started_ms: number | null;
  readonly finished_ms: number | null;
  readonly worker_host: string | null;
  readonly worker_session: string | null;
  readonly attempts: number;
  readonly error: string | null;
  readonly parent: string | null;
  readonly claimed_by: number | null;
}

const COLUMNS =
  'id, group_id, type, data_source, state, priority, created_ms, queued_ms, started_ms, finished_ms, worker_host, worker_session, attempts, error, parent, claimed_by';

export interface NewTask {
  readonly id: string;
  readonly groupId: string;
  readonly type: string;
  readonly dataSource: string;
  readonly priority: number;
  /** JSON text, as accepted at submission. */
  readonly payload: string;
}

/** False when the id is taken. */
export async function insertTask(queries: Queries, task: NewTask, nowMs: EpochMs): Promise<boolean> {
  const rows = await queries.rows<{ id: string }>(
    `INSERT INTO tasks (id, group_id, type, data_source, state, priority, created_ms, queued_ms, payload, file_name)
     VALUES (?, ?, ?, ?, 'WAITING', ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id`,
    [task.id, task.groupId, task.type, task.dataSource, task.priority, nowMs, nowMs, task.payload, taskFileName(task.id)],
  );
  return rows.length === 1;
}

/** Adds a child of a running task, which waits for no lock; nothing changes when the id is taken. */
export async function insertChild(queries: Queries, task: NewTask, parentId: string, nowMs: EpochMs): Promise<void> {
  if (await insertTask(queries, task, nowMs))
    await queries.rows("UPDATE tasks SET parent = ?, state = 'PENDING' WHERE id = ?", [parentId, task.id]);
}

/** The children of a task, of all of its runs, by id. */
export async function childrenOf(queries: Queries, parentId: string): Promise<readonly TaskRecord[]> {
  return (await queries.rows<TaskRow>(`SELECT ${COLUMNS} FROM tasks WHERE parent = ? ORDER BY id`, [parentId])).map(parseTask);
}

/** Children that a run of their parent does which counts no more: nobody does them. */
export async function staleClaims(queries: Queries): Promise<readonly TaskRecord[]> {
  const rows = await queries.rows<TaskRow>(
    `SELECT ${COLUMNS} FROM tasks WHERE parent IS NOT NULL AND claimed_by IS NOT NULL AND state = 'RUNNING'
       AND EXISTS (SELECT 1 FROM tasks AS parents WHERE parents.id = tasks.parent
         AND (parents.state = 'PENDING' OR (parents.state = 'RUNNING' AND parents.attempts <> tasks.claimed_by)))`,
  );
  return rows.map(parseTask);
}

/** Unfinished tasks whose parent has ended. */
export async function tasksLeftBehind(queries: Queries): Promise<readonly TaskRecord[]> {
  const rows = await queries.rows<TaskRow>(
    `SELECT ${COLUMNS} FROM tasks WHERE parent IS NOT NULL AND state NOT IN ('SUCCESS', 'FAILED')
       AND EXISTS (SELECT 1 FROM tasks AS parents WHERE parents.id = tasks.parent AND parents.state IN ('SUCCESS', 'FAILED'))`,
  );
  return rows.map(parseTask);
}

export async function findTask(queries: Queries, id: string): Promise<TaskRecord | undefined> {
  const rows = await queries.rows<TaskRow>(`SELECT ${COLUMNS} FROM tasks WHERE id = ?`, [id]);
  return rows[0] === undefined ? undefined : parseTask(rows[0]);
}

/** The task whose folder in deep storage has this name. */
export async function findTaskByFileName(queries: Queries, name: string): Promise<TaskRecord | undefined> {
  const rows = await queries.rows<TaskRow>(`SELECT ${COLUMNS} FROM tasks WHERE file_name = ?`, [name]);
  if (rows[0] !== undefined) return parseTask(rows[0]);
  const id = decodeName(name);
  return id === undefined ? undefined : findTask(queries, id);
}

/** Tasks of an earlier version named their files by the percent-encoded id. */
function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

export interface TaskSelection {
  readonly states: readonly TaskState[];
  readonly dataSource?: string;
  /** Datasources, of any of which a task may be. */
  readonly dataSources?: readonly string[];
  readonly type?: string;
  readonly created?: Interval;
  /** Newest first when given, and no more than these. */
  readonly newest?: number;
}

/** Tasks by priority, then age: the order in which they are served. */
export async function selectTasks(queries: Queries, selection: TaskSelection): Promise<readonly TaskRecord[]> {
  const conditions = [`state IN (${placeholders(selection.states)})`];
  const bindings: Binding[] = [...selection.states];
  const add = (condition: string, ...values: Binding[]) => {
    conditions.push(condition);
    append(bindings, values);
  };
  if (selection.dataSource !== undefined) add('data_source = ?', selection.dataSource);
  if (selection.dataSources !== undefined) {
    const { condition, binding } = isAmong('data_source', selection.dataSources);
    add(condition, binding);
  }
  if (selection.type !== undefined) add('type = ?', selection.type);
  if (selection.created !== undefined) add('created_ms >= ? AND created_ms < ?', selection.created.start, selection.created.end);
  const order = selection.newest === undefined ? 'priority DESC, created_ms, id' : 'created_ms DESC, id LIMIT ?';
  if (selection.newest !== undefined) bindings.push(selection.newest);
  const rows = await queries.rows<TaskRow>(`SELECT ${COLUMNS} FROM tasks WHERE ${conditions.join(' AND ')} ORDER BY ${order}`, bindings);
  return rows.map(parseTask);
}

/** Datasources that tasks in some states are of. */
export async function taskDataSources(queries: Queries, states: readonly TaskState[]): Promise<readonly string[]> {
  const rows = await queries.rows<{ data_source: string }>(
    `SELECT DISTINCT data_source FROM tasks WHERE state IN (${placeholders(states)})`,
    states,
  );
  return rows.map(({ data_source }) => data_source);
}

/** Number of tasks in some states, without those that tasks have submitted. */
export async function countTasks(queries: Queries, states: readonly TaskState[]): Promise<number> {
  const rows = await queries.rows<{ count: number }>(
    `SELECT COUNT(*) AS count FROM tasks WHERE parent IS NULL AND state IN (${placeholders(states)})`,
    states,
  );
  return rows[0]?.count ?? 0;
}

/** The documents of a task, as JSON text; the report is null until there is one. */
export async function taskDocuments(
  queries: Queries,
  id: string,
): Promise<{ readonly payload: string; readonly report: string | null } | undefined> {
  const rows = await queries.rows<{ payload: string; report: string | null }>('SELECT payload, report FROM tasks WHERE id = ?', [id]);
  return rows[0];
}

/** Moves a task on, only from the state it is believed to be in; false when it was in another. */
export async function moveTask(queries: Queries, id: string, from: 'WAITING' | 'RUNNING', to: 'PENDING'): Promise<boolean> {
  const rows = await queries.rows<{ id: string }>('UPDATE tasks SET state = ? WHERE id = ? AND state = ? RETURNING id', [to, id, from]);
  return rows.length === 1;
}

/**
 * Gives a pending task to a worker. Returns the number of this attempt, from 1; undefined when the task was not pending.
 * @param claimedBy  the run of its parent that does it, within its own process
 */
export async function startTask(
  queries: Queries,
  id: string,
  worker: { readonly host: string; readonly session: string },
  nowMs: EpochMs,
  claimedBy: number | null = null,
): Promise<number | undefined> {
  const rows = await queries.rows<{ attempts: number }>(
    `UPDATE tasks SET state = 'RUNNING', worker_host = ?, worker_session = ?, started_ms = ?, claimed_by = ?, attempts = attempts + 1
     WHERE id = ? AND state = 'PENDING' RETURNING attempts`,
    [worker.host, worker.session, nowMs, claimedBy, id],
  );
  return rows[0]?.attempts;
}

/** Counts a run that was lost with its worker; returns how many were. */
export async function countLoss(queries: Queries, id: string): Promise<number> {
  const rows = await queries.rows<{ losses: number }>('UPDATE tasks SET losses = losses + 1 WHERE id = ? RETURNING losses', [id]);
  return rows[0]?.losses ?? 0;
}

export interface TaskEnd {
  readonly succeeded: boolean;
  readonly error: string | null;
  /** JSON text. */
  readonly report: string | null;
}

/** Keeps the report of a task that goes on. */
export async function noteReport(queries: Queries, id: string, report: string): Promise<void> {
  await queries.rows('UPDATE tasks SET report = ? WHERE id = ?', [report, id]);
}

/** The first end counts; false when the task had ended before. */
export async function finishTask(queries: Queries, id: string, end: TaskEnd, nowMs: EpochMs): Promise<boolean> {
  const rows = await queries.rows<{ id: string }>(
    "UPDATE tasks SET state = ?, error = ?, report = COALESCE(?, report), finished_ms = ? WHERE id = ? AND state NOT IN ('SUCCESS', 'FAILED') RETURNING id",
    // A text of PostgreSQL has no NUL: the end of a task would be refused for what was in its input.
    [end.succeeded ? 'SUCCESS' : 'FAILED', end.error?.replaceAll('\0', '\\0') ?? null, end.report, nowMs, id],
  );
  return rows.length === 1;
}

function parseTask(row: TaskRow): TaskRecord {
  return {
    id: row.id,
    groupId: row.group_id,
    type: row.type,
    dataSource: row.data_source,
    state: row.state,
    priority: row.priority,
    createdMs: row.created_ms,
    queuedMs: row.queued_ms,
    startedMs: row.started_ms,
    finishedMs: row.finished_ms,
    workerHost: row.worker_host,
    workerSession: row.worker_session,
    attempts: row.attempts,
    error: row.error,
    parentId: row.parent,
    claimedBy: row.claimed_by,
  };
}
