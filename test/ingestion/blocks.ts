import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import * as assert from 'uvu/assert';
import { parseJson } from '../../src/base/json.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import type { InputBlock } from '../../src/ingestion/format/input-block.js';
import { parseInputFormat } from '../../src/ingestion/format/input-format.js';
import { arrayElements } from '../../src/model/array-text.js';
import { cellAt, type Frame, type FrameColumn } from '../../src/model/frame.js';
import { isArrayType, JSON_TYPE } from '../../src/model/schema.js';

/** Limits of compressed input as the properties have them at first. */
export const DECOMPRESSION = { maxBytes: 2 ** 40, maxRatio: 1000, maxEntries: 10_000 };

/** Bytes in chunks of a size that cuts rows, fields and characters apart. */
export async function* inChunks(text: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

/** The rows of blocks as arrays of field texts or values, read before the next block is asked for. */
export async function rowsOf(blocks: AsyncIterable<InputBlock>): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for await (const block of blocks) {
    for (let row = 0; row < block.rowCount; row++) {
      rows.push(
        block.columns.map((name, column) => {
          if (block.kind === 'values') return block.values(name)[row];
          const end = block.ends[column]?.[row] ?? -1;
          return end < 0 ? null : Buffer.from(block.bytes.subarray(block.starts[column]?.[row], end)).toString('utf8');
        }),
      );
    }
  }
  return rows;
}

interface ReadFile {
  readonly name: string;
  readonly workDirectory: string;
  /** Bytes of the pieces that it comes in. */
  readonly pieceBytes: number;
}

/** The rows of a file of values as objects. No row may be rejected. */
export async function valuesOfFile(
  bytes: Buffer,
  inputFormat: object,
  { name, workDirectory, pieceBytes }: ReadFile,
): Promise<Record<string, unknown>[]> {
  const format = parseInputFormat(new ObjectReader(inputFormat, 'inputFormat', readContextOf('input_invalid', 'inputFormat')));
  const entity = { name, sizeBytes: null, localFile: null, open: async () => Readable.from(inChunks(bytes, pieceBytes)) };
  const inputLimits = { maxColumns: 100, maxRowBytes: 1 << 20, decompression: DECOMPRESSION };
  const reading = { columns: null, workDirectory, inputLimits, read: () => undefined, reject: assert.unreachable };
  const rows: Record<string, unknown>[] = [];
  for await (const block of format.read(entity, reading)) {
    if (block.kind !== 'values') throw new Error('expected values');
    for (let at = 0; at < block.rowCount; at++)
      rows.push(Object.fromEntries(block.columns.map((column) => [column, plainValue(block.values(column)[at])])));
  }
  return rows;
}

/** Objects that inherit nothing compare unequal to others. */
function plainValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? value.map(plainValue)
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plainValue(member)]));
}

/** Rows as objects: arrays as arrays, JSON as parsed. */
export function cellsOf(frame: Frame): Record<string, unknown>[] {
  return Array.from({ length: frame.rowCount }, (_, row) =>
    Object.fromEntries(frame.columns.map((column) => [column.name, plainCell(column, row)])),
  );
}

function plainCell(column: FrameColumn, row: number): unknown {
  const cell = cellAt(column, row);
  if (column.kind !== 'string' || typeof cell !== 'string') return cell;
  if (isArrayType(column.type)) return arrayElements(cell, column.type);
  return column.type === JSON_TYPE ? parseJson(cell) : cell;
}
