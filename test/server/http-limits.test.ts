import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SILENT_LOG } from '../../src/base/log.js';
import { BodyBudget } from '../../src/server/body-intake.js';
import { type HttpServer, type ServeOptions, serve } from '../../src/server/http.js';
import type { HttpRequest, Route } from '../../src/server/http.types.js';
import { WebGuard } from '../../src/server/web-guard.js';
import { openGate } from './open-gate.js';

const limits = suite('limits of HTTP');

function route(method: Route['method'], path: string, handle: Route['handle']): Route {
  return { method, path, permission: { access: 'public' }, errors: 'query', handle };
}

async function withServer(
  routes: readonly Route[],
  use: (base: string, server: HttpServer) => Promise<void>,
  options: Partial<ServeOptions> = {},
): Promise<void> {
  const server = await serve({
    routes,
    host: '127.0.0.1',
    port: 0,
    maxRequestBytes: 1_000_000,
    bodies: new BodyBudget(1_000_000),
    allowedHosts: [],
    compressionLevel: 1,
    maxIdleMs: 60_000,
    apiName: 'svc',
    gate: openGate(),
    log: SILENT_LOG,
    ...options,
  });
  try {
    await use(`http://127.0.0.1:${server.port}`, server);
  } finally {
    await server.close(0);
  }
}

/** The whole answer to a request written as it stands; fetch would choose Host and Origin itself. */
async function written(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(head);
  let answer = '';
  for await (const data of socket) answer += String(data);
  return answer;
}

async function until(condition: () => boolean): Promise<void> {
  for (let waitedMs = 0; !condition(); waitedMs += 5) {
    if (waitedMs > 20_000) throw new Error('the awaited condition never held');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Headers sent by a program, by our own page, by a page of another site, and by a page after DNS rebinding. */
const WHO_ASKS: readonly {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
}[] = [
  { name: 'a program', headers: {}, mayRead: true, mayWrite: true },
  { name: 'a program that says localhost', headers: { host: 'localhost:8888' }, mayRead: true, mayWrite: true },
  { name: 'a program that says another loopback address', headers: { host: '127.1.2.3' }, mayRead: true, mayWrite: true },
  { name: 'a program that says ::1', headers: { host: '[::1]:8888' }, mayRead: true, mayWrite: true },
  { name: 'our own page', headers: { host: 'localhost:8888', origin: 'http://localhost:8888' }, mayRead: true, mayWrite: true },
  { name: 'a page of a name that is allowed', headers: { origin: 'https://console.example:9' }, mayRead: true, mayWrite: true },
  { name: 'a proxy of a name that is allowed', headers: { host: 'Console.example' }, mayRead: true, mayWrite: true },
  { name: 'a page of another port', headers: { host: 'localhost:8888', origin: 'http://localhost:3000' }, mayRead: true, mayWrite: false },
  { name: 'a page of another site', headers: { origin: 'https://evil.example' }, mayRead: true, mayWrite: false },
  { name: 'a page in a sandbox', headers: { origin: 'null' }, mayRead: true, mayWrite: false },
  { name: 'a page that hides where it is from', headers: { 'sec-fetch-site': 'cross-site' }, mayRead: true, mayWrite: false },
  { name: 'a page whose name begins like ours', headers: { origin: 'http://127.0.0.1.evil.example' }, mayRead: true, mayWrite: false },
  {
    name: 'a page after DNS rebinding',
    headers: { host: 'evil.example:8888', origin: 'http://evil.example:8888' },
    mayRead: false,
    mayWrite: false,
  },
  { name: 'a name that begins like a loopback address', headers: { host: '127.0.0.1.evil.example' }, mayRead: false, mayWrite: false },
];
for (const { name, headers, mayRead, mayWrite } of WHO_ASKS) {
  limits(`${name} ${mayRead ? 'may' : 'may not'} read and ${mayWrite ? 'may' : 'may not'} write`, async () => {
    let asked = 0;
    const handle = async () => {
      asked++;
      return { status: 200, body: 'ok' };
    };
    const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;
    const routes = methods.map((method) => route(method, '/svc/v2/x', handle));
    await withServer(
      routes,
      async (_base, { port }) => {
        for (const method of methods) {
          asked = 0;
          const lines = Object.entries({ host: `127.0.0.1:${port}`, connection: 'close', ...headers }).map(
            ([key, value]) => `${key}: ${value}`,
          );
          const answer = await written(port, `${method} /svc/v2/x HTTP/1.1\r\n${lines.join('\r\n')}\r\nContent-Length: 2\r\n\r\n{}`);
          const isAnswered = method === 'GET' ? mayRead : mayWrite;
          assert.match(answer, isAnswered ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 403 .*"Forbidden".*svc\.server\.http\.allowedHosts/s);
          assert.is(asked, isAnswered ? 1 : 0, method);
        }
      },
      { allowedHosts: ['console.example'] },
    );
  });
}

limits('a server that other machines reach answers under every name, but pages of that name only', () => {
  const guard = new WebGuard({ host: '10.0.0.1', allowedHosts: [] });
  const refusal = (headers: Record<string, string>) => guard.refusal({ method: 'POST', headers })?.code;
  assert.is(refusal({ host: 'dolmen.example:8888' }), undefined);
  assert.is(refusal({ host: 'dolmen.example:8888', origin: 'http://dolmen.example:8888' }), undefined);
  assert.is(refusal({ host: 'dolmen.example:8888', origin: 'http://other.example' }), 'forbidden');
});

limits('every answer says that it is no page, is of its type, and how long its connection stays open', async () => {
  const stream = async function* () {
    yield 'a'.repeat(20_000);
    yield 'b';
  };
  const routes = [
    route('GET', '/text', async () => ({ status: 200, body: 'a' })),
    route('GET', '/none', async () => ({ status: 204 })),
    route('GET', '/large', async () => ({ status: 200, body: 'a'.repeat(100_000) })),
    route('GET', '/stream', async () => ({ status: 200, body: stream() })),
  ];
  await withServer(routes, async (base) => {
    for (const path of ['/text', '/none', '/large', '/stream', '/unknown']) {
      const { headers } = await fetch(base + path);
      assert.is(headers.get('x-content-type-options'), 'nosniff', path);
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.*frame-ancestors 'none'/);
      assert.is(headers.get('keep-alive'), 'timeout=8', path);
    }
  });
});

limits('bodies in flight are bounded in sum, unpacked ones as well; what is answered gives its part back', async () => {
  const waiting: (() => void)[] = [];
  const hold = route('POST', '/hold', async ({ body }: HttpRequest) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { status: 200, body: String(body.length) };
  });
  const bodies = new BodyBudget(1_000_000);
  await withServer(
    [hold],
    async (base) => {
      const post = (body: Buffer, headers: Record<string, string> = {}) => fetch(`${base}/hold`, { method: 'POST', body, headers });
      const first = post(Buffer.alloc(400_000));
      const second = post(gzipSync(Buffer.alloc(400_000)), { 'Content-Encoding': 'gzip' });
      await until(() => waiting.length === 2);
      for (const refused of [
        await post(Buffer.alloc(300_000)),
        await post(gzipSync(Buffer.alloc(900_000)), { 'Content-Encoding': 'gzip' }),
      ]) {
        assert.is(refused.status, 429);
        assert.is(refused.headers.get('retry-after'), '1');
        assert.match(await refused.text(), /svc\.server\.http\.maxRequestBytesInFlight/);
      }
      // One that fits is answered beside them.
      const third = post(Buffer.alloc(1000));
      await until(() => waiting.length === 3);
      for (const release of waiting.splice(0)) release();
      assert.is(await (await first).text(), '400000');
      assert.is(await (await second).text(), '400000');
      assert.is(await (await third).text(), '1000');
      await until(() => bodies.takenBytes === 0);
    },
    { bodies },
  );
});

/** A body that the budget will never take is not to be sent again. */
const ALONE: readonly (readonly [name: string, sizeBytes: number, packed: boolean, status: number])[] = [
  ['all of the budget', 50_000, false, 200],
  ['a byte more than the budget', 50_001, false, 413],
  ['unpacked, with what was sent, more than the budget', 50_000, true, 413],
  ['unpacked, with what was sent, within the budget', 49_000, true, 200],
];
for (const [name, sizeBytes, packed, status] of ALONE)
  limits(`one body alone: ${name}`, () =>
    withServer(
      [route('POST', '/take', async () => ({ status: 200 }))],
      async (base) => {
        const body = packed ? gzipSync(Buffer.alloc(sizeBytes)) : Buffer.alloc(sizeBytes);
        const answer = await fetch(`${base}/take`, { method: 'POST', body, headers: packed ? { 'Content-Encoding': 'gzip' } : {} });
        assert.is(answer.status, status);
        if (status === 413) assert.match(await answer.text(), /svc\.server\.http\.maxRequestBytesInFlight \(50000 bytes\)/);
      },
      { bodies: new BodyBudget(50_000) },
    ),
  );

limits('the part of a body whose sender left stays taken until its handler has ended', async () => {
  let release = () => {};
  let started = false;
  const hold = route('POST', '/hold', async () => {
    started = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { status: 200, body: 'nobody hears this' };
  });
  const bodies = new BodyBudget(1_000_000);
  await withServer(
    [hold],
    async (base) => {
      const leaving = new AbortController();
      const left = fetch(`${base}/hold`, { method: 'POST', body: Buffer.alloc(5000), signal: leaving.signal }).catch(() => 'left');
      await until(() => started);
      leaving.abort();
      assert.is(await left, 'left');
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.is(bodies.takenBytes, 5000);
      release();
      await until(() => bodies.takenBytes === 0);
    },
    { bodies },
  );
});

limits('requests that outlast the drain are answered with 503 before the close; a response that had begun ends early', async () => {
  const reasons: unknown[] = [];
  const hang = route('GET', '/hang', async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    reasons.push(signal.reason);
    throw signal.reason;
  });
  let streamed = false;
  const stream = route('GET', '/stream', async ({ signal }) => ({
    status: 200,
    body: (async function* () {
      yield '[1,';
      yield '2,';
      streamed = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw signal.reason;
    })(),
  }));
  await withServer([hang, stream], async (base, server) => {
    const hung = fetch(`${base}/hang`);
    const begun = await fetch(`${base}/stream`);
    await until(() => streamed);
    await server.close(100);
    const response = await hung;
    assert.is(response.status, 503);
    assert.is(response.headers.get('retry-after'), '1');
    const body = await response.text();
    assert.match(body, /"Service unavailable"/);
    assert.match(body, /shutting down/);
    await until(() => reasons.length === 1);
    assert.instance(await begun.text().catch((error: unknown) => error), Error);
  });
});

limits.run();
