// Leaves out segments that, by the values that their chunk is divided by, hold no row a query asks for.

import { compareText } from '../../expression/ordering.js';
import { bucketOf } from '../../expression/partition-bucket.js';
import type { VisibleChunk } from '../../metadata/timeline.js';
import type { Filter } from '../../model/filter.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { HashedPart, RangePart, SegmentDescriptor } from '../../model/segment.js';
import { valuesOf } from '../../model/value-list.js';

/** Chunks without the segments that no row of the answer is in, and how many those are. */
export interface Pruned {
  readonly chunks: readonly VisibleChunk<SegmentDescriptor>[];
  readonly leftOut: number;
}

/** Keys of hashed partitions that are looked up at most; a filter that admits more leaves nothing out. */
const KEYS_LOOKED_UP_MAX = 1024;

const DIVIDED = new WeakMap<readonly VisibleChunk<SegmentDescriptor>[], boolean>();

/** Chunks as they are, the very same list, unless a filter leaves some of their segments out. */
export function pruneByPartition(chunks: readonly VisibleChunk<SegmentDescriptor>[], plan: RowsPlan): Pruned {
  const filters = isDivided(chunks) ? filtersOfStored(plan) : [];
  if (filters.length === 0) return { chunks, leftOut: 0 };
  const filter: Filter = { kind: 'and', filters };
  const wanted = new Map<string, ReadonlySet<number> | null>();
  const keeps = (segment: SegmentDescriptor): boolean => {
    const { shardSpec } = segment;
    if (shardSpec.type === 'range') return mayMatch(filter, boxOf(shardSpec, segment));
    if (shardSpec.type !== 'hashed' || shardSpec.partitionDimensions.length === 0) return true;
    if (!shardSpec.partitionDimensions.every((name) => isPlainString(segment, name))) return true;
    const name = JSON.stringify([shardSpec.numBuckets, shardSpec.partitionDimensions]);
    let buckets = wanted.get(name);
    if (buckets === undefined) {
      buckets = bucketsWanted(filter, shardSpec);
      wanted.set(name, buckets);
    }
    return buckets === null || buckets.has(shardSpec.bucketId);
  };
  let leftOut = 0;
  const kept = chunks.flatMap((chunk) => {
    const segments = chunk.segments.filter(keeps);
    leftOut += chunk.segments.length - segments.length;
    if (segments.length === chunk.segments.length) return [chunk];
    return segments.length === 0 ? [] : [{ ...chunk, segments }];
  });
  return leftOut === 0 ? { chunks, leftOut } : { chunks: kept, leftOut };
}

function isDivided(chunks: readonly VisibleChunk<SegmentDescriptor>[]): boolean {
  let divided = DIVIDED.get(chunks);
  if (divided === undefined) {
    divided = chunks.some(({ segments }) => segments.some(({ shardSpec }) => shardSpec.type !== 'numbered'));
    DIVIDED.set(chunks, divided);
  }
  return divided;
}

/** Filters over the stored rows, all of which a row of the answer passes. */
function filtersOfStored({ filter, stages = [], virtualColumns }: RowsPlan): readonly Filter[] {
  const computed = new Set(virtualColumns.map(({ name }) => name));
  const filters: Filter[] = [];
  for (const stage of stages) {
    // Later stages may see columns of other rows under the same names.
    if (stage.kind !== 'filter') return filters;
    filters.push(overStored(stage.filter, computed));
  }
  if (filter !== null) filters.push(overStored(filter, computed));
  return filters;
}

/** The filter with all that it says of computed columns taken for possible. */
function overStored(filter: Filter, computed: ReadonlySet<string>): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, filters: filter.filters.map((each) => overStored(each, computed)) };
    case 'isTrue':
      return overStored(filter.filter, computed);
    case 'null':
    case 'equals':
    case 'in':
    case 'range':
    case 'like':
      return computed.has(filter.column) ? { kind: 'true' } : filter;
    case 'not':
    case 'expression':
      return { kind: 'true' };
    default:
      return filter;
  }
}

/** Values that a column has in a segment. */
interface Bounds {
  /** Inclusive; undefined: none. */
  readonly lower: string | null | undefined;
  readonly upper: string | null | undefined;
  readonly upperStrict: boolean;
}

/**
 * Bounds of the columns in a part. Keys are compared column by column, so a column is bound as long as those before it
 * have one value only.
 */
function boxOf({ dimensions, start, end }: RangePart, segment: SegmentDescriptor): ReadonlyMap<string, Bounds> {
  const box = new Map<string, Bounds>();
  for (const [at, name] of dimensions.entries()) {
    const [lower, upper] = [start?.[at], end?.[at]];
    if (isPlainString(segment, name)) box.set(name, { lower, upper, upperStrict: at === dimensions.length - 1 });
    if (lower === undefined || lower !== upper) break;
  }
  return box;
}

/** A column of single strings, or none, which is null everywhere: values of other types are compared in other ways. */
function isPlainString({ columns }: SegmentDescriptor, name: string): boolean {
  const column = columns.find((each) => each.name === name);
  return column === undefined || (column.type === 'STRING' && !column.multiValue);
}

function mayMatch(filter: Filter, box: ReadonlyMap<string, Bounds>): boolean {
  switch (filter.kind) {
    case 'false':
      return false;
    case 'and':
      return filter.filters.every((each) => mayMatch(each, box));
    case 'or':
      return filter.filters.some((each) => mayMatch(each, box));
    case 'null':
      return holds(box.get(filter.column), null);
    case 'equals':
      return filter.type !== 'STRING' || holds(box.get(filter.column), filter.value);
    case 'in': {
      const bounds = box.get(filter.column);
      return filter.type !== 'STRING' || bounds === undefined || valuesOf(filter.values).some((value) => holds(bounds, value));
    }
    case 'range': {
      const bounds = box.get(filter.column);
      if (bounds === undefined || filter.type !== 'STRING' || filter.ordering !== 'lexicographic') return true;
      const { lower, upper } = filter;
      const isBelow = typeof upper === 'string' && typeof bounds.lower === 'string' && after(bounds.lower, upper, filter.upperStrict);
      const isAbove =
        typeof lower === 'string' &&
        bounds.upper !== undefined &&
        (bounds.upper === null || after(lower, bounds.upper, bounds.upperStrict || filter.lowerStrict));
      return !isBelow && !isAbove;
    }
    default:
      return true;
  }
}

const after = (a: string, b: string, orEqual: boolean): boolean => compareText(a, b) > (orEqual ? -1 : 0);

function holds(bounds: Bounds | undefined, value: unknown): boolean {
  if (bounds === undefined || (value !== null && typeof value !== 'string')) return true;
  const { lower, upper, upperStrict } = bounds;
  if (lower !== undefined && compareKeys(value, lower) < 0) return false;
  return upper === undefined || compareKeys(value, upper) < (upperStrict ? 0 : 1);
}

/** Nulls come before all strings. */
function compareKeys(a: string | null, b: string | null): number {
  if (a === null || b === null) return (a === null ? 0 : 1) - (b === null ? 0 : 1);
  return compareText(a, b);
}

/** Buckets of the keys that a filter admits; null: of any. */
function bucketsWanted(filter: Filter, { partitionDimensions, numBuckets }: HashedPart): ReadonlySet<number> | null {
  let keys: (string | null)[][] = [[]];
  for (const name of partitionDimensions) {
    const values = valuesWanted(filter, name);
    if (values === null || values.size * keys.length > KEYS_LOOKED_UP_MAX) return null;
    keys = keys.flatMap((key) => [...values].map((value) => [...key, value]));
  }
  return new Set(keys.map((key) => bucketOf(key, numBuckets)));
}

/** Values of a column that may pass a filter; null: any. */
function valuesWanted(filter: Filter, name: string): ReadonlySet<string | null> | null {
  switch (filter.kind) {
    case 'false':
      return new Set();
    case 'and': {
      const [first, ...others] = filter.filters.flatMap((each) => valuesWanted(each, name) ?? []);
      return first === undefined ? null : new Set([...first].filter((value) => others.every((other) => other.has(value))));
    }
    case 'or': {
      const sets = filter.filters.map((each) => valuesWanted(each, name));
      return sets.includes(null) ? null : new Set(sets.flatMap((each) => [...(each ?? [])]));
    }
    case 'null':
      return filter.column === name ? new Set([null]) : null;
    case 'equals':
      return filter.column === name && filter.type === 'STRING' && typeof filter.value === 'string' ? new Set([filter.value]) : null;
    case 'in': {
      if (filter.column !== name || filter.type !== 'STRING' || filter.values.length > KEYS_LOOKED_UP_MAX) return null;
      const values = valuesOf(filter.values);
      return values.every((value) => value === null || typeof value === 'string') ? new Set(values as readonly (string | null)[]) : null;
    }
    default:
      return null;
  }
}
