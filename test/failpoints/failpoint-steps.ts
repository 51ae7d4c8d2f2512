import * as assert from 'uvu/assert';
import { callJson } from '../../bench/server.js';
import type { FailpointName } from '../../src/configuration/failpoints.js';
import type { FailpointRun } from './failpoint-run.js';

type Step = (run: FailpointRun) => Promise<void>;

/** Points at which the process of a task that appends dies: the task fails, and nothing of it is there. */
const TASK_POINTS: readonly FailpointName[] = [
  'task.started',
  'task.read',
  'task.spilled',
  'task.segmentWritten',
  'storage.beforeSync',
  'storage.beforeRename',
  'storage.renamed',
  'storage.pushed',
  'task.beforePublish',
];

/** Points at which a full disk fails the task by name. */
const FULL_DISK_POINTS: readonly FailpointName[] = ['task.spilled', 'task.segmentWritten', 'storage.beforeSync'];

/** Points at which the server dies, in the order in which one task gets there: it runs once more each time. */
const RUN_POINTS: readonly FailpointName[] = [
  'lock.granted',
  'assign.recorded',
  'log.opened',
  'assign.started',
  'publish.asked',
  'publish.beforeCommit',
  'publish.committed',
];

const taskPoints: Step = async (run) => {
  for (const [action, points, because] of [
    ['kill', TASK_POINTS, /the process of the task ended by SIGKILL before it was done/],
    ['fill', FULL_DISK_POINTS, /^the disk is full/],
  ] as const)
    for (const point of points) {
      run.arm(action, point);
      const task = await run.submit(run.append().payload);
      await run.fails(task, because);
      assert.not(run.isArmed, `${point} is not reached`);
    }
  await run.check();
};

const publishedTask: Step = async (run) => {
  run.arm('kill', 'task.published');
  const batch = run.append();
  await run.succeeds(await run.submit(batch.payload));
  run.acknowledge(batch);
  await run.check();
};

const submission: Step = async (run) => {
  const unknown = run.append();
  run.arm('kill', 'submit.beforeCommit');
  assert.is(await run.submit(unknown.payload).catch(() => null), null);
  await run.revive(null);
  assert.is(await run.statusOf(`append-${unknown.batch}`), undefined);
  const batch = run.append();
  run.arm('kill', 'submit.committed');
  assert.is(await run.submit(batch.payload).catch(() => null), null);
  for (const point of RUN_POINTS) await run.revive(point);
  await run.revive(null);
  await run.succeeds(`append-${batch.batch}`);
  run.acknowledge(batch);
  await run.check();
};

const ends: Step = async (run) => {
  for (const point of ['end.beforeCommit', 'end.committed'] as const) {
    const batch = run.append();
    run.arm('kill', point);
    await run.submit(batch.payload);
    await run.revive(null);
    await run.succeeds(`append-${batch.batch}`);
    run.acknowledge(batch);
  }
  await run.check();
};

const handoff: Step = async (run) => {
  const batch = run.append();
  run.arm('fill', 'load.copied');
  await run.succeeds(await run.submit(batch.payload));
  run.acknowledge(batch);
  await run.check();
  const next = run.append();
  run.arm('kill', 'load.copied');
  const task = await run.submit(next.payload);
  await run.revive('load.described');
  await run.revive(null);
  await run.succeeds(task);
  run.acknowledge(next);
  await run.check();
};

/** A compaction stands still while rows are appended, and takes them along, though the Overlord dies in the middle. */
const appendsBesideCompaction: Step = async (run) => {
  const concurrent = { useConcurrentLocks: true };
  run.arm('stop', 'compact.beforePublish');
  const compaction = await run.submit(run.compaction('beside', concurrent));
  await run.atPoint();
  for (let count = 0; count < 2; count++) {
    const batch = run.append(40, concurrent);
    await run.succeeds(await run.submit(batch.payload));
    run.acknowledge(batch);
  }
  await run.check();
  run.arm('kill', 'carry.placed');
  run.signalTask(compaction, 'SIGCONT');
  await run.revive(null);
  await run.succeeds(compaction);
  await run.check();
};

const compaction: Step = async (run) => {
  for (const point of ['compact.unitBuilt', 'compact.beforePublish', 'compact.published'] as const) {
    run.arm('kill', point);
    const task = await run.submit(run.compaction(`compact-${point}`));
    if (point === 'compact.published') await run.succeeds(task);
    else await run.fails(task, /SIGKILL/);
    await run.check();
  }
};

/** Segments that the compactions have replaced, and those of a mark, are removed for good. */
const kills: Step = async (run) => {
  run.arm('kill', 'mark.committed');
  await callJson('POST', `${run.url}/svc/coordinator/v1/datasources/ledger/markUnused`, { interval: '1980-01-01/1981-01-01' }).catch(
    () => null,
  );
  await run.revive('kill.beforeCommit', { ready: true });
  const task = await run.submit({ type: 'kill', id: 'kill', dataSource: 'ledger', interval: '1970-01-01/1971-01-01', batchSize: 2 });
  await run.revive('kill.rowsRemoved');
  await run.revive('kill.fileRemoved');
  await run.revive(null);
  await run.succeeds(task);
  await run.check();
};

const results: Step = async (run) => {
  const select = async (): Promise<string> => {
    const body = { query: 'SELECT * FROM ledger', context: { executionMode: 'ASYNC', selectDestination: 'durableStorage' } };
    return ((await callJson('POST', `${run.url}/svc/v2/sql/statements`, body)) as { queryId: string }).queryId;
  };
  for (const [action, point, because] of [
    ['kill', 'results.written', /SIGKILL/],
    ['fill', 'results.written', /the disk is full/],
    ['kill', 'results.pushed', /SIGKILL/],
  ] as const) {
    run.arm(action, point);
    await run.fails(await select(), because);
  }
  run.arm('kill', 'results.removed');
  await run.revive(null);
};

/** A file that nobody knows is there after the task that pushed it died; the duty dies with the first it removes. */
const orphans: Step = async (run) => {
  run.arm('stop', 'storage.pushed');
  const task = await run.submit(run.append().payload);
  await run.atPoint();
  run.arm('kill', 'orphans.removed');
  run.signalTask(task, 'SIGKILL');
  await run.revive(null);
  await run.check();
};

const STEPS: readonly Step[] = [
  taskPoints,
  publishedTask,
  submission,
  ends,
  handoff,
  appendsBesideCompaction,
  compaction,
  kills,
  results,
  orphans,
];

/** Runs all steps over one folder; what it has found is in `run`, also when a step has thrown. */
export async function runSteps(run: FailpointRun): Promise<void> {
  await run.start();
  for (const step of STEPS) await step(run);
  await run.check();
  await run.checkLeftovers();
}
