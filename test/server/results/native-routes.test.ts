import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import type { HttpRequest } from '../../../src/server/http.types.js';
import { base, FakeBroker, frame, long, NOON, send } from './native-requests.js';

const requests = suite('native routes');

requests('the context sets id, deadline, priority, kernels and disk space', async () => {
  const broker = new FakeBroker([]);
  const { headers } = await send(broker, {
    ...base,
    queryType: 'timeseries',
    context: { queryId: 'mine', timeout: 50, priority: 3, kernels: 'scalar', maxOnDiskStorage: '1000' },
  });
  const [asked] = broker.asked;
  assert.ok(asked);
  const { queryId, deadlineMs, priority, kernels, limits } = asked.options;
  assert.equal(
    { queryId, deadlineMs, priority, kernels, maxOnDiskStorage: limits?.maxOnDiskStorage },
    { queryId: 'mine', deadlineMs: 1050, priority: 3, kernels: 'scalar', maxOnDiskStorage: 1000 },
  );
  assert.is(headers?.['X-Svc-Query-Id'], 'mine');
});

requests('timeouts: the default, the longest for 0, and no longer ones', async () => {
  const deadline = async (context: object): Promise<number | undefined> => {
    const broker = new FakeBroker([]);
    await send(broker, { ...base, queryType: 'timeseries', context });
    return broker.asked[0]?.options.deadlineMs;
  };
  assert.is(await deadline({}), 1300);
  assert.is(await deadline({ timeout: 0 }), 11_000);
  await refuses({ ...base, queryType: 'timeseries', context: { timeout: 10_001 } }, 'query_invalid', /maxQueryTimeout/);
});

requests('misspelt context keys and, under the alias, ignored keys are named in a header', async () => {
  const { headers } = await send(
    new FakeBroker([]),
    { ...base, queryType: 'timeseries', descendign: true, context: { prioritty: 1 } },
    { viaAlias: true },
  );
  assert.match(headers?.['X-Svc-Warning'] ?? '', /context\.prioritty.*"priority".*descendign/);
});

requests('pretty indents', async () => {
  const { text: answer } = await send(
    new FakeBroker([[frame(long('__time', [BigInt(NOON)]), long('added', [3n]))]]),
    { ...base, queryType: 'timeseries' },
    { query: new URLSearchParams('pretty') },
  );
  assert.is(answer, JSON.stringify([{ timestamp: '2015-09-12T12:00:00.000Z', result: { added: 3 } }], null, 2));
});

requests('candidates', async () => {
  const { text: answer } = await send(new FakeBroker([]), { ...base, queryType: 'timeseries' }, {}, 'POST', '/svc/v2/candidates');
  assert.equal(JSON.parse(answer), [
    {
      interval: '2015-09-12T12:00:00.000Z/2015-09-12T13:00:00.000Z',
      version: '2015-09-13T00:00:00.000Z',
      partitionNumber: 2,
      size: 77,
      locations: [
        {
          name: 'localhost:8083',
          host: 'localhost:8083',
          hostAndTlsPort: null,
          maxSize: 100,
          type: 'historical',
          tier: '_default_tier',
          priority: 0,
        },
      ],
    },
  ]);
});

requests('the list of datasources that can be queried', async () => {
  const ask = async (path: string, query = ''): Promise<unknown> =>
    JSON.parse((await send(new FakeBroker([]), '', { query: new URLSearchParams(query) }, 'GET', path)).text);
  assert.equal(await ask('/svc/v2/datasources'), ['wiki']);
  assert.equal(await ask('/svc/v2/datasources/{dataSource}'), { dimensions: ['page'], metrics: ['added'] });
  assert.equal(await ask('/svc/v2/datasources/{dataSource}', 'full&interval=2015/2016'), {
    '2015-09-12T12:00:00.000Z/2015-09-12T13:00:00.000Z': { dimensions: ['page'], metrics: ['added'] },
  });
  assert.equal(await ask('/svc/v2/datasources/{dataSource}/dimensions'), ['page']);
  assert.equal(await ask('/svc/v2/datasources/{dataSource}/metrics'), ['added']);
  const [candidate] = (await ask('/svc/v2/datasources/{dataSource}/candidates', 'intervals=2015/2016,2017/2018&numCandidates=0')) as {
    locations: unknown[];
  }[];
  assert.equal(candidate?.locations, []);
});

requests('cancellation reaches the broker and is accepted', async () => {
  const broker = new FakeBroker([]);
  assert.is((await send(broker, '', {}, 'DELETE', '/svc/v2/{id}')).status, 202);
  assert.equal(broker.cancelled, ['q7']);
});

requests('unreadable requests are refused before they reach the broker', async () => {
  await refuses('{"queryType": ', 'query_invalid', /line 1/);
  await refuses('', 'query_invalid', /empty/);
  await refuses(base, 'content_type_unsupported', /text\/html/, { headers: { 'content-type': 'text/html' } });
});

async function refuses(body: unknown, code: string, message: RegExp, more: Partial<HttpRequest> = {}): Promise<void> {
  const broker = new FakeBroker([]);
  try {
    await send(broker, body, more);
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === code && message.test(error.message), String(error));
    assert.equal(broker.asked, []);
    return;
  }
  assert.unreachable('was not refused');
}
requests.run();
