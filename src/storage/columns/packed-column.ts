// String columns whose dictionaries are bytes.

import type { Frame, FrameColumn } from '../../model/frame.js';
import type { TextType } from '../../model/schema.js';
import { type PackedTexts, textAt } from './packed-strings.js';

/** Entries of a dictionary as bytes. Entry 0 is null, and empty; others may repeat. */
export interface PackedEntries extends PackedTexts {
  /** Whether the entries behind null are distinct, and ascend as JS compares strings. */
  readonly isSorted: boolean;
}

/** Strings like those of a frame, with a packed dictionary. */
export interface PackedColumn {
  readonly kind: 'packed';
  readonly name: string;
  readonly type: TextType;
  readonly ids: Uint32Array;
  /** Start of each row's ids, `rowCount + 1` entries; null: one id a row. */
  readonly offsets: Uint32Array | null;
  readonly dictionary: PackedEntries;
}

/** Rows of a segment that is to be written; a `Frame` is one too. Every packed entry but null is the value of some row. */
export interface SegmentFrame {
  readonly rowCount: number;
  readonly columns: readonly (FrameColumn | PackedColumn)[];
}

/** The rows with their dictionaries as strings. */
export function plainFrame({ rowCount, columns }: SegmentFrame): Frame {
  return { rowCount, columns: columns.map((column) => (column.kind === 'packed' ? plainColumn(column) : column)) };
}

/** Entries that were decoded; columns of one file share theirs. */
const decoded = new WeakMap<PackedEntries, readonly (string | null)[]>();

export function plainColumn({ name, type, ids, offsets, dictionary }: PackedColumn): FrameColumn {
  const entries = decoded.get(dictionary) ?? Array.from(dictionary.ends, (_, id) => (id === 0 ? null : textAt(dictionary, id)));
  decoded.set(dictionary, entries);
  if (offsets !== null) return { kind: 'multi', name, offsets, ids, dictionary: entries };
  return { kind: 'string', name, ...(type === 'STRING' ? {} : { type }), ids, dictionary: entries };
}

/** Gathers entries of a packed dictionary, the first of which is null. */
export class PackedEntriesBuilder {
  #bytes: Uint8Array;
  #ends: Uint32Array;
  #count = 1;
  #end = 0;

  /** @param entries  how many there will be, as far as that is known, and their bytes */
  constructor(entries = 64, bytes = 1024) {
    this.#bytes = new Uint8Array(bytes);
    this.#ends = new Uint32Array(entries + 1);
  }

  /** Adds the bytes [start, end) of `source`; returns the id of the entry. */
  add(source: Uint8Array, start: number, end: number): number {
    this.#append(source, start, end);
    if (this.#count === this.#ends.length) this.#ends = grown(this.#ends, this.#count + 1, Uint32Array);
    this.#ends[this.#count] = this.#end;
    return this.#count++;
  }

  /** Adds the entries [from, to), null not among them; returns the id of the first. */
  addRun({ bytes, ends }: PackedTexts, from: number, to: number): number {
    const first = this.#count;
    const start = ends[from - 1] ?? 0;
    const before = this.#end - start;
    this.#append(bytes, start, ends[to - 1] ?? 0);
    const count = first + to - from;
    if (count > this.#ends.length) this.#ends = grown(this.#ends, count, Uint32Array);
    for (let at = from; at < to; at++) this.#ends[first + at - from] = (ends[at] ?? 0) + before;
    this.#count = count;
    return first;
  }

  /** Adds all but null; returns how far behind their old ids the new ones are. */
  addAll(entries: PackedEntries): number {
    return entries.ends.length > 1 ? this.addRun(entries, 1, entries.ends.length) - 1 : this.#count - 1;
  }

  #append(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    const to = this.#end;
    if (to + length > this.#bytes.length) this.#bytes = grown(this.#bytes, to + length, Uint8Array);
    const bytes = this.#bytes;
    if (length > LOOP_BYTES_MAX) bytes.set(source.subarray(start, end), to);
    else for (let at = 0; at < length; at++) bytes[to + at] = source[start + at] ?? 0;
    this.#end = to + length;
  }

  entries(isSorted: boolean): PackedEntries {
    // Copies: a view would take all of its buffer along to another thread.
    return { bytes: this.#bytes.slice(0, this.#end), ends: this.#ends.slice(0, this.#count), isSorted };
  }
}

/** Bytes up to which a loop copies faster than a call. */
const LOOP_BYTES_MAX = 48;

function grown<Words extends Uint8Array | Uint32Array>(words: Words, needed: number, Type: new (length: number) => Words): Words {
  const larger = new Type(Math.max(words.length * 2, needed));
  larger.set(words);
  return larger;
}
