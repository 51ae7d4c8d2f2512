import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { contentOf } from '../../src/ingestion/source/decompress.js';
import { inputParts, parseInputSource } from '../../src/ingestion/source/input-source.js';
import { globMatcher } from '../../src/ingestion/source/local.js';
import { isStored } from '../../src/ingestion/source/source-kind.js';
import { compressInto, frameBytesMax } from '../../src/storage/codecs/zstd.js';
import { DECOMPRESSION } from './blocks.js';

const PORT = 21_600;

interface Context {
  folder: string;
  allowed: string;
  server: http.Server;
}

const sources = suite<Context>('input sources');

sources.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-sources-'));
  context.allowed = path.join(context.folder, 'input');
  mkdirSync(path.join(context.allowed, 'deep'), { recursive: true });
  mkdirSync(path.join(context.folder, 'input-too'));
  writeFileSync(path.join(context.allowed, 'a.csv'), 'one');
  writeFileSync(path.join(context.allowed, 'deep', 'b.csv'), 'two');
  writeFileSync(path.join(context.allowed, 'packed.gz'), gzipSync('packed'));
  writeFileSync(path.join(context.allowed, 'packed.json'), zstdFrame('also packed'));
  writeFileSync(path.join(context.allowed, 'liar.gz'), 'not packed at all');
  writeFileSync(path.join(context.allowed, 'cut.gz'), gzipSync('x'.repeat(100_000) + Math.random()).subarray(0, 60));
  writeFileSync(path.join(context.folder, 'secret.csv'), 'secret');
  writeFileSync(path.join(context.folder, 'input-too', 'c.csv'), 'outside');
  symlinkSync(path.join(context.folder, 'secret.csv'), path.join(context.allowed, 'link.csv'));
  symlinkSync(context.folder, path.join(context.allowed, 'up'));
  context.server = http.createServer((request, response) => {
    if (request.url === '/missing') response.writeHead(404).end();
    else if (request.url === '/token') response.end(request.headers['x-token'] ?? 'none');
    else if (request.url === '/who') response.end(request.headers.authorization ?? 'nobody');
    else response.end('y'.repeat(5000));
  });
  await new Promise<void>((listening) => context.server.listen(PORT, '127.0.0.1', listening));
});

sources.after(({ folder, server }) => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function zstdFrame(text: string): Uint8Array {
  const frame = Buffer.alloc(frameBytesMax(text.length));
  return frame.subarray(0, compressInto(frame, Buffer.from(text)));
}

const never = new AbortController().signal;

async function textsOf(source: unknown, allowed: string): Promise<string[]> {
  const parts = await inputParts(parseInputSource(new ObjectReader(source, 'inputSource', readContextOf('input_invalid', 'the task'))), {
    allowedDirectories: [allowed],
    http: {
      maxBytes: 4999,
      allowedProtocols: ['http', 'https'],
      allowedHosts: [],
      allowedAddresses: ['127.0.0.1'],
      allowedHeaders: ['x-token'],
    },
    peers: [],
    signal: never,
  });
  const texts: string[] = [];
  for (const entity of parts) {
    if (isStored(entity)) continue;
    const chunks: Uint8Array[] = [];
    for await (const chunk of contentOf(entity, { read: () => undefined, inputLimits: { decompression: DECOMPRESSION } }))
      chunks.push(Buffer.from(chunk));
    texts.push(Buffer.concat(chunks).toString());
  }
  return texts;
}

sources('inline, local by filter at any depth, and by name', async ({ allowed }) => {
  assert.equal(await textsOf({ type: 'inline', data: 'text' }, allowed), ['text']);
  assert.equal(await textsOf({ type: 'local', baseDir: allowed, filter: '[ab].csv' }, allowed), ['one', 'two']);
  assert.equal(await textsOf({ type: 'local', files: [path.join(allowed, 'deep', 'b.csv')] }, allowed), ['two']);
});

sources('gzip and zstd by their first bytes', async ({ allowed }) => {
  assert.equal(await textsOf({ type: 'local', baseDir: allowed, filter: 'packed*' }, allowed), ['packed', 'also packed']);
});

const escapes = [
  { name: 'a sibling whose name begins alike', file: '../input-too/c.csv' },
  { name: '..', file: '../secret.csv' },
  { name: '.. in the middle', file: 'deep/../../secret.csv' },
  { name: 'a link to a file outside', file: 'link.csv' },
  { name: 'through a linked folder', file: 'up/secret.csv' },
  { name: 'outside, and not there', file: '../nothing.csv' },
];
for (const { name, file } of escapes) {
  sources(`forbidden: ${name}`, async ({ allowed }) => {
    for (const source of [
      { type: 'local', files: [`${allowed}/${file}`] },
      { type: 'local', baseDir: path.dirname(`${allowed}/${file}`), filter: path.basename(file) },
    ]) {
      await fails(() => textsOf(source, allowed), 'forbidden', /svc\.ingestion\.local\.allowedDirectories/);
    }
  });
}

const refusals: readonly {
  readonly name: string;
  readonly source: (allowed: string) => unknown;
  readonly code: string;
  readonly message: RegExp;
}[] = [
  {
    name: 'a missing file',
    source: (allowed) => ({ type: 'local', files: [`${allowed}/nothing.csv`] }),
    code: 'input_unreadable',
    message: /nothing\.csv does not exist/,
  },
  {
    name: 'a filter that matches nothing',
    source: (allowed) => ({ type: 'local', baseDir: allowed, filter: 'missing.json' }),
    code: 'input_unreadable',
    message: /missing\.json/,
  },
  {
    name: 'a directory as file',
    source: (allowed) => ({ type: 'local', files: [`${allowed}/deep`] }),
    code: 'input_unreadable',
    message: /is a directory/,
  },
  {
    name: 'a file as baseDir',
    source: (allowed) => ({ type: 'local', baseDir: `${allowed}/a.csv`, filter: '*' }),
    code: 'input_unreadable',
    message: /not a directory/,
  },
  {
    name: 'a name that lies',
    source: (allowed) => ({ type: 'local', files: [`${allowed}/liar.gz`] }),
    code: 'input_unreadable',
    message: /named like a gzip file/,
  },
  {
    name: 'gzip cut short',
    source: (allowed) => ({ type: 'local', files: [`${allowed}/cut.gz`] }),
    code: 'input_unreadable',
    message: /cut\.gz is damaged/,
  },
  {
    name: 'http 404',
    source: () => ({ type: 'http', uris: [`http://127.0.0.1:${PORT}/missing`] }),
    code: 'input_unreadable',
    message: /404/,
  },
  {
    name: 'http, nobody there',
    source: () => ({ type: 'http', uris: ['http://127.0.0.1:9/'] }),
    code: 'input_unreadable',
    message: /127\.0\.0\.1:9\/ cannot be read: there is no HTTP answer$/,
  },
  {
    name: 'http, another address of this machine',
    source: () => ({ type: 'http', uris: [`http://127.0.0.2:${PORT}/who`] }),
    code: 'forbidden',
    message: /127\.0\.0\.2.*svc\.ingestion\.http\.allowedAddresses/,
  },
  {
    name: 'http, credentials in the URI',
    source: () => ({ type: 'http', uris: [`http://ann:pw@127.0.0.1:${PORT}/who`] }),
    code: 'input_invalid',
    message: /^(?!.*pw).*httpAuthenticationUsername/,
  },
  {
    name: 'http, too large',
    source: () => ({ type: 'http', uris: [`http://127.0.0.1:${PORT}/`] }),
    code: 'resource_limit',
    message: /svc\.ingestion\.http\.maxBytes/,
  },
  {
    name: 'no URI of http',
    source: () => ({ type: 'http', uris: ['file:///etc/passwd'] }),
    code: 'input_invalid',
    message: /file:\/\/\/etc\/passwd/,
  },
  { name: 'a source that is not read yet', source: () => ({ type: 'google', uris: [] }), code: 'unsupported', message: /"google"/ },
  { name: 'a misspelt source', source: () => ({ type: 'inlin', data: '' }), code: 'input_invalid', message: /did you mean "inline"/ },
  {
    name: 'a misspelt key',
    source: () => ({ type: 'inline', dta: '' }),
    code: 'input_invalid',
    message: /inputSource: unknown key "dta"; did you mean "data"/,
  },
  { name: 'a filter without baseDir', source: () => ({ type: 'local', filter: '*' }), code: 'input_invalid', message: /baseDir/ },
];
for (const { name, source, code, message } of refusals)
  sources(`refused: ${name}`, ({ allowed }) => fails(() => textsOf(source(allowed), allowed), code, message));

sources('http sends headers that are allowed, and no others', async ({ allowed }) => {
  const source = { type: 'http', uris: [`http://127.0.0.1:${PORT}/token`] };
  assert.equal(await textsOf({ ...source, requestHeaders: { 'X-Token': 'abc' } }, allowed), ['abc']);
  const other = { ...source, requestHeaders: { 'X-Other': 'abc' } };
  await fails(() => textsOf(other, allowed), 'forbidden', /x-other is not among svc\.ingestion\.http\.allowedHeaders/);
  const split = { ...source, requestHeaders: { 'X-Token': 'a\nb' } };
  await fails(() => textsOf(split, allowed), 'input_invalid', /inputSource\.requestHeaders: "X-Token" is not a header/);
});

sources('http sends the credentials', async ({ allowed }) => {
  const source = {
    type: 'http',
    uris: [`http://127.0.0.1:${PORT}/who`],
    httpAuthenticationUsername: 'ann',
    httpAuthenticationPassword: { type: 'default', password: 'pw' },
  };
  assert.equal(await textsOf(source, allowed), [`Basic ${Buffer.from('ann:pw').toString('base64')}`]);
});

const globs: readonly (readonly [string, string, boolean])[] = [
  ['*.json', 'a.json', true],
  ['*.json', 'a.json.gz', false],
  ['*', '.hidden', true],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['{a,b*}.csv', 'bcd.csv', true],
  ['{a,b*}.csv', 'c.csv', false],
  ['[!a]x', 'bx', true],
  ['[!a]x', 'ax', false],
  ['a.b', 'axb', false],
  ['a+(b)|c', 'a+(b)|c', true],
];
for (const [glob, name, matches] of globs) sources(`filter ${glob} on ${name}`, () => assert.is(globMatcher(glob)(name), matches));

async function fails(work: () => Promise<unknown>, code: string, message: RegExp): Promise<void> {
  try {
    await work();
  } catch (error) {
    assert.instance(error, ServiceError);
    assert.is((error as ServiceError).code, code, (error as ServiceError).message);
    assert.match((error as ServiceError).message, message);
    return;
  }
  assert.unreachable('it must fail');
}
sources.run();
