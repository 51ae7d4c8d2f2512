// Entry module of a processing thread.

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { extended } from '../../base/names.js';
import { ReceivedOnce } from '../../base/sent-once.js';
import { KernelMemory, type KernelMemoryHandle } from '../../kernels/memory.js';
import { KernelSets } from '../../kernels/registry.js';
import { type EarlyJobName, STORAGE_JOBS, type StorageJobs } from '../../storage/jobs.js';
import type { SegmentData } from '../block/segment-data.js';
import type { Calls, Streams } from './jobs.js';
import { type FromThread, ROOM, SIGNALS, type ToThread, toPlainError, transferables } from './messages.js';
import { Scheduler } from './scheduler.js';
import type { Stream, StreamInput } from './stream-items.js';
import type { ThreadContext } from './thread-context.js';
import { newWork, type Work } from './work.js';

/**
 * Entry of a processing thread. It does one piece of work at a time, unless something of a higher priority comes between
 * two blocks of it, and sends columns, never rows.
 *
 * Storage's jobs are there at once; what runs queries, by far the most of the code, is loaded while the thread may
 * already be verifying the segments of a process that starts.
 */
const { handle, kernels, signals } = workerData as { handle: KernelMemoryHandle; kernels: string; signals: Int32Array };
const memory = KernelMemory.attach(handle);
const scheduler = new Scheduler<Received>(perform);
const streams = new Map<number, OpenedStream>();
const data = new ReceivedOnce<SegmentData>();
let received = 0;
const kernelSets = new KernelSets(memory, kernels);
let queries: Queries | undefined;
/** Messages for queries that arrived before they could be run. */
const early: Received[] = [];
memory.whenFull(askForRoom);

parentPort?.on('message', (message: ToThread) => {
  receive(message);
  scheduler.run(receiveAll);
});

const [work, contexts] = await Promise.all([import('./jobs.js'), import('./thread-context.js')]);
const thread = new contexts.ThreadContext(memory, kernelSets, () => {
  if (Atomics.load(signals, SIGNALS.sent) !== received) receiveAll();
  return scheduler.yieldToUrgent();
});
queries = { ...work, thread };
for (const each of early.splice(0)) scheduler.add(each);
scheduler.run(receiveAll);

/** Module that runs the queries. */
interface Queries extends Pick<typeof import('./jobs.js'), 'CALLS' | 'STREAMS'> {
  readonly thread: ThreadContext;
}

/** A stream, and the work on it from its first item to its last. */
interface OpenedStream {
  readonly stream: Stream;
  readonly work: Work;
}

/** A message whose data was looked up when it came: data is sent once, and messages change places. */
interface Received {
  readonly priority: number;
  readonly work: Work;
  readonly message: ToThread;
  readonly request: object;
}

function receive(message: ToThread): void {
  // Wraps at 2^32 like the count of sent messages.
  received = (received + 1) | 0;
  const request = message.kind === 'call' || message.kind === 'open' ? requestOf(message) : {};
  scheduler.add({ priority: message.priority, work: workOf(message), message, request });
}

/** Time that a stream has waited counts for each of its items. */
function workOf(message: ToThread): Work {
  if (message.kind === 'call' || message.kind === 'open') return newWork(message.expectedMs);
  return (message.kind === 'end' ? undefined : streams.get(message.id)?.work) ?? newWork(0);
}

/** Receives messages that arrived meanwhile. */
function receiveAll(): void {
  if (parentPort === null) return;
  for (let next = receiveMessageOnPort(parentPort); next !== undefined; next = receiveMessageOnPort(parentPort))
    receive(next.message as ToThread);
}

/** Waits until the owner of the resident columns has looked for columns that nobody reads. */
function askForRoom(bytes: number): boolean {
  Atomics.store(signals, SIGNALS.room, ROOM.asked);
  send({ kind: 'room', bytes });
  Atomics.wait(signals, SIGNALS.room, ROOM.asked);
  return Atomics.load(signals, SIGNALS.room) === ROOM.made;
}

function perform(asked: Received): void {
  const { message, request } = asked;
  if (message.kind === 'end') {
    for (const { stream } of streams.values()) stream.return();
    parentPort?.close();
    return;
  }
  const { id } = message;
  try {
    if (message.kind === 'call' && isStorageJob(message.name)) send({ id, kind: 'value', value: runJob(message.name, request) });
    else if (queries === undefined) early.push(asked);
    else answer(queries, message, asked);
  } catch (error) {
    streams.delete(id);
    send({ id, kind: 'error', error: toPlainError(error) });
  }
}

function answer(queries: Queries, message: Exclude<ToThread, { kind: 'end' }>, { request, work }: Received): void {
  const { id } = message;
  switch (message.kind) {
    case 'call':
      send({ id, kind: 'value', value: runCall(queries, message.name as keyof Calls, request) });
      return;
    case 'open':
      streams.set(id, { stream: openStream(queries, message.name as keyof Streams, request), work });
      pull(id, undefined);
      return;
    case 'next':
      pull(id, message.input);
      return;
    case 'close':
      streams.get(id)?.stream.return();
      streams.delete(id);
      send({ id, kind: 'item', item: null });
  }
}

function requestOf({ request, data: reference }: Extract<ToThread, { kind: 'call' | 'open' }>): object {
  return reference === null ? request : extended(request, { data: data.resolve(reference) });
}

function pull(id: number, input: StreamInput): void {
  const next = streams.get(id)?.stream.next(input);
  const item = next === undefined || next.done === true ? null : next.value;
  if (item === null || item.isLast) {
    streams.get(id)?.stream.return();
    streams.delete(id);
  }
  send({ id, kind: 'item', item }, transferables(item?.frame ?? null));
}

function send(message: FromThread, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved);
}

// Names and requests were paired by the types of the sending side (`pool.ts`).
function runJob<Name extends EarlyJobName>(name: Name, request: unknown): StorageJobs[Name]['response'] {
  return STORAGE_JOBS[name](request as StorageJobs[Name]['request'], memory, kernelSets.get());
}

function runCall<Name extends keyof Calls>({ CALLS, thread }: Queries, name: Name, request: unknown): Calls[Name]['response'] {
  return CALLS[name](request as Calls[Name]['request'], thread);
}

function openStream<Name extends keyof Streams>({ STREAMS, thread }: Queries, name: Name, request: unknown): Stream {
  return STREAMS[name](request as Streams[Name], thread);
}

function isStorageJob(name: string): name is EarlyJobName {
  return Object.hasOwn(STORAGE_JOBS, name);
}
