// Log of running and finished queries, with their profiles.

import { Canceller, type CancelSignal } from '../../base/cancel-signal.js';
import type { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { formatInstant } from '../../base/time.js';
import { type Caller, demand, refuseAccess } from '../../model/access/authorizer.js';
import { type Action, dataSource } from '../../model/access/resource.js';
import type { Frame } from '../../model/frame.js';
import { addStage, newProfile, PROFILE_COUNTERS, type Profile, STAGES } from '../../model/profile.js';
import type { Span, Tracer } from '../../model/tracing/span.js';
import type { PlanStage } from '../../planner/sql/plan-watch.js';
import { mayHandle } from '../access/readable.js';
import { asServiceError } from '../errors.js';
import type { QueryMetrics } from '../metrics/query-metrics.js';
import type { LoggedRequest, RequestLog, RequestOutcome } from './request-log.js';

export interface QueryDescription {
  readonly queryId: string;
  /** A native query's type, or `sql`. */
  readonly queryType: string;
  readonly dataSource: string | null;
  /** The datasources that it reads. */
  readonly tables: readonly string[];
  readonly user: string;
  /** Its sender sees a part of what it reads: figures of the rest would tell of rows that are hidden. */
  readonly isUnderPolicy?: boolean;
  /** The statement of a SQL query. */
  readonly sql?: string;
  /** Planning figures of a SQL query. */
  readonly planning?: Planning;
}

export interface Planning {
  /** The plan was there already. */
  readonly cached: boolean;
  /** Each stage and each rule, when it was not. */
  readonly stages: readonly PlanStage[];
}

export type QueryState = { readonly state: 'running' | 'done' } | { readonly state: 'failed'; readonly code: string };

/** The queries that a broker answered last, with what each of them did; the oldest make room for new ones. */
export class QueryLog {
  readonly #now: () => EpochMs;
  readonly #onQuery: (() => void) | undefined;
  readonly #requests: RequestLog | undefined;
  readonly #metrics: QueryMetrics | undefined;
  readonly #tracer: Tracer | undefined;
  /**
   * The kept runs in a ring: the next one replaces the oldest. There is no map by id beside it: one that
   * entries leave as fast as they come keeps garbage alive, and ids are seldom looked for.
   */
  readonly #circle: (QueryRun | undefined)[];
  #next = 0;

  /**
   * @param options.onQuery   told of each query that begins
   * @param options.requests  where queries are logged that ended; left out: nowhere
   * @param options.metrics   told of each query that ended
   * @param options.tracer    told of each query; left out: nobody listens
   */
  constructor(options: {
    readonly kept: number;
    now(): EpochMs;
    readonly onQuery?: () => void;
    readonly requests?: RequestLog | undefined;
    readonly metrics?: QueryMetrics;
    readonly tracer?: Tracer | undefined;
  }) {
    this.#tracer = options.tracer;
    this.#metrics = options.metrics;
    this.#requests = options.requests;
    this.#circle = new Array<QueryRun | undefined>(options.kept).fill(undefined);
    this.#now = options.now;
    this.#onQuery = options.onQuery;
  }

  /** Whether `begin` has a use for requests as they were sent. */
  get logsRequests(): boolean {
    return this.#requests !== undefined;
  }

  /** Whether `begin` has a use for the header `traceparent`. */
  get isTraced(): boolean {
    return this.#tracer !== undefined;
  }

  /** A statement that was handed over as a task. */
  handedOver(request: LoggedRequest, caller: Caller, taskId: string, receivedMs: number): void {
    this.#requests?.handedOver(request, caller.identity.user, taskId, performance.now() - receivedMs);
  }

  /** A query that was refused before it began, where no response tells of it. */
  refused(request: LoggedRequest, caller: Caller, thrown: unknown): void {
    this.#requests?.refusedQuery(request, caller.identity.user, asServiceError(thrown));
  }

  /**
   * @param receivedMs  `performance.now()` when the request came in: what lies between is the stage `plan`
   * @param request     for the request log
   * @param traceparent the header that came with it
   */
  begin(description: QueryDescription, receivedMs: number, request?: LoggedRequest, traceparent?: string): QueryRun {
    const requests = this.#requests;
    if (request !== undefined) requests?.begin(request);
    const onEnd = requests && request && ((outcome: RequestOutcome) => requests.write(request, outcome));
    const run = new QueryRun(description, {
      startedAt: this.#now(),
      receivedMs,
      onEnd,
      metrics: this.#metrics,
      span: this.#tracer?.begin(`broker ${description.queryType}`, traceparent),
    });
    this.#onQuery?.();
    if (this.#circle.length === 0) return run;
    this.#circle[this.#next] = run;
    this.#next = (this.#next + 1) % this.#circle.length;
    return run;
  }

  /** Oldest first; of queries with one id the last one. */
  runs(): readonly QueryRun[] {
    const ids = new Set<string>();
    const newestFirst: QueryRun[] = [];
    for (const run of this.#newestFirst()) {
      if (ids.has(run.description.queryId)) continue;
      ids.add(run.description.queryId);
      newestFirst.push(run);
    }
    return newestFirst.reverse();
  }

  /** The last query with this id that the caller sent, or that the state of the cluster is open to the caller for. */
  find(queryId: string, caller: Caller): QueryRun | undefined {
    for (const run of this.#newestFirst())
      if (run.description.queryId === queryId && mayHandle(caller, run.description.user, 'READ')) return run;
    return undefined;
  }

  /**
   * Whether the caller may end what runs under an id: each query of it is the caller's, or one whose datasources are open to the caller;
   * one without datasources is its sender's alone.
   * @param action  the right to these datasources
   * @returns false when nothing is known to run under the id
   * @throws ServiceError `forbidden`
   */
  mayCancel(queryId: string, caller: Caller, action: Action): boolean {
    if (mayHandle(caller, null, 'WRITE')) return true;
    let isKnown = false;
    for (const { description, state } of this.#newestFirst()) {
      if (description.queryId !== queryId || state.state !== 'running') continue;
      isKnown = true;
      if (description.user === caller.identity.user) continue;
      if (description.tables.length === 0) refuseAccess();
      demand(
        caller,
        description.tables.map((name) => ({ resource: dataSource(name), action })),
      );
    }
    return isKnown;
  }

  *#newestFirst(): Generator<QueryRun> {
    const { length } = this.#circle;
    for (let back = 1; back <= length; back++) {
      const run = this.#circle[(this.#next - back + length) % length];
      if (run === undefined) return;
      yield run;
    }
  }
}

const RUNNING: QueryState = { state: 'running' };
const DONE: QueryState = { state: 'done' };
const LEFT: QueryState = { state: 'failed', code: 'cancelled' };
const GONE = { code: 'cancelled', message: 'the client closed the connection' } as const;

/** One query from its plan to the last byte of its answer. */
export class QueryRun {
  readonly profile: Profile = newProfile();
  readonly #description: QueryDescription;
  readonly #startedAt: EpochMs;
  readonly #receivedMs: number;
  #waitedMs = 0;
  #rows = 0;
  #milliseconds: number | null = null;
  #state: QueryState = RUNNING;
  #failure: ServiceError | null = null;
  #ending: Canceller | undefined;
  /** Called once, when the answer has ended. */
  #onEnd: ((outcome: RequestOutcome) => void) | undefined;
  readonly #metrics: QueryMetrics | undefined;
  readonly #span: Span | undefined;

  constructor(
    description: QueryDescription,
    {
      startedAt,
      receivedMs,
      onEnd,
      metrics,
      span,
    }: {
      readonly startedAt: EpochMs;
      readonly receivedMs: number;
      readonly onEnd?: ((outcome: RequestOutcome) => void) | undefined;
      readonly metrics?: QueryMetrics | undefined;
      readonly span?: Span | undefined;
    },
  ) {
    this.#span = span;
    this.#metrics = metrics;
    this.#onEnd = onEnd;
    this.#description = description;
    this.#startedAt = startedAt;
    this.#receivedMs = receivedMs;
    addStage(this.profile, 'plan', performance.now() - receivedMs);
  }

  /** Place of the query in a trace, for whoever works for it. */
  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** Fired when the query is cancelled or its time is up before its answer is whole, whether anyone reads that or not. */
  get ended(): CancelSignal {
    this.#ending ??= new Canceller();
    return this.#ending;
  }

  /** Ends the entry when its runner has ended the query. */
  end(reason: unknown): void {
    this.#ending ??= new Canceller();
    this.#ending.abort(reason);
  }

  /** The same frames; what it takes to wait for them is not part of writing. */
  async *frames(frames: AsyncIterable<Frame>): AsyncGenerator<Frame> {
    let startMs = performance.now();
    for await (const frame of frames) {
      this.#waitedMs += performance.now() - startMs;
      this.#rows += frame.rowCount;
      yield frame;
      startMs = performance.now();
    }
    this.#waitedMs += performance.now() - startMs;
  }

  /** The same chunks; the query ends with them. */
  async *body<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
    let madeMs = 0;
    let bytes = 0;
    let startMs = performance.now();
    // Left early, nobody reads the rest.
    this.#state = LEFT;
    try {
      for await (const chunk of chunks) {
        madeMs += performance.now() - startMs;
        if (this.#onEnd !== undefined) bytes += bytesOf(chunk);
        yield chunk;
        startMs = performance.now();
      }
      this.#state = DONE;
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      if (this.#state === LEFT && this.#ending?.aborted === true) this.#fail(this.#ending.reason);
      if (this.#state.state === 'done') madeMs += performance.now() - startMs;
      addStage(this.profile, 'write', Math.max(0, madeMs - this.#waitedMs), this.#rows, this.#rows);
      this.#milliseconds = performance.now() - this.#receivedMs;
      this.#tellEnd(bytes);
    }
  }

  /** The whole answer, of rows that are all here; the query ends with it. */
  whole(rows: number, write: () => string): string {
    const startMs = performance.now();
    let text = '';
    try {
      text = write();
      this.#state = DONE;
      return text;
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      const endMs = performance.now();
      addStage(this.profile, 'write', endMs - startMs, rows, rows);
      this.#milliseconds = endMs - this.#receivedMs;
      this.#tellEnd(this.#onEnd === undefined ? 0 : bytesOf(text));
    }
  }

  #fail(thrown: unknown): void {
    this.#failure = asServiceError(thrown);
    this.#state = { state: 'failed', code: this.#failure.code };
  }

  #tellEnd(bytes: number): void {
    const [onEnd, milliseconds] = [this.#onEnd, this.#milliseconds ?? 0];
    // The request is let go of: the entry may be kept for long.
    this.#onEnd = undefined;
    const { queryId, queryType, dataSource, user } = this.#description;
    const [startedAt, planningMs] = [this.#startedAt, this.profile.stages.plan.milliseconds];
    const errorCode = this.#state.state === 'failed' ? this.#state.code : undefined;
    this.#metrics?.ended({ queryType, dataSource, milliseconds, planningMs, errorCode });
    this.#span?.end({ 'dolmen.query.id': queryId, ...(dataSource === null ? {} : { 'dolmen.datasource': dataSource }) }, errorCode);
    const left = this.#state === LEFT ? GONE : null;
    onEnd?.({ startedAt, queryType, milliseconds, planningMs, bytes, user, queryId, error: this.#failure ?? left });
  }

  get description(): QueryDescription {
    return this.#description;
  }

  get startedAt(): EpochMs {
    return this.#startedAt;
  }

  get state(): QueryState {
    return this.#milliseconds === null ? RUNNING : this.#state;
  }

  /** One line, `name=value` joined by `; `. Of an answer that is still being made: up to now. */
  summary(): string {
    const { profile } = this;
    const { stages } = profile;
    if (this.#description.isUnderPolicy === true) return `milliseconds=${millisecondsText(this.#elapsedMs())}`;
    let line = `milliseconds=${millisecondsText(this.#elapsedMs())}; rowsRead=${stages.filter.rowsIn}; rowsMatched=${stages.filter.rowsOut}`;
    for (const stage of STAGES) {
      const { milliseconds } = stages[stage];
      if (milliseconds > 0) line += `; ${stage}=${millisecondsText(milliseconds)}`;
    }
    for (const counter of PROFILE_COUNTERS) if (profile[counter] > 0) line += `; ${counter}=${profile[counter]}`;
    return line;
  }

  /** The whole of it, as JSON writes it. */
  report(): Readonly<Record<string, unknown>> {
    const { stages } = this.profile;
    const { planning, tables: _tables, user: _user, isUnderPolicy = false, ...description } = this.#description;
    const whole = {
      ...description,
      startTime: formatInstant(this.#startedAt),
      ...this.state,
      milliseconds: round(this.#elapsedMs()),
      ...(planning === undefined ? {} : { planning: roundPlanning(planning) }),
    };
    if (isUnderPolicy) return { ...whole, stages: [], kernels: [] };
    return {
      ...whole,
      stages: STAGES.filter((stage) => Object.values(stages[stage]).some((value) => value > 0)).map((stage) => {
        const { milliseconds, rowsIn, rowsOut } = stages[stage];
        const rowsPerSecond = rowsIn > 0 && milliseconds > 0 ? Math.round((rowsIn / milliseconds) * 1000) : null;
        return { stage, milliseconds: round(milliseconds), rowsIn, rowsOut, rowsPerSecond };
      }),
      kernels: Object.entries(this.profile.kernels)
        .sort(([, a], [, b]) => b.milliseconds - a.milliseconds)
        .map(([kernel, { calls, rows, milliseconds }]) => ({
          kernel,
          calls: Math.round(calls),
          rows: Math.round(rows),
          milliseconds: round(milliseconds),
          rowsPerSecond: milliseconds > 0 ? Math.round((rows / milliseconds) * 1000) : null,
        })),
      ...Object.fromEntries(PROFILE_COUNTERS.map((counter) => [counter, this.profile[counter]])),
    };
  }

  #elapsedMs(): number {
    return this.#milliseconds ?? performance.now() - this.#receivedMs;
  }
}

function bytesOf(chunk: unknown): number {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk instanceof Uint8Array ? chunk.length : 0;
}

function roundPlanning({ cached, stages }: Planning): Planning {
  return { cached, stages: stages.map(({ stage, milliseconds }) => ({ stage, milliseconds: round(milliseconds) })) };
}

/** Microseconds are as fine as the clock. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** Milliseconds as `round` prints them; printing two integers costs a third of printing a fraction, and every answer has some. */
function millisecondsText(milliseconds: number): string {
  const microseconds = Math.round(milliseconds * 1000);
  const rest = microseconds % 1000;
  return rest === 0 ? String(microseconds / 1000) : `${(microseconds - rest) / 1000}${FRACTIONS[rest]}`;
}

/** `.001` to `.999`, without zeros at the end. */
const FRACTIONS: readonly string[] = Array.from({ length: 1000 }, (_, micro) => `.${String(micro).padStart(3, '0').replace(/0+$/, '')}`);
