// Reads the `lookupExtractorFactory` of a lookup.

import { describeValue } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { textOf } from './entry-text.js';
import { jdbcNamespace } from './jdbc-namespace.js';
import { kafkaTopic } from './kafka-topic.js';
import type { Entry, LookupSettings, LookupSource } from './lookup-source.js';
import { uriNamespace } from './uri-namespace.js';

/** Kinds of lookups of the original that are refused, with the reason. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  pollingLookup: 'use cachedNamespace, which polls as well',
  loadingLookup: 'entries are not loaded one by one: use cachedNamespace',
};

/**
 * The source of a lookup's entries.
 * @param path  of the lookup, for messages
 * @throws ServiceError `unsupported` or `input_invalid` naming the field
 */
export function parseLookupSource(factory: unknown, path: string, settings: LookupSettings): LookupSource {
  const reader = new ObjectReader(factory, `${path}.lookupExtractorFactory`, readContextOf('input_invalid', 'lookup'));
  const type = reader.raw('type');
  const reason = typeof type === 'string' ? own(DOCUMENTED, type) : undefined;
  if (reason !== undefined) throw reader.unsupported('type', `${reason}; accepted: ${TYPES.join(', ')}`);
  return SOURCES[reader.type(TYPES)](reader, settings);
}

const SOURCES = { map: mapSource, cachedNamespace: namespaceSource, kafka: kafkaTopic } as const;
const TYPES = Object.keys(SOURCES) as (keyof typeof SOURCES)[];

/** Numbers and truth values are their strings. */
function mapSource(reader: ObjectReader): LookupSource {
  reader.accept(['map', 'isOneToOne', 'injective']);
  reader.boolean('isOneToOne', false);
  reader.boolean('injective', false);
  const { members } = reader.object('map');
  const stranger = Object.entries(members).find(([, value]) => textOf(value) === undefined);
  if (stranger !== undefined) throw reader.invalid(`map.${stranger[0]}`, `expected a string, found ${describeValue(stranger[1])}`);
  async function* batches(): AsyncGenerator<readonly Entry[]> {
    let batch: Entry[] = [];
    for (const key of Object.keys(members)) {
      batch.push([key, textOf(own(members, key)) ?? '']);
      if (batch.length < BATCH_ENTRIES) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  }
  return {
    isInline: true,
    goesOn: false,
    pollMs: 0,
    jitterMs: 0,
    timeoutMs: null,
    maxHeapPercentage: 100,
    read: async () => ({ version: '', batches: batches() }),
  };
}

const BATCH_ENTRIES = 500;

function namespaceSource(reader: ObjectReader, settings: LookupSettings): LookupSource {
  reader.accept(['extractionNamespace', 'firstCacheTimeout', 'injective']);
  // A lookup is loaded beside everything else, and its status says when it is there: nobody waits for the first copy.
  reader.optionalInteger('firstCacheTimeout', 0);
  reader.boolean('injective', false);
  const namespace = reader.object('extractionNamespace');
  const type = namespace.type(['uri', 'jdbc'], { documented: ['staticMap'] });
  return type === 'uri' ? uriNamespace(namespace, settings) : jdbcNamespace(namespace, settings);
}
