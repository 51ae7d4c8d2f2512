// Rows as an Arrow IPC file, one record batch after the other.

import { Buffer } from 'node:buffer';
import { DAY_MS } from '../../../base/calendar.js';
import { arrowLibrary } from '../../format/arrow/arrow-file.js';
import { GroupedRows, type OpenEncoder } from './rows-encoder.js';
import { type FileType, fileType } from './values.js';

type Arrow = ReturnType<typeof arrowLibrary>;
type ArrowType = InstanceType<Arrow['DataType']>;

export const openArrow: OpenEncoder = async (columns, write, timeZone) => {
  const arrow = arrowLibrary();
  const { AsyncByteQueue, Field, makeBuilder, makeData, RecordBatch, RecordBatchFileWriter, Schema, Struct } = arrow;
  let chunks: Uint8Array[] = [];
  /** Keeps the bytes of a batch, which are written before the next one is made. */
  class BatchBytes extends AsyncByteQueue {
    override write(bytes: Uint8Array): void {
      chunks.push(bytes);
    }
  }
  const writeChunks = async (): Promise<void> => {
    const bytes = Buffer.concat(chunks);
    chunks = [];
    await write(bytes);
  };
  const types = columns.map(fileType);
  const fields = columns.map(({ name }, index) => new Field(name, arrowType(types[index] ?? 'string', arrow), true));
  const schema = new Schema(fields);
  const builders = fields.map(({ type }) => makeBuilder({ type, nullValues: [null] }));
  const writer = new RecordBatchFileWriter();
  writer.reset(new BatchBytes(), schema);
  return new GroupedRows(
    columns,
    {
      append(column, value) {
        builders[column]?.append(types[column] === 'date' && typeof value === 'number' ? value * DAY_MS : value);
      },
      async endGroup(rowCount) {
        const children = builders.map((builder) => builder.flush());
        writer.write(new RecordBatch(schema, makeData({ type: new Struct(fields), length: rowCount, nullCount: 0, children })));
        await writeChunks();
      },
      async finish() {
        writer.close();
        await writeChunks();
      },
    },
    timeZone,
  );
};

function arrowType(type: FileType, arrow: Arrow): ArrowType {
  if (typeof type === 'object') return new arrow.List(new arrow.Field('item', arrowType(type.list, arrow), true));
  switch (type) {
    case 'boolean':
      return new arrow.Bool();
    case 'long':
      return new arrow.Int64();
    case 'float':
      return new arrow.Float32();
    case 'double':
      return new arrow.Float64();
    case 'string':
      return new arrow.Utf8();
    case 'timestamp':
      return new arrow.Timestamp(arrow.TimeUnit.MILLISECOND, 'UTC');
    case 'date':
      return new arrow.DateDay();
  }
}
