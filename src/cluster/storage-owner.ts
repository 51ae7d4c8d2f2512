// Checks that metadata and deep storage belong together before anything is deleted.

import { randomUUID } from 'node:crypto';
import { ServiceError } from '../base/errors.js';
import type { EpochMs } from '../base/instant.js';
import { isRecord, parseJsonWithDoubles } from '../base/json.js';
import type { Database, Queries } from '../metadata/database.js';
import { type Fence, fencedTransaction } from '../metadata/leadership.js';
import { findConfig, writeConfig } from '../metadata/settings.js';
import { findTaskByFileName } from '../metadata/tasks.js';
import type { DeepStorage } from '../storage/contract.js';

/**
 * Whether a metadata store has seen every publish into a deep storage. Both keep the token of the last publish: deep
 * storage in a record beside the segments, the metadata store in its configuration, with some before it. The record is written
 * before the transaction of the publish, which may not wait for deep storage, and also names the token before it. So
 *
 *   tokens equal                           the store has seen every publish
 *   the store's is the record's previous   one publish is unsettled: it did not commit, or the store is a copy from
 *                                          just before it; the files of its task are kept
 *   the store passed one of the record's   the record is late: of a leader that was replaced meanwhile, or a write that took long;
 *                                          its task is unsettled if the store has not seen its publish
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
  /** Tokens before it, the newest last. */
  readonly past: readonly string[];
}

const PAST_MAX = 100;
/** Attempts of a publish whose metadata store was confirmed meanwhile. */
const PUBLISH_ATTEMPTS = 3;

const CONFIG_NAME = 'deepStorage';

/** Result of `read`. */
interface Records {
  readonly store: StoreRecord | undefined;
  readonly storage: StorageRecord | undefined;
  readonly ownership: Ownership;
}

export class StorageOwner {
  readonly #storage: DeepStorage;

  /** The publish under way: each renews the record of the one before. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(storage: DeepStorage) {
    this.#storage = storage;
  }

  /** Compares both records. A new metadata store takes a deep storage in which nothing lies, or only files of its own tasks. */
  async check(database: Database, fence: Fence): Promise<Ownership> {
    const { ownership } = await this.#read(() => fencedTransaction(database, fence, storeRecord));
    if (ownership.state === 'confirmed' || (await this.#whoseFiles(database)) === 'others') return ownership;
    return fencedTransaction(database, fence, async (queries) => {
      const { store, storage, ownership } = await this.#read(() => storeRecord(queries));
      if (ownership.state === 'confirmed') return ownership;
      const files = await this.#whoseFiles(queries);
      if (files === 'others' || (files === 'own' && storage !== undefined)) return ownership;
      return this.#write(queries, firstRecord(store, 0), store);
    });
  }

  /**
   * Runs a publish and records it. An unconfirmed store leaves the record of the other one.
   * @param publish  one transaction, which calls `record` last; again when another publish came between
   */
  publish<Result>(
    database: Database,
    taskId: string,
    publish: (record: (queries: Queries) => Promise<void>) => Promise<Result>,
  ): Promise<Result> {
    const result = this.#last.then(() => this.#publish(database, taskId, publish));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #publish<Result>(
    database: Database,
    taskId: string,
    publish: (record: (queries: Queries) => Promise<void>) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const { store, storage, ownership } = await this.#read(() => storeRecord(database));
      if (store === undefined || storage === undefined || ownership.state === 'unconfirmed') return publish(async () => undefined);
      const record: StorageRecord = {
        storeId: store.storeId,
        publication: randomUUID(),
        previous: store.publication,
        taskId,
        unsettledTasks: ownership.unsettledTasks.filter((each) => each !== taskId),
        confirmedMs: storage.confirmedMs,
      };
      await this.#storage.writeRecord(JSON.stringify(record));
      let state: 'begun' | 'moved' | 'recorded' = 'begun';
      try {
        return await publish(async (queries) => {
          if ((await storeRecord(queries))?.publication !== store.publication) {
            state = 'moved';
            throw new ServiceError('conflict', 'the metadata store was confirmed anew meanwhile');
          }
          state = 'recorded';
          await writeStoreRecord(queries, record, store);
        });
      } catch (error) {
        const reached = state as typeof state | 'moved' | 'recorded';
        if (reached === 'moved' && attempt < PUBLISH_ATTEMPTS) continue;
        // The transaction was refused before its end: the task has not published, and will not under this record.
        if (reached === 'begun') await this.#storage.writeRecord(JSON.stringify(storage)).catch(() => undefined);
        throw error;
      }
    }
  }

  /** A person says that this metadata store is the one that counts: what it does not know may be removed. */
  async confirm(database: Database, fence: Fence, nowMs: EpochMs): Promise<Ownership> {
    return fencedTransaction(database, fence, async (queries) => {
      const store = await storeRecord(queries);
      return this.#write(queries, firstRecord(store, nowMs), store);
    });
  }

  /** Both records as they were at one time: a publish that comes between looks like one that the store has not seen. */
  async #read(storeOf: () => Promise<StoreRecord | undefined>): Promise<Records> {
    let store = await storeOf();
    for (;;) {
      const storage = parseStorageRecord(await this.#storage.readRecord());
      const ownership = compare(store, storage);
      if (ownership.state === 'confirmed') return { store, storage, ownership };
      const now = await storeOf();
      if (now?.publication === store?.publication) return { store, storage, ownership };
      store = now;
    }
  }

  /** Deep storage first: a record that is ahead of its store keeps files, one that is behind would let them go. */
  async #write(queries: Queries, record: StorageRecord, store: StoreRecord | undefined): Promise<Ownership> {
    await this.#storage.writeRecord(JSON.stringify(record));
    await writeStoreRecord(queries, record, store);
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

async function storeRecord(queries: Queries): Promise<StoreRecord | undefined> {
  return parseStoreRecord(await findConfig(queries, CONFIG_NAME));
}

async function writeStoreRecord(queries: Queries, { storeId, publication, previous }: StorageRecord, before: StoreRecord | undefined) {
  // A person who confirms the store begins anew: what it passed before may be another store's past.
  const past = previous === null || before === undefined ? [] : [...before.past, before.publication].slice(-PAST_MAX);
  const own: StoreRecord = { storeId, publication, past };
  await writeConfig(queries, CONFIG_NAME, JSON.stringify(own));
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
  if (store.past.includes(storage.publication)) return { state: 'confirmed', confirmedMs, unsettledTasks };
  if (storage.previous === null || ![...store.past, store.publication].includes(storage.previous))
    return unconfirmed('deep storage holds publishes that this metadata store has not seen: the store is an older copy');
  const unsettled = storage.taskId === null ? unsettledTasks : [...new Set([...unsettledTasks, storage.taskId])];
  return { state: 'confirmed', confirmedMs, unsettledTasks: unsettled };
}

function parseStoreRecord(text: string | undefined): StoreRecord | undefined {
  const value = parseRecord(text);
  const { storeId, publication, past } = value ?? {};
  if (typeof storeId !== 'string' || typeof publication !== 'string') return undefined;
  return { storeId, publication, past: Array.isArray(past) ? past.filter((each) => typeof each === 'string') : [] };
}

function parseStorageRecord(text: string | undefined): StorageRecord | undefined {
  const value = parseRecord(text);
  const store = parseStoreRecord(text);
  if (value === undefined || store === undefined) return undefined;
  const { previous, taskId, unsettledTasks, confirmedMs } = value;
  const isTextOrNull = (each: unknown): each is string | null => each === null || typeof each === 'string';
  if (!isTextOrNull(previous) || !isTextOrNull(taskId) || typeof confirmedMs !== 'number') return undefined;
  if (!Array.isArray(unsettledTasks) || !unsettledTasks.every((each): each is string => typeof each === 'string')) return undefined;
  const { storeId, publication } = store;
  return { storeId, publication, previous, taskId, unsettledTasks, confirmedMs };
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
