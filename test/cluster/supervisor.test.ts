import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { parseJson } from '../../src/base/json.js';
import type { SupervisorHost } from '../../src/cluster/overlord/supervisor/contract.js';
import { statusBody } from '../../src/cluster/overlord/supervisor/report.js';
import { Supervisor } from '../../src/cluster/overlord/supervisor/supervisor.js';
import { Supervisors } from '../../src/cluster/overlord/supervisor/supervisors.js';
import type { ChatRequest } from '../../src/ingestion/contract.js';
import { chatOfControl } from '../../src/ingestion/stream/chat-control.js';
import { outside, type StreamReader } from '../../src/ingestion/stream/stream-reader.js';
import { parseSupervisorSpec } from '../../src/ingestion/stream/supervisor-spec.js';
import type { Database } from '../../src/metadata/database.js';
import { type Fence, fencedTransaction, takeLease } from '../../src/metadata/leadership.js';
import { claimOffsets, findOffsets, moveOffsets } from '../../src/metadata/stream-offsets.js';
import { activeSupervisors } from '../../src/metadata/supervisors.js';
import { finishTask, insertTask, moveTask, startTask } from '../../src/metadata/tasks.js';
import type { StreamTaskControl, StreamTaskStatus } from '../../src/model/stream/control.js';
import { openMetadata } from '../metadata/fixture.js';

const RATES = { processed: 1, processedBytes: 2, processedWithError: 0, thrownAway: 0, unparseable: 0 };

interface Payload {
  readonly id: string;
  readonly ioConfig: {
    readonly taskGroupId: number;
    readonly baseSequenceName: string;
    readonly startSequenceNumbers: { readonly partitionSequenceNumberMap: Readonly<Record<string, number>> };
    readonly minimumMessageTime?: string;
  };
  readonly context: { readonly checkpoints: string };
}

/** A streaming task that reads nothing, and stands where its test puts it. */
class FakeTask implements StreamTaskControl {
  readonly payload: Payload;
  at: Map<string, string>;
  ends: Map<string, string> | null = null;
  state: StreamTaskStatus = 'READING';
  sequences: Map<number, ReadonlyMap<string, string>>;
  answers = true;

  constructor(payload: Payload) {
    this.payload = payload;
    const { partitionSequenceNumberMap: map } = payload.ioConfig.startSequenceNumbers;
    this.at = new Map(Object.entries(map).map(([partition, offset]) => [partition, String(offset)]));
    this.sequences = new Map([[0, new Map(this.at)]]);
  }

  status = async () => this.state;
  startTime = async () => 1_000_000;
  offsets = async () => this.at;
  endOffsets = async () => this.ends ?? this.at;
  pause = async () => {
    this.state = 'PAUSED';
    return this.at;
  };
  resume = async () => {
    if (this.state === 'PAUSED') this.state = 'READING';
  };
  setEndOffsets = async (offsets: ReadonlyMap<string, string>, finish: boolean) => {
    this.at = new Map(offsets);
    this.state = finish ? 'PUBLISHING' : 'READING';
    if (finish) this.ends = new Map(offsets);
    else this.sequences.set(this.sequences.size, new Map(offsets));
  };
  checkpoints = async () => this.sequences;
  rowStats = async () => ({ totals: RATES, movingAverages: { '1m': RATES, '5m': RATES, '15m': RATES } });
  parseErrors = async () => [];
  stop = async () => undefined;
}

interface World {
  readonly database: Database;
  close(): Promise<void>;
  nowMs: number;
  readonly tasks: Map<string, FakeTask>;
  readonly killed: string[];
  stream: { partitions: string[]; low: number; high: number; isDown: boolean };
  fence: Fence;
  host: SupervisorHost;
}

const suites = suite<World>('supervisors');

suites.before.each(async (world) => {
  const opened = await openMetadata();
  const tasks = new Map<string, FakeTask>();
  const killed: string[] = [];
  const leading = await takeLease(opened.database, { role: 'overlord', host: 'o:1', heldEpoch: null, nowMs: 0, leaseMs: 1e15 });
  Object.assign(world, opened, {
    tasks,
    killed,
    nowMs: 1_000_000,
    fence: { role: 'overlord', epoch: leading.epoch },
    stream: { partitions: ['0', '1'], low: 5, high: 100, isDown: false },
  });
  const all = (partitions: readonly string[], offset: number) => new Map(partitions.map((partition) => [partition, String(offset)]));
  const reader = (): StreamReader => ({
    kind: 'kafka',
    partitions: async () => world.stream.partitions,
    earliest: async (partitions) => all(partitions, world.stream.low),
    latest: async (partitions) => all(partitions, world.stream.high),
    async gone(offsets) {
      return outside(offsets, all([...offsets.keys()], world.stream.low), all([...offsets.keys()], world.stream.high));
    },
    assign: async () => undefined,
    poll: async () => ({ records: [], blocks: [], positions: new Map(), isFull: false }),
    close: async () => undefined,
  });
  const { database } = opened;
  world.host = {
    database,
    fence: () => world.fence,
    now: () => world.nowMs,
    log: () => undefined,
    async openReader() {
      if (world.stream.isDown) throw new ServiceError('unavailable', 'no broker answers');
      return reader();
    },
    async submit(document) {
      const payload = parseJson(document) as Payload;
      tasks.set(payload.id, new FakeTask(payload));
      await insertTask(
        database,
        { id: payload.id, groupId: 'g', type: 'index_kafka', dataSource: 'ds', priority: 75, payload: document },
        world.nowMs,
      );
      await moveTask(database, payload.id, 'WAITING', 'PENDING');
      await startTask(database, payload.id, { host: 'w:1', session: 's' }, world.nowMs);
      return { taskId: payload.id };
    },
    async shutdownTask(taskId, reason) {
      killed.push(`${taskId.split('_').at(-1)}: ${reason}`);
      await finishTask(database, taskId, { succeeded: false, error: reason, report: null }, world.nowMs);
    },
    workerOf: () => ({
      chat: async (taskId: string, request: ChatRequest) => {
        const task = tasks.get(taskId);
        if (task?.answers !== true) throw new ServiceError('not_found', `no task ${taskId}`);
        return chatOfControl('kafka', task, async () => {
          throw new ServiceError('not_found', request.path.join('/'));
        })(request);
      },
    }),
  };
});
suites.after.each((world) => world.close());

function specOf(
  io: Readonly<Record<string, unknown>> = {},
  tuning: Readonly<Record<string, unknown>> = {},
  more = {},
): Readonly<Record<string, unknown>> {
  return {
    type: 'kafka',
    spec: {
      dataSchema: {
        dataSource: 'ds',
        timestampSpec: { column: 't', format: 'iso' },
        dimensionsSpec: { dimensions: ['page'] },
        granularitySpec: { segmentGranularity: 'hour', queryGranularity: 'none', rollup: false },
      },
      ioConfig: {
        topic: 'events',
        inputFormat: { type: 'json' },
        consumerProperties: { 'bootstrap.servers': 'k:9092', 'sasl.jaas.config': 'secret' },
        useEarliestOffset: true,
        startDelay: 'PT10H',
        ...io,
      },
      tuningConfig: { type: 'kafka', chatRetries: 0, ...tuning },
    },
    ...more,
  };
}

const open = (world: World, io = {}, tuning = {}, more = {}) => new Supervisor(parseSupervisorSpec(specOf(io, tuning, more)), world.host);
const reading = (supervisor: Supervisor) =>
  [...supervisor.groups.reading.values()].map(({ id, tasks, start }) => ({
    id,
    tasks: tasks.size,
    start: Object.fromEntries(start.offsets),
  }));
const taskOf = (world: World, supervisor: Supervisor, group = 0): FakeTask => {
  const [id = ''] = supervisor.groups.reading.get(group)?.tasks.keys() ?? [];
  const task = world.tasks.get(id);
  if (task === undefined) throw new Error(`group ${group} has no task`);
  return task;
};

/** A task that publishes has published, and ends. */
async function publish(world: World, task: FakeTask): Promise<void> {
  const { startSequenceNumbers, baseSequenceName } = task.payload.ioConfig;
  const start = new Map(
    Object.entries(startSequenceNumbers.partitionSequenceNumberMap).map(([partition, offset]) => [partition, String(offset)]),
  );
  const position = (offsets: ReadonlyMap<string, string>) => ({
    kind: 'kafka' as const,
    stream: 'events',
    offsets,
    exclusive: new Set<string>(),
  });
  await moveOffsets(world.database, 'ds', {
    supervisorId: 'ds',
    sequence: `${baseSequenceName}_0`,
    start: position(start),
    end: position(task.at),
  });
  await finishTask(world.database, task.payload.id, { succeeded: true, error: null, report: null }, world.nowMs);
}

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
