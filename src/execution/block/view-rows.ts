// Views of some rows of a view: a slice, or rows gathered by number.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { createByName, extended, own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { ColumnView, NumberColumnView, SegmentView, StringColumnView } from '../../storage/view.js';
import { kernelFor, type RunContext } from './context.js';

/*
 * Views of some rows of a view: a stretch of it, which is arithmetic on addresses, or rows by number, which kernels
 * gather into an arena. Dictionaries are shared, so strings stay ids.
 */

/** Rows [start, end) as a view of their own; `start` is a multiple of BLOCK_ROWS. */
export function sliceView(view: SegmentView, start: number, end: number): SegmentView {
  if (start === 0 && end === view.rowCount) return view;
  const columns = Object.entries(view.columns).map(([name, column]) => [name, sliceColumn(column, start)] as const);
  return { ...view, rowCount: end - start, columns: Object.fromEntries(columns) };
}

function sliceColumn(column: ColumnView, start: number): ColumnView {
  const bytes = PHYSICAL_BYTES[column.physical];
  if (column.kind === 'string')
    return column.offsets === 0
      ? extended(column, { ids: column.ids + start * bytes, isPart: true })
      : extended(column, { offsets: column.offsets + start * 4, isPart: true });
  return extended(column, {
    isPart: true,
    values: column.values + start * bytes,
    nulls: column.nulls === 0 ? 0 : column.nulls + start / 8,
    blockRanges: column.blockRanges === 0 ? 0 : column.blockRanges + (start / BLOCK_ROWS) * 16,
  });
}

/** Memory for rows, some of which may be given back before the others. */
export interface RowRoom {
  take(bytes: number): Address;
  give(at: Address): void;
}

/** Numbers of rows, u32. */
export interface RowNumbers {
  readonly at: Address;
  readonly count: number;
  /** Whether some may be absent (0xffffffff). */
  readonly mayBeAbsent?: boolean;
}

/**
 * The column of these rows, in the arena. An absent row is null: id 0 of a string column, whose dictionary must have
 * null there, or a row without values.
 */
export function gatherColumn(context: RunContext, arena: Pick<Arena, 'take'>, column: ColumnView, rows: RowNumbers): ColumnView {
  return column.kind === 'number' ? gatherNumbers(context, arena, column, rows) : gatherTexts(context, arena, column, rows);
}

/** A view of these rows with the columns that are needed. */
export function pickRows(context: RunContext, arena: Arena, view: SegmentView, rows: RowNumbers, needed: ReadonlySet<string>): SegmentView {
  const columns = createByName<ColumnView>();
  for (const [name, column] of Object.entries(view.columns))
    if (needed.has(name)) columns[name] = gatherColumn(context, arena, column, rows);
  return { ...view, rowCount: rows.count, columns };
}

/** Bytes of a row in these columns of a view; of a row of several values those of one. */
export function rowBytes({ columns }: SegmentView, names: ReadonlySet<string>): number {
  let bytes = 4;
  for (const name of names) {
    const column = Object.hasOwn(columns, name) ? own(columns, name) : undefined;
    if (column !== undefined) bytes += PHYSICAL_BYTES[column.physical];
  }
  return bytes;
}

/** The column of a `mark` join, over one byte for each row. */
export function markColumn(values: Address): ColumnView {
  const rest = { base: 0n, power: 0, nulls: 0, min: 0n, max: 1n, isPart: true, blockRanges: 0 } as const;
  return { kind: 'number', type: 'LONG', physical: 'U8', values, ...rest };
}

function gatherNumbers(
  { kernels }: RunContext,
  arena: Pick<Arena, 'take'>,
  column: NumberColumnView,
  { at, count, mayBeAbsent = false }: RowNumbers,
): NumberColumnView {
  const { physical } = column;
  const values = arena.take(padded(count) * PHYSICAL_BYTES[physical]);
  kernelFor(kernels, 'joinValues', bitsOf(physical))(column.values, at, count, values);
  if (column.nulls === 0 && !mayBeAbsent) return extended(column, { values, isPart: true, blockRanges: 0 });
  const nulls = arena.take(padded(count) / 8);
  const anyNull = kernels.joinNulls(column.nulls, at, count, nulls) > 0;
  return extended(column, { values, nulls: anyNull ? nulls : 0, isPart: true, blockRanges: 0 });
}

/** Values are moved as they are, whatever they mean. */
function bitsOf(physical: NumberColumnView['physical']): 'U8' | 'U16' | 'U32' | 'I64' {
  if (physical === 'F32') return 'U32';
  return physical === 'F64' ? 'I64' : physical;
}

function gatherTexts(
  { kernels }: RunContext,
  arena: Pick<Arena, 'take'>,
  column: StringColumnView,
  { at, count }: RowNumbers,
): StringColumnView {
  const { physical } = column;
  const bytes = PHYSICAL_BYTES[physical];
  if (column.offsets === 0) {
    const ids = arena.take(padded(count) * bytes);
    kernelFor(kernels, 'joinValues', physical)(column.ids, at, count, ids);
    return extended(column, { ids, isPart: true });
  }
  const offsets = arena.take(padded(count + 1) * 4);
  const total = kernels.joinOffsets(column.offsets, at, count, offsets);
  const ids = arena.take(padded(total) * bytes);
  kernelFor(kernels, 'joinListValues', physical)(column.ids, column.offsets, at, count, ids);
  return extended(column, { ids, offsets, isPart: true });
}

/** Arrays are readable up to a multiple of 64 elements. */
function padded(count: number): number {
  return Math.max(64, Math.ceil(count / 64) * 64);
}
