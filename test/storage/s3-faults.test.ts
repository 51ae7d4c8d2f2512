import { Buffer } from 'node:buffer';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { createS3DeepStorage } from '../../src/storage/s3/s3-deep-storage.js';
import { startService } from '../services.js';
import { type Fault, FaultProxy, type SeenRequest } from './fault-proxy.js';
import { MEBIBYTE, s3Place } from './stores.js';

const faults = suite('faults of S3');
const service = await startService('s3');
if (service === undefined) faults.skip('no server of S3 is here', () => undefined);
else {
  const directory = mkdtempSync(join(tmpdir(), 'dolmen-faults-'));
  const proxy = await FaultProxy.open(service.port);
  const place = s3Place(service, 'faults', proxy.port);
  const storage = createS3DeepStorage(place);
  const file = join(directory, 'file');
  const target = join(directory, 'target');
  const CONTENT = Buffer.alloc(11 * MEBIBYTE, Array.from({ length: 1009 }, (_, at) => String(at * at)).join());
  faults.before.each(() => {
    proxy.reset();
    rmSync(target, { force: true });
  });
  faults.after(async () => {
    await proxy.close();
    await service.stop();
    rmSync(directory, { recursive: true });
  });

  const push = (content: Buffer, key = 'file') => {
    writeFileSync(file, content);
    return storage.push([{ localFile: file, key }]);
  };
  const spec = { type: 's3', path: 'file' };

  /** Each fault meets the first requests of its method only: whoever tries again succeeds. */
  const passing: readonly { readonly fault: Fault; readonly method: string; readonly times: number }[] = [
    ...[500, 502, 503, 429, 408].map((fault) => ({ fault, method: 'PUT', times: 2 })),
    ...[500, 503, 429].map((fault) => ({ fault, method: 'GET', times: 2 })),
    ...['PUT', 'GET', 'HEAD', 'POST'].map((method) => ({ fault: 'reset' as const, method, times: 2 })),
    ...['PUT', 'GET', 'HEAD', 'POST'].map((method) => ({ fault: 'lost' as const, method, times: 1 })),
    { fault: 'cut', method: 'GET', times: 2 },
    { fault: 'flip', method: 'GET', times: 1 },
    { fault: 'damage', method: 'PUT', times: 1 },
    { fault: 'stall', method: 'GET', times: 1 },
    { fault: 'stall', method: 'PUT', times: 1 },
  ];
  for (const { fault, method, times } of passing)
    faults(`a file goes in and comes out whole although ${method} meets ${fault} ${times} times`, async () => {
      proxy.faultOf = (request) => (request.method === method && request.before < times ? fault : undefined);
      await push(CONTENT);
      await storage.pull(spec, target);
      assert.ok(readFileSync(target).equals(CONTENT));
      assert.ok(proxy.seen.filter((each) => each.startsWith(method)).length > times, 'the fault was met');
    });

  const always = (fault: Fault, method: string) => (request: SeenRequest) => (request.method === method ? fault : undefined);

  const lasting: readonly { readonly name: string; readonly fault: Fault; readonly code: string; readonly message: RegExp }[] = [
    { name: 'refuses credentials', fault: 403, code: 'unavailable', message: /deep storage: .* refuses these credentials/ },
    { name: 'answers 400', fault: 400, code: 'unavailable', message: /deep storage: .*S3 answers 400/ },
    { name: 'answers 503', fault: 503, code: 'unavailable', message: /deep storage: .*no answer of S3/ },
  ];
  for (const { name, fault, code, message } of lasting)
    faults(`a server that ${name} is an error, and the file stays where it was`, async () => {
      proxy.faultOf = always(fault, 'PUT');
      const error = await push(Buffer.from('some'), 'other').then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      assert.instance(error, ServiceError);
      assert.is((error as ServiceError).code, code);
      assert.match((error as ServiceError).message, message);
      assert.ok(existsSync(file));
    });

  faults('bytes that are not those that were written are an error, and no file', async () => {
    await push(Buffer.from('some bytes'));
    proxy.faultOf = always('flip', 'GET');
    const error = await storage.pull(spec, target).catch((thrown: unknown) => thrown);
    assert.instance(error, ServiceError);
    assert.is((error as ServiceError).code, 'segment_corrupt');
    assert.not.ok(existsSync(target));
  });

  faults('bytes that are read as a whole and are not those that were written are an error at their end', async () => {
    await push(Buffer.from('some bytes'));
    proxy.faultOf = (request) => (request.method === 'GET' && request.before === 0 ? 'flip' : undefined);
    const read = async (): Promise<string> => {
      let content = '';
      for await (const chunk of storage.read(spec)) content += Buffer.from(chunk).toString('latin1');
      return content;
    };
    const error = await read().catch((thrown: unknown) => thrown);
    assert.is((error as ServiceError).code, 'segment_corrupt');
    assert.is(await read(), 'some bytes');
  });

  faults('an upload that fails in some part leaves no object and no parts', async () => {
    proxy.faultOf = ({ method, path }) => (method === 'PUT' && /partNumber=2/.test(path) ? 403 : undefined);
    const error = await push(CONTENT, 'half').catch((thrown: unknown) => thrown);
    assert.instance(error, ServiceError);
    const paths: string[] = [];
    for await (const { path } of storage.list()) paths.push(path);
    assert.not.ok(paths.includes('half'));
    assert.ok(
      proxy.seen.some((each) => /^DELETE .*half\?.*uploadId=/.test(each)),
      'the upload is given up',
    );
  });

  const encryptions = [
    { encryption: { type: 's3' }, headers: { 'x-amz-server-side-encryption': 'AES256' } },
    {
      encryption: { type: 'kms', keyId: 'k' },
      headers: { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': 'k' },
    },
    {
      encryption: { type: 'custom', base64Key: Buffer.alloc(32).toString('base64') },
      headers: {
        'x-amz-server-side-encryption-customer-algorithm': 'AES256',
        'x-amz-server-side-encryption-customer-key-md5': 'cLyPS3KoaSFGi/joRB3OUQ==',
      },
    },
  ] as const;
  for (const { encryption, headers } of encryptions)
    for (const disableAcl of [false, true])
      faults(`objects are written with encryption ${encryption.type}, ${disableAcl ? 'without' : 'with'} an ACL`, async () => {
        const encrypted = createS3DeepStorage({ ...place, encryption, disableAcl });
        let created: SeenRequest['headers'] = {};
        proxy.faultOf = (request) => {
          if (request.method === 'PUT') created = request.headers;
          return undefined;
        };
        writeFileSync(file, 'some');
        await encrypted.push([{ localFile: file, key: 'encrypted' }]);
        for (const [name, value] of Object.entries(headers)) assert.is(created[name], value);
        assert.is(created['x-amz-acl'], disableAcl ? undefined : 'bucket-owner-full-control');
      });
}
faults.run();
