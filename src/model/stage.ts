// Stages of a plan: filters, unnesting and joins over rows.

import type { VirtualColumn } from './aggregator.js';
import type { Expression } from './expression.js';
import type { Filter } from './filter.js';
import type { Frame } from './frame.js';
import type { ColumnType } from './schema.js';

/**
 * A step over rows between their source (segments, chunks of frames) and the plan that reads them, in order. Runs
 * on the processing threads, a stretch of rows at a time.
 */
export type Stage = FilterStage | UnnestStage | JoinStage;

export interface FilterStage {
  readonly kind: 'filter';
  readonly filter: Filter;
}

/** Each row once for every value of the column, which is added to it; rows without a value vanish. */
export interface UnnestStage {
  readonly kind: 'unnest';
  readonly column: VirtualColumn;
}

/**
 * Rows met with rows that were placed before (the build side). `semi` keeps the rows that have a partner, `anti` those
 * that have none, neither adds columns; `mark` keeps all rows and says which have one. Rows of the build side without a
 * partner (`right`, `full`) come last, from who runs the stage over all rows of the other side.
 */
export interface JoinStage {
  readonly kind: 'join';
  readonly type: JoinType;
  /** All must be equal; null equals nothing, unless a key says so. None: every row meets every row. */
  readonly keys: readonly StageKey[];
  /** Further condition on a pair, over the columns of both. */
  readonly condition: Expression | null;
  /** Parts of the condition that the rows of the build side may be put into an order for; left out: there are none. */
  readonly ranges?: readonly StageRange[];
  /** Goes before the names of the columns that the rows have already; the build side's then have names without it. */
  readonly probePrefix: string;
  /** Columns that are added, by their names here and on the build side. */
  readonly columns: readonly BuildColumn[];
  readonly build: BuildRows;
  /** Type `mark` only: the added LONG column, 1 where a row has a partner, else 0. */
  readonly mark?: string;
}

export type JoinType = 'inner' | 'left' | 'right' | 'full' | 'semi' | 'anti' | 'mark';

export interface StageKey {
  readonly probe: Expression;
  /** A column of the build side, of this type. */
  readonly build: string;
  readonly type: ColumnType;
  /** Two nulls are equal. */
  readonly nullsMeet?: true;
}

/** A part of a join's condition that compares a value of one side with one of the other: it holds where `probe operator build` does. */
export interface StageRange {
  /** Over the columns of the rows that come in, by the names they have before the stage. */
  readonly probe: Expression;
  /** Over the columns of the build side, by their names there. */
  readonly build: Expression;
  readonly operator: '<' | '<=' | '>' | '>=';
  /** The type that both are compared as. */
  readonly type: 'LONG' | 'DOUBLE' | 'STRING';
  /** Its number among the parts of the condition (`conjunctsOf`). */
  readonly part: number;
}

interface BuildColumn {
  readonly name: string;
  readonly from: string;
  readonly type: ColumnType;
}

/**
 * The rows of a build side. They lie in the kernel memory of the process that made the id; every other process places
 * the frames, which come along where one takes part.
 */
interface BuildRows {
  readonly id: string;
  readonly frames: readonly Frame[] | null;
}
