import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { requestBody } from '../../src/ingestion/source/http-request.js';
import { UrlPolicy } from '../../src/ingestion/source/url-policy.js';

interface Context {
  server: http.Server;
  port: number;
  /** Another origin, on a port of its own. */
  other: http.Server;
  otherPort: number;
  requests: number;
}

const LOOPBACK: readonly LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
const PRIVATE: readonly LookupAddress[] = [{ address: '10.0.0.1', family: 4 }];

const requests = suite<Context>('requests of http input sources');

requests.before(async (context) => {
  context.requests = 0;
  context.server = http.createServer((request, response) => {
    context.requests++;
    const url = new URL(request.url ?? '/', 'http://here');
    if (url.pathname === '/to')
      response.writeHead(Number(url.searchParams.get('status')), { location: url.searchParams.get('url') ?? '' }).end();
    else if (url.pathname === '/down' && url.search !== '?0')
      response.writeHead(302, { location: `/down?${Number(url.search.slice(1)) - 1}` }).end();
    else if (url.pathname === '/nowhere') response.writeHead(302).end();
    else if (url.pathname === '/upgrade')
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
    else if (url.pathname === '/encoded') response.writeHead(200, { 'content-encoding': url.search.slice(1) }).end('x');
    else response.end(`${request.headers.host} ${request.headers.authorization ?? 'nobody'}`);
  });
  context.other = http.createServer((request, response) => response.end(`other ${request.headers.authorization ?? 'nobody'}`));
  context.port = await listen(context.server);
  context.otherPort = await listen(context.other);
});
requests.after(({ server, other }) => {
  server.close();
  other.close();
});

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return (server.address() as AddressInfo).port;
}

interface Reading {
  readonly authorization?: string;
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
  readonly signal?: AbortSignal;
}

/** The body of a URL, or the code and message of the failure; 127.0.0.1 alone is allowed beside public addresses. */
async function read(url: string, { authorization, resolve = async () => LOOPBACK, signal }: Reading = {}): Promise<string> {
  const rules = { maxBytes: 1000, allowedProtocols: ['http', 'https'], allowedHosts: [], allowedAddresses: ['127.0.0.1'] };
  const policy = new UrlPolicy({ rules, peers: [], resolve, machineAddresses: [] });
  try {
    const body = await requestBody({
      url: new URL(url),
      authorization: authorization ?? null,
      policy,
      signal: signal ?? new AbortController().signal,
    });
    return await text(body);
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

const to = (port: number, url: string, status = 302) => `http://127.0.0.1:${port}/to?status=${status}&url=${encodeURIComponent(url)}`;

requests('a redirect of every kind is followed', async ({ port, otherPort }) => {
  for (const status of [301, 302, 303, 307, 308]) {
    assert.is(await read(to(port, '/', status)), `127.0.0.1:${port} nobody`);
    assert.is(await read(to(port, `http://127.0.0.1:${otherPort}/`, status)), 'other nobody');
  }
});

requests('credentials go to the first origin only, also after a way back', async ({ port, otherPort }) => {
  const authorization = 'Basic YTpi';
  assert.is(await read(to(port, '/'), { authorization }), `127.0.0.1:${port} ${authorization}`);
  assert.is(await read(to(port, `http://127.0.0.1:${otherPort}/`), { authorization }), 'other nobody');
  assert.is(await read(to(port, `http://name.example:${port}/`), { authorization }), `name.example:${port} nobody`);
  const back = to(port, `http://127.0.0.1:${port}/`).replace('127.0.0.1', 'name.example');
  assert.is(await read(to(port, back), { authorization }), `127.0.0.1:${port} nobody`);
});

requests('a redirect to what may not be read is refused', async ({ port }) => {
  for (const target of [
    `http://127.0.0.2:${port}/`,
    `http://0x7f000002:${port}/`,
    `http://[::1]:${port}/`,
    `//[::ffff:127.0.0.2]:${port}/`,
    `http://0.0.0.0:${port}/`,
    'http://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
  ])
    assert.match(await read(to(port, target)), /^forbidden: .*svc\.ingestion\.http\.allowedAddresses/, target);
  for (const target of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:,x', 'http://', `http://a:b@127.0.0.1:${port}/`])
    assert.match(await read(to(port, target)), /^input_unreadable: the server redirects to a URL that is not/, target);
});

requests('redirects are bounded: the tenth is followed, the eleventh is not', async ({ port }) => {
  assert.is(await read(`http://127.0.0.1:${port}/down?10`), `127.0.0.1:${port} nobody`);
  assert.match(await read(`http://127.0.0.1:${port}/down?11`), /^input_unreadable: the server redirects more than 10 times/);
});

requests('a name is resolved once: what was checked is what is connected', async ({ port }) => {
  let resolved = 0;
  const first = (answers: readonly (readonly LookupAddress[])[]) => async () => answers[Math.min(resolved++, answers.length - 1)] ?? [];
  assert.is(await read(`http://rebind.example:${port}/`, { resolve: first([LOOPBACK, PRIVATE]) }), `rebind.example:${port} nobody`);
  assert.is(resolved, 1);
});

requests('a name that is resolved to another address after a redirect is checked again', async (context) => {
  let resolved = 0;
  const resolve = async () => (resolved++ === 0 ? LOOPBACK : PRIVATE);
  const before = context.requests;
  assert.match(await read(to(context.port, '/').replace('127.0.0.1', 'rebind.example'), { resolve }), /^forbidden: /);
  assert.equal([resolved, context.requests - before], [2, 1]);
});

requests('failures before an HTTP answer have one message, which does not tell which ports are open', async ({ port }) => {
  const closes = net.createServer((socket) => socket.destroy());
  const speaks = net.createServer((socket) => socket.end('220 mail.example ESMTP\r\n'));
  const gone = net.createServer();
  const ports = await Promise.all([closes, speaks, gone].map(listen));
  await new Promise((closed) => gone.close(closed));
  try {
    const unknown = { resolve: () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })) };
    const found = [
      ...(await Promise.all(ports.flatMap((each) => [read(`http://127.0.0.1:${each}/`), read(`https://127.0.0.1:${each}/`)]))),
      await read(`https://127.0.0.1:${port}/`),
      await read(`http://127.0.0.1:${port}/upgrade`),
      await read('http://nowhere.example/', unknown),
    ];
    assert.equal([...new Set(found)], ['input_unreadable: there is no HTTP answer']);
  } finally {
    closes.close();
    speaks.close();
  }
});

requests('a refused answer names its status or its encoding', async ({ port }) => {
  assert.is(await read(`http://127.0.0.1:${port}/nowhere`), 'input_unreadable: the server answers 302 Found');
  assert.is(await read(`http://127.0.0.1:${port}/encoded?gzip`), 'x');
  assert.is(
    await read(`http://127.0.0.1:${port}/encoded?br`),
    'input_unreadable: the server sends Content-Encoding br, expected identity, gzip or zstd',
  );
});

requests('the signal ends a resolution that never ends, and a server that never answers', async () => {
  const silent = net.createServer();
  const port = await listen(silent);
  try {
    for (const reading of [{ resolve: () => new Promise<never>(() => undefined) }, {}]) {
      const signal = AbortSignal.timeout(20);
      const failure = await read(`http://silent.example:${port}/`, { ...reading, signal }).catch((error: unknown) => error);
      assert.ok(signal.aborted && failure instanceof Error, String(failure));
    }
  } finally {
    silent.close();
  }
});

requests.run();
