import type { Address, Physical } from '../../src/base/layout.js';
import type { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame, FrameCell, FrameColumn } from '../../src/model/frame.js';
import type { ColumnView, GlobalDictionaryView, NumberColumnView, SegmentView, StringColumnView } from '../../src/storage/view.js';

/** A table as plain cells, column by column: what the tests say, and what they read back. */
export type Table = Readonly<Record<string, TableColumn>>;

interface TableColumn {
  readonly kind: 'string' | 'multi' | 'long' | 'float' | 'double';
  readonly cells: readonly FrameCell[];
}

/** Every cell gets a dictionary entry of its own, in row order: repeated and unsorted, as frames may be. */
export function frameOf(table: Table): Frame {
  const columns = Object.entries(table).map(([name, column]) => frameColumn(name, column));
  return { rowCount: Object.values(table)[0]?.cells.length ?? 0, columns };
}

function frameColumn(name: string, { kind, cells }: TableColumn): FrameColumn {
  switch (kind) {
    case 'string':
      return { kind, name, ids: Uint32Array.from(cells.keys()), dictionary: cells.map((cell) => (typeof cell === 'string' ? cell : null)) };
    case 'multi': {
      const lists = cells.map((cell): readonly (string | null)[] => (Array.isArray(cell) ? cell : typeof cell === 'string' ? [cell] : []));
      const dictionary = lists.flat();
      const offsets = new Uint32Array(cells.length + 1);
      lists.forEach((list, row) => (offsets[row + 1] = (offsets[row] ?? 0) + list.length));
      return { kind, name, offsets, ids: Uint32Array.from(dictionary.keys()), dictionary };
    }
    case 'long':
      return { kind, name, values: BigInt64Array.from(cells, (cell) => (typeof cell === 'bigint' ? cell : 77n)), nulls: nullsOf(cells) };
    case 'float':
    case 'double': {
      const values = Float64Array.from(cells, (cell) => (typeof cell === 'number' ? cell : 77));
      return { kind: 'double', name, type: kind === 'float' ? 'FLOAT' : 'DOUBLE', values, nulls: nullsOf(cells) };
    }
  }
}

/** A null row's value is set to 77 above on purpose: what is stored for it must not matter. */
function nullsOf(cells: readonly FrameCell[]): Uint32Array | null {
  if (!cells.includes(null)) return null;
  const bits = new Uint32Array(Math.ceil(cells.length / 32));
  cells.forEach((cell, row) => {
    if (cell === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  });
  return bits;
}

/** The rows of a table in the order a segment stores them, by comparing cells. */
export function sortedRows(table: Table, dimensions: readonly string[]): number[] {
  const keys = ['__time', ...dimensions].map((name) => storedCells(table[name]?.cells ?? []));
  const rows = Array.from(table['__time']?.cells.keys() ?? []);
  return rows.sort((a, b) => {
    for (const cells of keys) {
      const difference = compareCells(cells[a] ?? null, cells[b] ?? null);
      if (difference !== 0) return difference;
    }
    return a - b;
  });
}

function compareCells(a: FrameCell, b: FrameCell): number {
  if (Array.isArray(a) || Array.isArray(b)) {
    const [left, right] = [asList(a), asList(b)];
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const difference = compareCells(left[i] ?? null, right[i] ?? null);
      if (difference !== 0) return difference;
    }
    return left.length - right.length;
  }
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : Number(Object.is(b, -0)) - Number(Object.is(a, -0));
}

function asList(cell: FrameCell): readonly (string | null)[] {
  return Array.isArray(cell) ? cell : typeof cell === 'string' ? [cell] : [];
}

/** Cells as stored: a column in which no list has two values is single-valued, and a list of one null is null like an empty one. */
function storedCells(cells: readonly FrameCell[]): readonly FrameCell[] {
  const isSingle = cells.every((cell) => !Array.isArray(cell) || cell.length < 2);
  return isSingle ? cells.map((cell) => (Array.isArray(cell) ? (cell[0] ?? null) : cell)) : cells;
}

/** The cells of a column in kernel memory, by the words of `view.ts` alone. */
function readColumn(column: ColumnView, rowCount: number, memory: KernelMemory): FrameCell[] {
  return column.kind === 'number' ? readNumbers(column, rowCount, memory) : readStrings(column, rowCount, memory);
}

export function readTable(view: SegmentView, memory: KernelMemory): Record<string, FrameCell[]> {
  return Object.fromEntries(Object.entries(view.columns).map(([name, column]) => [name, readColumn(column, view.rowCount, memory)]));
}

function readNumbers(column: NumberColumnView, rowCount: number, memory: KernelMemory): FrameCell[] {
  return Array.from({ length: rowCount }, (_, row) => {
    if (column.nulls !== 0 && (((memory.u8(column.nulls, (row >>> 3) + 1)[row >>> 3] ?? 0) >>> (row & 7)) & 1) === 1) return null;
    return numberAt(column, row, memory);
  });
}

/** The stored value of a row, null or not. */
export function numberAt({ physical, values, base, power, type }: NumberColumnView, row: number, memory: KernelMemory): bigint | number {
  const at = elementAt(physical, values, row, memory);
  if (type === 'LONG') return base + BigInt(at);
  return physical === 'F32' || physical === 'F64' ? Number(at) : (Number(base) + Number(at)) / 10 ** power;
}

function elementAt(physical: Physical, values: Address, at: number, memory: KernelMemory): bigint | number {
  switch (physical) {
    case 'U8':
      return memory.u8(values + at, 1)[0] ?? 0;
    case 'U16':
      return memory.u16(values + at * 2, 1)[0] ?? 0;
    case 'U32':
      return memory.u32(values + at * 4, 1)[0] ?? 0;
    case 'I64':
      return memory.i64(values + at * 8, 1)[0] ?? 0n;
    case 'F32':
      return memory.f32(values + at * 4, 1)[0] ?? 0;
    case 'F64':
      return memory.f64(values + at * 8, 1)[0] ?? 0;
  }
}

function readStrings(column: StringColumnView, rowCount: number, memory: KernelMemory): FrameCell[] {
  const values = readDictionary(column, memory);
  const valueAt = (at: number): string | null => values[Number(elementAt(column.physical, column.ids, at, memory))] ?? null;
  if (column.offsets === 0) return Array.from({ length: rowCount }, (_, row) => valueAt(row));
  const offsets = memory.u32(column.offsets, rowCount + 1);
  return Array.from({ length: rowCount }, (_, row) => {
    const start = offsets[row] ?? 0;
    const list = Array.from({ length: (offsets[row + 1] ?? 0) - start }, (__, at) => valueAt(start + at));
    return list.length === 0 ? null : list.length === 1 ? (list[0] ?? null) : list;
  });
}

export function readDictionary({ dictionary }: StringColumnView, memory: KernelMemory): (string | null)[] {
  const offsets = memory.u32(dictionary.offsets, dictionary.count + 1);
  const textOf = (id: number): string =>
    Buffer.from(memory.u8(dictionary.bytes + (offsets[id] ?? 0), (offsets[id + 1] ?? 0) - (offsets[id] ?? 0)).slice()).toString('utf8');
  return Array.from({ length: dictionary.count }, (_, id) => (id === 0 && dictionary.hasNull ? null : textOf(id)));
}

export function readGlobal(global: GlobalDictionaryView, memory: KernelMemory): (string | null)[] {
  return Array.from({ length: global.count }, (_, id) => {
    const [address = 0, length = 0] = memory.u32(global.entries + id * 8, 2);
    return id === 0 ? null : Buffer.from(memory.u8(address, length).slice()).toString('utf8');
  });
}
