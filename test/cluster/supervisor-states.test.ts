import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../src/base/errors.js';
import { statusBody } from '../../src/cluster/overlord/supervisor/report.js';
import { Supervisors } from '../../src/cluster/overlord/supervisor/supervisors.js';
import { activeSupervisors } from '../../src/metadata/supervisors.js';
import { finishTask } from '../../src/metadata/tasks.js';
import { open, openWorld, publish, reading, specOf, taskOf, type World } from './supervisor-world.js';

const suites = suite<World>('states and specs of supervisors');

suites.before.each(openWorld);
suites.after.each((world) => world.close());

suites('a suspended supervisor has its tasks publish; reset forgets, resetOffsets moves', async (world) => {
  const supervisor = open(world);
  await supervisor.runOnce();
  const task = taskOf(world, supervisor);
  const suspended = open(world, {}, {}, { suspended: true });
  await suspended.runOnce();
  assert.is(task.state, 'PUBLISHING');
  assert.equal(reading(suspended), []);
  assert.is(suspended.state.basic, 'SUSPENDED');
  task.at = new Map([
    ['0', '60'],
    ['1', '60'],
  ]);
  await publish(world, task);
  const resumed = open(world);
  await resumed.runOnce();
  assert.equal(reading(resumed)[0]?.start, { 0: '60', 1: '60' });
  await resumed.resetOffsets({ kind: 'kafka', stream: 'events', offsets: new Map([['1', '10']]), exclusive: new Set() });
  await resumed.runOnce();
  assert.equal(reading(resumed)[0]?.start, { 0: '60', 1: '10' });
  const name = taskOf(world, resumed).payload.ioConfig.baseSequenceName;
  await resumed.reset();
  await resumed.runOnce();
  assert.equal(reading(resumed)[0]?.start, { 0: '5', 1: '5' });
  // Sequences after a reset have other names, also where they begin alike.
  assert.is.not(taskOf(world, resumed).payload.ioConfig.baseSequenceName, name);
  await resumed.resetOffsets({ kind: 'kafka', stream: 'other', offsets: new Map([['1', '10']]), exclusive: new Set() }).then(
    () => assert.unreachable(),
    (error: ServiceError) => assert.is(error.code, 'input_invalid'),
  );
});

suites('stored offsets that the stream has no more halt the supervisor, or are forgotten where the spec says so', async (world) => {
  const halted = open(world);
  await halted.runOnce();
  await halted.groups.killOver(new Set(['0', '1']), 'test');
  world.stream.low = 50;
  await halted.runOnce();
  assert.equal(reading(halted), []);
  assert.match(halted.state.errors.at(-1)?.message ?? '', /does not have the stored offset 5 of partition 0/);
  const automatic = open(world, {}, { resetOffsetAutomatically: true });
  await automatic.runOnce();
  await automatic.runOnce();
  assert.equal(reading(automatic)[0]?.start, { 0: '50', 1: '50' });
});

suites('states: three runs without the stream, three lost tasks, and back', async (world) => {
  world.stream.isDown = true;
  const supervisor = open(world);
  assert.is(supervisor.state.detailed, 'PENDING');
  await supervisor.runOnce();
  assert.is(supervisor.state.detailed, 'CONNECTING_TO_STREAM');
  await supervisor.runOnce();
  await supervisor.runOnce();
  assert.equal(
    [supervisor.state.detailed, supervisor.state.basic, supervisor.state.isHealthy],
    ['UNABLE_TO_CONNECT_TO_STREAM', 'UNHEALTHY_SUPERVISOR', false],
  );
  world.stream.isDown = false;
  for (let runs = 0; runs < 3; runs++) await supervisor.runOnce();
  assert.is(supervisor.state.detailed, 'RUNNING');
  for (let lost = 0; lost < 3; lost++) {
    await finishTask(world.database, taskOf(world, supervisor).payload.id, { succeeded: false, error: 'gone', report: null }, world.nowMs);
    await supervisor.runOnce();
  }
  assert.is(supervisor.state.detailed, 'UNHEALTHY_TASKS');
});

suites('an idle supervisor makes no tasks until the stream goes on', async (world) => {
  const supervisor = open(world, { idleConfig: { enabled: true, inactiveAfterMillis: 1000 }, useEarliestOffset: false });
  await supervisor.runOnce();
  world.nowMs += 500;
  await supervisor.runOnce();
  world.nowMs += 2000;
  await supervisor.runOnce();
  assert.is(supervisor.state.detailed, 'IDLE');
  world.stream.high = 101;
  await supervisor.runOnce();
  assert.is(supervisor.state.detailed, 'RUNNING');
});

suites('the report tells offsets, lag and what is left of time', async (world) => {
  const supervisor = open(world, { lateMessageRejectionPeriod: 'PT1H' });
  await supervisor.runOnce();
  assert.is(taskOf(world, supervisor).payload.ioConfig.minimumMessageTime, new Date(world.nowMs - 3_600_000).toISOString());
  await supervisor.runOnce();
  taskOf(world, supervisor).at = new Map([
    ['0', '90'],
    ['1', '100'],
  ]);
  await supervisor.refreshOffsets();
  const { payload } = JSON.parse(JSON.stringify(statusBody(supervisor, world.nowMs))) as { payload: Record<string, unknown> };
  assert.equal([payload['minimumLag'], payload['aggregateLag'], payload['latestOffsets']], [{ 0: 10, 1: 0 }, 10, { 0: 100, 1: 100 }]);
  const [task] = payload['activeTasks'] as readonly Record<string, unknown>[];
  assert.equal(
    [task?.['startingOffsets'], task?.['currentOffsets'], task?.['remainingSeconds'], task?.['lag']],
    [{ 0: 5, 1: 5 }, { 0: 90, 1: 100 }, 3600, { 0: 10, 1: 0 }],
  );
});

suites('specs are stored with their secrets and shown without; what is shown may be sent again to the same brokers', async (world) => {
  const supervisors = new Supervisors(world.host);
  const author = { author: 'a', comment: '', ip: '' };
  const options = { onlyIfChanged: false, authorize: () => undefined };
  await supervisors.submit(specOf(), author, options);
  const shown = supervisors.shown('ds') as { spec: { ioConfig: { consumerProperties: Record<string, unknown> } } };
  assert.is(shown.spec.ioConfig.consumerProperties['sasl.jaas.config'], '********');
  await supervisors.submit(shown, author, options);
  assert.match((await activeSupervisors(world.database))[0]?.document ?? '', /"sasl.jaas.config":"secret"/);
  const elsewhere = JSON.parse(JSON.stringify(shown).replaceAll('k:9092', 'evil:9092'));
  await supervisors.submit(elsewhere, author, options).then(
    () => assert.unreachable(),
    (error: ServiceError) => assert.match(error.message, /sasl\.jaas\.config: a hidden value/),
  );
  await supervisors.setSuspended('ds', true, author);
  await supervisors.terminate('ds', author);
  assert.equal(
    (await supervisors.history('ds')).map(({ document }) => document === null),
    [true, false, false, false],
  );
  assert.equal(await activeSupervisors(world.database), []);
  await supervisors.lost();
});

suites('changes of one supervisor follow one another: what is terminated stays so, whatever was asked beside it', async (world) => {
  const supervisors = new Supervisors(world.host);
  const author = { author: 'a', comment: '', ip: '' };
  await supervisors.submit(specOf(), author, { onlyIfChanged: false, authorize: () => undefined });
  const codeOf = (change: Promise<unknown>): Promise<unknown> =>
    change.then(
      () => 'done',
      (error: ServiceError) => error.code,
    );
  const codes = await Promise.all([
    codeOf(supervisors.terminate('ds', author)),
    codeOf(supervisors.setSuspended('ds', true, author)),
    codeOf(supervisors.terminate('ds', author)),
  ]);
  assert.equal(codes, ['done', 'not_found', 'not_found']);
  assert.equal([supervisors.list(), await activeSupervisors(world.database)], [[], []]);
  assert.equal(
    (await supervisors.history('ds')).map(({ document }) => document === null),
    [true, false],
  );
  await supervisors.lost();
});

suites('a supervisor whose spec is written while leadership is lost is begun by the next leader alone', async (world) => {
  const { host } = world;
  const supervisors: Supervisors = new Supervisors({
    ...host,
    fence() {
      void supervisors.lost();
      return host.fence();
    },
  });
  const author = { author: 'a', comment: '', ip: '' };
  await supervisors.submit(specOf(), author, { onlyIfChanged: false, authorize: () => undefined });
  assert.equal(supervisors.list(), []);
  await supervisors.gained();
  assert.equal(
    supervisors.list().map(({ id }) => id),
    ['ds'],
  );
  await supervisors.lost();
});

suites.run();
