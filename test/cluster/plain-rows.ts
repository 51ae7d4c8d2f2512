import { cellAt, type Frame, type FrameCell, type FrameColumn } from '../../src/model/frame.js';
import type { ColumnSchema } from '../../src/model/schema.js';

/** A row as a test writes it. */
export type Plain = Readonly<Record<string, FrameCell>>;
export type PlainTypes = Readonly<Record<string, 'STRING' | 'LONG' | 'DOUBLE'>>;

export async function rowsOf(frames: AsyncIterable<Frame>): Promise<Plain[]> {
  const rows: Plain[] = [];
  for await (const frame of frames)
    for (let row = 0; row < frame.rowCount; row++)
      rows.push(Object.fromEntries(frame.columns.map((column) => [column.name, cellAt(column, row)])));
  return rows;
}

export function frameOf(rows: readonly Plain[], types: PlainTypes): Frame {
  return { rowCount: rows.length, columns: Object.entries(types).map(([name, type]) => columnOf(rows, name, type)) };
}

function columnOf(rows: readonly Plain[], name: string, type: 'STRING' | 'LONG' | 'DOUBLE'): FrameColumn {
  const cells = rows.map((row) => row[name] ?? null);
  if (type === 'STRING' && cells.some(Array.isArray)) {
    const lists = cells.map((cell) => (Array.isArray(cell) ? (cell as readonly (string | null)[]) : cell === null ? [] : [String(cell)]));
    const offsets = Uint32Array.from([0, ...lists.map((_, row) => lists.slice(0, row + 1).flat().length)]);
    return { kind: 'multi', name, offsets, ids: Uint32Array.from(lists.flat(), (_, at) => at), dictionary: lists.flat() };
  }
  if (type === 'STRING')
    return { kind: 'string', name, ids: Uint32Array.from(cells, (_, row) => row), dictionary: cells as (string | null)[] };
  const bits = new Uint32Array(Math.ceil(rows.length / 64) * 2);
  cells.forEach((cell, row) => {
    if (cell === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  });
  const nulls = cells.includes(null) ? bits : null;
  return type === 'LONG'
    ? { kind: 'long', name, values: BigInt64Array.from(cells, (cell) => BigInt((cell as bigint | null) ?? 0)), nulls }
    : { kind: 'double', name, type, values: Float64Array.from(cells, (cell) => Number(cell ?? 0)), nulls };
}

export function schemaOf(types: PlainTypes): ColumnSchema[] {
  return Object.entries(types).map(([name, type]) => ({ name, type, multiValue: false, hasNulls: true }));
}

export function sortedText(rows: readonly Plain[]): string[] {
  return rows.map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))).sort();
}
