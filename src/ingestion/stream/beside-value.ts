// Columns of what stands beside the values of messages: their time, topic, headers and key.

import { Buffer } from 'node:buffer';
import { FIELD } from '../../kernels/scan-contract.js';
import { PackedEntriesBuilder } from '../../storage/columns/packed-column.js';
import type { InputFormat, Reading } from '../format/format-kind.js';
import type { InputBlock, Members, TextBlock, TypedColumn, ValueBlock } from '../format/input-block.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { type TextRows, textRows } from './record-blocks.js';
import type { MessageTexts } from './stream-reader.js';

export interface BesideValue {
  readonly timestampColumn: string;
  /** null: there are no topics. */
  readonly topicColumn: string | null;
  readonly keyColumn: string;
  /** null: keys are not read; `text`: they are texts. */
  readonly key: InputFormat | 'text' | null;
  readonly headerPrefix: string;
  /** null: headers are not read. */
  readonly headerText: ((bytes: Uint8Array) => string) | null;
}

/** A message's part in a column: undefined where it has none. */
type Column = unknown[];

/** Columns beside the values of some messages, by their names. */
export class BesideColumns {
  readonly #columns = new Map<string, Column>();
  readonly #packed = new Map<string, Packed | null>();

  /** Reads those that are asked for, for messages, which are numbered through all lists. */
  static async read(
    lists: readonly MessageTexts[],
    { timestampColumn, topicColumn, keyColumn, key: keyFormat, headerPrefix, headerText }: BesideValue,
    reading: Omit<Reading, 'read'>,
    statistics: RowStatistics,
  ): Promise<BesideColumns> {
    const beside = new BesideColumns();
    const isRead = (name: string): boolean => reading.columns?.has(name) !== false;
    const hasTimestamps = isRead(timestampColumn);
    const topics = topicColumn !== null && isRead(topicColumn) ? topicColumn : null;
    /** null: nobody reads it. */
    const headers = new Map<string, Column | null>();
    const headerColumn = (name: string): Column | null => {
      let column = headers.get(name);
      if (column === undefined) headers.set(name, (column = isRead(headerPrefix + name) ? beside.#of(headerPrefix + name) : null));
      return column;
    };
    let number = 0;
    for (const block of lists)
      for (let at = 0; at < block.count; at++, number++) {
        if (headerText !== null)
          for (const [name, bytes] of block.headers(at)) {
            const column = headerColumn(name);
            if (column !== null) column[number] = bytes === null ? null : headerText(bytes);
          }
        if (hasTimestamps) beside.#of(timestampColumn)[number] = block.times[at];
        if (topics !== null) beside.#of(topics)[number] = block.topic;
      }
    if (keyFormat === 'text') beside.#addTexts(lists, keyColumn);
    else if (keyFormat !== null) await beside.#addKeys(lists, keyColumn, { format: keyFormat, reading, statistics });
    return beside;
  }

  #of(name: string): Column {
    let column = this.#columns.get(name);
    if (column === undefined) this.#columns.set(name, (column = []));
    return column;
  }

  #addTexts(lists: readonly MessageTexts[], name: string): void {
    let number = 0;
    for (const { keys, count } of lists)
      for (let at = 0; at < count; at++, number++) {
        const [start, end] = [keys.starts[at] ?? 0, keys.ends[at] ?? 0];
        if (end > start) this.#of(name)[number] = textOf(keys.bytes, start, end);
      }
  }

  /** The first column of each key, where no header has its name. */
  async #addKeys(
    lists: readonly MessageTexts[],
    name: string,
    { format, reading, statistics }: { format: InputFormat; reading: Omit<Reading, 'read'>; statistics: RowStatistics },
  ): Promise<void> {
    // A key without bytes is none.
    const keys = lists.map(({ keys }) => ({ ...keys, ends: keys.ends.map((end, at) => (end > (keys.starts[at] ?? 0) ? end : -1)) }));
    const options = { format, reading: { ...reading, columns: null }, statistics, hasMissing: true };
    const column = this.#of(name);
    for await (const { block, textOf: keyOf } of textRows(keys, options)) {
      if (block === null) continue;
      const values = firstValues(block);
      for (let row = 0; row < block.rowCount; row++) {
        const number = keyOf(row);
        if (column[number] === undefined) column[number] = values[row] ?? null;
      }
    }
    if (column.length === 0) this.#columns.delete(name);
  }

  /** The rows of a block with these columns, which those of the value come before. */
  beside({ block, textOf: messageOf }: TextRows): InputBlock {
    const rowCount = block?.rowCount ?? 1;
    const messages = Int32Array.from({ length: rowCount }, (_, row) => messageOf(row));
    const known = new Set(block?.columns);
    const isHere = (column: Column): boolean => messages.some((message) => column[message] !== undefined);
    const here = new Map([...this.#columns].filter(([, column]) => isHere(column)));
    const values = (name: string): readonly unknown[] => {
      const column = here.get(name);
      const own = known.has(name) && block !== null ? valuesOf(block, name) : undefined;
      if (column === undefined) return own ?? new Array(rowCount).fill(undefined);
      return Array.from(messages, (message, row) => own?.[row] ?? column[message]);
    };
    const record = (row: number): Readonly<Record<string, unknown>> => {
      const beside = [...here].map(([name, column]) => [name, column[messages[row] ?? 0]] as const);
      const present = Object.fromEntries(beside.filter(([, value]) => value !== undefined));
      return block === null ? present : { ...present, ...recordOf(block, row) };
    };
    return {
      kind: 'values',
      rowCount,
      columns: [...known, ...[...here.keys()].filter((name) => !known.has(name))],
      values,
      typed: (name) => {
        if (!here.has(name)) return block?.kind === 'values' ? block.typed?.(name) : undefined;
        return known.has(name) ? undefined : this.#typed(name, messages);
      },
      members: (name) => (block === null || here.has(name) ? undefined : membersOf(block, name)),
      ...(block?.faults === undefined ? {} : { faults: block.faults }),
      record,
      sample: (row) => block?.sample(row) ?? 'a message without a value',
    } satisfies ValueBlock & Pick<InputBlock, 'faults'>;
  }

  /** A column of strings with its distinct ones apart; undefined: it has other values. */
  #typed(name: string, messages: Int32Array): TypedColumn | undefined {
    let packed = this.#packed.get(name);
    if (packed === undefined) this.#packed.set(name, (packed = packedOf(this.#of(name))));
    if (packed === null) return undefined;
    const { dictionary } = packed;
    const ids = new Uint32Array(messages.length);
    for (let row = 0; row < ids.length; row++) ids[row] = packed.ids[messages[row] ?? 0] ?? 0;
    return { kind: 'packed', name, type: 'STRING', ids, offsets: null, dictionary };
  }
}

type Packed = Pick<Extract<TypedColumn, { readonly kind: 'packed' }>, 'ids' | 'dictionary'>;

function packedOf(column: Column): Packed | null {
  const entries = new PackedEntriesBuilder();
  const known = new Map<string, number>();
  const ids = new Uint32Array(column.length);
  for (let at = 0; at < column.length; at++) {
    const value = column[at];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') return null;
    let id = known.get(value);
    if (id === undefined) {
      const bytes = Buffer.from(value);
      known.set(value, (id = entries.add(bytes, 0, bytes.length)));
    }
    ids[at] = id;
  }
  return { ids, dictionary: entries.entries(false) };
}

/** The first column of each row, as if it were alone. */
function firstValues(block: InputBlock): readonly unknown[] {
  const [first] = block.columns;
  if (first === undefined) return [];
  if (block.kind === 'text' || block.columns.length === 1) return valuesOf(block, first);
  return Array.from({ length: block.rowCount }, (_, row) => {
    const name = block.columns.find((column) => block.values(column)[row] !== undefined);
    return name === undefined ? null : block.values(name)[row];
  });
}

function recordOf(block: InputBlock, row: number): Readonly<Record<string, unknown>> {
  if (block.kind === 'values') return block.record(row);
  return Object.fromEntries(block.columns.map((name) => [name, valuesOf(block, name)[row]]));
}

function valuesOf(block: InputBlock, column: string): readonly unknown[] {
  if (block.kind === 'values') return block.values(column);
  const { value } = textMembers(block, column) ?? { value: () => undefined };
  const { listDelimiter } = block;
  return Array.from({ length: block.rowCount }, (_, row) => {
    const text = value(row);
    return typeof text === 'string' && listDelimiter !== null && text.includes(listDelimiter) ? text.split(listDelimiter) : text;
  });
}

/** Values as they stand in the bytes; undefined: they do not. */
function membersOf(block: InputBlock, column: string): Members | undefined {
  if (block.kind === 'values') return block.members?.(column);
  return block.listDelimiter === null ? textMembers(block, column) : undefined;
}

function textMembers({ columns, bytes, memory, starts, ends, rowCount }: TextBlock, column: string): Members | undefined {
  const [from, to] = [starts[columns.indexOf(column)], ends[columns.indexOf(column)]];
  if (from === undefined || to === undefined) return undefined;
  const kinds = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) kinds[row] = (to[row] ?? -1) < 0 ? FIELD.missing : FIELD.string;
  const value = (row: number): string | null => ((to[row] ?? -1) < 0 ? null : textOf(bytes, from[row] ?? 0, to[row] ?? 0));
  return { bytes, memory, starts: from, ends: to, kinds, value };
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}
