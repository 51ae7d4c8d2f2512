import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiddleManager } from '../../src/cluster/middlemanager/middle-manager.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { TaskEndReport } from '../../src/cluster/rpc/services.js';

interface Context {
  folder: string;
}

/** One whose tasks do what their payload says (`task-child.ts`), and how they ended. */
async function managerIn(folder: string) {
  const ends: TaskEndReport[] = [];
  const overlord = { taskEnded: async (end: TaskEndReport) => void ends.push(end) };
  const manager = new MiddleManager({
    host: 'worker:1',
    session: 's',
    capacity: 2,
    peers: { leading: () => overlord, all: () => [] } as unknown as Pick<Peers, 'leading' | 'all'>,
    workDirectory: join(folder, 'work'),
    logDirectory: join(folder, 'logs'),
    settings: { storageDirectory: '', allowedDirectories: [], maxBytesInMemory: 1, maxHttpBytes: 1, kernels: 'simd' },
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

for (const [name, end] of [
  ['the end of the process', (manager) => manager.stop()],
  ['a shutdown of the task', (manager) => manager.shutdownTask('t')],
] satisfies [string, (manager: MiddleManager) => Promise<void>][])
  managers(`${name} finds a task that is being started as well`, async ({ folder }) => {
    const { manager, ends } = await managerIn(folder);
    const assigned = manager.assign({ taskId: 't', payload: { does: 'hang' } });
    assert.equal(manager.runningTasks(), ['t']);
    await end(manager);
    await assigned;
    await until(() => ends.length > 0);
    assert.equal(
      ends.map(({ taskId, succeeded, errorMessage }) => [taskId, succeeded, errorMessage]),
      [['t', false, 'the task was shut down']],
    );
    assert.equal(manager.runningTasks(), []);
  });

managers('one that cannot be started holds up no stop, and gives its slot back', async ({ folder }) => {
  const { manager } = await managerIn(folder);
  rmSync(join(folder, 'logs'), { recursive: true });
  const assigned = manager.assign({ taskId: 't', payload: {} }).catch((error: unknown) => error);
  await manager.stop();
  assert.match(String(await assigned), /ENOENT/);
  assert.equal(manager.runningTasks(), []);
});

managers.run();
