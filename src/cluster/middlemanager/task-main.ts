// Program of a task's child process.

import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInstant } from '../../base/time.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { ChatHandler, LiveAnnouncement, LiveSource, TableQuery, TaskCalls, TaskContext } from '../../ingestion/contract.js';
import { runSampler } from '../../ingestion/sampler/sampler.js';
import { runTask } from '../../ingestion/task.js';
import type { Frame } from '../../model/frame.js';
import type { PublishRequest } from '../../model/publication.js';
import type { VisibleSegment } from '../../model/segment.js';
import { openDeepStorage, openStorage, type StoragePlace } from '../../storage/deep/open-deep-storage.js';
import { createResultStorage, type ResultRun } from '../../storage/result-storage.js';
import { fromPlain, toServiceError } from '../rpc/message.js';
import { refusePublish, runHere } from './child-run.js';
import { LiveServer } from './live-server.js';
import type { FromTask, ServingSettings, ToTask } from './task-messages.js';
import { openTaskPort } from './task-port.js';
import { taskSources } from './task-sources.js';
import { taskStorage } from './task-storage.js';

/**
 * A child process of the middle manager: runs one task and ends. It hears and says everything over IPC; without a
 * parent nobody could publish what it makes, so it ends with it.
 */
const EXIT_ORPHANED = 70;
const cancellation = new AbortController();
let chatHandler: ChatHandler | null = null;
let logBytes = 0;
let logBytesMax = 0;
let framed: { resolve(frame: Frame | null): void; reject(error: unknown): void } | undefined;
let found: { resolve(segments: readonly VisibleSegment[]): void; reject(error: unknown): void } | undefined;
let published: { resolve(ids: readonly string[]): void; reject(error: unknown): void } | undefined;

for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.on('disconnect', () => process.exit(EXIT_ORPHANED));
process.on('SIGTERM', () => cancellation.abort(new ServiceError('cancelled', 'the task was shut down')));
// Ctrl-C reaches the whole process group; the parent decides what becomes of its tasks.
process.on('SIGINT', () => undefined);
process.on('message', (message: ToTask) => {
  switch (message.kind) {
    case 'run':
      void run(message);
      return;
    case 'chat':
      void answerChat(message);
      return;
    case 'answer':
      calls.get(message.call)?.resolve(message.value);
      return;
    case 'callFailed':
      calls.get(message.call)?.reject(new ServiceError(message.code, message.message));
      return;
    case 'published':
      published?.resolve(message.ids);
      return;
    case 'segments':
      found?.resolve(message.segments);
      return;
    case 'segmentsFailed':
      found?.reject(new ServiceError(message.code, message.message));
      return;
    case 'frame':
      framed?.resolve(message.frame);
      return;
    case 'queryFailed':
      framed?.reject(fromPlain(message.error));
      return;
    case 'publishFailed':
      published?.reject(new ServiceError(message.code, message.message));
  }
});

const PROGRAMS = {
  task: runTask,
  sampler: (payload: unknown, context: TaskContext) => runSampler(payload as Uint8Array, context),
};

async function run({ program, taskId, attempt, parentId, payload, settings }: Extract<ToTask, { kind: 'run' }>): Promise<void> {
  logBytesMax = settings.logBytesMax;
  log(`task ${taskId} runs in process ${process.pid}${attempt === 1 ? '' : `, attempt ${attempt}`}`);
  const { maxHeapBytes, maxBytesInMemory, maxKernelBytes } = settings;
  log(`memory: ${mebibytes(maxHeapBytes)} of heap, ${mebibytes(maxBytesInMemory)} for rows, ${mebibytes(maxKernelBytes)} for kernels`);
  const storage = openDeepStorage(settings.storagePlaces);
  const context: TaskContext = {
    taskId,
    attempt,
    workDirectory: settings.workDirectory,
    allowedDirectories: settings.allowedDirectories,
    exportDirectory: settings.exportDirectory,
    maxBytesInMemory: settings.maxBytesInMemory,
    maxKernelBytes: settings.maxKernelBytes,
    http: settings.http,
    kinesisCredentials: settings.kinesisCredentials ?? null,
    peers: settings.peers,
    ...(settings.databaseHosts === undefined ? {} : { databaseHosts: settings.databaseHosts }),
    inputLimits: settings.inputLimits,
    keepsStoredTimes: settings.keepsStoredTimes,
    kernels: settings.kernels,
    storage: taskStorage(storage, { taskId, attempt, parentId }),
    pushResults: settings.resultPlace === null ? null : pushResults(settings.resultPlace, { taskId, attempt }),
    signal: cancellation.signal,
    now: Date.now,
    log,
    readTables,
    runSource: taskSources({ kernels: settings.kernels, signal: cancellation.signal, readTables }),
    visibleSegments,
    progress: (progress) => void send({ kind: 'progress', progress }),
    segments: taskCalls,
    serveLive: (live) => serveLive(live, settings.serving),
    stream: taskCalls,
    children: { ...taskCalls, runHere: (child, progress) => runHere(child, { parent: context, storage, run: runTask, progress }) },
    serveChat: (handler) => {
      chatHandler = handler;
    },
    publish: parentId === null ? publish : refusePublish,
  };
  failpoint('task.started');
  const outcome = await PROGRAMS[program](payload, context);
  log(`the process took ${mebibytes(process.resourceUsage().maxRSS * 1024)} at most`);
  log(outcome.succeeded ? `task ${taskId} succeeded` : `task ${taskId} failed: ${outcome.errorMessage ?? ''}`);
  await send({ kind: 'outcome', outcome });
  process.exit(outcome.succeeded ? 0 : 1);
}

/** Answers queries of other processes; the middle manager announces where. */
async function serveLive(live: LiveSource, serving: ServingSettings): Promise<LiveAnnouncement> {
  const server = new LiveServer(randomBytes(8).toString('hex'), live);
  const port = await openTaskPort(server, serving);
  server.host = `${serving.address}:${port.port}`;
  await send({ kind: 'serving', port: port.port });
  log(`answers queries at ${server.host}`);
  return {
    changed() {
      server.changed();
      void send({ kind: 'liveChanged' });
    },
    async close() {
      await send({ kind: 'serving', port: null });
      // A Broker that still knows of the port would be refused there.
      await taskCalls.seen().catch((error: unknown) => log(`Brokers were not waited for: ${toServiceError(error).message}`));
      await port.close();
    },
  };
}

function pushResults(place: StoragePlace, run: ResultRun): (page: number, localFile: string) => Promise<void> {
  const results = createResultStorage(openStorage(place));
  return (page, localFile) => results.push(run, page, localFile);
}

async function* readTables(query: TableQuery): AsyncGenerator<Frame, void, undefined> {
  await send({ kind: 'query', query });
  let isRead = false;
  try {
    for (;;) {
      const next = new Promise<Frame | null>((resolve, reject) => {
        framed = { resolve, reject };
      });
      await send({ kind: 'nextFrame' });
      const frame = await next;
      if (frame === null) {
        isRead = true;
        return;
      }
      yield frame;
    }
  } finally {
    if (!isRead) await send({ kind: 'endQuery' });
  }
}

async function visibleSegments(dataSource: string, intervals: readonly Interval[]): Promise<readonly VisibleSegment[]> {
  const answer = new Promise<readonly VisibleSegment[]>((resolve, reject) => {
    found = { resolve, reject };
  });
  await send({ kind: 'findSegments', dataSource, intervals });
  return answer;
}

async function answerChat({ chat, request }: Extract<ToTask, { kind: 'chat' }>): Promise<void> {
  try {
    if (chatHandler === null) throw new ServiceError('unavailable', 'the task does not answer requests yet, or not at all');
    await send({ kind: 'chatAnswer', chat, body: await chatHandler(request) });
  } catch (error) {
    const { code, message } = toServiceError(error);
    await send({ kind: 'chatFailed', chat, code, message });
  }
}

/** Calls under way, by number. */
const calls = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
let callsMade = 0;

async function call<Answer>(method: keyof TaskCalls, args: readonly unknown[]): Promise<Answer> {
  const number = callsMade++;
  const answer = new Promise<unknown>((resolve, reject) => {
    calls.set(number, { resolve, reject });
  });
  await send({ kind: 'call', call: number, method, args });
  // The table of the methods says what each of them answers.
  return answer.finally(() => calls.delete(number)) as Promise<Answer>;
}

const taskCalls: TaskCalls = {
  submit: (payloads) => call('submit', [payloads]),
  list: () => call('list', []),
  documents: (id) => call('documents', [id]),
  look: (ids) => call('look', [ids]),
  stop: (id, reason) => call('stop', [id, reason]),
  claim: (id) => call('claim', [id]),
  ended: (id, attempt, outcome) => call('ended', [id, attempt, outcome]),
  allocate: (request) => call('allocate', [request]),
  served: (ids, limitMs) => call('served', [ids, limitMs]),
  seen: () => call('seen', []),
  checkpoint: (request) => call('checkpoint', [request]),
  offsetsLost: (lost) => call('offsetsLost', [lost]),
};

async function publish(request: PublishRequest): Promise<readonly string[]> {
  failpoint('task.beforePublish');
  const answer = new Promise<readonly string[]>((resolve, reject) => {
    published = { resolve, reject };
  });
  await send({ kind: 'publish', request });
  const ids = await answer;
  failpoint('task.published');
  return ids;
}

/** Resolves once the parent's end of the pipe has it. */
function send(message: FromTask): Promise<void> {
  return new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/** Standard output is the task's log file. A full disk costs lines, not the task. */
function log(line: string): void {
  const text = `${formatInstant(Date.now())} ${line}\n`;
  if (logBytes + text.length <= logBytesMax) process.stdout.write(text);
  else if (logBytes <= logBytesMax) process.stdout.write('the rest is left out (svc.indexer.logs.maxBytes)\n');
  logBytes += text.length;
}
