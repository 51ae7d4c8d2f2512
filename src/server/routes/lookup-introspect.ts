// Routes that show the entries of a lookup.

import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { formatInstant } from '../../base/time.js';
import type { LoadedLookup } from '../../cluster/lookups/lookup-keeper.js';
import { type LookupReader, readerOf } from '../../model/lookup/lookup-table.js';
import type { Route } from '../http.types.js';
import { CONFIG_READ, json, route } from './exchange.js';

const BASE = '/svc/v1/lookups/introspect/{name}';

/** The entries of the lookups that the addressed process holds, and when they were read. */
export function lookupIntrospectRoutes(find: (name: string) => LoadedLookup | undefined): readonly Route[] {
  const held = (name = ''): LoadedLookup => {
    const lookup = find(name);
    if (lookup === undefined) throw new ServiceError('not_found', `lookup ${name} is not held by this process`);
    return lookup;
  };
  const streamed = (path: string, brackets: string, item: (reader: LookupReader, entry: number) => string): Route =>
    route('GET', path, CONFIG_READ, async (_request, { name }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: chunks(readerOf(held(name).table), brackets, item),
    }));
  return [
    streamed(BASE, '{}', (reader, entry) => `${quoted(reader.key(entry))}:${quoted(valueOf(reader, entry))}`),
    streamed(`${BASE}/keys`, '[]', (reader, entry) => quoted(reader.key(entry))),
    streamed(`${BASE}/values`, '[]', (reader, entry) => quoted(valueOf(reader, entry))),
    route('GET', `${BASE}/version`, CONFIG_READ, async (_request, { name }) => {
      const { sourceVersion, loadedMs, table } = held(name);
      return json(200, {
        version: sourceVersion === '' ? table.digest : sourceVersion,
        loaded: formatInstant(loadedMs),
        entries: table.length,
      });
    }),
  ];
}

const CHUNK_ENTRIES = 1000;

async function* chunks(
  reader: LookupReader,
  [open, close]: string,
  item: (reader: LookupReader, entry: number) => string,
): AsyncGenerator<string> {
  const turns = new LoopTurns();
  yield open ?? '';
  for (let from = 0; from < reader.length; from += CHUNK_ENTRIES) {
    const items = Array.from({ length: Math.min(CHUNK_ENTRIES, reader.length - from) }, (_, index) => item(reader, from + index));
    yield `${from === 0 ? '' : ','}${items.join(',')}`;
    if (turns.isDue) await turns.give();
  }
  yield close ?? '';
}

function valueOf(reader: LookupReader, entry: number): string {
  return reader.value(reader.valueIds[entry] ?? 0);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
