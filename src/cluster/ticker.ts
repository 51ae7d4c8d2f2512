// Runs a duty periodically and when it is woken, with rests between long runs.

import { type Clock, type LongTimer, SYSTEM_CLOCK, startLongTimer } from '../base/clock/clock.js';

/** A run that took so long is followed by a rest of `REST_FACTOR` times as long, however often it is woken. */
const LONG_RUN_MS = 5;
const REST_FACTOR = 2;

/**
 * Runs a job again and again: every `periodMs`, and when woken. Runs never overlap; a wake during a run is answered by
 * one more run after it, so what was true at the wake is always seen. Wakes are answered at once after short runs; after
 * long ones the event loop belongs to others for a while, and all wakes of that time are answered by one run.
 */
export class Ticker {
  readonly #job: () => Promise<void>;
  readonly #periodMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  #timer: LongTimer | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #started = false;
  /** Told after the next run to begin. */
  #waiting: (() => void)[] = [];
  /** End of the current rest, by the monotonic clock. */
  #restsUntilMs = 0;
  #runs = 0;
  #lastRunMs = 0;

  constructor(job: () => Promise<void>, periodMs: number, onError: (error: unknown) => void, clock: Clock = SYSTEM_CLOCK) {
    this.#job = job;
    this.#periodMs = periodMs;
    this.#onError = onError;
    this.#clock = clock;
  }

  /** Number of runs that have ended, and how long the last one took. */
  get ended(): { readonly runs: number; readonly lastMs: number } {
    return { runs: this.#runs, lastMs: this.#lastRunMs };
  }

  /** Resolves after the first run, also when that failed. */
  async start(): Promise<void> {
    this.#started = true;
    this.#restsUntilMs = 0;
    this.wake();
    await this.#running;
  }

  /** Resolves when no run is under way any more. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#timer?.clear();
    await this.#running;
    for (const done of this.#waiting.splice(0)) done();
  }

  /** Wakes it, and resolves after a run that begins from now on, also when that fails; at once when it was not started. */
  async wakeAndWait(): Promise<void> {
    if (!this.#started) return;
    await new Promise<void>((done) => {
      this.#waiting.push(done);
      this.wake();
    });
  }

  wake(): void {
    if (!this.#started) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    const restMs = this.#restsUntilMs - this.#clock.monotonicMs();
    if (restMs <= 0) this.#running = this.#run();
    else this.#schedule(restMs);
  }

  async #run(): Promise<void> {
    this.#timer?.clear();
    this.#again = false;
    const waiting = this.#waiting.splice(0);
    const startMs = this.#clock.monotonicMs();
    await this.#job().catch(this.#onError);
    for (const done of waiting) done();
    const endMs = this.#clock.monotonicMs();
    const tookMs = endMs - startMs;
    this.#runs++;
    this.#lastRunMs = tookMs;
    if (tookMs > LONG_RUN_MS) this.#restsUntilMs = endMs + Math.min(REST_FACTOR * tookMs, this.#periodMs);
    this.#running = undefined;
    if (!this.#started) return;
    if (this.#again) this.wake();
    else this.#schedule(this.#periodMs);
  }

  #schedule(delayMs: number): void {
    this.#timer?.clear();
    // A timer may fire a little early by the clock that rests are measured with.
    this.#timer = startLongTimer(this.#clock, () => this.wake(), Math.ceil(delayMs));
  }
}
