// Keys of right sides that are placed already, which bound the rows of other sources.

import { createByName, own } from '../../base/names.js';
import type { UploadedRows } from '../../execution/run/engine.js';
import type { Expression } from '../../model/expression.js';
import type { RowSource, RowsPlan } from '../../model/row-source.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { JoinStage } from '../../model/stage.js';
import { isBesideTables, makes, type SourceStep, type SourceSteps, stepsOf } from './source-steps.js';

/** Rows whose values of these columns are no key of a build side come to nothing further on: they may be left out. */
export interface Bound {
  readonly id: string;
  /** All parts of the key, each a LONG. */
  readonly keys: readonly { readonly column: string; readonly build: string }[];
}

interface PlacedJoin {
  readonly step: Extract<SourceStep, { kind: 'join' }>;
  readonly at: number;
}

/** A bound whose columns go by the class of columns that are equal wherever a row lasts. */
interface ClassBound {
  readonly id: string;
  readonly keys: readonly { readonly class: string; readonly build: string }[];
}

/** A right side that has more than this part of the rows that it was read from bounds too little. */
const PLACED_PART_MAX = 0.5;

/**
 * Bounds that joins which drop rows without a partner put on the other sources of their rows: after `a JOIN b ON a.x = b.y JOIN c ON a.x = c.z`
 * a row of `c` counts only where its `z` is among the `y`, and so it is for the rows that a subquery groups by `z`.
 * Sides that are filtered are placed first, the smallest first of all.
 */
export class KeyBounds {
  readonly #joins: readonly PlacedJoin[];
  /** Steps that bounds go through: none where some join gives rows that only its right side has, or a name changes its meaning. */
  readonly #steps: readonly SourceStep[];
  readonly #base: readonly ColumnSchema[];
  /** Column of the rows → one that is equal to it. */
  readonly #equal = createByName<string>();
  readonly #bounds: ClassBound[] = [];
  readonly #given: readonly Bound[];
  /** Part of the rows that the source begins with which the joins placed so far are expected to leave. */
  left = 1;

  /**
   * @param base   columns of what the source begins with
   * @param given  bounds of the rows that come out of all steps
   */
  constructor({ steps }: SourceSteps, base: readonly ColumnSchema[], given: readonly Bound[]) {
    this.#joins = steps.flatMap((step, at) => (step.kind === 'join' ? [{ step, at }] : []));
    const isBounded = isBesideTables(steps) && steps.every((step) => step.kind !== 'join' || (step.probePrefix ?? '') === '');
    this.#steps = isBounded && !hidesNames(base, steps) ? steps : [];
    this.#base = base;
    for (const step of this.#steps) {
      // Rows have columns of the right side after inner joins only.
      if (step.kind !== 'join' || step.type !== 'inner') continue;
      for (const { left, right } of longKeys(step)) this.#equal[this.#classOf(step.prefix + right)] = this.#classOf(left);
    }
    this.#given = this.#steps === steps ? given : [];
    for (const { id, keys } of this.#given)
      this.#bounds.push({ id, keys: keys.map(({ column, build }) => ({ class: this.#classOf(column), build })) });
  }

  /** Places of the joins among the steps, in the order that their right sides are to be placed. */
  order(rowsBelow: (side: RowSource) => number | null): readonly number[] {
    const costs = this.#joins.map(({ step }) =>
      DROPS.has(step.type) && longKeys(step).length === step.keys.length && isReduced(step.right)
        ? (rowsBelow(step.right) ?? Infinity)
        : Infinity,
    );
    const places = costs.map((cost, index) => ({ cost, at: this.#joins[index]?.at ?? 0 }));
    return places.sort((a, b) => (a.cost === b.cost ? a.at - b.at : a.cost - b.cost)).map(({ at }) => at);
  }

  /** Says that the right side of a join has been placed, and of how many rows it was made. */
  place(at: number, { id, rowCount }: Pick<UploadedRows, 'id' | 'rowCount'>, rowsBelow: number | null): void {
    const placed = this.#joins.find((join) => join.at === at)?.step;
    if (placed !== undefined && DROPS.has(placed.type) && rowsBelow !== null && rowCount < rowsBelow) this.left *= rowCount / rowsBelow;
    const step = this.#steps[at];
    if (step?.kind !== 'join' || !DROPS.has(step.type) || rowsBelow === null || rowCount > rowsBelow * PLACED_PART_MAX) return;
    const keys = longKeys(step);
    if (keys.length === 0 || keys.length < step.keys.length) return;
    this.#bounds.push({ id, keys: keys.map(({ left }, part) => ({ class: this.#classOf(left), build: `k${part}` })) });
  }

  /** Bounds of the right side of a join, by its own columns. */
  ofRight(at: number): readonly Bound[] {
    const step = this.#steps[at];
    if (step?.kind !== 'join') return [];
    const columns = new Map(longKeys(step).map(({ left, right }) => [this.#classOf(left), right]));
    return this.#in(columns);
  }

  /** Bounds of the rows that the source begins with. */
  ofBase(): readonly Bound[] {
    return this.#in(this.#baseColumns());
  }

  /** Bounds from outside, as stages over the rows of tables; those of own joins need none. */
  stages(): readonly JoinStage[] {
    const ids = new Set(this.#given.map(({ id }) => id));
    return this.ofBase()
      .filter(({ id }) => ids.has(id))
      .map(({ id, keys }) => ({
        kind: 'join',
        type: 'semi',
        keys: keys.map(({ column, build }) => ({ probe: { kind: 'column', name: column }, build, type: 'LONG' })),
        condition: null,
        probePrefix: '',
        columns: [],
        build: { id, frames: null },
      }));
  }

  #in(columns: ReadonlyMap<string, string>): readonly Bound[] {
    return this.#bounds.flatMap(({ id, keys }) => {
      const own = keys.flatMap((key) => {
        const column = columns.get(key.class);
        return column === undefined ? [] : [{ column, build: key.build }];
      });
      return own.length < keys.length ? [] : [{ id, keys: own }];
    });
  }

  #baseColumns(): ReadonlyMap<string, string> {
    return new Map(this.#base.filter(isPlainLong).map(({ name }) => [this.#classOf(name), name]));
  }

  #classOf(name: string): string {
    for (let current = name; ; ) {
      const next = own(this.#equal, current);
      if (next === undefined || next === current) return current;
      current = next;
    }
  }
}

/** Joins that keep no row of the left side without a partner. */
const DROPS: ReadonlySet<string> = new Set(['inner', 'semi']);

/** Joins whose rows have the columns of the right side; the prefix of another may be that of a later join too. */
const GIVES_RIGHT: ReadonlySet<string> = new Set(['inner', 'left', 'right', 'full']);

/** Whether some step makes a column of a name that was there before it. */
function hidesNames(base: readonly ColumnSchema[], steps: readonly SourceStep[]): boolean {
  const names = base.map(({ name }) => name);
  return steps.some((step) => {
    if (names.some((name) => makes(step, name))) return true;
    if (step.kind === 'unnest') names.push(step.column.name);
    if (step.kind === 'join' && step.mark !== undefined) names.push(step.mark);
    if (step.kind === 'join' && GIVES_RIGHT.has(step.type)) for (const { name } of step.rightColumns) names.push(step.prefix + name);
    return false;
  });
}

/** Parts of a key that are LONG columns of both sides, and null nowhere where they meet. */
function longKeys(step: PlacedJoin['step']): readonly { readonly left: string; readonly right: string }[] {
  return step.keys.flatMap(({ left, right, type, nullsMeet }) =>
    type === 'LONG' && nullsMeet !== true && isLongColumn(left, step.leftColumns) && isLongColumn(right, step.rightColumns)
      ? [{ left: left.name, right: right.name }]
      : [],
  );
}

function isLongColumn(
  expression: Expression,
  columns: readonly ColumnSchema[],
): expression is Extract<Expression, { readonly kind: 'column' }> {
  return expression.kind === 'column' && columns.some((column) => column.name === expression.name && isPlainLong(column));
}

function isPlainLong({ type, multiValue }: ColumnSchema): boolean {
  return type === 'LONG' && !multiValue;
}

/** Whether something is asked of the rows of a source. */
function isReduced(source: RowSource): boolean {
  const { base, steps } = stepsOf(source);
  if (steps.some((step) => step.kind === 'filter' || (step.kind === 'join' && DROPS.has(step.type) && isReduced(step.right)))) return true;
  if (base.kind !== 'query') return base.kind === 'inline';
  return base.plan.filter !== null || base.plan.post.some(({ step }) => step === 'filter') || isReduced(base.source);
}

/** The bound of what a plan reads, where a row of its result is made of rows with the same values; none elsewhere. */
export function columnBelow({ id, keys }: Bound, plan: RowsPlan, columns: readonly ColumnSchema[]): readonly Bound[] {
  const below = keys.flatMap(({ column, build }) => {
    const read = columnRead(plan, column);
    return read !== undefined && columns.some((each) => each.name === read && isPlainLong(each)) ? [{ column: read, build }] : [];
  });
  return below.length < keys.length ? [] : [{ id, keys: below }];
}

function columnRead(plan: RowsPlan, output: string): string | undefined {
  let name: string | undefined = output;
  for (const step of plan.post.toReversed()) {
    if (step.step === 'project') name = step.columns.find((column) => column.name === name)?.from;
    else if (step.step === 'compute') name = step.name === name ? undefined : name;
    else if (step.step === 'sort' ? step.limit !== null || step.offset > 0 : step.step !== 'filter') return undefined;
  }
  const read =
    plan.operator === 'group'
      ? plan.keys.flatMap((key) => (key.kind === 'column' && key.name === name ? [key.column] : []))[0]
      : plan.operator === 'scan' && plan.limit === null && plan.offset === 0
        ? plan.columns.find((column) => column === name)
        : undefined;
  return plan.virtualColumns.some((virtual) => virtual.name === read) ? undefined : read;
}
