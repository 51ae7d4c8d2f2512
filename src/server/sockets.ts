// The only file that loads uWebSockets.js: listens for requests on a port or on a socket of the file system.

import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import { ServiceError } from '../base/errors.js';

export type Socket = UwsResponse;
export type SocketRequest = UwsRequest;

// uWebSockets.js reads its limit on request headers when it is loaded.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '8192';
const { App, us_listen_socket_close, us_socket_local_port } = await import('uWebSockets.js');
type ListenSocket = Parameters<typeof us_listen_socket_close>[0];
/** `ListenOptions.LIBUS_LISTEN_EXCLUSIVE_PORT`, which the package exports as a type only. Without it two processes could share a port. */
const EXCLUSIVE_PORT = 1;
/** Forms of `listen` that the package's own types leave out. */
interface Listener {
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): void;
  listen_unix(done: (socket: ListenSocket | false) => void, path: string): void;
}

export interface Listening {
  /** 0 on a socket of the file system. */
  readonly port: number;
  /** Takes no new connection. */
  stop(): void;
  /** Ends the open ones. */
  close(): void;
}

/** A port of an address, 0 for any free one, or a path of the file system. */
export type Place = { readonly host: string; readonly port: number } | { readonly path: string };

/** @throws ServiceError `unavailable` when the port is taken */
export async function listen(place: Place, handle: (socket: Socket, head: SocketRequest) => void): Promise<Listening> {
  const app = App().any('/*', handle);
  const listener = app as unknown as Listener;
  const socket = await new Promise<ListenSocket | false>((resolve) => {
    if ('path' in place) listener.listen_unix(resolve, place.path);
    else listener.listen(place.host, place.port, EXCLUSIVE_PORT, resolve);
  });
  if (socket === false) throw cannotListen('path' in place ? place.path : `${place.host}:${place.port}`);
  return { port: 'path' in place ? 0 : us_socket_local_port(socket), stop: () => us_listen_socket_close(socket), close: () => app.close() };
}

export function cannotListen(place: string, cause?: unknown): ServiceError {
  return new ServiceError('unavailable', `cannot listen on ${place}: the port is in use or not permitted`, cause);
}
