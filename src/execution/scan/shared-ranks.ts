// Ranks by which rows of different segments are compared.

import { BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { SortKey } from '../../model/plan.js';
import type { ColumnView, GlobalDictionaryView, NumberColumnView, SegmentView, StringColumnView } from '../../storage/view.js';
import { kernelFor } from '../block/context.js';
import type { SegmentData } from '../block/segment-data.js';
import { type SegmentScope, storedName, type VirtualColumns } from '../expression/scope.js';
import { storedNumbers } from '../expression/vector.js';
import {
  doubleRank,
  NULL_FIRST,
  NULL_LAST,
  RANKS_MAX,
  type RankedLongs,
  type Ranks,
  rankOfLongs,
  type WrittenRank,
  writerOf,
} from './rank.js';
import type { TopRows } from './top-rows.js';

/** Sort keys as one rank, which is the same for the same values in all segments. */
export interface SharedRanks {
  /** Ranks are from 0 on, below it; undefined: any i64. */
  readonly count: bigint | undefined;
  /** Whether rows of one rank are equal in all keys. */
  readonly isExact: boolean;
  bind(scope: SegmentScope): Pick<Ranks, 'write'>;
  /** A rank below which no row of a segment has one; undefined where none is known. */
  lowest(view: SegmentView): bigint | undefined;
  /** The ranks that rows of a segment can have; undefined where they are many, or not known. */
  ranksIn(view: SegmentView, memory: KernelMemory): Uint32Array | undefined;
}

/** Strings of a segment that are looked at one by one. */
const LISTED_MAX = 1 << 14;

/** Segments with their shared dictionaries, and what the names of a plan mean in them. */
export interface SharedSegments extends SegmentData {
  readonly virtualColumns: VirtualColumns;
}

type BoundRank = Omit<WrittenRank, 'count'>;

interface SharedKey {
  readonly count: bigint | undefined;
  readonly isExact: boolean;
  bind(scope: SegmentScope): BoundRank;
  lowest(view: SegmentView): bigint | undefined;
  ranksIn?(view: SegmentView, memory: KernelMemory): Uint32Array | undefined;
}

/**
 * Ranks by the first sort keys, as many as fit into a long.
 * @param isOrdered  false: only whether rows are alike is asked, for which strings have ranks too
 * @returns undefined when the first key has no such ranks
 */
export function sharedRanks(segments: SharedSegments, keys: TopRows['keys'], isOrdered: boolean): SharedRanks | undefined {
  const parts: SharedKey[] = [];
  let count: bigint | undefined = 1n;
  let isExact = true;
  for (const key of keys) {
    const part = sharedKey(segments, key, isOrdered);
    const fits = parts.length === 0 || (part?.count !== undefined && count !== undefined && count * part.count <= RANKS_MAX);
    if (part === undefined || !fits) {
      isExact = false;
      break;
    }
    parts.push(part);
    isExact &&= part.isExact;
    count = count === undefined || part.count === undefined ? undefined : count * part.count;
  }
  const [first] = parts;
  if (first === undefined) return keys.length === 0 ? NO_KEYS : undefined;
  const stride = count === undefined || first.count === undefined ? 1n : count / first.count;
  return {
    count,
    isExact,
    bind: (scope) => {
      const ranks = parts.map((part): WrittenRank => ({ ...part.bind(scope), count: part.count }));
      return { write: writerOf(scope, ranks) };
    },
    lowest: (view) => {
      const lowest = first.lowest(view);
      return lowest === undefined ? undefined : lowest * stride;
    },
    ranksIn: (view, memory) => (keys.length === 1 ? first.ranksIn?.(view, memory) : undefined),
  };
}

/** All rows are alike. */
const NO_KEYS: SharedRanks = {
  count: 1n,
  isExact: true,
  bind: (scope) => constantRank(scope, 0n),
  lowest: () => 0n,
  ranksIn: () => Uint32Array.of(0),
};

function sharedKey(segments: SharedSegments, { key, type }: TopRows['keys'][number], isOrdered: boolean): SharedKey | undefined {
  const { virtualColumns, views } = segments;
  const name = storedName(virtualColumns, key.column);
  if (Object.hasOwn(virtualColumns, name)) return undefined;
  switch (type) {
    case 'STRING':
      return isOrdered ? undefined : sharedStrings(segments, name);
    case 'LONG': {
      const longs = longsOf(views, name);
      return longs === undefined ? undefined : sharedLongs(key, name, longs);
    }
    case 'DOUBLE':
    case 'FLOAT':
      if (!views.every((view) => isMissingOr(columnOf(view, name), (column) => column.kind === 'number' && column.type === type)))
        return undefined;
      return {
        count: undefined,
        isExact: true,
        bind: (scope) =>
          overNumbers(scope, name, nullRank(key, undefined), (column) => doubleRank(scope, key, storedNumbers(scope, column))),
        lowest: () => undefined,
      };
    default:
      return undefined;
  }
}

function columnOf({ columns }: SegmentView, name: string): ColumnView | undefined {
  return Object.hasOwn(columns, name) ? own(columns, name) : undefined;
}

function isMissingOr(column: ColumnView | undefined, test: (column: ColumnView) => boolean): boolean {
  return column === undefined || test(column);
}

/** The longs of all segments; undefined where some keep something else. */
function longsOf(views: readonly SegmentView[], name: string): RankedLongs | undefined {
  let [low, high]: [bigint | undefined, bigint | undefined] = [undefined, undefined];
  let mayBeNull = false;
  for (const view of views) {
    const column = columnOf(view, name);
    mayBeNull ||= column === undefined || (column.kind === 'number' && column.nulls !== 0);
    if (column === undefined) continue;
    if (column.kind !== 'number' || column.type !== 'LONG') return undefined;
    const { min, max } = column;
    if (typeof min !== 'bigint' || typeof max !== 'bigint') continue;
    if (low === undefined || min < low) low = min;
    if (high === undefined || max > high) high = max;
  }
  const [lowest, highest] = [low ?? 0n, high ?? 0n];
  const width = highest - lowest + 1n;
  return { span: width < RANKS_MAX ? { lowest, width } : undefined, mayBeNull };
}

function sharedLongs(key: SortKey, name: string, longs: RankedLongs): SharedKey {
  const { span, mayBeNull } = longs;
  const { descending, nulls } = key;
  const ofNull = nullRank(key, span);
  return {
    count: span === undefined ? undefined : span.width + (mayBeNull ? 1n : 0n),
    isExact: span !== undefined || !mayBeNull,
    bind: (scope) => overNumbers(scope, name, ofNull, (column) => rankOfLongs(scope, key, storedNumbers(scope, column), longs)),
    lowest(view) {
      const column = columnOf(view, name);
      if (span === undefined || column?.kind !== 'number') return span === undefined ? undefined : ofNull;
      const { min, max } = column;
      if (typeof min !== 'bigint' || typeof max !== 'bigint' || (column.nulls !== 0 && nulls === 'first')) return 0n;
      const shift = mayBeNull && nulls === 'first' ? 1n : 0n;
      return shift + (descending ? span.lowest + span.width - 1n - max : min - span.lowest);
    },
  };
}

function nullRank({ nulls }: SortKey, span: RankedLongs['span']): bigint {
  if (nulls === 'first') return span === undefined ? NULL_FIRST : 0n;
  return span === undefined ? NULL_LAST : span.width;
}

/** The ranks of a column of numbers, or that of null where a segment has none. */
function overNumbers(scope: SegmentScope, name: string, ofNull: bigint, rank: (column: NumberColumnView) => BoundRank): BoundRank {
  const column = columnOf(scope.view, name);
  return column?.kind === 'number' ? rank(column) : constantRank(scope, ofNull);
}

function constantRank({ context: { memory } }: SegmentScope, rank: bigint): BoundRank {
  return { offset: 0n, sign: 1n, write: (_, __, n, out) => void memory.i64(out, n).fill(rank) };
}

/** Strings by their ids in a dictionary that all segments share; undefined where there is none. */
function sharedStrings({ dictionaries, views }: SharedSegments, name: string): SharedKey | undefined {
  const [only, ...others] = views;
  const single = others.length === 0 && only !== undefined ? columnOf(only, name) : undefined;
  // The ids of a segment alone are its own.
  const dictionary = own(dictionaries, name) ?? (single?.kind === 'string' ? ownDictionary(only, single) : undefined);
  if (dictionary === undefined) return undefined;
  const { count, remaps } = dictionary;
  const hasIds = (view: SegmentView, column: ColumnView): boolean =>
    column.kind === 'string' && column.type === 'STRING' && column.offsets === 0 && own(remaps, view.id) !== undefined;
  if (!views.every((view) => isMissingOr(columnOf(view, name), (column) => hasIds(view, column)))) return undefined;
  return {
    count: BigInt(Math.max(1, count)),
    isExact: true,
    lowest: () => undefined,
    ranksIn(view, memory) {
      const column = columnOf(view, name);
      const remap = own(remaps, view.id) ?? 0;
      if (column?.kind !== 'string') return Uint32Array.of(0);
      const ids = column.dictionary.count;
      return ids > LISTED_MAX || remap === 0 ? undefined : memory.u32(remap, ids).slice();
    },
    bind(scope) {
      const { arena, context, view } = scope;
      const column = columnOf(view, name);
      if (column?.kind !== 'string') return constantRank(scope, 0n);
      const remap = own(remaps, view.id) ?? 0;
      const { physical } = column;
      const [keyDense, bytes] = [kernelFor(context.kernels, 'keyDense', physical), PHYSICAL_BYTES[physical]];
      const [local, shared] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
      return {
        ...constantRank(scope, 0n),
        write(block, rows, n, out) {
          keyDense(column.ids + block.start * bytes, rows, n, 1, 0, local);
          if (remap !== 0) context.kernels.gather32(remap, local, n, shared);
          context.kernels.toI64U32(remap === 0 ? local : shared, 0, n, 0n, out);
        },
      };
    },
  };
}

function ownDictionary(view: SegmentView | undefined, { dictionary }: StringColumnView): Pick<GlobalDictionaryView, 'count' | 'remaps'> {
  return { count: dictionary.count, remaps: Object.fromEntries([[view?.id ?? '', 0]]) };
}
