// Decides when others are asked for a read that has no answer yet.

import type { Clock, Timer } from '../../../base/clock/clock.js';
import type { Silence } from '../looks/silence.js';
import { type Read, readsElsewhere, type Serving } from '../scatter.js';
import type { Asking, SecondTry } from './first-answer.js';
import type { ReadTimes } from './read-times.js';

/** Servers as they are known, and what is known of their answers. */
export interface Watched {
  serving(): Serving;
  readonly silence: Silence;
  readonly times: ReadTimes;
  readonly clock: Clock;
  /** Whether a server is the process of a task, which others take the place of when it is silent, and not because it is late. */
  isTask(host: string): boolean;
}

interface ReadAgain<Answer> {
  readonly read: Read;
  /** Servers that are not asked. */
  readonly gone: ReadonlySet<string>;
  /** Kind of the read, by which it is known how long it takes. */
  readonly kind: string;
  readonly elsewhere: (others: readonly Read[]) => Asking<Answer>;
  readonly discard: (answer: Answer) => void;
}

/** Time between two looks whether others may be asked. */
const LOOK_AGAIN_MS = 1000;

/** Asks others for a read as soon as its server is silent, or after a while when it is late and not too many are. */
export function secondTry<Answer>(cluster: Watched, { read, gone, kind, elsewhere, discard }: ReadAgain<Answer>): SecondTry<Answer> {
  const { silence, times, clock } = cluster;
  const isLost = (): boolean => silence.has(read.host);
  return {
    discard,
    second() {
      const serving = cluster.serving();
      const others = readsElsewhere(read, serving, gone);
      if (others === undefined || others.some(({ host }) => silence.has(host))) return undefined;
      if (!isLost()) times.countSecond();
      return elsewhere(others);
    },
    wait(late) {
      const look = (): void => {
        if ((isLost() || (times.maySecond && !cluster.isTask(read.host))) && late()) return;
        timer = clock.setTimer(look, LOOK_AGAIN_MS, undefined);
      };
      let timer: Timer = clock.setTimer(look, isLost() ? LOOK_AGAIN_MS : times.lateAfterMs(kind), undefined);
      const stopWatching = silence.watch(read.host, late);
      return () => {
        clock.clearTimer(timer);
        stopWatching();
      };
    },
  };
}
