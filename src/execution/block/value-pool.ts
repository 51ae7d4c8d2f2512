// Numbers distinct values in order of first appearance.

/** Distinct values in the order in which they were met, each with its id; id 0 is null. */
export class ValuePool<Known extends string | number | bigint> {
  readonly values: (Known | null)[] = [null];
  readonly #ids = new Map<Known, number>();

  get count(): number {
    return this.values.length;
  }

  idOf(value: Known | null): number {
    if (value === null) return 0;
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const id = this.values.length;
    this.values.push(value);
    this.#ids.set(value, id);
    return id;
  }
}
