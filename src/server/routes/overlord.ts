// Routes of the Overlord: tasks and workers.

import { ServiceError } from '../../base/errors.js';
import { isRecord, parseJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import { firstLog, logInFolder, logInStorage } from '../../cluster/middlemanager/task-log.js';
import type { Overlord } from '../../cluster/overlord/overlord.js';
import { payloadDocument, type ReadTask } from '../../cluster/overlord/submission.js';
import { taskBody } from '../../cluster/overlord/task-body.js';
import { FINISHED_LISTED_MAX } from '../../cluster/overlord/task-look.js';
import type { CoordinatorService, WorkerStatus } from '../../cluster/rpc/services.js';
import type { Sampling } from '../../cluster/sampling.js';
import type { Database } from '../../metadata/database.js';
import { findPublication } from '../../metadata/publish.js';
import { findSegment } from '../../metadata/segments.js';
import { findTask, selectTasks, type TaskRecord, type TaskState, taskDataSources, taskDocuments } from '../../metadata/tasks.js';
import type { Caller } from '../../model/access/authorizer.js';
import type { Action } from '../../model/access/resource.js';
import type { DeepStorage } from '../../storage/contract.js';
import { demandDataSource, itself, readable } from '../access/readable.js';
import { authorizeSample, authorizeSubmission, authorizeTask, payloadFor } from '../access/task-access.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import { liveReport } from '../results/live-report.js';
import { segmentBody } from '../results/segment-body.js';
import {
  CONFIG_READ,
  DATASOURCE_WRITE,
  formatInstant,
  found,
  json,
  kindOf,
  LISTED,
  readAuthor,
  readCount,
  readInterval,
  readJson,
  readJsonBytes,
  readJsonText,
  readOffset,
  route,
  STATE_READ,
  STATE_WRITE,
  text,
} from './exchange.js';
import { metadataFaultRoutes } from './metadata-faults.js';
import { supervisorRoutes } from './supervisors.js';

/** Task ids that one request may name, and those that are looked up together. */
const STATUSES_MAX = 10_000;
const STATUSES_TOGETHER = 100;

export interface OverlordSource {
  readonly overlord: Overlord;
  /** The Coordinator that leads. */
  readonly coordinator: () => Pick<CoordinatorService, 'compactionReport'>;
  readonly database: Database;
  readonly readTask: ReadTask;
  readonly sampling: Sampling;
  readonly logDirectory: string;
  /** Logs of ended tasks; null: they stay with their workers. */
  readonly logStorage: DeepStorage | null;
  /** `svc.indexer.auditLog.enabled`. */
  readonly listsSegments: boolean;
  /** Processes call each other with TLS only. */
  readonly isTls: boolean;
}

const STATES: Readonly<Record<string, readonly TaskState[]>> = {
  running: ['RUNNING'],
  pending: ['PENDING'],
  waiting: ['WAITING'],
  complete: ['SUCCESS', 'FAILED'],
};
const ACTIVE: readonly TaskState[] = ['WAITING', 'PENDING', 'RUNNING'];
const FINISHED: readonly TaskState[] = ['SUCCESS', 'FAILED'];

/** Tasks and workers; `leaderRoutes` and `onLeader` are put around them by the one who wires the role. */
export function overlordRoutes(source: OverlordSource): readonly Route[] {
  const { overlord, database } = source;
  const list = (path: string, states: readonly TaskState[]): Route =>
    route('GET', path, LISTED, async (request) => json(200, await listTasks(source, request, states)));

  return [
    ...metadataFaultRoutes('/svc/indexer/v1', database),
    route('POST', '/svc/indexer/v1/task', found('submittedTask'), async (request) => {
      const { taskId } = await overlord.submitAs(readJsonText(request), {
        author: readAuthor(request),
        authorize: (description) => authorizeSubmission(request.caller, description),
      });
      return json(200, { task: taskId });
    }),
    route('GET', '/svc/indexer/v1/tasks', LISTED, async (request) => {
      const written = request.query.get('state');
      if (written === null)
        return json(200, [...(await listTasks(source, request, ACTIVE)), ...(await listTasks(source, request, FINISHED))]);
      const states = own(STATES, written);
      if (states === undefined)
        throw new ServiceError('input_invalid', `state: found '${written}', expected one of ${Object.keys(STATES).join(', ')}`);
      return json(200, await listTasks(source, request, states));
    }),
    list('/svc/indexer/v1/completeTasks', FINISHED),
    list('/svc/indexer/v1/runningTasks', ['RUNNING']),
    list('/svc/indexer/v1/waitingTasks', ['WAITING']),
    list('/svc/indexer/v1/pendingTasks', ['PENDING']),
    route('GET', '/svc/indexer/v1/task/{taskId}', found('task'), async ({ caller }, { taskId = '' }) => {
      const { task, payload } = await getTask(source, caller, taskId);
      readDocument(source, task, 'payload', payload);
      const { description } = await source.readTask(payload);
      return json(200, { task: taskId, payload: payloadFor(caller, payloadDocument(task, description)) });
    }),
    route('GET', '/svc/indexer/v1/task/{taskId}/status', found('task'), async ({ caller }, { taskId = '' }) => {
      const { task } = await getTask(source, caller, taskId);
      return json(200, { task: taskId, status: taskBody(task, source.isTls) });
    }),
    route('GET', '/svc/indexer/v1/task/{taskId}/reports', found('task'), async ({ caller }, { taskId = '' }) => {
      const { task, report } = await getTask(source, caller, taskId);
      if (report !== null) return json(200, readDocument(source, task, 'report', report));
      if (task.type === 'query_controller') return json(200, await reportOfStatement(source, caller, taskId));
      const progress = await overlord.workerOf(task)?.progress(taskId);
      if (!progress) throw new ServiceError('not_found', `task ${taskId} has no report yet`);
      return json(200, liveReport(taskId, progress));
    }),
    route('GET', '/svc/indexer/v1/task/{taskId}/log', found('task'), (request, { taskId = '' }) => readLog(source, request, taskId)),
    route('GET', '/svc/indexer/v1/task/{taskId}/segments', found('task'), async ({ caller }, { taskId = '' }) => {
      if (!source.listsSegments)
        throw new ServiceError('not_found', 'segments of tasks are listed only with svc.indexer.auditLog.enabled=true');
      await getTask(source, caller, taskId);
      const ids = (await findPublication(database, taskId))?.ids ?? [];
      const found = await Promise.all(ids.map((id) => findSegment(database, id)));
      return json(
        200,
        found.flatMap((each) => (each === undefined ? [] : [segmentBody(each.segment)])),
      );
    }),
    route('POST', '/svc/indexer/v1/task/{taskId}/shutdown', found('task'), async ({ caller }, { taskId = '' }) => {
      await getTask(source, caller, taskId, 'WRITE');
      await overlord.shutdownTask(taskId, 'shut down by request');
      return json(200, { task: taskId });
    }),
    route('POST', '/svc/indexer/v1/datasources/{dataSource}/shutdownAllTasks', DATASOURCE_WRITE, async (_request, { dataSource = '' }) => {
      const tasks = await selectTasks(database, { states: ACTIVE, dataSource });
      if (tasks.length === 0) throw new ServiceError('not_found', `datasource ${dataSource} has no active tasks`);
      for (const task of tasks)
        await overlord.shutdownTask(task.id, 'shut down by request, with all tasks of its datasource').catch(ignoreNotFound);
      return json(200, { dataSource });
    }),
    route('POST', '/svc/indexer/v1/taskStatus', STATE_WRITE, async (request) => json(200, await statusesOf(source, readJson(request)))),
    route('DELETE', '/svc/indexer/v1/pendingSegments/{dataSource}', DATASOURCE_WRITE, async (request) => {
      // Appends take their numbers when they publish: none is ever pending.
      const written = request.query.get('interval');
      if (written !== null) readInterval('interval', written);
      return json(200, { numDeleted: 0 });
    }),
    route('GET', '/svc/indexer/v1/workers', STATE_READ, async () =>
      json(
        200,
        (await overlord.workers()).map((worker) => workerBody(worker)),
      ),
    ),
    route('GET', '/svc/indexer/v1/totalWorkerCapacity', CONFIG_READ, async () => {
      const workers = await overlord.workers();
      const total = (read: (worker: WorkerStatus) => number): number => workers.reduce((sum, worker) => sum + read(worker), 0);
      return json(200, {
        currentClusterCapacity: total(({ capacity }) => capacity),
        usedClusterCapacity: total(({ runningTasks }) => runningTasks.length),
        // The number of workers never changes by itself.
        maximumCapacityWithAutoScale: -1,
      });
    }),
    ...supervisorRoutes(overlord, source.coordinator, Date.now),
    route('POST', '/svc/indexer/v1/sampler', STATE_WRITE, async (request) => {
      const spec = readJsonBytes(request);
      authorizeSample(request.caller, spec);
      return {
        status: 200,
        headers: { 'Content-Type': 'application/json' },
        body: await source.sampling.sample(spec, request.signal),
      };
    }),
    route('GET', '/svc/indexer/v1/scaling', STATE_READ, async () => ({ status: 200 })),
  ];
}

async function listTasks(
  { database, isTls }: OverlordSource,
  request: HttpRequest,
  states: readonly TaskState[],
): Promise<readonly unknown[]> {
  const dataSource = request.query.get('datasource');
  if (dataSource !== null) demandDataSource(request.caller, dataSource, 'READ');
  const type = request.query.get('type');
  const created = request.query.get('createdTimeInterval');
  const max = readCount(request, 'max');
  const bounded = states === FINISHED || states === STATES['complete'];
  // The newest that the caller may see, not what is left of the newest of all.
  const isRestricted = bounded && dataSource === null && !request.caller.isUnrestricted;
  const dataSources = isRestricted ? readable(request.caller, await taskDataSources(database, states), itself) : undefined;
  if (dataSources?.length === 0) return [];
  const tasks = await selectTasks(database, {
    states,
    ...(dataSource === null ? {} : { dataSource }),
    ...(dataSources === undefined ? {} : { dataSources }),
    ...(type === null ? {} : { type }),
    ...(created === null ? {} : { created: readInterval('createdTimeInterval', created) }),
    // `max` bounds finished tasks only; on the other lists it is accepted and has no meaning.
    ...(bounded ? { newest: max ?? FINISHED_LISTED_MAX } : {}),
  });
  return readable(request.caller, tasks, ({ dataSource: name }) => name).map((task) => taskBody(task, isTls));
}

async function statusesOf({ database, isTls }: OverlordSource, ids: unknown): Promise<Readonly<Record<string, unknown>>> {
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every((id) => typeof id === 'string'))
    throw new ServiceError(
      'input_invalid',
      `body: found ${Array.isArray(ids) ? 'an array without task ids' : kindOf(ids)}, expected an array of task ids`,
    );
  const asked = [...new Set<string>(ids)];
  if (asked.length > STATUSES_MAX)
    throw new ServiceError('input_invalid', `body: found ${asked.length} task ids, expected at most ${STATUSES_MAX}`);
  const found: [string, unknown][] = [];
  for (let from = 0; from < asked.length; from += STATUSES_TOGETHER) {
    const tasks = await Promise.all(asked.slice(from, from + STATUSES_TOGETHER).map((id) => findTask(database, id)));
    for (const task of tasks) if (task !== undefined) found.push([task.id, taskBody(task, isTls)]);
  }
  return Object.fromEntries(found);
}

/** @throws ServiceError `internal` for a document that cannot be read; the list of faults has it, too */
function readDocument({ database }: OverlordSource, task: TaskRecord, column: 'payload' | 'report', text: string): object {
  const place = { table: 'tasks', column, key: task.id };
  const parse = (value: unknown): object => {
    if (!isRecord(value)) throw new Error('it is not an object');
    return value;
  };
  const document = database.faults.read(place, text, parse, parseJson);
  if (document === undefined) throw new ServiceError('internal', `the ${column} of task ${task.id} cannot be read in the metadata store`);
  return document;
}

async function getTask(
  { database }: OverlordSource,
  caller: Caller,
  taskId: string,
  action: Action = 'READ',
): Promise<{ task: TaskRecord; payload: string; report: string | null }> {
  const task = await findTask(database, taskId);
  const documents = await taskDocuments(database, taskId);
  if (task === undefined || documents === undefined) throw new ServiceError('not_found', `no task ${taskId}`);
  if (!caller.isUnrestricted) authorizeTask(caller, task, documents.payload, action);
  return { task, ...documents };
}

/** The report of a statement that runs, or has just ended. */
async function reportOfStatement(source: OverlordSource, caller: Caller, taskId: string): Promise<unknown> {
  const live = await source.overlord.liveReport(taskId);
  if (live !== null) return live;
  const { task, report } = await getTask(source, caller, taskId);
  if (report === null) throw new ServiceError('not_found', `task ${taskId} has no report yet`);
  return readDocument(source, task, 'report', report);
}

/** A task's log from the shared folder when this process sees it, else from the worker that has the file, else from storage. */
async function readLog(source: OverlordSource, request: HttpRequest, taskId: string): Promise<HttpResponse> {
  const { logDirectory, logStorage, overlord } = source;
  const { task } = await getTask(source, request.caller, taskId);
  const offset = readOffset(request);
  return text(
    firstLog(taskId, [
      () => logInFolder(logDirectory, taskId, offset),
      () => overlord.workerOf(task)?.readLog(taskId, offset, request.signal),
      () => (logStorage === null ? undefined : logInStorage(logStorage, taskId, offset)),
    ]),
  );
}

function workerBody({ host, category, capacity, runningTasks, lastCompletedMs }: WorkerStatus): Readonly<Record<string, unknown>> {
  return {
    worker: { scheme: 'http', host, ip: host.split(':')[0], capacity, version: '0', category },
    currCapacityUsed: runningTasks.length,
    currParallelIndexCapacityUsed: 0,
    availabilityGroups: runningTasks,
    runningTasks,
    lastCompletedTaskTime: formatInstant(lastCompletedMs),
    blacklistedUntil: null,
  };
}

/** Ignores that a task is not found: it ended in between. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
}
