// Reads from the configuration where files are kept.

import { Buffer } from 'node:buffer';
import type { Configuration } from '../../configuration/configuration.js';
import { refuseValue } from '../../configuration/property.js';
import { endpointUrl, type S3Encryption, type S3Place } from '../s3/s3-settings.js';
import type { StoragePlace } from './open-deep-storage.js';

export type DeepStoragePlaces = readonly [StoragePlace, ...StoragePlace[]];

/**
 * Places of segments: new ones go to the first. A cluster that has moved from a folder to a bucket, or back, still reads what is in
 * the other.
 * @throws ServiceError `input_invalid` naming the property
 */
export function deepStoragePlaces(configuration: Configuration): DeepStoragePlaces {
  const local = { type: 'local', directory: configuration.get('svc.storage.directory') } as const;
  const isS3 = configuration.get('svc.storage.type') === 's3';
  if (!isS3 && configuration.get('svc.storage.bucket') === '') return [local];
  const s3 = s3PlaceOf(configuration, DEEP_STORAGE);
  return isS3 ? [s3, local] : [local, s3];
}

/** Place of the results of statements; null: they are not kept. */
export function resultPlace(configuration: Configuration): StoragePlace | null {
  if (!configuration.get('svc.msq.intermediate.storage.enable')) return null;
  if (configuration.get('svc.msq.intermediate.storage.type') === 'local')
    return { type: 'local', directory: configuration.get('svc.msq.intermediate.storage.basePath') };
  return s3PlaceOf(configuration, RESULTS);
}

/** Place of the logs of ended tasks; null: they stay where they were written. */
export function logPlace(configuration: Configuration): StoragePlace | null {
  return configuration.get('svc.indexer.logs.type') === 's3' ? s3PlaceOf(configuration, LOGS) : null;
}

const DEEP_STORAGE = { bucket: 'svc.storage.bucket', prefix: 'svc.storage.baseKey', disableAcl: 'svc.storage.disableAcl' } as const;
const RESULTS = {
  bucket: 'svc.msq.intermediate.storage.bucket',
  prefix: 'svc.msq.intermediate.storage.prefix',
  disableAcl: 'svc.storage.disableAcl',
} as const;
const LOGS = {
  bucket: 'svc.indexer.logs.s3Bucket',
  prefix: 'svc.indexer.logs.s3Prefix',
  disableAcl: 'svc.indexer.logs.disableAcl',
} as const;
type Names = typeof DEEP_STORAGE | typeof RESULTS | typeof LOGS;

/** Folders in which files are removed that belong to none of their kind, or are too old: none may hold another. */
const APART: readonly Names[] = [DEEP_STORAGE, RESULTS, LOGS];

function s3PlaceOf(configuration: Configuration, names: Names): StoragePlace {
  const bucket = configuration.get(names.bucket);
  if (bucket === '' || bucket.includes('/')) throw refuse(names.bucket, bucket, 'the name of a bucket');
  const prefix = folderOf(configuration, names);
  for (const others of APART.slice(0, APART.indexOf(names))) {
    const other = folderOf(configuration, others);
    if (bucket === configuration.get(others.bucket) && (isWithin(prefix, other) || isWithin(other, prefix)))
      throw refuse(names.prefix, prefix, `a folder apart from that of ${others.prefix}, ${other}`);
  }
  const place: S3Place = {
    bucket,
    prefix,
    client: s3Client(configuration),
    encryption: encryptionOf(configuration),
    disableAcl: configuration.get(names.disableAcl),
    partBytes: configuration.get('svc.storage.transfer.minimumUploadPartSize'),
    multipartBytes: configuration.get('svc.storage.transfer.multipartUploadThreshold'),
  };
  return { type: 's3', ...place };
}

const folderOf = (configuration: Configuration, { prefix }: Names): string => configuration.get(prefix).replace(/^\/+|\/+$/g, '');

const isWithin = (folder: string, other: string): boolean => other === '' || folder === other || folder.startsWith(`${other}/`);

/** Settings of the client of the server itself. */
function s3Client(configuration: Configuration): S3Place['client'] {
  const written = configuration.get('svc.s3.endpoint.url');
  const endpoint = written === '' ? null : endpointUrl(written, configuration.get('svc.s3.protocol'));
  if (endpoint === undefined) throw refuse('svc.s3.endpoint.url', written, 'a host or an http or https URL');
  const [accessKeyId, secretAccessKey] = [configuration.get('svc.s3.accessKey'), configuration.get('svc.s3.secretKey')];
  if ((accessKeyId === '') !== (secretAccessKey === ''))
    throw refuse(
      accessKeyId === '' ? 'svc.s3.accessKey' : 'svc.s3.secretKey',
      '',
      'both svc.s3.accessKey and svc.s3.secretKey, or neither',
    );
  return {
    endpoint,
    region: configuration.get('svc.s3.endpoint.signingRegion') || null,
    pathStyle: configuration.get('svc.s3.enablePathStyleAccess'),
    crossRegion: configuration.get('svc.s3.crossRegionAccessEnabled'),
    credentials: accessKeyId === '' ? null : { accessKeyId, secretAccessKey },
    connectionTimeoutMs: configuration.get('svc.s3.connectionTimeout'),
    socketTimeoutMs: configuration.get('svc.s3.socketTimeout'),
    maxConnections: configuration.get('svc.s3.maxConnections'),
  };
}

const KEY_BYTES = 32;

function encryptionOf(configuration: Configuration): S3Encryption | null {
  const type = configuration.get('svc.storage.sse.type');
  if (type === 'kms') return { type, keyId: configuration.get('svc.storage.sse.kms.keyId') || null };
  if (type !== 'custom') return type === null ? null : { type };
  const base64Key = configuration.get('svc.storage.sse.custom.base64EncodedKey');
  if (Buffer.from(base64Key, 'base64').length !== KEY_BYTES)
    throw refuse('svc.storage.sse.custom.base64EncodedKey', '…', '256 bits in base 64');
  return { type, base64Key };
}

const refuse = (name: string, found: string, accepts: string) => refuseValue(name, found, accepts, 'configuration');
