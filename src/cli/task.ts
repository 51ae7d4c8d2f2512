// Submits an ingestion task and follows it to its end.

import { ServiceError } from '../base/errors.js';
import { placeText } from '../ingestion/report/row-place.js';
import { type DolmenClient, QueryRefused } from './client.js';
import { fieldOf } from './json-fields.js';
import type { ProgressState } from './progress-bar.js';
import { withThousands } from './style.js';

interface RowCounts {
  readonly processed: number;
  readonly processedWithError: number;
  readonly thrownAway: number;
  readonly unparseable: number;
}

/** A row that was rejected or kept with an error. */
export interface RejectedLine {
  /** Its file, record and line, in words; empty: not known. */
  readonly place: string;
  readonly reason: string;
  readonly input: string;
}

export interface TaskResult {
  readonly taskId: string;
  /** Why it failed; null: it did not. */
  readonly failure: string | null;
  readonly counts: RowCounts;
  readonly segments: number;
  /** Stored, rolled up, filtered and rejected rows, in words; null: the task has not got so far. */
  readonly balance: string | null;
  /** Some of the rejected lines. */
  readonly rejects: readonly RejectedLine[];
}

const POLL_MS = 150;
/** Rows at fault that are shown. */
export const SHOWN_REJECTS = 5;

/** A server that is busy, restarts or changes its leader is asked again for so long. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;

/**
 * Submits a task and follows it to its end. Aborting the signal stops the task.
 * @throws ServiceError, QueryRefused when the server cannot be asked for a minute; the message names the task
 */
export async function runTask(
  client: DolmenClient,
  spec: unknown,
  progress: (state: ProgressState) => void,
  signal?: AbortSignal,
): Promise<TaskResult> {
  const submitted = await patiently(() => client.call('POST', '/svc/indexer/v1/task', spec), isBusy);
  return followTask(client, textOf(fieldOf(submitted, 'task')), progress, signal);
}

/** Asks for a task until it has ended. Aborting the signal stops it. */
export async function followTask(
  client: DolmenClient,
  task: string,
  progress: (state: ProgressState) => void,
  signal?: AbortSignal,
): Promise<TaskResult> {
  const path = `/svc/indexer/v1/task/${encodeURIComponent(task)}`;
  let stopping = false;
  for (;;) {
    if (signal?.aborted === true && !stopping) {
      stopping = true;
      process.stderr.write(`\nstopping task ${task}\n`);
      await patiently(() => client.call('POST', `${path}/shutdown`), isPassing);
    }
    const { status } = (await patiently(() => client.call('GET', `${path}/status`), isPassing).catch((error: unknown) => {
      const isEnding = error instanceof ServiceError && error.code === 'cancelled';
      if (!isEnding) process.stderr.write(`the server cannot be asked about task ${task}, which may still be running\n`);
      throw error;
    })) as { status: { statusCode: string; runnerStatusCode: string; errorMsg: string | null } };
    const report = readReport(await client.call('GET', `${path}/reports`).catch(() => undefined)); // none yet while it starts
    if (status.statusCode !== 'RUNNING') {
      const stopped = stopping ? `task ${task} was stopped` : null;
      const failure = status.statusCode === 'SUCCESS' ? null : (stopped ?? status.errorMsg ?? 'the task failed without a reason');
      return { taskId: task, failure, counts: report.counts, segments: report.segments, balance: report.balance, rejects: report.rejects };
    }
    const rows = report.counts.processed + report.counts.processedWithError;
    const { fraction, pace } = report;
    progress({ phase: report.phase ?? status.runnerStatusCode.toLowerCase(), fraction, rows, pace });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Calls again for a while as long as the failure may pass. */
async function patiently(call: () => Promise<unknown>, mayPass: (error: unknown) => boolean): Promise<unknown> {
  for (const begin = performance.now(); ; ) {
    try {
      return await call();
    } catch (error) {
      if (!mayPass(error) || performance.now() - begin > PATIENCE_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** The server said that it did nothing and should be asked again. */
function isBusy(error: unknown): boolean {
  return error instanceof QueryRefused && [429, 502, 503, 504].includes(error.status);
}

/** Whether an error may pass, so that the request is tried again: also when nothing answered. */
function isPassing(error: unknown): boolean {
  return isBusy(error) || (error instanceof ServiceError && error.code === 'unavailable');
}

interface Report {
  readonly phase: string | null;
  readonly fraction: number | null;
  /** Rows a second and the time that is left, in words. */
  readonly pace: string;
  readonly counts: RowCounts;
  readonly segments: number;
  readonly balance: string | null;
  readonly rejects: TaskResult['rejects'];
}

const NOTHING: Report = {
  phase: null,
  fraction: null,
  pace: '',
  counts: { processed: 0, processedWithError: 0, thrownAway: 0, unparseable: 0 },
  segments: 0,
  balance: null,
  rejects: [],
};

/** Whatever of a report is there: a task that runs, or failed early, has told less. */
function readReport(report: unknown): Report {
  const payload = fieldOf(fieldOf(report, 'ingestionStatsAndErrors'), 'payload');
  if (payload === undefined) return NOTHING;
  const stats = fieldOf(fieldOf(payload, 'rowStats'), 'buildSegments');
  const count = (name: keyof RowCounts): number => numberOf(fieldOf(stats, name)) ?? 0;
  const progress = fieldOf(payload, 'progress');
  const [read, total] = [numberOf(fieldOf(progress, 'bytesRead')), numberOf(fieldOf(progress, 'bytesTotal'))];
  const phase = fieldOf(progress, 'phase') ?? fieldOf(payload, 'ingestionState');
  const events = fieldOf(fieldOf(payload, 'unparseableEvents'), 'buildSegments');
  return {
    phase: typeof phase === 'string' ? phase.toLowerCase().replaceAll('_', ' ') : null,
    fraction: read === undefined || total === undefined || total === 0 ? null : Math.min(1, read / total),
    pace: paceOf(progress),
    balance: balanceOf(fieldOf(payload, 'rows')),
    counts: {
      processed: count('processed'),
      processedWithError: count('processedWithError'),
      thrownAway: count('thrownAway'),
      unparseable: count('unparseable'),
    },
    segments: numberOf(fieldOf(payload, 'segmentsPublished')) ?? 0,
    rejects: Array.isArray(events) ? events.slice(0, SHOWN_REJECTS).map(rejectedLine) : [],
  };
}

function rejectedLine(event: unknown): RejectedLine {
  const source = fieldOf(event, 'source');
  const at = (name: 'record' | 'line'): number | null => numberOf(fieldOf(event, name)) ?? null;
  const place = typeof source === 'string' ? placeText({ source, record: at('record'), line: at('line') }) : '';
  return { place, reason: textOf(fieldOf(event, 'details')), input: textOf(fieldOf(event, 'input')) };
}

function paceOf(progress: unknown): string {
  const rate = numberOf(fieldOf(progress, 'rowsPerSecond'));
  const end = fieldOf(progress, 'expectedEnd');
  const left = typeof end === 'string' ? Math.max(0, Math.round((Date.parse(end) - Date.now()) / 1000)) : undefined;
  return [rate === undefined ? [] : `${withThousands(rate)} rows/s`, left === undefined ? [] : `${left} s to go`].flat().join(', ');
}

/** `read 10 rows: 6 stored, 2 rolled up, 1 filtered, 1 rejected`. */
function balanceOf(rows: unknown): string | null {
  const count = (name: string): string => withThousands(numberOf(fieldOf(rows, name)) ?? 0);
  if (numberOf(fieldOf(rows, 'read')) === undefined) return null;
  return `read ${count('read')} rows: ${count('stored')} stored, ${count('rolledUp')} rolled up, ${count('filtered')} filtered, ${count('rejected')} rejected`;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Details are a list of reasons, inputs a line as text. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join('; ');
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
