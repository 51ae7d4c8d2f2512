import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeepStorage } from '../../src/storage/contract.js';
import { createLocalDeepStorage } from '../../src/storage/deep/local-deep-storage.js';
import { createS3DeepStorage } from '../../src/storage/s3/s3-deep-storage.js';
import type { S3Place } from '../../src/storage/s3/s3-settings.js';
import { type Service, startService } from '../services.js';

export const MEBIBYTE = 1 << 20;

/** A place of the S3 server of a test, or of what stands before it. */
export function s3Place(service: Service, prefix: string, port = service.port): S3Place {
  return {
    bucket: service.database,
    prefix,
    client: {
      endpoint: `http://${service.host}:${port}`,
      region: null,
      pathStyle: true,
      crossRegion: false,
      credentials: { accessKeyId: service.user, secretAccessKey: service.password },
      connectionTimeoutMs: 1000,
      socketTimeoutMs: 1000,
      maxConnections: 10,
    },
    encryption: null,
    disableAcl: false,
    partBytes: 5 * MEBIBYTE,
    multipartBytes: 5 * MEBIBYTE,
  };
}

/** A store that holds nothing yet, under test. */
export interface OpenedStore {
  readonly storage: DeepStorage;
  /** The same files, as another process sees them. */
  reopen(): DeepStorage;
  close(): Promise<void>;
}

/** Every kind of deep storage; undefined, with a printed reason, where it cannot be had. */
export const STORES: Readonly<Record<string, () => Promise<OpenedStore | undefined>>> = {
  async local() {
    const directory = mkdtempSync(join(tmpdir(), 'dolmen-deep-'));
    const root = join(directory, 'deep');
    mkdirSync(root);
    const reopen = (): DeepStorage => createLocalDeepStorage(root);
    return { storage: reopen(), reopen, close: async () => rmSync(directory, { recursive: true }) };
  },
  async s3() {
    const service = await startService('s3');
    if (service === undefined) return undefined;
    const reopen = (): DeepStorage => createS3DeepStorage(s3Place(service, 'some/folder'));
    return { storage: reopen(), reopen, close: () => service.stop() };
  },
};
