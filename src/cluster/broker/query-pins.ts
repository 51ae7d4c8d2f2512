// Running queries of the Broker, and the views that they hold on to.

import type { CancelSignal } from '../../base/cancel-signal.js';
import type { Clock } from '../../base/clock/clock.js';
import type { PinnedSegments } from '../../model/publication.js';
import { parseSegmentId } from '../../model/segment-id.js';
import { type Deadline, startDeadline } from '../rpc/deadline.js';
import type { ReachReport } from '../rpc/services.js';
import type { DataSourceView } from './block-view.js';
import type { QueryOptions } from './contract.js';
import type { RunningQueries } from './running-queries.js';
import { type Asked, namedSegments, pinnedSegments, refuseUnreadable } from './scatter.js';
import { untilCovered } from './stream-coverage.js';
import { withUnloaded } from './unloaded.js';
import type { ClusterView, PinnedView } from './view.js';

/** A query from its begin to its end. */
export interface RunningQuery {
  readonly deadline: Deadline;
  /** Views that it reads. */
  readonly pinned: PinnedView[];
  readonly tables: readonly string[];
  readonly options: QueryOptions;
  /** Listens to the deadline. */
  readonly told: (() => void) | undefined;
}

interface QueryPinsOptions {
  readonly view: ClusterView;
  /** Servers that do not answer at the moment. */
  readonly silent: () => ReadonlySet<string>;
  readonly running: RunningQueries;
  /** Has the view brought up to date; not waited for. */
  readonly wake: () => void;
  readonly now: () => number;
  readonly clock: Clock | undefined;
}

/** Pins views that show every row of streams that was in an answer before. */
export class QueryPins {
  readonly #options: QueryPinsOptions;
  #waiting = 0;

  constructor(options: QueryPinsOptions) {
    this.#options = options;
  }

  /** Whether a query waits for rows that tasks read again: they are to tell how far they are. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** Counts the query as running. */
  begin(tables: readonly string[], options: QueryOptions): RunningQuery {
    const deadline = startDeadline(options.deadlineMs - this.#options.now(), options.signal, this.#options.clock);
    const { onEnd } = options;
    const told = onEnd && (() => onEnd(deadline.signal.reason));
    if (told !== undefined) deadline.signal.addEventListener('abort', told, { once: true });
    this.#options.running.add(options.queryId, deadline);
    return { deadline, pinned: [], tables, options, told };
  }

  /** Holds on to the segments of a query; false when rows are missing: `pinLater` waits for them. */
  pin({ tables, options, pinned }: RunningQuery): boolean {
    const { realtimeSegmentsOnly, publishedOnly, unloaded } = options;
    const { view } = this.#options;
    if (realtimeSegmentsOnly !== true && publishedOnly !== true)
      for (const table of tables) if (view.streams.missing(table) !== undefined) return false;
    for (const table of tables) {
      const pin = view.pin(table);
      const part =
        realtimeSegmentsOnly === true ? pin?.view.only('live') : publishedOnly === true ? pin?.view.only('published') : pin?.view;
      const whole = unloaded === undefined ? part : withUnloaded(table, part, unloaded);
      if (whole !== undefined) pinned.push({ view: whole, release: () => pin?.release() });
    }
    return true;
  }

  /** @throws ServiceError `segments_unavailable` when rows are still missing after some time */
  async pinLater(query: RunningQuery): Promise<void> {
    await this.#untilCovered(query.tables, query.deadline.signal);
    // Nothing has changed since it was found covered.
    while (!this.pin(query)) await this.#untilCovered(query.tables, query.deadline.signal);
  }

  /** @param isWhole  all of it was read */
  end({ deadline, told, pinned }: RunningQuery, isWhole = false): void {
    if (told !== undefined) deadline.signal.removeEventListener('abort', told);
    for (const pin of pinned) pin.release();
    this.#options.running.remove(deadline);
    deadline.release();
    // When one part has failed or the client left early, nobody reads the other parts any more.
    if (!isWhole) deadline.cancel();
  }

  /** Whether the newest rows of a task are shown. */
  leads(host: string): boolean {
    return this.#options.view.streams.leads(host);
  }

  /**
   * Takes note of the rows that an answer of a task has.
   * @param led  whether it led when it was asked
   */
  answered(host: string, report: ReachReport, led: boolean): void {
    this.#options.view.streams.answered(host, report, led);
  }

  /** Has replicas of a task that does not answer serve its segments, and waits until they have the rows that it had. */
  async lost(host: string, segmentIds: readonly string[], signal: CancelSignal): Promise<void> {
    const { view, silent } = this.#options;
    if (!view.isTask(host)) return;
    view.demote(host, silent());
    const dataSource = parseSegmentId(segmentIds[0] ?? '')?.dataSource;
    if (dataSource !== undefined && view.streams.missing(dataSource) !== undefined) await this.#untilCovered([dataSource], signal);
  }

  async #untilCovered(tables: readonly string[], signal: CancelSignal): Promise<void> {
    const { view, wake, now, clock } = this.#options;
    const missing = () => {
      for (const table of tables) {
        const rows = view.streams.missing(table);
        if (rows !== undefined) return [table, rows] as const;
      }
      return undefined;
    };
    this.#waiting++;
    try {
      await untilCovered({ missing, wake, now, clock, signal });
    } finally {
      this.#waiting--;
    }
  }
}

/**
 * Time chunks of all tables of the query.
 * @throws ServiceError when metadata of a segment in the intervals cannot be read, or a segment that the query names is not there
 */
export function chunksOf(query: RunningQuery, asked: Asked, ofTask: PinnedSegments | null = null): DataSourceView['chunks'] {
  const { pinned, tables, options } = query;
  for (const table of options.coverage === undefined ? [] : tables)
    options.coverage?.note(pinned.find(({ view }) => view.dataSource === table)?.view, asked.intervals);
  for (const { view } of pinned) refuseUnreadable(view.unreadable, asked.intervals);
  const [only, ...others] = pinned;
  const visible = only !== undefined && others.length === 0 ? only.view.chunks : pinned.flatMap(({ view }) => view.chunks);
  return namedSegments(ofTask === null ? visible : pinnedSegments(visible, ofTask), asked);
}
