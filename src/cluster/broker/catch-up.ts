// Waits until the Broker's view is as new as the metadata store, for statements that read what was just loaded.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CancelSignal, platformSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { RowSource } from '../../model/row-source.js';
import { startDeadline } from '../rpc/deadline.js';
import { toServiceError } from '../rpc/message.js';
import type { ClusterView } from './view.js';

export interface CatchUp {
  readonly tables: ReadonlySet<string>;
  readonly view: Pick<ClusterView, 'revision' | 'revisionOf'>;
  /** The newest revision of metadata. */
  readonly newest: () => Promise<number>;
  /** Has the view brought up to date; not waited for. */
  readonly look: () => void;
  /** Absolute, when the caller's own time is over. */
  readonly deadlineMs: number;
  readonly now: () => number;
  readonly signal: CancelSignal;
}

/** Time a reader waits for segments to be loaded before it gives up, and time between two looks. */
export const CATCH_UP_MS_MAX = 15 * 60_000;
const LOOK_MS = 100;

/**
 * Resolves once the view of each table is that of the newest metadata at the call, or a later one. Queries of people
 * rather have an answer of a moment ago; who writes what it has read would take away the rows it was not shown.
 * @throws ServiceError `segments_unavailable` after CATCH_UP_MS_MAX, `unavailable` or `not_leader` when no coordinator
 *         was found by then, `timeout` at the deadline, `cancelled` when the signal fires
 */
export async function catchUp({ tables, view, newest, look, deadlineMs, now, signal: parent }: CatchUp): Promise<void> {
  const limitMs = now() + CATCH_UP_MS_MAX;
  const deadline = startDeadline(deadlineMs - now(), parent);
  const { signal } = deadline;
  const stop = platformSignal(signal);
  let wanted: number | null = null;
  try {
    for (;;) {
      signal.throwIfAborted();
      const late = now() >= limitMs;
      try {
        wanted ??= await newest();
      } catch (error) {
        // While processes start, or when the coordinator is gone, another one is about to lead.
        const { code } = toServiceError(error);
        if (late || (code !== 'unavailable' && code !== 'not_leader')) throw error;
      }
      if (wanted !== null) {
        const missing = behind(tables, view, wanted);
        // The first view comes after the first lookups: a source without tables waits for those.
        if (missing.length === 0 && view.revision !== null) return;
        if (late) throw new ServiceError('segments_unavailable', describe(missing, wanted));
      }
      look();
      // Ends early with the signal, which the next round tells of.
      await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  } finally {
    deadline.release();
  }
}

/** The tables that are not yet seen as of the revision. */
function behind(tables: ReadonlySet<string>, view: CatchUp['view'], revision: number): readonly string[] {
  return [...tables].filter((table) => (view.revisionOf(table) ?? -1) < revision);
}

function describe(tables: readonly string[], revision: number): string {
  const what = tables.length === 0 ? 'the broker knows no segments' : `not all segments of ${tables.join(', ')} are served`;
  return `${what} as of metadata revision ${revision}, after ${CATCH_UP_MS_MAX / 60_000} minutes`;
}

/** The datasources that a source reads, at any depth. */
export function tablesIn(source: RowSource): ReadonlySet<string> {
  switch (source.kind) {
    case 'table':
      return new Set([source.name]);
    case 'inline':
    case 'lookup':
    case 'external':
      return new Set();
    case 'query':
    case 'filtered':
    case 'unnest':
      return tablesIn(source.source);
    case 'union':
      return new Set(source.sources.flatMap((each) => [...tablesIn(each)]));
    case 'join':
      return new Set([...tablesIn(source.left), ...tablesIn(source.right)]);
  }
}
