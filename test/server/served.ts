import { connect, type Socket } from 'node:net';
import { SILENT_LOG } from '../../src/base/log.js';
import { BodyBudget } from '../../src/server/body-intake.js';
import { type HttpServer, type ServeOptions, serve } from '../../src/server/http.js';
import type { HttpResponse, Route } from '../../src/server/http.types.js';
import { openGate } from './open-gate.js';

export function route(method: Route['method'], path: string, handle: Route['handle'], errors: Route['errors'] = 'map'): Route {
  return { method, path, permission: { access: 'public' }, errors, handle };
}
export const text = (body: string, headers: Record<string, string> = {}): HttpResponse => ({ status: 200, headers, body });

export async function withServer(
  routes: readonly Route[],
  use: (base: string, server: HttpServer) => Promise<void>,
  options: Partial<ServeOptions> = {},
): Promise<void> {
  const server = await serve({
    routes,
    host: '127.0.0.1',
    port: 0,
    maxRequestBytes: 100_000,
    bodies: new BodyBudget(2 ** 30),
    allowedHosts: [],
    compressionLevel: 1,
    maxIdleMs: 60_000,
    apiName: 'svc',
    gate: openGate(),
    log: SILENT_LOG,
    ...options,
  });
  try {
    await use(`http://127.0.0.1:${server.port}`, server);
  } finally {
    await server.close(0);
  }
}

/** A connection of which the test decides itself when to read. */
export async function open(base: string, head: string): Promise<Socket> {
  const { port } = new URL(base);
  const socket = connect(Number(port), '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  socket.write(head);
  return socket;
}

export async function until(condition: () => boolean): Promise<void> {
  for (let waitedMs = 0; !condition(); waitedMs += 5) {
    if (waitedMs > 20_000) throw new Error('the awaited condition never held');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export async function* chunksOf(chunks: readonly string[]): AsyncGenerator<string> {
  for (const chunk of chunks) yield chunk;
}
