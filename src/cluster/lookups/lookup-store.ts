// The lookups that a process has loaded for queries.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { nearestName } from '../../base/nearest-name.js';
import { formatInstant } from '../../base/time.js';
import type { Frame } from '../../model/frame.js';
import { type LookupTable, readerOf } from '../../model/lookup/lookup-table.js';
import type { Lookup } from '../coordinator/lookups.js';
import { type LoadedLookup, LookupKeeper } from './lookup-keeper.js';
import type { LookupSettings } from './lookup-source.js';
import { parseLookupSource } from './lookup-spec.js';

/** One configured lookup. */
interface Place {
  /** JSON of the configuration. */
  readonly configured: string;
  /** Undefined when the configuration cannot be read. */
  readonly keeper: LookupKeeper | undefined;
  readonly refusal: string | undefined;
  /** The version before a configuration that cannot be read. */
  readonly before: LoadedLookup | undefined;
}

/** Rows of a lookup, read in turns. */
export interface LookupRows {
  /** Null: not known before they are read. */
  readonly rowCount: number | null;
  /** The entries that are the rows; left out: not known. */
  readonly table?: LookupTable;
  /** Columns `k` and `v`, a row for each key. */
  readonly frames: () => AsyncIterable<Frame>;
}

/** The lookups of one process. */
export class LookupStore {
  readonly #settings: LookupSettings;
  readonly #places = new Map<string, Place>();

  constructor(settings: LookupSettings) {
    this.#settings = settings;
  }

  /**
   * Replaces the lookups by the configured ones; resolves when those are there whose entries are configured too. Of others the
   * version before answers until the new one is loaded.
   */
  async replace(configured: Readonly<Record<string, Lookup>>): Promise<void> {
    for (const [name, place] of this.#places)
      if (!Object.hasOwn(configured, name)) {
        place.keeper?.stop();
        this.#places.delete(name);
      }
    const started: Promise<void>[] = [];
    for (const [name, lookup] of Object.entries(configured)) {
      const text = stringifyJson(lookup);
      const known = this.#places.get(name);
      if (known?.configured === text) continue;
      const before = known?.keeper?.held ?? known?.before;
      known?.keeper?.stop();
      try {
        const source = parseLookupSource(lookup.lookupExtractorFactory, name, this.#settings);
        const keeper = new LookupKeeper(name, lookup, source, this.#settings, before);
        this.#places.set(name, { configured: text, keeper, refusal: undefined, before: undefined });
        const first = keeper.start();
        if (source.isInline) started.push(first);
      } catch (error) {
        const refusal = error instanceof Error ? error.message : String(error);
        this.#settings.log.warn('lookup is refused', { lookup: name, reason: refusal });
        this.#places.set(name, { configured: text, keeper: undefined, refusal, before });
      }
    }
    await Promise.all(started);
  }

  /** Ends what looks at sources. */
  close(): void {
    for (const { keeper } of this.#places.values()) keeper?.stop();
  }

  /** Names of the lookups that queries can use. */
  names(): readonly string[] {
    return [...this.#places].flatMap(([name, place]) => (heldOf(place) === undefined ? [] : [name]));
  }

  find(name: string): LoadedLookup | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : heldOf(place);
  }

  /** Entries of these, whichever lookup has them. */
  tableWith(digest: string): LookupTable | undefined {
    for (const place of this.#places.values()) {
      const table = heldOf(place)?.table;
      if (table?.digest === digest) return table;
    }
    return undefined;
  }

  /** The lookups that are loaded, as they were configured. */
  current(): Readonly<Record<string, Lookup>> {
    return Object.fromEntries(
      [...this.#places].flatMap(([name, place]) => {
        const lookup = heldOf(place)?.lookup;
        return lookup === undefined ? [] : [[name, lookup]];
      }),
    );
  }

  /** Why the configured version of a lookup is not there, or its entries are not those of its source, by name. */
  failed(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...this.#places].flatMap(([name, { keeper, refusal }]) => {
        const failure = keeper?.failure;
        if (refusal !== undefined) return [[name, refusal]];
        return failure === undefined ? [] : [[name, `${failure.message} (since ${formatInstant(failure.sinceMs)})`]];
      }),
    );
  }

  /** @throws ServiceError `query_invalid` for a name that is not loaded */
  table(name: string): LookupTable {
    const held = this.find(name);
    if (held !== undefined) return held.table;
    const place = this.#places.get(name);
    const nearest = nearestName(name, this.names());
    const isLoading = place?.keeper !== undefined && place.keeper.failure === undefined;
    const reason = isLoading ? 'it is being loaded' : (place?.refusal ?? place?.keeper?.failure?.message);
    const hint = reason ?? (nearest === undefined ? 'no lookup of that name is loaded' : `did you mean "${nearest}"?`);
    throw new ServiceError('query_invalid', `unknown lookup "${name}": ${hint}`);
  }

  /** @throws ServiceError `query_invalid` for a name that is not loaded */
  rows(name: string): LookupRows {
    return lookupRows(this.table(name));
  }
}

function heldOf({ keeper, before }: Place): LoadedLookup | undefined {
  return keeper?.held ?? before;
}

export function lookupRows(table: LookupTable): LookupRows {
  return { rowCount: table.length, table, frames: () => framesOf(table) };
}

const FRAME_ROWS = 4096;

async function* framesOf(table: LookupTable): AsyncGenerator<Frame> {
  const reader = readerOf(table);
  const turns = new LoopTurns();
  for (let from = 0; from < reader.length; from += FRAME_ROWS) {
    const rowCount = Math.min(FRAME_ROWS, reader.length - from);
    const ids = Uint32Array.from({ length: rowCount }, (_, row) => row);
    const values = new Map<number, number>();
    const valueIds = new Uint32Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      const id = reader.valueIds[from + row] ?? 0;
      const known = values.get(id) ?? values.size;
      values.set(id, known);
      valueIds[row] = known;
    }
    const keys = Array.from(ids, (row) => reader.key(from + row));
    yield {
      rowCount,
      columns: [
        { kind: 'string', name: 'k', ids, dictionary: keys },
        { kind: 'string', name: 'v', ids: valueIds, dictionary: [...values.keys()].map((id) => reader.value(id)) },
      ],
    };
    if (turns.isDue) await turns.give();
  }
}
