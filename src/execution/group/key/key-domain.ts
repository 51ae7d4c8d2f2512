// Values that a group key can take over all segments of a query.

import type { Interval } from '../../../base/instant.js';
import { flatMapped } from '../../../base/lists.js';
import { own } from '../../../base/names.js';
import { expressionType } from '../../../expression/expression-type.js';
import { type LongRange, longRange } from '../../../expression/long-range.js';
import type { Scalar } from '../../../expression/value.js';
import type { KernelMemory } from '../../../kernels/memory.js';
import type { VirtualColumn } from '../../../model/aggregator.js';
import { columnsReadBy } from '../../../model/columns-read.js';
import { bucketBoundaries, type Granularity } from '../../../model/granularity.js';
import type { GroupKey } from '../../../model/plan.js';
import { type ColumnType, isNumberType, type TextType, TIME_COLUMN, widestType } from '../../../model/schema.js';
import type { GlobalDictionaryView, SegmentView, StringColumnView } from '../../../storage/view.js';
import { globalTextAt, textAt } from '../../block/dictionary.js';
import { storedName, type VirtualColumns } from '../../expression/scope.js';
import { grainsOf, granularityGrain } from '../../expression/time/grains.js';
import type { KeyPool } from './key-pool.js';

/**
 * The values that a group key (or a column whose distinct values are counted) can take over all segments of a query,
 * and how tables of every thread write them: as ids below `card`, or `wide` as 64 bits of their own. Decided once per
 * query from the plan and the views, so that all threads agree.
 */
export type KeyDomain = { readonly type: ColumnType } & KeyDomainKind;

type KeyDomainKind =
  /** Datasource-wide ids; 0 is null. */
  | { readonly kind: 'dictionary'; readonly dictionary: GlobalDictionaryView; readonly card: number }
  /** The dictionary of the only segment; null is id 0, or the id after the last when the dictionary has none. */
  | { readonly kind: 'local'; readonly column: StringColumnView; readonly card: number }
  /** Buckets of `__time` by number; `boundaries` has one more. */
  | { readonly kind: 'buckets'; readonly boundaries: BigInt64Array; readonly card: number }
  /** Longs as `base` + id; null is the last id, `nullId`, or -1 where there is none. */
  | { readonly kind: 'longs'; readonly base: bigint; readonly card: number; readonly nullId: number }
  /** One value, for all rows. */
  | { readonly kind: 'constant'; readonly value: bigint | null; readonly card: 1 }
  /** Values as each thread meets them, by its `KeyPool`; 0 is null. */
  | { readonly kind: 'interned' }
  /** 64 bits: a long, or the bits of a double; null is told by a flag, where there may be any. */
  | { readonly kind: 'wide'; readonly mayBeNull: boolean };

export interface QueryColumns {
  readonly views: readonly SegmentView[];
  readonly dictionaries: Readonly<Record<string, GlobalDictionaryView>>;
  readonly virtualColumns: VirtualColumns;
  readonly intervals: readonly Interval[];
  /**
   * Rows do not come as these views but as pieces made of them, with dictionaries of their own unless `dictionaries`
   * has them. `open`: nor are these all views, they only tell the types. Left out: rows come as the views.
   */
  readonly pieces?: 'closed' | 'open' | undefined;
}

const LONGS_CARD_MAX = 1 << 20;
/** The ids of keys need no list of those that a segment has. */
const KEY_CARD_MAX = 1 << 28;
export const BUCKETS_MAX = 4_000_000;

export function keyDomain(columns: QueryColumns, key: GroupKey): KeyDomain {
  if (key.kind === 'column') return columnDomain(columns, key.column, key.type, KEY_CARD_MAX);
  const { granularity } = key;
  const [first] = columns.intervals;
  if (granularity.kind === 'all')
    return { kind: 'constant', type: 'LONG', value: first === undefined ? null : BigInt(first.start), card: 1 };
  if (granularity.kind === 'none') return columnDomain(columns, TIME_COLUMN, 'LONG', KEY_CARD_MAX);
  if (columns.pieces === 'open') return { kind: 'interned', type: 'LONG' };
  const span = dataSpan(columns);
  const rows = columns.views.reduce((sum, view) => sum + view.rowCount, 0);
  if (span !== undefined && isSparse(granularity, span, rows)) return { kind: 'wide', type: 'LONG', mayBeNull: true };
  const boundaries = span === undefined ? new BigInt64Array(2) : bucketBoundaries(granularity, span, BUCKETS_MAX);
  return { kind: 'buckets', type: 'LONG', boundaries, card: Math.max(1, boundaries.length - 1) };
}

/** Buckets that are listed however few rows there are: a list of them costs about a millisecond. */
const BUCKETS_FEW = 4096;
/** Above so many, groups are found by hash even if most buckets have rows. */
const BUCKETS_MANY = 1_000_000;

/** Whether rows are better put into buckets one by one than by a list of all buckets. */
export function isSparse(granularity: Granularity, { start, end }: Interval, rows: number): boolean {
  const buckets = (end - start) / granularityGrain(granularity).lengthMs;
  return buckets > Math.min(BUCKETS_MANY, Math.max(BUCKETS_FEW, rows));
}

/** @param cardMax  longs that lie further apart are wide */
export function columnDomain(columns: QueryColumns, column: string, type: ColumnType | null, cardMax = LONGS_CARD_MAX): KeyDomain {
  const domain = domainOverViews(columns, column, type, cardMax);
  if (columns.pieces === undefined) return domain;
  if (domain.kind === 'local') return { kind: 'interned', type: domain.type };
  return columns.pieces === 'open' && domain.kind === 'longs' ? { kind: 'wide', type: domain.type, mayBeNull: true } : domain;
}

function domainOverViews(columns: QueryColumns, column: string, type: ColumnType | null, cardMax: number): KeyDomain {
  const name = storedName(columns.virtualColumns, column);
  const stored = Object.hasOwn(columns.virtualColumns, name)
    ? undefined
    : flatMapped(columns.views, (view) => (Object.hasOwn(view.columns, name) ? [own(view.columns, name)] : []));
  const virtual = own(columns.virtualColumns, name);
  if (stored === undefined) {
    if (virtual === undefined) return { kind: 'constant', type: type ?? 'STRING', value: null, card: 1 };
    return computedDomain(columns, virtual, type, cardMax);
  }
  const types = new Set(flatMapped(stored, (view) => storedType(view)));
  const wanted = type ?? widestType(types);
  if (stored.length === 0) return { kind: 'constant', type: wanted, value: null, card: 1 };
  if (!isNumberType(wanted)) return textDomain(columns, name, types, wanted);
  const ids = wanted === 'LONG' ? longsDomain(storedRange(columns, name), cardMax) : undefined;
  return ids ?? { kind: 'wide', type: wanted, mayBeNull: mayBeNull(columns, name, wanted) };
}

/** Whether rows may have no number of a type in a stored column: strings may be none, nor doubles longs, and pieces may have rows that no segment has. */
function mayBeNull({ views, pieces }: QueryColumns, name: string, type: ColumnType): boolean {
  if (pieces !== undefined) return true;
  return views.some(({ columns }) => {
    const column = Object.hasOwn(columns, name) ? own(columns, name) : undefined;
    return column?.kind !== 'number' || column.nulls !== 0 || (type === 'LONG' && column.type !== 'LONG');
  });
}

/** Ids for a range that is not too wide. */
function longsDomain(range: LongRange | null | undefined, cardMax: number): KeyDomain | undefined {
  if (range === undefined || range === null || range.high - range.low + 2n > cardMax) return undefined;
  const values = Number(range.high - range.low) + 1;
  return { kind: 'longs', type: 'LONG', base: range.low, card: values + (range.mayBeNull ? 1 : 0), nullId: range.mayBeNull ? values : -1 };
}

/** A column of nulls alone says nothing of its type. */
function storedType(column: SegmentView['columns'][string] | undefined): ColumnType[] {
  if (column === undefined) return [];
  if (column.kind === 'number') return [column.type];
  return column.dictionary.count > (column.dictionary.hasNull ? 1 : 0) ? [column.type] : [];
}

/** Numbers are kept as they are, unless they come from runs of time, or are longs within a narrow range: then there are few. */
function computedDomain(columns: QueryColumns, virtual: VirtualColumn, wanted: ColumnType | null, cardMax: number): KeyDomain {
  const typeOf = typesOf(columns);
  const type = wanted ?? virtual.outputType ?? expressionType(virtual.expression, typeOf);
  if (!isNumberType(type)) return { kind: 'interned', type };
  // Rows that no view tells of may have nulls that none has.
  const isLong = type === 'LONG' && columns.pieces !== 'open' && expressionType(virtual.expression, typeOf) === 'LONG';
  const ids = isLong ? longsDomain(computedRange(columns, virtual, new Map()), cardMax) : undefined;
  return ids ?? (grainsOf(virtual.expression) === undefined ? { kind: 'wide', type, mayBeNull: true } : { kind: 'interned', type });
}

type Range = LongRange | null | undefined;

/** @param known  ranges of virtual columns that others may name again; each is looked for once */
function computedRange(columns: QueryColumns, { name, expression, keeps }: VirtualColumn, known: Map<string, Range>): Range {
  if (known.has(name)) return known.get(name);
  const isPlain = keeps === undefined && ![...columnsReadBy(expression)].some((each) => hasLists(columns, each));
  const rangeOf = (column: string): Range => {
    // A virtual column that names itself means the stored column of that name.
    const virtual = column !== name && Object.hasOwn(columns.virtualColumns, column) ? own(columns.virtualColumns, column) : undefined;
    if (virtual === undefined) return storedRange(columns, column);
    return virtual.outputType === null || virtual.outputType === 'LONG' ? computedRange(columns, virtual, known) : undefined;
  };
  const range = isPlain ? longRange(expression, rangeOf) : undefined;
  known.set(name, range);
  return range;
}

function hasLists({ views }: QueryColumns, name: string): boolean {
  return views.some(({ columns }) => {
    const column = Object.hasOwn(columns, name) ? own(columns, name) : undefined;
    return column?.kind === 'string' && column.offsets !== 0;
  });
}

/** Tells the widest type of columns over all segments; that of each is looked for once. */
function typesOf(columns: QueryColumns): (name: string) => ColumnType | undefined {
  const known = new Map<string, ColumnType | undefined>();
  const typeOf = (name: string): ColumnType | undefined => {
    const virtual = own(columns.virtualColumns, name);
    if (virtual === undefined) return storedTypeOf(columns, name);
    if (virtual.outputType !== null) return virtual.outputType;
    if (!known.has(name))
      known.set(
        name,
        expressionType(virtual.expression, (inner) => (inner === name ? storedTypeOf(columns, name) : typeOf(inner))),
      );
    return known.get(name);
  };
  return typeOf;
}

function storedTypeOf({ views }: QueryColumns, name: string): ColumnType | undefined {
  const types = new Set(flatMapped(views, ({ columns }) => (Object.hasOwn(columns, name) ? storedType(own(columns, name)) : [])));
  return types.size === 0 ? undefined : widestType(types);
}

function textDomain(columns: QueryColumns, name: string, types: ReadonlySet<ColumnType>, type: TextType): KeyDomain {
  const dictionary = own(columns.dictionaries, name);
  const isSame = [...types].every((each) => each === type);
  const allText = columns.views.every((view) => own(view.columns, name)?.kind !== 'number') && isSame;
  if (allText && dictionary !== undefined) return { kind: 'dictionary', type, dictionary, card: Math.max(1, dictionary.count) };
  const [view] = columns.views;
  const only = columns.views.length === 1 ? own(view?.columns, name) : undefined;
  if (only?.kind === 'string' && isSame)
    return { kind: 'local', type, column: only, card: only.dictionary.count + (only.dictionary.hasNull ? 0 : 1) };
  return { kind: 'interned', type };
}

/** Smallest and largest value of a column that all segments that have it store as narrow longs; null: it is null everywhere. */
function storedRange({ views, pieces }: QueryColumns, name: string): LongRange | null | undefined {
  let low: bigint | undefined;
  let high: bigint | undefined;
  let mayBeNull = false;
  for (const view of views) {
    const column = Object.hasOwn(view.columns, name) ? own(view.columns, name) : undefined;
    mayBeNull ||= column === undefined || (column.kind === 'number' && column.nulls !== 0);
    if (column === undefined) continue;
    if (column.kind !== 'number' || column.type !== 'LONG' || column.physical === 'I64') return undefined;
    if (typeof column.min !== 'bigint' || typeof column.max !== 'bigint') continue;
    if (low === undefined || column.min < low) low = column.min;
    if (high === undefined || column.max > high) high = column.max;
  }
  if (pieces === 'open' && mayBeNull) return undefined;
  return low === undefined || high === undefined ? null : { low, high, mayBeNull };
}

/** The part of the query's time that the segments have rows in. */
function dataSpan({ views, intervals }: QueryColumns): Interval | undefined {
  let start = Infinity;
  let end = -Infinity;
  for (const view of views) {
    if (view.rowCount === 0) continue;
    for (const interval of intervals) {
      const from = Math.max(interval.start, view.timeMin);
      const to = Math.min(interval.end, view.timeMax + 1);
      if (from >= to) continue;
      start = Math.min(start, from);
      end = Math.max(end, to);
    }
  }
  return start < end ? { start, end } : undefined;
}

/** Id that stands for null; -1 where none does. */
export function nullIdOf(domain: KeyDomain): number {
  if (domain.kind === 'local') return domain.column.dictionary.hasNull ? 0 : domain.column.dictionary.count;
  if (domain.kind === 'longs') return domain.nullId;
  return domain.kind === 'buckets' ? -1 : 0;
}

/** Value of an id of a domain; a string for types kept as strings. */
export function valueOfId(memory: KernelMemory, domain: KeyDomain, pool: KeyPool | undefined): (id: number) => Scalar {
  switch (domain.kind) {
    case 'dictionary':
      return (id) => globalTextAt(memory, domain.dictionary, id);
    case 'local': {
      const nullId = nullIdOf(domain);
      return (id) => (id === nullId ? null : textAt(memory, domain.column.dictionary, id));
    }
    case 'buckets':
      return (id) => domain.boundaries[id] ?? null;
    case 'longs':
      return (id) => (id === domain.nullId ? null : domain.base + BigInt(id));
    case 'constant':
      return () => domain.value;
    case 'interned':
    case 'wide':
      return (id) => pool?.valueOf(id) ?? null;
  }
}
