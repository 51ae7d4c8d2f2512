// The worker of a simulation: runs tasks as a MiddleManager does, without processes of their own.

import { ServiceError } from '../../src/base/errors.js';
import type { Interval } from '../../src/base/instant.js';
import { toServiceError } from '../../src/cluster/rpc/message.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { MiddleManagerService, OverlordService, TaskAssignment, WorkerStatus } from '../../src/cluster/rpc/services.js';
import { untilLed } from '../../src/cluster/rpc/until-led.js';
import type { PublishRequest, PushedSegment } from '../../src/model/publication.js';
import type { SegmentId, VisibleSegment } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { StreamPosition } from '../../src/model/stream/offsets.js';
import { taskFileName } from '../../src/model/task-file-name.js';
import type { Files } from './files.js';
import type { Process } from './world.js';

/** Payload of a task of a simulation. */
export interface SimulatedTask {
  readonly id: string;
  readonly kind: 'append' | 'replace' | 'rewrite' | 'stream';
  readonly dataSource: string;
  /** Time chunks that it writes. */
  readonly chunks: readonly Interval[];
  /** Rows of each chunk; of a stream: rows by offset modulo the number of chunks. */
  readonly rows: readonly (readonly number[])[];
  readonly isConcurrent: boolean;
  readonly fails: boolean;
  readonly priority: number;
  readonly begin?: number;
  readonly sequences?: number;
}

/** Messages of one sequence of a stream. */
export const SEQUENCE_LENGTH = 6;
/** Rows of streams are numbered from here by their offset. */
export const STREAM_ROWS = 1_000_000;

const PUBLISH_MS = 60_000;
const REPORT_RETRY_MS = 500;

export interface WorkerOptions {
  readonly process: Process;
  readonly peers: Peers;
  readonly files: Files;
  readonly capacity: number;
}

/** Takes tasks as `MiddleManager` does: by the number of the run, with a slot each. */
export class Worker implements MiddleManagerService {
  readonly #options: WorkerOptions;
  readonly #running = new Map<string, { readonly attempt: number; isStopped: boolean }>();

  readonly #ending = new Set<string>();

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async status(): Promise<WorkerStatus> {
    const { process, capacity } = this.#options;
    const { name: host, session } = process;
    return {
      host,
      session,
      category: 'c',
      capacity,
      enabled: true,
      runningTasks: [...this.#running.keys()],
      endingTasks: [...this.#ending],
      lastCompletedMs: 0,
    };
  }

  async assign({ taskId, attempt, payload }: TaskAssignment): Promise<void> {
    const earlier = this.#running.get(taskId);
    if (earlier?.attempt === attempt) return;
    if (earlier !== undefined) {
      earlier.isStopped = true;
      throw new ServiceError('capacity_exceeded', 'an earlier run of the task is being stopped');
    }
    if (this.#running.size >= this.#options.capacity) throw new ServiceError('capacity_exceeded', 'all slots are taken');
    const run = { attempt, isStopped: false };
    this.#running.set(taskId, run);
    void this.#run(payload as SimulatedTask, run);
  }

  async shutdownTask(taskId: string): Promise<void> {
    const run = this.#running.get(taskId);
    if (run !== undefined) run.isStopped = true;
  }

  progress = async (): Promise<null> => null;
  readLog(): AsyncIterable<Uint8Array> {
    throw new Error('not asked');
  }
  chat = async (): Promise<null> => null;

  async #run(task: SimulatedTask, run: { readonly attempt: number; isStopped: boolean }): Promise<void> {
    const { process, peers } = this.#options;
    process.world.note(`${process.name} begins run ${run.attempt} of ${task.id}`);
    const error = await this.#work(task, run).then(
      () => null,
      (failure: unknown) => toServiceError(failure).message,
    );
    this.#ending.add(task.id);
    this.#running.delete(task.id);
    const counted = { session: process.session, attempt: run.attempt };
    const end = { taskId: task.id, run: counted, succeeded: error === null, errorMessage: error, report: null };
    process.world.note(`${process.name} ends run ${run.attempt} of ${task.id}: ${error ?? 'done'}`);
    for (;;) {
      try {
        await peers.leading('overlord').taskEnded(end);
        this.#ending.delete(task.id);
        return;
      } catch {
        await process.sleep(REPORT_RETRY_MS);
      }
    }
  }

  async #work(task: SimulatedTask, run: { readonly attempt: number; readonly isStopped: boolean }): Promise<void> {
    const { process } = this.#options;
    const pause = async (): Promise<void> => {
      await process.sleep(process.world.chance.is(0.1) ? process.world.chance.between(500, 4000) : process.world.chance.between(10, 600));
      if (run.isStopped) throw new ServiceError('cancelled', 'the task was stopped');
    };
    await pause();
    if (task.kind === 'stream') return this.#stream(task, run, pause);
    const read = task.kind === 'rewrite' ? await this.#read(task, run) : undefined;
    await pause();
    const rows = read === undefined ? task.rows : task.chunks.map((chunk) => rowsWithin(read, chunk, this.#options.files));
    const segments = task.chunks.flatMap((interval, at) => {
      const all = rows[at] ?? [];
      // Two segments where there are rows enough, so that a chunk can be there in part.
      const parts = all.length > 2 ? [all.slice(0, 2), all.slice(2)] : all.length > 0 ? [all] : [];
      return parts.map((part, number) => this.#push(task, run.attempt, { interval, name: `${at}-${number}`, rows: part }));
    });
    if (task.fails) throw new ServiceError('input_invalid', 'its input cannot be read');
    await pause();
    const mode: PublishRequest['mode'] = task.kind === 'append' ? { kind: 'append' } : { kind: 'replace', intervals: task.chunks };
    const inputs = read === undefined ? {} : { inputs: read.map(({ segment }) => segmentIdText(segment.id)) };
    await this.#publish({ taskId: task.id, dataSource: task.dataSource, segments, mode, ...inputs }, run);
    await pause().catch(() => undefined);
  }

  #read(task: SimulatedTask, run: { readonly isStopped: boolean }): Promise<readonly VisibleSegment[]> {
    return this.#led(run, (overlord) => overlord.visibleSegments(task.id, task.dataSource, task.chunks));
  }

  #led<Result>(run: { readonly isStopped: boolean }, ask: (overlord: OverlordService) => Promise<Result>): Promise<Result> {
    const { peers, process } = this.#options;
    const options = { limitMs: PUBLISH_MS, keepsTrying: () => !run.isStopped, clock: process.clock };
    return untilLed(async () => ask(peers.leading('overlord')), options);
  }

  async #publish(request: PublishRequest, run: { readonly attempt: number; readonly isStopped: boolean }): Promise<readonly string[]> {
    const counted = { session: this.#options.process.session, attempt: run.attempt };
    return this.#led(run, (overlord) => overlord.publish(request, counted));
  }

  #push(
    task: SimulatedTask,
    attempt: number,
    { interval, name, rows }: { readonly interval: Interval; readonly name: string; readonly rows: readonly number[] },
  ): PushedSegment {
    const { files, process } = this.#options;
    const path = `${taskFileName(task.id)}/${attempt}/${process.session}/${name}`;
    files.write(path, { rows, modifiedMs: process.clock.now() });
    const columns = [{ name: '__time', type: 'long', hasNulls: false }] as unknown as PushedSegment['columns'];
    return {
      interval,
      part: null,
      loadSpec: { type: 'local', path },
      sizeBytes: 100,
      rowCount: rows.length,
      dimensions: [],
      metrics: [],
      columns,
    };
  }

  /** Reads sequence after sequence: each gets its segments, and is published with its offsets. */
  async #stream(
    task: SimulatedTask,
    run: { readonly attempt: number; readonly isStopped: boolean },
    pause: () => Promise<void>,
  ): Promise<void> {
    const { dataSource } = task;
    const counted = { taskId: task.id, run: { session: this.#options.process.session, attempt: run.attempt } };
    for (let number = 0; number < (task.sequences ?? 0); number++) {
      const start = (task.begin ?? 0) + number * SEQUENCE_LENGTH;
      const sequence = `${dataSource}_${start}`;
      const offsets = Array.from({ length: SEQUENCE_LENGTH }, (_, at) => start + at);
      const segments: PushedSegment[] = [];
      for (const [at, interval] of task.chunks.entries()) {
        const rows = offsets.filter((offset) => offset % task.chunks.length === at).map((offset) => STREAM_ROWS + offset);
        const allocated = await this.#led<SegmentId>(run, (overlord) =>
          overlord.allocateSegment({ dataSource, sequence, interval }, counted),
        );
        segments.push({ ...this.#push(task, run.attempt, { interval, name: `${start}-${at}`, rows }), allocated });
      }
      await pause();
      const stream = { supervisorId: dataSource, sequence, start: positionAt(start), end: positionAt(start + SEQUENCE_LENGTH) };
      await this.#publish({ taskId: task.id, dataSource, segments, mode: { kind: 'append' }, stream }, run);
    }
  }
}

const positionAt = (offset: number): StreamPosition => ({
  kind: 'kafka',
  stream: 'topic',
  offsets: new Map([['0', String(offset)]]),
  exclusive: new Set(),
});

/** Rows of the segments that were read, within a chunk. */
function rowsWithin(read: readonly VisibleSegment[], { start, end }: Interval, files: Files): readonly number[] {
  const within = read.filter(({ segment: { id } }) => id.interval.start >= start && id.interval.end <= end);
  return within.flatMap(({ segment: { loadSpec } }) => {
    const file = files.files.get(loadSpec.path);
    if (file === undefined) throw new ServiceError('not_found', `no file ${loadSpec.path}`);
    return file.rows;
  });
}
