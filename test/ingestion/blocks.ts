import { Buffer } from 'node:buffer';
import { parseJson } from '../../src/base/json.js';
import type { InputBlock } from '../../src/ingestion/format/input-block.js';
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
