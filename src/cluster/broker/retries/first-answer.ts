// Asks a second time, elsewhere, when an answer is late, and takes the answer that comes first.

import { Canceller, type CancelSignal } from '../../../base/cancel-signal.js';
import { ServiceError } from '../../../base/errors.js';

/** Work that may be cancelled. */
export type Asking<Answer> = (signal: CancelSignal) => Promise<Answer>;

export interface SecondTry<Answer> {
  /** The same of others; undefined when there are none at the moment. */
  readonly second: () => Asking<Answer> | undefined;
  /**
   * Begins to wait, and calls `late` when the first one is, again and again until that gives true: others have been asked.
   * @returns how to stop that
   */
  readonly wait: (late: () => boolean) => () => void;
  /** Ends an answer that came after the other one. */
  readonly discard: (answer: Answer) => void;
}

/** Answer that came first. */
export interface First<Answer> {
  readonly answer: Answer;
  /** It is of others than those that were asked first. */
  readonly isSecond: boolean;
  /** To be called when nothing of the answer is read any more. */
  release(): void;
}

/** One for all, as for deadlines. */
const LATE = new ServiceError('cancelled', 'others have answered');

interface Run {
  readonly canceller: Canceller;
  unfollow(): void;
}

/**
 * The first answer of one or two; the other one is cancelled.
 * @throws what the first one failed with, when no second one is under way; else what the last one of both failed with
 */
export function firstAnswer<Answer>(first: Asking<Answer>, tries: SecondTry<Answer>, signal: CancelSignal): Promise<First<Answer>> {
  return new Promise((resolve, reject) => {
    const running = new Set<Run>();
    let isOver = false;
    let hasSecond = false;
    let stopWaiting = (): void => undefined;
    const end = (): void => {
      isOver = true;
      stopWaiting();
    };
    const start = (ask: Asking<Answer>, isSecond: boolean): void => {
      const run = follow(signal);
      running.add(run);
      void ask(run.canceller).then(
        (answer) => {
          if (isOver) {
            tries.discard(answer);
            return;
          }
          end();
          running.delete(run);
          for (const other of running) {
            other.unfollow();
            other.canceller.abort(LATE);
          }
          resolve({ answer, isSecond, release: () => run.unfollow() });
        },
        (error: unknown) => {
          run.unfollow();
          running.delete(run);
          if (isOver || running.size > 0) return;
          end();
          reject(error);
        },
      );
    };
    start(first, false);
    stopWaiting = tries.wait(() => {
      if (isOver || hasSecond) return true;
      const second = tries.second();
      if (second === undefined) return false;
      hasSecond = true;
      start(second, true);
      return true;
    });
  });
}

function follow(signal: CancelSignal): Run {
  const canceller = new Canceller();
  const abort = (): void => canceller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { canceller, unfollow: () => signal.removeEventListener('abort', abort) };
}
