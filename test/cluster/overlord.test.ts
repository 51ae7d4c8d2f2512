import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { Interval } from '../../src/base/instant.js';
import { describeKillTask } from '../../src/cluster/overlord/kill-task.js';
import type { TaskAssignment } from '../../src/cluster/rpc/services.js';
import { locksOfTask } from '../../src/metadata/locks.js';
import { selectSegments } from '../../src/metadata/segments.js';
import { findTask } from '../../src/metadata/tasks.js';
import { DAY, day, pushed } from '../metadata/fixture.js';

import { codeOf, EVERYTHING, overlordSuite, settle, stateOf, untilState, Worker } from './leading-overlord.js';

const overlords = overlordSuite('overlord');

overlords('a task runs and its end is told', async ({ database, overlord, workers }) => {
  assert.equal(await overlord.submit(JSON.stringify({ id: 'a' })), { taskId: 'a' });
  await untilState(database, 'a', 'RUNNING');
  assert.equal(workers[0]?.running, ['a']);
  await overlord.taskEnded({
    taskId: 'a',
    run: { session: 's1', attempt: 1 },
    succeeded: true,
    errorMessage: null,
    report: { rows: 2n ** 60n },
  });
  assert.is(await stateOf(database, 'a'), 'SUCCESS');
  assert.equal(await locksOfTask(database, 'a'), []);
});

overlords('tasks that cannot run are refused at once, a taken id is a conflict', async ({ database, overlord }) => {
  assert.is(await codeOf(overlord.submit(JSON.stringify({}))), 'input_invalid');
  assert.is(await codeOf(overlord.submit(JSON.stringify({ id: '../escape' }))), 'input_invalid');
  await overlord.submit(JSON.stringify({ id: 'a' }));
  assert.is(await codeOf(overlord.submit(JSON.stringify({ id: 'a' }))), 'conflict');
  assert.is(await stateOf(database, '../escape'), undefined);
});

overlords('tasks that would write the same intervals wait for each other, in order', async ({ database, overlord }) => {
  await overlord.submit(JSON.stringify({ id: 'first', replace: [day(0)] }));
  await untilState(database, 'first', 'RUNNING');
  await overlord.submit(JSON.stringify({ id: 'second', replace: [EVERYTHING] }));
  await overlord.submit(JSON.stringify({ id: 'third' }));
  await overlord.submit(JSON.stringify({ id: 'elsewhere', dataSource: 'other', replace: [EVERYTHING] }));
  await untilState(database, 'elsewhere', 'RUNNING');
  await settle();
  // The third could run beside the first, but would then keep the second waiting.
  assert.equal([await stateOf(database, 'second'), await stateOf(database, 'third')], ['WAITING', 'WAITING']);
  await overlord.taskEnded({ taskId: 'first', run: { session: 's1', attempt: 1 }, succeeded: true, errorMessage: null, report: null });
  await untilState(database, 'second', 'RUNNING');
  await settle();
  assert.is(await stateOf(database, 'third'), 'WAITING');
  await overlord.taskEnded({ taskId: 'second', run: { session: 's1', attempt: 1 }, succeeded: false, errorMessage: 'x', report: null });
  await untilState(database, 'third', 'RUNNING');
});

overlords('a task of higher priority takes the locks of those below it, unless they have published', async (context) => {
  const { database, overlord, workers } = context;
  const submit = (id: string, priority: number, replace?: readonly Interval[]) =>
    overlord.submit(JSON.stringify({ id, priority, replace }));
  await submit('low', 25, [day(0)]);
  await submit('published', 25, [day(1)]);
  await submit('equal', 50, [day(2)]);
  for (const id of ['low', 'published', 'equal']) await untilState(database, id, 'RUNNING');
  const request = {
    taskId: 'published',
    dataSource: 'ds',
    segments: [pushed(day(1))],
    mode: { kind: 'replace', intervals: [day(1)] },
  } as const;
  await overlord.publish(request, { session: 's1', attempt: 1 });
  await submit('high', 50, [day(0)]);
  await untilState(database, 'high', 'RUNNING');
  const low = await findTask(database, 'low');
  assert.is(low?.state, 'FAILED');
  assert.match(low?.error ?? '', /its lock was taken for the task high, whose priority is 50, above 25; nothing of it was published/);
  assert.equal(await locksOfTask(database, 'low'), []);
  assert.not.ok(workers[0]?.running.includes('low'));
  assert.is(
    await codeOf(
      overlord.publish({ ...request, taskId: 'low', mode: { kind: 'replace', intervals: [day(0)] } }, { session: 's1', attempt: 1 }),
    ),
    'conflict',
  );
  // One of two that are in the way has published: neither is ended.
  await submit('lower', 25, [day(3)]);
  await untilState(database, 'lower', 'RUNNING');
  await submit('both', 75, [{ start: day(1).start, end: day(3).end + DAY }]);
  await submit('same', 50, [day(2)]);
  await settle();
  assert.equal([await stateOf(database, 'both'), await stateOf(database, 'same')], ['WAITING', 'WAITING']);
  assert.is(await stateOf(database, 'lower'), 'RUNNING');
  await overlord.taskEnded({ taskId: 'published', run: { session: 's1', attempt: 1 }, succeeded: true, errorMessage: null, report: null });
  await untilState(database, 'both', 'RUNNING');
  assert.equal([await stateOf(database, 'equal'), await stateOf(database, 'lower')], ['FAILED', 'FAILED']);
});

overlords('a task that reads a stream holds the chunks that it has segments in, and no other time', async ({ database, overlord }) => {
  const submit = (id: string, priority: number, replace?: readonly Interval[]) =>
    overlord.submit(JSON.stringify({ id, priority, replace, type: replace === undefined ? 'index_kafka' : 'index' }));
  const allocate = (interval: Interval) =>
    overlord.allocateSegment({ dataSource: 'ds', sequence: 'q', interval }, { taskId: 'stream', run: { session: 's1', attempt: 1 } });
  await submit('stream', 75);
  await untilState(database, 'stream', 'RUNNING');
  assert.equal(await locksOfTask(database, 'stream'), []);
  const first = await allocate(day(1));
  assert.equal(await allocate(day(1)), first);
  for (const [id, priority, at] of [
    ['older', 50, 0],
    ['newer', 90, 2],
    ['here', 50, 1],
  ] as const)
    await submit(id, priority, [day(at)]);
  await untilState(database, 'older', 'RUNNING');
  await untilState(database, 'newer', 'RUNNING');
  await settle();
  assert.is(await stateOf(database, 'here'), 'WAITING');
  // Late rows take their time from a task of lower priority, and wait for one of higher.
  await allocate(day(0));
  assert.is(await stateOf(database, 'older'), 'FAILED');
  assert.is(await codeOf(allocate(day(2))), 'unavailable');
  assert.equal(
    (await locksOfTask(database, 'stream')).map(({ interval, kind }) => [interval, kind]),
    [
      [day(1), 'shared'],
      [day(0), 'shared'],
    ],
  );
  await overlord.taskEnded({ taskId: 'newer', run: { session: 's1', attempt: 1 }, succeeded: true, errorMessage: null, report: null });
  await allocate(day(2));
  await overlord.taskEnded({ taskId: 'stream', run: { session: 's1', attempt: 1 }, succeeded: true, errorMessage: null, report: null });
  await untilState(database, 'here', 'RUNNING');
});

overlords('appends to the same intervals run side by side', async ({ database, overlord }) => {
  await overlord.submit(JSON.stringify({ id: 'a' }));
  await overlord.submit(JSON.stringify({ id: 'b' }));
  await untilState(database, 'a', 'RUNNING');
  await untilState(database, 'b', 'RUNNING');
});

overlords('a task waits for a slot and then goes by priority', async ({ database, overlord, workers }) => {
  const worker = workers[0];
  if (worker !== undefined) worker.enabled = false;
  await overlord.submit(JSON.stringify({ id: 'low', dataSource: 'x', priority: 1 }));
  await overlord.submit(JSON.stringify({ id: 'high', dataSource: 'y', priority: 9 }));
  await untilState(database, 'low', 'PENDING');
  await untilState(database, 'high', 'PENDING');
  if (worker !== undefined) {
    worker.capacity = 1;
    worker.enabled = true;
  }
  await untilState(database, 'high', 'RUNNING');
  await settle();
  assert.is(await stateOf(database, 'low'), 'PENDING');
});

overlords('a worker that refuses leaves the task pending for another', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  if (worker !== undefined) worker.failure = new ServiceError('capacity_exceeded', 'full');
  await overlord.submit(JSON.stringify({ id: 'a' }));
  await untilState(database, 'a', 'PENDING');
  await settle();
  workers.push(new Worker('w:2', 's2', 20));
  await untilState(database, 'a', 'RUNNING');
  while (workers[1]?.running.length === 0) await settle();
  assert.is((await findTask(database, 'a'))?.workerHost, 'w:2');
});

overlords('a task that no worker can start fails with its reason and gives its lock back; others go on', async (context) => {
  const { database, overlord, workers, succeed } = context;
  const [worker] = workers;
  const assign = worker?.assign.bind(worker);
  let tries = 0;
  const refuseBad = async (assignment: TaskAssignment) => {
    if (assignment.taskId !== 'bad') return assign?.(assignment);
    tries++;
    throw new ServiceError('internal', 'ENAMETOOLONG: name too long');
  };
  if (worker !== undefined) Object.assign(worker, { assign: refuseBad, capacity: 2 });
  await overlord.submit(JSON.stringify({ id: 'bad', priority: 100, replace: [EVERYTHING] }));
  await overlord.submit(JSON.stringify({ id: 'good', dataSource: 'other' }));
  await overlord.submit(JSON.stringify({ id: 'next', replace: [EVERYTHING] }));
  await untilState(database, 'bad', 'FAILED');
  assert.is(tries, 3);
  assert.match((await findTask(database, 'bad'))?.error ?? '', /^no worker could start the task; w:1 said last: ENAMETOOLONG/);
  assert.equal(await locksOfTask(database, 'bad'), []);
  await untilState(database, 'good', 'RUNNING');
  // The same for a queue that an earlier process left.
  await overlord.lost();
  await database.rows("UPDATE tasks SET state = 'PENDING', error = NULL WHERE id = 'bad'");
  if (worker !== undefined) worker.capacity = 10;
  await succeed();
  await untilState(database, 'bad', 'FAILED');
  await untilState(database, 'next', 'RUNNING');
});

overlords('a task whose workers do not answer fails after a while, one that waits for a slot does not', async (context) => {
  const { database, overlord, workers } = context;
  const [worker] = workers;
  if (worker !== undefined) worker.failure = new ServiceError('capacity_exceeded', 'full');
  await overlord.submit(JSON.stringify({ id: 'patient' }));
  await untilState(database, 'patient', 'PENDING');
  await settle();
  await settle();
  await settle();
  assert.is.not(await stateOf(database, 'patient'), 'FAILED');
  if (worker !== undefined) worker.failure = new ServiceError('unavailable', 'cannot reach w:1');
  await untilState(database, 'patient', 'FAILED');
});

overlords('a task that cannot be read does not hold up the queue', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  if (worker !== undefined) worker.enabled = false;
  await overlord.submit(JSON.stringify({ id: 'broken', priority: 100 }));
  await overlord.submit(JSON.stringify({ id: 'published' }));
  await untilState(database, 'broken', 'PENDING');
  await untilState(database, 'published', 'PENDING');
  await database.rows("UPDATE tasks SET payload = '{' WHERE id = 'broken'");
  await database.rows("INSERT INTO publications (task_id, load_paths, segment_ids, published_ms) VALUES ('lost', '[', '[', 0)");
  await database.rows(
    "INSERT INTO tasks (id, group_id, type, data_source, state, priority, created_ms, queued_ms, payload) VALUES ('lost', 'g', 'index', 'ds', 'RUNNING', 0, 0, 0, '{}')",
  );
  if (worker !== undefined) worker.enabled = true;
  await untilState(database, 'broken', 'FAILED');
  await untilState(database, 'published', 'RUNNING');
});

overlords('the queue is bounded; tasks that others have submitted are no part of it', async ({ database, overlord, workers }) => {
  const [worker] = workers;
  if (worker !== undefined) worker.enabled = false;
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await overlord.submit(JSON.stringify({ id }));
  assert.is(await codeOf(overlord.submit(JSON.stringify({ id: 'i' }))), 'capacity_exceeded');
  await database.rows("UPDATE tasks SET parent = 'a' WHERE id = 'b'");
  await overlord.submit(JSON.stringify({ id: 'i' }));
});

overlords('shutting down ends the task and its process; a finished one is not found', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'a' }));
  await untilState(database, 'a', 'RUNNING');
  await overlord.shutdownTask('a', 'by request');
  assert.equal(workers[0]?.running, []);
  const task = await findTask(database, 'a');
  assert.equal([task?.state, task?.error], ['FAILED', 'by request']);
  assert.is(await codeOf(overlord.shutdownTask('a', 'again')), 'not_found');
  assert.is(await codeOf(overlord.shutdownTask('unknown', 'x')), 'not_found');
  // Late reports of the process change nothing, and it may no longer publish.
  await overlord.taskEnded({ taskId: 'a', run: { session: 's1', attempt: 1 }, succeeded: true, errorMessage: null, report: null });
  assert.is(await stateOf(database, 'a'), 'FAILED');
  assert.is(
    await codeOf(
      overlord.publish(
        { taskId: 'a', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'append' } },
        { session: 's1', attempt: 1 },
      ),
    ),
    'conflict',
  );
});

overlords('after a restart accepted tasks are still there and go on', async ({ database, overlord, workers, succeed }) => {
  await overlord.submit(JSON.stringify({ id: 'running' }));
  await untilState(database, 'running', 'RUNNING');
  const worker = workers[0];
  if (worker !== undefined) worker.enabled = false;
  await overlord.submit(JSON.stringify({ id: 'pending' }));
  await untilState(database, 'pending', 'PENDING');
  await overlord.lost();
  assert.is(await codeOf(overlord.submit(JSON.stringify({ id: 'nobody leads' }))), 'not_leader');
  const successor = await succeed();
  if (worker !== undefined) worker.enabled = true;
  await untilState(database, 'pending', 'RUNNING');
  assert.is(await stateOf(database, 'running'), 'RUNNING');
  await successor.taskEnded({ taskId: 'running', run: { session: 's1', attempt: 1 }, succeeded: true, errorMessage: null, report: null });
  assert.is(await stateOf(database, 'running'), 'SUCCESS');
});

overlords('a deposed overlord cannot publish', async ({ database, overlord, succeed }) => {
  await overlord.submit(JSON.stringify({ id: 'a' }));
  await untilState(database, 'a', 'RUNNING');
  const request = { taskId: 'a', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'append' } } as const;
  const successor = await succeed();
  assert.is(await codeOf(overlord.publish(request, { session: 's1', attempt: 1 })), 'not_leader');
  assert.equal(await selectSegments(database, {}), []);
  assert.is((await successor.publish(request, { session: 's1', attempt: 1 })).length, 1);
});

overlords(
  'a kill task is listed, removes the unused segments inside its interval and their files, and goes on after a restart',
  async (context) => {
    const { database, overlord, succeed } = context;
    await overlord.submit(JSON.stringify({ id: 'a' }));
    await untilState(database, 'a', 'RUNNING');
    await overlord.publish(
      { taskId: 'a', dataSource: 'ds', segments: [pushed(day(0)), pushed(day(5))], mode: { kind: 'append' } },
      { session: 's1', attempt: 1 },
    );
    await overlord.taskEnded({ taskId: 'a', run: { session: 's1', attempt: 1 }, succeeded: true, errorMessage: null, report: null });
    const first = await overlord.kill('ds', EVERYTHING);
    await untilState(database, first, 'SUCCESS');
    assert.is((await selectSegments(database, {})).length, 2, 'those in use stay');
    await database.rows('UPDATE segments SET used = 0');
    const second = await overlord.kill('ds', day(0));
    assert.ok((await overlord.tasks(null)).some(({ id, type }) => id === second && type === 'kill'));
    await untilState(database, second, 'SUCCESS');
    assert.is((await selectSegments(database, {})).length, 1);
    assert.equal(await locksOfTask(database, second), []);
    // One that an earlier process had begun.
    await overlord.lost();
    await database.rows("UPDATE tasks SET state = 'RUNNING', finished_ms = NULL WHERE id = ?", [first]);
    await succeed();
    await untilState(database, first, 'SUCCESS');
    assert.equal(await selectSegments(database, {}), []);
    for (const payload of [
      { type: 'kill' },
      { type: 'kill', dataSource: 'ds', interval: 'x' },
      { type: 'kill', dataSource: 'ds', interval: '2000/2001', more: 1 },
    ])
      assert.throws(
        () => describeKillTask(payload),
        (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid',
      );
  },
);

overlords.run();
