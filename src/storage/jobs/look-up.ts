// Storage job: makes a column of another by way of lookups.

import type { Address } from '../../base/layout.js';
import { compileExpression } from '../../expression/evaluate.js';
import { expressionType } from '../../expression/expression-type.js';
import { convert, type Value } from '../../expression/value.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { FrameColumn } from '../../model/frame.js';
import type { LookedUpColumn } from '../../model/lookup/looked-up-column.js';
import type { PackedColumn } from '../columns/packed-column.js';
import { allTexts } from '../columns/read-dictionary.js';
import { uploadFrameColumn } from '../uploaded-frame.js';
import type { ColumnView, NumberColumnView, StringColumnView } from '../view.js';
import { byBytes, lookUpBytes } from './look-up-bytes.js';

export interface LookUpRequest {
  readonly looked: LookedUpColumn;
  /** Null: the segment has no such column, which is null in every row. */
  readonly view: ColumnView | null;
  readonly rowCount: number;
}

/** The column, in an allocation of its own that is the caller's to free. */
export interface LookedUp {
  readonly view: ColumnView;
  readonly address: Address;
  readonly bytes: number;
}

/**
 * Computes the expression once for each value of the column.
 * @returns       null where it is no string, or the column has neither strings nor numbers that are computed with as they are
 * @throws ServiceError `resource_limit`, or what the expression throws
 */
export function lookUp({ looked, view, rowCount }: LookUpRequest, memory: KernelMemory, kernels: KernelSet): LookedUp | null {
  const { column, expression } = looked;
  if (view !== null && !IN_USE.has(view.type)) return null;
  const typeOf = (name: string) => (name === column ? view?.type : undefined);
  if (expressionType(expression, typeOf) !== 'STRING') return null;
  const compute = compileExpression(expression, typeOf, () => undefined);
  let value: Value = null;
  const read = (): Value => value;
  const valueOf = (given: Value): string | null => {
    value = given;
    return convert(compute(read), 'STRING');
  };
  const made = ofBytes(looked, view, rowCount, memory) ?? columnOf(looked.name, view, rowCount, valueOf, memory);
  return uploadFrameColumn(made, rowCount, memory, { kernels, keptForLong: false });
}

/** Types of columns whose values are what an expression gets. */
const IN_USE: ReadonlySet<string> = new Set(['STRING', 'LONG', 'DOUBLE']);

type ValueOf = (given: Value) => string | null;
type Column = FrameColumn | PackedColumn;

function columnOf(name: string, view: ColumnView | null, rowCount: number, valueOf: ValueOf, memory: KernelMemory): FrameColumn {
  if (view === null) return { kind: 'string', name, ids: new Uint32Array(rowCount), dictionary: [valueOf(null)] };
  return view.kind === 'number' ? ofNumbers(name, view, rowCount, valueOf, memory) : ofTexts(name, view, rowCount, valueOf, memory);
}

/** Strings whose bytes alone are looked up; undefined for others. */
function ofBytes(
  { name, column, expression }: LookedUpColumn,
  view: ColumnView | null,
  rowCount: number,
  memory: KernelMemory,
): Column | undefined {
  if (view?.kind !== 'string') return undefined;
  const form = byBytes(expression, column);
  if (form === undefined) return undefined;
  const offsets = view.offsets === 0 ? null : memory.u32(view.offsets, rowCount + 1).slice();
  const given = idsOf(view, offsets === null ? rowCount : (offsets[rowCount] ?? 0), memory);
  const isUsed = new Uint8Array(view.dictionary.count);
  for (let at = 0; at < given.length; at++) isUsed[given[at] ?? 0] = 1;
  const hasNone = (view.dictionary.hasNull && isUsed[0] === 1) || (offsets !== null && hasEmpty(offsets));
  const { entries, ids, idOfNull } = lookUpBytes(form, view.dictionary, isUsed, hasNone, memory);
  for (let at = 0; at < given.length; at++) given[at] = ids[given[at] ?? 0] ?? 0;
  const listed = offsets === null || idOfNull === 0 ? { ids: given, offsets } : filled({ ids: given, offsets }, idOfNull);
  return { kind: 'packed', name, type: 'STRING', ...listed, dictionary: entries };
}

function ofTexts(name: string, view: StringColumnView, rowCount: number, valueOf: ValueOf, memory: KernelMemory): FrameColumn {
  const dictionary = allTexts(memory, view.dictionary).map(valueOf);
  if (view.offsets === 0) return { kind: 'string', name, ids: idsOf(view, rowCount, memory), dictionary };
  const offsets = memory.u32(view.offsets, rowCount + 1).slice();
  const ids = idsOf(view, offsets[rowCount] ?? 0, memory);
  const ofNone = valueOf(null);
  return ofNone === null
    ? { kind: 'multi', name, offsets, ids, dictionary }
    : { kind: 'multi', name, ...filled({ ids, offsets }, dictionary.length), dictionary: [...dictionary, ofNone] };
}

function idsOf({ physical, ids }: StringColumnView, count: number, memory: KernelMemory): Uint32Array {
  return new Uint32Array(physical === 'U8' ? memory.u8(ids, count) : physical === 'U16' ? memory.u16(ids, count) : memory.u32(ids, count));
}

interface Listed {
  readonly ids: Uint32Array;
  readonly offsets: Uint32Array;
}

function hasEmpty(offsets: Uint32Array): boolean {
  for (let row = 1; row < offsets.length; row++) if (offsets[row] === offsets[row - 1]) return true;
  return false;
}

/** Rows of which those without a value have one, `id`. */
function filled({ ids, offsets }: Listed, id: number): Listed {
  const rowCount = offsets.length - 1;
  const all = new Uint32Array(ids.length + rowCount);
  const ends = new Uint32Array(rowCount + 1);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    const start = offsets[row] ?? 0;
    const end = offsets[row + 1] ?? 0;
    for (let each = start; each < end; each++) all[at++] = ids[each] ?? 0;
    if (start === end) all[at++] = id;
    ends[row + 1] = at;
  }
  return { ids: all.subarray(0, at), offsets: ends };
}

/** Numbers are told apart first: a lookup of each row would take longer. */
function ofNumbers(name: string, view: NumberColumnView, rowCount: number, valueOf: ValueOf, memory: KernelMemory): FrameColumn {
  const ids = new Uint32Array(rowCount);
  const dictionary: (string | null)[] = [valueOf(null)];
  const known = new Map<number | bigint | string, number>();
  const stored = storedNumbers(view, rowCount, memory);
  const nulls = view.nulls === 0 ? null : memory.u32(view.nulls, Math.ceil(rowCount / 32));
  const valueOfStored = numberOf(view);
  for (let row = 0; row < rowCount; row++) {
    if (nulls !== null && ((nulls[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0) continue;
    const number = stored[row] ?? 0;
    // A map takes both zeros for one.
    const key = Object.is(number, -0) ? '-0' : number;
    let id = known.get(key);
    if (id === undefined) {
      id = dictionary.push(valueOf(valueOfStored(number))) - 1;
      known.set(key, id);
    }
    ids[row] = id;
  }
  return { kind: 'string', name, ids, dictionary };
}

function storedNumbers({ physical, values }: NumberColumnView, count: number, memory: KernelMemory): ArrayLike<number | bigint> {
  switch (physical) {
    case 'U8':
      return memory.u8(values, count);
    case 'U16':
      return memory.u16(values, count);
    case 'U32':
      return memory.u32(values, count);
    case 'I64':
      return memory.i64(values, count);
    case 'F32':
      return memory.f32(values, count);
    case 'F64':
      return memory.f64(values, count);
  }
}

function numberOf({ type, base, power }: NumberColumnView): (stored: number | bigint) => Value {
  if (type === 'LONG') return (stored) => base + BigInt(stored);
  const scale = 10 ** power;
  return power === 0 && base === 0n ? (stored) => Number(stored) : (stored) => Number(base + BigInt(stored)) / scale;
}
