// Pins the values of lookups for a query, and their ids for its segments.

import { ServiceError } from '../base/errors.js';
import type { LookedUpColumn } from '../model/lookup/looked-up-column.js';
import type { LookupTable } from '../model/lookup/lookup-table.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import { lookedUpBytes, lookupValuesBytes } from './jobs/look-up.js';
import type { RunStorageJob } from './jobs.js';
import type { DictionaryView } from './view.js';

/** The values of lookups in kernel memory, and what the dictionaries of columns are looked up as: kept between queries, under the budget of columns. */
export class LookedUpValues {
  readonly #resident: BufferPool;
  readonly #run: RunStorageJob;
  /** Columns as they were loaded: what a later load puts into memory may be another. */
  readonly #numbers = new WeakMap<Resident, number>();
  #count = 0;

  constructor(resident: BufferPool, run: RunStorageJob) {
    this.#resident = resident;
    this.#run = run;
  }

  /** The values by id (`jobs/look-up.ts`), pinned; undefined when there is no room for them. */
  async pinValues({ table, missing }: LookedUpColumn): Promise<Resident | undefined> {
    const key = JSON.stringify(['lookup values', table.digest, missing]);
    return await unlessFull(
      this.#resident.pin(key, lookupValuesBytes(table, missing), async (address) => {
        await this.#run('loadLookup', { table: sharedTable(table), missing, address });
      }),
    );
  }

  /** The ids of the entries of a column that the caller has pinned, pinned too; undefined when there is no room for them. */
  async pinIds(
    { table, missing }: LookedUpColumn,
    column: Resident | undefined,
    dictionary: DictionaryView,
  ): Promise<Resident | undefined> {
    const key = JSON.stringify(['lookup ids', table.digest, missing, column === undefined ? null : this.#numberOf(column)]);
    return await unlessFull(
      this.#resident.pin(key, lookedUpBytes(dictionary.count), async (address) => {
        await this.#run('lookUp', { table: sharedTable(table), missing, dictionary, address });
      }),
    );
  }

  #numberOf(column: Resident): number {
    const number = this.#numbers.get(column) ?? this.#count++;
    this.#numbers.set(column, number);
    return number;
  }
}

/** The allocation, or undefined: a query can do without it. */
async function unlessFull(pinning: Promise<Resident>): Promise<Resident | undefined> {
  try {
    return await pinning;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'resource_limit') return undefined;
    throw error;
  }
}

const SHARED = new WeakMap<LookupTable, LookupTable>();

/** A table that crosses threads without being copied each time: one from another process lies in memory of this thread. */
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
