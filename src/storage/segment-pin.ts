// Pins columns of segments for a query.

import { assert } from '../base/errors.js';
import { LoopTurns } from '../base/loop-turns.js';
import { createByName, own } from '../base/names.js';
import { TIME_COLUMN } from '../model/schema.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import type { PinRequest, SegmentPin } from './contract.js';
import type { StoredColumn } from './format.js';
import type { GlobalDictionary, HeldEntries } from './global-dictionaries.js';
import type { OpenSegment } from './open-segment.js';
import type { PinCache } from './pin-cache.js';
import type { ColumnView, GlobalDictionaryView, SegmentView } from './view.js';

export interface PinSource {
  readonly resident: BufferPool;
  readonly kept: PinCache;
  dictionary(dataSource: string, column: string): GlobalDictionary;
}

/**
 * Pins what a request names in all its segments, loading columns side by side; gives everything back when one fails.
 * @param withTime  those of the segments whose `__time` is wanted as well
 */
export async function takePin(
  segments: readonly OpenSegment[],
  withTime: readonly OpenSegment[],
  request: PinRequest,
  source: PinSource,
): Promise<SegmentPin> {
  const taking = new PinTaking(segments, source);
  try {
    const names = [...request.columns, ...request.globalDictionaries];
    const timed = new Set(withTime);
    await taking.pinColumns((segment) => new Set(timed.has(segment) ? [TIME_COLUMN, ...names] : names), request.leftOut ?? {});
    const dictionaries = await taking.holdDictionaries(new Set(request.globalDictionaries));
    const views = taking.views();
    // Conditions change from query to query, and what they leave out with them.
    if (request.leftOut === undefined)
      source.kept.keep(request, withTime, { segments, views, dictionaryViews: dictionaries, ...taking.holdings() });
    return { segments: views, dictionaries, bytesRead: taking.bytesRead, release: taking.release };
  } catch (error) {
    taking.release();
    throw error;
  }
}

class PinTaking {
  readonly #segments: readonly OpenSegment[];
  readonly #source: PinSource;
  readonly #pinned: Resident[] = [];
  readonly #held: HeldEntries[] = [];
  readonly #dictionaries = new Map<string, GlobalDictionary>();
  readonly #columns: ReadonlyMap<OpenSegment, Map<string, ColumnView>>;
  #isReleased = false;
  bytesRead = 0;

  constructor(segments: readonly OpenSegment[], source: PinSource) {
    this.#segments = segments;
    this.#source = source;
    this.#columns = new Map(segments.map((segment) => [segment, new Map()]));
    for (const segment of segments) segment.use();
  }

  readonly release = (): void => {
    assert(!this.#isReleased, 'a pin is released once');
    this.#isReleased = true;
    for (const held of this.#held) held.release();
    for (const resident of this.#pinned) this.#source.resident.unpin(resident);
    for (const segment of this.#segments) segment.letGo();
  };

  holdings(): { pinned: readonly Resident[]; dictionaries: ReadonlyMap<string, GlobalDictionary> } {
    return { pinned: this.#pinned, dictionaries: this.#dictionaries };
  }

  async pinColumns(
    namesOf: (segment: OpenSegment) => ReadonlySet<string>,
    leftOut: Readonly<Record<string, readonly string[]>>,
  ): Promise<void> {
    await settleAll(this.#columnsOf(namesOf, leftOut), async ({ segment, name, column }) => {
      const { resident, view, bytesRead } = await segment.pinColumn(column);
      this.#pinned.push(resident);
      this.bytesRead += bytesRead;
      this.#viewsOf(segment).set(name, view);
    });
  }

  /** Holds the dictionaries of pinned columns. */
  async holdDictionaries(names: ReadonlySet<string>): Promise<Record<string, GlobalDictionaryView>> {
    const dictionaries = new Map<string, GlobalDictionaryView>();
    for (const name of names) {
      const view = await this.#holdDictionary(name);
      if (view !== null) dictionaries.set(name, view);
    }
    return Object.fromEntries(dictionaries);
  }

  views(): SegmentView[] {
    return this.#segments.map((segment) => ({
      id: segment.id,
      dataSource: segment.descriptor.id.dataSource,
      interval: segment.descriptor.id.interval,
      rowCount: segment.footer.rowCount,
      timeMin: segment.footer.timeMin,
      timeMax: segment.footer.timeMax,
      // Any name may be a column's, `__proto__` too: only entries make it a property.
      columns: Object.fromEntries(this.#viewsOf(segment)),
    }));
  }

  async #holdDictionary(name: string): Promise<GlobalDictionaryView | null> {
    const holders = this.#segments.filter((segment) => segment.find(name)?.kind === 'string');
    const dataSource = holders[0]?.descriptor.id.dataSource;
    if (dataSource === undefined) return null;
    const global = this.#source.dictionary(dataSource, name);
    const remaps = createByName<number>();
    await settleAll(holders, async (segment) => {
      assert(segment.descriptor.id.dataSource === dataSource, 'ids are compared within one datasource');
      const stored = segment.find(name);
      const view = this.#viewsOf(segment).get(name);
      assert(stored?.kind === 'string' && view?.kind === 'string', 'a string column with a dictionary is pinned');
      const remap = await segment.pinRemap(name, view.dictionary, stored.dictionary.text.length, global);
      this.#pinned.push(remap);
      remaps[segment.id] = remap.address;
    });
    const held = global.hold();
    this.#held.push(held);
    this.#dictionaries.set(name, global);
    return { count: held.count, entries: held.address, remaps };
  }

  *#columnsOf(
    namesOf: (segment: OpenSegment) => ReadonlySet<string>,
    leftOut: Readonly<Record<string, readonly string[]>>,
  ): Generator<{ readonly segment: OpenSegment; readonly name: string; readonly column: StoredColumn }> {
    for (const segment of this.#segments) {
      const spared = new Set(own(leftOut, segment.id));
      for (const name of new Set([...namesOf(segment)].map((each) => segment.nameToRead(each)))) {
        const column = segment.find(name);
        if (column !== undefined && !spared.has(name)) yield { segment, name, column };
      }
    }
  }

  #viewsOf(segment: OpenSegment): Map<string, ColumnView> {
    return this.#columns.get(segment) ?? new Map();
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
  const takeItems = async (): Promise<void> => {
    for (let next = left.next(); !isFailed && next.done !== true; next = left.next()) {
      await work(next.value);
      if (turns.isDue) await turns.give();
    }
  };
  const settled = await Promise.allSettled(
    Array.from({ length: LOADS_AT_A_TIME }, () =>
      takeItems().catch((error: unknown) => {
        isFailed = true;
        throw error;
      }),
    ),
  );
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
}
