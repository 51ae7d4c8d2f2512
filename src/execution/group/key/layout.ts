// Layout of a grouping: how its keys are packed and where its states lie.

import { assert } from '../../../base/errors.js';
import { own } from '../../../base/names.js';
import type { Aggregator, DistinctFold } from '../../../model/aggregator.js';
import type { GroupPlan } from '../../../model/plan.js';
import type { ColumnType } from '../../../model/schema.js';
import { stateOperations } from '../../aggregate-state/operations.js';
import type { StateOperations } from '../../aggregate-state/state-operations.js';
import { virtualColumnsByName } from '../../expression/scope.js';
import { columnDomain, type KeyDomain, keyDomain, type QueryColumns } from './key-domain.js';

/** An aggregator, and what its column is when no rows took part: of merged counts 0 rather than null. */
export type GroupAggregator = Aggregator & { readonly emptyIsZero?: boolean };

/** Layout of a group plan's state over given segments; the same on every thread. */
export interface GroupLayout {
  readonly plan: GroupPlan;
  readonly columns: QueryColumns;
  readonly keys: readonly KeyLayout[];
  readonly aggregators: readonly AggregatorLayout[];
  readonly indexLayout: IndexLayout;
  /** About which part of the rows the filter lets pass: 1 where that is not known. */
  readonly passing: number;
  /** Whether the groups leave the table part by part: few of them, or as columns. */
  readonly endsInParts: boolean;
}

export interface KeyLayout {
  readonly name: string;
  readonly domain: KeyDomain;
}

export type AggregatorLayout = { readonly name: string; readonly aggregator: GroupAggregator; readonly type: ColumnType } & (
  | { readonly kind: 'count' }
  /** `nullable`: a group may have rows of which none took part. */
  | { readonly kind: 'sum' | 'min' | 'max'; readonly state: 'I64' | 'F64'; readonly nullable: boolean }
  | { readonly kind: 'distinct'; readonly domain: KeyDomain; readonly store: DistinctStore; readonly fold: DistinctFold | undefined }
  | { readonly kind: 'state'; readonly states: StateOperations<unknown> }
);

/** Store of a group's distinct values: a bit per group and id, or a set of pairs (group, value). */
type DistinctStore = { readonly kind: 'bits'; readonly bitsPerGroup: number } | { readonly kind: 'pairs'; readonly words: 1 | 2 };

/**
 * `dense`: the number of a group is the sum of its key ids times their strides. `hash`: groups are numbered as they
 * appear; a key is packed into `words` u64: ids take halves of words, wide values words, and the null flags of those that may be null the last.
 */
export type IndexLayout =
  | { readonly kind: 'dense'; readonly strides: readonly number[]; readonly cells: number }
  | { readonly kind: 'hash'; readonly words: number; readonly places: readonly KeyPlace[]; readonly flagWord: number | null };

export type KeyPlace =
  | { readonly kind: 'none' }
  | { readonly kind: 'half'; readonly word: number; readonly shift: 0 | 32 }
  | { readonly kind: 'word'; readonly word: number; readonly flag: number | null };

const DENSE_CELLS_MAX = 1 << 22;
/** More cells than that pay where most rows, or every other one, may have a group of their own. */
const DENSE_CELLS_MANY = 1 << 24;
const CELLS_PER_ROW = 2;
/** A table of so many cells is cleared in no time, and one of so many for each row costs as much to clear as a hash of the rows. */
export const DENSE_CELLS_FEW = 1 << 16;
export const CELLS_PER_PASSING = 16;
/** A state, and whether some row took part in it. */
const STATE_BYTES = 9;
const DISTINCT_BITS_MAX = 1 << 26;

/**
 * @param groupBytesMax  what a table may hold: one that has a cell for every possible group takes at most half of it
 * @param passingPart    estimates which part of the rows the filter lets pass, where that may decide
 */
export function layoutGroups(plan: GroupPlan, columns: QueryColumns, groupBytesMax: number, passingPart = (): number => 1): GroupLayout {
  const keys = plan.keys.map((key): KeyLayout => ({ name: key.name, domain: keyDomain(columns, key) }));
  const cellBytes = 1 + plan.aggregators.length * STATE_BYTES;
  const rows = columns.views.reduce((sum, { rowCount }) => sum + rowCount, 0);
  const isWhole = plan.filter === null && columns.pieces === undefined;
  const cells = keys.reduce(
    (product, { domain }) => product * (domain.kind === 'interned' || domain.kind === 'wide' ? Infinity : domain.card),
    1,
  );
  const passing = cells > DENSE_CELLS_FEW && Number.isFinite(cells) ? passingPart() : 1;
  const cellsPassing = passing === 1 ? Infinity : Math.max(DENSE_CELLS_FEW, rows * passing * CELLS_PER_PASSING);
  const cellsMax = isWhole ? Math.max(DENSE_CELLS_MAX, Math.min(DENSE_CELLS_MANY, rows * CELLS_PER_ROW)) : DENSE_CELLS_MAX;
  const indexLayout = indexLayoutOf(
    keys.map((key) => key.domain),
    Math.min(cellsMax, cellsPassing, groupBytesMax / 2 / cellBytes),
  );
  const bitsMax = Math.min(DISTINCT_BITS_MAX, groupBytesMax);
  const aggregators = plan.aggregators.map((aggregator) => shapeAggregator(aggregator, columns, indexLayout, bitsMax));
  return { plan, columns, keys, aggregators, indexLayout, passing, endsInParts: false };
}

export function queryColumns(
  plan: GroupPlan,
  views: QueryColumns['views'],
  dictionaries: QueryColumns['dictionaries'],
  pieces?: QueryColumns['pieces'],
): QueryColumns {
  return { views, dictionaries, virtualColumns: virtualColumnsByName(plan.virtualColumns), intervals: plan.intervals, pieces };
}

function indexLayoutOf(domains: readonly KeyDomain[], cellsMax: number): IndexLayout {
  const strides: number[] = [];
  let cells = 1;
  for (const domain of domains) {
    if (domain.kind === 'interned' || domain.kind === 'wide') return hashIndexLayout(domains);
    strides.push(cells);
    cells *= domain.card;
  }
  return cells <= Math.max(1, cellsMax) ? { kind: 'dense', strides, cells } : hashIndexLayout(domains);
}

export function hashIndexLayout(domains: readonly KeyDomain[]): Extract<IndexLayout, { kind: 'hash' }> {
  let halves = 0;
  let wides = 0;
  let flags = 0;
  const idCount = domains.filter((domain) => domain.kind !== 'wide' && domain.kind !== 'constant').length;
  const idWords = Math.ceil(idCount / 2);
  const places = domains.map((domain): KeyPlace => {
    if (domain.kind === 'constant') return { kind: 'none' };
    if (domain.kind === 'wide') {
      const place = { kind: 'word', word: idWords + wides, flag: domain.mayBeNull ? flags++ : null } as const;
      wides++;
      return place;
    }
    const place = { kind: 'half', word: halves >> 1, shift: (halves & 1) === 0 ? 0 : 32 } as const;
    halves++;
    return place;
  });
  return { kind: 'hash', words: idWords + wides + (flags > 0 ? 1 : 0), places, flagWord: flags > 0 ? idWords + wides : null };
}

/** Bit that tells null of a key, in a query in which a row has none. */
export function flagOf({ flag }: Extract<KeyPlace, { kind: 'word' }>): number {
  assert(flag !== null, 'a key that has a value in every row is null in one');
  return flag;
}

/** The one key that packed keys are made of, which are its ids, where these are numbered in the order in which they are met; undefined: they are not. */
export function onlyInternedKey({ keys, indexLayout }: Pick<GroupLayout, 'keys' | 'indexLayout'>): number | undefined {
  if (indexLayout.kind !== 'hash') return undefined;
  const packed = indexLayout.places.flatMap((place, index) => (place.kind === 'none' ? [] : [index]));
  const [only, second] = packed;
  return only !== undefined && second === undefined && keys[only]?.domain.kind === 'interned' ? only : undefined;
}

/** Whether all rows are one group. */
export function hasOneGroup({ indexLayout }: Pick<GroupLayout, 'indexLayout'>): boolean {
  return indexLayout.kind === 'dense' && indexLayout.cells === 1;
}

function shapeAggregator(aggregator: GroupAggregator, columns: QueryColumns, indexLayout: IndexLayout, bitsMax: number): AggregatorLayout {
  const { name } = aggregator;
  switch (aggregator.kind) {
    case 'count':
      return { kind: 'count', name, aggregator, type: 'LONG' };
    case 'distinct': {
      const { fold } = aggregator;
      const own = columnDomain(columns, aggregator.column, null);
      const valueType = fold === undefined ? own.type : fold.kind === 'state' ? 'DOUBLE' : fold.type;
      // Different longs may be one double: longs stay what they are up to their sum.
      const isOwn = own.type === valueType || (own.type === 'LONG' && fold?.kind === 'sum');
      const domain = isOwn ? own : columnDomain(columns, aggregator.column, valueType);
      const type = fold === undefined ? 'LONG' : fold.type;
      return { kind: 'distinct', name, aggregator, type, domain, store: distinctStore(domain, indexLayout, bitsMax), fold };
    }
    case 'state':
      return { kind: 'state', name, aggregator, type: aggregator.type, states: stateOperations(aggregator.aggregateState) };
    default: {
      const nullable = aggregator.filter !== null || mayBeNull(columns, aggregator.column);
      return {
        kind: aggregator.kind,
        name,
        aggregator,
        type: aggregator.type,
        state: aggregator.type === 'LONG' ? 'I64' : 'F64',
        nullable,
      };
    }
  }
}

function distinctStore(domain: KeyDomain, indexLayout: IndexLayout, bitsMax: number): DistinctStore {
  if (domain.kind === 'wide') return { kind: 'pairs', words: 2 };
  if (domain.kind === 'interned') return { kind: 'pairs', words: 1 };
  const bitsPerGroup = Math.ceil(domain.card / 64) * 64;
  return indexLayout.kind === 'dense' && indexLayout.cells * bitsPerGroup <= bitsMax
    ? { kind: 'bits', bitsPerGroup }
    : { kind: 'pairs', words: 1 };
}

/** False only for a column that every segment stores as numbers without nulls. */
function mayBeNull({ views, virtualColumns }: QueryColumns, column: string): boolean {
  if (Object.hasOwn(virtualColumns, column)) return true;
  return !views.every((view) => {
    const stored = Object.hasOwn(view.columns, column) ? own(view.columns, column) : undefined;
    return stored?.kind === 'number' && stored.nulls === 0;
  });
}
