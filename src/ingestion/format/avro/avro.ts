// The input format `avro_ocf`.

import { ServiceError } from '../../../base/errors.js';
import { parseJsonWithDoubles } from '../../../base/json.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { shallowJsonText } from '../../../expression/functions/json-size.js';
import { contentOf } from '../../source/decompress.js';
import type { InputEntity } from '../../source/source-kind.js';
import { compileFlattenSeen, type FlattenSpec, type JsonObject, parseFlattenSpec } from '../flatten.js';
import { inputFormatKind, type Reading } from '../format-kind.js';
import type { ValueBlock } from '../input-block.js';
import { jsonBlock } from '../json-block.js';
import { SAMPLE_LENGTH_MAX } from '../json-scanner.js';
import { openAvroFile } from './avro-container.js';
import { type RowReader, recordType, rowReader } from './avro-rows.js';

interface AvroFormat {
  readonly flatten: FlattenSpec | null;
  /** The reader's schema; null: that of each file. */
  readonly schema: ReturnType<typeof recordType> | null;
  readonly binaryAsString: boolean;
  /** Paths see values of unions of several types under the names of their types. */
  readonly extractUnionsByType: boolean;
}

const BLOCK_ROWS = 4096;
const SAMPLE_ROWS = 64;

/** Object container files of Avro. */
export const AVRO_OCF = inputFormatKind<AvroFormat>({
  type: 'avro_ocf',
  files: { extensions: ['avro'], options: {} },
  parse(fields) {
    fields.accept(['flattenSpec', 'schema', 'binaryAsString', 'extractUnionsByType']);
    return {
      flatten: parseFlattenSpec(fields),
      schema: schemaOf(fields),
      binaryAsString: fields.boolean('binaryAsString', false),
      extractUnionsByType: fields.boolean('extractUnionsByType', false),
    };
  },
  read: readAvro,
});

function schemaOf(fields: ObjectReader): AvroFormat['schema'] {
  if (fields.optionalObject('schema') === undefined) return null;
  try {
    return recordType(fields.raw('schema'));
  } catch (error) {
    throw fields.invalid('schema', `expected the Avro schema of a record: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function* readAvro(format: AvroFormat, entity: InputEntity, reading: Reading): AsyncGenerator<ValueBlock> {
  const rowsMax = reading.samples === true ? SAMPLE_ROWS : BLOCK_ROWS;
  const flatten = format.flatten === null ? null : compileFlattenSeen(format.flatten);
  try {
    const { schema, blocks } = await openAvroFile(contentOf(entity, { ...reading, samples: false }));
    const reader = openRows(format, schema);
    for await (const { rowCount, data, at } of blocks) {
      const rows: JsonObject[] = [];
      /** Rows as paths see them, by row. */
      const typed = new Map<JsonObject, JsonObject>();
      const take = (): ValueBlock => {
        const taken = rows.splice(0);
        return jsonBlock(taken, flatten === null ? null : (row) => flatten(row, typed.get(row) ?? row));
      };
      try {
        for (const next of reader.read(data, rowCount)) {
          if (!next.isText) {
            const sample = (shallowJsonText(next.row) ?? '').slice(0, SAMPLE_LENGTH_MAX);
            reading.reject('the row has text that is not valid UTF-8', sample, rows.length);
            continue;
          }
          rows.push(next.row);
          if (next.typed !== null) typed.set(next.row, next.typed);
          if (rows.length < rowsMax) continue;
          yield take();
          typed.clear();
        }
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw new Error(`the block at byte ${at}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
      if (rows.length > 0) yield take();
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError(
      'input_unreadable',
      `${entity.name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function openRows({ schema, binaryAsString, extractUnionsByType, flatten }: AvroFormat, written: string): RowReader {
  let writer: ReturnType<typeof recordType>;
  try {
    writer = recordType(parseJsonWithDoubles(written));
  } catch (error) {
    throw new Error(`its schema cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return rowReader(writer, schema ?? writer, { binaryAsString, wantsTyped: extractUnionsByType && flatten !== null });
}
