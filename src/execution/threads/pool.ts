// The pool of processing threads.

import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.js';
import { SentOnce } from '../../base/sent-once.js';
import type { KernelMemory, MakeRoom } from '../../kernels/memory.js';
import type { StorageJobName, StorageJobs } from '../../storage/jobs.js';
import type { SegmentData } from '../block/segment-data.js';
import type { Executor, OpenStream } from './executor.js';
import type { Calls, Streams } from './jobs.js';
import { type Answer, type FromThread, fromPlainError, ROOM, SIGNALS, type ToThread } from './messages.js';
import type { StreamInput, StreamItem } from './stream-items.js';
import type { RunControl } from './thread-context.js';
import { expectedMsOf } from './work.js';

type Asked = Exclude<ToThread, { kind: 'end' }>;

interface Waiting {
  readonly priority: number;
  /** About how long it takes; Infinity where nobody knows. */
  readonly expectedMs: number;
  resolve(message: Answer): void;
  reject(error: Error): void;
}

export interface ThreadOptions {
  readonly memory: KernelMemory;
  readonly kernels: string;
  /** Whether columns could give way to an allocation of so many bytes. */
  readonly makeRoom: MakeRoom;
}

/** Storage's jobs are short, and whole queries wait for them. Verifying files is not: nobody waits. */
function priorityOf(name: string, request: object): number {
  if ('control' in request) return (request.control as RunControl).priority;
  return name === 'verifySegment' ? 0 : Infinity;
}

/** Time of a thread for each message beside the work itself. */
const HAND_OVER_MS = 0.1;
/** Owed by a thread that is free all the same: it must not run out of work before more comes. */
const OWED_MS_MAX = 8;

/** About how long the work takes alone; storage's jobs are too urgent for their size to matter. */
function sizeOf(request: object): number {
  return 'control' in request ? expectedMsOf((request.control as RunControl).rows) : 0;
}

/** A processing thread and what it owes answers to. */
class Thread implements Executor {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #sent = new SentOnce<SegmentData>();
  readonly #ended: Promise<void>;
  readonly #signals = new Int32Array(new SharedArrayBuffer(SIGNALS.bytes));
  #nextId = 1;
  #failure: Error | undefined;
  /** Whoever ends it waits for it: the process must not be over before. */
  #isEnding = false;

  constructor({ memory, kernels, makeRoom }: ThreadOptions) {
    const workerData = { handle: memory.handle(), kernels, signals: this.#signals };
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), { workerData });
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'room') {
        Atomics.store(this.#signals, SIGNALS.room, makeRoom(message.bytes) ? ROOM.made : ROOM.none);
        Atomics.notify(this.#signals, SIGNALS.room);
        return;
      }
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (this.#waiting.size === 0 && !this.#isEnding) this.#worker.unref();
      waiting?.resolve(message);
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#fail(new ServiceError('internal', 'a processing thread ended'));
        resolve();
      });
    });
    this.#worker.on('error', (error) => this.#fail(failureOf(error)));
    this.#worker.unref();
  }

  busy(priority: number): number {
    let count = 0;
    for (const waiting of this.#waiting.values()) if (waiting.priority >= priority) count++;
    return count;
  }

  /** About how long the thread is busy with what it was given. */
  get owedMs(): number {
    let sum = 0;
    for (const { expectedMs } of this.#waiting.values()) sum += expectedMs + HAND_OVER_MS;
    return sum;
  }

  /** Whether the thread has ended by itself, so that every request to it fails. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  async call<Name extends keyof Calls>(name: Name, request: Calls[Name]['request']): Promise<Calls[Name]['response']> {
    const answer = await this.#ask(this.#message('call', this.#nextId++, name, request));
    if (answer.kind !== 'value') throw new ServiceError('internal', `a call was answered with ${answer.kind}`);
    return answer.value as Calls[Name]['response'];
  }

  open<Name extends keyof Streams>(name: Name, request: Streams[Name]): OpenStream {
    const id = this.#nextId++;
    const priority = priorityOf(name, request);
    let state: 'new' | 'open' | 'ended' = 'new';
    const next = async (input?: StreamInput): Promise<StreamItem | null> => {
      if (state === 'ended') return null;
      const message: Asked = state === 'new' ? this.#message('open', id, name, request) : { kind: 'next', id, priority, input };
      state = 'open';
      try {
        const answer = await this.#ask(message);
        const item = answer.kind === 'item' ? answer.item : null;
        if (item === null || item.isLast) state = 'ended';
        return item;
      } catch (error) {
        state = 'ended';
        throw error;
      }
    };
    const close = async (): Promise<void> => {
      if (state !== 'open') return;
      state = 'ended';
      await this.#ask({ kind: 'close', id, priority });
    };
    return { next, close };
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#worker.ref();
    this.#post({ kind: 'end', priority: -Infinity });
    await this.#ended;
  }

  #message(kind: 'call' | 'open', id: number, name: string, request: object): Asked {
    const priority = priorityOf(name, request);
    const expectedMs = sizeOf(request);
    if (!('data' in request)) return { kind, id, priority, expectedMs, name, request, data: null };
    // In all requests (`Calls`, `Streams`), `data` is segment data.
    const { data, ...rest } = request as { readonly data: SegmentData };
    return { kind, id, priority, expectedMs, name, request: rest, data: this.#sent.refer(data.views, data) };
  }

  #post(message: ToThread): void {
    Atomics.add(this.#signals, SIGNALS.sent, 1);
    this.#worker.postMessage(message);
  }

  async #ask(message: Asked): Promise<Answer> {
    if (this.#failure !== undefined) throw this.#failure;
    const answer = await new Promise<Answer>((resolve, reject) => {
      if (this.#waiting.size === 0) this.#worker.ref();
      const { id, priority } = message;
      const expectedMs = 'request' in message && 'control' in message.request ? message.expectedMs : Infinity;
      this.#waiting.set(id, { priority, expectedMs, resolve, reject });
      this.#post(message);
    });
    if (answer.kind === 'error') throw fromPlainError(answer.error);
    return answer;
  }

  #fail(error: ServiceError): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

/** The error of a thread that died; JavaScript's heap has a limit of its own that no account covers. */
function failureOf(error: Error): ServiceError {
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new ServiceError(
      'resource_limit',
      "a processing thread needed more JavaScript heap than node's option --max-old-space-size allows",
      error,
    );
  return new ServiceError('internal', `a processing thread failed: ${error.message}`, error);
}

/**
 * The processing threads of a process, started at once and ended together. Needs nothing of what they run: a process
 * has them read its segments while it is still being put together.
 */
export class ThreadPool {
  readonly #options: ThreadOptions;
  readonly #threads: Thread[];

  constructor(options: ThreadOptions & { readonly threads: number }) {
    this.#options = options;
    this.#threads = Array.from({ length: options.threads }, () => new Thread(options));
  }

  get size(): number {
    return this.#threads.length;
  }

  /** The `count` threads with the least to do before work of this priority, the least busy first. */
  choose(count: number, priority: number): readonly Executor[] {
    this.#replaceFailed();
    return [...this.#threads].sort((a, b) => a.busy(priority) - b.busy(priority)).slice(0, count);
  }

  /** The first thread that would begin with small work at once, or nearly so: the fewer run it, the sooner their code is optimised. */
  free(): Executor | undefined {
    this.#replaceFailed();
    return this.#threads.find(({ owedMs }) => owedMs < OWED_MS_MAX);
  }

  /** Threads that ran out of heap are gone, with the queries that they had. */
  #replaceFailed(): void {
    this.#threads.forEach((thread, at) => {
      if (thread.hasFailed) this.#threads[at] = new Thread(this.#options);
    });
  }

  /** One of storage's jobs, on the thread that will have it done first. */
  runJob<Name extends StorageJobName>(name: Name, request: StorageJobs[Name]['request']): Promise<StorageJobs[Name]['response']> {
    const [thread] = this.choose(1, priorityOf(name, request));
    if (thread === undefined) throw new ServiceError('internal', 'a pool without threads was given a job');
    return thread.call(name, request);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}
