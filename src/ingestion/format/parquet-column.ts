// Reads the values of a flat Parquet column, page by page, into typed columns.

import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { DAY_MS } from '../../base/calendar.js';
import { type PackedColumn, type PackedEntries, PackedEntriesBuilder } from '../../storage/columns/packed-column.js';
import { textAt } from '../../storage/columns/packed-strings.js';
import type { TypedColumn } from './input-block.js';
import { RUN_PADDING, RunReader } from './parquet-runs.js';

/** The parts of a file's schema and metadata that decide how a column is read, under the names of the format. */
export interface StoredElement {
  readonly name: string;
  readonly type?: string;
  readonly repetition_type?: string;
  readonly num_children?: number;
  readonly converted_type?: string;
  readonly logical_type?: { readonly type: string; readonly unit?: string };
}

interface PageHeader {
  readonly type: string;
  readonly uncompressed_page_size: number;
  readonly compressed_page_size: number;
  readonly dictionary_page_header?: { readonly num_values: number };
  readonly data_page_header?: { readonly num_values: number; readonly encoding: string };
  readonly data_page_header_v2?: {
    readonly num_values: number;
    readonly num_nulls: number;
    readonly encoding: string;
    readonly definition_levels_byte_length: number;
    readonly repetition_levels_byte_length: number;
    readonly is_compressed?: boolean;
  };
}

/** Takes pages apart: `header` leaves the reader behind the header. */
export interface PageReading {
  header(reader: { view: DataView; offset: number }): PageHeader;
  unpacked(bytes: Uint8Array, size: number): Uint8Array;
}

/** Meaning of the stored values of a column. */
interface Values {
  readonly kind: 'string' | 'long' | 'double';
  /** Bytes of a stored number. */
  readonly width: 4 | 8;
  /** Stored integers as what they mean, in place; null: as they are. */
  readonly convert: ((values: BigInt64Array, count: number) => void) | null;
  /** Longs that are numbers to their reader, not bigints. */
  readonly areNumbers: boolean;
}

const WORD = 2 ** 32;
const LEVELS = new Set(['RLE', 'BIT_PACKED']);
const ENCODINGS = new Set([...LEVELS, 'PLAIN', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY']);
const TEXTS = { kind: 'string', width: 4, convert: null, areNumbers: false } as const;
const INTEGERS = { kind: 'long', width: 4, convert: null, areNumbers: true } as const;
const LONGS = { kind: 'long', width: 8, convert: null, areNumbers: false } as const;
const DATES = { ...INTEGERS, convert: scaled((days) => days * DAY_MS) } as const;
const MILLISECONDS = { ...LONGS, areNumbers: true } as const;
const MICROSECONDS = { ...MILLISECONDS, convert: scaled((micros) => Math.floor(micros / 1000)) } as const;

/** Values of a column that `ColumnPages` reads; null: another reader must. Nested, repeated and rare types are left to it. */
export function flatValues(
  element: StoredElement,
  { encodings }: { readonly encodings: readonly string[] },
  { binaryAsString }: { readonly binaryAsString: boolean },
): Values | null {
  if (element.repetition_type === 'REPEATED' || (element.num_children ?? 0) > 0) return null;
  if (!encodings.every((encoding) => ENCODINGS.has(encoding))) return null;
  const { type, converted_type: converted, logical_type: logical } = element;
  const meaning = converted ?? (logical === undefined ? 'none' : logical.type);
  switch (type) {
    case 'BYTE_ARRAY':
      return meaning === 'UTF8' || meaning === 'STRING' || (meaning === 'none' && binaryAsString) ? TEXTS : null;
    case 'INT32':
      if (meaning === 'DATE') return DATES;
      return ['none', 'INT_8', 'INT_16', 'INT_32'].includes(meaning) ? INTEGERS : null;
    case 'INT64':
      if (meaning === 'TIMESTAMP_MILLIS') return MILLISECONDS;
      if (meaning === 'TIMESTAMP_MICROS') return MICROSECONDS;
      if (converted === undefined && logical?.type === 'TIMESTAMP')
        return logical.unit === 'MICROS' ? MICROSECONDS : logical.unit === 'MILLIS' ? MILLISECONDS : null;
      return meaning === 'none' || meaning === 'INT_64' ? LONGS : null;
    case 'DOUBLE':
      return meaning === 'none' ? { kind: 'double', width: 8, convert: null, areNumbers: true } : null;
    case 'FLOAT':
      return meaning === 'none' ? { kind: 'double', width: 4, convert: null, areNumbers: true } : null;
    default:
      return null;
  }
}

/** A page of values that is being read. */
interface OpenPage {
  /** Rows left. */
  rows: number;
  /** null: no row is null. */
  readonly levels: RunReader | null;
  /** Padded by `RUN_PADDING` bytes. */
  readonly bytes: Uint8Array;
  readonly end: number;
  /** Next plain value. */
  at: number;
  /** null: values are plain. */
  readonly ids: RunReader | null;
}

type NumberDictionary = BigInt64Array | Float64Array;

/** A column chunk on its way into typed columns, some rows at a time. */
export class ColumnPages {
  readonly #name: string;
  readonly #values: Values;
  readonly #isOptional: boolean;
  readonly #reading: PageReading;
  readonly #reader: { view: DataView; offset: number };
  #page: OpenPage | null = null;
  /** Texts of the dictionary page behind null. */
  #texts: PackedEntries = new PackedEntriesBuilder().entries(false);
  /** Entries of it that are not UTF-8. */
  #notTexts: ReadonlySet<number> = NO_IDS;
  #numbers: NumberDictionary | null = null;
  #scratch = new Uint32Array(0);

  constructor(chunk: ArrayBuffer, element: StoredElement, values: Values, reading: PageReading) {
    this.#name = element.name;
    this.#values = values;
    this.#isOptional = element.repetition_type === 'OPTIONAL';
    this.#reading = reading;
    this.#reader = { view: new DataView(chunk), offset: 0 };
  }

  /** Rows of the last `read` with text that is not UTF-8. */
  faults: readonly number[] = [];

  /** Longs that are numbers to their reader. */
  get areNumbers(): boolean {
    return this.#values.areNumbers;
  }

  /** The next `count` rows. @throws Error for a chunk that is damaged, or has fewer */
  read(count: number): TypedColumn {
    if (this.#scratch.length < count) this.#scratch = new Uint32Array(count);
    const nulls = new Uint32Array((count + 31) >>> 5);
    switch (this.#values.kind) {
      case 'string':
        return this.#readTexts(count);
      case 'long': {
        const values = new BigInt64Array(count);
        const hasNulls = this.#readNumbers(values, nulls);
        return { kind: 'long', name: this.#name, values, nulls: hasNulls ? nulls : null };
      }
      default: {
        const values = new Float64Array(count);
        const hasNulls = this.#readNumbers(values, nulls);
        return { kind: 'double', name: this.#name, type: 'DOUBLE', values, nulls: hasNulls ? nulls : null };
      }
    }
  }

  #readTexts(count: number): PackedColumn {
    const ids = new Uint32Array(count);
    let dictionary: PackedEntries | null = null;
    let notTexts: ReadonlySet<number> = NO_IDS;
    for (let from = 0; from < count; ) {
      const page = this.#openPage();
      const rows = Math.min(count - from, page.rows);
      const held = this.#levelsOf(page, rows);
      const into = ids.subarray(from, from + rows);
      if (page.ids === null) {
        // Plain texts are entries of their own.
        const entries = new PackedEntriesBuilder();
        if (dictionary !== null) entries.addAll(dictionary);
        for (let at = 0; at < held; at++) into[at] = addText(entries, page);
        const checked = textEntries(entries);
        dictionary = checked.entries;
        notTexts = union(notTexts, checked.notTexts, 0);
      } else {
        page.ids.read(into, held);
        let before = 0;
        const texts = this.#texts;
        if (dictionary !== null && dictionary !== texts) {
          const entries = new PackedEntriesBuilder();
          entries.addAll(dictionary);
          before = entries.addAll(texts);
          dictionary = entries.entries(false);
          notTexts = union(notTexts, this.#notTexts, before);
        } else {
          dictionary = texts;
          notTexts = this.#notTexts;
        }
        for (let at = 0; at < held; at++) {
          const id = (into[at] ?? 0) + 1;
          if (id >= texts.ends.length) throw new Error(`a value of ${this.#name} is not in its dictionary`);
          into[at] = before + id;
        }
      }
      if (held < rows) spread(into, this.#scratch, held, 0);
      page.rows -= rows;
      from += rows;
    }
    this.faults = notTexts.size === 0 ? [] : rowsOf(ids, notTexts);
    return { kind: 'packed', name: this.#name, type: 'STRING', ids, offsets: null, dictionary: dictionary ?? this.#texts };
  }

  /** Returns whether some row is null. */
  #readNumbers(values: NumberDictionary, nulls: Uint32Array): boolean {
    let hasNulls = false;
    for (let from = 0; from < values.length; ) {
      const page = this.#openPage();
      const rows = Math.min(values.length - from, page.rows);
      const levels = this.#scratch;
      const held = this.#levelsOf(page, rows);
      const into = values.subarray(from, from + rows);
      if (page.ids === null) {
        page.at = this.#plainNumbers(page.bytes, page.at, page.end, into, held);
      } else {
        const ids = held < rows ? new Uint32Array(held) : levels;
        page.ids.read(ids, held);
        lookUp(into, ids, held, this.#numbers ?? into.subarray(0, 0), this.#name);
      }
      if (held < rows) {
        hasNulls = true;
        for (let at = 0; at < rows; at++)
          if (levels[at] === 0) nulls[(from + at) >>> 5] = (nulls[(from + at) >>> 5] ?? 0) | (1 << ((from + at) & 31));
        if (into instanceof BigInt64Array) spread(into, levels, held, 0n);
        else spread(into, levels, held, 0);
      }
      page.rows -= rows;
      from += rows;
    }
    return hasNulls;
  }

  /** Reads the levels of the next rows to `scratch`, 0 for null; returns how many are not. All of them: `scratch` is left. */
  #levelsOf({ levels }: OpenPage, rows: number): number {
    if (levels === null) return rows;
    levels.read(this.#scratch, rows);
    let held = 0;
    for (let at = 0; at < rows; at++) held += this.#scratch[at] ?? 0;
    return held;
  }

  #openPage(): OpenPage {
    while (this.#page === null || this.#page.rows === 0) {
      if (this.#reader.offset >= this.#reader.view.byteLength - 1)
        throw new Error(`column ${this.#name} has fewer values than its row group`);
      this.#nextPage();
    }
    return this.#page;
  }

  #nextPage(): void {
    const header = this.#reading.header(this.#reader);
    const { view, offset } = this.#reader;
    const stored = new Uint8Array(view.buffer, view.byteOffset + offset, header.compressed_page_size);
    this.#reader.offset += header.compressed_page_size;
    const { dictionary_page_header: dictionary, data_page_header: page, data_page_header_v2: page2 } = header;
    const size = Number(header.uncompressed_page_size);
    if (header.type === 'DICTIONARY_PAGE' && dictionary !== undefined) this.#takeDictionary(stored, size, dictionary.num_values);
    else if (header.type === 'DATA_PAGE' && page !== undefined) {
      const bytes = padded(this.#reading.unpacked(stored, size));
      const levelBytes = this.#isOptional ? wordAt(bytes, 0) + 4 : 0;
      if (levelBytes > size) throw new Error(`a page of ${this.#name} ends within its levels`);
      this.#open(page.num_values, this.#isOptional ? new RunReader(bytes, 4, levelBytes, 1) : null, bytes, levelBytes, page.encoding);
    } else if (header.type === 'DATA_PAGE_V2' && page2 !== undefined) {
      const { definition_levels_byte_length: levelBytes, repetition_levels_byte_length: before } = page2;
      const packed = stored.subarray(before + levelBytes);
      const left = size - before - levelBytes;
      const bytes = padded(page2.is_compressed === false ? packed : this.#reading.unpacked(packed, left));
      const levels = this.#isOptional && page2.num_nulls > 0 ? padded(stored.subarray(before, before + levelBytes)) : null;
      this.#open(page2.num_values, levels === null ? null : new RunReader(levels, 0, levelBytes, 1), bytes, 0, page2.encoding);
    } else throw new Error(`a page of type ${header.type}`);
  }

  #open(rows: number, levels: RunReader | null, bytes: Uint8Array, at: number, encoding: string): void {
    const end = bytes.length - RUN_PADDING;
    const ids = encoding === 'PLAIN' ? null : new RunReader(bytes, at + 1, end, bytes[at] ?? 0);
    this.#page = { rows, levels, bytes, end, at, ids };
  }

  #takeDictionary(stored: Uint8Array, size: number, count: number): void {
    const bytes = this.#reading.unpacked(stored, size);
    if (this.#values.kind === 'string') {
      const page = { bytes, at: 0, end: bytes.length };
      const texts = new PackedEntriesBuilder(Math.min(count, size), size);
      for (let entry = 0; entry < count; entry++) addText(texts, page);
      const checked = textEntries(texts);
      this.#texts = checked.entries;
      this.#notTexts = checked.notTexts;
      return;
    }
    if (count * this.#values.width > bytes.length) throw new Error(`the dictionary of ${this.#name} is cut off`);
    this.#numbers = this.#values.kind === 'long' ? new BigInt64Array(count) : new Float64Array(count);
    this.#plainNumbers(bytes, 0, bytes.length, this.#numbers, count);
  }

  /** Returns the position behind the values. */
  #plainNumbers(bytes: Uint8Array, at: number, end: number, into: NumberDictionary, count: number): number {
    const { width, convert } = this.#values;
    const behind = at + count * width;
    if (behind > end) throw new Error(`a page of ${this.#name} is cut off`);
    if (width === 8) new Uint8Array(into.buffer, into.byteOffset, count * 8).set(bytes.subarray(at, behind));
    else {
      const narrow = bytes.slice(at, behind).buffer;
      if (into instanceof BigInt64Array) widen(new Int32Array(narrow), into);
      else into.set(new Float32Array(narrow));
    }
    if (convert !== null && into instanceof BigInt64Array) convert(into, count);
    return behind;
  }
}

function padded(bytes: Uint8Array): Uint8Array {
  const longer = new Uint8Array(bytes.length + RUN_PADDING);
  longer.set(bytes);
  return longer;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0;
}

/** Adds the next text of a page; returns its id. */
function addText(entries: PackedEntriesBuilder, page: { readonly bytes: Uint8Array; at: number; readonly end: number }): number {
  const start = page.at + 4;
  const behind = start + wordAt(page.bytes, page.at);
  if (behind > page.end) throw new Error('a text ends behind its page');
  page.at = behind;
  return entries.add(page.bytes, start, behind);
}

const NO_IDS: ReadonlySet<number> = new Set();

function union(ids: ReadonlySet<number>, more: ReadonlySet<number>, before: number): ReadonlySet<number> {
  return more.size === 0 ? ids : new Set([...ids, ...Array.from(more, (id) => before + id)]);
}

function rowsOf(ids: Uint32Array, wanted: ReadonlySet<number>): readonly number[] {
  return Array.from(ids.keys()).filter((row) => wanted.has(ids[row] ?? 0));
}

/** The entries as UTF-8, U+FFFD in place of what is not, and which of them are not. */
function textEntries(builder: PackedEntriesBuilder): { readonly entries: PackedEntries; readonly notTexts: ReadonlySet<number> } {
  const entries = builder.entries(false);
  const { bytes, ends } = entries;
  // Texts of valid bytes are valid themselves where none begins within a character.
  if (isAscii(bytes) || (isUtf8(bytes) && ends.every((end) => ((bytes[end] ?? 0) & 0xc0) !== 0x80))) return { entries, notTexts: NO_IDS };
  const valid = new PackedEntriesBuilder(ends.length, bytes.length);
  const notTexts = new Set<number>();
  for (let id = 1; id < ends.length; id++) {
    if (!isUtf8(bytes.subarray(ends[id - 1], ends[id]))) notTexts.add(id);
    const text = Buffer.from(textAt(entries, id), 'utf8');
    valid.add(text, 0, text.length);
  }
  return { entries: valid.entries(false), notTexts };
}

/** Moves `held` values at the front to the rows that are not null. */
function spread<Value>(values: { readonly length: number; [at: number]: Value }, levels: Uint32Array, held: number, nothing: Value): void {
  let from = held;
  for (let row = values.length - 1; row >= 0; row--) {
    if (levels[row] === 0) values[row] = nothing;
    else values[row] = values[--from] as Value;
  }
}

function lookUp(into: NumberDictionary, ids: Uint32Array, count: number, dictionary: NumberDictionary, name: string): void {
  // Words of 64 bits are moved in halves: an element of a BigInt64Array is an object.
  const [to, from] = [into, dictionary].map(({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, length * 2));
  if (to === undefined || from === undefined) return;
  for (let at = 0; at < count; at++) {
    const id = ids[at] ?? 0;
    if (id >= dictionary.length) throw new Error(`a value of ${name} is not in its dictionary`);
    to[at * 2] = from[id * 2] ?? 0;
    to[at * 2 + 1] = from[id * 2 + 1] ?? 0;
  }
}

function widen(narrow: Int32Array, into: BigInt64Array): void {
  const halves = new Int32Array(into.buffer, into.byteOffset, narrow.length * 2);
  for (let at = 0; at < narrow.length; at++) {
    const value = narrow[at] ?? 0;
    halves[at * 2] = value;
    halves[at * 2 + 1] = value >> 31;
  }
}

function scaled(change: (value: number) => number): (values: BigInt64Array, count: number) => void {
  return (values, count) => {
    const halves = new Int32Array(values.buffer, values.byteOffset, count * 2);
    for (let at = 0; at < count; at++) {
      const value = change((halves[at * 2 + 1] ?? 0) * WORD + ((halves[at * 2] ?? 0) >>> 0));
      halves[at * 2] = value | 0;
      halves[at * 2 + 1] = Math.floor(value / WORD);
    }
  };
}
