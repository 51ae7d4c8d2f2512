// Frames: result rows in columns.

import type { ColumnType, TextType } from './schema.js';

/**
 * A batch of result rows in columns: what leaves execution, travels between roles and is written out. It owns its
 * memory (never a view of kernel memory).
 */
export interface Frame {
  readonly rowCount: number;
  readonly columns: readonly FrameColumn[];
  /** The segment that all rows are of, where the plan asks for it. */
  readonly segmentId?: string;
  /** The rows were left in kernel memory, as the plan asked; this frame has none of them. */
  readonly uploaded?: Uploaded;
}

/** Rows that were left in kernel memory. */
export interface Uploaded {
  readonly id: string;
  readonly rowCount: number;
  readonly bytes: number;
}

export type FrameColumn =
  /** `ids[i]` indexes `dictionary`; a null value is an entry that is null. Entries may repeat, and are texts of `type`. */
  | {
      readonly kind: 'string';
      readonly name: string;
      /** Left out: STRING. */
      readonly type?: TextType;
      readonly ids: Uint32Array;
      readonly dictionary: readonly (string | null)[];
    }
  /** Row i has the values `ids[offsets[i] .. offsets[i + 1])`: none means null, one means a plain value. */
  | {
      readonly kind: 'multi';
      readonly name: string;
      readonly offsets: Uint32Array;
      readonly ids: Uint32Array;
      readonly dictionary: readonly (string | null)[];
    }
  /** `nulls`: bit i (32-bit words, lowest bit first) is set when row i is null; its value is then 0. */
  | { readonly kind: 'long'; readonly name: string; readonly values: BigInt64Array; readonly nulls: Uint32Array | null }
  | {
      readonly kind: 'double';
      readonly name: string;
      readonly type: 'FLOAT' | 'DOUBLE';
      readonly values: Float64Array;
      readonly nulls: Uint32Array | null;
    };

export type FrameCell = string | number | bigint | null | readonly (string | null)[];

export function isNullAt(nulls: Uint32Array | null, row: number): boolean {
  return nulls !== null && ((nulls[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
}

/** One value, for tests, small results and row-oriented writers. */
export function cellAt(column: FrameColumn, row: number): FrameCell {
  switch (column.kind) {
    case 'string':
      return column.dictionary[column.ids[row] ?? 0] ?? null;
    case 'multi': {
      const values: (string | null)[] = [];
      for (let at = column.offsets[row] ?? 0; at < (column.offsets[row + 1] ?? 0); at++)
        values.push(column.dictionary[column.ids[at] ?? 0] ?? null);
      return values.length === 0 ? null : values.length === 1 ? (values[0] ?? null) : values;
    }
    case 'long':
      return isNullAt(column.nulls, row) ? null : (column.values[row] ?? null);
    case 'double':
      return isNullAt(column.nulls, row) ? null : (column.values[row] ?? null);
  }
}

export function frameColumnType(column: FrameColumn): ColumnType {
  switch (column.kind) {
    case 'string':
      return column.type ?? 'STRING';
    case 'multi':
      return 'STRING';
    case 'long':
      return 'LONG';
    case 'double':
      return column.type;
  }
}
