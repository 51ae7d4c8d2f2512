// Plans long statements and queries on a thread.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { CancelSignal } from '../../base/cancel-signal.js';
import { TIMER_MS_MAX } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { SentOnce } from '../../base/sent-once.js';
import type { TaskRead } from '../../cluster/overlord/submission.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { PlannedStatement } from '../../model/statement.js';
import type { PlannedNative } from '../../planner/native/plan-native.js';
import type { UnknownParameter } from '../../planner/sql/bind/parameters.js';
import type { SqlSchema } from '../../planner/sql/catalog/schema.js';
import type { SqlRequest } from '../../planner/sql/plan-sql.js';
import { PlanWatch, planningTimeout } from '../../planner/sql/plan-watch.js';
import type { SqlBody, SqlBodyText } from '../queries/sql-body.js';
import type { PlanAssignment, PlanKind, PlanNeeds, PlanOutcome, PlanResult, SentTable } from './plan-worker.js';
import { type NamedTables, tablesNamedIn, takeSnapshot } from './schema-snapshot.js';

type Columns = readonly ColumnSchema[];

/** Less than the main thread's: what is nested too deeply there is so here, too. */
const STACK_MEGABYTES = 0.9;
/** Idle time after which the thread ends. */
const IDLE_MS = 60_000;
/** Time to read a task, whom no client waits for with a timeout of its own. */
const TASK_MS_MAX = 300_000;
const NEVER = new AbortController().signal;

/**
 * Characters of statements and native queries that are planned where they come in: a few milliseconds, at a millisecond or two
 * for a thousand characters. Longer ones would keep everybody else waiting, and are planned on a thread.
 */
export const PLANNED_HERE_LENGTH_MAX = 4096;
/** Bytes of a body of JSON that are read where it comes in. */
export const READ_HERE_BYTES_MAX = 64 * 1024;

export interface WorkLimits {
  readonly watch: PlanWatch;
  readonly signal: CancelSignal;
}

/**
 * Reads and plans what is long on a thread of its own, one at a time, so that other requests go on meanwhile. It begins with
 * the first of them. What takes too long, or is cancelled, ends with the thread; the next statement has another one.
 */
export class PlanThread {
  #worker: Worker | undefined;
  /** Tables that the worker knows. */
  #sent = new SentOnce<Columns>();
  #idle: NodeJS.Timeout | undefined;
  readonly #queuedMax: number;
  #queued = 0;
  /** Settled when nobody plans. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param queuedMax  work that may wait, the one under way among it */
  constructor(queuedMax: number) {
    this.#queuedMax = queuedMax;
  }

  /**
   * Plans like `planSql`, over the current schema.
   * @throws ServiceError also `cancelled` by the signal, `timeout` in the middle of a stage, `resource_limit` when the thread runs out of memory
   */
  plan(request: SqlRequest, schema: SqlSchema, now: EpochMs, limits: WorkLimits): Promise<PlannedStatement> {
    // Whoever asks may hold more than this, such as the text of the body.
    const { query, context, parameters, schemaName, rulesOff } = request;
    const asked = { query, context, parameters, ...(schemaName && { schemaName }), ...(rulesOff && { rulesOff }) };
    const snapshot = takeSnapshot(query, schema);
    return this.#inTurn(
      'sql',
      (tables) => ({ request: asked, schema: { ...snapshot, tables: referred(snapshot.tables, tables) }, now }),
      limits,
    );
  }

  /** Plans like `planNative`; `body` holds the JSON bytes. */
  planNative(body: Buffer, lenient: boolean, tables: NamedTables, limits: WorkLimits): Promise<PlannedNative> {
    const named = tablesNamedIn(body, tables);
    return this.#inTurn('native', (sent) => ({ body, lenient, tables: referred(named, sent) }), limits);
  }

  /** Reads a body like `readSqlBody`. */
  async readSqlBody(body: SqlBodyText, limits: WorkLimits): Promise<SqlBody> {
    const read = await this.#inTurn('sqlBody', () => body, limits);
    return { ...read, query: read.query ?? read.sql };
  }

  /** Reads the fields of a JDBC request like the codec of its path. */
  readAvatica(path: string, body: Buffer, limits: WorkLimits): Promise<object> {
    return this.#inTurn('avatica', () => ({ path, body }), limits);
  }

  /** Finds the parameters of a statement like `unknownParameters`. */
  unknownParameters(query: string, limits: WorkLimits): Promise<readonly UnknownParameter[]> {
    return this.#inTurn('parameters', () => query, limits);
  }

  /** Reads and checks a task's payload like `readTask`. */
  readTask(document: string, now: EpochMs): Promise<TaskRead> {
    const limits = { watch: new PlanWatch(performance.now() + TASK_MS_MAX), signal: NEVER };
    return this.#inTurn('task', () => ({ document, now }), limits);
  }

  /** Checks a request to the sampler like `readSampleLimits`. */
  readSampleLimits(body: Uint8Array): Promise<{ readonly timeoutMs: number }> {
    const limits = { watch: new PlanWatch(performance.now() + TASK_MS_MAX), signal: NEVER };
    return this.#inTurn('sample', () => body, limits);
  }

  #inTurn<Kind extends PlanKind>(
    kind: Kind,
    needsOf: (sent: SentOnce<Columns>) => PlanNeeds<Kind>,
    limits: WorkLimits,
  ): Promise<PlanResult<Kind>> {
    if (this.#queued >= this.#queuedMax)
      return Promise.reject(
        new ServiceError('capacity_exceeded', `${this.#queued} wait to be planned, as many as svc.broker.planning.maxQueued allows`),
      );
    this.#queued++;
    const done = this.#turn
      .then(() => this.#work(kind, needsOf, limits))
      .finally(() => {
        this.#queued--;
      });
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #work<Kind extends PlanKind>(
    kind: Kind,
    needsOf: (sent: SentOnce<Columns>) => PlanNeeds<Kind>,
    { watch, signal }: WorkLimits,
  ): Promise<PlanResult<Kind>> {
    if (signal.aborted) throw signal.reason;
    const { remainingMs } = watch;
    if (remainingMs <= 0) throw planningTimeout();
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const outcome = await this.#answer(this.#worker, { kind, needs: needsOf(this.#sent), remainingMs }, signal);
    this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref();
    // To receive a large plan takes long enough without running it.
    await nextTurn();
    for (const stage of outcome.stages) watch.add(stage);
    if ('result' in outcome) return outcome.result;
    throw new ServiceError(outcome.code, outcome.message);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./plan-worker.js', import.meta.url), { resourceLimits: { stackSizeMb: STACK_MEGABYTES } });
    // A process that is about to end does not wait for it.
    worker.unref();
    this.#sent = new SentOnce();
    return worker;
  }

  #answer<Kind extends PlanKind>(worker: Worker, assignment: PlanAssignment<Kind>, signal: CancelSignal): Promise<PlanOutcome<Kind>> {
    return new Promise((resolve, reject) => {
      const giveUp = (error: unknown) => {
        this.#worker = undefined;
        void worker.terminate();
        end();
        reject(error);
      };
      const cancel = () => giveUp(signal.reason);
      const answered = (outcome: PlanOutcome<Kind>) => {
        end();
        resolve(outcome);
      };
      const failed = (error: Error) => giveUp(failureOf(error));
      const timer = setTimeout(() => giveUp(planningTimeout()), Math.min(assignment.remainingMs, TIMER_MS_MAX));
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        worker.off('message', answered).off('error', failed);
      };
      signal.addEventListener('abort', cancel, { once: true });
      worker.once('message', answered).once('error', failed);
      worker.postMessage(assignment);
    });
  }
}

/** Tables as they go to the thread: their columns once, then by number. */
function referred<Table extends { readonly columns: Columns }>(
  tables: ReadonlyMap<string, Table>,
  sent: SentOnce<Columns>,
): readonly SentTable<Table>[] {
  return Array.from(tables, ([name, { columns, ...rest }]) => [name, rest, sent.refer(columns, columns)] as const);
}

function failureOf(error: Error): ServiceError {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory
    ? new ServiceError('resource_limit', 'planning the statement takes more memory than its thread may have', error)
    : new ServiceError('internal', `the planning thread failed: ${error.message}`, error);
}
