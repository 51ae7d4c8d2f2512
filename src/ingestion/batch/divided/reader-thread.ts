// A thread that reads parts of files, as its owner sees it.

import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../../base/errors.js';
import type { HandedFile } from '../../builder/chunk-store.js';
import type { ReadCounts } from '../../report/row-statistics.js';
import { errorOf, type PartOutput, type PartReaderPort, type ReaderSetting, type ReadOrder } from './part-reader.js';
import type { FromReader, ToReader } from './part-reader-thread.js';

/** A thread with a `PartReader`; it has one thing to do at a time. */
export class ReaderThread implements PartReaderPort {
  readonly #thread: Worker;
  #counted: (counts: ReadCounts) => void = () => undefined;
  #done: (message: FromReader) => void = () => undefined;
  #failed: (error: unknown) => void = () => undefined;
  #failure: unknown = null;
  #doing = 'starting a thread that reads input';

  /** @param signal  ends it in the middle of what it does */
  constructor(setting: ReaderSetting, signal: AbortSignal) {
    this.#thread = new Worker(new URL('./part-reader-thread.js', import.meta.url), { workerData: setting });
    this.#thread.on('message', (message: FromReader) => {
      if (message.kind === 'counted') this.#counted(message.counts);
      else if (message.kind === 'failed') this.#failed(errorOf(message.failure));
      else this.#done(message);
    });
    for (const event of ['error', 'messageerror'] as const)
      this.#thread.on(event, (error: Error) => this.#fail(new ServiceError('internal', `${this.#doing}: ${error.message}`, error)));
    this.#thread.on('exit', () => this.#fail(new ServiceError('internal', `${this.#doing}: the thread has ended`)));
    signal.addEventListener('abort', () => this.#fail(new ServiceError('cancelled', 'the task was cancelled')), { once: true });
  }

  async read(order: ReadOrder, counted: (counts: ReadCounts) => void): Promise<PartOutput> {
    this.#counted = counted;
    const { file, part } = order.work;
    this.#doing = `reading ${file.name} from byte ${part.from} on, on a thread`;
    const answer = await this.#ask({ kind: 'read', order });
    if (answer.kind !== 'read') throw new ServiceError('internal', `a thread that reads input answered ${answer.kind}`);
    return answer.output;
  }

  async finish(): Promise<HandedFile> {
    this.#doing = 'handing over the rows of a thread';
    const answer = await this.#ask({ kind: 'finish' });
    if (answer.kind !== 'finished') throw new ServiceError('internal', `a thread that reads input answered ${answer.kind}`);
    return answer.file;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  #ask(message: ToReader): Promise<FromReader> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#done = resolve;
      this.#failed = reject;
      this.#thread.postMessage(message);
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#failed(error);
  }
}
