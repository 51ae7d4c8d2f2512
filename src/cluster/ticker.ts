/**
 * Runs a job again and again: every `periodMs`, and at once when woken. Runs never overlap; a wake during a run is
 * answered by one more run after it, so what was true at the wake is always seen.
 */
export class Ticker {
  readonly #job: () => Promise<void>;
  readonly #periodMs: number;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #started = false;

  constructor(job: () => Promise<void>, periodMs: number, onError: (error: unknown) => void) {
    this.#job = job;
    this.#periodMs = periodMs;
    this.#onError = onError;
  }

  /** Resolves after the first run, also when that failed. */
  async start(): Promise<void> {
    this.#started = true;
    this.wake();
    await this.#running;
  }

  /** Resolves when no run is under way any more. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    await this.#running;
  }

  wake(): void {
    if (!this.#started) return;
    this.#again = true;
    this.#running ??= this.#runAll();
  }

  async #runAll(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#again && this.#started) {
      this.#again = false;
      await this.#job().catch(this.#onError);
    }
    this.#running = undefined;
    if (!this.#started) return;
    this.#timer = setTimeout(() => this.wake(), this.#periodMs);
    this.#timer.unref();
  }
}
