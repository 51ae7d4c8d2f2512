import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { TaskSettings } from '../../src/cluster/middlemanager/task-messages.js';
import { TaskProcess } from '../../src/cluster/middlemanager/task-process.js';
import type { PublishRequest } from '../../src/model/publication.js';

const settings: TaskSettings = {
  workDirectory: '',
  storageDirectory: '',
  allowedDirectories: [],
  maxBytesInMemory: 1,
  maxHttpBytes: 1,
  kernels: 'simd',
};

/** Starts `task-child.js`, which does what its payload says. */
function startChild(
  folder: string,
  payload: unknown,
  publish: (request: PublishRequest) => Promise<readonly string[]> = async () => [],
): Promise<TaskProcess> {
  return TaskProcess.start({
    taskId: 't',
    payload,
    settings,
    logFile: join(folder, 'log'),
    entry: new URL('./task-child.js', import.meta.url),
    publish,
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

processes('publishing goes through the parent, refusals come back with their code', async ({ folder }) => {
  const granted = await startChild(folder, { does: 'publish' }, async ({ taskId }) => [`${taskId}-segment`]);
  assert.equal((await granted.outcome).report, { ids: ['t-segment'] });
  const refused = await startChild(folder, { does: 'publish' }, async () => {
    throw new ServiceError('conflict', 'no lock');
  });
  assert.equal((await refused.outcome).report, { refused: 'conflict: no lock' });
});

processes('a task that crashes or ends without a word has failed', async ({ folder }) => {
  const crashed = await (await startChild(folder, { does: 'crash' })).outcome;
  assert.is(crashed.succeeded, false);
  assert.match(crashed.errorMessage ?? '', /ended by SIGKILL/);
  const silent = await (await startChild(folder, { does: 'exit' })).outcome;
  assert.match(silent.errorMessage ?? '', /ended with code 3/);
});

processes('stopping ends even a task that does not listen', async ({ folder }) => {
  const task = await startChild(folder, { does: 'hang' });
  while (task.progress === null) await new Promise((resolve) => setTimeout(resolve, 5));
  await task.stop();
  assert.equal(await task.outcome, { succeeded: false, errorMessage: 'the task was shut down', report: {} });
});

processes.run();
