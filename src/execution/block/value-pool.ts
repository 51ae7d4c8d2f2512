// Numbers distinct values in order of first appearance.

/** Bytes of a value on the heap, with its id and its place in a map, and of a unit of a string. */
export const VALUE_BYTES = 64;
const UNIT_BYTES = 2;

/** Distinct values in the order in which they were met, each with its id; id 0 is null. */
export class ValuePool<Known extends string | number | bigint> {
  readonly values: (Known | null)[] = [null];
  readonly #ids = new Map<Known, number>();
  #bytes = 0;

  get count(): number {
    return this.values.length;
  }

  /** Bytes that the values take on the heap, about. */
  get bytes(): number {
    return this.#bytes;
  }

  idOf(value: Known | null): number {
    if (value === null) return 0;
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const id = this.values.length;
    this.values.push(value);
    this.#ids.set(value, id);
    this.#bytes += VALUE_BYTES + (typeof value === 'string' ? value.length * UNIT_BYTES : 0);
    return id;
  }
}
