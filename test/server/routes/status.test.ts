import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Configuration } from '../../../src/configuration/configuration.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import type { HttpRequest, HttpResponse } from '../../../src/server/http.types.js';
import { statusRoutes } from '../../../src/server/routes/status.js';

const status = suite('status');

const REQUEST: HttpRequest = {
  method: 'GET',
  path: '/',
  rawUrl: '/',
  query: new URLSearchParams(),
  headers: {},
  body: Buffer.alloc(0),
  remoteAddress: '127.0.0.1',
  signal: new AbortController().signal,
  viaAlias: false,
  caller: ALLOW_ALL_CALLER,
};

async function ask(path: string, discovered = true, flags: readonly string[] = []): Promise<{ response: HttpResponse; body: unknown }> {
  const configuration = Configuration.read({ flags: ['svc.server.hiddenProperties=["TIER"]', ...flags] });
  const modules = [{ name: 'kernels', artifact: 'simd', version: '1' }];
  const routes = statusRoutes({ configuration, version: '1.2.3', modules, selfDiscovered: () => discovered, metrics: async () => '' });
  const route = routes.find((each) => each.path === path);
  if (route === undefined) throw new Error(`no route ${path}`);
  const response = await route.handle(REQUEST, {});
  return { response, body: response.body === undefined ? undefined : JSON.parse(String(response.body)) };
}

status('/status tells version, modules and memory in bytes', async () => {
  const { body } = await ask('/status');
  const { version, modules, memory } = body as { version: string; modules: unknown; memory: Record<string, number> };
  assert.is(version, '1.2.3');
  assert.equal(modules, [{ name: 'kernels', artifact: 'simd', version: '1' }]);
  assert.equal(Object.keys(memory), ['maxMemory', 'totalMemory', 'freeMemory', 'usedMemory', 'directMemory']);
  for (const value of Object.values(memory)) assert.ok(Number.isSafeInteger(value) && value >= 0);
});

status('/status under another name tells the version of the interface, and ours beside it', async () => {
  const versions = async (...flags: string[]) => {
    const { version, dolmenVersion } = (await ask('/status', true, flags)).body as Record<string, unknown>;
    return [version, dolmenVersion];
  };
  assert.equal(await versions(), ['1.2.3', undefined]);
  assert.equal(await versions('svc.server.http.apiName=druid'), ['37.0.0', '1.2.3']);
  assert.equal(await versions('svc.server.http.apiName=druid', 'svc.server.http.apiVersion=36.0.0'), ['36.0.0', '1.2.3']);
});

status('/status/health is true', async () => assert.is((await ask('/status/health')).body, true));

status('/status/properties maps names to texts and omits hidden ones', async () => {
  const { body } = await ask('/status/properties');
  const properties = body as Record<string, string>;
  assert.is(properties['svc.broker.port'], '8082');
  assert.is(properties['svc.server.tier'], undefined);
  for (const value of Object.values(properties)) assert.type(value, 'string');
});

status('selfDiscovered is told by body and by status code', async () => {
  assert.equal((await ask('/status/selfDiscovered/status', true)).body, { selfDiscovered: true });
  assert.equal((await ask('/status/selfDiscovered/status', false)).body, { selfDiscovered: false });
  assert.is((await ask('/status/selfDiscovered/status', false)).response.status, 200);
  assert.equal((await ask('/status/selfDiscovered', true)).response, { status: 200 });
  assert.is((await ask('/status/selfDiscovered', false)).response.status, 503);
});

status.run();
