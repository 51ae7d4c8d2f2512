// Rows that aggregators with the same filter share.

import type { Address } from '../../../base/layout.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { NumberVector } from '../../expression/vector.js';
import type { Predicate } from '../../filter/predicate.js';
import type { GroupIndex } from '../key/group-index.js';
import type { LocalKey } from '../key/local-key.js';
import type { DistinctAccumulator } from './distinct-accumulator.js';
import type { Accumulator } from './local-states.js';

/** Rows that pass the query's filter and also `filter`, and are not null in `nulls`. All its aggregators share them. */
export interface RowClass {
  readonly filter: Predicate | undefined;
  readonly nulls: NumberVector | undefined;
  readonly accumulators: Accumulator[];
  readonly distincts: DistinctAccumulator[];
  /** Members of `distincts` that read rows. */
  readonly readers: DistinctAccumulator[];
  /** Whether the number of rows is needed, or only that there are some. */
  counts: boolean;
  /** Every group is known to have a row: its `state` says so from the beginning. */
  allPresent: boolean;
  /** i64 rows per group, or u8 1 where there is one; with `words` its state. */
  state: Address;
  /** The sum in whose words rows are counted: `counts` is then set as well. */
  words: Accumulator | undefined;
  /** Whether sums need counts of their own to add what the stored values left out. */
  addsBases: boolean;
  /** Positions of aggregators whose `seen` this class decides. */
  readonly seen: number[];
}

/** Rows of a view that will be added to its groups, by this thread or another. */
export interface ComingRows {
  /** Whether they are all rows of the view. */
  readonly areAll: boolean;
  /** Whether they are also all that its columns were uploaded with, so that the extremes kept beside these are theirs. */
  readonly areStored: boolean;
  /** Place of the view in the query. */
  readonly order: number;
}

/** The groups of one segment as they are combined into a thread's table. */
export interface LocalGroups {
  readonly scope: SegmentScope;
  readonly keys: readonly LocalKey[];
  readonly groupIndex: GroupIndex;
  readonly classes: readonly RowClass[];
}

/** Masks and row numbers are kept for one block only. */
export function takesStretches({ filter, nulls, readers, accumulators }: RowClass): boolean {
  return filter === undefined && nulls === undefined && readers.length === 0 && accumulators.every((each) => each.takesStretches);
}

/** Columns without nulls of their own never get here. */
export function sameNulls(a: NumberVector | undefined, b: NumberVector | undefined): boolean {
  return a === b || (a?.stored !== undefined && a.stored === b?.stored);
}
