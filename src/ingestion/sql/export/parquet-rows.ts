// The only file that calls hyparquet-writer: rows as Parquet, one row group after the other.

import type { SchemaElement } from 'hyparquet-writer';
import type { OutputColumn } from '../../../model/statement.js';
import { GroupedRows, type OpenEncoder } from './rows-encoder.js';
import { type FileType, type FileValue, fileType } from './values.js';

const CREATED_BY = 'dolmen version 0.1.0';

export const openParquet: OpenEncoder = async (columns, write, timeZone) => {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  /** Bytes since the last group, which are written before the next one is encoded. */
  class GroupBytes extends ByteWriter {
    async flush(): Promise<void> {
      await write(this.getBytes());
      this.index = 0;
    }

    override async finish(): Promise<void> {
      await this.flush();
    }
  }
  const writer = new ParquetWriter({ writer: new GroupBytes(), schema: schemaOf(columns), createdBy: CREATED_BY });
  const data: FileValue[][] = columns.map(() => []);
  return new GroupedRows(
    columns,
    {
      append(column, value) {
        data[column]?.push(value);
      },
      async endGroup(rowCount) {
        const columnData = columns.map((column, index) => ({
          name: column.name,
          data: data[index] ?? [],
          ...encodingOf(fileType(column)),
        }));
        await writer.write({ columnData, rowGroupSize: rowCount });
        for (const values of data) values.length = 0;
      },
      finish: async () => writer.finish(),
    },
    timeZone,
  );
};

/** Dictionaries of the library take -0 for 0. */
function encodingOf(type: FileType): { readonly encoding?: 'PLAIN' } {
  if (typeof type === 'object') return encodingOf(type.list);
  return type === 'double' || type === 'float' ? { encoding: 'PLAIN' } : {};
}

function schemaOf(columns: readonly OutputColumn[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap((column) => elementsOf(column.name, fileType(column)))];
}

/** A column, and what is below it; nulls are allowed at every level. */
function elementsOf(name: string, type: FileType): readonly SchemaElement[] {
  const repetition_type = 'OPTIONAL';
  if (typeof type === 'object')
    return [
      { name, repetition_type, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      ...elementsOf('element', type.list),
    ];
  return [{ name, repetition_type, ...LEAVES[type] }];
}

const LEAVES: Readonly<Record<Extract<FileType, string>, Partial<SchemaElement>>> = {
  boolean: { type: 'BOOLEAN' },
  long: { type: 'INT64' },
  float: { type: 'FLOAT' },
  double: { type: 'DOUBLE' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
};
