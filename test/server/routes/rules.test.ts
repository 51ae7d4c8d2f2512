import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Coordinator } from '../../../src/cluster/coordinator/coordinator.js';
import { CoordinatorSettings } from '../../../src/cluster/coordinator/settings.js';
import { takeLease } from '../../../src/metadata/leadership.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { ruleRoutes } from '../../../src/server/routes/coordinator/rules.js';
import { openMetadata } from '../../metadata/fixture.js';

const BASE = '/svc/coordinator/v1/rules';
const DEFAULTS = [{ type: 'loadForever', tieredReplicants: { _default_tier: 2 }, useDefaultTierForNull: true }];
const OF_WIKI = [{ type: 'dropForever' }];

const { database, close } = await openMetadata();
const { epoch } = await takeLease(database, { role: 'coordinator', host: 'h', heldEpoch: null, nowMs: 0, leaseMs: 1 });
const settings = new CoordinatorSettings({ database, fence: () => ({ role: 'coordinator', epoch }), now: () => 0 });
const coordinator = { settings, wake: async () => undefined } as unknown as Coordinator;
const routes = ruleRoutes({ coordinator, database, peers: { leading: unused, all: unused }, auditHistoryMs: 0, now: () => 0 });

function unused(): never {
  throw new Error('rules ask no other process');
}

async function ask(method: 'GET' | 'POST', dataSource: string, { query = '', body = '' } = {}): Promise<unknown> {
  const route = routes.find((each) => each.method === method && each.path === `${BASE}/{dataSource}`);
  const path = `${BASE}/${dataSource}`;
  const request = {
    method,
    path,
    rawUrl: path,
    query: new URLSearchParams(query),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body),
    remoteAddress: '',
    signal: new AbortController().signal,
    viaAlias: false,
    caller: ALLOW_ALL_CALLER,
  };
  const response = await route?.handle(request, { dataSource });
  assert.is(response?.status, 200);
  return response?.body === undefined ? undefined : JSON.parse(String(response.body));
}

const rules = suite('rules of a datasource');
rules.before(async () => {
  await ask('POST', 'wiki', { body: JSON.stringify(OF_WIKI) });
});
rules.after(close);

for (const name of ['unknown', '', 'constructor', '__proto__', 'toString', 'wiki2', 'WIKI'])
  rules(`"${name}" has none, so the list is empty, and with full the default rules`, async () => {
    assert.equal(await ask('GET', name), []);
    assert.equal(await ask('GET', name, { query: 'full' }), DEFAULTS);
  });

rules('stored ones come before the default rules', async () => {
  assert.equal(await ask('GET', 'wiki'), OF_WIKI);
  assert.equal(await ask('GET', 'wiki', { query: 'full' }), [...OF_WIKI, ...DEFAULTS]);
});

rules('_default has the default rules, once', async () => {
  assert.equal(await ask('GET', '_default'), DEFAULTS);
  assert.equal(await ask('GET', '_default', { query: 'full' }), DEFAULTS);
});

rules('a datasource may be named like what objects inherit', async () => {
  for (const name of ['constructor2', '__proto__', 'hasOwnProperty']) {
    await ask('POST', name, { body: JSON.stringify(OF_WIKI) });
    assert.equal(await ask('GET', name), OF_WIKI, name);
  }
});

rules.run();
