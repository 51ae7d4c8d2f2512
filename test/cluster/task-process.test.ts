import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { TaskSettings } from '../../src/cluster/middlemanager/task-messages.js';
import { TaskProcess, type TaskProcessOptions } from '../../src/cluster/middlemanager/task-process.js';
import type { PublishRequest } from '../../src/model/publication.js';
import { DECOMPRESSION } from '../ingestion/blocks.js';

const settings: TaskSettings = {
  workDirectory: '',
  storagePlaces: [{ type: 'local', directory: '' }],
  resultPlace: null,
  serving: { address: '127.0.0.1', port: 0, clusterKey: 'key', tls: null },
  allowedDirectories: [],
  exportDirectory: '',
  maxBytesInMemory: 1,
  maxHeapBytes: 2 ** 26,
  maxKernelBytes: 2 ** 28,
  http: { maxBytes: 1, allowedProtocols: ['http', 'https'], allowedHosts: [], allowedAddresses: [] },
  peers: [],
  inputLimits: { maxColumns: 1000, maxRowBytes: 1 << 20, decompression: DECOMPRESSION },
  keepsStoredTimes: false,
  kernels: 'simd',
  logBytesMax: 1 << 20,
};

/** Starts `task-child.js`, which does what its payload says. */
function startChild(
  folder: string,
  payload: unknown,
  publish: (request: PublishRequest) => Promise<readonly string[]> = async () => [],
  query: TaskProcessOptions['query'] = async function* () {},
): Promise<TaskProcess> {
  return TaskProcess.start({
    program: 'task',
    taskId: 't',
    attempt: 1,
    parentId: null,
    payload,
    settings,
    logFile: join(folder, 'log'),
    entry: new URL('./task-child.js', import.meta.url),
    serving: () => undefined,
    liveChanged: () => undefined,
    calls: {
      submit: async () => undefined,
      list: async () => [{ id: 'child', state: 'PENDING', error: null }],
      documents: async (id) => {
        throw new ServiceError('not_found', `no child ${id}`);
      },
      look: async () => [],
      stop: async () => undefined,
      claim: async () => null,
      ended: async () => undefined,
      checkpoint: async () => undefined,
      allocate: async () => {
        throw new Error('not asked');
      },
      served: async () => true,
      seen: async () => undefined,
      offsetsLost: async () => undefined,
    },
    publish,
    visibleSegments: async () => [],
    query,
  });
}

const processes = suite<{ folder: string }>('task process');
processes.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-task-'));
});
processes.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

processes('outcome, progress and log of a task arrive, longs exact', async ({ folder }) => {
  const task = await startChild(folder, { does: 'succeed', rows: 2n ** 60n });
  assert.equal(await task.outcome, { succeeded: true, errorMessage: null, report: { rows: 2n ** 60n } });
  assert.is(task.progress?.processed, 7);
  assert.match(readFileSync(join(folder, 'log'), 'utf8'), /hello from the task/);
});

processes('requests are answered by the task, also with an error, and fail when it ends', async ({ folder }) => {
  const task = await startChild(folder, { does: 'hang' });
  const request = { method: 'GET' as const, path: ['a', 'b'], query: new Map([['full', '']]), body: '' };
  const codeOf = (answer: Promise<unknown>) => answer.catch((error: ServiceError) => `${error.code}: ${error.message}`);
  const [first, failed] = await Promise.all([task.chat(request), codeOf(task.chat({ ...request, path: ['fail'] }))]);
  assert.equal(first, request);
  assert.is(failed, 'unavailable: not yet');
  assert.is(await codeOf(task.chat({ ...request, path: ['end'] })), 'not_found: task t has ended');
  await task.outcome;
  assert.is(await codeOf(task.chat(request)), 'not_found: the task has ended');
});

processes('calls about other tasks are answered each by its number, also those that fail', async ({ folder }) => {
  const task = await startChild(folder, { does: 'children' });
  assert.equal(await task.outcome, {
    succeeded: true,
    errorMessage: null,
    report: { list: [{ id: 'child', state: 'PENDING', error: null }], documents: 'not_found: no child x' },
  });
});

processes('publishing goes through the parent, refusals come back with their code', async ({ folder }) => {
  const granted = await startChild(folder, { does: 'publish' }, async ({ taskId }) => [`${taskId}-segment`]);
  assert.equal((await granted.outcome).report, { ids: ['t-segment'] });
  const refused = await startChild(folder, { does: 'publish' }, async () => {
    throw new ServiceError('conflict', 'no lock');
  });
  assert.equal((await refused.outcome).report, { refused: 'conflict: no lock' });
});

processes('rows of datasources come frame by frame, each when it is asked for', async ({ folder }) => {
  const asked: unknown[] = [];
  const frames = (fails: boolean): TaskProcessOptions['query'] =>
    async function* ({ source }) {
      asked.push(source);
      for (const rowCount of [3, 5, 8]) yield { rowCount, columns: [] };
      if (fails) throw new ServiceError('segments_unavailable', 'one is gone');
    };
  const read = await startChild(folder, { does: 'query' }, undefined, frames(false));
  assert.equal((await read.outcome).report, { rows: [3, 5, 8] });
  assert.equal(asked, [{ kind: 'table', name: 'ds' }]);
  const failed = await startChild(folder, { does: 'query' }, undefined, frames(true));
  assert.equal((await failed.outcome).report, { rows: [3, 5, 8], refused: 'segments_unavailable: one is gone' });
});

processes('a task that leaves its query early ends it, and what the query holds is let go', async ({ folder }) => {
  const ends: string[] = [];
  const task = await startChild(folder, { does: 'leave' }, undefined, async function* (_query, signal) {
    signal.addEventListener('abort', () => ends.push('aborted'));
    try {
      for (;;) yield { rowCount: 1, columns: [] };
    } finally {
      ends.push('let go');
    }
  });
  assert.equal((await task.outcome).report, { rows: [1, 1] });
  assert.equal(ends, ['aborted', 'let go']);
});

processes('a task that has left a query may ask another', async ({ folder }) => {
  const aborted: boolean[] = [];
  const task = await startChild(folder, { does: 'again' }, undefined, async function* (_query, signal) {
    aborted.push(signal.aborted);
    for (let rowCount = 1; rowCount <= 2; rowCount++) yield { rowCount, columns: [] };
  });
  assert.equal((await task.outcome).report, { rows: [1, 2, 1, 2] });
  assert.equal(aborted, [false, false]);
});

processes('a task that crashes or ends without a word has failed', async ({ folder }) => {
  const crashed = await (await startChild(folder, { does: 'crash' })).outcome;
  assert.is(crashed.succeeded, false);
  assert.match(crashed.errorMessage ?? '', /ended by SIGKILL before it was done; the last lines of its log: hello from the task$/);
  const silent = await (await startChild(folder, { does: 'exit' })).outcome;
  assert.match(silent.errorMessage ?? '', /ended with code 3/);
});

processes('stopping ends even a task that does not listen', async ({ folder }) => {
  const task = await startChild(folder, { does: 'hang' });
  while (task.progress === null) await new Promise((resolve) => setTimeout(resolve, 5));
  await task.stop();
  assert.equal(await task.outcome, { succeeded: false, errorMessage: 'the task was shut down', report: {} });
});

processes('a heap that is full ends the process, and the task says so', async ({ folder }) => {
  const { succeeded, errorMessage } = await (await startChild(folder, { does: 'fill' })).outcome;
  assert.is(succeeded, false);
  assert.match(
    errorMessage ?? '',
    /^the process of the task ended by SIG\w+ before it was done; its heap was full \(svc.indexer.task.maxHeapBytes\)/,
  );
});

processes.run();
