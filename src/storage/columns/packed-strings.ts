// Strings packed as UTF-8, one after another.

/** Texts as UTF-8, one after the other: text i is bytes[ends[i - 1] .. ends[i]). */
export interface PackedTexts {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

/** Texts joined at a time: all of them together could pass the longest string there may be. */
const CHUNK_TEXTS = 65536;
const SURROGATE = /[\ud800-\udfff]/;

/** UTF-8 has no lone surrogates: each becomes U+FFFD. */
export function packTexts(texts: readonly string[]): PackedTexts {
  const parts: Buffer[] = [];
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let start = 0; start < texts.length; start += CHUNK_TEXTS) {
    let chunk = texts.slice(start, start + CHUNK_TEXTS);
    let joined = chunk.join('');
    if (SURROGATE.test(joined)) {
      // Before joining, or halves of two texts would meet.
      chunk = chunk.map((text) => (SURROGATE.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text));
      joined = chunk.join('');
    }
    const bytes = Buffer.from(joined, 'utf8');
    const isAscii = bytes.length === joined.length;
    for (let at = 0; at < chunk.length; at++) {
      const text = chunk[at] ?? '';
      ends[start + at] = end += isAscii ? text.length : Buffer.byteLength(text, 'utf8');
    }
    parts.push(bytes);
  }
  return { bytes: parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts), ends };
}

export function textAt({ bytes, ends }: PackedTexts, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', at === 0 ? 0 : ends[at - 1], ends[at]);
}
