// Checks that metadata and deep storage belong together before anything is deleted.

import { randomUUID } from 'node:crypto';
import type { EpochMs } from '../base/instant.js';
import { isRecord, parseJsonWithDoubles } from '../base/json.js';
import type { Database, Queries } from '../metadata/database.js';
import { type Fence, fencedTransaction } from '../metadata/leadership.js';
import { findConfig, writeConfig } from '../metadata/settings.js';
import { findTaskByFileName } from '../metadata/tasks.js';
import type { DeepStorage } from '../storage/contract.js';

/**
 * Whether a metadata store has seen every publish into a deep storage. Both keep the token of the last publish: deep
 * storage in a record beside the segments, the metadata store in its configuration. The record is written inside the
 * transaction of the publish, before it commits, and also names the token before it. So
 *
 *   tokens equal                           the store has seen every publish
 *   the store's is the record's previous   one publish is unsettled: it did not commit, or the store is a copy from
 *                                          just before it; the files of its task are kept
 *   anything else                          the store is empty, older or another one: nothing is removed
 *
 * until a person confirms the store.
 */
export type Ownership =
  | {
      readonly state: 'confirmed';
      /** Files of tasks that the store does not know may be removed when they are older; 0: none may. */
      readonly confirmedMs: EpochMs;
      /** Tasks of which nobody can say whether they published. */
      readonly unsettledTasks: readonly string[];
    }
  | { readonly state: 'unconfirmed'; readonly reason: string };

/** JSON record next to the segments in deep storage. */
interface StorageRecord {
  readonly storeId: string;
  readonly publication: string;
  readonly previous: string | null;
  /** Task of the last publish. */
  readonly taskId: string | null;
  readonly unsettledTasks: readonly string[];
  readonly confirmedMs: EpochMs;
}

/** JSON record in the metadata store. */
interface StoreRecord {
  readonly storeId: string;
  readonly publication: string;
}

const CONFIG_NAME = 'deepStorage';

/** Result of `read`. */
interface Records {
  readonly store: StoreRecord | undefined;
  readonly storage: StorageRecord | undefined;
  readonly ownership: Ownership;
}

export class StorageOwner {
  readonly #storage: DeepStorage;

  constructor(storage: DeepStorage) {
    this.#storage = storage;
  }

  /** Compares both records. A new metadata store takes a deep storage in which nothing lies, or only files of its own tasks. */
  async check(database: Database, fence: Fence): Promise<Ownership> {
    return fencedTransaction(database, fence, async (queries) => {
      const { store, storage, ownership } = await this.#read(queries);
      if (ownership.state === 'confirmed') return ownership;
      const files = await this.#whoseFiles(queries);
      if (files === 'others' || (files === 'own' && storage !== undefined)) return ownership;
      return this.#write(queries, firstRecord(store, 0));
    });
  }

  /** Records a publish; to be called in its transaction, last. An unconfirmed store leaves the record of the other one. */
  async recordPublish(queries: Queries, taskId: string): Promise<void> {
    const { store, storage, ownership } = await this.#read(queries);
    if (store === undefined || storage === undefined || ownership.state === 'unconfirmed') return;
    await this.#write(queries, {
      storeId: store.storeId,
      publication: randomUUID(),
      previous: store.publication,
      taskId,
      unsettledTasks: ownership.unsettledTasks.filter((each) => each !== taskId),
      confirmedMs: storage.confirmedMs,
    });
  }

  /** A person says that this metadata store is the one that counts: what it does not know may be removed. */
  async confirm(database: Database, fence: Fence, nowMs: EpochMs): Promise<Ownership> {
    return fencedTransaction(database, fence, async (queries) => {
      const { store } = await this.#read(queries);
      return this.#write(queries, firstRecord(store, nowMs));
    });
  }

  async #read(queries: Queries): Promise<Records> {
    const store = parseStoreRecord(await findConfig(queries, CONFIG_NAME));
    const storage = parseStorageRecord(await this.#storage.readRecord());
    return { store, storage, ownership: compare(store, storage) };
  }

  /** Deep storage first: a record that is ahead of its store keeps files, one that is behind would let them go. */
  async #write(queries: Queries, record: StorageRecord): Promise<Ownership> {
    await this.#storage.writeRecord(JSON.stringify(record));
    const own: StoreRecord = { storeId: record.storeId, publication: record.publication };
    await writeConfig(queries, CONFIG_NAME, JSON.stringify(own));
    return { state: 'confirmed', confirmedMs: record.confirmedMs, unsettledTasks: record.unsettledTasks };
  }

  /** `own`: all are of tasks that the metadata store knows. */
  async #whoseFiles(queries: Queries): Promise<'none' | 'own' | 'others'> {
    const known = new Set<string>();
    for await (const { path } of this.#storage.list()) {
      const [folder = ''] = path.split('/');
      if (known.has(folder)) continue;
      if ((await findTaskByFileName(queries, folder)) === undefined) return 'others';
      known.add(folder);
    }
    return known.size === 0 ? 'none' : 'own';
  }
}

/** First ownership record of a deep storage, written when a metadata store takes it over. */
function firstRecord(store: StoreRecord | undefined, confirmedMs: number): StorageRecord {
  const storeId = store?.storeId ?? randomUUID();
  return { storeId, publication: randomUUID(), previous: null, taskId: null, unsettledTasks: [], confirmedMs };
}

function compare(store: StoreRecord | undefined, storage: StorageRecord | undefined): Ownership {
  const unconfirmed = (reason: string): Ownership => ({ state: 'unconfirmed', reason });
  if (storage === undefined)
    return unconfirmed('deep storage holds files, but no readable record of the metadata store that published them');
  if (store === undefined) return unconfirmed(`deep storage belongs to metadata store ${storage.storeId}; this one is new or was emptied`);
  if (store.storeId !== storage.storeId)
    return unconfirmed(`deep storage belongs to metadata store ${storage.storeId}; this one is ${store.storeId}`);
  const { confirmedMs, unsettledTasks } = storage;
  if (store.publication === storage.publication) return { state: 'confirmed', confirmedMs, unsettledTasks };
  if (store.publication !== storage.previous)
    return unconfirmed('deep storage holds publishes that this metadata store has not seen: the store is an older copy');
  const unsettled = storage.taskId === null ? unsettledTasks : [...new Set([...unsettledTasks, storage.taskId])];
  return { state: 'confirmed', confirmedMs, unsettledTasks: unsettled };
}

function parseStoreRecord(text: string | undefined): StoreRecord | undefined {
  const value = parseRecord(text);
  const { storeId, publication } = value ?? {};
  return typeof storeId === 'string' && typeof publication === 'string' ? { storeId, publication } : undefined;
}

function parseStorageRecord(text: string | undefined): StorageRecord | undefined {
  const value = parseRecord(text);
  const store = parseStoreRecord(text);
  if (value === undefined || store === undefined) return undefined;
  const { previous, taskId, unsettledTasks, confirmedMs } = value;
  const isTextOrNull = (each: unknown): each is string | null => each === null || typeof each === 'string';
  if (!isTextOrNull(previous) || !isTextOrNull(taskId) || typeof confirmedMs !== 'number') return undefined;
  if (!Array.isArray(unsettledTasks) || !unsettledTasks.every((each): each is string => typeof each === 'string')) return undefined;
  return { ...store, previous, taskId, unsettledTasks, confirmedMs };
}

/** A record that cannot be read confirms nothing. */
function parseRecord(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJsonWithDoubles(text ?? 'null');
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
