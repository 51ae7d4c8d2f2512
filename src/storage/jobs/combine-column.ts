// Storage job: joins a column of several small segments into one.

import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { FrameColumn } from '../../model/frame.js';
import { allTexts } from '../columns/read-dictionary.js';
import { uploadFrameColumn } from '../uploaded-frame.js';
import type { ColumnView, NumberColumnView, StringColumnView } from '../view.js';

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
export function combineColumn({ name, parts }: CombineColumnRequest, memory: KernelMemory): CombinedColumn {
  const first = parts.find(({ view }) => view !== null)?.view;
  if (first === undefined || first === null) throw new ServiceError('internal', `no segment has a column ${name}`);
  const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
  const column =
    first.kind === 'number' ? joinNumbers(name, first, parts, rowCount, memory) : joinStrings(name, first, parts, rowCount, memory);
  return uploadFrameColumn(column, rowCount, memory);
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

function copyLongs({ physical, values, base }: NumberColumnView, to: BigInt64Array, memory: KernelMemory): void {
  if (physical === 'I64') {
    to.set(memory.i64(values, to.length));
    return;
  }
  const stored = narrowValues(physical, values, to.length, memory);
  for (let row = 0; row < to.length; row++) to[row] = base + BigInt(stored[row] ?? 0);
}

function copyDoubles({ physical, values, base, power }: NumberColumnView, to: Float64Array, memory: KernelMemory): void {
  if (physical === 'F64') to.set(memory.f64(values, to.length));
  else if (physical === 'F32') to.set(memory.f32(values, to.length));
  else {
    const stored = narrowValues(physical, values, to.length, memory);
    const scale = 10 ** power;
    for (let row = 0; row < to.length; row++) to[row] = Number(base + BigInt(stored[row] ?? 0)) / scale;
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

/** Ids into one list of strings, each of which is there once; null is one of them. */
function joinStrings(
  name: string,
  { type }: StringColumnView,
  parts: readonly CombinedPart[],
  rowCount: number,
  memory: KernelMemory,
): FrameColumn {
  const dictionary: (string | null)[] = [null];
  const idOf = new Map<string, number>();
  const isMulti = parts.some(({ view }) => view?.kind === 'string' && view.offsets !== 0);
  const ids: number[] = [];
  const offsets = new Uint32Array(rowCount + 1);
  let row = 0;
  for (const { rowCount: count, view } of parts) {
    const strings = view?.kind === 'string' ? view : null;
    const remap = strings === null ? [] : remapOf(strings, dictionary, idOf, memory);
    const bounds = strings === null || strings.offsets === 0 ? null : memory.u32(strings.offsets, count + 1);
    const stored = strings === null ? null : narrowValues(strings.physical, strings.ids, bounds?.[count] ?? count, memory);
    for (let each = 0; each < count; each++) {
      if (stored === null) {
        if (!isMulti) ids.push(0);
      } else for (let at = bounds?.[each] ?? each; at < (bounds?.[each + 1] ?? each + 1); at++) ids.push(remap[stored[at] ?? 0] ?? 0);
      offsets[++row] = ids.length;
    }
  }
  return isMulti
    ? { kind: 'multi', name, offsets, ids: Uint32Array.from(ids), dictionary }
    : { kind: 'string', name, type, ids: Uint32Array.from(ids), dictionary };
}

function remapOf(view: StringColumnView, dictionary: (string | null)[], idOf: Map<string, number>, memory: KernelMemory): number[] {
  return allTexts(memory, view.dictionary).map((text) => {
    if (text === null) return 0;
    const id = idOf.get(text) ?? dictionary.push(text) - 1;
    idOf.set(text, id);
    return id;
  });
}
