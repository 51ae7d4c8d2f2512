interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Asked for since it was last looked at for making room. */
  used: boolean;
}

/**
 * Values by key under a budget of bytes. To make room, the oldest go that nobody has asked for since the last time
 * around: near to least recently used, while finding one costs no more than finding it.
 */
export class BoundedCache<Value> {
  readonly #bytesMax: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  find(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  /** Keeps an entry, unless it alone is larger than the budget. */
  keep(key: string, value: Value, bytes: number): void {
    this.delete(key);
    if (bytes > this.#bytesMax) return;
    this.#entries.set(key, { value, bytes, used: false });
    this.#bytes += bytes;
    this.#makeRoom(key);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  /** @param newest  stays: what is put in last has not had its turn */
  #makeRoom(newest: string): void {
    // An entry moved to the end is met again in this loop, then marked as unused.
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#entries.delete(key);
      if (entry.used || key === newest) {
        entry.used = false;
        this.#entries.set(key, entry);
      } else this.#bytes -= entry.bytes;
    }
  }
}
