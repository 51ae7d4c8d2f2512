import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { Interval } from '../../src/base/instant.js';
import { parseJson } from '../../src/base/json.js';
import type { Coordination, Member } from '../../src/cluster/membership/coordination.js';
import { describeKillTask, isKillPayload } from '../../src/cluster/overlord/kill-task.js';
import { Overlord } from '../../src/cluster/overlord/overlord.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { MiddleManagerService, TaskAssignment } from '../../src/cluster/rpc/services.js';
import { StorageOwner } from '../../src/cluster/storage-owner.js';
import type { TaskDescription } from '../../src/ingestion/contract.js';
import type { Database } from '../../src/metadata/database.js';
import { takeLease } from '../../src/metadata/leadership.js';
import { locksOfTask } from '../../src/metadata/locks.js';
import { selectSegments } from '../../src/metadata/segments.js';
import { findTask, type TaskState } from '../../src/metadata/tasks.js';
import { DAY, day, openMetadata, pushed } from '../metadata/fixture.js';
import { memoryStorage } from './fakes.js';

const EVERYTHING: Interval = { start: -1000 * DAY, end: 1000 * DAY };

interface Payload {
  readonly id: string;
  readonly dataSource?: string;
  readonly replace?: readonly Interval[];
  readonly priority?: number;
}

function describe(payload: unknown): TaskDescription {
  const { id, dataSource = 'ds', replace, priority } = payload as Payload;
  if (id === undefined) throw new ServiceError('input_invalid', 'id is missing');
  return {
    type: 'index',
    dataSource,
    id,
    groupId: null,
    context: priority === undefined ? {} : { priority },
    mode: replace === undefined ? { kind: 'append' } : { kind: 'replace', intervals: replace },
    spec: {},
  };
}

/** A worker process that accepts what it has slots for and runs it until the test says otherwise. */
class Worker implements MiddleManagerService {
  readonly running: string[] = [];
  /** Numbers of the runs it was given. */
  readonly attempts: number[] = [];
  readonly member: Member;
  enabled = true;
  failure: ServiceError | null = null;
  capacity: number;

  constructor(host: string, session: string, capacity = 10) {
    this.member = { role: 'middleManager', host, session, details: {} };
    this.capacity = capacity;
  }

  async status() {
    const { host, session } = this.member;
    return { host, session, category: 'c', capacity: this.capacity, enabled: this.enabled, runningTasks: this.running, lastCompletedMs: 0 };
  }

  async assign({ taskId, attempt }: TaskAssignment) {
    if (this.failure !== null) throw this.failure;
    this.attempts.push(attempt);
    this.running.push(taskId);
  }

  async shutdownTask(taskId: string) {
    this.running.splice(this.running.indexOf(taskId), 1);
  }

  progress = async () => null;
  log = async () => null;
}

interface Context {
  database: Database;
  workers: Worker[];
  overlord: Overlord;
  /** Another overlord takes over, as after a restart. */
  succeed(): Promise<Overlord>;
  close(): Promise<void>;
}

const overlords = suite<Context>('overlord');

overlords.before.each(async (context) => {
  const { database, close } = await openMetadata();
  const workers = [new Worker('w:1', 's1')];
  const led: Overlord[] = [];
  const peers = {
    all: () => workers.map((worker) => ({ host: worker.member.host, session: worker.member.session, service: worker })),
    at: (_role: string, host: string) => workers.find((worker) => worker.member.host === host),
    leading: () => ({ wake: async () => undefined, cleanUp: async () => undefined }),
  } as unknown as Peers;
  const coordination: Pick<Coordination, 'members'> = { members: () => workers.map((worker) => worker.member) };
  const storage = memoryStorage();
  const succeed = async () => {
    const overlord = new Overlord({
      database,
      storage,
      owner: new StorageOwner(storage),
      coordination,
      peers,
      readTask: async (document) => {
        const payload = parseJson(document);
        return { document, description: isKillPayload(payload) ? describeKillTask(payload) : describe(payload) };
      },
      results: null,
      resultsRetainMs: 1000,
      periodMs: 10,
      queueMax: 8,
      assignmentTries: 3,
      assignmentTimeoutMs: 100,
      lossesMax: 2,
      now: Date.now,
      log: () => undefined,
    });
    const leader = await takeLease(database, { role: 'overlord', host: 'o', heldEpoch: null, nowMs: Date.now(), leaseMs: 60_000 });
    await overlord.gained({ role: 'overlord', epoch: leader.epoch });
    led.push(overlord);
    return overlord;
  };
  Object.assign(context, {
    database,
    workers,
    succeed,
    overlord: await succeed(),
    close: async () => {
      for (const overlord of led) await overlord.lost();
      await close();
    },
  });
});
overlords.after.each((context) => context.close());

async function untilState(database: Database, id: string, state: TaskState): Promise<void> {
  while ((await findTask(database, id))?.state !== state) await new Promise((resolve) => setTimeout(resolve, 5));
}

const stateOf = async (database: Database, id: string): Promise<TaskState | undefined> => (await findTask(database, id))?.state;
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'nothing was thrown',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );
}

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

overlords('the queue is bounded', async ({ overlord, workers }) => {
  const [worker] = workers;
  if (worker !== undefined) worker.enabled = false;
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await overlord.submit(JSON.stringify({ id }));
  assert.is(await codeOf(overlord.submit(JSON.stringify({ id: 'i' }))), 'capacity_exceeded');
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
    assert.ok((await overlord.tasks()).some(({ id, type }) => id === second && type === 'kill'));
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
