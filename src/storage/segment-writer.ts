// Writes segment files.

import { assert, ServiceError } from '../base/errors.js';
import { stringifyJson } from '../base/json.js';
import { type ColumnSchema, JSON_TYPE, TIME_COLUMN } from '../model/schema.js';
import { ArrayEncoder } from './codecs/array-encoder.js';
import { isIndexed, serializeBitmaps } from './codecs/bitmap-index.js';
import { checksum } from './codecs/checksum.js';
import { compressInto, frameBytesMax } from './codecs/zstd.js';
import { extremesOf } from './columns/dictionary.js';
import {
  type PhysicalNumberColumn,
  type PhysicalStringColumn,
  type PreparedColumn,
  prepareColumns,
  toPhysical,
} from './columns/physical.js';
import type { SegmentInput } from './contract.js';
import {
  encodeHeader,
  encodeTrailer,
  type Footer,
  type SegmentDescription,
  type StoredColumn,
  type StoredField,
  schemaOf,
} from './format.js';
import { SegmentFileOutput } from './segment-file-output.js';
import { gatherRows } from './writer/gather.js';
import { jsonFields } from './writer/json-fields.js';
import { sortRows } from './writer/row-order.js';

export interface WrittenSegment {
  readonly sizeBytes: number;
  readonly rowCount: number;
  /** `__time` first, then in the order of the frame. */
  readonly columns: readonly ColumnSchema[];
}

/**
 * Writes one segment file: sorts the rows and encodes column after column. Computes on the calling thread. The file is gone
 * when this fails; it is not synced.
 * @throws ServiceError `input_invalid` for no rows at all
 */
export async function writeSegment(file: string, input: SegmentInput): Promise<WrittenSegment> {
  if (input.frame.rowCount === 0) throw new ServiceError('input_invalid', `segment ${file}: found no rows, expected at least one`);
  const columns = rowsInOrder(input);
  const out = new SegmentFileOutput(file);
  let isClosed = false;
  try {
    out.append(encodeHeader());
    const encoder = new ArrayEncoder(out);
    const encode = (prepared: PreparedColumn): StoredColumn => {
      const column = toPhysical(prepared, true);
      return column.kind === 'number' ? encodeNumbers(column, encoder) : encodeStrings(column, encoder, input.frame.rowCount);
    };
    const stored = columns.map(encode);
    const fields: StoredField[] = [];
    for (const prepared of columns) {
      if (prepared.kind !== 'string' || prepared.type !== JSON_TYPE) continue;
      for (const { path, uses, column } of jsonFields(prepared)) fields.push({ of: prepared.name, path, uses, column: encode(column) });
    }
    appendFooter(out, footerOf(input, stored, fields));
    const sizeBytes = out.offset;
    out.close();
    isClosed = true;
    return { sizeBytes, rowCount: input.frame.rowCount, columns: stored.map((column) => schemaOf(column, input.frame.rowCount)) };
  } catch (error) {
    if (!isClosed) out.abandon();
    throw error;
  }
}

/** The columns, `__time` first, rows in the order they are stored in. */
export function rowsInOrder({ frame, dimensions }: SegmentInput): PreparedColumn[] {
  const prepared = prepareColumns(frame);
  const time = prepared.find(({ name }) => name === TIME_COLUMN);
  assert(time?.kind === 'long' && time.nulls === null, 'a segment needs a long column __time without nulls');
  const sortColumns = dimensions.map((name) => {
    const column = prepared.find((candidate) => candidate.name === name);
    assert(column !== undefined, `the frame has no column for dimension ${JSON.stringify(name)}`);
    return column;
  });
  const timeFirst = [time, ...prepared.filter((column) => column !== time)];
  const order = sortRows(time.values, sortColumns);
  return order === null ? timeFirst : timeFirst.map((column) => gatherRows(column, order));
}

function encodeNumbers(column: PhysicalNumberColumn, encoder: ArrayEncoder): StoredColumn {
  const { name, type, values, nulls, power } = column;
  const isFloat = values instanceof Float32Array || values instanceof Float64Array;
  return {
    kind: 'number',
    name,
    type,
    base: String(column.base),
    ...(type === 'DOUBLE' && !isFloat ? { power } : {}),
    min: column.min === null ? null : decimalText(column.min),
    max: column.max === null ? null : decimalText(column.max),
    values: isFloat ? encoder.floats(values) : encoder.integers(values, name === TIME_COLUMN),
    nulls: nulls === null ? null : encoder.bytes(new Uint8Array(nulls.buffer, nulls.byteOffset, Math.ceil(values.length / 8))),
    ranges: encoder.floats(column.ranges),
  };
}

/** `Number` and `BigInt` read it back to the same value. */
function decimalText(value: bigint | number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function encodeStrings(column: PhysicalStringColumn, encoder: ArrayEncoder, rowCount: number): StoredColumn {
  const { name, type, ids, ends, dictionary, hasNulls } = column;
  const { count, hasNull } = dictionary;
  const bitmaps = isIndexed(count, rowCount) ? serializeBitmaps(ids, ends, count) : null;
  return {
    kind: 'string',
    name,
    ...(type === 'STRING' ? {} : { type }),
    hasNulls,
    ...extremesOf(dictionary),
    ids: encoder.integers(ids),
    ends: ends === null ? null : encoder.integers(ends, true),
    dictionary: { count, hasNull, ends: encoder.integers(dictionary.ends, true), text: encoder.bytes(dictionary.bytes) },
    index: bitmaps === null ? null : { ends: encoder.integers(bitmaps.ends, true), bitmaps: encoder.bytes(bitmaps.bytes) },
  };
}

export function footerOf(input: SegmentInput, columns: readonly StoredColumn[], fields: readonly StoredField[]): Footer {
  const time = columns[0];
  assert(time?.kind === 'number', '__time is stored first');
  const description: SegmentDescription = {
    aggregators: input.aggregators,
    timestampSpec: input.timestampSpec,
    queryGranularity: input.queryGranularity,
    rollup: input.rollup,
  };
  return {
    rowCount: input.frame.rowCount,
    timeMin: Number(time.min),
    timeMax: Number(time.max),
    dimensions: input.dimensions,
    metrics: input.metrics,
    description: stringifyJson(description),
    columns,
    ...(fields.length === 0 ? {} : { fields }),
  };
}

function appendFooter(out: SegmentFileOutput, footer: Footer): void {
  const footerOffset = out.offset;
  const json = Buffer.from(JSON.stringify(footer), 'utf8');
  const frame = Buffer.alloc(frameBytesMax(json.length));
  const bytes = frame.subarray(0, compressInto(frame, json));
  out.append(bytes);
  out.append(encodeTrailer({ footerOffset, footerBytes: bytes.length, jsonBytes: json.length, footerChecksum: checksum(bytes) }));
}
