// Routes of `/status`.

import { getHeapStatistics } from 'node:v8';
import { stringifyJson } from '../../base/json.js';
import type { Configuration } from '../../configuration/configuration.js';
import type { HttpResponse, Route, RouteAccess } from '../http.types.js';
import { CONTENT_TYPE } from '../metrics/exposition.js';
import { CONFIG_READ, PUBLIC, STATE_READ } from './exchange.js';

export interface StatusSource {
  readonly configuration: Configuration;
  readonly version: string;
  /** Shown as `modules`, such as the kernel sets that are loaded. */
  readonly modules: readonly { readonly name: string; readonly artifact: string; readonly version: string }[];
  /** Whether the coordination mechanism has confirmed that this process joined the cluster. */
  selfDiscovered(): boolean;
  /** The metrics of the process, in the text form of Prometheus. */
  metrics(): Promise<string>;
}

/** The paths that every role answers. */
export function statusRoutes(source: StatusSource): readonly Route[] {
  const state = (name: string, permission: RouteAccess, read: () => unknown): Route => ({
    method: 'GET',
    path: name,
    permission,
    errors: 'map',
    handle: async () => json(200, read()),
  });
  return [
    state('/status', STATE_READ, () => ({ ...versions(source), modules: source.modules, memory: memory() })),
    state('/status/properties', CONFIG_READ, () => source.configuration.visibleProperties()),
    state('/status/health', PUBLIC, () => true),
    {
      method: 'GET',
      path: '/metrics',
      permission: STATE_READ,
      errors: 'map',
      handle: async () => ({ status: 200, headers: { 'Content-Type': CONTENT_TYPE }, body: await source.metrics() }),
    },
    state('/status/selfDiscovered/status', STATE_READ, () => ({ selfDiscovered: source.selfDiscovered() })),
    {
      method: 'GET',
      path: '/status/selfDiscovered',
      permission: STATE_READ,
      errors: 'map',
      handle: async () => (source.selfDiscovered() ? { status: 200 } : json(503, { error: 'this process has not joined the cluster yet' })),
    },
  ];
}

/** Clients of another interface compare its version with what they know; ours stands beside it then. */
function versions({ configuration, version }: StatusSource): Readonly<Record<string, string>> {
  if (configuration.get('svc.server.http.apiName') === 'svc') return { version };
  return { version: configuration.get('svc.server.http.apiVersion'), dolmenVersion: version };
}

function json(status: number, value: unknown): HttpResponse {
  return { status, headers: { 'Content-Type': 'application/json' }, body: stringifyJson(value) };
}

/** Bytes. `directMemory` is what lies outside the JavaScript heap: buffers and kernel memory. */
function memory(): Readonly<Record<string, number>> {
  const { heapUsed, heapTotal, external } = process.memoryUsage();
  return {
    maxMemory: getHeapStatistics().heap_size_limit,
    totalMemory: heapTotal,
    freeMemory: heapTotal - heapUsed,
    usedMemory: heapUsed,
    directMemory: external,
  };
}
