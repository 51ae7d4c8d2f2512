// The compaction tasks in the metadata store: those under way, and those that failed.

import type { EpochMs, Interval } from '../../base/instant.js';
import { formatInterval, parseInterval } from '../../base/interval.js';
import { isRecord, parseJson } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import type { Database } from '../../metadata/database.js';
import { selectTasks, type TaskRecord, taskDocuments } from '../../metadata/tasks.js';

/** Begins the ids of the tasks that the duty submits. */
export const ISSUED_PREFIX = 'auto_compact_';

/** A task of the duty. */
export interface IssuedTask {
  readonly task: TaskRecord;
  readonly interval: Interval;
  /** Granularity as its payload has it. */
  readonly segmentGranularity: unknown;
}

const ACTIVE = ['WAITING', 'PENDING', 'RUNNING'] as const;
/** Finished tasks that are looked at, and for how long they count. */
const FINISHED_MAX = 1000;
const FAILURES_COUNT_MS = 86_400_000;
/** Time after one failure; it doubles with each further one. */
const REST_MS = 60_000;
const REST_MS_MAX = 3_600_000;

interface Failures {
  readonly count: number;
  readonly lastMs: EpochMs;
  readonly error: string;
}

/** The tasks as of one look. */
export interface CompactionTasks {
  readonly active: readonly IssuedTask[];
  /** Compaction tasks of all origins that have not ended. */
  readonly activeCount: number;
  /** Says why an interval is left alone after failures; undefined: it is not. */
  rest(dataSource: string, interval: Interval, nowMs: EpochMs): string | undefined;
}

/** Reads tasks; a payload is read once. */
export class CompactionTaskReader {
  readonly #database: Database;
  #known = new Map<string, Omit<IssuedTask, 'task'> | null>();

  constructor(database: Database) {
    this.#database = database;
  }

  async read(nowMs: EpochMs): Promise<CompactionTasks> {
    const active = await selectTasks(this.#database, { states: ACTIVE, type: 'compact' });
    const finished = await selectTasks(this.#database, {
      states: ['SUCCESS', 'FAILED'],
      type: 'compact',
      created: { start: nowMs - FAILURES_COUNT_MS, end: nowMs + 1 },
      newest: FINISHED_MAX,
    });
    const known = new Map<string, Omit<IssuedTask, 'task'> | null>();
    const issued: IssuedTask[] = [];
    for (const task of [...active, ...finished]) {
      if (!task.id.startsWith(ISSUED_PREFIX)) continue;
      const payload = this.#known.get(task.id) ?? (await this.#payloadOf(task.id));
      known.set(task.id, payload);
      if (payload !== null) issued.push({ task, ...payload });
    }
    this.#known = known;
    const failures = failuresOf(issued);
    return {
      active: issued.filter(({ task }) => task.finishedMs === null),
      activeCount: active.length,
      rest(dataSource, interval, now) {
        const failed = failures.get(keyOf(dataSource, interval));
        const untilMs = failed === undefined ? now : failed.lastMs + Math.min(REST_MS * 2 ** (failed.count - 1), REST_MS_MAX);
        if (failed === undefined || untilMs <= now) return undefined;
        return `${failed.count} tasks in a row have failed, the last one: ${failed.error}; tried again after ${formatInstant(untilMs)}`;
      },
    };
  }

  async #payloadOf(taskId: string): Promise<Omit<IssuedTask, 'task'> | null> {
    const documents = await taskDocuments(this.#database, taskId);
    const payload = parseJson(documents?.payload ?? 'null');
    const { ioConfig, granularitySpec } = isRecord(payload) ? payload : {};
    const inputSpec = isRecord(ioConfig) ? ioConfig['inputSpec'] : undefined;
    const written = isRecord(inputSpec) ? inputSpec['interval'] : undefined;
    const interval = typeof written === 'string' ? parseInterval(written) : undefined;
    if (interval === undefined) return null;
    return { interval, segmentGranularity: isRecord(granularitySpec) ? granularitySpec['segmentGranularity'] : undefined };
  }
}

const keyOf = (dataSource: string, interval: Interval): string => `${formatInterval(interval)} ${dataSource}`;

/** Failures in a row, up to now, by interval. */
function failuresOf(issued: readonly IssuedTask[]): ReadonlyMap<string, Failures> {
  const failures = new Map<string, Failures>();
  for (const { task, interval } of issued.toSorted((a, b) => (a.task.finishedMs ?? 0) - (b.task.finishedMs ?? 0))) {
    if (task.finishedMs === null) continue;
    const key = keyOf(task.dataSource, interval);
    if (task.state === 'SUCCESS') failures.delete(key);
    else failures.set(key, { count: (failures.get(key)?.count ?? 0) + 1, lastMs: task.finishedMs, error: task.error ?? 'unknown' });
  }
  return failures;
}
