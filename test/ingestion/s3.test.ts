import { createHash } from 'node:crypto';
import http from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { contentOf } from '../../src/ingestion/source/decompress.js';
import { inputParts, parseInputSource } from '../../src/ingestion/source/input-source.js';
import { withoutSecrets } from '../../src/ingestion/source/secrets.js';
import { isStored } from '../../src/ingestion/source/source-kind.js';
import { DECOMPRESSION } from './blocks.js';

const PORT = 21_640;
const ACCESS_KEY = 'AKIDEXAMPLE';

/** Larger than one range. */
const LARGE = Buffer.alloc((8 << 20) + 12_345, 'large object of some lines\n');
const OBJECTS = new Map<string, Buffer>([
  ['folder/a.json', Buffer.from('a')],
  ['folder/deep/b.json', Buffer.from('b')],
  ['folder/c d+e.csv', Buffer.from('c')],
  ['folder/empty.json', Buffer.alloc(0)],
  ['other/large', LARGE],
  ['other/breaks', LARGE],
  ['other/changes', LARGE],
]);

interface Context {
  server: http.Server;
  /** Ranges asked for, and tokens sent. */
  seen: { range: string; token: string }[];
}

/** A server of the part of S3 that is asked here, by its public description: lists in pages of two, heads, ranges, If-Match. */
function answer(request: http.IncomingMessage, response: http.ServerResponse, seen: Context['seen']): void {
  const url = new URL(request.url ?? '/', 'http://s3');
  const [, bucket, ...path] = url.pathname.split('/');
  const key = decodeURIComponent(path.join('/'));
  const error = (status: number, code: string): void =>
    void response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
  if (!(request.headers.authorization ?? '').startsWith(`AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/`))
    return error(403, 'InvalidAccessKeyId');
  if (bucket !== 'bucket') return error(404, 'NoSuchBucket');
  if (key === '') {
    const keys = [...OBJECTS.keys()].filter((each) => each.startsWith(url.searchParams.get('prefix') ?? '')).sort();
    const from = Number(url.searchParams.get('continuation-token') ?? 0);
    const contents = keys
      .slice(from, from + 2)
      .map((each) => `<Contents><Key>${each}</Key><Size>${OBJECTS.get(each)?.length}</Size></Contents>`);
    const next = from + 2 < keys.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : '';
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(`<ListBucketResult><IsTruncated>${next !== ''}</IsTruncated>${contents.join('')}${next}</ListBucketResult>`);
    return;
  }
  const object = OBJECTS.get(key);
  if (object === undefined) return error(404, 'NoSuchKey');
  const changed = key === 'other/changes' && seen.length > 0;
  const etag = `"${createHash('md5').update(`${key}${changed}`).digest('hex')}"`;
  if (request.method === 'HEAD') return void response.writeHead(200, { 'content-length': object.length, etag }).end();
  const [, start = '0', end = '0'] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers.range)) ?? [];
  seen.push({ range: `${start}-${end}`, token: String(request.headers['x-amz-security-token'] ?? '') });
  if (request.headers['if-match'] !== etag && seen.length > 1) return error(412, 'PreconditionFailed');
  const bytes = object.subarray(Number(start), Number(end) + 1);
  response.writeHead(206, { 'content-length': bytes.length, etag });
  if (key === 'other/breaks' && seen.length === 2) response.write(bytes.subarray(0, 1000), () => response.destroy());
  else response.end(bytes);
}

const s3 = suite<Context>('s3');
s3.before.each(async (context) => {
  context.seen = [];
  context.server = http.createServer((request, response) => answer(request, response, context.seen));
  await new Promise<void>((listening) => context.server.listen(PORT, '127.0.0.1', listening));
});
s3.after.each(async ({ server }) => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const ACCESS = {
  endpointConfig: { url: `127.0.0.1:${PORT}`, signingRegion: 'us-east-1' },
  clientConfig: { protocol: 'http', enablePathStyleAccess: true, disableChunkedEncoding: true },
  properties: { accessKeyId: ACCESS_KEY, secretAccessKey: { type: 'default', password: 'hush' } },
};

const RULES = {
  maxBytes: 1,
  allowedProtocols: ['http', 'https'],
  allowedHosts: [],
  allowedAddresses: ['127.0.0.1'],
  passwordVariables: ['S3_TEST_TOKEN'],
};

async function read(source: object, http = RULES): Promise<{ readonly [name: string]: string }> {
  const parsed = parseInputSource(new ObjectReader({ type: 's3', ...source }, 'inputSource', readContextOf('input_invalid', 'the task')));
  const parts = await inputParts(parsed, { allowedDirectories: [], http, peers: [], signal: new AbortController().signal });
  const texts: Record<string, string> = {};
  for (const entity of parts) {
    if (isStored(entity)) continue;
    const chunks: Buffer[] = [];
    for await (const chunk of contentOf(entity, { read: () => undefined, inputLimits: { decompression: DECOMPRESSION } }))
      chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks);
    texts[[entity.name, ...(entity.systemFields?.values() ?? [])].join(' ')] =
      text.length > 100 ? createHash('md5').update(text).digest('hex') : text.toString();
  }
  return texts;
}

const sources: readonly { readonly name: string; readonly source: object; readonly texts: object }[] = [
  {
    name: 'URIs',
    source: { uris: ['s3://bucket/folder/a.json', 's3://bucket/folder/c%20d+e.csv'] },
    texts: { 's3://bucket/folder/a.json': 'a', 's3://bucket/folder/c d+e.csv': 'c' },
  },
  {
    name: 'objects, with system fields',
    source: { objects: [{ bucket: 'bucket', path: 'folder/a.json' }], systemFields: ['__file_uri', '__file_bucket', '__file_path'] },
    texts: { 's3://bucket/folder/a.json s3://bucket/folder/a.json bucket folder/a.json': 'a' },
  },
  {
    name: 'prefixes, over several pages, empty objects passed over',
    source: { prefixes: ['s3://bucket/folder/'] },
    texts: { 's3://bucket/folder/a.json': 'a', 's3://bucket/folder/c d+e.csv': 'c', 's3://bucket/folder/deep/b.json': 'b' },
  },
  {
    name: 'a glob over whole keys',
    source: { prefixes: ['s3://bucket/'], objectGlob: '**.json' },
    texts: { 's3://bucket/folder/a.json': 'a', 's3://bucket/folder/deep/b.json': 'b' },
  },
  {
    name: 'a glob within a folder',
    source: { prefixes: ['s3://bucket/'], objectGlob: 'folder/*.json' },
    texts: { 's3://bucket/folder/a.json': 'a' },
  },
  {
    name: 'ranges',
    source: { uris: ['s3://bucket/other/large'] },
    texts: { 's3://bucket/other/large': createHash('md5').update(LARGE).digest('hex') },
  },
  {
    name: 'a range that breaks off is asked for again',
    source: { uris: ['s3://bucket/other/breaks'] },
    texts: { 's3://bucket/other/breaks': createHash('md5').update(LARGE).digest('hex') },
  },
];
for (const { name, source, texts } of sources) s3(name, async () => assert.equal(await read({ ...source, ...ACCESS }), texts));

s3('the token of a variable that is allowed is sent', async ({ seen }) => {
  process.env['S3_TEST_TOKEN'] = 'a token';
  const properties = { ...ACCESS.properties, sessionToken: { type: 'environment', variable: 'S3_TEST_TOKEN' } };
  await read({ uris: ['s3://bucket/folder/a.json'], ...ACCESS, properties });
  assert.equal(seen, [{ range: '0-0', token: 'a token' }]);
});

const URI = { uris: ['s3://bucket/folder/a.json'] };
const refused: readonly { readonly name: string; readonly source: object; readonly code: string; readonly message: RegExp }[] = [
  {
    name: 'an object that is not there',
    source: { uris: ['s3://bucket/none'], ...ACCESS },
    code: 'input_unreadable',
    message: /^s3:\/\/bucket\/none does not exist$/,
  },
  {
    name: 'other credentials',
    source: { ...URI, ...ACCESS, properties: { accessKeyId: 'x', secretAccessKey: 'y' } },
    code: 'input_unreadable',
    message: /S3 refuses these credentials$/,
  },
  {
    name: 'an object that changes',
    source: { uris: ['s3://bucket/other/changes'], ...ACCESS },
    code: 'input_unreadable',
    message: /was changed while it was read/,
  },
  {
    name: 'nobody there',
    source: { ...URI, ...ACCESS, endpointConfig: { url: '127.0.0.1:9' } },
    code: 'input_unreadable',
    message: /there is no answer of S3/,
  },
  {
    name: 'an address that is not allowed',
    source: { ...URI, ...ACCESS, endpointConfig: { url: `127.0.0.2:${PORT}` } },
    code: 'forbidden',
    message: /svc\.ingestion\.http\.allowedAddresses/,
  },
  {
    name: 'a variable that is not allowed',
    source: { ...URI, ...ACCESS, properties: { ...ACCESS.properties, secretAccessKey: { type: 'environment', variable: 'PATH' } } },
    code: 'forbidden',
    message: /PATH is not among svc\.ingestion\.passwordVariables/,
  },
  { name: 'no objects', source: ACCESS, code: 'input_invalid', message: /expected one of uris, prefixes and objects/ },
  {
    name: 'two kinds of objects',
    source: { ...URI, prefixes: ['s3://bucket/x'], ...ACCESS },
    code: 'input_invalid',
    message: /expected one of uris, prefixes and objects/,
  },
  {
    name: 'a URI of something else',
    source: { uris: ['http://bucket/x'], ...ACCESS },
    code: 'input_invalid',
    message: /inputSource\.uris: expected s3:\/\/bucket\/path, found "http:/,
  },
  {
    name: 'a glob that is none',
    source: { ...URI, ...ACCESS, objectGlob: '{a' },
    code: 'input_invalid',
    message: /inputSource\.objectGlob: .* leaves a \{ open/,
  },
  {
    name: 'a role',
    source: { ...URI, ...ACCESS, properties: { ...ACCESS.properties, assumeRoleArn: 'arn' } },
    code: 'unsupported',
    message: /assumeRoleArn/,
  },
  { name: 'a proxy', source: { ...URI, ...ACCESS, proxyConfig: { host: 'x' } }, code: 'unsupported', message: /proxyConfig/ },
  {
    name: 'half of the credentials',
    source: { ...URI, properties: { accessKeyId: 'x' } },
    code: 'input_invalid',
    message: /expected both accessKeyId and secretAccessKey/,
  },
  {
    name: "the server's credentials for another endpoint",
    source: { ...URI, endpointConfig: ACCESS.endpointConfig },
    code: 'input_invalid',
    message: /those of the server go to AWS only/,
  },
  { name: 'an unknown key', source: { ...URI, ...ACCESS, bucket: 'x' }, code: 'input_invalid', message: /unknown key "bucket"/ },
];
for (const { name, source, code, message } of refused)
  s3(`refused: ${name}`, async () => {
    try {
      await read(source);
    } catch (error) {
      assert.instance(error, ServiceError, String(error));
      assert.is((error as ServiceError).code, code, (error as ServiceError).message);
      assert.match((error as ServiceError).message, message);
      return;
    }
    assert.unreachable();
  });

for (const [text, password] of Object.entries({
  word: 'hush',
  'closing brace': 'hu}sh',
  'opening brace': 'hu{sh',
  quote: '"{hu"sh',
}))
  s3(`nothing shown of a spec has passwords, here with: ${text}`, () => {
    const properties = { accessKeyId: ACCESS_KEY, secretAccessKey: { type: 'default', password }, sessionToken: password };
    const proxyConfig = { host: 'h', password: { type: 'default', password } };
    const requestHeaders = { accept: '{', authorization: password };
    const source = { type: 's3', ...URI, ...ACCESS, properties, httpAuthenticationPassword: password, requestHeaders, proxyConfig };
    const shown = withoutSecrets({ spec: { ioConfig: { inputSource: { type: 'combining', delegates: [source] } } } });
    const query = withoutSecrets({ query: `SELECT * FROM TABLE(EXTERN('${JSON.stringify(source)}', '{"type":"json"}'))` });
    for (const each of [shown, query]) {
      assert.not.match(JSON.stringify(each), /hu.*sh|AKID/);
      assert.match(JSON.stringify(each), /s3:\/\/bucket\/folder\/a\.json/);
    }
  });

s3.run();
