import { deepStrictEqual } from 'node:assert';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { SILENT_LOG } from '../../src/base/log.js';
import { DESCRIPTIONS } from '../../src/cluster/rpc/descriptions.js';
import { HttpClient } from '../../src/cluster/rpc/http-client.js';
import { CLUSTER_KEY_HEADER, decodeMessages, encodeMessage, type Message } from '../../src/cluster/rpc/message.js';
import { remoteService } from '../../src/cluster/rpc/remote.js';
import type { HistoricalService, RunPlanRequest } from '../../src/cluster/rpc/services.js';
import type { Frame } from '../../src/model/frame.js';
import { BodyBudget } from '../../src/server/body-intake.js';
import { type HttpServer, serve } from '../../src/server/http.js';
import { internalRoutes } from '../../src/server/routes/internal.js';
import { openGate } from '../server/open-gate.js';
import { emptyHistorical, scanPlan } from './fakes.js';

const PORT = 21_700;
const KEY = 'the key of this cluster';

const frame: Frame = {
  rowCount: 2,
  columns: [
    { kind: 'string', name: 's', ids: Uint32Array.of(1, 0), dictionary: [null, 'déjà vu'] },
    { kind: 'multi', name: 'm', offsets: Uint32Array.of(0, 2, 2), ids: Uint32Array.of(0, 1), dictionary: ['a', 'b'] },
    { kind: 'long', name: 'l', values: BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n), nulls: null },
    { kind: 'double', name: 'd', type: 'DOUBLE', values: Float64Array.of(Number.NaN, -0), nulls: Uint32Array.of(1) },
  ],
};

const request = (deadlineMs = Date.now() + 20_000): RunPlanRequest => ({
  queryId: 'q',
  plan: scanPlan('ds'),
  segmentIds: ['a'],
  ending: 'final',
  deadlineMs,
  priority: 0,
  kernels: null,
  limits: {},
  useCache: true,
  populateCache: true,
});

/** Serves a historical over HTTP and hands its client to the test. */
async function overHttp(
  service: Partial<HistoricalService>,
  test: (remote: HistoricalService) => Promise<void>,
  clusterKey = KEY,
): Promise<void> {
  const server: HttpServer = await serve({
    routes: internalRoutes('historical', { ...emptyHistorical(), ...service }),
    host: '127.0.0.1',
    port: PORT,
    maxRequestBytes: 1 << 20,
    bodies: new BodyBudget(2 ** 30),
    allowedHosts: [],
    compressionLevel: 1,
    maxIdleMs: 60_000,
    apiName: 'svc',
    gate: openGate(KEY),
    log: SILENT_LOG,
  });
  const client = new HttpClient({ processHeaders: { [CLUSTER_KEY_HEADER]: clusterKey } });
  try {
    await test(remoteService<HistoricalService>(DESCRIPTIONS.historical, client, { role: 'historical', host: `127.0.0.1:${PORT}` }));
  } finally {
    await client.close();
    await server.close(0);
  }
}

async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('nothing was thrown');
}

const rpc = suite('rpc over HTTP');

rpc('frames arrive as they were sent, one by one', () =>
  overHttp(
    {
      async *runPlan() {
        yield frame;
        yield { rowCount: 0, columns: [] };
        yield frame;
      },
    },
    async (remote) => {
      const received = await collect(remote.runPlan(request(), new AbortController().signal));
      // Exact: types of arrays, NaN and -0 included.
      deepStrictEqual(received, [frame, { rowCount: 0, columns: [] }, frame]);
    },
  ),
);

rpc('arguments and results of calls arrive, undefined and null apart', () =>
  overHttp(
    {
      inventoryAfter: async (generation) =>
        generation === 'known' ? null : { ...(await emptyHistorical().inventory()), generation: String(generation) },
      loadSegments: async (descriptors) => assert.is(descriptors.length, 0),
    },
    async (remote) => {
      assert.is(await remote.inventoryAfter('known'), null);
      assert.is((await remote.inventoryAfter(null))?.generation, 'null');
      assert.is(await remote.loadSegments([]), undefined);
    },
  ),
);

rpc('an error keeps its code, before the first frame and after it', () =>
  overHttp(
    {
      async *runPlan({ queryId }) {
        if (queryId === 'late') yield frame;
        throw new ServiceError('resource_limit', `${queryId}: too much`);
      },
      inventory: async () => {
        throw new RangeError('a mistake of ours');
      },
    },
    async (remote) => {
      const { signal } = new AbortController();
      assert.equal(await failureOf(collect(remote.runPlan(request(), signal))), { code: 'resource_limit', message: 'q: too much' });
      const seen: unknown[] = [];
      const late = (async () => {
        for await (const each of remote.runPlan({ ...request(), queryId: 'late' }, signal)) seen.push(each);
      })();
      assert.equal(await failureOf(late), { code: 'resource_limit', message: 'late: too much' });
      assert.is(seen.length, 1);
      assert.equal(await failureOf(remote.inventory()), { code: 'internal', message: 'a mistake of ours' });
    },
  ),
);

/** A run that goes on until its signal fires, and tells when that was seen. */
function endless(): { runPlan: HistoricalService['runPlan']; readonly aborted: Promise<string> } {
  let tell: (code: string) => void = () => undefined;
  const aborted = new Promise<string>((resolve) => {
    tell = resolve;
  });
  return {
    aborted,
    async *runPlan(_request, signal) {
      yield frame;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      tell(signal.reason instanceof ServiceError ? signal.reason.code : 'other');
      throw signal.reason;
    },
  };
}

rpc('aborting cancels the work at the other end', () => {
  const run = endless();
  return overHttp(run, async (remote) => {
    const controller = new AbortController();
    const work = (async () => {
      for await (const each of remote.runPlan(request(), controller.signal)) {
        assert.is('rowCount' in each ? each.rowCount : 0, 2);
        controller.abort();
      }
    })();
    assert.is((await failureOf(work)).code, 'cancelled');
    assert.is(await run.aborted, 'cancelled');
  });
});

rpc('leaving the loop early cancels the work at the other end', () => {
  const run = endless();
  return overHttp(run, async (remote) => {
    for await (const _first of remote.runPlan(request(), new AbortController().signal)) break;
    assert.is(await run.aborted, 'cancelled');
  });
});

rpc('a deadline that passes ends both ends with a timeout', () => {
  const run = endless();
  return overHttp(run, async (remote) => {
    assert.is((await failureOf(collect(remote.runPlan(request(Date.now() + 200), new AbortController().signal)))).code, 'timeout');
    assert.ok(['timeout', 'cancelled'].includes(await run.aborted));
  });
});

rpc('a peer that is not there is unavailable, a stranger is refused', async () => {
  const client = new HttpClient();
  const gone = remoteService<HistoricalService>(DESCRIPTIONS.historical, client, {
    role: 'historical',
    host: `127.0.0.1:${PORT + 1}`,
  });
  assert.is((await failureOf(gone.inventory())).code, 'unavailable');
  await client.close();
  await overHttp(
    {},
    async (remote) => {
      const { code, message } = await failureOf(remote.inventory());
      assert.is(code, 'unavailable');
      assert.match(message, /403/);
    },
    'another key',
  );
});

for (const [megabytes, code] of [
  [0.5, 'none'],
  [1.1, 'body_too_large'],
  [8, 'body_too_large'],
  [64, 'body_too_large'],
] as const)
  rpc(`arguments of ${megabytes} MiB where 1 MiB is accepted: ${code}`, () =>
    overHttp({ dropSegments: async () => undefined }, async (remote) => {
      const sent = remote.dropSegments(['x'.repeat(megabytes * 2 ** 20)]).then(() => ({ code: 'none', message: '' }));
      const { code: found, message } = code === 'none' ? await sent : await failureOf(sent);
      assert.is(found, code);
      if (code !== 'none') assert.match(message, /413.*svc\.server\.http\.maxRequestBytes/);
    }),
  );

rpc('messages survive any cutting into chunks, and a cut in the middle is noticed', async () => {
  const messages: Message[] = [
    { kind: 'value', value: { text: 'x'.repeat(300), big: 2n ** 70n } },
    { kind: 'value', value: null },
    { kind: 'end' },
  ];
  const bytes = Buffer.concat(messages.map(encodeMessage));
  for (const size of [1, 2, 5, 7, 64, bytes.length]) {
    async function* chunks(end: number): AsyncIterable<Uint8Array> {
      for (let at = 0; at < end; at += size) yield bytes.subarray(at, Math.min(at + size, end));
    }
    assert.equal(await collect(decodeMessages(chunks(bytes.length))), messages);
    assert.is((await failureOf(collect(decodeMessages(chunks(bytes.length - 3))))).code, 'unavailable');
  }
});

rpc.run();
