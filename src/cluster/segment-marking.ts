// Marks segments used or unused, for the Coordinator and the Overlord.

import { failpoint } from '../configuration/failpoint.js';
import type { Database } from '../metadata/database.js';
import { type Fence, fencedTransaction } from '../metadata/leadership.js';
import { type MarkTarget, markUnused, markUsed } from '../metadata/segments.js';

export interface SegmentMarkingOptions {
  readonly database: Database;
  /** Fence of the leader that makes the change. */
  fence(): Fence;
  /** The Coordinator looks at metadata now. */
  wake(): void;
  readonly now: () => number;
}

/** Marks segments used and unused on behalf of people; the leading Coordinator and the leading Overlord both do. */
export class SegmentMarking {
  readonly #options: SegmentMarkingOptions;

  constructor(options: SegmentMarkingOptions) {
    this.#options = options;
  }

  /** @returns number of segments that changed */
  async mark(use: 'used' | 'unused', dataSource: string, target: MarkTarget): Promise<number> {
    const { database, fence, wake, now } = this.#options;
    const change = use === 'used' ? markUsed : markUnused;
    const changed = await fencedTransaction(database, fence(), (queries) => change(queries, dataSource, target, now()));
    failpoint('mark.committed');
    wake();
    return changed;
  }
}
