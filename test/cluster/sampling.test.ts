import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { Sampling } from '../../src/cluster/sampling.js';
import { DECOMPRESSION } from '../ingestion/blocks.js';

/** The bounds of the sampler's processes, with `task-child.js` in the place of its program. */
const suiteOf = suite<{ folder: string; sampling: Sampling }>('sampling');

suiteOf.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-sampling-'));
  context.sampling = new Sampling({
    peers: { all: () => [], hosts: () => [] },
    workDirectory: join(context.folder, 'samples'),
    settings: {
      storagePlaces: [{ type: 'local', directory: '' }],
      resultPlace: null,
      serving: { address: '127.0.0.1', port: 0, clusterKey: 'key', tls: null },
      allowedDirectories: [],
      exportDirectory: '',
      maxBytesInMemory: 1,
      maxHeapBytes: 2 ** 28,
      maxKernelBytes: 2 ** 28,
      http: { maxBytes: 1, allowedProtocols: ['http', 'https'], allowedHosts: [], allowedAddresses: [] },
      inputLimits: { maxColumns: 1000, maxRowBytes: 1 << 20, decompression: DECOMPRESSION },
      keepsStoredTimes: false,
      kernels: 'simd',
      logBytesMax: 1 << 20,
    },
    taskEntry: new URL('./task-child.js', import.meta.url),
    limitsOf: async () => ({ timeoutMs: 1000 }),
    now: Date.now,
  });
});
suiteOf.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'an answer',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
const never = new AbortController().signal;

suiteOf('a process that dies is an error, and leaves no folder', async ({ sampling, folder }) => {
  assert.is(await codeOf(sampling.sample(Buffer.from(JSON.stringify({ does: 'crash' })), never)), 'resource_limit');
  assert.equal(readdirSync(join(folder, 'samples')), []);
});

suiteOf('no more than four at a time; who stops waiting ends his own', async ({ sampling, folder }) => {
  const client = new AbortController();
  const four = Array.from({ length: 4 }, () => codeOf(sampling.sample(Buffer.from(JSON.stringify({ does: 'hang' })), client.signal)));
  assert.is(await codeOf(sampling.sample(Buffer.from(JSON.stringify({ does: 'succeed' })), never)), 'capacity_exceeded');
  client.abort();
  assert.equal(
    await Promise.all(four),
    Array.from({ length: 4 }, () => 'cancelled'),
  );
  assert.equal(readdirSync(join(folder, 'samples')), []);
});

suiteOf('stopping ends what runs', async ({ sampling }) => {
  const running = codeOf(sampling.sample(Buffer.from(JSON.stringify({ does: 'hang' })), never));
  await sampling.stop();
  assert.is(await running, 'cancelled');
  assert.is(await codeOf(sampling.sample(Buffer.from(JSON.stringify({ does: 'succeed' })), never)), 'unavailable');
});

suiteOf.run();
