// Parts of a query's time for which its datasources have no segments, told in a header of the answer.

import type { Interval } from '../../base/instant.js';
import { condenseIntervals, formatInterval, intersect } from '../../base/interval.js';
import type { RunLimits } from '../../model/run-limits.js';

/** Longest text of the header: clients read headers of a few thousand bytes. */
const TEXT_LENGTH_MAX = 7000;

/** Segments of a table, as far as they matter here: those of `DataSourceView`. */
interface TableView {
  readonly chunks: readonly { readonly visible: readonly Interval[] }[];
  /** Segments without rows. */
  readonly tombstones: readonly { readonly id: { readonly interval: Interval } }[];
}

/** Uncovered intervals of the tables that a query reads, up to the number that it asks for by `uncoveredIntervalsLimit`. */
export class Coverage {
  readonly #limit: number;
  #uncovered: readonly Interval[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A coverage for queries that ask for it. */
  static of({ uncoveredIntervalsLimit }: RunLimits): Coverage | undefined {
    const limit = uncoveredIntervalsLimit ?? 0;
    return limit > 0 ? new Coverage(limit) : undefined;
  }

  /**
   * Takes in a table that is read. Segments without rows cover their time as well.
   * @param view  undefined: it has no segments
   */
  note(view: TableView | undefined, intervals: readonly Interval[]): void {
    const covered = condenseIntervals([
      ...(view?.chunks ?? []).flatMap(({ visible }) => visible),
      ...(view?.tombstones ?? []).map(({ id }) => id.interval),
    ]);
    this.#uncovered = condenseIntervals([...this.#uncovered, ...intervals.flatMap((interval) => gapsOf(interval, covered))]);
  }

  /** The first ones, and whether there are more. */
  header(): Readonly<Record<string, string>> {
    const told: string[] = [];
    let length = 0;
    for (const interval of this.#uncovered.slice(0, this.#limit)) {
      const text = formatInterval(interval);
      length += text.length + 3;
      if (length > TEXT_LENGTH_MAX) break;
      told.push(text);
    }
    const uncoveredIntervalsOverflowed = told.length < this.#uncovered.length;
    return { 'X-Svc-Response-Context': JSON.stringify({ uncoveredIntervals: told, uncoveredIntervalsOverflowed }) };
  }
}

/** Parts of an interval that are in none of the others, which are condensed. */
function gapsOf(interval: Interval, covered: readonly Interval[]): readonly Interval[] {
  const gaps: Interval[] = [];
  let { start } = interval;
  for (const each of covered) {
    const part = intersect(interval, each);
    if (part === undefined) continue;
    if (part.start > start) gaps.push({ start, end: part.start });
    start = part.end;
  }
  if (start < interval.end) gaps.push({ start, end: interval.end });
  return gaps;
}
