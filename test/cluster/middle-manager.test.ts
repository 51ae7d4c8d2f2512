import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { MiddleManager } from '../../src/cluster/middlemanager/middle-manager.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { OverlordService, TaskEndReport, TaskRun } from '../../src/cluster/rpc/services.js';
import { DECOMPRESSION } from '../ingestion/blocks.js';

interface Context {
  folder: string;
}

/** One whose tasks do what their payload says (`task-child.ts`), and how they ended. */
async function managerIn(folder: string, overlord: Partial<OverlordService> | (() => Partial<OverlordService>) = {}, publishTimeoutMs = 0) {
  const ends: TaskEndReport[] = [];
  const lead = () => ({
    taskEnded: async (end: TaskEndReport) => void ends.push(end),
    ...(typeof overlord === 'function' ? overlord() : overlord),
  });
  const manager = new MiddleManager({
    host: 'worker:1',
    session: 's',
    category: 'c',
    capacity: 2,
    peers: { leading: lead, all: () => [], hosts: () => ['a:1', 'b:2'] } as unknown as Pick<Peers, 'leading' | 'all' | 'hosts'>,
    workDirectory: join(folder, 'work'),
    logDirectory: join(folder, 'logs'),
    logStorage: null,
    oldTasks: null,
    publishTimeoutMs,
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
      inputLimits: { maxColumns: 1, maxRowBytes: 1, decompression: DECOMPRESSION },
      keepsStoredTimes: false,
      kernels: 'simd',
      logBytesMax: 1 << 20,
    },
    taskServers: { open: () => undefined, close: () => undefined, changed: () => undefined, seen: async () => undefined },
    taskEntry: new URL('./task-child.js', import.meta.url),
    now: Date.now,
    log: () => undefined,
  });
  await manager.start();
  return { manager, ends };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const startMs = Date.now(); !isTrue(); await new Promise((resolve) => setTimeout(resolve, 5)))
    if (Date.now() > startMs + 10_000) throw new Error('did not come true');
}

const managers = suite<Context>('middle manager');
managers.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-manager-'));
});
managers.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

managers('a shutdown of a task finds one that is being started as well', async ({ folder }) => {
  const { manager, ends } = await managerIn(folder);
  const assigned = manager.assign({ taskId: 't', attempt: 1, payload: { does: 'hang' } });
  assert.equal(manager.runningTasks(), ['t']);
  await manager.shutdownTask('t');
  await assigned;
  await until(() => ends.length > 0);
  assert.equal(
    ends.map(({ taskId, succeeded, errorMessage }) => [taskId, succeeded, errorMessage]),
    [['t', false, 'the task was shut down']],
  );
  assert.equal(manager.runningTasks(), []);
});

managers('the end of the process stops its tasks, those that are being started as well, and gives them back', async ({ folder }) => {
  const returned: [string, string][] = [];
  let tries = 0;
  const taskReturned = async (taskId: string, { session }: TaskRun) => {
    if (++tries === 1) throw new ServiceError('unavailable', 'no overlord leads at the moment');
    returned.push([taskId, session]);
  };
  const { manager, ends } = await managerIn(folder, { taskReturned });
  const assigned = manager.assign({ taskId: 't', attempt: 1, payload: { does: 'hang' } });
  await manager.stop();
  await assigned;
  assert.equal(returned, [['t', 's']]);
  assert.equal([ends, manager.runningTasks()], [[], []]);
});

managers('a later run of a task waits until the earlier one is stopped; the same run is not begun twice', async ({ folder }) => {
  const { manager, ends } = await managerIn(folder);
  await manager.assign({ taskId: 't', attempt: 1, payload: { does: 'hang' } });
  await manager.assign({ taskId: 't', attempt: 1, payload: { does: 'hang' } });
  assert.equal(manager.runningTasks(), ['t']);
  const refused: unknown = await manager.assign({ taskId: 't', attempt: 2, payload: { does: 'succeed' } }).catch((error: unknown) => error);
  assert.match(String(refused), /an earlier run of the task is being stopped/);
  await until(() => ends.length === 1);
  await manager.assign({ taskId: 't', attempt: 2, payload: { does: 'succeed' } });
  await until(() => ends.length === 2);
  assert.equal(
    ends.map(({ run, succeeded }) => [run.attempt, succeeded]),
    [
      [1, false],
      [2, true],
    ],
  );
});

managers('one that cannot be started holds up no stop, and gives its slot back', async ({ folder }) => {
  const { manager } = await managerIn(folder);
  rmSync(join(folder, 'logs'), { recursive: true });
  writeFileSync(join(folder, 'logs'), 'not a folder');
  const assigned = manager.assign({ taskId: 't', attempt: 1, payload: {} }).catch((error: unknown) => error);
  await manager.stop();
  assert.match(String(await assigned), /EEXIST|ENOTDIR/);
  assert.equal(manager.runningTasks(), []);
});

managers('a task ends though no request takes its report, and gives its place in the list of endings back', async ({ folder }) => {
  const heard: [boolean, number][] = [];
  const taskEnded = async ({ succeeded, report }: TaskEndReport) => {
    const bytes = JSON.stringify(report).length;
    if (bytes > 1000) throw new ServiceError('body_too_large', 'the request body is larger than 1000 bytes');
    heard.push([succeeded, Object.keys(report ?? {}).length]);
  };
  const { manager } = await managerIn(folder, { taskEnded });
  await manager.assign({ taskId: 't', attempt: 1, payload: { does: 'succeed', rows: 'x'.repeat(2000) } });
  await until(() => heard.length > 0);
  assert.equal(heard, [[false, 1]]);
  assert.equal((await manager.status()).endingTasks, []);
});

managers('a task is told the processes of the cluster', async ({ folder }) => {
  const { manager, ends } = await managerIn(folder);
  await manager.assign({ taskId: 't', attempt: 1, payload: { does: 'tellPeers' } });
  await until(() => ends.length > 0);
  assert.equal(ends[0]?.report, { peers: ['a:1', 'b:2'] });
});

managers('ids of any length and letters name no files', async ({ folder }) => {
  const { manager, ends } = await managerIn(folder);
  const ids = ['é'.repeat(200), 'con', 'A', 'a', '%00'];
  for (const taskId of ids) {
    await manager.assign({ taskId, attempt: 1, payload: { does: 'succeed' } });
    await until(() => ends.at(-1)?.taskId === taskId);
    await manager.readLog(taskId, 0)[Symbol.asyncIterator]().next();
  }
  assert.is(readdirSync(join(folder, 'logs')).length, ids.length);
});

managers('folders that were removed meanwhile are made again', async ({ folder }) => {
  const { manager, ends } = await managerIn(folder);
  rmSync(join(folder, 'logs'), { recursive: true });
  rmSync(join(folder, 'work'), { recursive: true });
  await manager.assign({ taskId: 't', attempt: 1, payload: { does: 'succeed' } });
  await until(() => ends.length > 0);
  assert.is(ends[0]?.succeeded, true);
  assert.ok(existsSync(join(folder, 'logs')));
});

const refusals = { unavailable: 'no overlord leads at the moment', not_leader: 'epoch has ended' } as const;
for (const code of ['unavailable', 'not_leader'] as const)
  managers(`a publish that meets ${code} is tried again until the time is over`, async ({ folder }) => {
    let tries = 0;
    const publish = async () => {
      if (++tries < 3) throw new ServiceError(code, refusals[code]);
      return ['id'];
    };
    const patient = await managerIn(folder, { publish }, 60_000);
    await patient.manager.assign({ taskId: 't', attempt: 1, payload: { does: 'publish' } });
    await until(() => patient.ends.length > 0);
    assert.equal(patient.ends[0]?.report, { ids: ['id'] });
    assert.is(tries, 3);
    tries = -1e9;
    const hasty = await managerIn(folder, { publish }, 0);
    await hasty.manager.assign({ taskId: 't', attempt: 1, payload: { does: 'publish' } });
    await until(() => hasty.ends.length > 0);
    assert.equal(hasty.ends[0]?.report, { refused: `${code}: ${refusals[code]}` });
  });

managers('a publish that is refused for a reason of its own is not tried again', async ({ folder }) => {
  let tries = 0;
  const publish = async () => {
    tries++;
    throw new ServiceError('conflict', 'no lock');
  };
  const { manager, ends } = await managerIn(folder, { publish }, 60_000);
  await manager.assign({ taskId: 't', attempt: 1, payload: { does: 'publish' } });
  await until(() => ends.length > 0);
  assert.is(tries, 1);
});

managers.run();
