import { readFileSync } from 'node:fs';

const PERIOD_MS = 1;

/**
 * The longest that anything runs in one piece on the event loop of this process, from its making to its end: as long as a timer was late,
 * but no longer than the processor time that the thread has had meanwhile (Linux).
 */
export class LoopStretch {
  readonly #timer: NodeJS.Timeout;
  #longestMs = 0;
  #lookedMs = performance.now();
  #processorMs = processorMs();

  constructor() {
    this.#timer = setInterval(() => this.#look(), PERIOD_MS);
  }

  /** Milliseconds. */
  end(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#longestMs;
  }

  #look(): void {
    const [nowMs, usedMs] = [performance.now(), processorMs()];
    const stretchMs = Math.min(nowMs - this.#lookedMs - PERIOD_MS, usedMs - this.#processorMs);
    this.#longestMs = Math.max(this.#longestMs, stretchMs);
    this.#lookedMs = nowMs;
    this.#processorMs = usedMs;
  }
}

/** Milliseconds of processor time of the thread of the event loop, whose number is that of the process. */
function processorMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}
