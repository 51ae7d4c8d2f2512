// Runs a streaming task: reads records, keeps their rows live, publishes them sequence by sequence.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import { failpoint } from '../../../configuration/failpoint.js';
import type { ParseErrorEntry, RowRates, StreamTaskControl, StreamTaskStatus } from '../../../model/stream/control.js';
import { type Offsets, sameOffsets } from '../../../model/stream/offsets.js';
import { TimeRange } from '../../builder/row-collector.js';
import type { LiveAnnouncement, TaskContext, TaskOutcome } from '../../contract.js';
import { indexReport } from '../../report/index-report.js';
import { ProgressReporter } from '../../report/progress.js';
import { RowStatistics } from '../../report/row-statistics.js';
import { failureOf } from '../../report/task-failure.js';
import { LazyEngine } from '../../task-engine.js';
import { messageBlocks } from '../kafka-format.js';
import { LineRoom } from '../line-buffer.js';
import { LiveRows } from '../live/live-rows.js';
import { before } from '../message-block.js';
import { RATE_TICK_MS, RowMeter } from '../row-rates.js';
import type { StreamBatch, StreamReader } from '../stream-reader.js';
import { pollLimits, type StreamTaskSpec } from '../stream-task.js';
import { PauseGate } from './pause-gate.js';
import { Persists } from './persists.js';
import { SequencePublisher } from './publisher.js';
import { boundsOf, reachOf } from './run-positions.js';
import { type Sequence, Sequences } from './sequences.js';
import { StreamLoss } from './stream-loss.js';

/** Time between two looks at a stream that cannot be reached. */
const RETRY_MS = 500;
/** Time that a supervisor has to set an end for all replicas of a task whose stream is gone, and between two looks whether it has. */
const LOSS_WAIT_MS = 30_000;
const LOSS_LOOK_MS = 100;
/** Threads on which queries run while rows come in. */
const QUERY_THREADS = 1;

type OpenReader = () => Promise<StreamReader>;

/** One run of a streaming task, and its control. */
export class StreamRun implements StreamTaskControl {
  readonly #spec: StreamTaskSpec;
  readonly #context: TaskContext;
  readonly #openReader: OpenReader;
  readonly #statistics: RowStatistics;
  readonly #progress: ProgressReporter;
  readonly #meter: RowMeter;
  readonly #sequences: Sequences;
  readonly #engine: LazyEngine;
  readonly #rows: LiveRows;
  readonly #publisher: SequencePublisher;
  #announcement: LiveAnnouncement | null = null;
  #status: StreamTaskStatus = 'NOT_STARTED';
  #startedMs: number | null = null;
  #isStopped = false;
  /** The supervisor was asked to end the sequence that is read. */
  #isCheckpointAsked = false;
  #sequenceMs = 0;
  /** The stream has lost what comes next. */
  #loss: StreamLoss | null = null;
  /** Last records, by partition, of those that are being taken in. */
  #taking: Offsets = new Map();
  readonly #persists: Persists;
  readonly #gate = new PauseGate();
  readonly #lines = new LineRoom();

  constructor(spec: StreamTaskSpec, context: TaskContext, openReader: OpenReader) {
    const { io, tuning, dataSchema, kind } = spec;
    this.#spec = spec;
    this.#context = context;
    this.#openReader = openReader;
    this.#statistics = new RowStatistics(tuning, context.log, context.now);
    this.#progress = new ProgressReporter(context, this.#statistics);
    this.#meter = new RowMeter(() => ({ ...this.#statistics.counts(), processedBytes: this.#statistics.bytesRead }));
    this.#sequences = new Sequences(kind, io.baseSequenceName, spec.checkpoints, io.end.offsets);
    this.#engine = new LazyEngine(context, QUERY_THREADS);
    const { minimumMessageTime, maximumMessageTime } = io;
    const hasBounds = minimumMessageTime !== null || maximumMessageTime !== null;
    const bounds = { start: minimumMessageTime ?? Number.MIN_SAFE_INTEGER, end: maximumMessageTime ?? Number.MAX_SAFE_INTEGER };
    this.#rows = new LiveRows({
      dataSchema,
      range: new TimeRange(hasBounds ? [bounds] : [], dataSchema.granularity.queryGranularity),
      statistics: this.#statistics,
      engine: this.#engine,
      store: this.#engine.segments(),
      workDirectory: context.workDirectory,
      maxColumns: context.inputLimits.maxColumns,
      allocate: async (sequence, interval) => {
        const id = await context.segments.allocate({ dataSource: dataSchema.dataSource, sequence, interval });
        failpoint('stream.allocated');
        return id;
      },
      changed: () => this.#announcement?.changed(),
    });
    const limits = {
      maxRowsInMemory: tuning.maxRowsInMemory,
      maxBytesInMemory: Math.min(tuning.maxBytesInMemory ?? Infinity, context.maxBytesInMemory / 2),
      periodMs: tuning.persistPeriodMs,
    };
    this.#persists = new Persists(this.#rows, limits, context.now);
    this.#publisher = new SequencePublisher({
      context,
      rows: this.#rows,
      dataSource: dataSchema.dataSource,
      supervisorId: spec.supervisorId,
      handoffTimeoutMs: tuning.handoffTimeoutMs === 0 ? Infinity : tuning.handoffTimeoutMs,
      bounds: (sequence) => boundsOf(spec, sequence),
      dropped: (sequence) => this.#sequences.dropped(sequence),
      published: (sequence, segments) => {
        this.#sequences.published(sequence);
        this.#statistics.store(segments);
      },
    });
  }

  get statistics(): RowStatistics {
    return this.#statistics;
  }

  get progress(): ProgressReporter {
    return this.#progress;
  }

  /** Reads to the end, or until it is stopped. Never throws. */
  async run(): Promise<TaskOutcome> {
    const { taskId } = this.#context;
    const ticks = setInterval(() => this.#meter.tick(), RATE_TICK_MS);
    try {
      await this.#read();
      this.#status = 'PUBLISHING';
      this.#progress.phase('publishing');
      await this.#publisher.finish();
      if (this.#loss !== null) throw await this.#loss.tell(this.#spec, this.#context);
      this.#progress.phase('completed');
      const report = indexReport(taskId, this.#statistics, 'COMPLETED', null, this.#publisher.segmentCount);
      return { succeeded: true, errorMessage: null, report };
    } catch (error) {
      const { errorMessage } = failureOf(error, this.#context);
      const { indexPhase } = this.#progress;
      const report = indexReport(taskId, this.#statistics, indexPhase, errorMessage, this.#publisher.segmentCount);
      return { succeeded: false, errorMessage, report };
    } finally {
      clearInterval(ticks);
      await this.#announcement?.close();
      await this.#rows.close();
      await this.#engine.close();
    }
  }

  async status(): Promise<StreamTaskStatus> {
    return this.#status;
  }

  async startTime(): Promise<number | null> {
    return this.#startedMs;
  }

  async offsets(): Promise<Offsets> {
    return this.#sequences.positions;
  }

  async endOffsets(): Promise<Offsets> {
    return this.#sequences.current.end;
  }

  async pause(): Promise<Offsets> {
    this.#checkReading();
    await this.#gate.hold();
    // The task may have come to its end meanwhile.
    this.#checkReading();
    return this.#sequences.positions;
  }

  async resume(): Promise<void> {
    this.#checkReading();
    this.#gate.release();
  }

  async setEndOffsets(offsets: Offsets, finish: boolean): Promise<void> {
    this.#checkReading();
    this.#sequences.setEnd(offsets, finish);
    this.#gate.release();
  }

  async checkpoints(): Promise<ReadonlyMap<number, Offsets>> {
    return this.#sequences.checkpoints();
  }

  async rowStats(): Promise<RowRates> {
    return this.#meter.rates();
  }

  async parseErrors(): Promise<readonly ParseErrorEntry[]> {
    return this.#statistics.saved.map(({ type, input, details, timeOfExceptionMs }) => ({
      errorType: type,
      input,
      details,
      timeOfExceptionMs,
    }));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#gate.release();
  }

  async #read(): Promise<void> {
    const [context, sequences] = [this.#context, this.#sequences];
    this.#status = 'STARTING';
    this.#announcement = await context.serveLive({
      rows: this.#rows,
      engine: this.#engine.processing(),
      store: this.#engine.segments(),
      reach: () => reachOf(this.#spec, sequences, this.#rows.shown, this.#taking),
    });
    this.#rows.reached(sequences.positions);
    const reader = await this.#open();
    try {
      this.#startedMs = context.now();
      this.#status = 'READING';
      this.#progress.phase('reading');
      failpoint('stream.started');
      for (let hasMore = true; hasMore; ) {
        this.#begin(sequences.current);
        const isWhole = await this.#readSequence(reader);
        if (!isWhole) return;
        const { isLast } = sequences.current;
        await this.#rows.seal();
        this.#publisher.add(sequences.seal());
        hasMore = !isLast;
      }
    } finally {
      // Nobody waits for a pause of what has ended.
      this.#status = 'PUBLISHING';
      this.#gate.release();
      await reader.close().catch((error: unknown) => context.log(`the stream was not closed: ${String(error)}`));
      await this.#persists.settled();
    }
  }

  async #open(): Promise<StreamReader> {
    for (;;) {
      try {
        return await this.#openReader();
      } catch (error) {
        await this.#tryAgain(error);
      }
    }
  }

  #begin({ name }: Sequence): void {
    this.#rows.begin(name);
    this.#sequenceMs = this.#context.now();
    this.#isCheckpointAsked = false;
  }

  /** @returns whether the sequence was read to its end; false: the task was stopped, or the stream has lost all of it */
  async #readSequence(reader: StreamReader): Promise<boolean> {
    const sequences = this.#sequences;
    let assigned = '';
    for (;;) {
      this.#context.signal.throwIfAborted();
      this.#throwFailures();
      if (this.#gate.isAsked) {
        this.#status = 'PAUSED';
        await this.#gate.wait(this.#context.signal);
        this.#status = 'READING';
        continue;
      }
      if (this.#isStopped) return false;
      const left = sequences.unfinished;
      if (left.length === 0) return true;
      if (this.#loss !== null) {
        if (!(await this.#endAt(this.#loss))) return false;
        continue;
      }
      let batch: StreamBatch;
      try {
        // Records behind the end of the last sequence were passed over: they are read again.
        if (assigned !== left.join('\n')) await reader.assign(sequences.places(left, this.#spec.io.start));
        assigned = left.join('\n');
        batch = await reader.poll(pollLimits(this.#spec));
      } catch (error) {
        assigned = '';
        this.#loss = StreamLoss.of(error);
        if (this.#loss === null) await this.#tryAgain(error);
        continue;
      }
      await this.#take(batch);
    }
  }

  /** Has the sequence end where reading has come to, as nothing more comes; false: nothing of it was read. */
  async #endAt(loss: StreamLoss): Promise<boolean> {
    const { current, positions } = this.#sequences;
    const { log, now, signal } = this.#context;
    if (sameOffsets(positions, current.start)) return false;
    if (loss.waitsUntilMs === null) {
      log(`${loss.message}: what was read is published`);
      loss.waitsUntilMs = now() + LOSS_WAIT_MS;
      // An end that was asked for before is that of a sequence which another one follows.
      this.#isCheckpointAsked = false;
    } else if (now() >= loss.waitsUntilMs) {
      this.#sequences.setEnd(positions, true);
      return true;
    } else await sleep(LOSS_LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (!this.#isCheckpointAsked) await this.#askForEnd(true);
    return true;
  }

  /** Waits when a stream cannot be reached; throws any other error. */
  async #tryAgain(error: unknown): Promise<void> {
    const { signal, log } = this.#context;
    if (signal.aborted || !(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
    log(`the stream cannot be reached: ${error.message}`);
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }

  async #take({ records, blocks, positions, isFull }: StreamBatch): Promise<void> {
    const sequences = this.#sequences;
    this.#rows.isBehind = isFull;
    const last = new Map<string, string>();
    for (const { partition, offset } of records) last.set(partition, offset);
    for (const { partition, offsets, count } of blocks) if (count > 0) last.set(partition, String(offsets[count - 1]));
    this.#taking = last;
    // Messages at and behind the end are those of the next sequence.
    const own = {
      records: records.filter(({ partition, offset }) => sequences.includes(partition, offset)),
      blocks: blocks.map((block) => before(block, sequences.endOf(block.partition))).filter(({ count }) => count > 0),
    };
    const hasOwn = own.records.length > 0 || own.blocks.length > 0;
    if (hasOwn) {
      const { inputLimits, workDirectory, kernels } = this.#context;
      const reading = {
        columns: this.#rows.columnsRead,
        workDirectory,
        inputLimits,
        kernels,
        reject: (reason: string, sample: string, before?: number) => this.#statistics.rejectRead(reason, sample, before),
      };
      const blocks = messageBlocks(own, this.#spec.io.inputFormat, reading, this.#statistics, this.#lines);
      for await (const block of blocks) await this.#rows.add(block);
    }
    for (const [partition, offset] of last) sequences.passed(partition, offset);
    for (const [partition, position] of positions) sequences.moved(partition, position);
    this.#rows.reached(sequences.positions);
    if (hasOwn) failpoint('stream.read');
    this.#progress.tick();
    await this.#persists.persistIfDue();
    await this.#askForCheckpoint();
  }

  /** Asks the supervisor to end the sequence once it has rows enough; a task without one ends it where it is. */
  async #askForCheckpoint(): Promise<void> {
    const { tuning } = this.#spec;
    const { now } = this.#context;
    const { current } = this.#sequences;
    if (this.#isCheckpointAsked || current.isLast) return;
    const { total, largest } = this.#rows.openRows();
    const isDue =
      total >= tuning.maxTotalRows ||
      largest >= tuning.maxRowsPerSegment ||
      now() - this.#sequenceMs >= (tuning.handoffPeriodMs ?? Infinity);
    if (isDue) await this.#askForEnd(false);
  }

  /** @param finish  no sequence follows it */
  async #askForEnd(finish: boolean): Promise<void> {
    const { supervisorId, io } = this.#spec;
    const { taskId, log, stream } = this.#context;
    const { current } = this.#sequences;
    const { start } = boundsOf(this.#spec, current);
    try {
      await stream.checkpoint({ supervisorId, taskId, taskGroupId: io.taskGroupId, start, finish });
      this.#isCheckpointAsked = true;
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : null;
      // No Overlord leads: it is asked again later.
      if (code === 'unavailable') return;
      if (code !== 'not_found') throw error;
      log(`no supervisor ${supervisorId} ends the sequence ${current.name}: it ends here`);
      this.#sequences.setEnd(this.#sequences.positions, finish);
    }
  }

  #checkReading(): void {
    if (this.#status === 'PUBLISHING') throw new ServiceError('conflict', 'the task publishes what it has read');
    if (this.#status === 'NOT_STARTED' || this.#status === 'STARTING') throw new ServiceError('unavailable', 'the task is starting');
  }

  #throwFailures(): void {
    const failure = this.#publisher.failure ?? this.#persists.failure;
    if (failure !== null) throw failure.error;
  }
}
