// String columns while rows are gathered, single-valued or multi-value.

import { Buffer } from 'node:buffer';
import { FIELD } from '../../kernels/scan-contract.js';
import { cellAt, type FrameColumn } from '../../model/frame.js';
import type { PackedEntries } from '../../storage/columns/packed-column.js';
import type { Members, TextBlock, TypedColumn } from '../format/input-block.js';
import { ByteDictionary, type Fields, NULL_ID } from './byte-dictionary.js';
import { toText } from './coercion.js';
import { shortInteger } from './number-text.js';
import {
  allRows,
  type FieldBounds,
  gatherIds,
  grownLength,
  grownWords,
  IdColumn,
  type RowSelection,
  type RunColumn,
  type StoredColumn,
} from './run-column.js';
import { inputValue } from './text-reading.js';
import { UsedEntries } from './used-entries.js';

/** Id of an entry that has not been looked up. */
const NOT_KNOWN = -1;

/** Treatment of the order and repeats of a row's values. */
export type MultiValueHandling = 'SORTED_ARRAY' | 'SORTED_SET' | 'ARRAY';

/** Strings, one id a row; from the first row with several values on, a list of ids a row. */
export class StringColumn extends IdColumn implements RunColumn {
  readonly handling: MultiValueHandling;
  /** Start of each row's ids, `rows + 1` entries; only for lists. */
  #offsets: Uint32Array | null = null;
  #idCount = 0;
  /** Ids, in `words`, of the entries of the frame before; -1: not asked for yet. */
  #remapped: { readonly dictionary: readonly (string | null)[]; readonly renewals: number; readonly ids: Int32Array } = {
    dictionary: [],
    renewals: 0,
    ids: new Int32Array(0),
  };

  /** The same of packed entries. */
  #packed: { readonly dictionary: PackedEntries | null; readonly renewals: number; readonly ids: Int32Array } = {
    dictionary: null,
    renewals: 0,
    ids: new Int32Array(0),
  };

  constructor(name: string, handling: MultiValueHandling = 'SORTED_ARRAY', dictionary = new ByteDictionary()) {
    super(name, dictionary);
    this.handling = handling;
  }

  get sizeBytes(): number {
    return this.#idCount * 4 + (this.#offsets === null ? 0 : this.rows * 4);
  }

  appendNulls(count: number): void {
    for (let row = 0; row < count; row++) this.#appendId(NULL_ID);
  }

  protected putFields({ bytes, memory, listDelimiter }: TextBlock, { starts, ends }: FieldBounds, { rows, count }: RowSelection): void {
    if (listDelimiter !== null) {
      for (let at = 0; at < count; at++) {
        const row = rows[at] ?? 0;
        const end = ends[row] ?? -1;
        if (end < 0) this.#appendId(NULL_ID);
        else
          this.#appendList(
            Buffer.from(bytes.buffer, bytes.byteOffset + (starts[row] ?? 0), end - (starts[row] ?? 0))
              .toString('utf8')
              .split(listDelimiter),
          );
      }
      return;
    }
    if (this.#offsets !== null) {
      for (let at = 0; at < count; at++) this.#appendId(this.#fieldId(bytes, starts, ends, rows[at] ?? 0));
      return;
    }
    this.#appendFields(bytes, { starts, ends, rows, count, memory });
  }

  #appendFields(bytes: Uint8Array, fields: Fields): void {
    this.words.idsOf(bytes, fields, this.ids, this.#idCount);
    this.#idCount += fields.count;
    this.rows += fields.count;
  }

  appendValues(values: readonly unknown[], { rows, count }: RowSelection): void {
    for (let at = 0; at < count; at++) this.appendValue(values[rows[at] ?? 0]);
  }

  override appendMembers(members: Members, selection: RowSelection): void {
    const { bytes, memory, starts, ends, kinds, value } = members;
    const { rows, count } = selection;
    this.reserve(count);
    if (this.#offsets === null && areFields(members, selection)) return this.#appendFields(bytes, { starts, ends, rows, count, memory });
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const kind = kinds[row] ?? FIELD.missing;
      if (kind === FIELD.string || (kind === FIELD.number && isPrintedInteger(bytes, starts[row] ?? 0, ends[row] ?? 0)))
        this.#appendId(this.words.idOf(bytes, starts[row] ?? 0, ends[row] ?? 0));
      else if (kind <= FIELD.null) this.#appendId(NULL_ID);
      else this.appendValue(value(row));
    }
  }

  appendValue(value: unknown): void {
    if (typeof value === 'string') this.#appendId(this.words.idOfText(value));
    else if (value === null || value === undefined) this.#appendId(NULL_ID);
    else if (Array.isArray(value)) this.#appendList(value.map(toText));
    else this.#appendId(this.words.idOfText(toText(value) ?? ''));
  }

  appendFrame(column: FrameColumn, { rows, count }: RowSelection): void {
    if (column.kind === 'string' && column.type !== undefined && column.type !== 'STRING') {
      const { type } = column;
      const values = column.dictionary.map((text) => inputValue(text, type));
      for (let at = 0; at < count; at++) this.appendValue(values[column.ids[rows[at] ?? 0] ?? 0]);
    } else if (column.kind === 'string') {
      const remap = this.#remapOf(column.dictionary);
      this.reserve(count);
      for (let at = 0; at < count; at++) this.#appendId(remap(column.ids[rows[at] ?? 0] ?? 0));
    } else if (column.kind === 'multi') {
      for (let at = 0; at < count; at++) {
        const cell = cellAt(column, rows[at] ?? 0);
        if (typeof cell === 'object' && cell !== null) this.#appendList(cell);
        else this.appendValue(cell);
      }
    } else {
      for (let at = 0; at < count; at++) this.appendValue(cellAt(column, rows[at] ?? 0));
    }
  }

  override appendTyped(column: TypedColumn, selection: RowSelection, faults: Uint8Array): void {
    if (column.kind !== 'packed' || column.offsets !== null || column.type !== 'STRING')
      return super.appendTyped(column, selection, faults);
    const { rows, count } = selection;
    const { dictionary } = column;
    const { renewals } = this;
    const isNew = this.#packed.dictionary !== dictionary || this.#packed.renewals !== renewals;
    if (isNew) this.#packed = { dictionary, renewals, ids: new Int32Array(dictionary.ends.length).fill(NOT_KNOWN) };
    const known = this.#packed.ids;
    known[NULL_ID] = NULL_ID;
    this.reserve(count);
    if (this.#offsets === null) {
      // Most blocks have no new entry, and are read once.
      if (isNew || !this.#putKnown(column.ids, selection, known)) {
        this.#lookUpEntries(dictionary, column.ids, selection, known);
        this.#putKnown(column.ids, selection, known);
      }
      this.#idCount += count;
      this.rows += count;
      return;
    }
    this.#lookUpEntries(dictionary, column.ids, selection, known);
    for (let at = 0; at < count; at++) this.#appendId(known[column.ids[rows[at] ?? 0] ?? NULL_ID] ?? NULL_ID);
  }

  /** Writes the ids of entries behind those that are there; false: some are not known. */
  #putKnown(entries: Uint32Array, { rows, count }: RowSelection, known: Int32Array): boolean {
    const { ids } = this;
    const to = this.#idCount;
    let all = 0;
    for (let at = 0; at < count; at++) {
      const id = known[entries[rows[at] ?? 0] ?? NULL_ID] ?? NULL_ID;
      ids[to + at] = id;
      all |= id;
    }
    // An id is below 2^31, and NOT_KNOWN is not.
    return all >= 0;
  }

  /** Looks up the entries of these rows that are not known yet. */
  #lookUpEntries({ bytes, ends }: PackedEntries, ids: Uint32Array, { rows, count }: RowSelection, known: Int32Array): void {
    const unknown = new Uint32Array(Math.min(count, known.length));
    let entries = 0;
    for (let at = 0; at < count; at++) {
      const entry = ids[rows[at] ?? 0] ?? NULL_ID;
      if ((known[entry] ?? NULL_ID) !== NOT_KNOWN) continue;
      known[entry] = NULL_ID;
      unknown[entries++] = entry;
    }
    const fields = { starts: new Int32Array(entries), ends: new Int32Array(entries), ...allRows(entries), memory: null };
    for (let at = 0; at < entries; at++) {
      const entry = unknown[at] ?? 0;
      fields.starts[at] = ends[entry - 1] ?? 0;
      fields.ends[at] = ends[entry] ?? 0;
    }
    const found = new Uint32Array(entries);
    this.words.idsOf(bytes, fields, found, 0);
    for (let at = 0; at < entries; at++) known[unknown[at] ?? 0] = found[at] ?? NULL_ID;
  }

  toFrameColumn(rows: Uint32Array): FrameColumn {
    const { ids, offsets } = this.gather(rows);
    const used = new UsedEntries(this.words);
    const placed = ids.map((id) => used.place(id));
    const { name } = this;
    if (offsets === null) return { kind: 'string', name, ids: placed, dictionary: used.dictionary };
    return { kind: 'multi', name, offsets, ids: placed, dictionary: used.dictionary };
  }

  gather(rows: Uint32Array): Extract<StoredColumn, { readonly kind: 'ids' }> {
    const { name } = this;
    const offsets = this.#offsets;
    if (offsets === null) {
      return { kind: 'ids', name, type: 'STRING', ids: gatherIds(this.ids, rows), offsets: null };
    }
    const starts = new Uint32Array(rows.length + 1);
    let total = 0;
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] ?? 0;
      total += (offsets[row + 1] ?? 0) - (offsets[row] ?? 0);
      starts[at + 1] = total;
    }
    const ids = new Uint32Array(total);
    for (let at = 0, to = 0; at < rows.length; at++) {
      const row = rows[at] ?? 0;
      const end = offsets[row + 1] ?? 0;
      for (let from = offsets[row] ?? 0; from < end; from++) ids[to++] = this.ids[from] ?? 0;
    }
    return { kind: 'ids', name, type: 'STRING', ids, offsets: starts };
  }

  clear(): void {
    this.rows = 0;
    this.#idCount = 0;
    this.#offsets = null;
  }

  #fieldId(bytes: Uint8Array, starts: Int32Array, ends: Int32Array, row: number): number {
    const end = ends[row] ?? -1;
    return end < 0 ? NULL_ID : this.words.idOf(bytes, starts[row] ?? 0, end);
  }

  /** No value and a single null are null; a null among others is kept as a value. */
  #appendList(values: readonly (string | null)[]): void {
    if (values.length === 0) return this.#appendId(NULL_ID);
    if (values.length === 1) return this.#appendId(this.idOf(values[0] ?? null));
    const ordered = this.handling === 'ARRAY' ? values : [...values].sort(nullsFirst);
    const kept = this.handling === 'SORTED_SET' ? ordered.filter((value, at) => at === 0 || value !== ordered[at - 1]) : ordered;
    if (kept.length === 1) return this.#appendId(this.idOf(kept[0] ?? null));
    this.#offsets ??= this.#offsetsOfSingles();
    this.reserve(kept.length);
    for (const value of kept) this.ids[this.#idCount++] = this.idOf(value);
    this.#endRow();
  }

  #appendId(id: number): void {
    if (this.#offsets === null) {
      if (this.#idCount === this.ids.length) this.reserve(1);
      this.ids[this.#idCount++] = id;
      this.rows++;
      return;
    }
    if (id !== NULL_ID) {
      this.reserve(1);
      this.ids[this.#idCount++] = id;
    }
    this.#endRow();
  }

  #endRow(): void {
    this.rows++;
    let offsets = this.#offsets;
    if (offsets === null) return;
    if (this.rows >= offsets.length) offsets = this.#offsets = grownWords(offsets, grownLength(offsets.length, this.rows + 1));
    offsets[this.rows] = this.#idCount;
  }

  /** Scheduler one id a row into lists: a null row becomes an empty one. */
  #offsetsOfSingles(): Uint32Array {
    const offsets = new Uint32Array(grownLength(0, this.rows + 2));
    let to = 0;
    for (let row = 0; row < this.rows; row++) {
      const id = this.ids[row] ?? 0;
      if (id !== NULL_ID) this.ids[to++] = id;
      offsets[row + 1] = to;
    }
    this.#idCount = to;
    return offsets;
  }

  /** Ids of a frame's dictionary in this one's, found when first asked for; frames of one file share theirs. */
  #remapOf(dictionary: readonly (string | null)[]): (id: number) => number {
    const { renewals } = this;
    if (this.#remapped.dictionary !== dictionary || this.#remapped.renewals !== renewals)
      this.#remapped = { dictionary, renewals, ids: new Int32Array(dictionary.length).fill(NOT_KNOWN) };
    const { ids: known } = this.#remapped;
    return (id) => {
      let mapped = known[id] ?? NOT_KNOWN;
      if (mapped === NOT_KNOWN) known[id] = mapped = this.idOf(dictionary[id] ?? null);
      return mapped;
    };
  }

  reserve(count: number): void {
    if (this.#idCount + count > this.ids.length) this.ids = grownWords(this.ids, grownLength(this.ids.length, this.#idCount + count));
  }
}

/** Whether all members are strings as they stand there, or missing, whose ends are below 0. */
function areFields({ kinds }: Members, { rows, count }: RowSelection): boolean {
  let others = 0;
  for (let at = 0; at < count; at++) others |= (1 << (kinds[rows[at] ?? 0] ?? 0)) & ~FIELDS;
  return others === 0;
}

const FIELDS = (1 << FIELD.missing) | (1 << FIELD.string);

/** Whether a number of JSON stands there as it is printed: an integer of few digits. */
function isPrintedInteger(bytes: Uint8Array, start: number, end: number): boolean {
  const value = shortInteger(bytes, start, end);
  return value === value && !Object.is(value, -0);
}

function nullsFirst(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  return b === null || a > b ? 1 : -1;
}
