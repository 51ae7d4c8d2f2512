// A task as lists and status calls show it.

import { formatInstant } from '../../base/time.js';
import type { TaskRecord } from '../../metadata/tasks.js';

/** A task as lists and status calls show it. */
export function taskBody(task: TaskRecord): Readonly<Record<string, unknown>> {
  const finished = task.state === 'SUCCESS' || task.state === 'FAILED';
  const statusCode = finished ? task.state : 'RUNNING';
  const [host = null, port = '-1'] = task.workerHost?.split(':') ?? [];
  return {
    id: task.id,
    groupId: task.groupId,
    type: task.type,
    createdTime: formatInstant(task.createdMs),
    queueInsertionTime: formatInstant(task.queuedMs),
    statusCode,
    status: statusCode,
    runnerStatusCode: finished ? 'NONE' : task.state,
    duration: task.finishedMs === null ? -1 : task.finishedMs - (task.startedMs ?? task.finishedMs),
    location: { host, port: Number(port), tlsPort: -1 },
    dataSource: task.dataSource,
    errorMsg: task.error,
  };
}
