// Removes results of statements that are too old.

import type { EpochMs } from '../../base/instant.js';
import type { ResultStorage } from '../../storage/result-storage.js';

/** Time between two looks at results. */
const PERIOD_MS = 600_000;

export interface OldResultsOptions {
  /** null: there are none. */
  readonly results: Pick<ResultStorage, 'removeBefore'> | null;
  readonly resultsRetainMs: number;
  readonly now: () => EpochMs;
}

export class OldResults {
  readonly #options: OldResultsOptions;
  #lookedAtMs = 0;

  constructor(options: OldResultsOptions) {
    this.#options = options;
  }

  async advance(): Promise<void> {
    const { results, resultsRetainMs, now } = this.#options;
    if (results === null || now() - this.#lookedAtMs < Math.min(PERIOD_MS, resultsRetainMs)) return;
    this.#lookedAtMs = now();
    await results.removeBefore(now() - resultsRetainMs);
  }
}
