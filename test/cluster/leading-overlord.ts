import { suite } from 'uvu';
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
import { findTask, type TaskState } from '../../src/metadata/tasks.js';
import { DAY, openMetadata } from '../metadata/fixture.js';
import { memoryStorage } from './fakes.js';

export const EVERYTHING: Interval = { start: -1000 * DAY, end: 1000 * DAY };

interface Payload {
  readonly id: string;
  readonly type?: 'index' | 'index_kafka';
  readonly dataSource?: string;
  readonly replace?: readonly Interval[];
  readonly priority?: number;
  readonly isChild?: true;
}

function describe(payload: unknown): TaskDescription {
  const { id, type = 'index', dataSource = 'ds', replace, priority, isChild } = payload as Payload;
  if (id === undefined) throw new ServiceError('input_invalid', 'id is missing');
  return {
    type,
    dataSource,
    id,
    groupId: null,
    context: priority === undefined ? {} : { priority },
    mode: replace === undefined ? { kind: 'append' } : { kind: 'replace', intervals: replace },
    spec: {},
    ...(isChild === undefined ? {} : { isChild }),
  };
}

/** A worker process that accepts what it has slots for and runs it until the test says otherwise. */
export class Worker implements MiddleManagerService {
  readonly running: string[] = [];
  /** Numbers of the runs it was given. */
  readonly attempts: number[] = [];
  readonly member: Member;
  enabled = true;
  failure: ServiceError | null = null;
  /** undefined: as of a worker of an earlier version. */
  endingTasks: readonly string[] | undefined;
  capacity: number;

  constructor(host: string, session: string, capacity = 10) {
    this.member = { role: 'middleManager', host, session, details: {} };
    this.capacity = capacity;
  }

  async status() {
    const { host, session } = this.member;
    return {
      host,
      session,
      category: 'c',
      capacity: this.capacity,
      enabled: this.enabled,
      runningTasks: this.running,
      lastCompletedMs: 0,
      ...(this.endingTasks === undefined ? {} : { endingTasks: this.endingTasks }),
    };
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
  readLog(): AsyncIterable<Uint8Array> {
    throw new Error('not asked');
  }
  chat = async (): Promise<unknown> => null;
}

interface Context {
  database: Database;
  workers: Worker[];
  overlord: Overlord;
  /** Another overlord takes over, as after a restart. */
  succeed(): Promise<Overlord>;
  close(): Promise<void>;
}

/** A suite of an Overlord that leads, over metadata of its own and one worker. */
export function overlordSuite(title: string) {
  const overlords = suite<Context>(title);
  overlords.before.each(open);
  overlords.after.each((context) => context.close());
  return overlords;
}

async function open(context: Context): Promise<void> {
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
      openReader: async () => {
        throw new ServiceError('unavailable', 'there are no streams here');
      },
      readTask: async (document) => {
        const payload = parseJson(document);
        return { document, description: isKillPayload(payload) ? describeKillTask(payload) : describe(payload) };
      },
      results: null,
      resultsRetainMs: 1000,
      oldTasks: null,
      periodMs: 10,
      queueMax: 8,
      assignmentTries: 3,
      // Three tries take less, on a busy machine and over PostgreSQL as well.
      assignmentTimeoutMs: 2000,
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
}

export async function untilState(database: Database, id: string, state: TaskState): Promise<void> {
  while ((await findTask(database, id))?.state !== state) await new Promise((resolve) => setTimeout(resolve, 5));
}

export const stateOf = async (database: Database, id: string): Promise<TaskState | undefined> => (await findTask(database, id))?.state;
export const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'nothing was thrown',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );
}
