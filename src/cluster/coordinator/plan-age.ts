// Tells which datasources are to be planned anew because time goes on.

import type { EpochMs } from '../../base/instant.js';

/** Time after which datasources are planned anew whose rules hang on the time: periods move on. */
const TIMED_AGE_MS = 60_000;
/** Time after which all are planned and looked at anew, whatever is known to have changed. */
const ALL_AGE_MS = 15 * 60_000;

/** When targets were planned last. */
export class PlanAge {
  #allMs = 0;
  #timedMs = 0;

  /**
   * Datasources that are to be planned; null: all.
   * @param ofRules  those of which the rules have changed; null: of all
   * @param timed    those whose rules hang on the time
   */
  due(nowMs: EpochMs, ofRules: readonly string[] | null, timed: () => readonly string[]): readonly string[] | null {
    if (ofRules === null || nowMs >= this.#allMs + ALL_AGE_MS) return null;
    return nowMs >= this.#timedMs + TIMED_AGE_MS ? [...new Set([...ofRules, ...timed()])] : ofRules;
  }

  /** Notes what was due, and has been planned. */
  note(nowMs: EpochMs, due: readonly string[] | null): void {
    if (due === null) this.#allMs = nowMs;
    if (due === null || nowMs >= this.#timedMs + TIMED_AGE_MS) this.#timedMs = nowMs;
  }
}
