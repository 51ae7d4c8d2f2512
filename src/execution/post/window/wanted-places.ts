// The rows of each partition that steps keep, when they number them.

import type { Filter } from '../../../model/filter.js';
import type { PostStep, SortKey } from '../../../model/plan.js';

/** More rows of a partition than this are sorted as they come. */
const WANTED_MAX = 1024;

type WindowStep = Extract<PostStep, { step: 'window' }>;

/** The first rows of each partition, in an order. */
export interface WantedPlaces {
  readonly partition: readonly SortKey[];
  readonly by: readonly SortKey[];
  readonly wanted: number;
  /** So many different places in the order are wanted, with all rows that have one of them: those of DENSE_RANK. */
  readonly areDistinct: boolean;
}

/** The rows that steps keep, when a window that numbers rows and a filter of their numbers come first. */
export function wantedPlaces([window, filter]: readonly PostStep[]): WantedPlaces | undefined {
  if (window?.step !== 'window' || window.rowsMax !== undefined || filter?.step !== 'filter' || window.order.length === 0) return undefined;
  // Places do not depend on the rows that come after.
  const numbersRows = window.functions.every(({ call: { kind } }) => kind === 'rowNumber' || kind === 'rank' || kind === 'denseRank');
  const [rows, places] = [placeWithin(filter.filter, window, false), placeWithin(filter.filter, window, true)];
  const wanted = rows ?? places;
  if (!numbersRows || wanted === undefined || !(wanted >= 1 && wanted <= WANTED_MAX)) return undefined;
  const partition = window.partition.map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' }));
  return { partition, by: window.order, wanted, areDistinct: rows === undefined };
}

/** The largest place among the rows, or among their different places, that rows which pass the filter can have; undefined: any. */
function placeWithin(filter: Filter, window: WindowStep, areDistinct: boolean): number | undefined {
  if (filter.kind === 'and') {
    const places = filter.filters.flatMap((each) => placeWithin(each, window, areDistinct) ?? []);
    return places.length === 0 ? undefined : places.reduce((a, b) => Math.min(a, b));
  }
  if (filter.kind !== 'equals' && filter.kind !== 'range') return undefined;
  const place = window.functions.find(({ name }) => name === filter.column);
  const bound = filter.kind === 'equals' ? filter.value : filter.upper;
  if (place === undefined || filter.type === 'STRING' || (typeof bound !== 'bigint' && typeof bound !== 'number')) return undefined;
  const wanted = Math.floor(Number(bound));
  const { kind } = place.call;
  // The rows of dense rank 1 are those of rank 1; of others any number may come before.
  if (areDistinct) return kind === 'denseRank' ? wanted : undefined;
  return kind === 'rowNumber' || kind === 'rank' || (kind === 'denseRank' && wanted <= 1) ? wanted : undefined;
}
