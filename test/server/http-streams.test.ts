import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CancelSignal } from '../../src/base/cancel-signal.js';
import { ServiceError } from '../../src/base/errors.js';
import { chunksOf, open, route, text, until, withServer } from './served.js';

const http = suite('http streams');

http('large and streamed bodies arrive whole and in order', async () => {
  const large = Array.from({ length: 400_000 }, (_, i) => `${i},`).join('');
  const routes = [
    route('GET', '/large', async () => text(large)),
    route('GET', '/stream', async () => ({ status: 200, body: chunksOf(['', ...(large.match(/.{1,9999}/gs) ?? []), '']) })),
    route('GET', '/empty', async () => ({ status: 200, body: chunksOf([]) })),
  ];
  await withServer(routes, async (base) => {
    for (const path of ['/large', '/stream']) assert.ok((await (await fetch(base + path)).text()) === large, path);
    assert.is(await (await fetch(`${base}/empty`)).text(), '');
  });
});

http('chunks are made only as fast as the client reads them', async () => {
  const CHUNK_BYTES = 65_536;
  const COUNT = 1000;
  let made = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (; made < COUNT; made++) yield new Uint8Array(CHUNK_BYTES);
  }
  await withServer([route('GET', '/', async () => ({ status: 200, body: chunks() }))], async (base) => {
    const socket = await open(base, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let settled = -1;
    // It has stopped when half a second brings nothing new.
    while (settled !== made) {
      settled = made;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    assert.ok(made > 0 && made < COUNT / 2, `${made} of ${COUNT} chunks were made for a client that reads nothing`);
    let received = 0;
    socket.on('data', (data) => {
      received += data.length;
    });
    socket.resume();
    await until(() => received > COUNT * CHUNK_BYTES);
    assert.is(made, COUNT);
    socket.destroy();
  });
});

http('a client that leaves aborts the signal and closes the body', async () => {
  let aborted = false;
  let closed = false;
  async function* endless(signal: CancelSignal): AsyncGenerator<string> {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    try {
      for (;;) yield 'x'.repeat(100_000);
    } finally {
      closed = true;
    }
  }
  await withServer([route('GET', '/', async (request) => ({ status: 200, body: endless(request.signal) }))], async (base) => {
    const socket = await open(base, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    socket.destroy();
    await until(() => aborted && closed);
  });
});

http('a client that leaves while the handler works aborts the signal', async () => {
  let started = false;
  let reason: unknown;
  const wait = route('GET', '/', async ({ signal }) => {
    started = true;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    reason = signal.reason;
    return text('nobody hears this');
  });
  await withServer([wait], async (base) => {
    const socket = await open(base, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => started);
    socket.destroy();
    await until(() => reason !== undefined);
    assert.ok(reason instanceof ServiceError && reason.code === 'cancelled');
  });
});

http('a client that pauses for longer than the socket library allows still gets the whole body', async () => {
  const CHUNKS = 300;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let made = 0; made < CHUNKS; made++) yield new Uint8Array(65_536);
  }
  const large = new Uint8Array(CHUNKS * 65_536);
  const routes = [
    route('GET', '/stream', async () => ({ status: 200, body: chunks() })),
    route('GET', '/large', async () => ({ status: 200, body: large })),
  ];
  await withServer(routes, async (base) => {
    const received = await Promise.all(
      ['/stream', '/large'].map(async (path) => {
        const socket = await open(base, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        await new Promise((resolve) => setTimeout(resolve, 13_000));
        let bytes = 0;
        socket.on('data', (data) => {
          bytes += data.length;
        });
        socket.resume();
        await until(() => bytes > large.length);
        socket.destroy();
        return bytes;
      }),
    );
    assert.is(received.length, 2);
  });
});

http('a client that stops reading for too long is cut off', async () => {
  let closed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield new Uint8Array(65_536);
    } finally {
      closed = true;
    }
  }
  const routes = [route('GET', '/', async () => ({ status: 200, body: endless() }))];
  await withServer(
    routes,
    async (base) => {
      const socket = await open(base, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await until(() => closed);
      socket.destroy();
    },
    { maxIdleMs: 200 },
  );
});

http('no piece of a streamed body is longer than what uWebSockets.js gathers', async () => {
  // uWebSockets.js may write the length of a longer piece and lose the rest when the client is slow to read.
  const whole = 'æ'.repeat(40_000) + 'x'.repeat(60_000);
  const bytes = Buffer.from(whole);
  async function* chunks(): AsyncGenerator<string | Uint8Array> {
    yield whole;
    yield '';
    yield bytes;
  }
  await withServer([route('GET', '/', async () => ({ status: 200, body: chunks() }))], async (base) => {
    const socket = await open(base, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let answer = Buffer.alloc(0);
    socket.on('data', (data) => {
      answer = Buffer.concat([answer, data]);
    });
    socket.resume();
    await until(() => answer.subarray(-7).toString() === '\r\n0\r\n\r\n');
    socket.destroy();
    const parts: Buffer[] = [];
    let at = answer.indexOf('\r\n\r\n') + 4;
    for (;;) {
      const end = answer.indexOf('\r\n', at);
      const size = Number.parseInt(answer.subarray(at, end).toString(), 16);
      if (size === 0) break;
      assert.ok(size <= 12 * 1024, `${size} bytes`);
      parts.push(answer.subarray(end + 2, end + 2 + size));
      at = end + 2 + size + 2;
    }
    assert.is(Buffer.concat(parts).toString(), whole + whole);
  });
});

http('a body that nobody makes any more is broken off, whether its client reads or not', async () => {
  const ending = new AbortController();
  let closed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield new Uint8Array(65_536);
    } finally {
      closed = true;
    }
  }
  await withServer([route('GET', '/', async () => ({ status: 200, body: endless(), ended: () => ending.signal }))], async (base) => {
    const socket = await open(base, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.not.ok(closed);
    ending.abort(new ServiceError('timeout', 'its time is up'));
    await until(() => closed);
    socket.destroy();
  });
});

http('an error after the body began ends it early, and the next request is answered', async () => {
  async function* breaks(): AsyncGenerator<string> {
    yield '[1,';
    yield '2,';
    throw new ServiceError('internal', 'late');
  }
  await withServer([route('GET', '/', async () => ({ status: 200, body: breaks() }))], async (base) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const response = await fetch(base);
      assert.is(response.status, 200);
      const ending = await response.text().catch((error: unknown) => error);
      assert.instance(ending, Error);
    }
  });
});

http.run();
