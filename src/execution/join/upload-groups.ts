// Leaves groups in kernel memory as rows, for the plan that reads them next.

import { assert } from '../../base/errors.js';
import { ETERNITY } from '../../base/instant.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { createByName, own } from '../../base/names.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { Filter } from '../../model/filter.js';
import type { GroupPlan, ScanPlan } from '../../model/plan.js';
import { isNumberType, TIME_COLUMN } from '../../model/schema.js';
import type { Upload } from '../../model/upload.js';
import { prepareColumns, toPhysical } from '../../storage/columns/physical.js';
import { sortByKernel } from '../../storage/columns/sort-by-kernel.js';
import { type UploadedFrame, uploadColumn } from '../../storage/uploaded-frame.js';
import { type ColumnView, NO_ROWS, type NumberColumnView, type SegmentView } from '../../storage/view.js';
import type { RunContext, Scratch } from '../block/context.js';
import { zeroNulls } from '../block/joined-chunks.js';
import { packedFramesOf } from '../block/result-table.js';
import { columnsNamed } from '../expression/columns-of-plan.js';
import { comparesMixed } from '../filter/mixed-comparison.js';
import type { KeyDomain } from '../group/key/key-domain.js';
import type { KeyPool } from '../group/key/key-pool.js';
import type { AggregatorLayout, GroupLayout } from '../group/key/layout.js';
import { type GroupColumns, haveColumns, WIDE_KEYS_MAX } from '../group/table/group-columns.js';
import { columnOfIds } from '../group/table/result.js';
import { storedRange } from './key-bits.js';
import type { OwnMemory } from './own-memory.js';

/*
 * Groups that a plan above them reads (a subquery, the right side of a join) need not become rows outside of kernel memory: kernels write keys and
 * states to columns, and what follows on the groups (conditions, computed columns, other names) is a scan of these.
 */

/** A reader of groups that lie in columns. */
export interface GroupReading {
  /** A scan of the columns, which has the conditions and computed columns of the steps; its result is what was asked for. */
  readonly plan: ScanPlan;
  readonly upload: Upload;
  /** Keys and aggregators that it reads. */
  readonly wanted: ReadonlySet<string>;
}

/** Reader of the groups of a plan, for a result that is to stay in memory; undefined: it is not, or steps need rows. */
export function groupReading(layout: GroupLayout, { upload, post, emptyGroup }: GroupPlan): GroupReading | undefined {
  if (upload === undefined || emptyGroup || !haveColumns(layout)) return undefined;
  const names = new Set([...layout.keys, ...layout.aggregators].map(({ name }) => name));
  const virtualColumns: VirtualColumn[] = [];
  const filters: Filter[] = [];
  for (const [at, step] of post.entries()) {
    if (step.step === 'filter') filters.push(step.filter);
    else if (step.step === 'compute') {
      if (names.has(step.name) || (step.type !== 'LONG' && step.type !== 'DOUBLE')) return undefined;
      names.add(step.name);
      virtualColumns.push({ name: step.name, expression: step.expression, outputType: step.type });
    } else if (step.step !== 'project' || at < post.length - 1) return undefined;
  }
  // Numbers are compared with texts in another way in results.
  const isText = (column: string): boolean => {
    const key = layout.keys.find(({ name }) => name === column);
    return key !== undefined && !isNumberType(key.domain.type);
  };
  if (filters.some((filter) => comparesMixed(filter, isText))) return undefined;
  if (names.has(TIME_COLUMN) || upload.columns.some(({ name }) => name === TIME_COLUMN)) return undefined;
  const project = post.at(-1)?.step === 'project' ? post.slice(-1) : [];
  const plan: ScanPlan = {
    operator: 'scan',
    dataSource: '',
    intervals: [ETERNITY],
    filter: filters.length < 2 ? (filters[0] ?? null) : { kind: 'and', filters },
    virtualColumns,
    columns: [...names],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: project,
    upload,
  };
  const read = originsOf(plan, upload);
  return { plan, upload, wanted: columnsNamed({ ...plan, columns: read.map(({ from }) => from) }) };
}

/** The columns of an upload by the names that they have before the scan's steps. */
function originsOf({ post }: ScanPlan, upload: Upload): Upload['columns'] {
  const [step] = post;
  if (step?.step !== 'project') return upload.columns;
  const origins = new Map(step.columns.map(({ name, from }) => [name, from]));
  return upload.columns.flatMap(({ name, from }) => {
    const origin = origins.get(from);
    return origin === undefined ? [] : [{ name, from: origin }];
  });
}

/** The columns that the reader asks for as they lie there; undefined: it computes or leaves out. Both share their memory. */
export function readAsTheyAre(
  { plan, upload }: GroupReading,
  { view, addresses, bytes, release }: UploadedFrame,
): UploadedFrame | undefined {
  if (plan.filter !== null) return undefined;
  const origins = originsOf(plan, upload);
  if (origins.some(({ from }) => plan.virtualColumns.some(({ name }) => name === from))) return undefined;
  const columns = createByName<ColumnView>();
  for (const { name, from } of origins) {
    const column = Object.hasOwn(view.columns, from) ? own(view.columns, from) : undefined;
    if (column !== undefined) columns[name] = column;
  }
  return { view: { ...view, columns }, addresses, bytes, release };
}

export interface Parts extends Scratch {
  readonly owner: OwnMemory;
  readonly rowCount: number;
}

/**
 * The groups as rows.
 * @param owner  has the memory of the columns, and that of the view from now on
 * @param pools  of interned keys
 */
export function viewOfGroups(
  context: RunContext,
  { keys, aggregators }: GroupLayout,
  columns: GroupColumns,
  owner: OwnMemory,
  pools: readonly (KeyPool | undefined)[],
): SegmentView {
  const rowCount = context.memory.u32(columns.taken, 1)[0] ?? 0;
  const arena = context.memory.arena();
  const parts: Parts = { context, arena, owner, rowCount };
  const named = createByName<ColumnView>();
  try {
    let flags = 0;
    keys.forEach(({ name, domain }, index) => {
      const isFlagged = domain.kind === 'wide' && domain.mayBeNull;
      const flag = isFlagged ? flags++ : 0;
      const at = columns.keys[index] ?? 0;
      if (at !== 0) named[name] = keyColumn(parts, name, domain, at, { at: isFlagged ? columns.flags : 0, flag }, pools[index]);
    });
    aggregators.forEach((aggregator, index) => {
      const { at = 0, seen = 0 } = columns.states[index] ?? {};
      if (at !== 0) named[aggregator.name] = stateColumn(parts, aggregator, at, seen);
    });
  } finally {
    arena.release();
  }
  return { ...NO_ROWS, rowCount, columns: named };
}

function keyColumn(
  parts: Parts,
  name: string,
  domain: KeyDomain,
  at: Address,
  flags: { readonly at: Address; readonly flag: number },
  pool: KeyPool | undefined,
): ColumnView {
  const { context, owner, rowCount } = parts;
  const { kernels, memory } = context;
  if (domain.kind === 'longs') {
    const { base, card, nullId } = domain;
    const nulls = nullId < 0 ? 0 : bitsWhere(parts, (start, n, out) => kernels.filterEqU32(at + start * 4, n, nullId, out));
    const values = nullId < 0 ? card : card - 1;
    return shrunk(parts, { ...numbers('LONG', 'U32', at), base, nulls, min: base, max: base + BigInt(Math.max(0, values - 1)) });
  }
  if (domain.kind === 'buckets') {
    const { boundaries } = domain;
    const starts = parts.arena.take(boundaries.length * 8);
    memory.i64(starts, boundaries.length).set(boundaries);
    const values = owner.take(Math.max(1, rowCount) * 8);
    eachBlock(parts, (start, n) => kernels.gather64(starts, at + start * 4, n, values + start * 8));
    owner.give(at);
    return { ...numbers('LONG', 'I64', values), min: boundaries[0] ?? null, max: boundaries[Math.max(0, domain.card - 1)] ?? null };
  }
  if (domain.kind === 'wide') {
    assert(domain.type === 'LONG' || domain.type === 'DOUBLE', `the wide key ${name} is a ${domain.type}`);
    return narrowNumbers(parts, domain.type, at, flags.at === 0 ? 0 : flaggedRows(parts, flags.at, flags.flag));
  }
  assert(!isNumberType(domain.type), `numbers of the key ${name} have no place`);
  const column = columnOfIds(context, pool, name, domain, memory.u32(at, rowCount).slice());
  const [frame] = packedFramesOf({ rowCount, columns: [column], keys: [] }, context.check);
  const [prepared] = prepareColumns(frame, sortByKernel(memory, kernels));
  assert(prepared !== undefined, 'a frame of one column has one');
  owner.give(at);
  return uploadColumn(toPhysical(prepared, false), rowCount, memory, (size) => owner.take(size)).view;
}

/** Bits of the rows whose flags have one set. */
function flaggedRows(parts: Parts, flags: Address, flag: number): Address {
  const { kernels, memory } = parts.context;
  const count = 2 ** WIDE_KEYS_MAX;
  const set = parts.arena.take(count / 8);
  const bits = memory.u32(set, count / 32).fill(0);
  for (let value = 0; value < count; value++)
    if (((value >>> flag) & 1) === 1) bits[value >>> 5] = (bits[value >>> 5] ?? 0) | (1 << (value & 31));
  return bitsWhere(parts, (start, n, out) => kernels.filterSetU32(flags + start * 4, n, set, out));
}

function stateColumn(parts: Parts, aggregator: AggregatorLayout, at: Address, seen: Address): ColumnView {
  const { kernels } = parts.context;
  const nulls = seen === 0 ? 0 : bitsWhere(parts, (start, n, out) => kernels.filterEqU8(seen + start, n, 0, out));
  const column = narrowNumbers(parts, aggregator.type === 'LONG' ? 'LONG' : 'DOUBLE', at, nulls);
  // A merged count of no rows is 0.
  return aggregator.aggregator.emptyIsZero === true ? { ...column, nulls: 0 } : column;
}

/** Bits of the rows that a kernel finds; 0 where it finds none. */
function bitsWhere(parts: Parts, test: (start: number, n: number, out: Address) => void): Address {
  const { context, owner, rowCount } = parts;
  const words = Math.ceil(rowCount / 64);
  const bits = owner.take(Math.max(1, words) * 8);
  eachBlock(parts, (start, n) => test(start, n, bits + start / 8));
  if (context.kernels.bitsCount(bits, words) > 0) return bits;
  owner.give(bits);
  return 0;
}

function eachBlock({ context, rowCount }: Parts, piece: (start: number, n: number) => void): void {
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    context.check();
    piece(start, Math.min(BLOCK_ROWS, rowCount - start));
  }
}

function numbers(type: 'LONG' | 'DOUBLE', physical: 'U32' | 'I64' | 'F64', values: Address): NumberColumnView {
  return { kind: 'number', type, physical, power: 0, values, base: 0n, nulls: 0, min: null, max: null, isPart: true, blockRanges: 0 };
}

/** Numbers of 64 bits, as narrow as longs are. @param at  of numbers that are `owner`'s, or another's */
export function narrowNumbers(parts: Parts, type: 'LONG' | 'DOUBLE', at: Address, nulls: Address): NumberColumnView {
  const { context, arena, owner, rowCount } = parts;
  const column = { ...numbers(type, type === 'LONG' ? 'I64' : 'F64', at), nulls };
  zeroNulls(context, column, rowCount);
  if (type === 'DOUBLE' || rowCount === 0) return column;
  const { min, max } = storedRange(context, arena, column, rowCount);
  if (max - min >= 0xffffffffn) return { ...column, min, max };
  const narrow = owner.take(rowCount * 4);
  context.kernels.joinRangeI64(at, 0n, min, Number(max - min) + 1, rowCount, narrow);
  owner.give(at);
  return shrunk(parts, { ...column, physical: 'U32', values: narrow, base: min, min, max });
}

/** Longs of 32 bits in as few as their range needs; where they are null they are 0. */
function shrunk({ context, owner, rowCount }: Parts, column: NumberColumnView): NumberColumnView {
  const { memory } = context;
  zeroNulls(context, column, rowCount);
  const span = typeof column.max === 'bigint' && typeof column.min === 'bigint' ? column.max - column.min : 0xffffffffn;
  if (span > 0xffffn) return column;
  const physical = span > 0xffn ? 'U16' : 'U8';
  const values = owner.take(Math.max(1, rowCount) * PHYSICAL_BYTES[physical]);
  const narrow = physical === 'U16' ? memory.u16(values, rowCount) : memory.u8(values, rowCount);
  narrow.set(memory.u32(column.values, rowCount));
  owner.give(column.values);
  return { ...column, physical, values };
}
