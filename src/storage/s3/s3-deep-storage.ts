// Deep storage in a bucket of S3, or of whatever speaks its protocol.

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { DeepStorage } from '../contract.js';
import { isAbsent, partsOfKey, placeFile } from '../deep/placed-file.js';
import { type S3Object, S3Objects } from './s3-client.js';
import type { S3Failure } from './s3-failures.js';
import type { S3Place } from './s3-settings.js';

type LoadSpec = Parameters<DeepStorage['remove']>[0];

const TYPE = 's3';
/** Object with the storage record, beside the folders of tasks, whose names are hashes. */
const RECORD_NAME = '_metadata-store.json';
const FILES_AT_A_TIME = 4;
const DOWNLOADS = 3;

/**
 * Deep storage in a folder of a bucket. A key or path is relative to it, as in a local one. An object appears whole or not at all; the
 * digest of its bytes is kept with it and compared whenever it is brought here as a whole.
 */
export function createS3DeepStorage(place: S3Place): DeepStorage {
  const { bucket, prefix, client, encryption } = place;
  const objects = new S3Objects({ settings: client, encryption, failed: storageFailure });
  const inFolder = prefix === '' ? '' : `${prefix}/`;
  const objectOf = (key: string): S3Object => ({ bucket, key: `${inFolder}${partsOfKey(key).join('/')}` });
  const named = (loadSpec: LoadSpec): S3Object => {
    if (loadSpec.type !== TYPE)
      throw new ServiceError('unsupported', `loadSpec.type: found ${JSON.stringify(loadSpec.type)}, accepted: "${TYPE}"`);
    return objectOf(loadSpec.path);
  };
  return {
    type: TYPE,

    async push(files: readonly { readonly localFile: string; readonly key: string }[]): Promise<readonly LoadSpec[]> {
      const placed = files.map(({ localFile, key }) => ({ localFile, object: objectOf(key) }));
      let next = 0;
      const pushNext = async (): Promise<void> => {
        for (let file = placed[next++]; file !== undefined; file = placed[next++]) await pushFile(file.localFile, file.object);
      };
      const pushed = await Promise.allSettled(Array.from({ length: FILES_AT_A_TIME }, pushNext));
      for (const each of pushed) if (each.status === 'rejected') throw each.reason;
      failpoint('storage.renamed');
      for (const { localFile } of placed) await rm(localFile, { force: true });
      failpoint('storage.pushed');
      return files.map(({ key }) => ({ type: TYPE, path: key }));
    },

    async pull(loadSpec: LoadSpec, localFile: string): Promise<void> {
      const object = named(loadSpec);
      await placeFile(loadSpec.path, localFile, (to) => download(loadSpec.path, object, to));
    },

    async size(loadSpec: LoadSpec): Promise<number> {
      return (await objects.head(named(loadSpec))).sizeBytes;
    },

    async *read(loadSpec: LoadSpec, range?: { readonly at: number; readonly bytes: number }): AsyncGenerator<Uint8Array> {
      if (range?.bytes === 0) return;
      if (range === undefined) yield* wholeOf(loadSpec.path, named(loadSpec));
      else yield* objects.read(named(loadSpec), range);
    },

    async remove(loadSpec: LoadSpec): Promise<void> {
      await objects.remove(named(loadSpec));
    },

    async *list() {
      for await (const { key, sizeBytes, modifiedMs } of objects.list(bucket, inFolder)) {
        const path = key.slice(inFolder.length);
        // Consoles make an empty object of a folder.
        if (path !== RECORD_NAME && !path.endsWith('/') && path !== '') yield { path, sizeBytes, modifiedMs };
      }
    },

    async readRecord(): Promise<string | undefined> {
      const chunks: Uint8Array[] = [];
      try {
        for await (const chunk of wholeOf(RECORD_NAME, objectOf(RECORD_NAME))) chunks.push(chunk);
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'not_found') return undefined;
        throw error;
      }
      return Buffer.concat(chunks).toString();
    },

    async writeRecord(text: string): Promise<void> {
      await objects.writeBytes(objectOf(RECORD_NAME), Buffer.from(text), place);
    },
  };

  async function pushFile(localFile: string, object: S3Object): Promise<void> {
    const file = await open(localFile, 'r').catch((error: unknown) => {
      throw isAbsent(error) ? new ServiceError('not_found', `segment file ${basename(localFile)} does not exist`, error) : error;
    });
    try {
      failpoint('storage.beforeSync');
      await objects.writeFile(object, file, place);
      failpoint('storage.beforeRename');
    } finally {
      await file.close();
    }
  }

  /** The bytes of an object; at their end an error when they are not those that were written. */
  async function* wholeOf(name: string, object: S3Object): AsyncGenerator<Uint8Array> {
    const head = await objects.head(object);
    const digest = createHash('sha256');
    for await (const chunk of objects.readWhole(object, head)) {
      digest.update(chunk);
      yield chunk;
    }
    if (head.digest !== undefined && digest.digest('hex') !== head.digest)
      throw new ServiceError('segment_corrupt', `${name} in deep storage: its bytes are not those that were written there`);
  }

  /** Brings an object here, again when its bytes are not those that were written. */
  async function download(name: string, object: S3Object, to: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const file = await open(to, 'w');
      try {
        for await (const chunk of wholeOf(name, object)) await file.writeFile(chunk);
        return;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'segment_corrupt' || attempt >= DOWNLOADS) throw error;
      } finally {
        await file.close();
      }
    }
  }
}

function storageFailure(name: string, failure: S3Failure, cause: unknown): ServiceError {
  switch (failure.kind) {
    case 'absent':
      return new ServiceError('not_found', `${name} in deep storage does not exist`, cause);
    case 'cancelled':
      return new ServiceError('cancelled', 'deep storage is not waited for any more', cause);
    default:
      return new ServiceError(
        'unavailable',
        `deep storage: ${name}: ${REASONS[failure.kind]}${'answer' in failure ? failure.answer : ''}`,
        cause,
      );
  }
}

const REASONS: Readonly<Record<Exclude<S3Failure['kind'], 'absent' | 'cancelled'>, string>> = {
  changed: 'it was changed while it was read',
  forbidden: 'S3 refuses these credentials (svc.s3.accessKey, svc.s3.secretKey)',
  unreachable: 'there is no answer of S3, or it breaks off',
  unconfigured: 'there are no credentials or no region for S3 (svc.s3.accessKey, svc.s3.endpoint.signingRegion)',
  refused: 'S3 answers ',
};
