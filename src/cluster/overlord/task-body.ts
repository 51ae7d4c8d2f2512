// A task as lists and status calls show it.

import { formatInstant } from '../../base/time.js';
import type { TaskRecord } from '../../metadata/tasks.js';

/** A task as lists and status calls show it. @param isTls  whether the ports of workers are those of TLS */
export function taskBody(task: TaskRecord, isTls = false): Readonly<Record<string, unknown>> {
  const finished = task.state === 'SUCCESS' || task.state === 'FAILED';
  const statusCode = finished ? task.state : 'RUNNING';
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
    location: locationOf(task.workerHost, isTls),
    dataSource: task.dataSource,
    errorMsg: task.error,
  };
}

function locationOf(worker: string | null, isTls: boolean): Readonly<Record<string, unknown>> {
  if (worker === null) return { host: null, port: -1, tlsPort: -1 };
  const at = worker.lastIndexOf(':');
  const port = Number(worker.slice(at + 1));
  return { host: worker.slice(0, at), port: isTls ? -1 : port, tlsPort: isTls ? port : -1 };
}
