import { createHash, randomBytes } from 'node:crypto';
import { request as send } from 'node:http';
import { createGunzip, createInflate, gunzipSync, inflateSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SILENT_LOG } from '../../src/base/log.js';
import { acceptedCoding } from '../../src/server/answer-encoding.js';
import { BodyBudget } from '../../src/server/body-intake.js';
import { serve } from '../../src/server/http.js';
import type { HttpResponse, Route } from '../../src/server/http.types.js';
import { zstdDecompression } from '../../src/storage/codecs/zstd.js';
import { openGate } from './open-gate.js';

const encoding = suite('encoding of answers');

const ACCEPTED: readonly [string | undefined, string | undefined][] = [
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP;Q=0.5', 'gzip'],
  ['deflate', 'deflate'],
  ['zstd', 'zstd'],
  ['br', undefined],
  ['gzip, deflate, br, zstd', 'gzip'],
  ['gzip;q=0.5, zstd;q=0.9', 'zstd'],
  ['gzip;q=0, deflate', 'deflate'],
  ['gzip; q=0', undefined],
  ['*', 'gzip'],
  ['*, gzip;q=0', 'zstd'],
  ['*;q=0', undefined],
  ['identity', undefined],
  ['identity;q=1, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['__proto__, constructor;q=1', undefined],
  ['gzip;q=abc', undefined],
  [',;,=', undefined],
];
for (const [header, expected] of ACCEPTED)
  encoding(`Accept-Encoding ${header} asks for ${expected ?? 'nothing'}`, () => assert.is(acceptedCoding(header), expected));

const UNPACK: Readonly<Record<string, (bytes: Buffer) => Buffer | Promise<Buffer>>> = {
  gzip: (bytes) => gunzipSync(bytes),
  deflate: (bytes) => inflateSync(bytes),
  async zstd(bytes) {
    const stream = zstdDecompression();
    stream.end(bytes);
    return Buffer.concat((await stream.toArray()) as Buffer[]);
  },
};

/** Numbers that pack to something, but not to nothing. */
function lines(count: number): string {
  return Array.from({ length: count }, (_, at) =>
    createHash('md5')
      .update(String(at))
      .digest('hex')
      .slice(at % 30),
  ).join('\n');
}

const LARGE = lines(20_000);
const SIZES: Readonly<Record<string, () => NonNullable<HttpResponse['body']>>> = {
  'a small text': () => 'small',
  'a text of some packets': () => lines(200),
  'a large text': () => LARGE,
  'large bytes': () => Buffer.from(LARGE),
  'a stream': async function* () {
    for (let at = 0; at < LARGE.length; at += 30_001) yield LARGE.slice(at, at + 30_001);
  },
  'a stream of one long chunk and an empty one': async function* () {
    yield '';
    yield LARGE;
    yield Buffer.from('end');
  },
};

interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

function ask(port: number, path: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    send({ port, path, headers, method }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      resolve({ headers: response.headers, body: Buffer.concat(parts) });
    })
      .on('error', reject)
      .end();
  });
}

async function withServer(
  responses: Readonly<Record<string, () => HttpResponse>>,
  use: (port: number) => Promise<void>,
  compressionLevel = 1,
) {
  const routes = Object.entries(responses).map(
    ([path, respond]): Route => ({ method: 'GET', path, permission: { access: 'public' }, errors: 'map', handle: async () => respond() }),
  );
  const server = await serve({
    routes,
    host: '127.0.0.1',
    port: 0,
    maxRequestBytes: 1000,
    bodies: new BodyBudget(1000),
    allowedHosts: [],
    compressionLevel,
    maxIdleMs: 60_000,
    apiName: 'svc',
    gate: openGate(),
    log: SILENT_LOG,
  });
  try {
    await use(server.port);
  } finally {
    await server.close(0);
  }
}

for (const [name, make] of Object.entries(SIZES)) {
  encoding(`${name} arrives whole in every coding, packed unless it is small`, async () => {
    await withServer({ '/': () => ({ status: 200, headers: { 'Content-Type': 'application/json' }, body: make() }) }, async (port) => {
      const plain = await ask(port, '/', {});
      assert.is(plain.headers['content-encoding'], undefined);
      const isSmall = plain.body.length < 1400;
      assert.is(plain.headers['vary'], isSmall ? undefined : 'Accept-Encoding');
      for (const [coding, unpack] of Object.entries(UNPACK)) {
        const answer = await ask(port, '/', { 'Accept-Encoding': coding });
        assert.is(answer.headers['content-encoding'], isSmall ? undefined : coding);
        assert.is(answer.headers['vary'], isSmall ? undefined : 'Accept-Encoding');
        if (!isSmall)
          assert.ok(answer.body.length < plain.body.length * 0.8, `${coding}: ${answer.body.length} of ${plain.body.length} bytes`);
        assert.ok((isSmall ? answer.body : await unpack(answer.body)).equals(plain.body), coding);
      }
    });
  });
}

encoding('compressed and tiny bodies and answers to HEAD are not compressed', async () => {
  const of = (headers: Record<string, string>) => () => ({ status: 200, headers, body: LARGE });
  const responses = {
    '/packed': of({ 'content-encoding': 'br' }),
    '/bytes': of({ 'Content-Type': 'application/octet-stream' }),
    '/text': of({}),
  };
  await withServer(responses, async (port) => {
    assert.is((await ask(port, '/packed', { 'Accept-Encoding': 'gzip' })).headers['content-encoding'], 'br');
    assert.is((await ask(port, '/bytes', { 'Accept-Encoding': 'gzip' })).headers['content-encoding'], undefined);
    const head = await ask(port, '/text', { 'Accept-Encoding': 'gzip' }, 'HEAD');
    assert.is(head.headers['content-encoding'], undefined);
    assert.is(head.headers['content-length'], String(LARGE.length));
  });
  await withServer(
    responses,
    async (port) => assert.is((await ask(port, '/text', { 'Accept-Encoding': 'gzip' })).headers['vary'], undefined),
    0,
  );
});

for (const [coding, unpacker] of [
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['zstd', zstdDecompression],
] as const) {
  encoding(`${coding}: each chunk can be read before the next one is made, and a client that leaves ends the body`, async () => {
    let next = () => {};
    let closed = false;
    async function* chunks(): AsyncGenerator<string> {
      try {
        for (let at = 0; ; at++) {
          yield `chunk ${at};`;
          await new Promise<void>((resolve) => {
            next = resolve;
          });
        }
      } finally {
        closed = true;
      }
    }
    await withServer({ '/': () => ({ status: 200, body: chunks() }) }, async (port) => {
      const request = send({ port, path: '/', headers: { 'Accept-Encoding': coding } }).on('error', () => {});
      request.end();
      const stream = await new Promise<NodeJS.ReadableStream>((resolve) => request.once('response', resolve));
      let text = '';
      const reader = stream.pipe(unpacker()).on('data', (data) => {
        text += String(data);
      });
      reader.on('error', () => {});
      for (let at = 0; at < 5; at++) {
        await until(() => text.includes(`chunk ${at};`));
        assert.not.ok(text.includes(`chunk ${at + 1};`));
        next();
      }
      request.destroy();
      await until(() => {
        next();
        return closed;
      });
    });
  });
}

encoding('chunks are made only as fast as the client reads what became of them', async () => {
  const COUNT = 1000;
  let made = 0;
  // Random, and longer than gzip looks back.
  const chunk = randomBytes(65_536);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (; made < COUNT; made++) yield chunk;
  }
  await withServer({ '/': () => ({ status: 200, body: chunks() }) }, async (port) => {
    const request = send({ port, path: '/', headers: { 'Accept-Encoding': 'gzip' } }).on('error', () => {});
    request.end();
    await new Promise((resolve) => request.once('response', resolve));
    let settled = -1;
    // It has stopped when half a second brings nothing new.
    while (settled !== made) {
      settled = made;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    assert.ok(made > 0 && made < COUNT / 2, `${made} of ${COUNT} chunks were made for a client that reads nothing`);
    request.destroy();
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let waitedMs = 0; !condition(); waitedMs += 5) {
    if (waitedMs > 20_000) throw new Error('the awaited condition never held');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

encoding.run();
