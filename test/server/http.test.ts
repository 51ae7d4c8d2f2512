import { request as send } from 'node:http';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { CLUSTER_KEY_HEADER } from '../../src/cluster/rpc/message.js';
import type { HttpRequest, Route } from '../../src/server/http.types.js';
import { openGate } from './open-gate.js';
import { chunksOf, open, route, text, until, withServer } from './served.js';

const http = suite('http');

http('a handler sees method, path, query, headers, body and parameters', async () => {
  let seen: HttpRequest | undefined;
  let seenParameters = {};
  let address = '';
  const echo = route('POST', '/svc/{name}/end', async (request, parameters) => {
    seen = request;
    seenParameters = parameters;
    address = request.remoteAddress;
    return text('ok', { 'X-Svc-Thing': 'a' });
  });
  await withServer([echo], async (base) => {
    const response = await fetch(`${base}/svc/a%2Fb%20%C3%A9/end/?full&x=1%2C2`, {
      method: 'POST',
      body: 'héllo',
      headers: { 'X-Test': 'Yes' },
    });
    assert.is(response.status, 200);
    assert.is(await response.text(), 'ok');
    assert.is(response.headers.get('x-svc-thing'), 'a');
    assert.is(response.headers.get('content-length'), '2');
  });
  assert.equal({ ...seenParameters }, { name: 'a/b é' });
  assert.is(seen?.method, 'POST');
  assert.is(seen?.path, '/svc/a/b é/end');
  assert.is(seen?.rawUrl, '/svc/a%2Fb%20%C3%A9/end/?full&x=1%2C2');
  assert.is(seen?.query.get('x'), '1,2');
  assert.ok(seen?.query.has('full'));
  assert.is(seen?.headers['x-test'], 'Yes');
  assert.is(seen?.body.toString(), 'héllo');
  assert.is(address, '127.0.0.1');
  assert.is(seen?.viaAlias, false);
});

http('GET with a body, chunked bodies and empty bodies arrive whole', async () => {
  const size = async (request: HttpRequest) => text(String(request.body.length));
  await withServer([route('GET', '/size', size), route('POST', '/size', size)], async (base) => {
    const get = await new Promise<string>((resolve, reject) => {
      send(`${base}/size`, { method: 'GET', headers: { 'Content-Length': 5 } }, (response) =>
        response.on('data', (data) => resolve(String(data))),
      )
        .on('error', reject)
        .end('12345');
    });
    assert.is(get, '5');
    assert.is(await (await fetch(`${base}/size`)).text(), '0');
    const chunked = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 50; i++) controller.enqueue(new Uint8Array(1000));
        controller.close();
      },
    });
    assert.is(await (await fetch(`${base}/size`, { method: 'POST', body: chunked, duplex: 'half' })).text(), '50000');
    assert.is(await (await fetch(`${base}/size`, { method: 'POST' })).text(), '0');
  });
});

const bodies = [
  { name: 'one byte below the cap', sizeBytes: 99_999, status: 200 },
  { name: 'exactly the cap', sizeBytes: 100_000, status: 200 },
  { name: 'one byte above the cap', sizeBytes: 100_001, status: 413 },
  { name: 'far above the cap', sizeBytes: 30_000_000, status: 413 },
];
for (const { name, sizeBytes, status } of bodies) {
  for (const encoding of ['declared', 'chunked'] as const) {
    http(`a ${encoding} body ${name} is answered with ${status}, and the process carries on`, async () => {
      let largest = 0;
      const measure = route(
        'POST',
        '/svc/v2/sql',
        async (request) => {
          largest = Math.max(largest, request.body.length);
          return text('ok');
        },
        'query',
      );
      await withServer([measure], async (base) => {
        const body = encoding === 'declared' ? new Uint8Array(sizeBytes) : new Blob([new Uint8Array(sizeBytes)]).stream();
        const response = await fetch(`${base}/svc/v2/sql`, { method: 'POST', body, duplex: 'half' });
        assert.is(response.status, status);
        if (status === 413) {
          const error: unknown = await response.json();
          assert.equal(Object.keys(error as object), ['error', 'errorMessage', 'errorClass', 'host']);
          assert.match(JSON.stringify(error), /svc\.server\.http\.maxRequestBytes/);
        }
        assert.ok(largest <= 100_000);
        assert.is((await fetch(`${base}/svc/v2/sql`, { method: 'POST', body: 'small' })).status, 200);
      });
    });
  }
}

http('unknown paths are 404, known paths with another method 405, broken escapes 400', async () => {
  const routes = [
    route('GET', '/a/{x}', async () => text('get')),
    route('DELETE', '/a/{x}', async () => text('delete')),
    route('GET', '/a/b', async () => text('literal')),
  ];
  await withServer(routes, async (base) => {
    const ask = async (method: string, path: string) => {
      const response = await fetch(base + path, { method });
      return [response.status, await response.text()] as const;
    };
    assert.is((await ask('GET', '/nowhere'))[0], 404);
    assert.is((await ask('GET', '/a'))[0], 404);
    assert.is((await ask('GET', '/a/b/c'))[0], 404);
    const [status, body] = await ask('POST', '/a/1');
    assert.is(status, 405);
    assert.match(JSON.parse(body).error, /POST.*GET, DELETE/);
    assert.equal(await ask('GET', '/a/b'), [200, 'literal']);
    assert.equal(await ask('GET', '/a/b/'), [200, 'literal']);
    assert.equal(await ask('GET', '/a/1/'), [200, 'get']);
    assert.equal(await ask('DELETE', '/a/1'), [200, 'delete']);
    assert.is((await ask('GET', '/a/%E0%A4%A'))[0], 400);
  });
});

http('HEAD gives the head of GET; 204 has no body', async () => {
  const routes = [
    route('GET', '/text', async () => text('12345', { 'X-A': 'b' })),
    route('GET', '/stream', async () => ({ status: 200, body: chunksOf(['a', 'b']) })),
    route('GET', '/none', async () => ({ status: 204 })),
  ];
  await withServer(routes, async (base) => {
    const head = await fetch(`${base}/text`, { method: 'HEAD' });
    assert.is(head.headers.get('content-length'), '5');
    assert.is(head.headers.get('x-a'), 'b');
    assert.is((await fetch(`${base}/stream`, { method: 'HEAD' })).status, 200);
    const none = await fetch(`${base}/none`);
    assert.is(none.status, 204);
    assert.is(none.headers.get('content-length'), null);
    assert.is(await none.text(), '');
  });
});

const failures = [
  {
    name: 'a typed error',
    thrown: new ServiceError('resource_limit', 'too much'),
    status: 400,
    error: 'Resource limit exceeded',
    message: 'too much',
  },
  { name: 'any other error', thrown: new Error('odd'), status: 500, error: 'Unknown exception', message: 'odd' },
];
for (const { name, thrown, status, error, message } of failures) {
  http(`${name} has the shape its route declares, also from the first chunk of a body`, async () => {
    const fail = async () => {
      throw thrown;
    };
    // biome-ignore lint/correctness/useYield: it fails before its first chunk
    async function* failing(): AsyncGenerator<string> {
      throw thrown;
    }
    const routes = [
      route('GET', '/query', fail, 'query'),
      route('GET', '/map', fail, 'map'),
      route('GET', '/stream', async () => ({ status: 200, body: failing() }), 'query'),
    ];
    await withServer(routes, async (base, { port }) => {
      const query = {
        error,
        errorMessage: message,
        errorClass: `ServiceError.${thrown instanceof ServiceError ? thrown.code : 'internal'}`,
        host: `127.0.0.1:${port}`,
      };
      for (const [path, expected] of [
        ['/query', query],
        ['/map', { error: message }],
        ['/stream', query],
      ] as const) {
        const response = await fetch(base + path);
        assert.is(response.status, status);
        assert.is(response.headers.get('content-type'), 'application/json');
        assert.equal(await response.json(), expected);
      }
    });
  });
}
http('under the alias, paths and headers answer as under svc', async () => {
  let seen: HttpRequest | undefined;
  const routes = [
    route('GET', '/svc/v2/x', async (request) => {
      seen = request;
      return text('ok', { 'X-Svc-Query-Id': 'q' });
    }),
    route('GET', '/svc-ext/y', async () => text('ext')),
  ];
  await withServer(
    routes,
    async (base) => {
      const response = await fetch(`${base}/druid/v2/x/`, { headers: { 'X-Druid-Mark': 'm' } });
      assert.is(response.headers.get('x-druid-query-id'), 'q');
      assert.is(response.headers.get('x-svc-query-id'), 'q');
      assert.is(seen?.path, '/svc/v2/x');
      assert.is(seen?.rawUrl, '/druid/v2/x/');
      assert.is(seen?.viaAlias, true);
      assert.is(seen?.headers['x-svc-mark'], 'm');
      assert.is((await fetch(`${base}/svc/v2/x`)).headers.get('x-druid-query-id'), 'q');
      assert.is(seen?.viaAlias, false);
      assert.is(await (await fetch(`${base}/druid-ext/y`)).text(), 'ext');
      assert.is((await fetch(`${base}/druidic/v2/x`)).status, 404);
    },
    { apiName: 'druid' },
  );
  await withServer(routes, async (base) => {
    assert.is((await fetch(`${base}/druid/v2/x`)).status, 404);
    assert.is((await fetch(`${base}/svc/v2/x`)).headers.get('x-druid-query-id'), null);
  });
});

http('internal paths answer who knows the key of the cluster', async () => {
  const internal: Route = {
    method: 'GET',
    path: '/internal/v1/x',
    permission: { access: 'internal' },
    errors: 'map',
    handle: async () => text('ok'),
  };
  const ask = async (base: string, headers: Record<string, string>) => (await fetch(`${base}/internal/v1/x`, { headers })).status;
  await withServer([internal], async (base) => assert.is(await ask(base, { [CLUSTER_KEY_HEADER]: '' }), 403), { gate: openGate() });
  await withServer(
    [internal],
    async (base) => {
      assert.is(await ask(base, {}), 403);
      assert.is(await ask(base, { [CLUSTER_KEY_HEADER]: 'k3y2' }), 403);
      assert.is(await ask(base, { [CLUSTER_KEY_HEADER]: 'k3y' }), 200);
    },
    { gate: openGate('k3y') },
  );
});

http('a body that is packed arrives as it was, and is refused where it is too large or broken', async () => {
  const echo = async ({ body, headers }: HttpRequest) => text(`${headers['content-encoding']} ${body.length}`);
  const zeros = gzipSync(Buffer.alloc(10_000));
  const asked: readonly { readonly encoding: string; readonly body: Buffer; readonly status: number; readonly says: RegExp }[] = [
    { encoding: 'gzip', body: zeros, status: 200, says: /^undefined 10000$/ },
    { encoding: 'GZIP', body: zeros, status: 200, says: /^undefined 10000$/ },
    { encoding: 'identity', body: zeros, status: 200, says: new RegExp(`^undefined ${zeros.length}$`) },
    { encoding: 'gzip', body: gzipSync(Buffer.alloc(1_000_000)), status: 413, says: /unpacked, is larger/ },
    { encoding: 'gzip', body: zeros.subarray(0, 20), status: 400, says: /not packed by gzip/ },
    { encoding: 'gzip', body: Buffer.from('{}'), status: 400, says: /not packed by gzip/ },
    { encoding: 'br', body: zeros, status: 415, says: /found br, expected gzip/ },
  ];
  await withServer([route('POST', '/', echo)], async (base) => {
    for (const { encoding, body, status, says } of asked) {
      const response = await fetch(base, { method: 'POST', headers: { 'Content-Encoding': encoding }, body });
      assert.is(response.status, status);
      assert.match(await response.text(), says);
    }
  });
});

http('the first value of a repeated header counts', async () => {
  await withServer([route('GET', '/', async (request) => text(request.headers['content-type'] ?? ''))], async (base) => {
    const socket = await open(
      base,
      'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\ncontent-type: text/csv\r\nConnection: close\r\n\r\n',
    );
    let answer = '';
    socket.on('data', (data) => {
      answer += data.toString();
    });
    socket.resume();
    await until(() => answer.endsWith('text/plain'));
    socket.destroy();
  });
});

http('a header value cannot begin another header', async () => {
  await withServer([route('GET', '/', async () => text('ok', { 'X-Svc-Id': 'a\r\nX-Evil: b\r\n\r\nbody\u0000' }))], async (base) => {
    const response = await fetch(base);
    assert.is(response.headers.get('x-svc-id'), 'a X-Evil: b body ');
    assert.is(response.headers.get('x-evil'), null);
    assert.is(await response.text(), 'ok');
  });
});

http('headers up to 8 KiB are read, larger ones refused', async () => {
  await withServer([route('GET', '/', async (request) => text(String(request.headers['x-long']?.length)))], async (base) => {
    assert.is(await (await fetch(base, { headers: { 'X-Long': 'a'.repeat(7500) } })).text(), '7500');
    assert.is((await fetch(base, { headers: { 'X-Long': 'a'.repeat(9000) } })).status, 431);
    assert.is((await fetch(base)).status, 200);
  });
});

http('malformed requests do not end the process', async () => {
  await withServer([route('GET', '/', async () => text('ok'))], async (base) => {
    for (const head of [
      '\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      '\0\0\0\0',
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
    ]) {
      const socket = await open(base, head);
      socket.on('error', () => {});
      socket.end();
      socket.resume();
      await new Promise((resolve) => socket.once('close', resolve));
    }
    assert.is((await fetch(base)).status, 200);
  });
});

http('a taken port is a typed error that names it', async () => {
  await withServer([], async (_base, { port }) => {
    try {
      await withServer([], async () => {}, { port });
      assert.unreachable();
    } catch (error) {
      assert.ok(error instanceof ServiceError && error.code === 'unavailable' && error.message.includes(`127.0.0.1:${port}`));
    }
  });
});

http('closing lets running requests end and refuses new ones', async () => {
  let release = () => {};
  let started = false;
  const slow = route('GET', '/slow', async () => {
    started = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return text('done');
  });
  await withServer([slow], async (base, server) => {
    const answer = fetch(`${base}/slow`).then((response) => response.text());
    await until(() => started);
    const closed = server.close(10_000);
    const refused = await fetch(`${base}/slow`).then(
      (response) => response.status,
      () => 'refused',
    );
    assert.ok(refused === 503 || refused === 'refused');
    release();
    assert.is(await answer, 'done');
    await closed;
  });
});

http('closing answers requests that outlast the grace period with 503', async () => {
  let reason: unknown;
  const hang = route('GET', '/', async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    reason = signal.reason;
    return text('late');
  });
  await withServer([hang], async (base, server) => {
    const answer = fetch(base).then(({ status }) => status);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.close(100);
    assert.is(await answer, 503);
    await until(() => reason !== undefined);
  });
});

http.run();
