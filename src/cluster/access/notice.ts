// Tells the other processes that users or roles have changed.

import { highest } from '../../base/lists.js';
import type { Log } from '../../base/log.js';
import type { Configuration } from '../../configuration/configuration.js';
import type { HttpClient } from '../rpc/http-client.js';
import type { AccessDirectory } from './directory.js';

export interface NoticeOptions {
  readonly configuration: Configuration;
  readonly directory: AccessDirectory;
  readonly client: Pick<HttpClient, 'send'>;
  /** Addresses of all processes, of which some may be ours. */
  hosts(): readonly string[];
  /** Path of the hint, which every process answers. */
  readonly path: string;
  readonly log: Log;
}

const NO_BODY = Buffer.alloc(0);

/**
 * @param owner  the authenticator or authorizer that has changed, whose settings say whether others are told at once; undefined: all of them
 * @returns when this process knows of the change, and the others have been told or were given up on: they look by themselves later
 */
export async function tellOfChange(options: NoticeOptions, owner?: string): Promise<void> {
  const { configuration, directory, client, path, log } = options;
  await directory.refresh();
  const all = [...configuration.named('svc.auth.authenticator'), ...configuration.named('svc.auth.authorizer')];
  const told = all.filter(({ name, enableCacheNotifications }) => owner === undefined || (name === owner && enableCacheNotifications));
  if (told.length === 0) return;
  const timeoutMs = highest(told.map(({ cacheNotificationTimeout }) => cacheNotificationTimeout));
  await Promise.all(
    [...new Set(options.hosts())].map(async (host) => {
      try {
        const signal = AbortSignal.timeout(timeoutMs);
        const response = await client.send({ host, method: 'POST', path, headers: {}, asProcess: true, body: NO_BODY, signal });
        for await (const _ of response.body);
        if (response.status !== 200) log.warn('a process refused to hear of changed users', { host, status: response.status });
      } catch (error) {
        log.warn('a process could not be told of changed users', { host, error });
      }
    }),
  );
}
