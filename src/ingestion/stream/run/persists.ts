// Decides when live rows are written to disk, and has one write follow another.

import { failpoint } from '../../../configuration/failpoint.js';
import type { LiveRows } from '../live/live-rows.js';

export interface PersistLimits {
  readonly maxRowsInMemory: number;
  readonly maxBytesInMemory: number;
  readonly periodMs: number;
}

/** Part of its memory behind which a task writes: the rest is for rows that come meanwhile. */
const FILLING_PART = 2 / 3;

/** Writes rows of a task to disk while further ones come in. */
export class Persists {
  readonly #rows: Pick<LiveRows, 'heldRows' | 'heldBytes' | 'persist'>;
  readonly #limits: PersistLimits;
  readonly #now: () => number;
  #lastMs: number;
  #underWay: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(rows: Pick<LiveRows, 'heldRows' | 'heldBytes' | 'persist'>, limits: PersistLimits, now: () => number) {
    this.#rows = rows;
    this.#limits = limits;
    this.#now = now;
    this.#lastMs = now();
  }

  /** The first error of a write. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** Begins to write when it is time or memory is filling up; waits for the write before only when memory is full. */
  async persistIfDue(): Promise<void> {
    const { maxRowsInMemory, maxBytesInMemory, periodMs } = this.#limits;
    const isFull = this.#rows.heldRows >= maxRowsInMemory || this.#rows.heldBytes >= maxBytesInMemory;
    const isFilling = this.#rows.heldBytes >= maxBytesInMemory * FILLING_PART;
    if (!isFull && !isFilling && this.#now() - this.#lastMs < periodMs) return;
    if (this.#underWay !== null) {
      if (isFull) await this.#underWay;
      return;
    }
    this.#lastMs = this.#now();
    this.#underWay = this.#rows
      .persist()
      .then(() => failpoint('stream.persisted'))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#underWay = null;
      });
  }

  /** Resolves when no write is under way. */
  async settled(): Promise<void> {
    await this.#underWay;
  }
}
