// Deep storage in a local or shared directory.

import { constants, createReadStream, type Dirent } from 'node:fs';
import { copyFile, mkdir, open, opendir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, posix, sep } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { DeepStorage } from '../contract.js';
import { isAbsent, partsOfKey, placeFile } from './placed-file.js';

type LoadSpec = Parameters<DeepStorage['remove']>[0];

/**
 * Deep storage in a directory, its own or shared by the machines of a cluster. A key or path is relative to it, with
 * slashes; one that would leave it is refused.
 */
export function createLocalDeepStorage(directory: string): DeepStorage {
  const fileOf = (loadSpec: LoadSpec): string => {
    if (loadSpec.type !== 'local')
      throw new ServiceError('unsupported', `loadSpec.type: found ${JSON.stringify(loadSpec.type)}, accepted: "local"`);
    return resolveInside(directory, loadSpec.path);
  };
  return {
    type: 'local',

    async push(files: readonly { readonly localFile: string; readonly key: string }[]): Promise<readonly LoadSpec[]> {
      const placed = files.map(({ localFile, key }) => ({ localFile, file: resolveInside(directory, key) }));
      const folders = new Set(placed.map(({ file }) => dirname(file)));
      for (const folder of folders) await makeDirectories(directory, folder);
      const moved = await Promise.allSettled(placed.map(({ localFile, file }) => moveDurably(localFile, file)));
      for (const each of moved) if (each.status === 'rejected') throw each.reason;
      failpoint('storage.renamed');
      for (const folder of folders) await sync(folder);
      failpoint('storage.pushed');
      return files.map(({ key }) => ({ type: 'local', path: key }));
    },

    async pull(loadSpec: LoadSpec, localFile: string): Promise<void> {
      // A copy of its own: what damages one of the two leaves the other.
      await placeFile(`${loadSpec.path} in deep storage`, localFile, (to) => copyOnce(fileOf(loadSpec), to));
    },

    async size(loadSpec: LoadSpec): Promise<number> {
      const found = await statIfThere(fileOf(loadSpec));
      if (found === undefined) throw new ServiceError('not_found', `${loadSpec.path} in deep storage does not exist`);
      return found.size;
    },

    async *read(loadSpec: LoadSpec, range?: { readonly at: number; readonly bytes: number }): AsyncGenerator<Uint8Array> {
      if (range?.bytes === 0) return;
      try {
        yield* createReadStream(
          fileOf(loadSpec),
          range && { start: range.at, end: range.at + range.bytes - 1 },
        ) as AsyncIterable<Uint8Array>;
      } catch (error) {
        if (isAbsent(error)) throw new ServiceError('not_found', `${loadSpec.path} in deep storage does not exist`, error);
        throw error;
      }
    },

    async remove(loadSpec: LoadSpec): Promise<void> {
      const file = fileOf(loadSpec);
      await rm(file, { force: true });
      await syncIfThere(dirname(file));
    },

    async *list() {
      for await (const file of listFiles(directory, '')) if (!file.path.startsWith(RECORD_NAME)) yield file;
    },

    async readRecord(): Promise<string | undefined> {
      return readFile(join(directory, RECORD_NAME), 'utf8').catch((error: unknown) => {
        if (isAbsent(error)) return undefined;
        throw error;
      });
    },

    async writeRecord(text: string): Promise<void> {
      await makeDirectories(directory, directory);
      await placeDurably('the folder of deep storage', join(directory, RECORD_NAME), (to) => writeFile(to, text));
    },
  };
}

/** File with the storage record, next to the folders of tasks, whose names are hashes. */
const RECORD_NAME = '_metadata-store.json';

/** The file system's name for a key. */
function resolveInside(directory: string, key: string): string {
  return join(directory, ...partsOfKey(key));
}

/** Moves a finished file here; its directory is still to be synced. */
async function moveDurably(from: string, to: string): Promise<void> {
  try {
    failpoint('storage.beforeSync');
    await sync(from);
    failpoint('storage.beforeRename');
    await rename(from, to);
  } catch (error) {
    if (isAbsent(error)) throw new ServiceError('not_found', `segment file ${basename(from)} does not exist`, error);
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    await placeDurably(`segment file ${basename(from)}`, to, (temporary) => copyOnce(from, temporary));
    await rm(from, { force: true });
  }
}

/** Makes `to` the file that `make` makes, whole or not at all, and on disk; `what` names what it is made from. */
async function placeDurably(what: string, to: string, make: (to: string) => Promise<void>): Promise<void> {
  await placeFile(what, to, async (temporary) => {
    await make(temporary);
    await sync(temporary);
  });
  await sync(dirname(to));
}

async function copyOnce(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
}

/** Makes missing directories, each durable in the one above. */
async function makeDirectories(root: string, directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let at = directory; at.length >= first.length; at = dirname(at)) await sync(dirname(at));
  await sync(root);
}

async function sync(fileOrDirectory: string): Promise<void> {
  const handle = await open(fileOrDirectory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncIfThere(directory: string): Promise<void> {
  try {
    await sync(directory);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

async function* listFiles(
  root: string,
  below: string,
): AsyncIterable<{ readonly path: string; readonly sizeBytes: number; readonly modifiedMs: number }> {
  for await (const entry of entriesOf(join(root, below.split('/').join(sep)))) {
    const path = posix.join(below, entry.name);
    if (entry.isDirectory()) yield* listFiles(root, path);
    if (!entry.isFile()) continue;
    const found = await statIfThere(join(root, path));
    if (found !== undefined) yield { path, sizeBytes: found.size, modifiedMs: Math.floor(found.mtimeMs) };
  }
}

async function* entriesOf(directory: string): AsyncIterable<Dirent> {
  try {
    yield* await opendir(directory);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** Files may be removed while they are listed. */
async function statIfThere(file: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
