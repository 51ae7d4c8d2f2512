import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { loadCaseTables } from './cases.js';

/** Lookups from their configuration to the queries that use them, over HTTP. */
const lookups = suite<{ server: DolmenProcess; dataDir: string }>('lookups');

const CONFIG = '/svc/coordinator/v1/lookups/config/__default';
const STATUS = '/svc/coordinator/v1/lookups/status/__default';
const MAP = { en: 'English', fr: 'French' };
const lookupOf = (version: string, lookupExtractorFactory: object) => ({ version, lookupExtractorFactory });

lookups.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-lookups-'));
  context.server = await startDolmen({ dataDir: context.dataDir, portOffset: 22_600 });
  await loadCaseTables(context.server.url);
  await callJson('POST', `${context.server.url}${CONFIG}/lang`, lookupOf('v1', { type: 'map', map: MAP }));
  await waitFor(context.server.url, 'lang', true);
});

lookups.after(async (context) => {
  await context.server?.stop();
  rmSync(context.dataDir, { recursive: true, force: true });
});

async function waitFor(url: string, name: string, loaded: boolean): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const status = (await callJson('GET', `${url}${STATUS}/${name}`)) as { loaded: boolean };
    if (status.loaded === loaded) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`lookup ${name} never became ${loaded ? 'loaded' : 'unloaded'}`);
}

async function groupBy(url: string, more: object): Promise<unknown[]> {
  const base = { queryType: 'groupBy', dataSource: 'edits', intervals: ['2024-01-01/P2D'], granularity: 'all', dimensions: [] };
  const rows = (await callJson('POST', `${url}/svc/v2`, { ...base, aggregations: [{ type: 'count', name: 'rows' }], ...more })) as {
    event: unknown;
  }[];
  return rows.map(({ event }) => event);
}

lookups('a virtual column calls a lookup; what it lacks is null, or what is said for it', async ({ server }) => {
  const virtual = (expression: string) => ({ virtualColumns: [{ type: 'expression', name: 'lang', expression }], dimensions: ['lang'] });
  assert.equal(await groupBy(server.url, virtual("lookup(channel, 'lang')")), [
    { lang: null, rows: 1 },
    { lang: 'English', rows: 3 },
    { lang: 'French', rows: 2 },
  ]);
  assert.equal(await groupBy(server.url, virtual("lookup(channel, 'lang', '?')")), [
    { lang: '?', rows: 1 },
    { lang: 'English', rows: 3 },
    { lang: 'French', rows: 2 },
  ]);
});

lookups('a dimension of type lookup', async ({ server }) => {
  const dimension = { type: 'lookup', dimension: 'channel', outputName: 'lang', name: 'lang', replaceMissingValueWith: 'other' };
  assert.equal(await groupBy(server.url, { dimensions: [dimension] }), [
    { lang: 'English', rows: 3 },
    { lang: 'French', rows: 2 },
    { lang: 'other', rows: 1 },
  ]);
});

lookups('the rows of a lookup, and a join with them', async ({ server }) => {
  const dataSource = { type: 'lookup', lookup: 'lang' };
  assert.equal(await groupBy(server.url, { dataSource, intervals: ['0000/3000'], dimensions: ['k', 'v'] }), [
    { k: 'en', v: 'English', rows: 1 },
    { k: 'fr', v: 'French', rows: 1 },
  ]);
  const join = { type: 'join', left: 'edits', right: dataSource, rightPrefix: 'l.', condition: 'channel == "l.k"', joinType: 'INNER' };
  assert.equal(await groupBy(server.url, { dataSource: join, dimensions: ['l.v'] }), [
    { 'l.v': 'English', rows: 3 },
    { 'l.v': 'French', rows: 2 },
  ]);
});

lookups('SQL', async ({ server }) => {
  const rows = await sqlRows(server.url, `SELECT LOOKUP(channel, 'lang'), COUNT(*) FROM edits GROUP BY 1 ORDER BY 2 DESC, 1`);
  assert.equal(rows, [
    ['English', 3],
    ['French', 2],
    [null, 1],
  ]);
});

lookups('the entries of a lookup, its keys, values and version are shown; the Router asks a Broker', async ({ server }) => {
  for (const port of [8082, 8888]) {
    const at = `${server.url.replace(/\d+$/, String(port + 22_600))}/svc/v1/lookups/introspect`;
    assert.equal(await callJson('GET', `${at}/lang`), MAP);
    assert.equal(await callJson('GET', `${at}/lang/keys`), Object.keys(MAP));
    assert.equal(await callJson('GET', `${at}/lang/values`), Object.values(MAP));
    assert.type(((await callJson('GET', `${at}/lang/version`)) as { version: string }).version, 'string');
    assert.is((await fetch(`${at}/nothing`)).status, 404);
  }
});

lookups('a password is never read back, and stays when the settings are sent as they were read', async ({ server }) => {
  const connector = { connectURI: 'jdbc:postgresql://127.0.0.1:1/none', user: 'u', password: 'a secret' };
  const factory = (connectorConfig: object) => ({
    type: 'cachedNamespace',
    extractionNamespace: { type: 'jdbc', connectorConfig, table: 't', keyColumn: 'k', valueColumn: 'v' },
  });
  const others = [
    { ...connector, connectURI: 'jdbc:postgresql://u:a secret@127.0.0.1:1/none' },
    {
      ...connector,
      connectURI: 'jdbc:postgresql://127.0.0.1:1/none?password=a secret',
      password: { type: 'default', password: 'a secret' },
    },
  ];
  const names = ['db', 'db1', 'db2'];
  for (const [index, config] of [connector, ...others].entries())
    await callJson('POST', `${server.url}${CONFIG}/${names[index]}`, lookupOf('v1', factory(config)));
  const paths = [...names.map((name) => `config/__default/${name}`), 'config/all', 'nodeStatus', 'status?detailed'];
  for (const path of paths) {
    const answer = await (await fetch(`${server.url}/svc/coordinator/v1/lookups/${path}`)).text();
    assert.not.match(answer, 'a secret', path);
  }
  const read = (await callJson('GET', `${server.url}${CONFIG}/db`)) as { lookupExtractorFactory: object };
  assert.equal(read.lookupExtractorFactory, factory({ ...connector, password: '********' }));
  await callJson('POST', `${server.url}${CONFIG}/db`, lookupOf('v2', read.lookupExtractorFactory));
  const hidden = { db: '********', db2: { type: 'default', password: '********' } };
  for (const [name, password] of Object.entries(hidden)) {
    const elsewhere = factory({ ...connector, connectURI: 'jdbc:postgresql://elsewhere/none', password });
    await callJson('POST', `${server.url}${CONFIG}/${name}`, lookupOf('v3', elsewhere)).then(
      () => assert.unreachable(),
      (error: unknown) => {
        assert.match(String(error), /password: a hidden value/);
      },
    );
  }
  for (const name of names) await callJson('DELETE', `${server.url}${CONFIG}/${name}`);
});

lookups('a process tells what it holds, in all of its roles; the Router asks a Broker', async ({ server }) => {
  const at = (port: number): string => server.url.replace(/\d+$/, String(port + 22_600));
  for (const port of [8082, 8083, 8888])
    assert.equal(((await callJson('GET', `${at(port)}/svc/listen/v1/lookups`)) as Record<string, unknown>)['lang'], {
      version: 'v1',
      lookupExtractorFactory: { type: 'map', map: MAP },
    });
  assert.is((await fetch(`${at(8082)}/svc/listen/v1/lookups/nothing`)).status, 404);
});

lookups('an unknown lookup is refused by name, with the nearest known one', async ({ server }) => {
  const body = { queryType: 'groupBy', dataSource: { type: 'lookup', lookup: 'langs' }, intervals: 'eternity', granularity: 'all' };
  const answer = await fetch(`${server.url}/svc/v2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, dimensions: [], aggregations: [] }),
  });
  assert.is(answer.status, 400);
  assert.match(await answer.text(), /unknown lookup .*langs.*lang/);
});

lookups('a new version takes the place of the old one, a cached result with it', async ({ server }) => {
  const count = () => sqlRows(server.url, `SELECT LOOKUP(channel, 'turn'), COUNT(*) FROM edits GROUP BY 1 ORDER BY 1`);
  await callJson('POST', `${server.url}${CONFIG}/turn`, lookupOf('v1', { type: 'map', map: { en: 'one', fr: 'one', de: 'two' } }));
  await waitFor(server.url, 'turn', true);
  assert.equal(await count(), [
    ['one', 5],
    ['two', 1],
  ]);
  await callJson('POST', `${server.url}${CONFIG}/turn`, lookupOf('v2', { type: 'map', map: { en: 'one', fr: 'two', de: 'two' } }));
  await waitFor(server.url, 'turn', true);
  assert.equal(await count(), [
    ['one', 3],
    ['two', 3],
  ]);
});

lookups('a lookup that cannot be loaded is pending, and says why when it is used', async ({ server }) => {
  await callJson('POST', `${server.url}${CONFIG}/far`, lookupOf('v1', { type: 'cachedNamespace', extractionNamespace: { type: 'uri' } }));
  await new Promise((done) => setTimeout(done, 1500));
  const status = (await callJson('GET', `${server.url}${STATUS}/far?detailed`)) as {
    loaded: boolean;
    pendingNodes: string[];
    failed: object;
  };
  assert.is(status.loaded, false);
  assert.match(JSON.stringify(status.failed), 'either uri or uriPrefix');
  assert.equal(status.pendingNodes.sort(), ['127.0.0.1:30682', '127.0.0.1:30683'], 'a Broker and a Historical');
  try {
    await groupBy(server.url, { dataSource: { type: 'lookup', lookup: 'far' } });
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'either uri or uriPrefix');
  }
});

lookups.run();
