// Tasks of a supervisor: their payloads, and how they are called.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import { parseJson, stringifyJson } from '../../../base/json.js';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import { formatInstant } from '../../../base/time.js';
import { failpoint } from '../../../configuration/failpoint.js';
import { controlByChat, writtenCheckpoints } from '../../../ingestion/stream/chat-control.js';
import { instantOf } from '../../../ingestion/stream/duration.js';
import { taskTuningDocument } from '../../../ingestion/stream/stream-tuning.js';
import type { SupervisorSpec } from '../../../ingestion/stream/supervisor-spec.js';
import { selectTasks, type TaskRecord, taskDocuments } from '../../../metadata/tasks.js';
import type { StreamTaskControl } from '../../../model/stream/control.js';
import { parsePosition, STREAM_TRAITS, type StreamPosition, writtenPosition } from '../../../model/stream/offsets.js';
import { toServiceError } from '../../rpc/message.js';
import type { SupervisorHost } from './contract.js';
import type { MessageTimes, TaskGroup } from './task-group.js';

/** A payload of a task of this supervisor, as far as it decides where the task belongs. */
export interface KnownTask {
  readonly record: TaskRecord;
  readonly start: StreamPosition;
  readonly times: MessageTimes;
  readonly baseSequenceName: string;
}

const RETRY_MS = 250;
const ACTIVE = ['WAITING', 'PENDING', 'RUNNING'] as const;

export class StreamTasks {
  readonly #spec: SupervisorSpec;
  readonly #host: SupervisorHost;
  /** Payloads of tasks by id; null: of another supervisor. They never change. */
  readonly #payloads = new Map<string, Omit<KnownTask, 'record'> | null>();

  constructor(spec: SupervisorSpec, host: SupervisorHost) {
    this.#spec = spec;
    this.#host = host;
  }

  /** The unfinished tasks of this supervisor, whoever submitted them. */
  async active(): Promise<readonly KnownTask[]> {
    const { dataSource, kind } = this.#spec;
    const selection = { states: ACTIVE, dataSource, type: STREAM_TRAITS[kind].taskType };
    const records = await selectTasks(this.#host.database, selection);
    const ids = new Set(records.map(({ id }) => id));
    for (const id of this.#payloads.keys()) if (!ids.has(id)) this.#payloads.delete(id);
    const known: KnownTask[] = [];
    for (const record of records) {
      const payload = await this.#payloadOf(record.id);
      if (payload !== null) known.push({ record, ...payload });
    }
    return known;
  }

  /** Submits a task of a group; returns its id. */
  async submit(group: TaskGroup): Promise<string> {
    const id = `${group.baseSequenceName}_${randomBytes(4).toString('hex')}`;
    await this.#host.submit(stringifyJson(this.#document(id, group)));
    failpoint('supervisor.submitted');
    return id;
  }

  /** Ends a task without its publishing anything more; one that has ended stays as it is. */
  async kill(taskId: string, reason: string): Promise<void> {
    this.#host.log(`supervisor ${this.#spec.id}: task ${taskId} ends: ${reason}`);
    await this.#host.shutdownTask(taskId, `supervisor ${this.#spec.id}: ${reason}`).catch((error: unknown) => {
      if (toServiceError(error).code !== 'not_found') throw error;
    });
  }

  /** The control of a running task; calls are repeated while the task starts or its worker does not answer. */
  control(record: TaskRecord): StreamTaskControl {
    return controlByChat(this.#spec.kind, async (request) => {
      for (let tries = 0; ; tries++) {
        try {
          const worker = this.#host.workerOf(record);
          if (worker === undefined) throw new ServiceError('unavailable', `the worker of task ${record.id} is gone`);
          return await worker.chat(record.id, request);
        } catch (error) {
          if (toServiceError(error).code !== 'unavailable' || tries >= this.#spec.tuning.chatRetries) throw error;
          await sleep(RETRY_MS);
        }
      }
    });
  }

  /** The control as it answers now, without waiting for a task that starts. */
  glance(record: TaskRecord): StreamTaskControl {
    return controlByChat(this.#spec.kind, async (request) => {
      const worker = this.#host.workerOf(record);
      if (worker === undefined) throw new ServiceError('unavailable', `the worker of task ${record.id} is gone`);
      return worker.chat(record.id, request);
    });
  }

  async #payloadOf(taskId: string): Promise<Omit<KnownTask, 'record'> | null> {
    const known = this.#payloads.get(taskId);
    if (known !== undefined) return known;
    const documents = await taskDocuments(this.#host.database, taskId);
    const payload = documents === undefined ? null : this.#readPayload(documents.payload);
    this.#payloads.set(taskId, payload);
    return payload;
  }

  #readPayload(text: string): Omit<KnownTask, 'record'> | null {
    const { id, kind } = this.#spec;
    const fields = new ObjectReader(parseJson(text), '', readContextOf('internal', 'the task'));
    const spec = fields.optionalObject('spec') ?? fields;
    const owner = fields.optionalString('supervisorId') ?? spec.object('dataSchema').string('dataSource');
    if (owner !== id) return null;
    const io = spec.object('ioConfig');
    const start = parsePosition(kind, io.object(io.has('startSequenceNumbers') ? 'startSequenceNumbers' : 'startPartitions'));
    return {
      start,
      times: { minimum: instantOf(io, 'minimumMessageTime'), maximum: instantOf(io, 'maximumMessageTime') },
      baseSequenceName: io.string('baseSequenceName'),
    };
  }

  #document(
    taskId: string,
    { id: taskGroupId, start, times, baseSequenceName, checkpoints }: TaskGroup,
  ): Readonly<Record<string, unknown>> {
    const { id, kind, context, dataSource, source, io } = this.#spec;
    const { noEnd, taskType } = STREAM_TRAITS[kind];
    const end = { ...start, offsets: new Map([...start.offsets.keys()].map((partition) => [partition, noEnd])) };
    const at = (ms: number | null) => (ms === null ? {} : formatInstant(ms));
    return {
      type: taskType,
      id: taskId,
      groupId: `${taskType}_${dataSource}`,
      resource: { availabilityGroup: baseSequenceName, requiredCapacity: 1 },
      supervisorId: id,
      dataSchema: source.dataSchema,
      ioConfig: {
        type: kind,
        taskGroupId,
        baseSequenceName,
        startSequenceNumbers: writtenPosition('start', start),
        endSequenceNumbers: writtenPosition('end', end),
        ...io.taskFields,
        useTransaction: true,
        ...(times.minimum === null ? {} : { minimumMessageTime: at(times.minimum) }),
        ...(times.maximum === null ? {} : { maximumMessageTime: at(times.maximum) }),
      },
      tuningConfig: taskTuningDocument(source.tuningConfig, kind),
      context: {
        ...context,
        checkpoints: stringifyJson(writtenCheckpoints(kind, checkpoints)),
        IS_INCREMENTAL_HANDOFF_SUPPORTED: true,
      },
    };
  }
}
