import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupSettings } from '../../bench/lookup-settings.js';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import { entriesOf } from './lookup-entries.js';

const files = suite<{ folder: string; outside: string; stores: LookupStore[] }>('lookups over files and URLs');

files.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-lookup-'));
  context.outside = mkdtempSync(path.join(tmpdir(), 'dolmen-lookup-outside-'));
  context.stores = [];
});
files.after.each(({ folder, outside, stores }) => {
  for (const store of stores) store.close();
  rmSync(folder, { recursive: true });
  rmSync(outside, { recursive: true });
});

const factoryOf = (extractionNamespace: object) => ({
  version: 'v',
  lookupExtractorFactory: { type: 'cachedNamespace', extractionNamespace },
});

/** A store with a lookup `l`, once that is loaded or has failed. */
async function loaded(context: { folder: string; stores: LookupStore[] }, namespace: object, more: object = {}): Promise<LookupStore> {
  const store = new LookupStore(lookupSettings({ allowedDirectories: [context.folder], ...more }));
  context.stores.push(store);
  await store.replace({ l: factoryOf({ type: 'uri', ...namespace }) });
  await until(() => store.find('l') !== undefined || store.failed()['l'] !== undefined);
  return store;
}

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 500 && !holds(); attempt++) await sleep(10);
  assert.ok(holds(), 'it never came');
}

const KEY_VALUE = { columns: ['key', 'value'] };

/** Spec and content of a file, and the entries or what is said. */
const CASES: readonly (readonly [string, object, string | Buffer, Record<string, string> | RegExp])[] = [
  ['csv, key and value in the first two columns', { format: 'csv', ...KEY_VALUE }, 'foo,bar\nbaz,bat\n', { foo: 'bar', baz: 'bat' }],
  [
    'csv with named columns, as in the documentation',
    { format: 'csv', columns: ['value', 'somethingElse', 'key'], keyColumn: 'key', valueColumn: 'value' },
    'bar,something,foo\nbat,something2,baz\ntruck,something3,buck\n',
    { foo: 'bar', baz: 'bat', buck: 'truck' },
  ],
  ['csv with quotes and line breaks', { format: 'csv', ...KEY_VALUE }, '"a ""b""","c,\nd"\r\n"",""\n', { 'a "b"': 'c,\nd', '': '' }],
  ['csv with a header row', { format: 'csv', hasHeaderRow: true }, 'k,v\na,b\n', { a: 'b' }],
  ['csv whose header is passed over', { format: 'csv', hasHeaderRow: true, ...KEY_VALUE }, 'x,y\na,b\n', { a: 'b' }],
  ['csv with rows to skip before the header', { format: 'csv', hasHeaderRow: true, skipHeaderRows: 2 }, '#\n#\nk,v\na,b\n', { a: 'b' }],
  [
    'csv with columns of the header by name',
    { format: 'csv', hasHeaderRow: true, keyColumn: 'k', valueColumn: 'v' },
    'v,k\nb,a\n',
    { a: 'b' },
  ],
  [
    'a header without the column',
    { format: 'csv', hasHeaderRow: true, keyColumn: 'no', valueColumn: 'v' },
    'k,v\na,b\n',
    /has no column no/,
  ],
  ['of equal keys the last counts', { format: 'csv', ...KEY_VALUE }, 'a,1\nb,2\na,3\n', { a: '3', b: '2' }],
  ['a row without a value has no entry', { format: 'csv', ...KEY_VALUE }, 'a,1\nb,\nc\n', { a: '1' }],
  ['a row without a key', { format: 'csv', ...KEY_VALUE }, 'a,1\n,2\n', /a row has no key: ,2/],
  ['an open quote', { format: 'csv', ...KEY_VALUE }, 'a,"1\n', /not closed/],
  ['bytes that are not UTF-8', { format: 'csv', ...KEY_VALUE }, Buffer.from([0x61, 0x2c, 0xff, 0x0a]), /UTF-8/],
  ['a row that is too long', { format: 'csv', ...KEY_VALUE }, `a,${'x'.repeat(5_000_000)}\n`, /longer|maxRowBytes/],
  ['gzip', { format: 'csv', ...KEY_VALUE }, gzipSync('a,b\n'), { a: 'b' }],
  ['gzip that ends early', { format: 'csv', ...KEY_VALUE }, gzipSync('a,b\n'.repeat(9)).subarray(0, 20), /cannot be (read|decompressed)/],
  ['an empty file', { format: 'csv', ...KEY_VALUE }, '', {}],
  [
    'tsv with a delimiter, as in the documentation',
    { format: 'tsv', columns: ['value', 'somethingElse', 'key'], keyColumn: 'key', valueColumn: 'value', delimiter: '|' },
    'bar|something,1|foo\nbat|something,2|baz\n',
    { foo: 'bar', baz: 'bat' },
  ],
  ['tsv', { format: 'tsv', ...KEY_VALUE, listDelimiter: ',' }, 'a\tb,c\n', { a: 'b,c' }],
  [
    'customJson, as in the documentation',
    { format: 'customJson', keyFieldName: 'key', valueFieldName: 'value' },
    '{"key": "foo", "value": "bar", "somethingElse": "x"}\n{"key": "baz", "value": null}\n{"key": "n", "value": 12345678901234567890}\n{"key": 7, "value": true}\n',
    { foo: 'bar', n: '12345678901234567890', 7: 'true' },
  ],
  [
    'customJson without a key',
    { format: 'customJson', keyFieldName: 'key', valueFieldName: 'value' },
    '{"value": "x"}\n',
    /no key: \{"value"/,
  ],
  [
    'customJson with a list',
    { format: 'customJson', keyFieldName: 'key', valueFieldName: 'value' },
    '{"key":"a","value":["x"]}\n',
    /where a string is expected/,
  ],
  ['simpleJson', { format: 'simpleJson' }, '{"foo": "bar"}\n{"baz": "bat", "buck": "truck"}\n', { foo: 'bar', baz: 'bat', buck: 'truck' }],
  [
    'simpleJson of names that objects have',
    { format: 'simpleJson' },
    '{"__proto__": "a"}\n{"constructor": "b"}\n',
    JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>,
  ],
  ['broken JSON', { format: 'simpleJson' }, '{"foo": \n', /JSON/],
  ['columns that are missing', { format: 'csv' }, '', /namespaceParseSpec\.columns: expected at least two/],
  ['one column', { format: 'csv', columns: ['a'] }, '', /columns: expected at least two/],
  ['a key column without a value column', { format: 'csv', ...KEY_VALUE, keyColumn: 'key' }, '', /keyColumn and valueColumn/],
  [
    'a key column that is not there',
    { format: 'csv', ...KEY_VALUE, keyColumn: 'x', valueColumn: 'value' },
    '',
    /keyColumn: "x" is not among columns/,
  ],
  ['an unknown option', { format: 'csv', ...KEY_VALUE, colums: [] }, '', /unknown key "colums"; did you mean "columns"/],
  ['an unknown format', { format: 'xml' }, '', /format: expected one of csv, tsv, customJson, simpleJson/],
];

for (const [name, namespaceParseSpec, content, expected] of CASES)
  files(`${name}`, async (context) => {
    const file = path.join(context.folder, 'entries');
    writeFileSync(file, content);
    const limits = { inputLimits: { ...lookupSettings().inputLimits, maxRowBytes: 4096 } };
    const store = await loaded(context, { uri: `file:${file}`, namespaceParseSpec }, limits);
    if (expected instanceof RegExp) assert.match(store.failed()['l'] ?? '', expected);
    else {
      assert.equal(store.failed(), {});
      assert.equal(entriesOf(store.table('l')), expected);
    }
  });

const SIMPLE = { namespaceParseSpec: { format: 'simpleJson' } };

files('of the files of a folder that match, the newest counts; those further below are not read', async (context) => {
  const { folder } = context;
  for (const [name, seconds] of [
    ['renames-1.json', 1000],
    ['renames-2.json', 3000],
    ['renames-3.json', 2000],
    ['other.json', 9000],
    ['renames-4.json.bak', 9000],
  ] as const) {
    writeFileSync(path.join(folder, name), JSON.stringify({ from: name }));
    utimesSync(path.join(folder, name), seconds, seconds);
  }
  mkdirSync(path.join(folder, 'below'));
  writeFileSync(path.join(folder, 'below', 'renames-9.json'), JSON.stringify({ from: 'below' }));
  const store = await loaded(context, { uriPrefix: `file:${folder}/`, fileRegex: 'renames-[0-9]*\\.json', ...SIMPLE });
  assert.equal(entriesOf(store.table('l')), { from: 'renames-2.json' });
  const none = await loaded(context, { uriPrefix: `file:${folder}/`, fileRegex: 'nothing', ...SIMPLE });
  assert.match(none.failed()['l'] ?? '', /no file in .* matches nothing/);
});

files('a file outside of the allowed directories is refused, whether it is there or not', async (context) => {
  const { folder, outside } = context;
  writeFileSync(path.join(outside, 'secret'), '{"a": "b"}');
  symlinkSync(path.join(outside, 'secret'), path.join(folder, 'link'));
  for (const file of [path.join(outside, 'secret'), path.join(outside, 'nothing'), path.join(folder, 'link'), `${folder}/../x`]) {
    const store = await loaded(context, { uri: `file:${file}`, ...SIMPLE });
    assert.match(store.failed()['l'] ?? '', /not below a directory of svc\.ingestion\.local\.allowedDirectories/);
  }
});

for (const [name, namespace, says] of [
  ['neither', {}, /either uri or uriPrefix/],
  ['both', { uri: 'file:/a', uriPrefix: 'file:/b' }, /either uri or uriPrefix/],
  ['a pattern with uri', { uri: 'file:/a', fileRegex: 'x' }, /fileRegex: is for uriPrefix/],
  ['a broken pattern', { uriPrefix: 'file:/a', fileRegex: '(' }, /regular expression|\(/],
  ['s3', { uri: 's3://bucket/key' }, /uri: "s3:\/\/bucket\/key" is not supported; accepted: file, http, https/],
  ['hdfs', { uri: 'hdfs://host/key' }, /is not supported/],
  ['a folder over http', { uriPrefix: 'http://host/' }, /uriPrefix: .* is not supported/],
  ['a file of another host', { uri: 'file://host/etc/passwd' }, /expected file:\/ and an absolute path/],
  ['credentials', { uri: 'http://user:pw@host/' }, /without credentials/],
  ['a period that is none', { uri: 'file:/a', pollPeriod: 'often' }, /pollPeriod: expected a period/],
  ['months', { uri: 'file:/a', pollPeriod: 'P1M' }, /pollPeriod: expected a period without months/],
  ['a negative period', { uri: 'file:/a', pollPeriod: '-PT1S' }, /pollPeriod: expected a period that is not negative/],
  ['an unknown key', { uri: 'file:/a', pollperiod: 1 }, /unknown key "pollperiod"; did you mean "pollPeriod"/],
] as const)
  files(`refused by name: ${name}`, async (context) => {
    const store = await loaded(context, { ...SIMPLE, ...namespace });
    assert.match(store.failed()['l'] ?? '', says);
  });

files('a changed file is read at the next poll; one that is broken or gone leaves the last good copy, with since when', async (context) => {
  const file = path.join(context.folder, 'entries');
  writeFileSync(file, '{"a": "1"}');
  const warned: object[] = [];
  const log = { info: () => undefined, warn: (_message: string, fields: object = {}) => void warned.push(fields) };
  const store = await loaded(context, { uri: `file:${file}`, pollPeriod: 20, ...SIMPLE }, { log });
  const first = store.table('l');
  assert.equal(entriesOf(first), { a: '1' });
  await sleep(60);
  assert.is(store.table('l'), first, 'an unchanged file is not read again');
  writeFileSync(file, '{"a": "2"}');
  await until(() => entriesOf(store.table('l'))['a'] === '2');
  writeFileSync(file, '{"a": ');
  utimesSync(file, 5000, 5000);
  await until(() => store.failed()['l'] !== undefined);
  assert.match(store.failed()['l'] ?? '', /\(since \d{4}-/);
  assert.equal(entriesOf(store.table('l')), { a: '2' });
  assert.ok(warned.some((fields) => 'since' in fields && 'reason' in fields && 'copyOf' in fields));
  rmSync(file);
  await until(() => /does not exist/.test(store.failed()['l'] ?? ''));
  assert.equal(entriesOf(store.table('l')), { a: '2' });
  writeFileSync(file, '{"a": "3"}');
  await until(() => store.failed()['l'] === undefined);
  assert.equal(entriesOf(store.table('l')), { a: '3' });
});

files('a lookup that is not loaded yet says so where it is used', async (context) => {
  const server: Server = createServer(() => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const base = lookupSettings();
  const sourceLimits = { ...base.sourceLimits, http: { ...base.sourceLimits.http, allowedAddresses: ['127.0.0.1/32'] } };
  const store = new LookupStore(lookupSettings({ sourceLimits }));
  context.stores.push(store);
  await store.replace({ l: factoryOf({ type: 'uri', uri: `http://127.0.0.1:${port}/`, ...SIMPLE }) });
  assert.throws(() => store.table('l'), /unknown lookup "l": it is being loaded/);
  server.closeAllConnections();
  server.close();
});

files('a URL is read by the rules of http input sources', async (context) => {
  const server: Server = createServer((_request, response) => response.end(gzipSync('{"a": "b"}')));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const namespace = { uri: `http://127.0.0.1:${port}/x.gz`, ...SIMPLE };
  const refused = await loaded(context, namespace);
  assert.match(refused.failed()['l'] ?? '', /no address that may be read/);
  const base = lookupSettings();
  const sourceLimits = { ...base.sourceLimits, http: { ...base.sourceLimits.http, allowedAddresses: ['127.0.0.1/32'] } };
  const store = await loaded(context, namespace, { sourceLimits });
  assert.equal(entriesOf(store.table('l')), { a: 'b' });
  server.close();
});

files.run();
