import type { VirtualColumn } from './aggregator.js';
import { columnsOfExpression, columnsOfFilter } from './columns-read.js';
import type { Expression } from './expression.js';
import type { Filter } from './filter.js';
import type { Frame } from './frame.js';
import type { ColumnType } from './schema.js';
import { TIME_COLUMN } from './schema.js';

/**
 * What happens to rows between where they lie (segments, chunks of frames) and the plan that reads them, in order. Runs
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
  /** All must be equal; null equals nothing. None: every row meets every row. */
  readonly keys: readonly StageKey[];
  /** What else must be true of a pair, over the columns of both. */
  readonly condition: Expression | null;
  /** Goes before the names of the columns that the rows have already; the build side's then have names without it. */
  readonly probePrefix: string;
  /** Columns that are added, by their names here and on the build side. */
  readonly columns: readonly BuildColumn[];
  readonly build: BuildRows;
  /** Of `mark`: the column that is added, a LONG, 1 where a row has a partner, else 0. */
  readonly mark?: string;
}

export type JoinType = 'inner' | 'left' | 'right' | 'full' | 'semi' | 'anti' | 'mark';

export interface StageKey {
  readonly probe: Expression;
  /** A column of the build side, of this type. */
  readonly build: string;
  readonly type: ColumnType;
}

export interface BuildColumn {
  readonly name: string;
  readonly from: string;
  readonly type: ColumnType;
}

/**
 * The rows of a build side. They lie in the kernel memory of the process that made the id; every other process places
 * the frames, which come along where one takes part.
 */
export interface BuildRows {
  readonly id: string;
  readonly frames: readonly Frame[] | null;
}

/** The columns that rows need after each stage, and before the first, for a plan that reads `wanted` of the result. */
export function columnsThrough(
  stages: readonly Stage[],
  wanted: Iterable<string>,
): { readonly before: ReadonlySet<string>; readonly after: readonly ReadonlySet<string>[] } {
  let needed = new Set([...wanted, TIME_COLUMN]);
  const after: ReadonlySet<string>[] = [];
  for (const stage of stages.toReversed()) {
    after.unshift(needed);
    needed = columnsBefore(stage, needed);
  }
  return { before: needed, after };
}

/** The columns that rows need before a stage, when these are needed after it. */
export function columnsBefore(stage: Stage, after: ReadonlySet<string>): Set<string> {
  const before = new Set(after);
  switch (stage.kind) {
    case 'filter':
      return columnsOfFilter(stage.filter, before);
    case 'unnest':
      before.delete(stage.column.name);
      if (stage.column.keeps !== undefined) columnsOfExpression(stage.column.keeps, before);
      return columnsOfExpression(stage.column.expression, before);
    case 'join':
      if (stage.condition !== null) columnsOfExpression(stage.condition, before);
      for (const { name } of stage.columns) before.delete(name);
      if (stage.mark !== undefined) before.delete(stage.mark);
      if (stage.probePrefix !== '') {
        const names = [...before].flatMap((name) => nameBefore(stage, name) ?? []);
        before.clear();
        for (const name of names) before.add(name);
      }
      for (const { probe } of stage.keys) columnsOfExpression(probe, before);
      return before;
  }
}

/** What a column that comes out of stages is called before them; undefined when one of them makes it. */
export function nameThrough(stages: readonly Stage[], name: string): string | undefined {
  let current: string | undefined = name;
  for (const stage of stages.toReversed()) {
    if (current === undefined) return undefined;
    if (stage.kind === 'unnest' && stage.column.name === current) return undefined;
    if (stage.kind !== 'join') continue;
    const isAdded: boolean = stage.mark === current || stage.columns.some((column) => column.name === current);
    current = isAdded ? undefined : nameBefore(stage, current);
  }
  return current;
}

function nameBefore({ probePrefix }: JoinStage, name: string): string | undefined {
  return name.startsWith(probePrefix) ? name.slice(probePrefix.length) : undefined;
}
