// Publishes segments, and waits for them to be served where the task asks for that.

import type { PublishRequest } from '../../model/publication.js';
import type { TaskContext } from '../contract.js';

/** Whether segments that were waited for are served, and how long that took. */
export interface Availability {
  readonly isConfirmed: boolean;
  readonly waitMs: number;
}

export const NOT_AWAITED: Availability = { isConfirmed: false, waitMs: 0 };

/** @param waitMs  longest wait; 0: the segments are not waited for */
export async function publishSegments(
  { publish, now }: Pick<TaskContext, 'publish' | 'now'>,
  request: PublishRequest,
  waitMs: number,
): Promise<{ readonly ids: readonly string[]; readonly availability: Availability }> {
  if (waitMs === 0) return { ids: await publish(request), availability: NOT_AWAITED };
  const begin = now();
  const ids = await publish({ ...request, waitsUntilLoaded: true, loadWaitMs: waitMs });
  const took = now() - begin;
  // The answer comes when they are served, or when the time is over.
  return { ids, availability: { isConfirmed: took < waitMs, waitMs: Math.min(took, waitMs) } };
}
