import { SILENT_LOG } from '../src/base/log.js';
import type { ConfiguredLookups } from '../src/cluster/lookups/configured-lookups.js';
import type { LookupSettings } from '../src/cluster/lookups/lookup-source.js';
import { LookupStore } from '../src/cluster/lookups/lookup-store.js';

type Given = Partial<LookupSettings> & {
  readonly allowedDirectories?: readonly string[];
  readonly passwordVariables?: readonly string[];
};

/** Settings of lookups for processes that are put together by hand. */
export function lookupSettings(given: Given = {}): LookupSettings {
  const { allowedDirectories = [], passwordVariables = [], ...others } = given;
  return {
    sourceLimits: {
      allowedDirectories,
      http: { maxBytes: 2 ** 30, allowedProtocols: ['http', 'https'], allowedHosts: [], allowedAddresses: [], passwordVariables },
      peers: [],
    },
    inputLimits: { maxColumns: 1000, maxRowBytes: 2 ** 26, decompression: { maxBytes: 2 ** 30, maxRatio: 1000, maxEntries: 1000 } },
    bytesMax: 2 ** 30,
    jdbcHosts: [],
    heapBytes: Infinity,
    environment: {},
    now: Date.now,
    random: () => 0,
    log: SILENT_LOG,
    ...others,
  };
}

/** Lookups of a process for which none are configured. */
export function heldLookups(): Pick<ConfiguredLookups, 'store' | 'report' | 'known'> {
  return {
    store: new LookupStore(lookupSettings()),
    report: () => ({ tier: '__default', current: {}, failed: {} }),
    known: async () => undefined,
  };
}
