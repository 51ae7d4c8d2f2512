// Few rows of several segments, which are grouped together.

import { assert } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import { createByName, own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { Filter } from '../../model/filter.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { ColumnView, SegmentView, StringColumnView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import { joinChunks } from '../block/joined-chunks.js';
import { idsOf } from '../block/joined-texts.js';
import type { FewRows } from './few-rows.js';
import type { GroupLayout } from './key/layout.js';

/*
 * To bind a plan to a segment takes as long as to group thousands of its rows. Where a filter leaves a few of each of many segments, these rows
 * become one view: numbers of one width, strings with one dictionary of what the rows have, and the ids that such strings have in the query.
 */

/** Rows of one segment, and strings that they may have, from which on binding the plan to it costs less than joining them with others. */
const ROWS_MANY = 1024;
const STRINGS_MANY = 128;
/** Rows that are grouped together, and segments that they are of. */
const ROWS_TOGETHER = 1 << 13;
const SEGMENTS_TOGETHER = 256;

/** Gathered rows, and the conditions that they have to meet yet. */
export interface GatheredRows {
  readonly view: SegmentView;
  readonly filter: Filter | null;
}

/** Rows that wait on one thread. */
export class RowsOfSegments {
  readonly #context: RunContext;
  readonly #layout: GroupLayout;
  readonly #arena: Arena;
  readonly #parts: GatheredRows[] = [];
  /** The first rows, which others have to be like. */
  #first: FewRows | undefined;
  #rows = 0;

  constructor(context: RunContext, layout: GroupLayout) {
    this.#context = context;
    this.#layout = layout;
    this.#arena = context.memory.arena();
  }

  /** Whether rows of a segment are better grouped with those of others. */
  canTake(few: FewRows): boolean {
    return few.count < ROWS_MANY && this.#layout.columns.views.length > 1 && few.stringsMax < STRINGS_MANY;
  }

  /** Whether rows may wait beside those that do: of columns of the same types, and of another time where time is read. */
  goWith(few: FewRows): boolean {
    if (this.#first === undefined) return true;
    if (this.#rows + few.count > ROWS_TOGETHER || this.#parts.length >= SEGMENTS_TOGETHER) return false;
    if (!few.isLike(this.#first)) return false;
    const { timeMin, timeMax, columns } = few.view;
    if (columns[TIME_COLUMN] === undefined) return true;
    return this.#parts.every(({ view }) => timeMin >= view.timeMax || timeMax <= view.timeMin);
  }

  /** Takes the rows of a segment. */
  add(few: FewRows): void {
    this.#first ??= few;
    this.#rows += few.count;
    this.#parts.push(few.take(this.#arena));
  }

  /** The rows of all segments so far, until `release`: together where their columns can be joined. */
  gathered(): readonly GatheredRows[] {
    if (this.#parts.length < 2) return this.#parts;
    const parts = this.#parts.toSorted((a, b) => a.view.timeMin - b.view.timeMin || a.view.timeMax - b.view.timeMax);
    const view = this.#joined(parts.map((part) => part.view));
    // Conditions that some rows have met already are met again.
    return view === undefined ? parts : [{ view, filter: parts.find(({ filter }) => filter !== null)?.filter ?? null }];
  }

  /** Frees the rows. */
  release(): void {
    this.#parts.length = 0;
    this.#first = undefined;
    this.#rows = 0;
    this.#arena.release();
  }

  #joined(views: readonly SegmentView[]): SegmentView | undefined {
    const [first] = views;
    assert(first !== undefined, 'no rows wait');
    const names = Object.keys(first.columns);
    const chunks = views.map(({ rowCount, columns }) => ({ rowCount, columns: names.map((name) => own(columns, name)) }));
    const room = { take: (bytes: number) => this.#arena.take(bytes), give: () => undefined };
    const columns = createByName<ColumnView>();
    const queryIds = createByName<Address>();
    for (const [at, name] of names.entries()) {
      const column = joinChunks(this.#context, room, chunks, at);
      if (column === null || column === undefined) return undefined;
      columns[name] = column;
      const ids = column.kind === 'string' ? this.#queryIdsOf(name, column, views) : undefined;
      if (ids !== undefined) queryIds[name] = ids;
    }
    const rowCount = views.reduce((sum, view) => sum + view.rowCount, 0);
    const timeMax = views.reduce((most, view) => Math.max(most, view.timeMax), first.timeMax);
    return { ...first, rowCount, timeMax, columns, queryIds };
  }

  /** Ids in the query by those in a joined column, for all that rows have; undefined for strings without ids in the query. */
  #queryIdsOf(name: string, joined: StringColumnView, views: readonly SegmentView[]): Address | undefined {
    const { dictionaries } = this.#layout.columns;
    const shared = Object.hasOwn(dictionaries, name) ? own(dictionaries, name) : undefined;
    if (shared === undefined) return undefined;
    const { memory } = this.#context;
    const { count } = joined.dictionary;
    const at = this.#arena.take(Math.max(1, count) * 4);
    const queryIds = memory.u32(at, count).fill(0);
    const ofJoined = idsOf(this.#context, joined, this.#rows);
    let first = 0;
    for (const { id, rowCount, columns } of views) {
      const column = own(columns, name);
      const remap = own(shared.remaps, id);
      if (column?.kind !== 'string' || remap === undefined) return undefined;
      const ofSegment = memory.u32(remap, column.dictionary.count);
      const ids = idsOf(this.#context, column, rowCount);
      for (let row = 0; row < rowCount; row++) queryIds[ofJoined[first + row] ?? 0] = ofSegment[ids[row] ?? 0] ?? 0;
      first += rowCount;
    }
    return at;
  }
}
