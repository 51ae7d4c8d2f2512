// The input formats `kafka` and `kinesis`: the rows of a message's value, with what stands beside it as further columns.

import type { ObjectReader } from '../../base/json-reader.js';
import type { InputFormat, Reading } from '../format/format-kind.js';
import type { InputBlock } from '../format/input-block.js';
import { parseInputFormat } from '../format/input-format.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { BesideColumns, type BesideValue } from './beside-value.js';
import type { LineRoom } from './line-buffer.js';
import { blockOf } from './message-block.js';
import { textRows } from './record-blocks.js';
import type { MessageBlock, StreamRecord } from './stream-reader.js';

/** Format of messages: of their values alone, or with what stands beside them. */
export interface MessageFormat {
  readonly value: InputFormat;
  /** null: the format is that of values. */
  readonly beside: BesideValue | null;
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

/** Messages as a batch of a stream has them. */
export interface Messages {
  readonly records: readonly StreamRecord[];
  readonly blocks: readonly MessageBlock[];
}

/** The rows of messages, in their order. */
export async function* messageBlocks(
  { records, blocks }: Messages,
  { value, beside }: MessageFormat,
  reading: Omit<Reading, 'read'>,
  statistics: RowStatistics,
  room?: LineRoom,
): AsyncGenerator<InputBlock> {
  const all = records.length === 0 ? blocks : [blockOf(records), ...blocks];
  const columns = beside === null ? null : await BesideColumns.read(all, beside, reading, statistics);
  for await (const rows of textRows(all, { format: value, reading, statistics, hasMissing: columns !== null, room })) {
    if (columns !== null) yield columns.beside(rows);
    else if (rows.block !== null) yield rows.block;
  }
}
