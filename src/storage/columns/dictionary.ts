/** Distinct values in the order of `DictionaryView`, and packed as it lays them out. */
export interface SortedDictionary {
  /** Ascending as JS compares strings; null, when present, first. */
  readonly values: readonly (string | null)[];
  readonly hasNull: boolean;
  /** Where value i ends in `text`. */
  readonly ends: Uint32Array;
  /** UTF-8. */
  readonly text: Uint8Array;
}

/**
 * Sorts what is used of a frame's dictionary, which may repeat entries and hold entries no row has.
 * @param needsNull  adds null even when no id stands for it
 * @returns          `remap[id of the frame]` is the id in the sorted dictionary, for used ids
 */
export function sortDictionary(
  ids: Uint32Array,
  entries: readonly (string | null)[],
  needsNull: boolean,
): { dictionary: SortedDictionary; remap: Uint32Array } {
  const isUsed = new Uint8Array(entries.length);
  for (let i = 0; i < ids.length; i++) isUsed[ids[i] ?? 0] = 1;
  let hasNull = needsNull;
  const texts: string[] = [];
  const used: number[] = [];
  for (let id = 0; id < entries.length; id++) {
    if (isUsed[id] === 0) continue;
    const entry = entries[id] ?? null;
    used.push(id);
    hasNull ||= entry === null;
    texts.push(entry === null ? '' : wellFormed(entry));
  }

  const values: (string | null)[] = hasNull ? [null] : [];
  const remap = new Uint32Array(entries.length);
  const order = Uint32Array.from(texts, (_, at) => at).sort((a, b) => compareTexts(texts[a] ?? '', texts[b] ?? ''));
  let last: string | null = null;
  for (const at of order) {
    const id = used[at] ?? 0;
    if (entries[id] === null) continue; // remapped to 0 already
    const text = texts[at] ?? '';
    if (text !== last) values.push(text);
    last = text;
    remap[id] = values.length - 1;
  }
  return { dictionary: packDictionary(values, hasNull), remap };
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** UTF-8 has no lone surrogates: each becomes U+FFFD, before values are told apart. */
function wellFormed(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text;
}

function packDictionary(values: readonly (string | null)[], hasNull: boolean): SortedDictionary {
  const texts = hasNull ? values.slice(1) : values;
  const parts: Buffer[] = [];
  // A single string of all values could pass the longest string there may be.
  for (let at = 0; at < texts.length; at += 65536) parts.push(Buffer.from(texts.slice(at, at + 65536).join(''), 'utf8'));
  const text = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);

  const ends = new Uint32Array(values.length);
  let units = 0;
  for (let i = 0; i < values.length; i++) ends[i] = units += values[i]?.length ?? 0;
  if (units !== text.length) {
    let bytes = 0;
    for (let i = 0; i < values.length; i++) ends[i] = bytes += Buffer.byteLength(values[i] ?? '', 'utf8');
  }
  return { values, hasNull, ends, text };
}
