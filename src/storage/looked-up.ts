// Keeps columns made of stored ones by way of lookups, and the ids that their values have in all segments.

import { ServiceError } from '../base/errors.js';
import type { KernelMemory } from '../kernels/memory.js';
import type { Expression } from '../model/expression.js';
import type { LookedUpColumn } from '../model/lookup/looked-up-column.js';
import type { LookupTable } from '../model/lookup/lookup-table.js';
import { rewriteData } from '../model/rewrite/rewrite-data.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import { GlobalDictionary } from './global-dictionaries.js';
import type { RunStorageJob } from './jobs.js';
import type { PinnedColumn } from './read-segment.js';
import type { ColumnView } from './view.js';

/** A stored column that the caller has pinned; undefined: the segment has none. */
export type PinnedBase = Pick<PinnedColumn, 'resident' | 'view'> | undefined;

/** Looked-up columns in kernel memory, kept between queries like stored ones, under the budget of these. */
export class LookedUpColumns {
  readonly #memory: KernelMemory;
  readonly #resident: BufferPool;
  readonly #run: RunStorageJob;
  /** Columns as they were loaded, and dictionaries as they began: later ones may be others. */
  readonly #numbers = new WeakMap<object, number>();
  readonly #views = new WeakMap<Resident, ColumnView>();
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Dictionaries by the names of datasources and columns, those alone that take memory. */
  readonly #dictionaries = new Map<string, GlobalDictionary>();
  #count = 0;

  constructor(memory: KernelMemory, resident: BufferPool, run: RunStorageJob) {
    this.#memory = memory;
    this.#resident = resident;
    this.#run = run;
  }

  /** The column of a segment of so many rows, pinned; undefined where it is computed row by row, or there is no room for it. */
  async pin(looked: LookedUpColumn, base: PinnedBase, rowCount: number): Promise<Omit<PinnedColumn, 'bytesRead'> | undefined> {
    const key = this.#keyOf('column', looked, base?.resident, rowCount);
    for (;;) {
      const resident = this.#resident.find(key);
      const view = resident === undefined ? undefined : this.#views.get(resident);
      if (resident !== undefined && view !== undefined) return { resident, view };
      const other = this.#underWay.get(key);
      if (other !== undefined) {
        if ((await other) === undefined) return undefined;
        continue;
      }
      const made = this.#make(key, looked, base, rowCount).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, made);
      return await made;
    }
  }

  /** Ids that the values of a looked-up column have in all segments of a datasource. */
  dictionary(dataSource: string, looked: LookedUpColumn): GlobalDictionary {
    const key = JSON.stringify([dataSource, looked.name]);
    const known = this.#dictionaries.get(key);
    if (known !== undefined) return known;
    const made = new GlobalDictionary(this.#memory, this.#resident, this.#run, () => this.#dictionaries.delete(key));
    this.#dictionaries.set(key, made);
    return made;
  }

  /** Name of the ids that a column has in a dictionary. */
  remapKey(looked: LookedUpColumn, global: GlobalDictionary, base: Resident | undefined, rowCount: number): string {
    return JSON.stringify([this.#numberOf(global), this.#keyOf('remap', looked, base, rowCount)]);
  }

  #keyOf(kind: string, { name }: LookedUpColumn, base: Resident | undefined, rowCount: number): string {
    return JSON.stringify(['looked up', kind, name, base === undefined ? `${rowCount} rows` : this.#numberOf(base)]);
  }

  #numberOf(object: object): number {
    const number = this.#numbers.get(object) ?? this.#count++;
    this.#numbers.set(object, number);
    return number;
  }

  async #make(
    key: string,
    looked: LookedUpColumn,
    base: PinnedBase,
    rowCount: number,
  ): Promise<Omit<PinnedColumn, 'bytesRead'> | undefined> {
    let reserved = base?.resident.bytes ?? rowCount;
    try {
      this.#resident.reserve(reserved);
    } catch (error) {
      return withoutRoom(error);
    }
    try {
      const request = { looked: { ...looked, expression: sharedExpression(looked.expression) }, view: base?.view ?? null, rowCount };
      const made = await this.#run('lookUp', request);
      if (made === null) return undefined;
      const { view, address, bytes } = made;
      const resident = this.#resident.adopt(key, address, bytes, reserved);
      reserved = 0;
      this.#views.set(resident, view);
      return { resident, view };
    } catch (error) {
      return withoutRoom(error);
    } finally {
      this.#resident.unreserve(reserved);
    }
  }
}

/** A query can do without the column; what an expression cannot compute of some value, it may never be asked for. */
function withoutRoom(error: unknown): undefined {
  if (error instanceof ServiceError && error.code !== 'internal') return undefined;
  throw error;
}

/** The expression with tables that cross threads without being copied: those from another process lie in memory of this thread. */
function sharedExpression(expression: Expression): Expression {
  return rewriteData(expression, (object) => ('packed' in object ? sharedTable(object as LookupTable) : object));
}

const SHARED = new WeakMap<LookupTable, LookupTable>();

function sharedTable(table: LookupTable): LookupTable {
  if (table.packed.buffer instanceof SharedArrayBuffer) return table;
  let shared = SHARED.get(table);
  if (shared === undefined) {
    const packed = new Uint8Array(new SharedArrayBuffer(table.packed.length));
    packed.set(table.packed);
    shared = { ...table, packed };
    SHARED.set(table, shared);
  }
  return shared;
}
