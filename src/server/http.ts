// HTTP server of one port.

import type { TlsOptions } from 'node:tls';
import { ServiceError } from '../base/errors.js';
import type { Gate } from './access/gate.js';
import { createAlias } from './alias.js';
import type { Route } from './http.types.js';
import { Exchange, type ExchangeOptions, type Server } from './http-exchange.js';
import { type AnswerOptions, createAnswerer } from './responder.js';
import { listen } from './sockets.js';
import { openTlsFront, privateSocket, type TlsFront } from './tls-front.js';
import { WebGuard } from './web-guard.js';

export interface ServeOptions extends ExchangeOptions {
  readonly routes: Iterable<Route>;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Certificates and rules of TLS; undefined: without. */
  readonly tls?: TlsOptions;
  /** `svc.server.http.allowedHosts`. */
  readonly allowedHosts: readonly string[];
  /** `svc.server.http.apiName`. */
  readonly apiName: string;
  /** Finds out who sends requests. */
  readonly gate: Gate;
  /** Told of every request that is answered with an error. */
  readonly onRefused?: AnswerOptions['onRefused'];
}

export interface HttpServer {
  readonly port: number;
  /** New connections are made with these certificates. */
  renew(tls: TlsOptions): void;
  /**
   * Takes no new connection, answers new requests on open ones with 503, waits up to `graceMs` for running ones, answers
   * those whose response has not begun with 503 then, breaks the others off and closes everything.
   */
  close(graceMs: number): Promise<void>;
}

/** @throws ServiceError `unavailable` when the port is taken */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const { host, log, tls } = options;
  const alias = createAlias(options.apiName);
  const server: Server = {
    options,
    isTls: tls !== undefined,
    alias,
    guard: new WebGuard(options),
    answerer: undefined,
    running: new Set(),
    whenIdle: undefined,
  };
  const inner = tls === undefined ? undefined : privateSocket();
  const listening = await listen(inner ?? { host, port: options.port }, (socket, head) => {
    const exchange = new Exchange(socket, head, server);
    if (server.answerer === undefined || server.whenIdle !== undefined) exchange.turnAway();
    else exchange.receive(server.answerer);
  });
  let front: TlsFront | undefined;
  try {
    if (tls !== undefined && inner !== undefined) front = await openTlsFront({ host, port: options.port, secure: tls, log }, inner.path);
  } catch (error) {
    listening.stop();
    inner?.remove();
    throw error;
  }
  const port = front?.port ?? listening.port;
  const { routes, gate, onRefused } = options;
  server.answerer = createAnswerer({ routes, alias, host: `${host}:${port}`, gate, log, onRefused });

  let closing: Promise<void> | undefined;
  const close = async (graceMs: number) => {
    front?.stop();
    listening.stop();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      server.whenIdle = resolve;
      if (server.running.size === 0) resolve();
      else timer = setTimeout(resolve, graceMs);
    });
    clearTimeout(timer);
    const late = new ServiceError('unavailable', `this process is shutting down; the request did not end in the ${graceMs} ms it had left`);
    for (const exchange of [...server.running]) exchange.breakOff(late);
    // uWebSockets.js sends at the end of the tick, so closing waits for it.
    await new Promise((resolve) => setImmediate(resolve));
    listening.close();
    front?.close();
    inner?.remove();
  };
  return { port, renew: (renewed) => front?.renew(renewed), close: (graceMs) => (closing ??= close(graceMs)) };
}
