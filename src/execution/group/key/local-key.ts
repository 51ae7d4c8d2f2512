// Binds a group key to one segment.

import { assert, ServiceError } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../../base/layout.js';
import { own } from '../../../base/names.js';
import { convert, type Scalar } from '../../../expression/value.js';
import { bucketBoundaries, type Granularity } from '../../../model/granularity.js';
import type { GroupKey } from '../../../model/plan.js';
import { type ColumnType, isTextType, TIME_COLUMN } from '../../../model/schema.js';
import type { NumberColumnView, StringColumnView } from '../../../storage/view.js';
import { type Block, kernelFor } from '../../block/context.js';
import { textsWithoutTable } from '../../block/interned-texts.js';
import { asTexts } from '../../expression/cast-texts.js';
import { asFloats, asNumbers, asText, numbersAsText } from '../../expression/convert.js';
import { type SegmentScope, type Source, storedName } from '../../expression/scope.js';
import { entryTexts } from '../../expression/text/text-entries.js';
import { flooredInstants } from '../../expression/time/call.js';
import { timeFunction } from '../../expression/time/function.js';
import { bucketRuns, type Runs } from '../../expression/time/runs.js';
import { type NumberVector, oncePerBlock, type StringVector, storedNumbers } from '../../expression/vector.js';
import { BUCKETS_MAX, isSparse, type KeyDomain, type QueryColumns } from './key-domain.js';
import type { KeyPool } from './key-pool.js';

/** A group key (or a column to count distinct values of) bound to one segment. */
export type LocalKey = {
  /** Local ids are below it; Infinity when that is known only after the last row. */
  readonly card: number;
  /** u32[card]: local id → id in the domain, made when the segment is through; 0 when they are the same. */
  readonly toGlobal: (pool: KeyPool) => Address;
  /** Distance of every local id from its id in the domain, in place of `toGlobal` for who can add. */
  readonly shift?: number;
  /** Bytes of the values that `toGlobal` adds to a pool and that are not in the segment's arena; absent for none. */
  readonly valueBytes?: number;
  /** Number of values that `toGlobal` adds to a pool; absent for none, or few. */
  readonly valueCount?: number;
} & LocalValues;

type LocalValues =
  /** Local id 0 for every row; a wide domain reads it as null. */
  | { readonly kind: 'constant' }
  /** `usesAll`: every id below `card` is that of some row, as in a segment's own dictionary. */
  | { readonly kind: 'ids'; readonly physical: 'U8' | 'U16' | 'U32'; readonly at: (block: Block) => Address; readonly usesAll: boolean }
  | { readonly kind: 'multi'; readonly column: StringColumnView; readonly nullId: number }
  | { readonly kind: 'runs'; readonly runs: Runs }
  | { readonly kind: 'numbers'; readonly vector: NumberVector };

export function bindGroupKey(scope: SegmentScope, key: GroupKey, domain: KeyDomain, columns: QueryColumns): LocalKey {
  if (key.kind === 'column') return bindColumn(scope, key.column, domain, columns);
  if (domain.kind === 'constant') return constantKey();
  if (key.granularity.kind !== 'none') {
    if (domain.kind === 'interned') return bucketStarts(scope, key.granularity);
    if (domain.kind === 'wide') return wideKey(flooredTime(scope, key.granularity));
  }
  return bindColumn(scope, TIME_COLUMN, domain, columns);
}

export function bindColumn(scope: SegmentScope, column: string, domain: KeyDomain, columns: QueryColumns): LocalKey {
  const name = storedName(columns.virtualColumns, column);
  switch (domain.kind) {
    case 'constant':
      return constantKey();
    case 'buckets':
      return bucketKey(scope, domain);
    case 'dictionary': {
      const source = scope.source(name);
      if (source.kind !== 'string') return internedKey(scope, [null]);
      const { queryIds, id } = scope.view;
      const remap = queryIds === undefined ? own(domain.dictionary.remaps, id) : own(queryIds, name);
      assert(remap !== undefined, `no ids of segment ${id} for column ${name}`);
      return storedTextKey(scope, source.column, () => remap);
    }
    case 'local': {
      // The rows may be some of the column's, with the same ids.
      const source = scope.source(name);
      return storedTextKey(scope, source.kind === 'string' ? source.column : domain.column, () => 0);
    }
    case 'longs':
      return longsKey(scope, scope.source(name), domain);
    case 'wide': {
      const vector = asNumbers(scope, scope.source(name), domain.type === 'LONG' ? 'LONG' : 'DOUBLE');
      return wideKey(vector === undefined || domain.type !== 'FLOAT' ? vector : asFloats(scope, vector));
    }
    case 'interned':
      return internedColumn(scope, name, domain.type);
  }
}

/** Bytes of a string in a pool, besides its own. */
const ENTRY_BYTES = 16;

function internedColumn(scope: SegmentScope, name: string, type: ColumnType): LocalKey {
  const source = scope.source(name);
  if (source.kind === 'missing') return internedKey(scope, [null]);
  const isSame = !isTextType(type) || scope.typeOf(name) === type;
  if (!isSame && source.kind !== 'computed') return computedTextKey(scope, asTexts(scope, source, type));
  if (source.kind === 'string') {
    const { column } = source;
    const { count, offsets } = column.dictionary;
    const add = (pool: KeyPool): Address => pool.add(scope, { kind: 'texts', ...textsWithoutTable(entryTexts(scope, column), count) });
    const valueBytes = count * ENTRY_BYTES + (count === 0 ? 0 : (scope.context.memory.u32(offsets + count * 4, 1)[0] ?? 0));
    return { ...storedTextKey(scope, column, add), valueBytes, valueCount: count };
  }
  const overTime = source.kind === 'computed' ? timeFunction(scope, source.expression, source.vector.type) : undefined;
  if (overTime !== undefined)
    return { kind: 'runs', runs: overTime.runs, card: overTime.values.length, toGlobal: (pool) => internIds(scope, pool, overTime.values) };
  // Numbers that change too often to be runs: told apart by their texts, kept as what they are.
  return isTextType(type)
    ? computedTextKey(scope, asTexts(scope, source, type))
    : computedTextKey(scope, asText(scope, source), (text) => convert(text, type));
}

function wideKey(vector: NumberVector | undefined): LocalKey {
  return vector === undefined ? constantKey() : { kind: 'numbers', vector, card: Infinity, toGlobal: () => 0 };
}

/** The start of the bucket of each row; undefined where rows have no time. */
function flooredTime(scope: SegmentScope, granularity: Granularity): NumberVector | undefined {
  const times = asNumbers(scope, scope.source(TIME_COLUMN), 'LONG');
  return times === undefined ? undefined : flooredInstants(scope, times, granularity);
}

function constantKey(): LocalKey {
  return { kind: 'constant', card: 1, toGlobal: () => 0 };
}

function internedKey(scope: SegmentScope, values: readonly (string | null)[]): LocalKey {
  return { kind: 'constant', card: 1, toGlobal: (pool) => internIds(scope, pool, values) };
}

function bucketKey(scope: SegmentScope, domain: Extract<KeyDomain, { kind: 'buckets' }>): LocalKey {
  const source = scope.source(TIME_COLUMN);
  if (source.kind !== 'number') throw new ServiceError('unsupported', 'grouping by time needs rows that have a __time column');
  const { runs, first, card } = bucketRuns(scope, source.column, domain.boundaries);
  return { kind: 'runs', runs, card, toGlobal: () => (first === 0 ? 0 : ascending(scope, card, first)) };
}

/** Buckets by their start, where nobody knows yet which there will be; rows without a time are of none. */
function bucketStarts(scope: SegmentScope, granularity: Granularity): LocalKey {
  const source = scope.source(TIME_COLUMN);
  if (source.kind !== 'number') return internedKey(scope, [null]);
  const { timeMin, timeMax, rowCount } = scope.view;
  const span = { start: timeMin, end: timeMax + 1 };
  const floored = isSparse(granularity, span, rowCount) ? flooredTime(scope, granularity) : undefined;
  if (floored !== undefined) return computedTextKey(scope, numbersAsText(scope, floored), (text) => convert(text, 'LONG'));
  const boundaries = bucketBoundaries(granularity, span, BUCKETS_MAX);
  const { runs, first, card } = bucketRuns(scope, source.column, boundaries);
  return { kind: 'runs', runs, card, toGlobal: (pool) => internIds(scope, pool, [...boundaries.subarray(first, first + card)]) };
}

function storedTextKey(scope: SegmentScope, column: StringColumnView, remap: (pool: KeyPool) => Address): LocalKey {
  const { count, hasNull } = column.dictionary;
  if (column.offsets === 0) {
    const bytes = PHYSICAL_BYTES[column.physical];
    return {
      kind: 'ids',
      physical: column.physical,
      at: (block) => column.ids + block.start * bytes,
      usesAll: column.isPart !== true,
      card: Math.max(1, count),
      toGlobal: remap,
    };
  }
  if (hasNull) return { kind: 'multi', column, nullId: 0, card: count, toGlobal: remap };
  // Rows without values need an id although the dictionary has none for null.
  const withNull = (pool: KeyPool): Address => {
    const source = remap(pool);
    if (source === 0) return 0;
    const { memory } = scope.context;
    const at = scope.arena.take((count + 1) * 4);
    memory.u32(at, count).set(memory.u32(source, count));
    memory.u32(at + count * 4, 1)[0] = 0;
    return at;
  };
  return { kind: 'multi', column, nullId: count, card: count + 1, toGlobal: withNull };
}

function longsKey(scope: SegmentScope, source: Source, domain: Extract<KeyDomain, { kind: 'longs' }>): LocalKey {
  if (source.kind === 'number') return storedLongs(scope, source.column, domain);
  const overTime = source.kind === 'computed' ? timeFunction(scope, source.expression, source.vector.type) : undefined;
  if (overTime !== undefined) return longsOverTime(scope, overTime, domain);
  const vector = asNumbers(scope, source, 'LONG');
  return vector === undefined ? constantId(scope, domain.nullId) : computedLongs(scope, vector, domain);
}

function longsOverTime(
  scope: SegmentScope,
  { runs, values }: NonNullable<ReturnType<typeof timeFunction>>,
  { base, nullId }: Extract<KeyDomain, { kind: 'longs' }>,
): LocalKey {
  const toGlobal = (): Address => {
    const ids = scope.arena.take(Math.max(1, values.length) * 4);
    scope.context.memory.u32(ids, values.length).set(values.map((value) => (value === null ? nullId : Number(BigInt(value) - base))));
    return ids;
  };
  return { kind: 'runs', runs, card: values.length, toGlobal };
}

/** Ids of a segment of its own, among which null has one, are as many as this at most: each has a place in a list of the ids of the domain. */
const OWN_IDS_MAX = 1 << 16;

function storedLongs(scope: SegmentScope, column: NumberColumnView, domain: Extract<KeyDomain, { kind: 'longs' }>): LocalKey {
  const { base, nullId } = domain;
  const { physical, values } = column;
  assert(physical === 'U8' || physical === 'U16' || physical === 'U32', `longs are not narrow: ${physical}`);
  const bytes = PHYSICAL_BYTES[physical];
  const count = typeof column.max === 'bigint' ? Number(column.max - column.base) + 1 : 1;
  const shift = Number(column.base - base);
  const at = (block: Block): Address => values + block.start * bytes;
  if (column.nulls === 0 || nullId < 0)
    return {
      kind: 'ids',
      physical,
      at,
      usesAll: false,
      card: count,
      toGlobal: () => (shift === 0 ? 0 : ascending(scope, count, shift)),
      shift,
    };
  if (count >= OWN_IDS_MAX) return computedLongs(scope, storedNumbers(scope, column), domain);
  // Null is the id after the last.
  const { arena, context } = scope;
  const keyDense = kernelFor(context.kernels, 'keyDense', physical);
  const mend = nullIds(scope, count);
  const ids = arena.take(BLOCK_ROWS * 4);
  const run = oncePerBlock((block) => {
    keyDense(at(block), 0, block.rows, 1, 0, ids);
    mend(block, column.nulls + block.start / 8, ids);
  });
  const toGlobal = (): Address => {
    const remap = ascending(scope, count + 1, shift);
    context.memory.u32(remap + count * 4, 1)[0] = nullId;
    return remap;
  };
  return { kind: 'ids', physical: 'U32', at: afterRun(run, ids), usesAll: false, card: count + 1, toGlobal };
}

/** Their own ids in the domain, whose bounds they keep. */
function computedLongs(scope: SegmentScope, vector: NumberVector, { base, card, nullId }: Extract<KeyDomain, { kind: 'longs' }>): LocalKey {
  const { arena, context, view } = scope;
  const { kernels, memory } = context;
  assert(vector.physical !== 'F32' && vector.physical !== 'F64', 'longs were computed as doubles');
  const toI64 = kernelFor(kernels, 'toI64', vector.physical);
  const [wide, ids] = [arena.take(BLOCK_ROWS * 8), arena.take(BLOCK_ROWS * 4)];
  const lowHalves = arena.take(BLOCK_ROWS * 4);
  const halves = memory.u32(lowHalves, Math.min(BLOCK_ROWS, view.rowCount));
  for (let row = 0; row < halves.length; row++) halves[row] = row * 2;
  const mend = nullIds(scope, Math.max(0, nullId));
  const run = oncePerBlock((block) => {
    toI64(vector.values(block), 0, block.rows, vector.base - base, wide);
    kernels.gather32(wide, lowHalves, block.rows, ids);
    mend(block, vector.nulls(block), ids);
  });
  return { kind: 'ids', physical: 'U32', at: afterRun(run, ids), usesAll: false, card, toGlobal: () => 0 };
}

/** Puts an id in the place of those of rows whose bit is set. */
function nullIds({ arena, context: { kernels, memory } }: SegmentScope, id: number): (block: Block, nulls: Address, ids: Address) => void {
  const nullId = arena.take(4);
  memory.u32(nullId, 1)[0] = id;
  return (block, nulls, ids) => {
    if (nulls !== 0) kernels.choose32(nulls, nullId, 1, ids, 0, block.rows, ids);
  };
}

function afterRun(run: (block: Block) => void, ids: Address): (block: Block) => Address {
  return (block) => {
    run(block);
    return ids;
  };
}

/** One id of the domain for every row. */
function constantId(scope: SegmentScope, id: number): LocalKey {
  return { kind: 'constant', card: 1, toGlobal: () => ascending(scope, 1, id) };
}

/** `valueOf`: what is kept in the pool for a text; undefined: the text. */
function computedTextKey(scope: SegmentScope, vector: StringVector, valueOf?: (text: string | null) => Scalar): LocalKey {
  const card = vector.complete ? vector.pool.count : Infinity;
  return {
    kind: 'ids',
    physical: 'U32',
    at: (block) => vector.ids(block),
    usesAll: false,
    card,
    get valueBytes() {
      return vector.pool.bytes ?? 0;
    },
    get valueCount() {
      return vector.pool.count;
    },
    toGlobal(pool) {
      const texts = vector.pool;
      if (valueOf === undefined && texts.interned !== undefined)
        return pool.add(scope, { kind: 'texts', ...texts.interned }, (regions) => scope.arena.letGoAll(regions));
      return internIds(scope, pool, valueOf === undefined ? texts.values : texts.values.map(valueOf));
    },
  };
}

function internIds(scope: SegmentScope, pool: KeyPool, values: readonly Scalar[]): Address {
  return pool.add(scope, { kind: 'values', values });
}

function ascending(scope: SegmentScope, card: number, first: number): Address {
  const at = scope.arena.take(card * 4);
  const ids = scope.context.memory.u32(at, card);
  for (let id = 0; id < card; id++) ids[id] = first + id;
  return at;
}
