// Opens deep storage by its settings.

import type { DeepStorage } from '../contract.js';
import { createS3DeepStorage } from '../s3/s3-deep-storage.js';
import type { S3Place } from '../s3/s3-settings.js';
import { createLocalDeepStorage } from './local-deep-storage.js';

/** Places of files, plain data: they go to the processes of tasks. */
export type StoragePlace = { readonly type: 'local'; readonly directory: string } | ({ readonly type: 's3' } & S3Place);

export function openStorage(place: StoragePlace): DeepStorage {
  return place.type === 's3' ? createS3DeepStorage(place) : createLocalDeepStorage(place.directory);
}

/** Deep storage: files are pushed to the first place; those that others hold already are read and removed where they are. */
export function openDeepStorage([first, ...others]: readonly [StoragePlace, ...StoragePlace[]]): DeepStorage {
  const storage = openStorage(first);
  const byType = new Map([...others.map(openStorage), storage].map((each) => [each.type, each]));
  const holder = (loadSpec: { readonly type: string }): DeepStorage => byType.get(loadSpec.type) ?? storage;
  return {
    type: storage.type,
    push: (files) => storage.push(files),
    pull: (loadSpec, localFile) => holder(loadSpec).pull(loadSpec, localFile),
    size: (loadSpec) => holder(loadSpec).size(loadSpec),
    read: (loadSpec, range) => holder(loadSpec).read(loadSpec, range),
    remove: (loadSpec) => holder(loadSpec).remove(loadSpec),
    list: () => storage.list(),
    readRecord: () => storage.readRecord(),
    writeRecord: (text) => storage.writeRecord(text),
  };
}
