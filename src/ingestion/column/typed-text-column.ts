// Columns of arrays, JSON and sketches while rows are gathered.

import { Buffer } from 'node:buffer';
import { cellAt, type FrameColumn, frameColumnType } from '../../model/frame.js';
import { isTextType, type TextType } from '../../model/schema.js';
import type { TextBlock } from '../format/input-block.js';
import { ByteDictionary, NULL_ID } from './byte-dictionary.js';
import {
  type FieldBounds,
  gatherIds,
  grownLength,
  grownWords,
  IdColumn,
  type RowSelection,
  type RunColumn,
  type StoredColumn,
} from './run-column.js';
import { inputValue, type ReadText, textReading } from './text-reading.js';
import { UsedEntries } from './used-entries.js';

/** Values of a text type (arrays, JSON, sketches, single strings): one id a row, of the text that is kept of the value. */
export class TypedTextColumn extends IdColumn implements RunColumn {
  readonly type: TextType;
  readonly #read: ReadText;

  /** @param read  how a value of parsed input becomes a text, where the type alone does not say it */
  constructor(name: string, type: TextType, dictionary = new ByteDictionary(), read: ReadText = textReading(type)) {
    super(name, dictionary);
    this.type = type;
    this.#read = read;
  }

  get sizeBytes(): number {
    return this.rows * 4;
  }

  appendNulls(count: number): void {
    this.reserve(count);
    this.ids.fill(NULL_ID, this.rows, this.rows + count);
    this.rows += count;
  }

  protected putFields(block: TextBlock, { starts, ends }: FieldBounds, { rows, count }: RowSelection, faults: Uint8Array): void {
    const { bytes, listDelimiter } = block;
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const start = starts[row] ?? 0;
      const end = ends[row] ?? -1;
      const text = end < 0 ? null : Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
      const isList = text !== null && listDelimiter !== null && text.includes(listDelimiter);
      this.#append(isList ? text.split(listDelimiter) : text, row, faults);
    }
  }

  appendValues(values: readonly unknown[], { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    for (let at = 0; at < count; at++) this.#append(values[rows[at] ?? 0], rows[at] ?? 0, faults);
  }

  /** Texts of the same type are taken as they are; any other value is converted, a text once however often it occurs. */
  appendFrame(column: FrameColumn, { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    if (column.kind !== 'string') {
      for (let at = 0; at < count; at++) this.#append(cellAt(column, rows[at] ?? 0), rows[at] ?? 0, faults);
      return;
    }
    const from = frameColumnType(column);
    const isSame = from === this.type;
    const known = new Int32Array(column.dictionary.length).fill(-1);
    const misfit = new Uint8Array(column.dictionary.length);
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const entry = column.ids[row] ?? 0;
      let id = known[entry] ?? -1;
      if (id < 0) {
        const kept = column.dictionary[entry] ?? null;
        const text = isSame ? kept : this.#read(isTextType(from) ? inputValue(kept, from) : kept);
        misfit[entry] = text === undefined ? 1 : 0;
        known[entry] = id = this.idOf(text ?? null);
      }
      if (misfit[entry] === 1) faults[row] = 1;
      this.ids[this.rows++] = id;
    }
  }

  toFrameColumn(rows: Uint32Array): FrameColumn {
    const { ids } = this.gather(rows);
    const used = new UsedEntries(this.words);
    const placed = ids.map((id) => used.place(id));
    return { kind: 'string', name: this.name, type: this.type, ids: placed, dictionary: used.dictionary };
  }

  gather(rows: Uint32Array): Extract<StoredColumn, { readonly kind: 'ids' }> {
    return { kind: 'ids', name: this.name, type: this.type, ids: gatherIds(this.ids, rows), offsets: null };
  }

  clear(): void {
    this.rows = 0;
  }

  #append(value: unknown, row: number, faults: Uint8Array): void {
    const text = this.#read(value);
    if (text === undefined) faults[row] = 1;
    this.ids[this.rows++] = this.idOf(text ?? null);
  }

  reserve(count: number): void {
    if (this.rows + count > this.ids.length) this.ids = grownWords(this.ids, grownLength(this.ids.length, this.rows + count));
  }
}
