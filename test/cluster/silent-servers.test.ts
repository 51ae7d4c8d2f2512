import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { DESCRIPTIONS } from '../../src/cluster/rpc/descriptions.js';
import { HttpClient } from '../../src/cluster/rpc/http-client.js';
import { encodeMessage, RPC_CONTENT_TYPE } from '../../src/cluster/rpc/message.js';
import { remoteService } from '../../src/cluster/rpc/remote.js';
import type { HistoricalService, RunPlanRequest, RunReport } from '../../src/cluster/rpc/services.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, SegmentMetadataPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import type { SegmentAnalysis } from '../../src/model/segment.js';
import { brokerOver, EVERYWHERE, ids, OLD, options, rowsOf } from './broker-over.js';
import { inventoryOf, scanPlan } from './fakes.js';
import { HandClock } from './hand-clock.js';

// Servers that do not answer, answer in part or late: queries end with the right rows, counted once, as long as another server has the segments.

const PATIENT_MS = 300_000;
const patient = () => options('q', PATIENT_MS);
const groups: GroupPlan = { ...scanPlan('ds'), operator: 'group', keys: [], aggregators: [], emptyGroup: false };
const analysis: SegmentMetadataPlan = {
  ...scanPlan('ds'),
  operator: 'segmentMetadata',
  analyses: [],
  columns: { kind: 'all' },
  merge: false,
};
const frameOf = (rowCount: number): Frame => ({ rowCount, columns: [] });

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A server of the highest priority that answers until it is paused, and again once it goes on. */
function pausable(rowsBefore: number, segments = ids(OLD)) {
  const state = { isPaused: false, runs: 0, cancelled: 0 };
  let going = gate();
  const service = {
    ids: segments,
    priority: 1,
    async inventoryAfter() {
      if (state.isPaused) await going.opened;
      return inventoryOf('a', segments, { priority: 1 });
    },
    async *runPlan({ segmentIds }: RunPlanRequest, signal: AbortSignal): AsyncIterable<Frame | RunReport> {
      state.runs++;
      if (state.isPaused) {
        for (let row = 0; row < rowsBefore; row++) yield frameOf(1);
        const aborted = gate();
        signal.addEventListener('abort', aborted.open, { once: true });
        await Promise.race([going.opened, aborted.opened]);
        if (signal.aborted) state.cancelled++;
        signal.throwIfAborted();
      }
      yield frameOf(segmentIds.length - (state.isPaused ? rowsBefore : 0));
      yield { profile: { ...newProfile(), rowsByIndex: 1000 } };
    },
    async analyzeSegments({ segmentIds }: RunPlanRequest, signal: AbortSignal): Promise<readonly SegmentAnalysis[]> {
      const aborted = gate();
      signal.addEventListener('abort', aborted.open, { once: true });
      if (state.isPaused) await Promise.race([going.opened, aborted.opened]);
      signal.throwIfAborted();
      return segmentIds.map((id) => ({ id }) as SegmentAnalysis);
    },
  };
  return {
    service,
    state,
    pause: () => {
      state.isPaused = true;
      going = gate();
    },
    goOn: () => {
      going.open();
      state.isPaused = false;
    },
  };
}

const other = {
  ...EVERYWHERE,
  async *runPlan({ segmentIds }: RunPlanRequest): AsyncIterable<Frame | RunReport> {
    yield frameOf(segmentIds.length);
    yield { profile: { ...newProfile(), rowsByIndex: segmentIds.length } };
  },
  analyzeSegments: async ({ segmentIds }: RunPlanRequest) => segmentIds.map((id) => ({ id }) as SegmentAnalysis),
};

const silent = suite('silent servers');

for (const [what, plan, rowsBefore] of [
  ['no row of a scan', scanPlan('ds'), 0],
  ['no group', groups, 0],
] as const)
  silent(`a read of which ${what} has come moves when its server falls silent; new ones pass it over until it answers`, async () => {
    const a = pausable(rowsBefore);
    const clock = new HandClock();
    const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: a.service, b: other }, null, { clock });
    assert.is(await rowsOf(broker.run(plan, patient())), 3);
    assert.is(a.state.runs, 1);
    a.pause();
    const profile = newProfile();
    const running = rowsOf(broker.run(plan, { ...patient(), profile }));
    await clock.passUntil(broker.look());
    assert.is(await running, 3);
    assert.is(profile.rowsByIndex, 3);
    assert.is(profile.segmentsRetried, 3);
    while (a.state.cancelled === 0) await sleep(5);
    for (let turn = 0; turn < 3; turn++) assert.is(await rowsOf(broker.run(plan, patient())), 3);
    assert.is(a.state.runs, 2);
    a.goOn();
    while (a.state.runs === 2) {
      assert.is(await rowsOf(broker.run(plan, patient())), 3);
      await clock.pass(100);
    }
    await clock.passUntil(broker.stop());
  });

silent('groups that came before their server fell silent are not counted beside those of another one', async () => {
  const a = pausable(2, ids(OLD.slice(0, 2)));
  const clock = new HandClock();
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: a.service, b: other }, null, { clock });
  a.pause();
  const profile = newProfile();
  const running = rowsOf(broker.run(groups, { ...patient(), profile }));
  await clock.passUntil(broker.look());
  assert.is(await running, 3);
  assert.is(profile.rowsByIndex, 3);
  await clock.passUntil(broker.stop());
});

silent('rows that were handed on stay: the read waits for its server', async () => {
  const a = pausable(2);
  const clock = new HandClock();
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: a.service, b: other }, null, { clock });
  a.pause();
  const frames = broker.run(scanPlan('ds'), patient())[Symbol.asyncIterator]();
  assert.is((await frames.next()).value?.rowCount, 1);
  await clock.passUntil(broker.look());
  a.goOn();
  const rest = await rowsOf({ [Symbol.asyncIterator]: () => frames });
  assert.is(rest, 1 + 3);
  await clock.passUntil(broker.stop());
});

silent('a silent server is asked for what nobody else serves', async () => {
  const a = pausable(0);
  const clock = new HandClock();
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: a.service, b: { ...other, ids: ids(OLD.slice(0, 2)) } }, null, {
    clock,
  });
  a.pause();
  await clock.passUntil(broker.look());
  const running = rowsOf(broker.run(scanPlan('ds'), patient()));
  while (a.state.runs === 0) await sleep(5);
  a.goOn();
  assert.is(await running, 3);
  await clock.passUntil(broker.stop());
});

silent('an analysis moves alike', async () => {
  const a = pausable(0);
  const clock = new HandClock();
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: a.service, b: other }, null, { clock });
  a.pause();
  const running = broker.analyze(analysis, patient());
  await clock.passUntil(broker.look());
  assert.equal((await running).map(({ id }) => id).sort(), ids(OLD).sort());
  await clock.passUntil(broker.stop());
});

silent('a server that tells its inventory, and is later with a read than it ever was, is not waited for', async () => {
  const a = pausable(0);
  const clock = new HandClock();
  const { broker } = await brokerOver(
    { revision: 1, segments: OLD },
    { a: { ...a.service, inventoryAfter: async () => inventoryOf('a', ids(OLD), { priority: 1 }) }, b: other },
    null,
    { clock },
  );
  assert.is(await rowsOf(broker.run(scanPlan('ds'), patient())), 3);
  a.pause();
  assert.is(await clock.passUntil(rowsOf(broker.run(scanPlan('ds'), patient()))), 3);
  assert.is(a.state.runs, 2);
  while (a.state.cancelled === 0) await sleep(5);
  await clock.passUntil(broker.stop());
});

silent('a read moves when its server is there no more, though nobody has closed its connection', async () => {
  const a = pausable(0);
  const clock = new HandClock();
  const gone = new Set<string>();
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: a.service, b: other }, null, { clock, gone });
  a.pause();
  const startMs = clock.now();
  const running = rowsOf(broker.run(scanPlan('ds'), patient()));
  gone.add('a');
  await clock.passUntil(broker.look());
  assert.is(await running, 3);
  assert.is(clock.now(), startMs);
  while (a.state.cancelled === 0) await sleep(5);
  await clock.passUntil(broker.stop());
});

silent('segments that nobody serves are named by all of their intervals', async () => {
  const clock = new HandClock();
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: { ids: ids(OLD.slice(1, 2)) } }, null, { clock });
  const refused = await rowsOf(broker.run(scanPlan('ds'), patient())).catch((error: ServiceError) => error);
  assert.ok(refused instanceof ServiceError && refused.code === 'segments_unavailable');
  assert.is(
    refused.message,
    '2 segments of ds are served by no Historical at the moment; missing: ' +
      '1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z, 1970-01-03T00:00:00.000Z/1970-01-04T00:00:00.000Z',
  );
  await clock.passUntil(broker.stop());
});

/** A server of bytes; its connections end with it. */
async function tcpServer(connected: (socket: Socket) => void): Promise<{ readonly host: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: ${RPC_CONTENT_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const chunk = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
const value = (rows: number): Buffer => encodeMessage({ kind: 'value', value: frameOf(rows) });

for (const [what, plan, answer] of [
  ['accepts a connection and never answers', scanPlan('ds'), []],
  ['stops within its head', scanPlan('ds'), [Buffer.from(HEAD.slice(0, 20))]],
  ['stops within its first frame', scanPlan('ds'), [Buffer.from(HEAD), chunk(value(2).subarray(0, 20))]],
  ['stops between two frames of groups', groups, [Buffer.from(HEAD), chunk(value(2))]],
] as const)
  silent(`a server that ${what} is replaced, and its connection closed`, async () => {
    let requests = 0;
    let closed = 0;
    const tcp = await tcpServer((socket) => {
      socket.once('data', () => {
        requests++;
        for (const bytes of answer) socket.write(bytes);
      });
      socket.on('close', () => closed++);
    });
    const client = new HttpClient();
    const remote = remoteService<HistoricalService>(DESCRIPTIONS.historical, client, { role: 'historical', host: tcp.host });
    const a = pausable(0, plan === groups ? ids(OLD.slice(0, 2)) : ids(OLD));
    const clock = new HandClock();
    const { broker } = await brokerOver(
      { revision: 1, segments: OLD },
      { a: { ...a.service, runPlan: (request, signal) => remote.runPlan(request, signal) }, b: other },
      null,
      { clock },
    );
    try {
      a.pause();
      const running = rowsOf(broker.run(plan, patient()));
      while (requests === 0) await sleep(5);
      await clock.passUntil(broker.look());
      assert.is(await running, 3);
      while (closed === 0) await sleep(5);
    } finally {
      await clock.passUntil(broker.stop());
      await client.close();
      await tcp.close();
    }
  });

silent('short calls do not wait behind long ones', async () => {
  let streams = 0;
  const server = createHttpServer((request, response) => {
    if (request.url?.endsWith('/runPlan') === true) {
      streams++;
      return;
    }
    request.resume().on('end', () => {
      response.setHeader('content-type', RPC_CONTENT_TYPE);
      response.end(
        Buffer.concat([encodeMessage({ kind: 'value', value: { value: null, items: new Map() } }), encodeMessage({ kind: 'end' })]),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new HttpClient();
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const remote = remoteService<HistoricalService>(DESCRIPTIONS.historical, client, { role: 'historical', host });
  const stop = new AbortController();
  const request = { deadlineMs: Date.now() + PATIENT_MS } as RunPlanRequest;
  const reads = Array.from({ length: 100 }, () =>
    rowsOf(remote.runPlan(request, stop.signal) as AsyncIterable<Frame>).catch(() => 'ended'),
  );
  try {
    while (streams < 64) await sleep(5);
    assert.is(await remote.inventoryAfter(null), null);
    stop.abort(new ServiceError('cancelled', 'enough'));
    assert.ok((await Promise.all(reads)).every((ended) => ended === 'ended'));
  } finally {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

silent.run();
