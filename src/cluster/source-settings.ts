// Settings that files and sources of others are read with.

import { getHeapStatistics } from 'node:v8';
import { ServiceError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { Configuration } from '../configuration/configuration.js';
import type { InputLimits } from '../ingestion/format/format-kind.js';
import type { HttpRules } from '../ingestion/source/url-policy.js';
import type { KinesisAccess, KinesisCredentials } from '../ingestion/stream/kinesis/kinesis-client.js';
import { kinesisAccess } from '../ingestion/stream/stream-access.js';
import { deepStoragePlaces, resultPlace } from '../storage/deep/storage-places.js';
import type { LookupSettings } from './lookups/lookup-source.js';
import type { TaskSettings } from './middlemanager/task-messages.js';
import type { Peers } from './rpc/peers.js';
import { serverKeys } from './rpc/tls-material.js';

/** Settings that every task and every sample of this process is run with. */
export function taskSettings(configuration: Configuration, clusterKey: string): Omit<TaskSettings, 'workDirectory' | 'peers'> {
  return {
    storagePlaces: deepStoragePlaces(configuration),
    resultPlace: resultPlace(configuration),
    allowedDirectories: configuration.get('svc.ingestion.local.allowedDirectories'),
    exportDirectory: configuration.get('svc.export.storage.baseDir'),
    maxBytesInMemory: configuration.get('svc.indexer.task.maxBytesInMemory'),
    maxHeapBytes: configuration.get('svc.indexer.task.maxHeapBytes'),
    maxKernelBytes: configuration.get('svc.indexer.task.maxKernelBytes'),
    http: httpRules(configuration),
    kinesisCredentials: kinesisCredentials(configuration),
    databaseHosts: configuration.get('svc.access.jdbc.allowedHosts'),
    inputLimits: inputLimits(configuration),
    keepsStoredTimes: configuration.get('svc.indexer.task.ignoreTimestampSpecForDruidInputSource'),
    kernels: configuration.get('svc.processing.kernels'),
    serving: {
      address: configuration.get('svc.host'),
      port: 0,
      clusterKey,
      tls: configuration.get('svc.enableTlsPort') ? serverKeys(configuration) : null,
    },
    logBytesMax: configuration.get('svc.indexer.logs.maxBytes'),
  };
}

function kinesisCredentials(configuration: Configuration): KinesisCredentials {
  const [accessKeyId, secretAccessKey] = [configuration.get('svc.kinesis.accessKey'), configuration.get('svc.kinesis.secretKey')];
  if ((accessKeyId === '') !== (secretAccessKey === ''))
    throw new ServiceError('input_invalid', 'svc.kinesis.accessKey and svc.kinesis.secretKey must be given together');
  return accessKeyId === '' ? null : { accessKeyId, secretAccessKey };
}

/** Access to Kinesis of this process. */
export function configuredKinesisAccess(configuration: Configuration, peers: Peers): KinesisAccess {
  return kinesisAccess(httpRules(configuration), () => peers.hosts(), kinesisCredentials(configuration));
}

function httpRules(configuration: Configuration): HttpRules {
  return {
    maxBytes: configuration.get('svc.ingestion.http.maxBytes'),
    allowedProtocols: configuration.get('svc.ingestion.http.allowedProtocols'),
    allowedHosts: configuration.get('svc.ingestion.http.allowedHosts'),
    allowedAddresses: configuration.get('svc.ingestion.http.allowedAddresses'),
    allowedHeaders: configuration.get('svc.ingestion.http.allowedHeaders').map((name) => name.toLowerCase()),
    passwordVariables: configuration.get('svc.ingestion.passwordVariables'),
  };
}

function inputLimits(configuration: Configuration): InputLimits {
  return {
    maxColumns: configuration.get('svc.ingestion.maxColumns'),
    maxRowBytes: configuration.get('svc.ingestion.maxRowBytes'),
    decompression: {
      maxBytes: configuration.get('svc.ingestion.decompression.maxBytes'),
      maxRatio: configuration.get('svc.ingestion.decompression.maxRatio'),
      maxEntries: configuration.get('svc.ingestion.decompression.maxEntries'),
    },
  };
}

/** Settings that lookups of this process are loaded with. */
export function lookupSettings(configuration: Configuration, peers: Peers, log: Log): LookupSettings {
  return {
    sourceLimits: {
      allowedDirectories: configuration.get('svc.ingestion.local.allowedDirectories'),
      http: httpRules(configuration),
      get peers() {
        return peers.hosts();
      },
    },
    inputLimits: inputLimits(configuration),
    bytesMax: configuration.get('svc.lookup.maxBytes'),
    jdbcHosts: configuration.get('svc.access.jdbc.allowedHosts'),
    heapBytes: getHeapStatistics().heap_size_limit,
    environment: process.env,
    now: Date.now,
    random: Math.random,
    log,
  };
}
