import { App, us_socket_local_port } from 'uWebSockets.js';
import { createServer } from 'node:http';
import { SILENT_LOG } from '../../src/base/log.js';
import { ALLOW_ALL_AUTHORIZERS } from '../../src/model/access/authorizer.js';
import { ALLOW_ALL_IDENTITY } from '../../src/model/access/identity.js';
import { createGate } from '../../src/server/access/gate.js';
import { BodyBudget } from '../../src/server/body-intake.js';
import { serve } from '../../src/server/http.js';

/**
 * The yardsticks, each in a process of its own: `node contenders.js NAME` prints the port it listens on.
 * `hello` and `echo` are uWebSockets.js with nothing around it, `node-echo` is node:http, `layer-echo` is Dolmen's HTTP
 * layer with one route and no query engine behind it.
 */
const CONTENDERS: Readonly<Record<string, () => Promise<number>>> = { hello, echo, 'node-echo': nodeEcho, 'layer-echo': layerEcho };

const JSON_HEADERS = { 'Content-Type': 'application/json' };

async function hello(): Promise<number> {
  return listen(
    App().any('/*', (response) => {
      response.end('hello');
    }),
  );
}

async function echo(): Promise<number> {
  return listen(
    App().post('/*', (response) => {
      const chunks: Buffer[] = [];
      response.onAborted(() => undefined);
      response.onData((chunk, isLast) => {
        chunks.push(Buffer.from(chunk.slice(0)));
        if (!isLast) return;
        const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
        response.cork(() => response.writeHeader('Content-Type', 'application/json').end(body));
      });
    }),
  );
}

function listen(app: ReturnType<typeof App>): Promise<number> {
  return new Promise((resolve, reject) =>
    app.listen('127.0.0.1', 0, (socket) => (socket === false ? reject(new Error('cannot listen')) : resolve(us_socket_local_port(socket)))),
  );
}

async function nodeEcho(): Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.writeHead(200, JSON_HEADERS).end(JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function layerEcho(): Promise<number> {
  const server = await serve({
    routes: [
      {
        method: 'POST',
        path: '/svc/v2/sql',
        permission: { access: 'public' },
        errors: 'query',
        handle: async ({ body }) => ({ status: 200, headers: JSON_HEADERS, body: JSON.stringify(JSON.parse(body.toString())) }),
      },
    ],
    host: '127.0.0.1',
    port: 0,
    maxRequestBytes: 1_000_000,
    bodies: new BodyBudget(2 ** 30),
    allowedHosts: [],
    compressionLevel: 1,
    maxIdleMs: 60_000,
    apiName: 'svc',
    gate: createGate({
      authentication: { identify: () => ALLOW_ALL_IDENTITY, recall: () => ALLOW_ALL_IDENTITY },
      authorizers: ALLOW_ALL_AUTHORIZERS,
      clusterKey: '',
      internalUser: null,
      unsecuredPaths: [],
      loginPaths: [],
    }),
    log: SILENT_LOG,
  });
  return server.port;
}

const begin = CONTENDERS[process.argv[2] ?? ''];
if (begin === undefined) throw new Error(`expected one of ${Object.keys(CONTENDERS).join(', ')}`);
process.stdout.write(`${await begin()}\n`);
