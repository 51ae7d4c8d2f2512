import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { Database } from '../../src/metadata/database.js';
import { locksOfTask } from '../../src/metadata/locks.js';
import { selectSegments } from '../../src/metadata/segments.js';
import { findTask } from '../../src/metadata/tasks.js';
import { day, pushed, runningTask } from '../metadata/fixture.js';

import { codeOf, overlordSuite, settle, stateOf, untilState, Worker } from './leading-overlord.js';

/** Runs of tasks whose worker ends, is lost, or does not answer. */
const overlords = overlordSuite('runs of tasks');

overlords('a task whose worker is gone runs again under its lock; one that had published succeeded', async (context) => {
  const { database, overlord, workers } = context;
  await overlord.submit(JSON.stringify({ id: 'early' }));
  await overlord.submit(JSON.stringify({ id: 'late' }));
  await untilState(database, 'early', 'RUNNING');
  await untilState(database, 'late', 'RUNNING');
  const locks = await locksOfTask(database, 'early');
  await overlord.publish(
    { taskId: 'late', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'append' } },
    { session: 's1', attempt: 1 },
  );
  // The same address, started anew: it knows nothing of its predecessor's tasks.
  const second = new Worker('w:1', 's2');
  workers.splice(0, 1, second);
  await untilState(database, 'late', 'SUCCESS');
  while (second.running.length === 0) await settle();
  assert.equal(second.running, ['early']);
  assert.equal(second.attempts, [2]);
  assert.equal(await locksOfTask(database, 'early'), locks);
  // The first worker was only taken for gone: its run may publish no more.
  const request = { taskId: 'early', dataSource: 'ds', segments: [pushed(day(1))], mode: { kind: 'append' } } as const;
  assert.is(await codeOf(overlord.publish(request, { session: 's1', attempt: 1 })), 'conflict');
  assert.is((await overlord.publish(request, { session: 's2', attempt: 2 })).length, 1);
});

overlords('a run whose assignment was not answered counts once it has published', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  const request = { taskId: 'a', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'append' } } as const;
  const assign = async () => {
    await overlord.publish(request, { session: 's1', attempt: 1 });
    throw new ServiceError('timeout', 'no answer');
  };
  if (worker !== undefined) Object.assign(worker, { assign });
  await overlord.submit(JSON.stringify({ id: 'a' }));
  await untilState(database, 'a', 'SUCCESS');
  assert.is((await selectSegments(database, {})).length, 1);
  assert.equal(await locksOfTask(database, 'a'), []);
});

overlords('runs that do not count are stopped, and their ends say nothing', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  worker?.running.push('stray');
  await overlord.submit(JSON.stringify({ id: 'a' }));
  await untilState(database, 'a', 'RUNNING');
  await settle();
  assert.equal(worker?.running, ['a']);
  await overlord.taskReturned('a', { session: 's1', attempt: 1 });
  while (worker?.attempts.at(-1) !== 2) await settle();
  await overlord.taskEnded({ taskId: 'a', run: { session: 's1', attempt: 1 }, succeeded: false, errorMessage: 'late', report: null });
  assert.is(await stateOf(database, 'a'), 'RUNNING');
});

overlords('a task that loses worker after worker fails, and gives its lock back', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'a' }));
  for (const session of ['s2', 's3']) {
    while ((workers[0]?.running.length ?? 0) === 0) await settle();
    assert.is(await stateOf(database, 'a'), 'RUNNING');
    workers.splice(0, 1, new Worker('w:1', session));
  }
  await untilState(database, 'a', 'FAILED');
  assert.match(
    (await findTask(database, 'a'))?.error ?? '',
    /worker w:1 .* is gone, and so were 1 before it; nothing of it was published \(svc.indexer.runner.taskLossesMax\)/,
  );
  assert.equal(await locksOfTask(database, 'a'), []);
});

overlords('a worker that ends gives its tasks back as often as it likes', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  await overlord.submit(JSON.stringify({ id: 'published' }));
  await untilState(database, 'published', 'RUNNING');
  await overlord.submit(JSON.stringify({ id: 'a' }));
  for (let attempt = 1; attempt <= 4; attempt++) {
    while (worker?.attempts.at(-1) !== attempt || !worker.running.includes('a')) await settle();
    worker.running.splice(worker.running.indexOf('a'), 1);
    // Somebody else's word counts for nothing.
    await overlord.taskReturned('a', { session: 'another session', attempt });
    assert.is(await stateOf(database, 'a'), 'RUNNING');
    await overlord.taskReturned('a', { session: 's1', attempt: attempt - 1 });
    assert.is(await stateOf(database, 'a'), 'RUNNING');
    await overlord.taskReturned('a', { session: 's1', attempt });
  }
  assert.is.not(await stateOf(database, 'a'), 'FAILED');
  const request = { taskId: 'published', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'append' } } as const;
  await overlord.publish(request, { session: 's1', attempt: 1 });
  await overlord.taskReturned('published', { session: 's1', attempt: 1 });
  assert.is(await stateOf(database, 'published'), 'SUCCESS');
});

/** A run that a leader recorded before it ended: no worker has heard of it. */
async function recordRun(database: Database, id: string): Promise<void> {
  await runningTask(database, id, 'shared', [day(0)], 'ds', 1);
  await database.rows("UPDATE tasks SET worker_host = 'w:1', worker_session = 's1', payload = ? WHERE id = ?", [
    JSON.stringify({ id }),
    id,
  ]);
}

overlords('a run that its worker has never heard of begins again', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  await recordRun(database, 'a');
  if (worker !== undefined) worker.endingTasks = [];
  overlord.wake();
  while (worker?.attempts.at(-1) !== 2) await settle();
  assert.equal(worker?.running, ['a']);
});

overlords('a run whose end its worker is about to tell, or may not be able to, stays', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  await recordRun(database, 'a');
  for (const endingTasks of [undefined, ['a']]) {
    if (worker !== undefined) worker.endingTasks = endingTasks;
    // Two rounds: what the first has found out is not asked again.
    for (let round = 0; round < 2; round++) {
      await overlord.submit(JSON.stringify({ id: `${endingTasks} ${round}` }));
      while (worker?.running.includes(`${endingTasks} ${round}`) !== true) await settle();
    }
    assert.is((await findTask(database, 'a'))?.attempts, 1);
  }
});

overlords.run();
