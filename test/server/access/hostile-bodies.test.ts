import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { BODIES } from '../routes/request-bodies.js';
import { openSecuredHouse, securityFlags, userWith } from './secured-house.js';

/**
 * Bodies that reach for the configuration of the server by names that libraries treat as their own, such as the empty key that
 * enabled JavaScript (CVE-2021-25646 of the original): no body changes a property, a right or an object of the language, and no code
 * that comes with a body is run.
 */
const house = await openSecuredHouse(12_500, securityFlags());
const bodies = suite('hostile bodies');
bodies.after(() => house.close());

const CODE = 'function(x) { globalThis.ranCodeOfABody = true; return true; }';
/** Documents that would open something, were they read as configuration. */
const POISONS: readonly unknown[] = [
  { enabled: true },
  { type: 'allowAll', isUnrestricted: true, allowed: true },
  { 'svc.javascript.enabled': 'true', 'svc.auth.authorizers': '["allowAll"]' },
  true,
];
const KEYS = [
  '',
  '__proto__',
  'constructor',
  'prototype',
  '@JacksonInject',
  '@class',
  '@type',
  'config',
  'javaScriptConfig',
  '\0',
  '__defineGetter__',
];

const SCRIPTS: readonly object[] = [
  { type: 'javascript', dimension: 'page', function: CODE },
  { type: 'javascript', name: 'a', fieldNames: ['page'], fnAggregate: CODE, fnCombine: CODE, fnReset: CODE },
  { type: 'javascript', name: 'p', fieldNames: ['a'], function: CODE },
  { type: 'javascript', function: CODE },
];

/** The object with a key in one of its objects, for each of these. */
function* poisoned(value: unknown, key: string, poison: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) for (const changed of poisoned(each, key, poison)) yield value.with(at, changed);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  yield withKey(value, key, poison);
  for (const [name, each] of Object.entries(value)) for (const changed of poisoned(each, key, poison)) yield withKey(value, name, changed);
}

/** A copy with an own property of any name. */
function withKey(value: object, key: string, poison: unknown): object {
  const copy: object = { ...value };
  Object.defineProperty(copy, key, { value: poison, enumerable: true, configurable: true, writable: true });
  return copy;
}

const PERMISSIONS = [
  {
    resource: { type: 'DATASOURCE', name: 'one' },
    action: 'READ',
    policy: { type: 'row', rowFilter: { type: 'equals', column: 'a', matchValueType: 'STRING', matchValue: 'b' }, columns: ['a'] },
  },
];
const VICTIM = '/svc-ext/basic-security/authorization/db/basic/roles/victim';

interface Sent {
  readonly path: string;
  readonly body: unknown;
}

function* configurations(): Generator<Sent> {
  const templates = Object.entries(BODIES).flatMap(([key, all]) => {
    const [method, path = ''] = key.split(' ');
    return method === 'POST' && /\/config|\/worker$|\/rules\/|\/lookups\//.test(path) ? all.map((body) => [path, body] as const) : [];
  });
  for (const [path, body] of [...templates, [`${VICTIM}/permissions`, PERMISSIONS] as const])
    for (const key of KEYS)
      for (const poison of POISONS)
        for (const changed of poisoned(body, key, poison)) yield { path: path.replaceAll(/\{[^}]+\}/g, 'x'), body: changed };
}

/** Queries, specs of tasks and samples with scripts in them, which bring the setting that would allow them. */
function* scripts(): Generator<Sent> {
  const interval = '1970-01-01/1970-01-02';
  const rows = { type: 'inline', columnNames: ['__time', 'page'], columnTypes: ['LONG', 'STRING'], rows: [[0, 'a']] };
  const query = {
    queryType: 'timeseries',
    dataSource: rows,
    granularity: 'all',
    intervals: [interval],
    aggregations: [{ type: 'count', name: 'a' }],
  };
  const task = (parts: object, format: object) => ({
    type: 'index_parallel',
    spec: {
      dataSchema: { dataSource: 'd', timestampSpec: { column: 't' }, dimensionsSpec: {}, granularitySpec: {}, ...parts },
      ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: 'x' }, inputFormat: format },
    },
  });
  const [filter, aggregator, post, extraction] = SCRIPTS as readonly [object, object, object, object];
  for (const key of KEYS)
    for (const poison of POISONS) {
      const armed = (script: object) => withKey(script, key, poison);
      const asked: readonly Sent[] = [
        { path: '/svc/v2', body: { ...query, filter: armed(filter) } },
        { path: '/svc/v2', body: { ...query, filter: withKey({ type: 'not', field: armed(filter) }, key, poison) } },
        { path: '/svc/v2', body: { ...query, aggregations: [armed(aggregator)] } },
        { path: '/svc/v2', body: { ...query, postAggregations: [armed(post)] } },
        {
          path: '/svc/v2',
          body: {
            ...query,
            queryType: 'groupBy',
            dimensions: [{ type: 'extraction', dimension: 'page', extractionFn: armed(extraction) }],
          },
        },
        { path: '/svc/indexer/v1/task', body: task({ transformSpec: { filter: armed(filter) } }, { type: 'json' }) },
        { path: '/svc/indexer/v1/task', body: task({ metricsSpec: [armed(aggregator)] }, { type: 'json' }) },
        { path: '/svc/indexer/v1/task', body: task({}, armed({ type: 'javascript', function: CODE })) },
        { path: '/svc/indexer/v1/sampler', body: task({ transformSpec: { filter: armed(filter) } }, { type: 'json' }) },
        { path: '/svc/indexer/v1/sampler', body: task({}, armed({ type: 'javascript', function: CODE })) },
        { path: '/svc/indexer/v1/worker', body: { type: 'default', selectStrategy: armed({ type: 'javascript', function: CODE }) } },
      ];
      for (const { path, body } of asked) {
        yield { path, body };
        yield { path, body: withKey(body as object, key, poison) };
      }
    }
}

const post = (path: string, body: unknown) => house.ask(ALLOW_ALL_CALLER, 'POST', path, JSON.stringify(body));
const get = async (path: string) => (await house.ask(ALLOW_ALL_CALLER, 'GET', path)).body;

/** Everything that no body may change. */
async function state(): Promise<readonly string[]> {
  const paths = ['/status/properties', '/svc-ext/basic-security/authorization/db/basic/roles', `${VICTIM}?full`];
  const origins = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
  return [...(await Promise.all(paths.map(get))), ...origins.map((origin) => Reflect.ownKeys(origin).map(String).join())];
}

let sent = 0;
for (const [name, all] of [
  ['configuration', configurations],
  ['scripts', scripts],
] as const)
  bodies(`${name}: nothing changes and no code is run`, async () => {
    if (name === 'configuration') {
      assert.is((await post(VICTIM, undefined)).status, 200);
      assert.is((await post(`${VICTIM}/permissions`, PERMISSIONS)).status, 200);
    }
    const before = await state();
    const nobody = userWith('nobody', []);
    const faults: string[] = [];
    for (const { path, body } of all()) {
      const { status, body: text } = await post(path, body);
      sent++;
      if (status >= 500 && status !== 501) faults.push(`${path} ${JSON.stringify(body)}: ${status} ${text}`);
      if (name === 'scripts' && status === 200) faults.push(`${path} ${JSON.stringify(body)}: ${status} ${text}`);
      if (sent % 100 === 0 && (await house.ask(nobody, 'GET', '/status/properties')).status !== 403) faults.push(`${path} opened the door`);
    }
    assert.equal(faults.slice(0, 10), []);
    assert.equal(await state(), before);
    assert.is(Reflect.get(globalThis, 'ranCodeOfABody'), undefined);
  });

bodies('2,000 bodies were sent', () => assert.ok(sent >= 2000, String(sent)));

bodies.run();
