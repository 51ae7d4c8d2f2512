// Work on things by name, one piece at a time for each.

/** Pieces of work on one thing run one after the other, in the order in which they come; those on others beside them. */
export class TurnsByName {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const result = before.then(work);
    const settled: Promise<unknown> = result
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(name) === settled) this.#last.delete(name);
      });
    this.#last.set(name, settled);
    return result;
  }
}
