// Starts and watches the child process of one task.

import { type ChildProcess, fork } from 'node:child_process';
import { open } from 'node:fs/promises';
import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { ChatRequest, TableQuery, TaskCalls, TaskOutcome, TaskProgress } from '../../ingestion/contract.js';
import type { Frame } from '../../model/frame.js';
import type { PublishRequest } from '../../model/publication.js';
import type { VisibleSegment } from '../../model/segment.js';
import { plainError, toServiceError } from '../rpc/message.js';
import type { FromTask, TaskSettings, ToTask } from './task-messages.js';

/**
 * Heap below which nothing is marked. Rows and dictionaries are array buffers, whose bytes V8 counts as heap: from its own first
 * size on, it marked all objects again for every thirty megabytes read.
 */
const FIRST_HEAP_MEBIBYTES = 256;

export interface TaskProcessOptions {
  readonly program: 'task' | 'sampler';
  readonly taskId: string;
  /** Number of this run of the task, from 1. */
  readonly attempt: number;
  readonly parentId: string | null;
  readonly payload: unknown;
  readonly settings: TaskSettings;
  /** Takes everything the child writes, and what its context logs. */
  readonly logFile: string;
  /** The compiled module the child runs. */
  readonly entry: URL;
  readonly calls: TaskCalls;
  /** Announces the port at which the child answers queries, null once it does not; and that it has other segments now. */
  readonly serving: (port: number | null) => void;
  readonly liveChanged: () => void;
  /** Told whenever the child tells its progress; left out: nobody listens. */
  readonly progressed?: (progress: TaskProgress) => void;
  readonly publish: (request: PublishRequest) => Promise<readonly string[]>;
  readonly visibleSegments: (dataSource: string, intervals: readonly Interval[]) => Promise<readonly VisibleSegment[]>;
  readonly query: (query: TableQuery, signal: AbortSignal) => AsyncIterable<Frame>;
}

/** End of a task's log that tells why its process died. */
const LAST_WORDS_BYTES = 8192;
const LAST_WORDS_LINES = 5;

const MEBIBYTE = 2 ** 20;

/** Time between asking a child to end and ending it. */
const GRACE_MS = 2000;

/** A task in its own process: its memory and its crashes stay its own. */
export class TaskProcess {
  /** Outcome of the task. Never rejects: a child that dies without an outcome has failed. */
  readonly outcome: Promise<TaskOutcome>;
  readonly #child: ChildProcess;
  #progress: TaskProgress | null = null;
  #reported: TaskOutcome | null = null;
  #stopped = false;
  /** Frames of the query that the task reads. */
  #frames: AsyncIterator<Frame> | null = null;
  #ending = new AbortController();
  /** Requests that the task has not answered yet, by number. */
  readonly #chats = new Map<number, { resolve(body: unknown): void; reject(error: unknown): void }>();
  #chatCount = 0;

  private constructor(child: ChildProcess, options: TaskProcessOptions) {
    this.#child = child;
    child.on('message', (message: FromTask) => this.#receive(message, options));
    child.on('exit', () => {
      this.#endQuery();
      options.serving(null);
      for (const { reject } of this.#chats.values()) reject(new ServiceError('not_found', `task ${options.taskId} has ended`));
    });
    this.outcome = new Promise((resolve) => {
      child.on('error', (error) => resolve(failure(`the process of the task could not be started: ${error.message}`)));
      // Its exit may be told before its last message: only the end of the channel comes after every message.
      const drained = new Promise<void>((done) => child.on('disconnect', done));
      child.on('exit', async (code, signal) => {
        await drained;
        const died = async () => `${describeExit(code, signal)}; ${await lastWords(options.logFile)}`;
        resolve(this.#reported ?? failure(this.#stopped ? 'the task was shut down' : await died()));
      });
    });
  }

  static async start(options: TaskProcessOptions): Promise<TaskProcess> {
    const log = await open(options.logFile, 'a');
    failpoint('log.opened');
    try {
      const heapMebibytes = Math.ceil(options.settings.maxHeapBytes / MEBIBYTE);
      const first = Math.min(FIRST_HEAP_MEBIBYTES, Math.ceil(heapMebibytes / 2));
      const execArgv = [`--max-old-space-size=${heapMebibytes}`, `--initial-old-space-size=${first}`];
      const child = fork(options.entry, [], { stdio: ['ignore', log.fd, log.fd, 'ipc'], serialization: 'advanced', execArgv });
      const process = new TaskProcess(child, options);
      const { program, taskId, attempt, parentId, payload, settings } = options;
      process.#send({ kind: 'run', program, taskId, attempt, parentId, payload, settings });
      return process;
    } finally {
      await log.close();
    }
  }

  get progress(): TaskProgress | null {
    return this.#progress;
  }

  /** Body of the task's answer. Throws what its handler throws, `not_found` where the task ends first. */
  chat(request: ChatRequest): Promise<unknown> {
    if (this.#isGone) return Promise.reject(new ServiceError('not_found', 'the task has ended'));
    const chat = this.#chatCount++;
    const answer = new Promise<unknown>((resolve, reject) => this.#chats.set(chat, { resolve, reject }));
    this.#send({ kind: 'chat', chat, request });
    return answer.finally(() => this.#chats.delete(chat));
  }

  /** Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE_MS);
    await this.outcome;
    clearTimeout(timer);
  }

  #receive(message: FromTask, options: TaskProcessOptions): void {
    switch (message.kind) {
      case 'progress':
        this.#progress = message.progress;
        options.progressed?.(message.progress);
        return;
      case 'serving':
        if (!this.#isGone) options.serving(message.port);
        return;
      case 'liveChanged':
        options.liveChanged();
        return;
      case 'outcome':
        this.#reported = message.outcome;
        return;
      case 'chatAnswer':
        this.#chats.get(message.chat)?.resolve(message.body);
        return;
      case 'chatFailed':
        this.#chats.get(message.chat)?.reject(new ServiceError(message.code, message.message));
        return;
      case 'query':
        // It may come after the exit, which has ended what there was to end.
        if (this.#isGone) return;
        this.#ending = new AbortController();
        this.#frames = options.query(message.query, this.#ending.signal)[Symbol.asyncIterator]();
        return;
      case 'findSegments':
        options.visibleSegments(message.dataSource, message.intervals).then(
          (segments) => this.#send({ kind: 'segments', segments }),
          (error: unknown) => {
            const { code, message: text } = toServiceError(error);
            this.#send({ kind: 'segmentsFailed', code, message: text });
          },
        );
        return;
      case 'call':
        void this.#call(message, options.calls);
        return;
      case 'nextFrame':
        void this.#nextFrame();
        return;
      case 'endQuery':
        this.#endQuery();
        return;
      case 'publish':
        options.publish(message.request).then(
          (ids) => this.#send({ kind: 'published', ids }),
          (error: unknown) => {
            const { code, message: text } = toServiceError(error);
            this.#send({ kind: 'publishFailed', code, message: text });
          },
        );
    }
  }

  get #isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** A query that nobody asks for its next frame would hold its segments and its timer until its deadline. */
  #endQuery(): void {
    this.#ending.abort();
    // The rejection repeats the reason of the abort, which is known.
    this.#frames?.return?.().catch(() => undefined);
  }

  async #nextFrame(): Promise<void> {
    try {
      const next = await this.#frames?.next();
      this.#send({ kind: 'frame', frame: next === undefined || next.done === true ? null : next.value });
    } catch (error) {
      this.#send({ kind: 'queryFailed', error: plainError(error) });
    }
  }

  async #call({ call, method, args }: Extract<FromTask, { kind: 'call' }>, calls: TaskCalls): Promise<void> {
    try {
      const answer = calls[method] as (...args: readonly unknown[]) => Promise<unknown>;
      this.#send({ kind: 'answer', call, value: await answer.apply(calls, [...args]) });
    } catch (error) {
      const { code, message } = toServiceError(error);
      this.#send({ kind: 'callFailed', call, code, message });
    }
  }

  /** A child that is gone hears nothing; its exit tells the rest. */
  #send(message: ToTask): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

function failure(errorMessage: string): TaskOutcome {
  return { succeeded: false, errorMessage, report: {} };
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  return `the process of the task ended ${signal === null ? `with code ${code ?? 0}` : `by ${signal}`} before it was done`;
}

/** The last lines of a task's log, for whoever reads why it failed. */
async function lastWords(logFile: string): Promise<string> {
  const log = await open(logFile).catch(() => null);
  if (log === null) return 'it has no log';
  try {
    const { size } = await log.stat();
    const from = Math.max(0, size - LAST_WORDS_BYTES);
    const { buffer, bytesRead } = await log.read(Buffer.alloc(LAST_WORDS_BYTES), 0, LAST_WORDS_BYTES, from);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    // The first may have lost its beginning.
    const whole = (from === 0 ? lines : lines.slice(1)).map((line) => line.trim()).filter((line) => line !== '');
    if (whole.length === 0) return 'its log is empty';
    // The runtime tells this before its own stack, which fills the lines after it.
    const heapFull = whole.find((line) => line.includes('heap out of memory'));
    if (heapFull !== undefined) return `its heap was full (svc.indexer.task.maxHeapBytes): ${heapFull}`;
    return `the last lines of its log: ${whole.slice(-LAST_WORDS_LINES).join(' | ')}`;
  } finally {
    await log.close();
  }
}
