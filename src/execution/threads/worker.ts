import { parentPort, workerData } from 'node:worker_threads';
import type { KernelMemoryHandle } from '../../kernels/memory.js';
import { KernelMemory } from '../../kernels/memory.js';
import type { FromThread, ToThread } from './messages.js';
import { toPlainError, transferables } from './messages.js';
import { ReceivedData } from './sent-data.js';
import type { Calls, Stream, Streams } from './work.js';
import { CALLS, STREAMS, WorkBench } from './work.js';

/** Entry of a processing thread. It does one piece of work at a time and sends columns, never rows. */
const { handle, kernels } = workerData as { handle: KernelMemoryHandle; kernels: string };
const bench = new WorkBench(KernelMemory.attach(handle), kernels);
const streams = new Map<number, Stream>();
const received = new ReceivedData();

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'end') {
    for (const stream of streams.values()) stream.return();
    parentPort?.close();
    return;
  }
  const { id } = message;
  try {
    answer(message);
  } catch (error) {
    streams.delete(id);
    send({ id, kind: 'error', error: toPlainError(error) });
  }
});

function answer(message: Exclude<ToThread, { kind: 'end' }>): void {
  const { id } = message;
  switch (message.kind) {
    case 'call':
      send({ id, kind: 'value', value: runCall(message.name as keyof Calls, requestOf(message)) });
      return;
    case 'open':
      streams.set(id, openStream(message.name as keyof Streams, requestOf(message)));
      pull(id, undefined);
      return;
    case 'next':
      pull(id, message.parts);
      return;
    case 'close':
      streams.get(id)?.return();
      streams.delete(id);
      send({ id, kind: 'item', item: null });
  }
}

function requestOf({ request, data }: Extract<ToThread, { kind: 'call' | 'open' }>): object {
  return data === null ? request : { ...request, data: received.resolve(data) };
}

function pull(id: number, parts: Parameters<Stream['next']>[0]): void {
  const next = streams.get(id)?.next(parts);
  const item = next === undefined || next.done === true ? null : next.value;
  if (item === null || item.isLast) {
    streams.get(id)?.return();
    streams.delete(id);
  }
  send({ id, kind: 'item', item }, transferables(item?.frame ?? null));
}

function send(message: FromThread, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved);
}

// Names and requests were paired by the types of the sending side (`pool.ts`).
function runCall<Name extends keyof Calls>(name: Name, request: unknown): Calls[Name]['response'] {
  return CALLS[name](request as Calls[Name]['request'], bench);
}

function openStream<Name extends keyof Streams>(name: Name, request: unknown): Stream {
  return STREAMS[name](request as Streams[Name], bench);
}
