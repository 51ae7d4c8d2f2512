// Joins the columns of several views into one.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import type { ColumnView, NumberColumnView, StringColumnView } from '../../storage/view.js';
import { checkedLoop } from './checked-loops.js';
import { clear, kernelFor, type RunContext } from './context.js';
import { joinTexts } from './joined-texts.js';
import type { RowRoom } from './view-rows.js';

/** The matching rows of one view: columns in the order of the upload, undefined where it has none. */
export interface Chunk {
  readonly rowCount: number;
  readonly columns: readonly (ColumnView | undefined)[];
}

/** The column of all chunks; undefined: none has it; null: they do not go together. */
export function joinChunks(context: RunContext, memory: RowRoom, chunks: readonly Chunk[], at: number): ColumnView | null | undefined {
  const [first] = chunks;
  if (first === undefined) return undefined;
  if (chunks.length === 1) return first.columns[at];
  const parts = chunks.flatMap(({ columns, rowCount }) => {
    const column = columns[at];
    return column === undefined ? [] : [{ column, rowCount }];
  });
  if (parts.length === 0) return undefined;
  if (parts.length < chunks.length) return null;
  const strings = parts.flatMap(({ column, rowCount }) => (column.kind === 'string' ? [{ column, rowCount }] : []));
  const numbers = parts.flatMap(({ column, rowCount }) => (column.kind === 'number' ? [{ column, rowCount }] : []));
  const joined =
    strings.length === parts.length
      ? joinStrings(context, memory, strings)
      : numbers.length === parts.length
        ? joinNumbers(context, memory, numbers)
        : null;
  if (joined !== null) for (const { column } of parts) for (const at of rowMemoryOf(column)) memory.give(at);
  return joined;
}

/** Memory of the rows alone: dictionaries may be those of several parts. */
function rowMemoryOf(column: ColumnView): readonly Address[] {
  return column.kind === 'string' ? [column.ids] : [column.values, column.nulls];
}

interface Part<Column> {
  readonly column: Column;
  readonly rowCount: number;
}

function joinStrings(context: RunContext, into: RowRoom, parts: readonly Part<StringColumnView>[]): StringColumnView | null {
  const [first] = parts;
  if (first === undefined) return null;
  const { memory } = context;
  const { dictionary, physical, type } = first.column;
  if (parts.some(({ column }) => column.type !== type || column.offsets !== 0)) return null;
  const isAlike = parts.every(
    ({ column }) =>
      column.dictionary.bytes === dictionary.bytes && column.dictionary.offsets === dictionary.offsets && column.physical === physical,
  );
  if (!isAlike) return joinTexts(context, into, parts);
  const bytes = PHYSICAL_BYTES[physical];
  const ids = into.take(rowsOf(parts) * bytes);
  let at = ids;
  for (const { column, rowCount } of parts) {
    memory.u8(at, rowCount * bytes).set(memory.u8(column.ids, rowCount * bytes));
    at += rowCount * bytes;
  }
  return { ...first.column, ids, isPart: true };
}

function joinNumbers(context: RunContext, into: RowRoom, parts: readonly Part<NumberColumnView>[]): NumberColumnView | null {
  const [first] = parts;
  if (first === undefined) return null;
  const { type, physical, base, power } = first.column;
  if (parts.some(({ column }) => column.type !== type)) return null;
  const isAlike = parts.every(({ column }) => column.physical === physical && column.base === base && column.power === power);
  if (type === 'FLOAT' && !isAlike) return null;
  const leastBase = isAlike ? undefined : commonBase(parts);
  const wide = { physical: type === 'LONG' ? 'I64' : 'F64', base: 0n, power: 0 } as const;
  const own = isAlike ? { physical, base, power } : leastBase === undefined ? wide : ({ physical: 'U32', base: leastBase, power } as const);
  const bytes = PHYSICAL_BYTES[own.physical];
  const rowCount = rowsOf(parts);
  const values = into.take(rowCount * bytes);
  let at = values;
  for (const { column, rowCount: rows } of parts) {
    if (isAlike) context.memory.u8(at, rows * bytes).set(context.memory.u8(column.values, rows * bytes));
    else if (leastBase !== undefined) moveBase(context, column, rows, leastBase, at);
    else widen(context, column, rows, at);
    at += rows * bytes;
  }
  const nulls = joinNullBits(context, into, parts);
  const isPart = parts.some(({ column }) => column.isPart === true) ? { isPart: true as const } : {};
  const joined: NumberColumnView = { ...first.column, ...isPart, ...own, values, nulls, ...rangeOfAll(parts), blockRanges: 0 };
  if (!isAlike) zeroNulls(context, joined, rowCount);
  return joined;
}

const WORDS = { U8: 0xff, U16: 0xffff, U32: 0xffffffff } as const;

/** The least base of narrow numbers of one power, where words from it on hold all of them. */
function commonBase(parts: readonly Part<NumberColumnView>[]): bigint | undefined {
  const power = parts[0]?.column.power;
  let [least, most]: [bigint | undefined, bigint] = [undefined, 0n];
  for (const { column } of parts) {
    const { physical, base, max } = column;
    if ((physical !== 'U8' && physical !== 'U16' && physical !== 'U32') || column.power !== power) return undefined;
    const last = physical === 'U32' && typeof max === 'bigint' ? max : base + BigInt(WORDS[physical]);
    if (least === undefined || last > most) most = last;
    if (least === undefined || base < least) least = base;
  }
  return least !== undefined && most - least <= BigInt(WORDS.U32) ? least : undefined;
}

/** Narrow numbers as words from another base on; those of nulls are any. */
function moveBase({ memory, check }: RunContext, column: NumberColumnView, rowCount: number, base: bigint, out: Address): void {
  const { physical, values } = column;
  const from =
    physical === 'U8' ? memory.u8(values, rowCount) : physical === 'U16' ? memory.u16(values, rowCount) : memory.u32(values, rowCount);
  const to = memory.u32(out, rowCount);
  const distance = Number(column.base - base);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) to[row] = (from[row] ?? 0) + distance;
  });
}

function rowsOf(parts: readonly Part<unknown>[]): number {
  return parts.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

/** Smallest and largest value; null where a part does not know its own. A narrow one without them has no values. */
function rangeOfAll(parts: readonly Part<NumberColumnView>[]): Pick<NumberColumnView, 'min' | 'max'> {
  let [min, max]: [NumberColumnView['min'], NumberColumnView['max']] = [null, null];
  for (const { column } of parts) {
    if (column.min === null || column.max === null) {
      if (PHYSICAL_BYTES[column.physical] < 8 && column.physical !== 'F32') continue;
      return { min: null, max: null };
    }
    min = min === null || column.min < min ? column.min : min;
    max = max === null || column.max > max ? column.max : max;
  }
  return { min, max };
}

/** The values as i64 or f64. */
function widen(
  { kernels, memory }: RunContext,
  { type, physical, base, power, values }: NumberColumnView,
  rowCount: number,
  out: number,
): void {
  const bytes = PHYSICAL_BYTES[physical];
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    const rows = Math.min(BLOCK_ROWS, rowCount - start);
    const [from, to] = [values + start * bytes, out + start * 8];
    if (type === 'LONG' && physical !== 'F32' && physical !== 'F64') kernelFor(kernels, 'toI64', physical)(from, 0, rows, base, to);
    else kernelFor(kernels, 'toF64', physical)(from, 0, rows, base, to);
    if (power === 0) continue;
    const doubles = memory.f64(to, rows);
    for (let row = 0; row < rows; row++) doubles[row] = (doubles[row] ?? 0) / 10 ** power;
  }
}

function joinNullBits(context: RunContext, into: RowRoom, parts: readonly Part<NumberColumnView>[]): number {
  if (parts.every(({ column }) => column.nulls === 0)) return 0;
  const rowCount = rowsOf(parts);
  const at = into.take(Math.ceil(rowCount / 64) * 8);
  clear(context, at, Math.ceil(rowCount / 64) * 8);
  const bits = context.memory.u32(at, Math.ceil(rowCount / 64) * 2);
  let first = 0;
  for (const { column, rowCount: rows } of parts) {
    const own = column.nulls === 0 ? undefined : context.memory.u32(column.nulls, Math.ceil(rows / 64) * 2);
    for (let row = 0; own !== undefined && row < rows; row++) {
      if ((((own[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 0) continue;
      const to = first + row;
      bits[to >>> 5] = (bits[to >>> 5] ?? 0) | (1 << (to & 31));
    }
    first += rows;
  }
  return at;
}

/** Values of rows that are null become 0, as stored columns have them: what was computed there may be anything. */
export function zeroNulls({ memory }: RunContext, { nulls, values, physical }: NumberColumnView, rowCount: number): void {
  if (nulls === 0) return;
  const bits = memory.u32(nulls, Math.ceil(rowCount / 32));
  const width = PHYSICAL_BYTES[physical];
  const bytes = memory.u8(values, rowCount * width);
  for (let word = 0; word < bits.length; word++) {
    for (let left = bits[word] ?? 0; left !== 0; left &= left - 1) {
      const row = word * 32 + 31 - Math.clz32(left & -left);
      if (row < rowCount) bytes.fill(0, row * width, (row + 1) * width);
    }
  }
}
