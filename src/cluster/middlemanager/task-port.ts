// The port of a task's process: other processes of the cluster call it there.

import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Canceller } from '../../base/cancel-signal.js';
import { answerCall } from '../rpc/answer.js';
import { CLUSTER_KEY_HEADER, REMAINING_HEADER, RPC_CONTENT_TYPE } from '../rpc/message.js';
import type { TaskService } from '../rpc/services.js';
import type { ServingSettings } from './task-messages.js';

const PATH = /^\/internal\/v1\/task\/(\w+)$/;
/** Bytes of a plan, with the lists of values that it may carry. */
const BODY_BYTES_MAX = 2 ** 28;
const REMAINING_MS_MAX = 86_400_000;
/** Longest time that queries under way have when the port closes, and time between two looks at them. */
const CLOSE_MS_MAX = 5000;
const IDLE_LOOK_MS = 20;

export interface TaskPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens for the calls of other processes, which know the key of the cluster; a port of 0 is any that is free. */
export function openTaskPort(service: TaskService, { address, port, clusterKey, tls }: ServingSettings): Promise<TaskPort> {
  const handle = (request: IncomingMessage, response: ServerResponse) => void answer(request, response, service, clusterKey);
  const server = tls === null ? createServer(handle) : createSecureServer({ ...tls, minVersion: 'TLSv1.2' }, handle);
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, address, () => {
      const close = (): Promise<void> =>
        new Promise((closed) => {
          // Queries under way are answered to their end.
          const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
          const late = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX);
          server.close(() => {
            clearInterval(idle);
            clearTimeout(late);
            closed();
          });
          server.closeIdleConnections();
        });
      resolve({ port: (server.address() as AddressInfo).port, close });
    });
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, service: TaskService, clusterKey: string): Promise<void> {
  const method = PATH.exec(request.url ?? '')?.[1];
  const refusal = method === undefined || request.method !== 'POST' ? 404 : isOfCluster(request, clusterKey) ? undefined : 403;
  if (refusal !== undefined || method === undefined) {
    request.resume();
    response.writeHead(refusal ?? 404).end();
    return;
  }
  const gone = new Canceller();
  response.on('close', () => gone.abort(undefined));
  try {
    const body = await bodyOf(request);
    const written = Number(request.headers[REMAINING_HEADER] ?? REMAINING_MS_MAX);
    const remainingMs = Number.isFinite(written) ? Math.min(written, REMAINING_MS_MAX) : REMAINING_MS_MAX;
    response.writeHead(200, { 'content-type': RPC_CONTENT_TYPE });
    for await (const message of answerCall('task', service, { method, body, remainingMs, signal: gone })) {
      if (response.destroyed) return;
      if (!response.write(message)) await new Promise<void>((resolve) => drained(response, resolve));
    }
    response.end();
  } catch {
    response.destroy();
  }
}

function isOfCluster(request: IncomingMessage, clusterKey: string): boolean {
  const [sent, key] = [request.headers[CLUSTER_KEY_HEADER], Buffer.from(clusterKey)];
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  return given.length === key.length && timingSafeEqual(given, key);
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Error('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Calls back once more can be written, or nobody reads any more. */
function drained(response: ServerResponse, then: () => void): void {
  const done = (): void => {
    response.off('drain', done);
    response.off('close', done);
    then();
  };
  response.on('drain', done);
  response.on('close', done);
}
