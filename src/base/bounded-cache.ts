// A cache bounded by bytes that evicts what was not used recently.

interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

/** Values by key, of a bounded size in all: the least recently used make room. */
export class BoundedCache<Key, Value> {
  readonly #sizeMax: number;
  readonly #keepsLast: boolean;
  /** Least recently used first. */
  readonly #entries = new Map<Key, Entry<Value>>();
  /** The most recently used one, if it is known: finding it again moves nothing. */
  #latest: Entry<Value> | undefined;
  #size = 0;

  /**
   * @param sizeMax    in the unit of the entries' sizes: bytes, or a number of entries of size 1
   * @param keepsLast  whether an entry that is larger than all of this by itself is kept, alone, until the next comes
   */
  constructor(sizeMax: number, { keepsLast = false }: { readonly keepsLast?: boolean } = {}) {
    this.#sizeMax = sizeMax;
    this.#keepsLast = keepsLast;
  }

  get size(): number {
    return this.#size;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** The value, which is then the most recently used one. */
  find(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry !== this.#latest) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      this.#latest = entry;
    }
    return entry.value;
  }

  /** Keeps a value, if there can be room for it. Returns the values that made room. */
  keep(key: Key, value: Value, size = 1): readonly Value[] {
    this.delete(key);
    if (size > this.#sizeMax && !this.#keepsLast) return [];
    const gone: Value[] = [];
    for (const [oldest, entry] of this.#entries) {
      if (this.#size + size <= this.#sizeMax) break;
      this.delete(oldest);
      gone.push(entry.value);
    }
    this.#latest = { value, size };
    this.#entries.set(key, this.#latest);
    this.#size += size;
    return gone;
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    if (entry === this.#latest) this.#latest = undefined;
    this.#size -= entry.size;
  }
}
