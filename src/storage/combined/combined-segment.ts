// Several segments as one: their columns joined in kernel memory, under the budget of all columns.

import { createHash } from 'node:crypto';
import { BoundedCache } from '../../base/bounded-cache.js';
import { assert } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { flatMapped } from '../../base/lists.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { BufferPool, Resident } from '../buffer-pool.js';
import type { StoredColumn } from '../format.js';
import type { GlobalDictionary } from '../global-dictionaries.js';
import type { CombinedPart } from '../jobs/combine-column.js';
import type { RunStorageJob } from '../jobs.js';
import { OpenSegment } from '../open-segment.js';
import type { PinnedColumn, ReadSegment } from '../read-segment.js';
import type { StoreSegment } from '../store-segment.js';
import type { ColumnView, DictionaryView } from '../view.js';

/** Parts in the order of their rows: segments with files, as those in memory are read by themselves, or runs of them. */
interface Joined {
  readonly parts: readonly ReadSegment[];
  /** All that it holds rows of. */
  readonly segments: readonly StoreSegment[];
}

/** Pieces asked for of late. */
const ASKED_COUNT = 1024;
/** Each time that a segment has so many more keys, those of columns that are gone are forgotten. */
const KEYS_BETWEEN = 64;

/** Joined columns of a process; those that nobody pins give way like any other column, and end with a segment that they hold. */
export class CombinedColumns {
  readonly #resident: BufferPool;
  readonly #run: RunStorageJob;
  readonly #views = new WeakMap<Resident, ColumnView>();
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #keysOf = new Map<StoreSegment, Set<string>>();
  readonly #asked = new BoundedCache<string, true>(ASKED_COUNT);

  constructor(resident: BufferPool, run: RunStorageJob) {
    this.#resident = resident;
    this.#run = run;
  }

  /** Drops what holds rows of a segment, which nobody uses any more. */
  forget(segment: StoreSegment): void {
    for (const key of this.#keysOf.get(segment) ?? []) this.#resident.drop(key);
    this.#keysOf.delete(segment);
  }

  /** Whether the same piece was asked for before, whichever of its columns. */
  isAskedAgain(id: string): boolean {
    if (this.#asked.find(id) === true) return true;
    this.#asked.keep(id, true);
    return false;
  }

  /** Forgets that a piece was asked for: there is no room for it as one now. */
  forgetAsking(id: string): void {
    this.#asked.delete(id);
  }

  async pinColumn(key: string, name: string, joined: Joined): Promise<PinnedColumn> {
    for (;;) {
      const resident = this.#resident.find(key);
      const view = resident === undefined ? undefined : this.#views.get(resident);
      if (resident !== undefined && view !== undefined) return { resident, view, bytesRead: 0 };
      const other = this.#underWay.get(key);
      if (other !== undefined) {
        await other.catch(() => undefined);
        continue;
      }
      const made = this.#join(key, name, joined).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, made);
      return await made;
    }
  }

  /** Datasource-wide ids of a joined column that the caller has pinned; pinned too. */
  async pinRemap(key: string, dictionary: DictionaryView, global: GlobalDictionary, joined: Joined): Promise<Resident> {
    await this.#remember(key, joined);
    return global.pinRemap(key, dictionary);
  }

  async #join(key: string, name: string, joined: Joined): Promise<PinnedColumn> {
    const parts: CombinedPart[] = [];
    const pinned: Resident[] = [];
    let bytesRead = 0;
    try {
      for (const part of joined.parts) {
        const found = part.kindOf(name) === undefined ? null : await part.pin(name);
        if (found !== null) pinned.push(found.resident);
        bytesRead += found?.bytesRead ?? 0;
        parts.push({ rowCount: part.rowCount, view: found?.view ?? null });
      }
      const { resident, view } = await this.#keep(key, name, parts, pinned);
      this.#views.set(resident, view);
      await this.#remember(key, joined);
      return { resident, view, bytesRead };
    } finally {
      for (const resident of pinned) this.#resident.unpin(resident);
    }
  }

  /** Reserved while it is made: what the parts take together, which joined columns rarely exceed. */
  async #keep(
    key: string,
    name: string,
    parts: readonly CombinedPart[],
    pinned: readonly Resident[],
  ): Promise<{ readonly resident: Resident; readonly view: ColumnView }> {
    let reserved = pinned.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#resident.reserve(reserved);
    try {
      const { view, address, bytes } = await this.#run('combineColumn', { name, parts });
      const resident = this.#resident.adopt(key, address, bytes, reserved);
      reserved = 0;
      return { resident, view };
    } finally {
      this.#resident.unreserve(reserved);
    }
  }

  /** Whoever reads the segments holds them: none is forgotten meanwhile. */
  async #remember(key: string, { segments }: Joined): Promise<void> {
    const turns = new LoopTurns();
    for (const segment of segments) {
      const keys = this.#keysOf.get(segment) ?? new Set();
      if (keys.size % KEYS_BETWEEN === KEYS_BETWEEN - 1) for (const each of keys) if (!this.#resident.has(each)) keys.delete(each);
      this.#keysOf.set(segment, keys.add(key));
      if (turns.isDue) await turns.give();
    }
  }
}

/** Segments behind each other, or runs of them, as a segment to be read. */
export class CombinedSegment implements ReadSegment {
  readonly id: string;
  readonly dataSource: string;
  readonly interval: Interval;
  readonly rowCount: number;
  readonly timeMin: number;
  readonly timeMax: number;
  readonly segments: readonly StoreSegment[];
  readonly #parts: readonly ReadSegment[];
  /** The one type of each column that was asked for; columns that no part has are missing. */
  readonly #types: ReadonlyMap<string, string>;
  readonly #columns: CombinedColumns;

  private constructor({ parts, segments }: Joined, types: ReadonlyMap<string, string>, columns: CombinedColumns) {
    const [first, last] = [parts[0], parts.at(-1)];
    assert(first !== undefined && last !== undefined, 'of nothing no segment is made');
    this.segments = segments;
    this.#parts = parts;
    this.#types = types;
    this.#columns = columns;
    const digest = createHash('sha256');
    for (const part of parts) digest.update(part instanceof OpenSegment ? `${part.serial} ` : part.id);
    this.id = `${first.id} ${digest.digest('hex')}`;
    this.dataSource = first.dataSource;
    this.interval = { start: first.interval.start, end: last.interval.end };
    this.rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
    this.timeMin = first.timeMin;
    this.timeMax = last.timeMax;
  }

  /** Undefined where a column is of another type, or a field of JSON kept as a column, in some of the segments only. */
  static of(segments: readonly StoreSegment[], names: readonly string[], columns: CombinedColumns): CombinedSegment | undefined {
    const parts = segments.filter((segment) => segment instanceof OpenSegment);
    if (parts.length < segments.length) return undefined;
    const types = typesOf(parts, names);
    return types === undefined ? undefined : new CombinedSegment({ parts, segments }, types, columns);
  }

  /**
   * Runs that were made for the same names, and segments, as one; undefined as in `of`, and where a column has nearly as many strings as rows:
   * to join these takes longer than to read them one by one.
   */
  static together(parts: readonly ReadSegment[], names: readonly string[], columns: CombinedColumns): CombinedSegment | undefined {
    const known = parts.filter((part) => part instanceof OpenSegment || part instanceof CombinedSegment);
    if (known.length < parts.length || known.some((part) => part instanceof OpenSegment && hasManyStrings(part, names))) return undefined;
    const types = typesOf(known, names);
    const segments = flatMapped(known, (part): readonly StoreSegment[] => (part instanceof OpenSegment ? [part] : part.segments));
    return types === undefined ? undefined : new CombinedSegment({ parts, segments }, types, columns);
  }

  /** Type of a column that was asked for; undefined when no part has it. */
  typeOf(name: string): string | undefined {
    return this.#types.get(name);
  }

  nameToRead(name: string): string {
    return this.#parts[0]?.nameToRead(name) ?? name;
  }

  kindOf(name: string): StoredColumn['kind'] | undefined {
    for (const part of this.#parts) {
      const kind = part.kindOf(name);
      if (kind !== undefined) return kind;
    }
    return undefined;
  }

  isAmong(segmentIds: ReadonlySet<string>): boolean {
    return this.#parts.some((part) => part.isAmong(segmentIds));
  }

  pin(name: string): Promise<PinnedColumn> {
    return this.#columns.pinColumn(this.#key('column', name), name, this.#joined);
  }

  pinRemap(name: string, dictionary: DictionaryView, global: GlobalDictionary): Promise<Resident> {
    return this.#columns.pinRemap(this.#key('remap', name), dictionary, global, this.#joined);
  }

  get #joined(): Joined {
    return { parts: this.#parts, segments: this.segments };
  }

  #key(kind: 'column' | 'remap', name: string): string {
    return JSON.stringify(['combined', kind, this.id, name]);
  }
}

/** Types by stored column; undefined where parts read other columns for a name, or a column of another type. */
function typesOf(parts: readonly (OpenSegment | CombinedSegment)[], names: readonly string[]): ReadonlyMap<string, string> | undefined {
  const types = new Map<string, string>();
  for (const name of names) {
    const read = parts[0]?.nameToRead(name) ?? name;
    for (const part of parts) {
      if (part.nameToRead(name) !== read) return undefined;
      const type = part.typeOf(read);
      if (type === undefined) continue;
      if ((types.get(read) ?? type) !== type) return undefined;
      types.set(read, type);
    }
  }
  return types;
}

/** Rows for each string of a column below which its strings are many. */
const ROWS_EACH = 2;

function hasManyStrings(segment: OpenSegment, names: readonly string[]): boolean {
  return names.some((name) => {
    const column = segment.find(segment.nameToRead(name));
    return column?.kind === 'string' && column.dictionary.count * ROWS_EACH > segment.rowCount;
  });
}
