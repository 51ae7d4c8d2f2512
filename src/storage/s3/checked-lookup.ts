// Looks names of hosts up for connections to endpoints, by the rules of addresses.

import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

export function checkedLookup(endpoint: string | null, addressesOf: (url: URL) => Promise<readonly LookupAddress[]>): LookupFunction {
  return (host, options, callback) => {
    const url = new URL(endpoint ?? 'https://localhost/');
    url.hostname = host;
    addressesOf(url).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}
