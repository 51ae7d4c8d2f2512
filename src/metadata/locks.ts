// Locks of tasks on intervals of a datasource.

import type { EpochMs, Interval } from '../base/instant.js';
import { condenseIntervals, contains } from '../base/interval.js';
import { formatInstant } from '../base/time.js';
import type { Queries } from './database.js';

/**
 * `exclusive` lets nobody else in; any number of tasks share an interval with `shared`. Any number with `append` are there
 * together, and beside them at most one with `replace`, which carries along what they append (`carried.ts`).
 */
export type LockKind = 'exclusive' | 'shared' | 'append' | 'replace';

/** Kinds that are there together over one interval. */
const COMPATIBLE: Readonly<Record<LockKind, readonly LockKind[]>> = {
  exclusive: [],
  shared: ['shared'],
  append: ['append', 'replace'],
  replace: ['append'],
};

export interface LockRequest {
  readonly taskId: string;
  readonly dataSource: string;
  readonly intervals: readonly Interval[];
  readonly kind: LockKind;
}

export interface Lock {
  readonly taskId: string;
  readonly dataSource: string;
  readonly interval: Interval;
  readonly kind: LockKind;
  /** The instant it was granted as ISO text: the version of what is written under it. */
  readonly version: string;
}

interface LockRow {
  readonly task_id: string;
  readonly data_source: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly kind: LockKind;
  readonly version: string;
}

/**
 * Grants all intervals of a request that the task does not hold yet, condensed, under one version, or none. Versions of a datasource
 * strictly increase, so what is written under a later lock hides what was written under an earlier one.
 * @returns all locks of the task; undefined while another task holds a conflicting lock
 */
export async function acquireLocks(queries: Queries, request: LockRequest, nowMs: EpochMs): Promise<readonly Lock[] | undefined> {
  const held = await locksOfTask(queries, request.taskId);
  const intervals = condenseIntervals(request.intervals).filter((each) => !held.some(({ interval }) => contains(interval, each)));
  if (intervals.length === 0) return held;
  if ((await locksInTheWay(queries, { ...request, intervals })).length > 0) return undefined;

  const version = await nextVersion(queries, request.dataSource, nowMs);
  for (const { start, end } of intervals) {
    await queries.rows('INSERT INTO locks (task_id, data_source, start_ms, end_ms, kind, version) VALUES (?, ?, ?, ?, ?, ?)', [
      request.taskId,
      request.dataSource,
      start,
      end,
      request.kind,
      version,
    ]);
  }
  const { taskId, dataSource, kind } = request;
  return [...held, ...intervals.map((interval) => ({ taskId, dataSource, interval, kind, version }))];
}

/** Locks of other tasks that a request has to wait for. */
export async function locksInTheWay(queries: Queries, request: LockRequest): Promise<readonly Lock[]> {
  const others = await locksOfDataSource(queries, request.dataSource);
  return others.filter((lock) => lock.taskId !== request.taskId && conflicts(lock, request));
}

export function conflicts(held: Pick<Lock, 'interval' | 'kind'>, wanted: Pick<LockRequest, 'intervals' | 'kind'>): boolean {
  if (COMPATIBLE[held.kind].includes(wanted.kind)) return false;
  return wanted.intervals.some(({ start, end }) => start < held.interval.end && held.interval.start < end);
}

export async function locksOfTask(queries: Queries, taskId: string): Promise<readonly Lock[]> {
  return (await queries.rows<LockRow>('SELECT * FROM locks WHERE task_id = ?', [taskId])).map(parseLock);
}

export async function releaseLocks(queries: Queries, taskId: string): Promise<void> {
  await queries.rows('DELETE FROM carried_segments WHERE task_id = ?', [taskId]);
  await queries.rows('DELETE FROM locks WHERE task_id = ?', [taskId]);
}

export async function locksOfDataSource(queries: Queries, dataSource: string): Promise<readonly Lock[]> {
  return (await queries.rows<LockRow>('SELECT * FROM locks WHERE data_source = ?', [dataSource])).map(parseLock);
}

async function nextVersion(queries: Queries, dataSource: string, nowMs: EpochMs): Promise<string> {
  const rows = await queries.rows<{ last_version_ms: number }>(
    `INSERT INTO data_sources (name, last_version_ms) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET last_version_ms = CASE WHEN excluded.last_version_ms > data_sources.last_version_ms
       THEN excluded.last_version_ms ELSE data_sources.last_version_ms + 1 END
     RETURNING last_version_ms`,
    [dataSource, nowMs],
  );
  return formatInstant(rows[0]?.last_version_ms ?? nowMs);
}

function parseLock(row: LockRow): Lock {
  const interval = { start: row.start_ms, end: row.end_ms };
  return { taskId: row.task_id, dataSource: row.data_source, interval, kind: row.kind, version: row.version };
}
