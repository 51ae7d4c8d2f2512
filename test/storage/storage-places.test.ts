import { Buffer } from 'node:buffer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Configuration } from '../../src/configuration/configuration.js';
import { deepStoragePlaces, logPlace, resultPlace } from '../../src/storage/deep/storage-places.js';

const BUCKET = ['svc.storage.bucket=b', 'svc.storage.baseKey=/k/l/'];
const S3 = ['svc.storage.type=s3', ...BUCKET];
const read = (flags: readonly string[]) => Configuration.read({ flags });

const places = suite('places of files');

const types: readonly { readonly flags: readonly string[]; readonly expected: readonly string[] }[] = [
  { flags: [], expected: ['local'] },
  { flags: BUCKET, expected: ['local', 's3'] },
  { flags: S3, expected: ['s3', 'local'] },
];
for (const { flags, expected } of types)
  places(`new segments go to ${expected[0]} with ${flags.join(' ') || 'nothing configured'}`, () => {
    assert.equal(
      deepStoragePlaces(read(flags)).map(({ type }) => type),
      expected,
    );
  });

places('a bucket has its folder without slashes around it, its account and its endpoint', () => {
  const endpoint = ['svc.s3.endpoint.url=storage:9000', 'svc.s3.protocol=http', 'svc.s3.enablePathStyleAccess=true'];
  const account = ['svc.s3.accessKey=a', 'svc.s3.secretKey={"type":"default","password":"s"}'];
  const [place] = deepStoragePlaces(read([...S3, ...endpoint, ...account]));
  assert.is(place.type, 's3');
  if (place.type !== 's3') return;
  assert.equal([place.bucket, place.prefix], ['b', 'k/l']);
  assert.is(place.client.endpoint, 'http://storage:9000/');
  assert.equal(place.client.credentials, { accessKeyId: 'a', secretAccessKey: 's' });
  assert.equal([place.client.pathStyle, place.client.region], [true, null]);
});

places('results of statements are in a folder, in a bucket, or not kept', () => {
  assert.is(resultPlace(read([]))?.type, 'local');
  assert.is(resultPlace(read(['svc.msq.intermediate.storage.enable=false'])), null);
  const s3 = ['type=s3', 'bucket=b', 'prefix=results'].map((each) => `svc.msq.intermediate.storage.${each}`);
  assert.is(resultPlace(read([...S3, ...s3]))?.type, 's3');
});

places('logs of tasks stay in their folder, or go to a bucket', () => {
  assert.is(logPlace(read([])), null);
  const s3 = ['type=s3', 's3Bucket=b', 's3Prefix=logs/', 'disableAcl=true'].map((each) => `svc.indexer.logs.${each}`);
  const place = logPlace(read([...S3, ...s3]));
  assert.equal(place?.type === 's3' && [place.prefix, place.disableAcl], ['logs', true]);
});

const refused: readonly { readonly flags: readonly string[]; readonly message: RegExp }[] = [
  { flags: ['svc.storage.type=s3'], message: /svc\.storage\.bucket .* expected the name of a bucket/ },
  { flags: [...S3, 'svc.s3.endpoint.url=http://'], message: /svc\.s3\.endpoint\.url/ },
  { flags: [...S3, 'svc.s3.accessKey=a'], message: /svc\.s3\.secretKey .* expected both/ },
  { flags: [...S3, 'svc.storage.sse.type=custom'], message: /svc\.storage\.sse\.custom\.base64EncodedKey .* expected 256 bits/ },
  {
    flags: [...S3, ...['type=s3', 's3Bucket=b', 's3Prefix=k/l/logs'].map((each) => `svc.indexer.logs.${each}`)],
    message: /svc\.indexer\.logs\.s3Prefix .* a folder apart from that of svc\.storage\.baseKey, k\/l/,
  },
  ...['k/l', 'k', '', 'k/l/m'].map((prefix) => ({
    flags: [...S3, ...['type=s3', 'bucket=b', `prefix=${prefix}`].map((each) => `svc.msq.intermediate.storage.${each}`)],
    message: /svc\.msq\.intermediate\.storage\.prefix .* a folder apart from that of svc\.storage\.baseKey/,
  })),
];
for (const { flags, message } of refused)
  places(`refused: ${flags.join(' ')}`, () => {
    assert.throws(
      () => {
        const configuration = read(flags);
        deepStoragePlaces(configuration);
        resultPlace(configuration);
        logPlace(configuration);
      },
      (error: Error) => message.test(error.message),
    );
  });

places('a key for encryption has 256 bits', () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const [place] = deepStoragePlaces(read([...S3, 'svc.storage.sse.type=custom', `svc.storage.sse.custom.base64EncodedKey=${key}`]));
  assert.equal(place.type === 's3' && place.encryption, { type: 'custom', base64Key: key });
});

places.run();
