// Pauses of a loop that others ask for.

/** Lets others hold a loop between two of its rounds. */
export class PauseGate {
  /** Callers who wait for the loop to stand still; null: nobody has asked. */
  #asked: (() => void)[] | null = null;
  #resume: (() => void) | null = null;

  /** Whether the loop is to wait at the gate. */
  get isAsked(): boolean {
    return this.#asked !== null;
  }

  /** Whether the loop stands still. */
  get isHeld(): boolean {
    return this.#resume !== null;
  }

  /** Resolves when the loop stands still, or has ended. */
  async hold(): Promise<void> {
    if (this.isHeld) return;
    await new Promise<void>((resolve) => {
      this.#asked = [...(this.#asked ?? []), resolve];
    });
  }

  /** Has the loop go on. */
  release(): void {
    if (this.#resume === null) this.#tell();
    else this.#resume();
  }

  /** Waits in the loop until it is released, or the signal fires. */
  async wait(signal: AbortSignal): Promise<void> {
    const resumed = new Promise<void>((resolve) => {
      this.#resume = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#tell();
    await resumed;
    this.#resume = null;
  }

  #tell(): void {
    const waiting = this.#asked ?? [];
    this.#asked = null;
    for (const resolve of waiting) resolve();
  }
}
