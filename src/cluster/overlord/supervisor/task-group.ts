// Group of tasks that read the same partitions from the same offsets: replicas of each other.

import { createHash } from 'node:crypto';
import type { EpochMs } from '../../../base/instant.js';
import { stringifyJson } from '../../../base/json.js';
import { taskTuningDocument } from '../../../ingestion/stream/stream-tuning.js';
import type { SupervisorSpec } from '../../../ingestion/stream/supervisor-spec.js';
import type { TaskRecord } from '../../../metadata/tasks.js';
import { type Offsets, STREAM_TRAITS, type StreamPosition } from '../../../model/stream/offsets.js';

/** A task of a group, as it was when it was last looked at. */
export interface GroupTask {
  readonly id: string;
  /** null: it was just submitted. */
  record: TaskRecord | null;
  startMs: EpochMs | null;
  offsets: Offsets | null;
}

/** Bounds of the times of rows that tasks keep. */
export interface MessageTimes {
  readonly minimum: EpochMs | null;
  readonly maximum: EpochMs | null;
}

export class TaskGroup {
  readonly id: number;
  readonly start: StreamPosition;
  readonly times: MessageTimes;
  readonly baseSequenceName: string;
  readonly tasks = new Map<string, GroupTask>();
  /** Starts of the sequences that are not published, by number. */
  checkpoints: ReadonlyMap<number, Offsets>;
  /** Time until which it must have published; null while it reads. */
  completesByMs: EpochMs | null = null;
  /** It was asked to publish before its time. */
  handsOffEarly = false;

  constructor(id: number, start: StreamPosition, times: MessageTimes, baseSequenceName: string) {
    this.id = id;
    this.start = start;
    this.times = times;
    this.baseSequenceName = baseSequenceName;
    this.checkpoints = new Map([[0, start.offsets]]);
  }

  get partitions(): ReadonlySet<string> {
    return new Set(this.start.offsets.keys());
  }

  add(id: string, record: TaskRecord | null = null): GroupTask {
    const task: GroupTask = { id, record, startMs: null, offsets: null };
    this.tasks.set(id, task);
    return task;
  }

  /** Number and start of the sequence that is read now. */
  get lastCheckpoint(): readonly [number, Offsets] {
    return [...this.checkpoints].at(-1) ?? [0, this.start.offsets];
  }

  addCheckpoint(offsets: Offsets): void {
    this.checkpoints = new Map([...this.checkpoints, [this.lastCheckpoint[0] + 1, offsets]]);
  }

  /** When the first of its tasks began to read; `otherwise` before that. */
  startedMs(otherwise: EpochMs): EpochMs {
    return [...this.tasks.values()].reduce((first, { startMs }) => Math.min(first, startMs ?? otherwise), otherwise);
  }

  sharesPartitions(partitions: ReadonlySet<string>): boolean {
    return [...this.start.offsets.keys()].some((partition) => partitions.has(partition));
  }
}

/** Characters of a hash that tell sequences apart. */
const HASH_LENGTH = 15;

/**
 * Name of the sequences of tasks: the same for tasks that store the same rows alike.
 * @param resets  see `countResets`
 */
export function sequenceName(
  { id, kind, source }: SupervisorSpec,
  start: StreamPosition,
  { minimum, maximum }: MessageTimes,
  resets: number,
): string {
  const offsets = [...start.offsets].sort(([left], [right]) => (left < right ? -1 : 1));
  const exclusive = [...start.exclusive].sort();
  const parts = [
    source.dataSchema,
    taskTuningDocument(source.tuningConfig, kind),
    start.stream,
    offsets,
    exclusive,
    minimum,
    maximum,
    resets,
  ];
  const hash = createHash('sha1')
    .update(stringifyJson(sorted(parts)))
    .digest('hex')
    .slice(0, HASH_LENGTH);
  return `${STREAM_TRAITS[kind].taskType}_${id}_${hash}`;
}

/** The same value with the members of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}
