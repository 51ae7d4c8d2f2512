// Uploads the right side of a join into kernel memory, with lists of its rows by key.

import { assert, ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { extended, own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { KernelMemory } from '../../kernels/memory.js';
import { type ColumnType, isNumberType } from '../../model/schema.js';
import type { BuildRequest } from '../../model/upload.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import { type UploadedFrame, uploadFrame } from '../../storage/uploaded-frame.js';
import type { ColumnView, GlobalDictionaryView, NumberColumnView, SegmentView, StringColumnView } from '../../storage/view.js';
import { clear, kernelFor, type RunContext } from '../block/context.js';
import { openScope } from '../expression/open-scope.js';
import { storedNumbers } from '../expression/vector.js';
import { ABSENT, type Numbering } from './join-keys.js';
import { type KeyBits, keyBitsOf, longDistances } from './key-bits.js';
import { withEachKey } from './listed-keys.js';
import { OwnMemory } from './own-memory.js';
import { isOfKey, KeyPacker, type PartValues, packedLayout } from './packed-keys.js';
import { orderRows, type RangeOrder } from './range/range-order.js';

/**
 * The build side of a join in kernel memory: plain data, read by all threads. Text columns have null at id 0, whether or
 * not a row is null, so that a row without partner can be null there. Who made it frees `owned`.
 */
export interface BuildSide {
  readonly view: SegmentView;
  /** Ids of text columns as ids that all segments share: the same ones. */
  readonly dictionaries: Readonly<Record<string, Omit<GlobalDictionaryView, 'remaps'>>>;
  readonly numbering: Numbering;
  /** Rows with key k: `rows[starts[k] .. starts[k + 1])`, u32; with `starts` 0 no key has several: `rows[k]`, or absent. */
  readonly starts: Address;
  readonly rows: Address;
  /** The order of the rows of each key; null: as they came. */
  readonly order: RangeOrder | null;
  /** Values of each part of the key; null where they are not kept, or null is a value. */
  readonly keyBits: readonly (KeyBits | null)[];
  /** u8 for each row: 1 once it has met a partner. 0: nobody asks. */
  readonly marks: Address;
  readonly bytes: number;
  readonly owned: readonly Address[];
}

type RequestKey = BuildRequest['keys'][number];

/** Longs this close together are numbered by their distance, whatever their number. */
const RANGE_ALWAYS = 1 << 16;
/** Factor: a list for every possible number may take this many times the rows. */
const RANGE_PER_ROW = 8;
const RANGE_MAX = 1 << 28;

/** @throws ServiceError `resource_limit`; `unsupported` for a key of several values in a row where rows are marked */
export function uploadBuildSide(context: RunContext, given: SegmentFrame, request: BuildRequest): BuildSide {
  const { memory } = context;
  refuseMultiValue(given, request);
  const frame = withEachKey(given, request.keys);
  return buildSideOf(context, uploadFrame(frame, memory, context.kernels), request);
}

/** Rows that lie in kernel memory as a build side, which takes them over. Throws as `uploadBuildSide` does, having freed them. */
export function buildSideOf(context: RunContext, placed: UploadedFrame, request: BuildRequest): BuildSide {
  const { memory } = context;
  const owner = new OwnMemory(memory);
  const scratch = memory.arena();
  try {
    const columns = Object.entries(placed.view.columns).map(
      ([name, column]) => [name, withNull(context, column, placed.view, owner)] as const,
    );
    const view = { ...placed.view, columns: Object.fromEntries(columns) };
    const { rowCount } = view;
    const keyBits = request.keys.map((key) => bitsOf({ context, scratch, owner }, view, key));
    const [only = null] = keyBits;
    const isSet = request.keysOnly && keyBits.length === 1 && only !== null;
    const numbers = scratch.take(isSet ? 4 : Math.max(1, rowCount) * 4);
    if (isSet) memory.u32(numbers, 1)[0] = 0;
    const { numbering, keyCount } = isSet
      ? { numbering: { kind: 'set', keys: only } as const, keyCount: 1 }
      : numberKeys({ context, scratch, owner }, view, request.keys, numbers);
    const lists = listRows({ context, scratch, owner }, numbers, isSet ? 1 : rowCount, keyCount);
    const order = orderRows({ context, scratch, owner }, view, request.ranges ?? [], { numbers, keyCount }, lists);
    const marks = request.marked ? owner.take(Math.max(1, rowCount)) : 0;
    if (marks !== 0) clear(context, marks, rowCount);
    const bytes = placed.bytes + owner.bytes;
    if (bytes > request.bytesMax)
      throw new ServiceError(
        'resource_limit',
        `the right sides of joins take more than their limit: ${bytes} bytes for one, ${Math.max(0, request.bytesMax)} left of ${request.limit}`,
      );
    const dictionaries = Object.fromEntries(columns.flatMap(([name, column]) => sharedDictionary(memory, name, column, owner)));
    return { view, dictionaries, numbering, keyBits, ...lists, order, marks, bytes, owned: [...placed.addresses, ...owner.addresses] };
  } catch (error) {
    placed.release();
    owner.free();
    throw error;
  } finally {
    scratch.release();
  }
}

/** Most keys of right sides are unique, and then a row is found with one look. */
function listRows(
  { context: { kernels }, owner }: Parts,
  numbers: Address,
  listed: number,
  keyCount: number,
): Pick<BuildSide, 'starts' | 'rows'> {
  const only = owner.take((keyCount + 1) * 4);
  if (kernels.joinOnly(numbers, listed, keyCount, only) === 1) return { starts: 0, rows: only };
  const rows = owner.take(Math.max(1, listed) * 4);
  kernels.joinLists(numbers, listed, keyCount, only, rows);
  return { starts: only, rows };
}

interface Parts {
  readonly context: RunContext;
  readonly scratch: Arena;
  readonly owner: OwnMemory;
}

/** Refuses multi-value keys of marked joins: a row repeated for each value could not tell whether any met a partner. */
function refuseMultiValue(frame: SegmentFrame, { keys, marked }: BuildRequest): void {
  for (const { build } of keys)
    if (marked && frame.columns.some((column) => column.name === build && column.kind === 'multi'))
      throw new ServiceError(
        'unsupported',
        'a multi-value column cannot be the key of the right side of a RIGHT or FULL join; unnest it first',
      );
}

function bitsOf({ context, scratch, owner }: Parts, view: SegmentView, { build, nullsMeet }: RequestKey): KeyBits | null {
  const column = nullsMeet === true ? undefined : own(view.columns, build);
  return column?.kind === 'number' ? keyBitsOf(context, scratch, owner, column, view.rowCount) : null;
}

/** Ids from 1 on, and an entry for null before them, where the dictionary has none. */
function withNull({ memory }: RunContext, column: ColumnView, { rowCount }: SegmentView, owner: OwnMemory): ColumnView {
  if (column.kind === 'number') return column;
  const { dictionary, physical, offsets } = column;
  if (dictionary.hasNull || offsets !== 0) return extended(column, { isPart: true });
  const count = dictionary.count + 1;
  const wider = count <= 0x100 ? 'U8' : count <= 0x10000 ? 'U16' : 'U32';
  const ids = owner.take(rowCount * PHYSICAL_BYTES[wider]);
  const from = idsAt(memory, physical, column.ids, rowCount);
  const to = idsAt(memory, wider, ids, rowCount);
  for (let row = 0; row < rowCount; row++) to[row] = (from[row] ?? 0) + 1;
  const bounds = owner.take((count + 1) * 4);
  const written = memory.u32(bounds, count + 1);
  written[0] = 0;
  written.set(memory.u32(dictionary.offsets, count), 1);
  return extended(column, { physical: wider, ids, isPart: true, dictionary: { ...dictionary, count, hasNull: true, offsets: bounds } });
}

function idsAt(memory: KernelMemory, physical: StringColumnView['physical'], at: Address, count: number) {
  return physical === 'U8' ? memory.u8(at, count) : physical === 'U16' ? memory.u16(at, count) : memory.u32(at, count);
}

/** Dictionary of a string column as entries that probe sides share; none for columns of several values, whose null has no id. */
function sharedDictionary(memory: KernelMemory, name: string, column: ColumnView, owner: OwnMemory) {
  if (column.kind === 'number' || column.offsets !== 0) return [];
  const { count, offsets, bytes } = column.dictionary;
  const entries = owner.take(count * 8);
  const bounds = memory.u32(offsets, count + 1);
  const written = memory.u32(entries, count * 2);
  for (let id = 0; id < count; id++) {
    written[id * 2] = bytes + (bounds[id] ?? 0);
    written[id * 2 + 1] = (bounds[id + 1] ?? 0) - (bounds[id] ?? 0);
  }
  return [[name, { count, entries }] as const];
}

interface NumberedKeys {
  readonly numbering: Numbering;
  readonly keyCount: number;
}

/** Writes the key number of every row; rows with a null in their key have none, or one that nobody asks for. */
function numberKeys(parts: Parts, view: SegmentView, keys: BuildRequest['keys'], numbers: Address): NumberedKeys {
  const { context } = parts;
  const { memory, kernels } = context;
  const { rowCount } = view;
  const fill = (number: number): void => {
    memory.u32(numbers, rowCount).fill(number);
  };
  if (keys.length === 0) {
    fill(0);
    return { numbering: { kind: 'none' }, keyCount: 1 };
  }
  const columns = keys.map((key) => keyColumn(parts, view, key));
  const [only] = columns;
  const known = columns.filter((column) => column !== undefined);
  if (known.length < columns.length) {
    // No row has a key.
    fill(ABSENT);
    return { numbering: { kind: 'nothing' }, keyCount: 0 };
  }
  if (columns.length === 1 && only?.kind === 'string') {
    eachBlock(context, rowCount, (start, rows) => widenIds(context, only, start, rows, numbers + start * 4));
    return { numbering: { kind: 'texts', dictionary: only.dictionary }, keyCount: only.dictionary.count };
  }
  const range = columns.length === 1 && only?.kind === 'number' ? rangeOf(parts, only, rowCount) : undefined;
  if (range !== undefined && only?.kind === 'number' && only.physical !== 'F32' && only.physical !== 'F64') {
    kernelFor(kernels, 'joinRange', only.physical)(only.values, only.base, range.low, range.count, rowCount, numbers);
    const nullsMeet = keys[0]?.nullsMeet === true;
    if (only.nulls !== 0) numberNulls(parts, only.nulls, rowCount, numbers, nullsMeet ? range.count : ABSENT);
    return { numbering: { kind: 'range', ...range }, keyCount: range.count + (nullsMeet ? 1 : 0) };
  }
  return hashKeys(parts, view, known, keys, numbers);
}

/** Undefined: it is null in every row, and null equals nothing. */
function keyColumn(parts: Parts, view: SegmentView, { build, type, nullsMeet }: RequestKey): ColumnView | undefined {
  const column = Object.hasOwn(view.columns, build) ? own(view.columns, build) : undefined;
  if (column !== undefined && isOfKey(column, type)) return column;
  // A column of nulls alone may come as any type.
  assert(column === undefined || isNullEverywhere(column), `the key ${build} of a join is not of type ${type}`);
  return nullsMeet === true ? nullColumn(parts, type, view.rowCount) : undefined;
}

/** A column of nulls alone. */
function nullColumn({ context, owner }: Parts, type: ColumnType, rowCount: number): ColumnView {
  const words = Math.max(1, Math.ceil(rowCount / 64));
  // Readable as the values of whole words of bits.
  const bytes = words * 64 * (type === 'LONG' || !isNumberType(type) ? 1 : 8);
  const values = owner.take(bytes);
  clear(context, values, bytes);
  if (!isNumberType(type)) {
    const offsets = owner.take(8);
    clear(context, offsets, 8);
    const dictionary = { count: 1, hasNull: true, offsets, bytes: values };
    return { kind: 'string', type, physical: 'U8', ids: values, offsets: 0, dictionary };
  }
  const nulls = owner.take(words * 8);
  context.kernels.bitsFill(nulls, words, 0, rowCount);
  const stored = type === 'LONG' ? ({ type, physical: 'U8' } as const) : ({ type: 'DOUBLE', physical: 'F64' } as const);
  return { kind: 'number', ...stored, power: 0, values, base: 0n, nulls, min: null, max: null, blockRanges: 0 };
}

function numberNulls({ context, scratch }: Parts, nulls: Address, rowCount: number, numbers: Address, number: number): void {
  const { kernels, memory } = context;
  const one = scratch.take(4);
  memory.u32(one, 1)[0] = number;
  eachBlock(context, rowCount, (start, rows) =>
    kernels.choose32(nulls + start / 8, one, 1, numbers + start * 4, 0, rows, numbers + start * 4),
  );
}

function isNullEverywhere(column: ColumnView): boolean {
  return column.kind === 'number' ? column.min === null : column.dictionary.count <= (column.dictionary.hasNull ? 1 : 0);
}

function rangeOf(
  { context, scratch }: Parts,
  column: NumberColumnView,
  rowCount: number,
): { readonly low: bigint; readonly count: number } | undefined {
  return longDistances(context, scratch, column, rowCount, BigInt(Math.min(RANGE_MAX, Math.max(RANGE_ALWAYS, rowCount * RANGE_PER_ROW))));
}

function hashKeys(
  { context, scratch, owner }: Parts,
  view: SegmentView,
  columns: readonly ColumnView[],
  requested: BuildRequest['keys'],
  numbers: Address,
): NumberedKeys {
  const { kernels } = context;
  const { rowCount } = view;
  const scope = openScope(context, view, {}, scratch);
  const layout = packedLayout(context, scratch, columns, requested, rowCount);
  const { words } = layout;
  let capacity = 1 << 10;
  while (capacity < (rowCount + BLOCK_ROWS) * 2) capacity *= 2;
  const slots = owner.take(capacity * 4);
  clear(context, slots, capacity * 4);
  const keys = owner.take(Math.max(1, rowCount) * words * 8);
  const values = columns.map(
    (column): PartValues =>
      column.kind === 'string'
        ? { kind: 'texts', fill: ({ start, rows }, out) => widenIds(context, column, start, rows, out) }
        : { kind: 'numbers', numbers: storedNumbers(scope, column) },
  );
  const packer = new KeyPacker(context, scratch, layout, values);
  let count = 0;
  eachBlock(context, rowCount, (start, rows) => {
    const block = { start, rows };
    packer.pack(block);
    count = kernels.hashKeys(packer.packed, rows, words, slots, capacity, keys, count, numbers + start * 4);
    packer.dropNulls(block, numbers + start * 4);
  });
  return { numbering: { kind: 'hash', layout, slots, capacity, keys }, keyCount: count };
}

function widenIds({ kernels }: RunContext, { physical, ids }: StringColumnView, start: number, rows: number, out: Address): void {
  kernelFor(kernels, 'keyDense', physical)(ids + start * PHYSICAL_BYTES[physical], 0, rows, 1, 0, out);
}

function eachBlock(context: RunContext, rowCount: number, visit: (start: number, rows: number) => void): void {
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    context.check();
    visit(start, Math.min(BLOCK_ROWS, rowCount - start));
  }
}
