// Rows a second of a streaming task, as means over the last minutes.

import type { RowCounts, RowRates } from '../../model/stream/control.js';

/** Time between two looks at the counts. */
export const RATE_TICK_MS = 5000;
const MINUTES = [1, 5, 15] as const;
const COUNTS = ['processed', 'processedBytes', 'processedWithError', 'thrownAway', 'unparseable'] as const;

type Counts = { -readonly [Name in keyof RowCounts]: RowCounts[Name] };

/** Exponentially weighted means of the growth of counts, by looks at even times. */
export class RowMeter {
  readonly #read: () => RowCounts;
  readonly #means = MINUTES.map((minutes) => ({ weight: 1 - Math.exp(-RATE_TICK_MS / (minutes * 60_000)), counts: zeros() }));
  #last: RowCounts = zeros();
  #isFirst = true;

  constructor(read: () => RowCounts) {
    this.#read = read;
  }

  /** To be called every `RATE_TICK_MS`. */
  tick(): void {
    const now = { ...this.#read() };
    for (const { weight, counts } of this.#means)
      for (const name of COUNTS) {
        const rate = ((now[name] - this.#last[name]) / RATE_TICK_MS) * 1000;
        counts[name] += this.#isFirst ? rate : weight * (rate - counts[name]);
      }
    this.#last = now;
    this.#isFirst = false;
  }

  rates(): RowRates {
    const [one, five, fifteen] = this.#means.map(({ counts }) => ({ ...counts }));
    return {
      totals: { ...this.#read() },
      movingAverages: { '1m': one ?? zeros(), '5m': five ?? zeros(), '15m': fifteen ?? zeros() },
    };
  }
}

function zeros(): Counts {
  return { processed: 0, processedBytes: 0, processedWithError: 0, thrownAway: 0, unparseable: 0 };
}
