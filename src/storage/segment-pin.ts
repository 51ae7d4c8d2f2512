// Pins columns of segments for a query.

import { assert, ServiceError } from '../base/errors.js';
import { append } from '../base/lists.js';
import { LoopTurns } from '../base/loop-turns.js';
import { createByName, own } from '../base/names.js';
import type { LookedUpColumn, LookedUpFound } from '../model/lookup/looked-up-column.js';
import { TIME_COLUMN } from '../model/schema.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import { chunksOf, readsTogether } from './combined/chunks.js';
import { type CombinedColumns, CombinedSegment } from './combined/combined-segment.js';
import type { PinRequest, SegmentPin } from './contract.js';
import type { GlobalDictionary, HeldEntries } from './global-dictionaries.js';
import type { LookedUpColumns, PinnedBase } from './looked-up.js';
import type { PinCache } from './pin-cache.js';
import type { ReadSegment } from './read-segment.js';
import type { SegmentList, SegmentLists, TimedSegments } from './segment-list.js';
import type { StoreSegment } from './store-segment.js';
import type { ColumnView, GlobalDictionaryView, SegmentView } from './view.js';

export interface PinSource {
  readonly resident: BufferPool;
  readonly kept: PinCache;
  readonly combined: CombinedColumns;
  readonly lists: SegmentLists;
  readonly lookedUp: LookedUpColumns;
  dictionary(dataSource: string, column: string): GlobalDictionary;
}

/** Pins what a request names in all its segments, loading columns side by side; gives everything back when one fails. */
export async function takePin(list: SegmentList, timed: TimedSegments, request: PinRequest, source: PinSource): Promise<SegmentPin> {
  const letGo = source.lists.hold(list);
  try {
    const runs = await runsOf(list.segments, request, source);
    const { reads, areFinal } = await readsOf(runs, request, source);
    try {
      return await pinOf(reads, { list, timed, request, source, letGo, isKept: areFinal });
    } catch (error) {
      // Units that are read together are in memory beside what they are made of.
      const isShort = error instanceof ServiceError && error.code === 'resource_limit';
      if (!isShort || reads.length === runs.length) throw error;
      const known = new Set(runs);
      for (const read of reads) if (read instanceof CombinedSegment && !known.has(read)) source.combined.forgetAsking(read.id);
      return await pinOf(runs, { list, timed, request, source, letGo, isKept: false });
    }
  } catch (error) {
    letGo();
    throw error;
  }
}

interface PinOrder {
  readonly list: SegmentList;
  readonly timed: TimedSegments;
  readonly request: PinRequest;
  readonly source: PinSource;
  /** Lets go of the segments when the pin is released. */
  letGo(): void;
  /** Whether the same request finds it again. */
  readonly isKept: boolean;
}

async function pinOf(reads: readonly ReadSegment[], { list, timed, request, source, letGo, isKept }: PinOrder): Promise<SegmentPin> {
  const taking = new PinTaking(source);
  try {
    await taking.read(reads);
    const looked = new Set(request.lookedUp?.map(({ name }) => name));
    const names = [...request.columns, ...request.globalDictionaries].filter((name) => !looked.has(name));
    const isTimed = (read: ReadSegment): boolean => timed === 'all' || (timed.size > 0 && read.isAmong(timed));
    await taking.pinColumns((read) => new Set(isTimed(read) ? [TIME_COLUMN, ...names] : names), request.leftOut ?? {});
    const lookedUp = await taking.pinLookedUp(request.lookedUp ?? []);
    const dictionaries = await taking.holdDictionaries(new Set(request.globalDictionaries));
    const views = await taking.views();
    // Conditions change from query to query, and what they leave out with them.
    if (isKept && request.leftOut === undefined)
      source.kept.keep(request, list, timed, { views, dictionaryViews: dictionaries, lookedUp, ...taking.holdings() });
    const release = (): void => {
      taking.release();
      letGo();
    };
    return { segments: views, dictionaries, lookedUp, bytesRead: taking.bytesRead, release };
  } catch (error) {
    taking.release();
    throw error;
  }
}

/** Runs of small segments as one each, the others by themselves. */
async function runsOf(segments: readonly StoreSegment[], request: PinRequest, { combined }: PinSource): Promise<readonly ReadSegment[]> {
  const chunks = request.leftOut === undefined && request.isSeparate !== true ? await chunksOf(segments) : undefined;
  if (chunks === undefined) return segments;
  const turns = new LoopTurns();
  const names = namesOf(request);
  const runs: ReadSegment[] = [];
  for (const chunk of chunks) {
    const joined = chunk.length === 1 ? undefined : CombinedSegment.of(chunk, names, combined);
    if (joined !== undefined) runs.push(joined);
    else for (const segment of chunk) runs.push(segment);
    if (turns.isDue) await turns.give();
  }
  return runs;
}

function namesOf({ columns, globalDictionaries }: PinRequest): readonly string[] {
  return [TIME_COLUMN, ...columns, ...globalDictionaries];
}

/** Bytes of a value in a column, about. */
const VALUE_BYTES = 4;
/** Rows that take a larger part of the budget of all columns are not kept a second time: others would give way for them. */
const TOGETHER_PART = 1 / 8;

/**
 * The units to read: those one behind the other are read together once the same ones are asked for again, whichever columns of them, as to join
 * them costs more than it saves one query. `areFinal`: the same request would read the same units.
 */
async function readsOf(runs: readonly ReadSegment[], request: PinRequest, { combined, resident }: PinSource) {
  const names = namesOf(request);
  const bytes = runs.reduce((sum, { rowCount }) => sum + rowCount, 0) * names.length * VALUE_BYTES;
  const areAlone = request.leftOut !== undefined || request.isSeparate === true || bytes > resident.budgetBytes * TOGETHER_PART;
  if (areAlone || runs.length < 2) return { reads: runs, areFinal: true };
  const turns = new LoopTurns();
  const reads: ReadSegment[] = [];
  let areFinal = true;
  for (const together of await readsTogether(runs)) {
    const joined = together.length < 2 ? undefined : CombinedSegment.together(together, names, combined);
    if (joined !== undefined && combined.isAskedAgain(joined.id)) reads.push(joined);
    else {
      append(reads, together);
      areFinal &&= joined === undefined;
    }
    if (turns.isDue) await turns.give();
  }
  return { reads, areFinal };
}

class PinTaking {
  readonly #source: PinSource;
  #reads: readonly ReadSegment[] = [];
  readonly #pinned: Resident[] = [];
  readonly #held: HeldEntries[] = [];
  readonly #dictionaries = new Map<string, GlobalDictionary>();
  readonly #columns = new Map<ReadSegment, Map<string, ColumnView>>();
  readonly #residents = new Map<ColumnView, Resident>();
  readonly #lookedUp = new Map<string, LookedUpColumn>();
  readonly #found = new Map<string, LookedUpFound>();
  #isReleased = false;
  bytesRead = 0;

  constructor(source: PinSource) {
    this.#source = source;
  }

  /** Names what is to be read. */
  async read(reads: readonly ReadSegment[]): Promise<void> {
    const turns = new LoopTurns();
    this.#reads = reads;
    for (const read of reads) {
      this.#columns.set(read, new Map());
      if (turns.isDue) await turns.give();
    }
  }

  readonly release = (): void => {
    assert(!this.#isReleased, 'a pin is released once');
    this.#isReleased = true;
    for (const held of this.#held) held.release();
    for (const resident of this.#pinned) this.#source.resident.unpin(resident);
  };

  holdings(): { pinned: readonly Resident[]; dictionaries: ReadonlyMap<string, GlobalDictionary> } {
    return { pinned: this.#pinned, dictionaries: this.#dictionaries };
  }

  async pinColumns(
    namesOf: (read: ReadSegment) => ReadonlySet<string>,
    leftOut: Readonly<Record<string, readonly string[]>>,
  ): Promise<void> {
    await settleAll(this.#columnsOf(namesOf, leftOut), async ({ read, name }) => {
      const { resident, view, bytesRead } = await read.pin(name);
      this.#pinned.push(resident);
      this.bytesRead += bytesRead;
      this.#viewsOf(read).set(name, view);
      this.#residents.set(view, resident);
    });
  }

  /** Holds the dictionaries of pinned columns; looked-up columns for whose ids there is no room are left out. */
  async holdDictionaries(names: ReadonlySet<string>): Promise<Record<string, GlobalDictionaryView>> {
    const dictionaries = new Map<string, GlobalDictionaryView>();
    for (const name of names) {
      try {
        const view = await this.#holdDictionary(name);
        if (view !== null) dictionaries.set(name, view);
      } catch (error) {
        // A query can do without what is looked up.
        if (!this.#lookedUp.has(name) || !(error instanceof ServiceError) || error.code !== 'resource_limit') throw error;
        this.#lookedUp.delete(name);
        this.#found.delete(name);
        for (const read of this.#reads) this.#viewsOf(read).delete(name);
      }
    }
    return Object.fromEntries(dictionaries);
  }

  /** Pins looked-up columns of columns that are pinned, and tells which are there in all segments: those alone are among their columns. */
  async pinLookedUp(wanted: readonly LookedUpColumn[]): Promise<ReadonlyMap<string, LookedUpFound>> {
    for (const looked of wanted) {
      const views = new Map<ReadSegment, ColumnView>();
      await settleAll(this.#reads, async (read) => {
        const base = this.#baseOf(read, looked);
        // The column was left out, or is read as something else.
        if (base === undefined && read.kindOf(looked.column) !== undefined) return;
        const pinned = await this.#source.lookedUp.pin(looked, base, read.rowCount);
        if (pinned === undefined) return;
        this.#pinned.push(pinned.resident);
        views.set(read, pinned.view);
      });
      if (views.size < this.#reads.length) continue;
      for (const [read, view] of views) this.#viewsOf(read).set(looked.name, view);
      this.#lookedUp.set(looked.name, looked);
      this.#found.set(looked.name, { isMultiValue: [...views.values()].some((view) => view.kind === 'string' && view.offsets !== 0) });
    }
    return this.#found;
  }

  #baseOf(read: ReadSegment, { column }: LookedUpColumn): PinnedBase {
    const view = this.#viewsOf(read).get(column);
    const resident = view === undefined ? undefined : this.#residents.get(view);
    return view === undefined || resident === undefined ? undefined : { view, resident };
  }

  async views(): Promise<SegmentView[]> {
    const turns = new LoopTurns();
    const views: SegmentView[] = [];
    for (const read of this.#reads) {
      views.push({
        id: read.id,
        dataSource: read.dataSource,
        interval: read.interval,
        rowCount: read.rowCount,
        timeMin: read.timeMin,
        timeMax: read.timeMax,
        // Any name may be a column's, `__proto__` too: only entries make it a property.
        columns: Object.fromEntries(this.#viewsOf(read)),
      });
      if (turns.isDue) await turns.give();
    }
    return views;
  }

  async #holdDictionary(name: string): Promise<GlobalDictionaryView | null> {
    const looked = this.#lookedUp.get(name);
    const holders = looked === undefined ? this.#reads.filter((read) => read.kindOf(name) === 'string') : this.#reads;
    const dataSource = holders[0]?.dataSource;
    if (dataSource === undefined) return null;
    const global = looked === undefined ? this.#source.dictionary(dataSource, name) : this.#source.lookedUp.dictionary(dataSource, looked);
    const remaps = createByName<number>();
    await settleAll(holders, async (read) => {
      assert(read.dataSource === dataSource, 'ids are compared within one datasource');
      const view = this.#viewsOf(read).get(name);
      assert(view?.kind === 'string', 'a string column with a dictionary is pinned');
      const remap =
        looked === undefined
          ? await read.pinRemap(name, view.dictionary, global)
          : await global.pinRemap(this.#remapKey(read, looked, global), view.dictionary);
      this.#pinned.push(remap);
      remaps[read.id] = remap.address;
    });
    const held = global.hold();
    this.#held.push(held);
    this.#dictionaries.set(name, global);
    return { count: held.count, entries: held.address, remaps };
  }

  #remapKey(read: ReadSegment, looked: LookedUpColumn, global: GlobalDictionary): string {
    return this.#source.lookedUp.remapKey(looked, global, this.#baseOf(read, looked)?.resident, read.rowCount);
  }

  *#columnsOf(
    namesOf: (read: ReadSegment) => ReadonlySet<string>,
    leftOut: Readonly<Record<string, readonly string[]>>,
  ): Generator<{ readonly read: ReadSegment; readonly name: string }> {
    for (const read of this.#reads) {
      const spared = new Set(own(leftOut, read.id));
      for (const name of new Set([...namesOf(read)].map((each) => read.nameToRead(each))))
        if (read.kindOf(name) !== undefined && !spared.has(name)) yield { read, name };
    }
  }

  #viewsOf(read: ReadSegment): Map<string, ColumnView> {
    return this.#columns.get(read) ?? new Map();
  }
}

/** Loads under way at a time: enough to keep all threads at work; more would only wait for them. */
const LOADS_AT_A_TIME = 64;

/**
 * Does something for each item, some at a time. After a failure no more are begun; what the others took is known when this
 * throws it.
 */
async function settleAll<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const turns = new LoopTurns();
  const left = items[Symbol.iterator]();
  let isFailed = false;
  let isThrough = false;
  const takeItems = async (): Promise<void> => {
    for (let next = left.next(); !isFailed; next = left.next()) {
      isThrough = next.done === true;
      if (next.done === true) return;
      await work(next.value);
      if (turns.isDue) await turns.give();
    }
  };
  const begun: Promise<void>[] = [];
  while (begun.length < LOADS_AT_A_TIME && !isThrough && !isFailed)
    begun.push(
      takeItems().catch((error: unknown) => {
        isFailed = true;
        throw error;
      }),
    );
  const settled = await Promise.allSettled(begun);
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
}
