// Waits until a view shows all rows of streams that were in an answer before.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { type Clock, SYSTEM_CLOCK, sleep } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import type { MissingRows } from './live-streams.js';

export interface Coverage {
  /** The first rows that are missing, and the datasource; undefined: none are. */
  readonly missing: () => readonly [dataSource: string, rows: MissingRows] | undefined;
  /** Has the view brought up to date; not waited for. */
  readonly wake: () => void;
  readonly now: () => number;
  /** Left out: that of the machine. */
  readonly clock?: Clock | undefined;
  /** Fires at the deadline of the query, too. */
  readonly signal: CancelSignal;
}

/** Time that a query waits for rows that a task has to read again, and time between two looks. */
const COVERAGE_WAIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

/**
 * Resolves in the same turn of the event loop in which nothing is found missing.
 * @throws ServiceError `segments_unavailable` naming the datasource, the supervisor and the partition after 10 s; the signal's reason
 */
export async function untilCovered({ missing, wake, now, clock = SYSTEM_CLOCK, signal }: Coverage): Promise<void> {
  const limitMs = now() + COVERAGE_WAIT_MS;
  for (;;) {
    const found = missing();
    if (found === undefined) return;
    signal.throwIfAborted();
    if (now() >= limitMs) throw new ServiceError('segments_unavailable', describe(found));
    wake();
    await sleep(clock, LOOK_EVERY_MS);
  }
}

function describe([dataSource, { supervisorId, stream, partition, shown, answered }]: readonly [string, MissingRows]): string {
  const seconds = COVERAGE_WAIT_MS / 1000;
  return `rows of ${dataSource} that were answered before are missing: partition ${partition} of the stream ${stream} (supervisor ${supervisorId}) is shown up to offset ${shown}, answers had come to ${answered}; a task that read it is gone, and no other one has read these rows again within ${seconds} s`;
}
