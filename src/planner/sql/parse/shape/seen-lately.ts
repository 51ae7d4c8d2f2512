// Texts that came lately, without keeping them.

/** Number of texts that are remembered: a power of two. */
const SEEN_MAX = 4096;

/** Remembers texts by their hashes: what comes a second time is worth more work. */
export class SeenLately {
  /** A hash of a text at the place that its last bits say. */
  readonly #seen = new Int32Array(SEEN_MAX);

  /** Whether a text was seen lately; it is from now on. */
  add(text: string): boolean {
    // FNV-1a.
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    const place = hash & (SEEN_MAX - 1);
    const wasSeen = this.#seen[place] === hash;
    this.#seen[place] = hash;
    return wasSeen;
  }
}
