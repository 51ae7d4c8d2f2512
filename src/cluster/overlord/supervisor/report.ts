// Reports of supervisors as the interface has them.

import { createByName } from '../../../base/names.js';
import { formatInstant } from '../../../base/time.js';
import type { RowRates } from '../../../model/stream/control.js';
import { type Offsets, type StreamKind, writtenOffsets } from '../../../model/stream/offsets.js';
import type { Lag } from './stream-view.js';
import type { Supervisor } from './supervisor.js';
import type { GroupTask, TaskGroup } from './task-group.js';

type Body = Readonly<Record<string, unknown>>;

/** Body of `GET .../supervisor/{id}/status`. */
export function statusBody(supervisor: Supervisor, nowMs: number): Body {
  const { spec, state, groups, stream } = supervisor;
  const { io, kind, dataSource, suspended } = spec;
  const lag = supervisor.lag();
  return {
    id: spec.id,
    generationTime: formatInstant(nowMs),
    payload: {
      id: spec.id,
      dataSource,
      stream: io.source.stream,
      partitions: supervisor.partitionCount,
      replicas: io.replicas,
      durationSeconds: Math.floor(io.taskDurationMs / 1000),
      activeTasks: [...groups.reading.values()].flatMap((group) => tasksOf(group, supervisor, nowMs)),
      publishingTasks: groups.publishing.flatMap((group) => tasksOf(group, supervisor, nowMs)),
      ...(stream.latestMs === null
        ? {}
        : {
            ...(kind === 'kafka' ? { latestOffsets: writtenOffsets(kind, stream.latest) } : {}),
            offsetsLastUpdated: formatInstant(stream.latestMs),
            ...(lag === null ? {} : lagBody(lag, kind)),
          }),
      suspended,
      healthy: state.isHealthy,
      state: state.basic,
      detailedState: state.detailed,
      recentErrors: state.errors.map(({ timeMs, code, message, isOfStream }) => ({
        timestamp: formatInstant(timeMs),
        exceptionClass: code,
        message,
        streamException: isOfStream,
      })),
    },
  };
}

function tasksOf(group: TaskGroup, supervisor: Supervisor, nowMs: number): readonly Body[] {
  return [...group.tasks.values()].map((task) => taskBody(task, group, supervisor, nowMs));
}

function taskBody(task: GroupTask, group: TaskGroup, { spec, stream }: Supervisor, nowMs: number): Body {
  const { kind, io } = spec;
  const publishes = group.completesByMs !== null;
  const endsMs = group.completesByMs ?? (task.startMs === null ? null : task.startMs + io.taskDurationMs);
  const lag = publishes ? null : stream.lag(task.offsets ?? new Map());
  return {
    id: task.id,
    startingOffsets: writtenOffsets(kind, group.start.offsets),
    startTime: task.startMs === null ? null : formatInstant(task.startMs),
    remainingSeconds: endsMs === null ? null : Math.floor(Math.max(0, endsMs - nowMs) / 1000),
    type: publishes ? 'PUBLISHING' : 'ACTIVE',
    currentOffsets: writtenOffsets(kind, task.offsets ?? NONE),
    ...(lag === null ? {} : { [kind === 'kafka' ? 'lag' : 'lagMillis']: byName(lag.byPartition) }),
  };
}

const NONE: Offsets = new Map();

/** Lag by number of records, or of streams that tell none by time. */
function lagBody({ byPartition, sum }: Lag, kind: StreamKind): Body {
  const lags = byName(byPartition);
  return kind === 'kafka' ? { minimumLag: lags, aggregateLag: sum } : { minimumLagMillis: lags, aggregateLagMillis: sum };
}

function byName(values: ReadonlyMap<string, number>): Body {
  const body = createByName<unknown>();
  for (const [name, value] of values) body[name] = value;
  return body;
}

/** Body of `GET .../supervisor/{id}/stats`: what each task tells of its rows, by group and task. */
export async function statsBody(supervisor: Supervisor): Promise<Body> {
  const body = createByName<unknown>();
  const groups = new Map<number, GroupTask[]>();
  for (const group of supervisor.groups.all()) groups.set(group.id, [...(groups.get(group.id) ?? []), ...group.tasks.values()]);
  for (const [id, tasks] of groups) {
    const stats = createByName<unknown>();
    const told = await Promise.all(tasks.map((task) => ratesOf(task, supervisor)));
    tasks.forEach((task, at) => {
      const rates = told[at];
      if (rates) stats[task.id] = { movingAverages: { buildSegments: rates.movingAverages }, totals: { buildSegments: rates.totals } };
    });
    if (Object.keys(stats).length > 0) body[String(id)] = stats;
  }
  return body;
}

/** null: the task does not run, or does not tell. */
async function ratesOf({ record }: GroupTask, { tasks }: Supervisor): Promise<RowRates | null> {
  if (record?.state !== 'RUNNING') return null;
  const control = tasks.glance(record);
  return control.rowStats().catch(() => null);
}
