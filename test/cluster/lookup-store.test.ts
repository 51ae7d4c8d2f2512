import { setTimeout as wait } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupSettings } from '../../bench/lookup-settings.js';
import { LookupKeeper } from '../../src/cluster/lookups/lookup-keeper.js';
import type { LookupSource } from '../../src/cluster/lookups/lookup-source.js';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import { readerOf } from '../../src/model/lookup/lookup-table.js';
import { entriesOf } from './lookup-entries.js';

const lookups = suite('lookup store');

const of = (map: unknown) => ({ version: 'v', lookupExtractorFactory: { type: 'map', map } });

lookups('numbers and truth values of a map are their strings, as the original reads them', async () => {
  const store = new LookupStore(lookupSettings());
  await store.replace({ a: of({ s: 'x', n: 1, d: 1.5, b: true, l: 9223372036854775807n }) });
  assert.equal(entriesOf(store.table('a')), { s: 'x', n: '1', d: '1.5', b: 'true', l: '9223372036854775807' });
});

for (const [name, map, says] of [
  ['a null', { k: null }, /a\.lookupExtractorFactory\.map\.k: expected a string, found null/],
  ['a list', { k: ['x'] }, /map\.k: expected a string/],
  ['no map', [], /map: expected an object/],
] as const)
  lookups(`${name} is told where the lookup is used`, async () => {
    const store = new LookupStore(lookupSettings());
    await store.replace({ a: of(map), b: of({ k: 'v' }) });
    assert.throws(() => store.table('a'), says);
    assert.is(readerOf(store.table('b')).find('k'), 'v');
  });

lookups('names and keys of objects are names and keys like others', async () => {
  const store = new LookupStore(lookupSettings());
  const map = JSON.parse('{"__proto__": "a", "constructor": "b", "": "c"}') as object;
  await store.replace(Object.fromEntries([['__proto__', of(map)]]));
  assert.equal(entriesOf(store.table('__proto__')), map);
  assert.equal(Object.keys(store.current()), ['__proto__']);
});

lookups('a version that is refused leaves the one before', async () => {
  const store = new LookupStore(lookupSettings());
  await store.replace({ a: of({ k: 'old' }) });
  await store.replace({ a: { version: 'v2', lookupExtractorFactory: { type: 'map', map: { k: null } } } });
  assert.is(readerOf(store.table('a')).find('k'), 'old');
  assert.is(store.current()['a']?.version, 'v');
  assert.match(store.failed()['a'] ?? '', /map\.k/);
  await store.replace({});
  assert.throws(() => store.table('a'), /unknown lookup "a": no lookup of that name is loaded/);
});

lookups('a delay that makes a poll later than a timer can be does not make it come at once', async () => {
  let looks = 0;
  const source: LookupSource = {
    isInline: false,
    goesOn: false,
    pollMs: 2 ** 31 - 1,
    jitterMs: 60_000,
    timeoutMs: null,
    maxHeapPercentage: 100,
    async read() {
      looks++;
      return null;
    },
  };
  const lookup = { version: 'v', lookupExtractorFactory: {} };
  const keeper = new LookupKeeper('a', lookup, source, lookupSettings({ random: () => 0.5 }));
  await keeper.start();
  await wait(50);
  keeper.stop();
  assert.is(looks, 1);
});

lookups('a variable of the environment is a password only where the server allows it', async () => {
  const connectorConfig = {
    connectURI: 'jdbc:mysql://127.0.0.1:1/none',
    user: 'u',
    password: { type: 'environment', variable: 'OTHER' },
  };
  const extractionNamespace = { type: 'jdbc', connectorConfig, table: 't', keyColumn: 'k', valueColumn: 'v' };
  const store = new LookupStore(lookupSettings({ environment: { OTHER: 'a secret' }, passwordVariables: ['LOOKUP_PASSWORD'] }));
  await store.replace({ a: { version: 'v', lookupExtractorFactory: { type: 'cachedNamespace', extractionNamespace } } });
  while (store.failed()['a'] === undefined) await wait(5);
  assert.match(store.failed()['a'] ?? '', /the variable OTHER is not among svc\.ingestion\.passwordVariables/);
  store.close();
});

for (const type of ['pollingLookup', 'loadingLookup', 'nothing'])
  lookups(`lookups of type ${type} are refused by name`, async () => {
    const store = new LookupStore(lookupSettings());
    await store.replace({ a: { version: 'v', lookupExtractorFactory: { type } } });
    assert.throws(() => store.table('a'), new RegExp(`lookupExtractorFactory\\.type: .*${type}`));
  });

lookups.run();
