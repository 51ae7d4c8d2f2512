import { ServiceError } from '../../src/base/errors.js';
import { parseJson } from '../../src/base/json.js';
import type { SupervisorHost } from '../../src/cluster/overlord/supervisor/contract.js';
import { Supervisor } from '../../src/cluster/overlord/supervisor/supervisor.js';
import type { ChatRequest } from '../../src/ingestion/contract.js';
import { chatOfControl } from '../../src/ingestion/stream/chat-control.js';
import { outside, type StreamReader } from '../../src/ingestion/stream/stream-reader.js';
import { parseSupervisorSpec } from '../../src/ingestion/stream/supervisor-spec.js';
import type { Database } from '../../src/metadata/database.js';
import { type Fence, takeLease } from '../../src/metadata/leadership.js';
import { moveOffsets } from '../../src/metadata/stream-offsets.js';
import { finishTask, insertTask, moveTask, startTask } from '../../src/metadata/tasks.js';
import type { StreamTaskControl, StreamTaskStatus } from '../../src/model/stream/control.js';
import { openMetadata } from '../metadata/fixture.js';

const RATES = { processed: 1, processedBytes: 2, processedWithError: 0, thrownAway: 0, unparseable: 0 };

export interface Payload {
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
export class FakeTask implements StreamTaskControl {
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

export interface World {
  readonly database: Database;
  close(): Promise<void>;
  nowMs: number;
  readonly tasks: Map<string, FakeTask>;
  readonly killed: string[];
  stream: { partitions: string[]; low: number; high: number; isDown: boolean };
  fence: Fence;
  host: SupervisorHost;
}

/** Opens metadata and a stream of two partitions for a test; `world` gets them. */
export async function openWorld(world: World): Promise<void> {
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
}

export function specOf(
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

export const open = (world: World, io = {}, tuning = {}, more = {}) =>
  new Supervisor(parseSupervisorSpec(specOf(io, tuning, more)), world.host);
export const reading = (supervisor: Supervisor) =>
  [...supervisor.groups.reading.values()].map(({ id, tasks, start }) => ({
    id,
    tasks: tasks.size,
    start: Object.fromEntries(start.offsets),
  }));
export const taskOf = (world: World, supervisor: Supervisor, group = 0): FakeTask => {
  const [id = ''] = supervisor.groups.reading.get(group)?.tasks.keys() ?? [];
  const task = world.tasks.get(id);
  if (task === undefined) throw new Error(`group ${group} has no task`);
  return task;
};

/** A task that publishes has published, and ends. */
export async function publish(world: World, task: FakeTask): Promise<void> {
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
