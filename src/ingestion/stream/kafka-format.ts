// The input formats `kafka` and `kinesis`: the rows of a message's value, with what stands beside it as further columns.

import type { ObjectReader } from '../../base/json-reader.js';
import type { InputFormat, Reading } from '../format/format-kind.js';
import type { InputBlock, TextBlock, ValueBlock } from '../format/input-block.js';
import { parseInputFormat } from '../format/input-format.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { recordsOf } from './message-block.js';
import { type Messages, recordBlocks } from './record-blocks.js';
import type { StreamRecord } from './stream-reader.js';

/** Format of messages: of their values alone, or with what stands beside them. */
export interface MessageFormat {
  readonly value: InputFormat;
  /** null: the format is that of values. */
  readonly beside: BesideValue | null;
}

interface BesideValue {
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

const ENCODINGS: ReadonlyMap<string, BufferEncoding> = new Map([
  ['UTF-8', 'utf8'],
  ['ISO-8859-1', 'latin1'],
  ['US-ASCII', 'latin1'],
  ['UTF-16LE', 'utf16le'],
]);

/** @throws ServiceError that names the field */
export function parseMessageFormat(fields: ObjectReader): MessageFormat {
  if (fields.raw('type') === 'kinesis') return parseKinesisFormat(fields);
  if (fields.raw('type') !== 'kafka') return { value: parseInputFormat(fields), beside: null };
  fields.accept([
    'valueFormat',
    'keyFormat',
    'headerFormat',
    'timestampColumnName',
    'topicColumnName',
    'keyColumnName',
    'headerColumnPrefix',
    'headerLabelPrefix',
  ]);
  const header = fields.optionalObject('headerFormat');
  return {
    value: parseInputFormat(fields.object('valueFormat')),
    beside: {
      timestampColumn: fields.optionalString('timestampColumnName') ?? 'kafka.timestamp',
      topicColumn: fields.optionalString('topicColumnName') ?? 'kafka.topic',
      keyColumn: fields.optionalString('keyColumnName') ?? 'kafka.key',
      key: fields.has('keyFormat') ? parseInputFormat(fields.object('keyFormat')) : null,
      headerPrefix: fields.optionalString('headerColumnPrefix') ?? 'kafka.header.',
      headerText: header === undefined ? null : parseHeaders(header),
    },
  };
}

/** The format `kinesis`: the rows of a record's value, with its partition key and time of arrival. */
function parseKinesisFormat(fields: ObjectReader): MessageFormat {
  fields.accept(['valueFormat', 'partitionKeyColumnName', 'timestampColumnName']);
  return {
    value: parseInputFormat(fields.object('valueFormat')),
    beside: {
      timestampColumn: fields.optionalString('timestampColumnName') ?? 'kinesis.timestamp',
      topicColumn: null,
      keyColumn: fields.optionalString('partitionKeyColumnName') ?? 'kinesis.partitionKey',
      key: 'text',
      headerPrefix: '',
      headerText: null,
    },
  };
}

function parseHeaders(fields: ObjectReader): (bytes: Uint8Array) => string {
  fields.type(['string']);
  fields.accept(['encoding']);
  const name = fields.choice('encoding', [...ENCODINGS.keys()], 'UTF-8');
  const encoding = ENCODINGS.get(name) ?? 'utf8';
  return (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding);
}

/** The rows of messages, in their order. */
export async function* messageBlocks(
  messages: Messages,
  { value, beside }: MessageFormat,
  reading: Omit<Reading, 'read'>,
  statistics: RowStatistics,
): AsyncGenerator<InputBlock> {
  if (beside === null) return yield* recordBlocks(messages, value, reading, statistics);
  for (const record of [...messages.records, ...recordsOf(messages.blocks)]) {
    const columns = await columnsBeside(record, beside, reading, statistics);
    for (const each of record.values) {
      // A tombstone is a row of what stands beside it.
      if (each === null) yield besideRows(columns);
      else
        for await (const block of recordBlocks({ records: [{ ...record, values: [each] }], blocks: [] }, value, reading, statistics))
          yield withColumns(block, columns);
    }
  }
}

type Columns = ReadonlyMap<string, unknown>;

async function columnsBeside(
  { key, headers, timestampMs, topic }: StreamRecord,
  { timestampColumn, topicColumn, keyColumn, key: keyFormat, headerPrefix, headerText }: BesideValue,
  reading: Omit<Reading, 'read'>,
  statistics: RowStatistics,
): Promise<Columns> {
  const columns = new Map<string, unknown>();
  if (headerText !== null) for (const [name, bytes] of headers) columns.set(headerPrefix + name, bytes === null ? null : headerText(bytes));
  columns.set(timestampColumn, timestampMs);
  if (topicColumn !== null) columns.set(topicColumn, topic);
  if (keyFormat === null || key === null || key.length === 0) return columns;
  if (keyFormat === 'text') return columns.set(keyColumn, Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString());
  const record = { key: null, headers: [], timestampMs, topic, partition: '', offset: '', values: [key] };
  for await (const block of recordBlocks({ records: [record], blocks: [] }, keyFormat, { ...reading, columns: null }, statistics)) {
    const [first] = block.columns;
    if (first !== undefined && !columns.has(keyColumn)) columns.set(keyColumn, valuesOf(block, first)[0] ?? null);
  }
  return columns;
}

function besideRows(columns: Columns): ValueBlock {
  const record = Object.fromEntries(columns);
  return {
    kind: 'values',
    rowCount: 1,
    columns: [...columns.keys()],
    values: (column) => [columns.get(column)],
    record: () => record,
    sample: () => 'a message without a value',
  };
}

/** The block with further columns, which those of the value come before. */
function withColumns(block: InputBlock, columns: Columns): ValueBlock & Pick<InputBlock, 'faults'> {
  const known = new Set(block.columns);
  const added = [...columns.keys()].filter((name) => !known.has(name));
  return {
    kind: 'values',
    rowCount: block.rowCount,
    columns: [...block.columns, ...added],
    values(column) {
      const beside = columns.get(column);
      if (!known.has(column)) return new Array(block.rowCount).fill(beside);
      const values = valuesOf(block, column);
      return columns.has(column) ? values.map((value) => value ?? beside) : values;
    },
    ...(block.faults === undefined ? {} : { faults: block.faults }),
    record: (row) => ({ ...Object.fromEntries(columns), ...recordOf(block, row) }),
    sample: (row) => block.sample(row),
  };
}

function recordOf(block: InputBlock, row: number): Readonly<Record<string, unknown>> {
  if (block.kind === 'values') return block.record(row);
  return Object.fromEntries(block.columns.map((name) => [name, valuesOf(block, name)[row]]));
}

function valuesOf(block: InputBlock, column: string): readonly unknown[] {
  return block.kind === 'values' ? block.values(column) : textValues(block, column);
}

function textValues({ columns, bytes, starts, ends, rowCount, listDelimiter }: TextBlock, column: string): readonly unknown[] {
  const at = columns.indexOf(column);
  const [from, to] = [starts[at], ends[at]];
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: rowCount }, (_, row) => {
    const end = to?.[row] ?? -1;
    if (end < 0) return null;
    const text = all.toString('utf8', from?.[row] ?? 0, end);
    return listDelimiter !== null && text.includes(listDelimiter) ? text.split(listDelimiter) : text;
  });
}
