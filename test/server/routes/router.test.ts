import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CancelSignal } from '../../../src/base/cancel-signal.js';
import { ServiceError } from '../../../src/base/errors.js';
import { SILENT_LOG } from '../../../src/base/log.js';
import type { Coordination } from '../../../src/cluster/membership/coordination.js';
import { HttpClient } from '../../../src/cluster/rpc/http-client.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { createAlias } from '../../../src/server/alias.js';
import { BodyBudget } from '../../../src/server/body-intake.js';
import { serve } from '../../../src/server/http.js';
import type { HttpRequest, HttpResponse, Route } from '../../../src/server/http.types.js';
import { createAnswerer } from '../../../src/server/responder.js';
import { whenReady } from '../../../src/server/routes/broker.js';
import { leaderRoutes, onLeader } from '../../../src/server/routes/leader-only.js';
import { type RouterSource, routerRoutes } from '../../../src/server/routes/router.js';
import { envelope } from '../avatica/protobuf-client.js';
import { openGate } from '../open-gate.js';

const FRONT = 21_710;
const BACK = 21_711;
const PUBLIC = { access: 'public' } as const;

const get = (path: string, handle: Route['handle'], method: Route['method'] = 'GET'): Route => ({
  method,
  path,
  permission: PUBLIC,
  errors: 'map',
  handle,
});

/** Route of a fake server behind the router: answers with its name and the request it got. */
const echo = (name: string): Route =>
  get(
    '/svc/v2/{path*}',
    async (request) => ({
      status: 201,
      headers: { 'X-Who': name, 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: request.rawUrl, body: request.body.toString(), author: request.headers['x-svc-author'] ?? null }),
    }),
    'POST',
  );

const coordinationOf = (leaders: Readonly<Record<string, string>>, brokers: readonly string[]): RouterSource['coordination'] => ({
  leader: (role) => (leaders[role] === undefined ? undefined : { role, epoch: 1, host: leaders[role], expiresMs: 0 }),
  members: () => brokers.map((host) => ({ role: 'broker', host, session: 's', details: {} })),
});

const UNCHANGED: Pick<Coordination, 'isCurrent' | 'refresh'> = { isCurrent: () => true, refresh: async () => undefined };

async function listening(port: number, routes: readonly Route[]) {
  return serve({
    routes,
    host: '127.0.0.1',
    port,
    maxRequestBytes: 1 << 20,
    bodies: new BodyBudget(2 ** 30),
    allowedHosts: [],
    compressionLevel: 1,
    maxIdleMs: 60_000,
    apiName: 'svc',
    gate: openGate('k'),
    log: SILENT_LOG,
  });
}

async function behindRouter(
  back: readonly Route[],
  test: (url: string) => Promise<void>,
  source: Partial<RouterSource> = {},
): Promise<void> {
  const host = `127.0.0.1:${BACK}`;
  const client = new HttpClient();
  const coordination = coordinationOf({ coordinator: host, overlord: host }, [host]);
  const servers = [
    await listening(BACK, back),
    await listening(FRONT, routerRoutes({ coordination, client, local: () => undefined, ...source })),
  ];
  try {
    await test(`http://127.0.0.1:${FRONT}`);
  } finally {
    await client.close();
    await Promise.all(servers.map((server) => server.close(0)));
    // The next server has the same port: until fetch has seen that its old connections ended, it would send on one of them.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const router = suite('router');

router('path, query, headers and body go through, status and headers come back', () =>
  behindRouter([echo('back')], async (url) => {
    const response = await fetch(`${url}/svc/v2/some%20thing?a=1&b`, { method: 'POST', body: 'hello', headers: { 'X-Svc-Author': 'me' } });
    assert.equal([response.status, response.headers.get('x-who')], [201, 'back']);
    assert.equal(await response.json(), { url: '/svc/v2/some%20thing?a=1&b', body: 'hello', author: 'me' });
  }),
);

router('a role of this process answers without a socket', () => {
  const local = createAnswerer({ routes: [echo('local')], alias: createAlias('svc'), host: 'x', gate: openGate('k'), log: SILENT_LOG });
  return behindRouter(
    [echo('back')],
    async (url) => assert.is((await fetch(`${url}/svc/v2/x`, { method: 'POST' })).headers.get('x-who'), 'local'),
    { local: (role) => (role === 'broker' ? local : undefined) },
  );
});

router('a large body streams through no faster than it is read, and leaving it stops its source', () => {
  let made = 0;
  let stopped: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  async function* endless(): AsyncIterable<Uint8Array> {
    try {
      for (; ; made++) yield new Uint8Array(65_536);
    } finally {
      stopped();
    }
  }
  return behindRouter([get('/svc/v2/{path*}', async () => ({ status: 200, body: endless() }))], async (url) => {
    const controller = new AbortController();
    const response = await fetch(`${url}/svc/v2/x`, { signal: controller.signal, headers: { 'Accept-Encoding': 'identity' } });
    await response.body?.getReader().read();
    // Whatever buffers there are on the way, they fill up while nobody reads.
    let before = -1;
    while (before !== made) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    assert.ok(made < 1000, `${made} chunks were made for a reader that took one`);
    controller.abort();
    await ended;
  });
});

router('errors behind it come through as they are; nobody there is a 503', async () => {
  const failing = get('/svc/v2/{path*}', async () => {
    throw new ServiceError('input_invalid', 'x: found y');
  });
  await behindRouter([failing], async (url) => {
    const response = await fetch(`${url}/svc/v2/x`);
    assert.equal([response.status, await response.json()], [400, { error: 'x: found y' }]);
    assert.is((await fetch(`${url}/svc/v2/x`, { method: 'DELETE' })).status, 405);
    assert.is((await fetch(`${url}/internal/v1/broker/wake`, { method: 'POST' })).status, 404);
  });
  await behindRouter([], async (url) => assert.is((await fetch(`${url}/svc/coordinator/v1/leader`)).status, 503), {
    coordination: coordinationOf({}, []),
  });
});

router('a cancellation reaches the broker that knows the query', async () => {
  const answers: Readonly<Record<string, number>> = { a: 404, b: 202, c: 404 };
  const asked: string[] = [];
  const [cancel] = routerRoutes({
    coordination: coordinationOf({}, Object.keys(answers)),
    client: new HttpClient(),
    local: (_role, host) => ({
      admit: () => ALLOW_ALL_CALLER,
      answer: async (): Promise<HttpResponse> => {
        asked.push(host);
        return { status: answers[host] ?? 500 };
      },
      refuse: () => ({ status: 500 }),
    }),
  }).filter((route) => route.method === 'DELETE' && route.path === '/svc/v2/{path*}');
  const request: HttpRequest = {
    method: 'DELETE',
    path: '/svc/v2/sql/q',
    rawUrl: '/svc/v2/sql/q',
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.alloc(0),
    remoteAddress: '',
    signal: new AbortController().signal,
    viaAlias: false,
    caller: ALLOW_ALL_CALLER,
  };
  assert.is((await cancel?.handle(request, {}))?.status, 202);
  assert.equal(asked, ['a', 'b', 'c']);
});

router('the requests of a JDBC connection stay with one broker', async () => {
  const brokers = ['a', 'b', 'c'];
  let hosts: readonly string[] = brokers;
  const asked: string[] = [];
  const coordination = {
    ...coordinationOf({}, []),
    members: () => hosts.map((host) => ({ role: 'broker', host, session: 's', details: {} })),
  };
  const [forward] = routerRoutes({
    coordination,
    client: new HttpClient(),
    local: (_role, host) => ({
      admit: () => ALLOW_ALL_CALLER,
      answer: async (): Promise<HttpResponse> => {
        asked.push(host);
        return { status: 200 };
      },
      refuse: () => ({ status: 500 }),
    }),
  }).filter((route) => route.method === 'POST' && route.path === '/svc/v2/{path*}');
  const brokerOf = async (body: string | Buffer): Promise<string | undefined> => {
    const path = typeof body === 'string' ? '/svc/v2/sql/avatica' : '/svc/v2/sql/avatica-protobuf';
    const rest = {
      query: new URLSearchParams(),
      headers: {},
      remoteAddress: '',
      signal: new AbortController().signal,
      viaAlias: false,
      caller: ALLOW_ALL_CALLER,
    };
    await forward?.handle({ method: 'POST', path, rawUrl: `${path}/`, body: Buffer.from(body), ...rest }, {});
    return asked.at(-1);
  };
  const ids = Array.from({ length: 30 }, (_, index) => `connection ${index}`);
  const chosen: (string | undefined)[] = [];
  for (const id of ids) chosen.push(await brokerOf(JSON.stringify({ request: 'createStatement', connectionId: id })));
  for (const [index, id] of ids.entries()) {
    const sql = 'SELECT \'"connectionId": "other"\'';
    assert.is(await brokerOf(JSON.stringify({ request: 'prepare', sql, connectionId: id })), chosen[index]);
    assert.is(await brokerOf(JSON.stringify({ request: 'execute', statementHandle: { connectionId: id, id: 1 } })), chosen[index]);
    assert.is(await brokerOf(envelope('CreateStatementRequest', [[1, id]])), chosen[index]);
    assert.is(await brokerOf(envelope('ExecuteRequest', [[1, { message: [[1, id]] }]])), chosen[index]);
  }
  assert.equal([...new Set(chosen)].sort(), brokers);
  // When one leaves, only its own connections move.
  hosts = ['a', 'c'];
  for (const [index, id] of ids.entries())
    if (chosen[index] !== 'b') assert.is(await brokerOf(JSON.stringify({ connectionId: id })), chosen[index]);
});

router('a standby says who leads and sends everything else there', async () => {
  const coordination = { ...coordinationOf({ coordinator: 'leader:1' }, []), ...UNCHANGED };
  const role = { role: 'coordinator', scheme: 'http', coordination, leading: () => false } as const;
  const routes = [
    ...leaderRoutes('/svc/coordinator/v1', role),
    ...onLeader(role, [get('/svc/coordinator/v1/rules', async () => ({ status: 200 }))]),
  ];
  await behindRouter(routes, async () => {
    const url = `http://127.0.0.1:${BACK}/svc/coordinator/v1`;
    assert.is(await (await fetch(`${url}/leader`)).text(), 'http://leader:1');
    const standby = await fetch(`${url}/isLeader`);
    assert.equal([standby.status, await standby.json()], [404, { leader: false }]);
    const moved = await fetch(`${url}/rules?full`, { redirect: 'manual' });
    assert.equal([moved.status, moved.headers.get('location')], [307, 'http://leader:1/svc/coordinator/v1/rules?full']);
  });
});

router('a leader that was replaced while it was stopped sends callers to the new one, whatever they ask', async () => {
  const cases = [
    { name: 'its lease ran out by its own clock', current: false, handle: async () => ({ status: 200 }) },
    {
      name: 'its transaction found the newer epoch',
      current: true,
      handle: async () => {
        throw new ServiceError('not_leader', 'coordinator: epoch 1 has ended');
      },
    },
  ];
  for (const { name, current, handle } of cases) {
    let leads = true;
    const coordination = {
      ...coordinationOf({ coordinator: 'leader:1' }, []),
      isCurrent: () => current,
      refresh: async () => {
        leads = false;
      },
    };
    const role = { role: 'coordinator', scheme: 'http', coordination, leading: () => leads } as const;
    await behindRouter(onLeader(role, [get('/svc/coordinator/v1/rules', handle)]), async () => {
      const moved = await fetch(`http://127.0.0.1:${BACK}/svc/coordinator/v1/rules`, { redirect: 'manual' });
      assert.equal([moved.status, moved.headers.get('location')], [307, 'http://leader:1/svc/coordinator/v1/rules'], name);
    });
  }
});

router('lookups in use are those of a broker', async () => {
  const held = get('/svc/listen/v1/lookups', async () => ({ status: 200, body: '{"a":{}}' }));
  await behindRouter([held], async (url) => {
    assert.equal(await (await fetch(`${url}/svc/listen/v1/lookups`)).json(), { a: {} });
  });
});

router('a broker without its first view lets requests wait, then says that it has just started, and when to come again', async () => {
  let ready = false;
  const broker = {
    get ready() {
      return ready;
    },
  };
  const routes = [{ ...echo('broker'), errors: 'query' as const }];
  const ask = (url: string) => fetch(`${url}/svc/v2/sql`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  await behindRouter(whenReady(broker, routes, 100), async (url) => {
    const early = await ask(url);
    assert.equal([early.status, early.headers.get('retry-after')], [503, '1']);
  });
  await behindRouter(whenReady(broker, routes), async (url) => {
    const waiting = ask(url);
    await new Promise((resolve) => setTimeout(resolve, 100));
    ready = true;
    assert.is((await waiting).status, 201);
    assert.is((await ask(url)).status, 201);
  });
});

router('a request whose client leaves while it waits for the first view ends as cancelled', async () => {
  const [waiting] = whenReady({ ready: false }, [echo('broker')]);
  const gone = AbortSignal.abort(new ServiceError('cancelled', 'the client closed the connection'));
  const answer = Promise.resolve(waiting?.handle({ signal: gone as CancelSignal } as HttpRequest, {}));
  const error: unknown = await answer.catch((thrown: unknown) => thrown);
  assert.is(error instanceof ServiceError && error.code, 'cancelled');
});

router.run();
