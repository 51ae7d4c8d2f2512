// Storage job: joins a column of several segments into one.

import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { FrameColumn } from '../../model/frame.js';
import { type PackedColumn, PackedEntriesBuilder } from '../columns/packed-column.js';
import { uploadFrameColumn } from '../uploaded-frame.js';
import type { ColumnView, DictionaryView, NumberColumnView, StringColumnView } from '../view.js';

/** A column of one segment; null: the segment has none of that name, which is null in every row. */
export interface CombinedPart {
  readonly rowCount: number;
  readonly view: ColumnView | null;
}

export interface CombineColumnRequest {
  readonly name: string;
  /** In the order of their rows. At least one has the column, and all that have it have it of one kind and type. */
  readonly parts: readonly CombinedPart[];
}

/** The column over the rows of all parts, in an allocation of its own that is the caller's to free. */
export interface CombinedColumn {
  readonly view: ColumnView;
  readonly address: Address;
  readonly bytes: number;
}

/** Joins a column, with one dictionary of its strings. @throws ServiceError `resource_limit` */
export function combineColumn({ name, parts }: CombineColumnRequest, memory: KernelMemory, kernels: KernelSet): CombinedColumn {
  const first = parts.find(({ view }) => view !== null)?.view;
  if (first === undefined || first === null) throw new ServiceError('internal', `no segment has a column ${name}`);
  const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
  const column =
    first.kind === 'number' ? joinNumbers(name, first, parts, rowCount, memory) : joinStrings(name, first, parts, rowCount, memory);
  // Decimal fractions of which a part is made are those of a whole one as well.
  const keptForLong = parts.some(({ view }) => view?.kind === 'number' && view.type === 'DOUBLE' && view.physical !== 'F64');
  return uploadFrameColumn(column, rowCount, memory, { kernels, keptForLong });
}

function joinNumbers(
  name: string,
  { type }: NumberColumnView,
  parts: readonly CombinedPart[],
  rowCount: number,
  memory: KernelMemory,
): FrameColumn {
  const nulls = new Uint32Array(Math.ceil(rowCount / 64) * 2);
  let hasNulls = false;
  const longs = new BigInt64Array(type === 'LONG' ? rowCount : 0);
  const doubles = new Float64Array(type === 'LONG' ? 0 : rowCount);
  let start = 0;
  for (const { rowCount: count, view } of parts) {
    if (view?.kind === 'number') {
      if (type === 'LONG') copyLongs(view, longs.subarray(start, start + count), memory);
      else copyDoubles(view, doubles.subarray(start, start + count), memory);
    }
    const bits = view?.kind === 'number' && view.nulls !== 0 ? memory.u32(view.nulls, Math.ceil(count / 32)) : null;
    for (let row = 0; row < count && (view === null || bits !== null); row++) {
      if (bits !== null && ((bits[row >>> 5] ?? 0) & (1 << (row & 31))) === 0) continue;
      const at = start + row;
      nulls[at >>> 5] = (nulls[at >>> 5] ?? 0) | (1 << (at & 31));
      hasNulls = true;
    }
    start += count;
  }
  const common = { name, nulls: hasNulls ? nulls : null };
  return type === 'LONG' ? { kind: 'long', values: longs, ...common } : { kind: 'double', type, values: doubles, ...common };
}

const WORD = 2 ** 32;

function copyLongs({ physical, values, base }: NumberColumnView, to: BigInt64Array, memory: KernelMemory): void {
  if (physical === 'I64') {
    to.set(memory.i64(values, to.length));
    return;
  }
  const stored = narrowValues(physical, values, to.length, memory);
  // In words, since an object for each number would take most of the time.
  const words = new Uint32Array(to.buffer, to.byteOffset, to.length * 2);
  const [low, high] = [Number(BigInt.asUintN(32, base)), Number(base >> 32n)];
  for (let row = 0; row < to.length; row++) {
    const sum = low + (stored[row] ?? 0);
    words[2 * row] = sum;
    words[2 * row + 1] = sum < WORD ? high : high + 1;
  }
}

function copyDoubles({ physical, values, base, power }: NumberColumnView, to: Float64Array, memory: KernelMemory): void {
  if (physical === 'F64') to.set(memory.f64(values, to.length));
  else if (physical === 'F32') to.set(memory.f32(values, to.length));
  else {
    const stored = narrowValues(physical, values, to.length, memory);
    const [first, scale] = [Number(base), 10 ** power];
    for (let row = 0; row < to.length; row++) to[row] = (first + (stored[row] ?? 0)) / scale;
  }
}

function narrowValues(
  physical: NumberColumnView['physical'],
  at: Address,
  count: number,
  memory: KernelMemory,
): Uint8Array | Uint16Array | Uint32Array {
  if (physical === 'U8') return memory.u8(at, count);
  return physical === 'U16' ? memory.u16(at, count) : memory.u32(at, count);
}

/** Ids into the strings of all parts, behind each other; null is one of them. */
function joinStrings(
  name: string,
  { type }: StringColumnView,
  parts: readonly CombinedPart[],
  rowCount: number,
  memory: KernelMemory,
): PackedColumn {
  const strings = parts.map(({ view }) => (view?.kind === 'string' ? view : null));
  const isMulti = strings.some((view) => view !== null && view.offsets !== 0);
  const boundsOf = (view: StringColumnView, count: number): Uint32Array | null =>
    view.offsets === 0 ? null : memory.u32(view.offsets, count + 1);
  // A row of a part without the column has the id of null, and none where rows have several.
  const idCount = parts.reduce((sum, { rowCount: count }, part) => {
    const view = strings[part];
    if (view === null || view === undefined) return isMulti ? sum : sum + count;
    return sum + (boundsOf(view, count)?.[count] ?? count);
  }, 0);
  const entries = new PackedEntriesBuilder();
  const ids = new Uint32Array(idCount);
  const offsets = isMulti ? new Uint32Array(rowCount + 1) : null;
  let [row, to] = [0, 0];
  for (const [part, { rowCount: count }] of parts.entries()) {
    const view = strings[part];
    const bounds = view === null || view === undefined ? null : boundsOf(view, count);
    const first = to;
    if (view !== null && view !== undefined) {
      const behind = addEntries(view.dictionary, entries, memory);
      const stored = narrowValues(view.physical, view.ids, bounds?.[count] ?? count, memory);
      for (let at = 0; at < stored.length; at++) {
        const id = stored[at] ?? 0;
        ids[to + at] = view.dictionary.hasNull && id === 0 ? 0 : id + behind;
      }
      to += stored.length;
    } else if (!isMulti) to += count;
    for (let each = 1; offsets !== null && each <= count; each++)
      offsets[row + each] = first + (bounds === null ? (view === null || view === undefined ? 0 : each) : (bounds[each] ?? 0));
    row += count;
  }
  return { kind: 'packed', name, type, ids, offsets, dictionary: entries.entries(false) };
}

/** Adds what is not null; returns how far behind their old ids the new ones are. */
function addEntries({ offsets, bytes, count, hasNull }: DictionaryView, entries: PackedEntriesBuilder, memory: KernelMemory): number {
  const ends = memory.u32(offsets, count + 1).subarray(1);
  const from = hasNull ? 1 : 0;
  return entries.addRun({ bytes: memory.u8(bytes, ends[count - 1] ?? 0), ends }, from, count) - from;
}
