import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runHere } from '../../src/cluster/middlemanager/child-run.js';
import type { TaskContext } from '../../src/ingestion/contract.js';
import { taskFileName } from '../../src/model/task-file-name.js';
import { createLocalDeepStorage } from '../../src/storage/deep/local-deep-storage.js';
import { taskContext } from '../ingestion/run-task.js';

const runs = suite('children run by their parent');

runs('a child that is run here has its own name, files and end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-children-'));
  try {
    const told: unknown[] = [];
    const own = taskContext(folder, []);
    const children = {
      ...own.children,
      claim: async (id: string) => (id === 'gone' ? null : 3),
      ended: async (...args: readonly unknown[]) => void told.push(args),
    };
    const parent: TaskContext = { ...own, taskId: 'p', children };
    const storage = createLocalDeepStorage(join(folder, 'deep'));
    const seen: unknown[] = [];
    const outcome = { succeeded: true, errorMessage: null, report: { r: 1 } };
    const run = async (payload: unknown, context: TaskContext) => {
      seen.push([payload, context.taskId, context.attempt, existsSync(context.workDirectory)]);
      writeFileSync(join(context.workDirectory, 'x'), 'x');
      const [pushed] = await context.storage.push([{ localFile: join(context.workDirectory, 'x'), key: 'k' }]);
      assert.is(pushed?.path, `${taskFileName('p')}/${taskFileName('c')}-3/k`);
      assert.match(String(await context.publish({} as never).catch(String)), /its parent does/);
      return outcome;
    };
    assert.is(await runHere({ type: 't', id: 'c' }, { parent, storage, run }), true);
    assert.equal(seen, [[{ type: 't', id: 'c' }, 'c', 3, true]]);
    assert.equal(told, [['c', 3, outcome]]);
    assert.equal(readdirSync(parent.workDirectory), []);
    assert.is(await runHere({ type: 't', id: 'gone' }, { parent, storage, run }), false);
    assert.is(seen.length, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

runs.run();
