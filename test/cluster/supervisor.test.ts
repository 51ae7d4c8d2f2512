import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseSupervisorSpec } from '../../src/ingestion/stream/supervisor-spec.js';
import { fencedTransaction } from '../../src/metadata/leadership.js';
import { claimOffsets, findOffsets } from '../../src/metadata/stream-offsets.js';
import { finishTask } from '../../src/metadata/tasks.js';
import { open, openWorld, publish, reading, specOf, taskOf, type World } from './supervisor-world.js';

const suites = suite<World>('supervisors and their groups of tasks');

suites.before.each(openWorld);
suites.after.each((world) => world.close());

suites('replicas, which are all made at once, are at most 100', () => {
  assert.is(parseSupervisorSpec(specOf({ replicas: 100 }, {}, {})).io.replicas, 100);
  for (const replicas of [101, 1e300, 0, 1.5]) assert.throws(() => parseSupervisorSpec(specOf({ replicas }, {}, {})), /ioConfig\.replicas/);
});

suites('partitions are divided over groups, each with its replicas; a second look makes none', async (world) => {
  const supervisor = open(world, { taskCount: 2, replicas: 2 });
  await supervisor.runOnce();
  assert.equal(reading(supervisor), [
    { id: 0, tasks: 2, start: { 0: '5' } },
    { id: 1, tasks: 2, start: { 1: '5' } },
  ]);
  const names = [...world.tasks.values()].map(({ payload }) => payload.ioConfig.baseSequenceName);
  assert.is(new Set(names).size, 2);
  await supervisor.runOnce();
  assert.is(world.tasks.size, 4);
  assert.is(supervisor.state.detailed, 'RUNNING');
  // The beginning is stored, so that nothing else can be published first.
  assert.equal(
    (await findOffsets(world.database, 'ds'))?.offsets,
    new Map([
      ['0', '5'],
      ['1', '5'],
    ]),
  );
});

suites('without useEarliestOffset reading begins at the ends, but for partitions that come later', async (world) => {
  const supervisor = open(world, { useEarliestOffset: false });
  await supervisor.runOnce();
  assert.equal(reading(supervisor), [{ id: 0, tasks: 1, start: { 0: '100', 1: '100' } }]);
  world.stream.partitions = ['0', '1', '2'];
  world.nowMs += 3_600_001;
  await supervisor.runOnce();
  assert.equal(reading(supervisor), [{ id: 0, tasks: 1, start: { 0: '100', 1: '100', 2: '5' } }]);
});

suites('after its duration a group publishes, and the next begins at its end; replicas end alike', async (world) => {
  const supervisor = open(world, { replicas: 2, taskDuration: 'PT1H' });
  await supervisor.runOnce();
  const [one, two] = [...world.tasks.values()];
  one?.at.set('0', '20');
  two?.at.set('0', '30').set('1', '9');
  world.nowMs += 3_600_001;
  await supervisor.runOnce();
  assert.equal(
    [one?.ends, two?.ends],
    [
      new Map([
        ['0', '30'],
        ['1', '9'],
      ]),
      new Map([
        ['0', '30'],
        ['1', '9'],
      ]),
    ],
  );
  assert.is(supervisor.groups.publishing.length, 1);
  assert.equal(reading(supervisor), [{ id: 0, tasks: 2, start: { 0: '30', 1: '9' } }]);
  if (one !== undefined) await publish(world, one);
  await supervisor.runOnce();
  assert.is(supervisor.groups.publishing.length, 0);
  assert.equal(world.killed.length, 1, 'the replica of a group that has published is not needed');
  assert.equal(
    (await findOffsets(world.database, 'ds'))?.offsets,
    new Map([
      ['0', '30'],
      ['1', '9'],
    ]),
  );
});

suites('a lost task is replaced from what is published; groups behind one that fails to publish begin there too', async (world) => {
  const supervisor = open(world, { completionTimeout: 'PT1M' });
  await supervisor.runOnce();
  const first = taskOf(world, supervisor);
  await finishTask(world.database, first.payload.id, { succeeded: false, error: 'gone', report: null }, world.nowMs);
  await supervisor.runOnce();
  const second = taskOf(world, supervisor);
  assert.is.not(second.payload.id, first.payload.id);
  assert.equal(second.payload.ioConfig.startSequenceNumbers.partitionSequenceNumberMap, { 0: 5, 1: 5 });
  second.at = new Map([
    ['0', '40'],
    ['1', '40'],
  ]);
  world.nowMs += 3_600_001;
  await supervisor.runOnce();
  assert.equal(reading(supervisor)[0]?.start, { 0: '40', 1: '40' });
  world.nowMs += 60_001;
  await supervisor.runOnce();
  assert.equal(reading(supervisor)[0]?.start, { 0: '5', 1: '5' });
  assert.is(supervisor.groups.publishing.length, 0);
});

suites('a task whose stream is gone has all replicas publish up to the furthest of them', async (world) => {
  const supervisor = open(world, { replicas: 2 });
  await supervisor.runOnce();
  const [one, two] = [...world.tasks.values()];
  one?.at.set('0', '50');
  const offsets = new Map([
    ['0', '5'],
    ['1', '5'],
  ]);
  const start = { kind: 'kafka' as const, stream: 'events', offsets, exclusive: new Set<string>() };
  for (const task of [one, two])
    await supervisor.checkpoint({ supervisorId: 'ds', taskId: task?.payload.id ?? '', taskGroupId: 0, start, finish: true });
  assert.is(supervisor.groups.reading.size, 0);
  assert.is(supervisor.groups.publishing.length, 1);
  assert.equal(Object.fromEntries(supervisor.groups.next), { 0: '50', 1: '5' });
});

suites('a topic that was made anew with fewer messages halts the supervisor', async (world) => {
  await fencedTransaction(world.database, world.fence, (queries) =>
    claimOffsets(queries, 'ds', 'ds', {
      kind: 'kafka',
      stream: 'events',
      offsets: new Map([
        ['0', '101'],
        ['1', '100'],
      ]),
      exclusive: new Set(),
    }),
  );
  const supervisor = open(world);
  await supervisor.runOnce();
  assert.is(world.tasks.size, 0);
  assert.match(supervisor.state.errors.at(-1)?.message ?? '', /does not have the stored offset 101 of partition 0 any more; reset/);
});

suites('a checkpoint ends the sequence of all replicas at the furthest offsets, once however many ask', async (world) => {
  const supervisor = open(world, { replicas: 2 });
  await supervisor.runOnce();
  const [one, two] = [...world.tasks.values()];
  one?.at.set('0', '50');
  const start = {
    kind: 'kafka' as const,
    stream: 'events',
    offsets: new Map([
      ['0', '5'],
      ['1', '5'],
    ]),
    exclusive: new Set<string>(),
  };
  for (const task of [one, two])
    await supervisor.checkpoint({ supervisorId: 'ds', taskId: task?.payload.id ?? '', taskGroupId: 0, start, finish: false });
  assert.equal(
    [...(two?.sequences ?? [])],
    [
      [0, start.offsets],
      [
        1,
        new Map([
          ['0', '50'],
          ['1', '5'],
        ]),
      ],
    ],
  );
  assert.is(one?.sequences.size, 2);
  // A task that joins later begins with the same sequences.
  await finishTask(world.database, two?.payload.id ?? '', { succeeded: false, error: 'gone', report: null }, world.nowMs);
  await supervisor.runOnce();
  const joined = [...world.tasks.values()].at(-1);
  assert.equal(JSON.parse(joined?.payload.context.checkpoints ?? ''), { 0: { 0: 5, 1: 5 }, 1: { 0: 50, 1: 5 } });
});

suites('another Overlord adopts the tasks that read as its spec says, and those that publish; it ends the others', async (world) => {
  const before = open(world, { taskCount: 2 });
  await before.runOnce();
  const publishing = taskOf(world, before, 1);
  publishing.state = 'PUBLISHING';
  publishing.ends = new Map([['1', '77']]);
  await before.leave();
  const after = open(world, { taskCount: 2 });
  await after.runOnce();
  assert.equal(reading(after), [
    { id: 0, tasks: 1, start: { 0: '5' } },
    { id: 1, tasks: 1, start: { 1: '77' } },
  ]);
  assert.is(after.groups.publishing.length, 1);
  assert.is(world.tasks.size, 3);
  const changed = open(world, { taskCount: 1 });
  await changed.runOnce();
  assert.equal(reading(changed), [{ id: 0, tasks: 1, start: { 0: '5', 1: '77' } }]);
  assert.is(world.killed.length, 2);
});

suites.run();
