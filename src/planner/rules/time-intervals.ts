// Plan rule: turns conditions on `__time` into intervals.

import { ETERNITY, type Interval } from '../../base/instant.js';
import { condenseIntervals, intersect } from '../../base/interval.js';
import type { Filter } from '../../model/filter.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { FilterValue } from '../../model/value-list.js';
import { ask, placed } from '../places/recording.js';
import { TOLD_APART, timesOfComparison } from './time-functions.js';

/** A filter split into the time it confines rows to and what else it asks of them. */
export interface TimeBounds {
  /** Sorted, disjoint; empty when no instant can match. */
  readonly intervals: readonly Interval[];
  readonly rest: Filter | null;
}

/**
 * Turns conditions on `__time` into plan intervals: those that are a whole conjunct of the filter, be it a comparison of it or of a
 * floor of it, or an AND, OR or NOT of such comparisons alone. Time is sorted in a segment, so an interval costs nothing.
 */
export function extractTimeBounds(filter: Filter | null): TimeBounds {
  if (filter === null) return { intervals: [ETERNITY], rest: null };
  const conjuncts = filter.kind === 'and' ? filter.filters : [filter];
  const isOfTime = conjuncts.map((conjunct) => ask(conjunct, (each) => timeSet(each) !== undefined));
  const ofTime = conjuncts.filter((_, index) => isOfTime[index]);
  if (ofTime.length === 0) return { intervals: [ETERNITY], rest: filter };
  const others = conjuncts.filter((_, index) => !isOfTime[index]);
  const [only, second] = others;
  const rest: Filter | null = only === undefined ? null : second === undefined ? only : { kind: 'and', filters: others };
  return placed(ofTime, intervalsOf, (intervals) => ({ intervals, rest }));
}

/** The instants for which all of these conditions are true. */
function intervalsOf(conjuncts: readonly Filter[]): readonly Interval[] {
  return conjuncts.reduce<readonly Interval[]>((intervals, conjunct) => intersectAll(intervals, timeSet(conjunct) ?? []), [ETERNITY]);
}

/** The instants for which a filter is true, when it is about nothing but `__time`; that is never null, but functions of it may be. */
function timeSet(filter: Filter): readonly Interval[] | undefined {
  switch (filter.kind) {
    case 'true':
      return [ETERNITY];
    case 'false':
      return [];
    case 'equals': {
      const at = filter.column === TIME_COLUMN && filter.type === 'LONG' ? instant(filter.value) : undefined;
      return at === undefined ? undefined : [{ start: at, end: at + 1 }];
    }
    case 'range': {
      if (filter.column !== TIME_COLUMN || filter.type !== 'LONG') return undefined;
      const lower = filter.lower === null ? ETERNITY.start : instant(filter.lower);
      const upper = filter.upper === null ? ETERNITY.end : instant(filter.upper);
      if (lower === undefined || upper === undefined) return undefined;
      const start = filter.lower !== null && filter.lowerStrict ? lower + 1 : lower;
      const end = filter.upper === null || filter.upperStrict ? upper : upper + 1;
      return start < end ? [{ start, end }] : [];
    }
    case 'isTrue':
      return timeSet(filter.filter);
    case 'expression':
      return timesOfComparison(filter.expression);
    case 'not': {
      const inner = timeSet(filter.filter);
      if (inner === undefined) return undefined;
      if (filter.filter.kind === 'expression') return intersectAll(complement(inner), [TOLD_APART]);
      return comparesFunctions(filter.filter) ? undefined : complement(inner);
    }
    case 'and':
    case 'or': {
      const sets = filter.filters.map(timeSet);
      if (!sets.every((set) => set !== undefined)) return undefined;
      return filter.kind === 'or' ? condenseIntervals(sets.flat()) : sets.reduce(intersectAll, [ETERNITY]);
    }
    default:
      return undefined;
  }
}

/** Whether a filter of time alone has comparisons of functions of it, which are null for some instants. */
export function comparesFunctions(filter: Filter): boolean {
  switch (filter.kind) {
    case 'expression':
      return true;
    case 'not':
      return comparesFunctions(filter.filter);
    case 'and':
    case 'or':
      return filter.filters.some(comparesFunctions);
    default:
      return false;
  }
}

/** Beyond 2^53 milliseconds instants are no longer exact: such a bound stays a filter. */
function instant(value: FilterValue): number | undefined {
  const at = typeof value === 'bigint' ? Number(value) : value;
  return typeof at === 'number' && Number.isSafeInteger(at) ? at : undefined;
}

function intersectAll(left: readonly Interval[], right: readonly Interval[]): readonly Interval[] {
  const common: Interval[] = [];
  for (const one of left)
    for (const other of right) {
      const both = intersect(one, other);
      if (both !== undefined) common.push(both);
    }
  return condenseIntervals(common);
}

function complement(intervals: readonly Interval[]): readonly Interval[] {
  const gaps: Interval[] = [];
  let { start } = ETERNITY;
  for (const interval of intervals) {
    if (start < interval.start) gaps.push({ start, end: interval.start });
    start = interval.end;
  }
  return start < ETERNITY.end ? [...gaps, { start, end: ETERNITY.end }] : gaps;
}
