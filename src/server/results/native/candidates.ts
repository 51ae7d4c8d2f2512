// Writes the answer of the candidates endpoints.

import { formatInterval } from '../../../base/interval.js';
import type { BrokerQueries } from '../../../cluster/broker/contract.js';

type Candidates = ReturnType<BrokerQueries['candidates']>;

/** Segments and who serves them, as the candidates endpoints show them. `hostsMax` null: all of them. */
export function candidatesBody(candidates: Candidates, hostsMax: number | null): readonly unknown[] {
  return candidates.map(({ segment, hosts }) => ({
    interval: formatInterval(segment.id.interval),
    version: segment.id.version,
    partitionNumber: segment.id.partitionNumber,
    size: segment.sizeBytes,
    locations: hosts.slice(0, hostsMax ?? hosts.length).map(({ host, tier, priority, maxSizeBytes }) => ({
      name: host,
      host,
      hostAndTlsPort: null,
      maxSize: maxSizeBytes,
      type: 'historical',
      tier,
      priority,
    })),
  }));
}
