// Takes a row source apart into a leaf and the steps over its rows.

import { ETERNITY } from '../../base/instant.js';
import { condenseIntervals, intersect } from '../../base/interval.js';
import { extended } from '../../base/names.js';
import { columnsNamed } from '../../execution/expression/columns-of-plan.js';
import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import type { Filter } from '../../model/filter.js';
import { renameFilter } from '../../model/rewrite/plan-names.js';
import type { JoinSource, RowSource, RowsPlan } from '../../model/row-source.js';
import { type ColumnType, TIME_COLUMN } from '../../model/schema.js';
import type { FilterStage, JoinStage, Stage, UnnestStage } from '../../model/stage.js';
import { columnsBefore } from '../../model/stage-columns.js';
import { extractTimeBounds } from '../../planner/rules/time-intervals.js';
import { type RangeSide, rangesOf } from './join-ranges.js';

/** Leaf of a source and the steps over its rows. */
export interface SourceSteps {
  readonly base: Extract<RowSource, { kind: 'table' | 'union' | 'inline' | 'lookup' | 'external' | 'query' }>;
  readonly steps: readonly SourceStep[];
}

export type SourceStep = FilterStage | UnnestStage | JoinStep;

/** `probePrefix`: of the columns that are there already, when it is the left side that is placed (`chooseSides`). */
type JoinStep = JoinSource & { readonly probePrefix?: string };

export function stepsOf(source: RowSource): SourceSteps {
  const steps: SourceStep[] = [];
  let current = source;
  for (;;) {
    switch (current.kind) {
      case 'filtered':
        steps.unshift({ kind: 'filter', filter: current.filter });
        current = current.source;
        break;
      case 'unnest':
        steps.unshift({ kind: 'unnest', column: current.column });
        current = current.source;
        break;
      case 'join':
        steps.unshift(current);
        current = current.left;
        break;
      default:
        return { base: current, steps };
    }
  }
}

/** Whether each segment can go through the steps by itself: rows that only a right side has are told by all of them. */
export function isBesideTables(steps: readonly SourceStep[]): boolean {
  return steps.every((step) => step.kind !== 'join' || (step.type !== 'right' && step.type !== 'full'));
}

/**
 * Conditions of the plan's filter go where their columns come from: those on the first rows before any step, those on the
 * right side of an inner join to that side. Not below joins that make rows of nulls in their place.
 */
export function pushDown(plan: RowsPlan, steps: readonly SourceStep[]): { readonly plan: RowsPlan; readonly steps: readonly SourceStep[] } {
  if (plan.filter === null || steps.length === 0 || !isBesideTables(steps)) return { plan, steps };
  const computed = new Set(plan.virtualColumns.map(({ name }) => name));
  const early: Filter[] = [];
  const late: Filter[] = [];
  const ofRightSides = new Map<SourceStep, Filter[]>();
  for (const filter of plan.filter.kind === 'and' ? plan.filter.filters : [plan.filter]) {
    const names = [...columnsOfFilter(filter)];
    // The last step that makes a column of the name is the one that is meant.
    const makers = new Set(names.map((name) => steps.findLast((step) => makes(step, name))));
    const [maker] = makers;
    if (makers.size > 1 || names.some((name) => computed.has(name))) late.push(filter);
    else if (maker === undefined) early.push(filter);
    else if (maker.kind === 'join' && maker.type === 'inner') ofRightSides.set(maker, [...(ofRightSides.get(maker) ?? []), filter]);
    else late.push(filter);
  }
  const moved = steps.map((step) => {
    const filter = allOf(ofRightSides.get(step) ?? []);
    if (filter === null || step.kind !== 'join') return step;
    const own = renameFilter(filter, (name) => name.slice(step.prefix.length));
    return { ...step, right: { kind: 'filtered', source: step.right, filter: own } as const };
  });
  const first = allOf(early);
  return { plan: { ...plan, filter: allOf(late) }, steps: first === null ? moved : [{ kind: 'filter', filter: first }, ...moved] };
}

/** Whether a name means a column of the step after it, whatever had it before. */
export function makes(step: SourceStep, name: string): boolean {
  return step.kind === 'join' ? name === step.mark || name.startsWith(step.prefix) : step.kind === 'unnest' && step.column.name === name;
}

function allOf(filters: readonly Filter[]): Filter | null {
  const [first, second] = filters;
  return first === undefined ? null : second === undefined ? first : { kind: 'and', filters };
}

/**
 * Turns conditions on time, in the plan's filter and in steps before all others, into intervals of the plan: they
 * decide which segments are read. Buckets of time may exist, and begin, where intervals do: a plan with such keeps its own.
 */
export function cutByTime<Given extends RowsPlan>(
  plan: Given,
  steps: readonly SourceStep[],
): { readonly plan: Given; readonly steps: readonly SourceStep[] } {
  if (plan.operator === 'group' && plan.keys.some(({ kind }) => kind === 'time')) return { plan, steps };
  const isOwn = plan.virtualColumns.every(({ name }) => name !== TIME_COLUMN) && steps.length === 0;
  let { intervals } = plan;
  const cut = (filter: Filter | null): Filter | null => {
    const bounds = extractTimeBounds(filter);
    if (bounds.rest !== filter)
      intervals = condenseIntervals(intervals.flatMap((one) => bounds.intervals.flatMap((other) => intersect(one, other) ?? [])));
    return bounds.rest;
  };
  const end = steps.findIndex(({ kind }) => kind !== 'filter');
  const count = end < 0 ? steps.length : end;
  const kept = steps.flatMap((step, index): readonly SourceStep[] => {
    if (step.kind !== 'filter' || index >= count) return [step];
    const filter = cut(step.filter);
    return filter === step.filter ? [step] : filter === null ? [] : [{ kind: 'filter', filter }];
  });
  const filter = isOwn ? cut(plan.filter) : plan.filter;
  // The row of no rows exists where there are segments: those of no interval are none.
  const isLost = intervals.length === 0 && plan.operator === 'group' && plan.withinData === true;
  return isLost || intervals === plan.intervals ? { plan, steps } : { plan: { ...plan, intervals, filter }, steps: kept };
}

/** About how many rows a source has; null: not known. */
export type CountRows = (source: SourceSteps['base']) => number | null;

/** A side that has this many times the rows of the other is not the one to be placed. */
const LARGER = 4;

/**
 * Places the left side of the first join in place of the right one, where that is the smaller: tables then stay where
 * they are. Rows come in another order, and `__time` may be a column of the placed side, so only where the plan asks for
 * neither.
 */
export function chooseSides(plan: RowsPlan, source: SourceSteps, countRows: CountRows): SourceSteps {
  const at = source.steps.findIndex(({ kind }) => kind !== 'filter');
  const join = source.steps[at];
  if (
    join?.kind !== 'join' ||
    join.sidesChosen === true ||
    (join.type !== 'inner' && join.type !== 'right') ||
    asksForTime(plan, source.steps.slice(at))
  )
    return source;
  const right = stepsOf(join.right);
  if (right.base.kind !== 'table' || right.steps.some(({ kind }) => kind !== 'filter')) return source;
  const [leftRows, rightRows] = [countRows(source.base), countRows(right.base)];
  if (leftRows === null || rightRows === null || leftRows * LARGER > rightRows) return source;
  const left = source.steps
    .slice(0, at)
    .reduce<RowSource>(
      (inner, step) => (step.kind === 'filter' ? { kind: 'filtered', source: inner, filter: step.filter } : inner),
      source.base,
    );
  const swapped: JoinStep = {
    ...join,
    type: join.type === 'inner' ? 'inner' : 'left',
    right: left,
    prefix: '',
    probePrefix: join.prefix,
    keys: join.keys.map((key) => ({ ...key, left: key.right, right: key.left })),
    leftColumns: join.rightColumns,
    rightColumns: join.leftColumns,
  };
  return { base: right.base, steps: [...right.steps, swapped, ...source.steps.slice(at + 1)] };
}

/** Whether a plan, or steps below it, read the time of rows. */
export function asksForTime(plan: RowsPlan, steps: readonly SourceStep[]): boolean {
  const [interval, second] = plan.intervals;
  if (interval?.start !== ETERNITY.start || interval.end !== ETERNITY.end || second !== undefined) return true;
  if (plan.operator === 'timeBoundary' || (plan.operator === 'scan' && plan.timeOrder !== null)) return true;
  if (plan.operator === 'group' && (plan.withinData === true || plan.keys.some(({ kind }) => kind === 'time'))) return true;
  if (columnsNamed(plan).has(TIME_COLUMN)) return true;
  return steps.some((step) => {
    if (step.kind === 'filter') return columnsOfFilter(step.filter).has(TIME_COLUMN);
    if (step.kind === 'unnest') return columnsOfExpression(step.column.expression).has(TIME_COLUMN);
    const read = new Set(step.keys.flatMap(({ left }) => [...columnsOfExpression(left)]));
    return (step.condition === null ? read : columnsOfExpression(step.condition, read)).has(TIME_COLUMN);
  });
}

export interface SketchedStage {
  /** A join's build side is yet to be placed: its id is empty. */
  readonly stage: Stage;
  /** The join, with the columns of its right side that are needed, by their own names. */
  readonly join?: JoinStep & { readonly needed: readonly string[] };
}

/** The steps as stages that give no more than the columns a plan reads. */
export function sketchStages(steps: readonly SourceStep[], wanted: Iterable<string>): readonly SketchedStage[] {
  const sketched: SketchedStage[] = [];
  let needed = new Set(wanted);
  for (const step of steps.toReversed()) {
    const made = step.kind === 'join' ? sketchJoin(step, needed) : { stage: step };
    sketched.unshift(made);
    needed = columnsBefore(made.stage, needed);
  }
  return sketched;
}

function sketchJoin(join: JoinStep, after: ReadonlySet<string>): SketchedStage {
  const { prefix, probePrefix = '', type, condition, keys } = join;
  const read = condition === null ? after : columnsOfExpression(condition, new Set(after));
  const names = [...read].filter((name) =>
    name === join.mark ? false : probePrefix === '' ? name.startsWith(prefix) : !name.startsWith(probePrefix) && name !== TIME_COLUMN,
  );
  const needed = names.map((name) => name.slice(prefix.length));
  const froms = new Map(names.map((name, at) => [name, `b${at}`]));
  const schemas = new Map(join.rightColumns.map((column) => [column.name, column]));
  const buildColumns = needed.flatMap((name, at) => {
    const column = schemas.get(name);
    return column === undefined ? [] : [extended(column, { name: `b${at}` })];
  });
  const stage: JoinStage = {
    kind: 'join',
    type,
    condition,
    ranges: rangesOf(condition, probeSide(join), { columns: buildColumns, own: (name) => froms.get(name) }),
    probePrefix,
    keys: keys.map(({ left, right: _, ...key }, index) => extended(key, { probe: left, build: `k${index}` })),
    columns: names.map((name, at) => ({ name, from: `b${at}`, type: schemas.get(needed[at] ?? '')?.type ?? UNKNOWN_TYPE })),
    build: { id: '', frames: null },
    ...(join.mark === undefined ? {} : { mark: join.mark }),
  };
  return { stage, join: extended(join, { needed }) };
}

/** The side of a join whose rows come in. */
function probeSide({ leftColumns, prefix, probePrefix = '' }: JoinStep): RangeSide {
  const own = (name: string): string | undefined =>
    probePrefix === ''
      ? name.startsWith(prefix)
        ? undefined
        : name
      : name.startsWith(probePrefix)
        ? name.slice(probePrefix.length)
        : undefined;
  return { columns: leftColumns, own };
}

/** Type of a column that no row has. */
const UNKNOWN_TYPE: ColumnType = 'STRING';
