// Several small segments as one: their columns joined in kernel memory, under the budget of all columns.

import type { Interval } from '../../base/instant.js';
import type { BufferPool, Resident } from '../buffer-pool.js';
import type { StoredColumn } from '../format.js';
import type { GlobalDictionary } from '../global-dictionaries.js';
import type { CombinedPart } from '../jobs/combine-column.js';
import type { RunStorageJob } from '../jobs.js';
import { OpenSegment } from '../open-segment.js';
import type { PinnedColumn, ReadSegment } from '../read-segment.js';
import type { StoreSegment } from '../store-segment.js';
import type { ColumnView, DictionaryView } from '../view.js';
import type { Chunk } from './chunks.js';

/** A chunk of several: segments with files, as those in memory are read by themselves. */
type Joined = readonly OpenSegment[];

/** Joined columns of a process; those that nobody pins give way like any other column, and end with a segment that they hold. */
export class CombinedColumns {
  readonly #resident: BufferPool;
  readonly #run: RunStorageJob;
  readonly #views = new WeakMap<Resident, ColumnView>();
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #keysOf = new Map<StoreSegment, Set<string>>();

  constructor(resident: BufferPool, run: RunStorageJob) {
    this.#resident = resident;
    this.#run = run;
  }

  /** Drops what holds rows of a segment, which nobody uses any more. */
  forget(segment: StoreSegment): void {
    for (const key of this.#keysOf.get(segment) ?? []) this.#resident.drop(key);
    this.#keysOf.delete(segment);
  }

  async pinColumn(key: string, name: string, chunk: Joined): Promise<PinnedColumn> {
    for (;;) {
      const resident = this.#resident.find(key);
      const view = resident === undefined ? undefined : this.#views.get(resident);
      if (resident !== undefined && view !== undefined) return { resident, view, bytesRead: 0 };
      const other = this.#underWay.get(key);
      if (other !== undefined) {
        await other.catch(() => undefined);
        continue;
      }
      const made = this.#join(key, name, chunk).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, made);
      return await made;
    }
  }

  /** Datasource-wide ids of a joined column that the caller has pinned; pinned too. */
  pinRemap(key: string, dictionary: DictionaryView, global: GlobalDictionary, chunk: Joined): Promise<Resident> {
    this.#remember(key, chunk);
    return global.pinRemap(key, dictionary);
  }

  async #join(key: string, name: string, chunk: Joined): Promise<PinnedColumn> {
    const parts: CombinedPart[] = [];
    const pinned: Resident[] = [];
    let bytesRead = 0;
    try {
      for (const segment of chunk) {
        const column = segment.find(name);
        const found = column === undefined ? null : await segment.pinColumn(column);
        if (found !== null) pinned.push(found.resident);
        bytesRead += found?.bytesRead ?? 0;
        parts.push({ rowCount: segment.footer.rowCount, view: found?.view ?? null });
      }
      const { resident, view } = await this.#keep(key, name, parts, pinned);
      this.#views.set(resident, view);
      this.#remember(key, chunk);
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

  #remember(key: string, chunk: Joined): void {
    for (const segment of chunk) {
      const keys = this.#keysOf.get(segment) ?? new Set();
      this.#keysOf.set(segment, keys.add(key));
    }
  }
}

/** A chunk as a segment to be read. */
export class CombinedSegment implements ReadSegment {
  readonly id: string;
  readonly dataSource: string;
  readonly interval: Interval;
  readonly rowCount: number;
  readonly timeMin: number;
  readonly timeMax: number;
  readonly #chunk: Joined;
  readonly #columns: CombinedColumns;

  private constructor(chunk: Joined, first: OpenSegment, last: OpenSegment, columns: CombinedColumns) {
    this.#chunk = chunk;
    this.#columns = columns;
    this.id = `${first.id} ${chunk.map(({ serial }) => serial).join()}`;
    this.dataSource = first.dataSource;
    this.interval = { start: first.interval.start, end: last.interval.end };
    this.rowCount = chunk.reduce((sum, segment) => sum + segment.rowCount, 0);
    this.timeMin = first.timeMin;
    this.timeMax = last.timeMax;
  }

  /** Undefined where a column is of another type, or a field of JSON kept as a column, in some of the segments only. */
  static of(segments: Chunk, names: readonly string[], columns: CombinedColumns): CombinedSegment | undefined {
    const chunk = segments.filter((segment) => segment instanceof OpenSegment);
    const [first, last] = [chunk[0], chunk.at(-1)];
    if (first === undefined || last === undefined || chunk.length < segments.length) return undefined;
    const isOne = names.every((name) => {
      const read = first.nameToRead(name);
      const types = new Set<string>();
      for (const segment of chunk) {
        if (segment.nameToRead(name) !== read) return false;
        const column = segment.find(read);
        if (column !== undefined) types.add(typeOf(column));
      }
      return types.size <= 1;
    });
    return isOne ? new CombinedSegment(chunk, first, last, columns) : undefined;
  }

  nameToRead(name: string): string {
    return this.#chunk[0]?.nameToRead(name) ?? name;
  }

  kindOf(name: string): StoredColumn['kind'] | undefined {
    return this.#chunk.map((segment) => segment.kindOf(name)).find((kind) => kind !== undefined);
  }

  isAmong(segmentIds: ReadonlySet<string>): boolean {
    return this.#chunk.some(({ id }) => segmentIds.has(id));
  }

  pin(name: string): Promise<PinnedColumn> {
    return this.#columns.pinColumn(this.#key('column', name), name, this.#chunk);
  }

  pinRemap(name: string, dictionary: DictionaryView, global: GlobalDictionary): Promise<Resident> {
    return this.#columns.pinRemap(this.#key('remap', name), dictionary, global, this.#chunk);
  }

  #key(kind: 'column' | 'remap', name: string): string {
    return JSON.stringify(['combined', kind, this.id, name]);
  }
}

function typeOf(column: StoredColumn): string {
  return column.kind === 'number' ? column.type : (column.type ?? 'STRING');
}
