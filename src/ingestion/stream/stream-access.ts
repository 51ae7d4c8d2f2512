// Decides which endpoints streams may be read from.

import { lookup } from 'node:dns/promises';
import type { TaskContext } from '../contract.js';
import { machineAddresses } from '../source/http.js';
import { type HttpRules, UrlPolicy } from '../source/url-policy.js';
import type { KinesisAccess, KinesisCredentials } from './kinesis/kinesis-client.js';
import type { StreamReaderOptions } from './open-reader.js';

/** Options of readers in the process of a task. */
export function readerOptions({ http, peers, kinesisCredentials, now }: TaskContext): StreamReaderOptions {
  return {
    allowedVariables: http.passwordVariables ?? [],
    kinesis: kinesisAccess(http, () => peers, kinesisCredentials ?? null),
    now,
  };
}

/** Access to Kinesis by the rules of URLs. @param peers  `host:port` of the processes of the cluster */
export function kinesisAccess(rules: HttpRules, peers: () => readonly string[], credentials: KinesisCredentials): KinesisAccess {
  return {
    credentials,
    addressesOf(url) {
      const policy = new UrlPolicy({
        rules,
        peers: peers(),
        resolve: (host) => lookup(host, { all: true }),
        machineAddresses: machineAddresses(),
      });
      return policy.addressesOf(url);
    },
  };
}
