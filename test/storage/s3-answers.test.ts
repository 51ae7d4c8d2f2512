import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Objects } from '../../src/storage/s3/s3-client.js';
import type { S3Failure } from '../../src/storage/s3/s3-failures.js';

/** Answers with status 200 that are none, each given once before the right one: they are asked for again, not believed. */
type Answer = (response: ServerResponse) => void;

const asked: string[] = [];
let answerTo: (request: IncomingMessage, before: number) => Answer;
const server = createServer((request, response) => {
  const name = `${request.method} ${request.url}`;
  const before = asked.filter((each) => each === name).length;
  asked.push(name);
  request.resume().on('end', () => answerTo(request, before)(response));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const objects = new S3Objects({
  settings: {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    pathStyle: true,
    crossRegion: false,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    connectionTimeoutMs: 1000,
    socketTimeoutMs: 1000,
    maxConnections: 4,
  },
  failed: (name, { kind }: S3Failure) => new Error(`${name} ${kind}`),
});

const text =
  (body: string, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
const page = (keys: readonly string[], parts: string): Answer =>
  text(
    `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts}${keys
      .map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`)
      .join('')}</ListBucketResult>`,
  );
const LAST = '<IsTruncated>false</IsTruncated>';
const ERROR = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>again</Message></Error>';
const NONE: Readonly<Record<string, string>> = {
  nothing: '',
  'an error': ERROR,
  'an error and a line feed': `${ERROR}\n`,
  'a page of a proxy': '<html><body>Please wait</body></html>',
  'words of a proxy': 'Please wait',
};

const answers = suite('answers of S3');
answers.before.each(() => void asked.splice(0));
answers.after(() => void server.close());

const listed = async (): Promise<readonly string[]> => {
  const keys: string[] = [];
  for await (const { key } of objects.list('bucket', 'folder/')) keys.push(key);
  return keys;
};

const NO_LISTS: readonly (readonly [string, Answer])[] = [
  ...Object.entries(NONE).map(([name, body]) => [name, text(body)] as const),
  ['a part of a list, without the way to the next', page(['a'], '<IsTruncated>true</IsTruncated>')],
];
for (const [name, answer] of NO_LISTS)
  answers(`a list is whole although ${name} came with status 200`, async () => {
    answerTo = (_, before) => (before === 0 ? answer : page(['a', 'b'], LAST));
    assert.equal(await listed(), ['a', 'b']);
    assert.is(asked.length, 2);
  });

answers('a list that does not get on ends', async () => {
  answerTo = () => page(['a'], '<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>');
  const error = await listed().catch((thrown: Error) => thrown.message);
  assert.is(error, 's3://bucket/folder/ unreachable');
});

answers('an object whose time is not told is not an old one', async () => {
  answerTo = () => page(['a'], LAST);
  for await (const { modifiedMs } of objects.list('bucket', 'folder/')) assert.is(modifiedMs, Number.POSITIVE_INFINITY);
});

answers('an object whose size is not told is not an empty one', async () => {
  answerTo = (_, before) => (response) => {
    if (before > 0) response.setHeader('content-length', 7);
    response.setHeader('etag', '"tag"').end();
  };
  assert.is((await objects.head({ bucket: 'bucket', key: 'key' })).sizeBytes, 7);
});

for (const [name, body] of Object.entries(NONE))
  answers(`an upload in parts is ended although ${name} came with status 200`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'dolmen-answers-'));
    writeFileSync(join(directory, 'file'), 'ab');
    const file = await open(join(directory, 'file'));
    const result = (tag: string, inner: string): Answer =>
      text(`<${tag} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${tag}>`);
    let stored = 0;
    answerTo = ({ method, url = '' }, before) => {
      if (method === 'PUT')
        // MD5 of `a` and of `b`.
        return (response) =>
          void response
            .setHeader('etag', /partNumber=1/.test(url) ? '"0cc175b9c0f1b6a831c399e269772661"' : '"92eb5ffee6ae2fec3ad71c777531578f"')
            .end();
      if (method === 'POST' && url.includes('uploads')) return result('InitiateMultipartUploadResult', '<UploadId>u</UploadId>');
      if (method === 'POST' && before === 0) return text(body);
      if (method !== 'POST') return text('', 404);
      stored++;
      return result('CompleteMultipartUploadResult', '<ETag>"x-2"</ETag>');
    };
    try {
      await objects.writeFile({ bucket: 'bucket', key: 'key' }, file, { disableAcl: true, partBytes: 1, multipartBytes: 1 });
      assert.is(stored, 1);
    } finally {
      await file.close();
      rmSync(directory, { recursive: true });
    }
  });

const error = (code: string): string => `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>gone</Message></Error>`;

answers('an object that is not there is removed', async () => {
  answerTo = () => text(error('NoSuchKey'), 404);
  await objects.remove({ bucket: 'bucket', key: 'key' });
});

answers('a bucket that is not there is an error, not an object that is absent', async () => {
  answerTo = () => text(error('NoSuchBucket'), 404);
  const message = await objects.remove({ bucket: 'bucket', key: 'key' }).catch((thrown: Error) => thrown.message);
  assert.is(message, 's3://bucket/key refused');
});

answers.run();
