import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { GroupTableParts } from '../group/table.js';
import type { SegmentData } from '../segment-data.js';
import type { FromThread, ToThread } from './messages.js';
import { fromPlainError } from './messages.js';
import { SentData } from './sent-data.js';
import type { Calls, StreamItem, Streams } from './work.js';
import { CALLS, STREAMS, WorkBench } from './work.js';

/** A stream of frames being produced elsewhere, one per `next`. */
export interface OpenStream {
  /** null: the stream has ended. */
  next(parts?: readonly GroupTableParts[]): Promise<StreamItem | null>;
  /** Ends it early; harmless when it ended already. */
  close(): Promise<void>;
}

/** A place where work is done: a processing thread, or the calling one. */
export interface Workplace {
  /** Calls and streams that are not through. */
  readonly busy: number;
  call<Name extends keyof Calls>(name: Name, request: Calls[Name]['request']): Promise<Calls[Name]['response']>;
  open<Name extends keyof Streams>(name: Name, request: Streams[Name]): OpenStream;
}

/** Work done where it is asked for. */
export function workHere(memory: KernelMemory, kernels: string): Workplace {
  const bench = new WorkBench(memory, kernels);
  return {
    busy: 0,
    call: async (name, request) => CALLS[name](request, bench),
    open: (name, request) => {
      const stream = STREAMS[name](request, bench);
      return {
        next: async (parts) => {
          const { value, done } = stream.next(parts);
          return done === true ? null : (value ?? null);
        },
        close: async () => {
          stream.return();
        },
      };
    },
  };
}

type Asked = Exclude<ToThread, { kind: 'end' }>;

interface Waiting {
  resolve(message: FromThread): void;
  reject(error: Error): void;
}

/** A processing thread and what it owes answers to. */
class Thread implements Workplace {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #sent = new SentData();
  readonly #ended: Promise<void>;
  #nextId = 1;
  #failure: Error | undefined;

  constructor(memory: KernelMemory, kernels: string) {
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: { handle: memory.handle(), kernels } });
    this.#worker.on('message', (message: FromThread) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (this.#waiting.size === 0) this.#worker.unref();
      waiting?.resolve(message);
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#fail(new ServiceError('internal', 'a processing thread ended'));
        resolve();
      });
    });
    this.#worker.on('error', (error) => this.#fail(new ServiceError('internal', `a processing thread failed: ${error.message}`, error)));
    this.#worker.unref();
  }

  get busy(): number {
    return this.#waiting.size;
  }

  async call<Name extends keyof Calls>(name: Name, request: Calls[Name]['request']): Promise<Calls[Name]['response']> {
    const answer = await this.#ask(this.#message('call', this.#nextId++, name, request));
    if (answer.kind !== 'value') throw new ServiceError('internal', `a call was answered with ${answer.kind}`);
    return answer.value as Calls[Name]['response'];
  }

  open<Name extends keyof Streams>(name: Name, request: Streams[Name]): OpenStream {
    const id = this.#nextId++;
    let state: 'new' | 'open' | 'ended' = 'new';
    const next = async (parts?: readonly GroupTableParts[]): Promise<StreamItem | null> => {
      if (state === 'ended') return null;
      const message: Asked = state === 'new' ? this.#message('open', id, name, request) : { kind: 'next', id, parts };
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
      await this.#ask({ kind: 'close', id });
    };
    return { next, close };
  }

  async end(): Promise<void> {
    this.#worker.ref();
    this.#worker.postMessage({ kind: 'end' } satisfies ToThread);
    await this.#ended;
  }

  #message(kind: 'call' | 'open', id: number, name: string, request: object): Asked {
    if (!('data' in request)) return { kind, id, name, request, data: null };
    // Of all requests (`Calls`, `Streams`), `data` is segment data wherever it occurs.
    const { data, ...rest } = request as { readonly data: SegmentData };
    return { kind, id, name, request: rest, data: this.#sent.refer(data) };
  }

  async #ask(message: Asked): Promise<FromThread> {
    if (this.#failure !== undefined) throw this.#failure;
    const answer = await new Promise<FromThread>((resolve, reject) => {
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(message.id, { resolve, reject });
      this.#worker.postMessage(message);
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

/** The processing threads of a process, started at once and ended together. */
export class ThreadPool {
  readonly #threads: readonly Thread[];

  constructor(options: { readonly memory: KernelMemory; readonly kernels: string; readonly threads: number }) {
    this.#threads = Array.from({ length: options.threads }, () => new Thread(options.memory, options.kernels));
  }

  /** The `count` least busy threads, the least busy first. */
  choose(count: number): readonly Workplace[] {
    return [...this.#threads].sort((a, b) => a.busy - b.busy).slice(0, count);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}
