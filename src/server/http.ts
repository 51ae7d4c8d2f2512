import type { HttpResponse as Socket, HttpRequest as SocketRequest } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { ServiceError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { type Alias, createAlias } from './alias.js';
import { type Answerer, createAnswerer } from './answer.js';
import { decodeSegment } from './dispatch.js';
import type { HttpRequest, HttpResponse, Route } from './http.types.js';

export interface ServeOptions {
  readonly routes: Iterable<Route>;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** `svc.server.http.maxRequestBytes`. */
  readonly maxRequestBytes: number;
  /** `svc.server.http.maxIdleTime`. */
  readonly maxIdleMs: number;
  /** `svc.server.http.apiName`. */
  readonly apiName: string;
  /** What the processes of a cluster know each other by: internal routes answer those who send it. */
  readonly clusterKey: string;
  readonly log: Log;
}

export interface HttpServer {
  readonly port: number;
  /**
   * Takes no new connection, answers new requests on open ones with 503, waits up to `graceMs` for running ones, then
   * aborts these and closes everything.
   */
  close(graceMs: number): Promise<void>;
}

// uWebSockets.js reads its limit on request headers when it is loaded; this is the only file that loads it.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '8192';
const { App, us_listen_socket_close, us_socket_local_port } = await import('uWebSockets.js');
type ListenSocket = Parameters<typeof us_listen_socket_close>[0];
/** Of the package's `ListenOptions`, which exist as a type only. Not exclusive, two processes could share a port. */
const EXCLUSIVE_PORT = 1;
/** A form of `listen` that the package's own types leave out. */
interface ExclusiveListener {
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): void;
}

const REWIND_MS = 4000;

/** Larger bodies go out as fast as the client reads, rather than into the socket's buffer at once. */
const COPIED_BYTES_MAX = 65536;

/** @throws ServiceError `unavailable` when the port is taken */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const { host, log } = options;
  const running = new Set<Exchange>();
  let whenIdle: (() => void) | undefined;
  let answerer: Answerer | undefined;
  const alias = createAlias(options.apiName);

  const app = App().any('/*', (socket, head) => {
    const exchange = new Exchange(socket, head.getCaseSensitiveMethod() === 'HEAD', alias, options, () => {
      running.delete(exchange);
      if (running.size === 0) whenIdle?.();
    });
    running.add(exchange);
    const request = new IncomingRequest(head, alias, exchange);
    if (answerer === undefined || whenIdle !== undefined) {
      exchange.closeConnection = true;
      const error = new ServiceError('unavailable', 'this process is shutting down');
      exchange.send(answerer?.refuse(request, error) ?? { status: 503 });
      return;
    }
    const { answer, refuse } = answerer;
    readBody(
      socket,
      request,
      options.maxRequestBytes,
      () => {
        const response = answer(request);
        if (response instanceof Promise) void response.then((made) => exchange.send(made));
        else exchange.send(response);
      },
      (error) => exchange.send(refuse(request, error)),
    );
  });

  const listening = await new Promise<ListenSocket | false>((resolve) =>
    (app as unknown as ExclusiveListener).listen(host, options.port, EXCLUSIVE_PORT, resolve),
  );
  if (listening === false)
    throw new ServiceError('unavailable', `cannot listen on ${host}:${options.port}: the port is in use or not permitted`);
  const port = us_socket_local_port(listening);
  answerer = createAnswerer({ routes: options.routes, alias, host: `${host}:${port}`, clusterKey: options.clusterKey, log });

  let closing: Promise<void> | undefined;
  const close = async (graceMs: number) => {
    us_listen_socket_close(listening);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      whenIdle = resolve;
      if (running.size === 0) resolve();
      else timer = setTimeout(resolve, graceMs);
    });
    clearTimeout(timer);
    app.close();
  };
  return { port, close: (graceMs) => (closing ??= close(graceMs)) };
}

/** A request as the routes see it. What uWebSockets.js lends for one tick is copied here in that tick. */
class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly rawUrl: string;
  readonly headers: Record<string, string> = {};
  readonly viaAlias: boolean;
  body: Buffer = NO_BODY;
  readonly #path: string;
  readonly #queryText: string;
  readonly #exchange: Exchange;
  #query: URLSearchParams | undefined;

  constructor(head: SocketRequest, alias: Alias, exchange: Exchange) {
    this.method = head.getCaseSensitiveMethod();
    const query: string | undefined = head.getQuery(); // absent when there is no '?', whatever its type says
    this.#queryText = query ?? '';
    const url = head.getUrl();
    this.rawUrl = this.#queryText === '' ? url : `${url}?${this.#queryText}`;
    head.forEach((name, value) => {
      // The first of several counts, as is documented for Content-Type.
      this.headers[name] ??= value;
    });
    alias.requestHeaders(this.headers);
    ({ path: this.#path, viaAlias: this.viaAlias } = alias.path(url));
    this.#exchange = exchange;
  }

  get path(): string {
    const trimmed = this.#path.length > 1 && this.#path.endsWith('/') ? this.#path.slice(0, -1) : this.#path;
    return decodeSegment(trimmed);
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.#queryText));
  }

  get remoteAddress(): string {
    return this.#exchange.remoteAddress;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}

const NO_BODY = Buffer.alloc(0);

/** Calls exactly one of `done` and `refuse`, unless the client goes away first. What exceeds the limit is not kept. */
function readBody(
  socket: Socket,
  request: IncomingRequest,
  bytesMax: number,
  done: () => void,
  refuse: (error: ServiceError) => void,
): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  const tooLarge = () =>
    refuse(new ServiceError('body_too_large', `the request body is larger than svc.server.http.maxRequestBytes (${bytesMax} bytes)`));
  if (declared > bytesMax) {
    tooLarge();
    return;
  }
  if (declared === 0 && request.headers['transfer-encoding'] === undefined) {
    done();
    return;
  }

  let parts: Buffer[] = [];
  let sizeBytes = 0;
  socket.onData((lent, isLast) => {
    const before = sizeBytes;
    sizeBytes += lent.byteLength;
    if (sizeBytes > bytesMax) {
      parts = [];
      return before > bytesMax ? undefined : tooLarge();
    }
    // Copied, for it is lent; small ones side by side into memory that buffers share.
    const part = Buffer.from(new Uint8Array(lent));
    if (isLast && parts.length === 0) request.body = part;
    else parts.push(part);
    if (!isLast) return;
    if (parts.length > 0) request.body = Buffer.concat(parts);
    done();
  });
}

/** One request's hold on its connection: from the first byte to the last byte of the response, or to the abort. */
class Exchange {
  closeConnection = false;
  readonly #socket: Socket;
  readonly #isHead: boolean;
  readonly #alias: Alias;
  readonly #options: ServeOptions;
  readonly #ended: () => void;
  #over = false;
  #remoteAddress: string | undefined;
  #abort: AbortController | undefined;
  /** Set while a body waits for the client to read. */
  #wake: (() => void) | undefined;

  constructor(socket: Socket, isHead: boolean, alias: Alias, options: ServeOptions, ended: () => void) {
    this.#socket = socket;
    this.#isHead = isHead;
    this.#alias = alias;
    this.#options = options;
    this.#ended = ended;
    socket.onAborted(() => {
      this.#end();
      this.#abort?.abort(new ServiceError('cancelled', 'the client closed the connection'));
      this.#wake?.();
    });
  }

  /** Looked up when it is first asked for, as long as the connection is open: nearly nobody asks. */
  get remoteAddress(): string {
    this.#remoteAddress ??= this.#over ? '' : Buffer.from(this.#socket.getRemoteAddressAsText()).toString();
    return this.#remoteAddress;
  }

  /** Made when it is first asked for: most requests are over before anyone does. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#over) this.#abort.abort(new ServiceError('cancelled', 'the client closed the connection'));
    }
    return this.#abort.signal;
  }

  send(response: HttpResponse): void {
    const { body = '' } = response;
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
      void this.#sendStream(response, body[Symbol.asyncIterator]());
      return;
    }
    if (this.#over) return;
    const sizeBytes = Buffer.byteLength(body);
    if (sizeBytes > COPIED_BYTES_MAX && !this.#isHead) {
      void this.#sendLarge(response, typeof body === 'string' ? Buffer.from(body) : body);
      return;
    }
    this.#socket.cork(() => {
      this.#writeHead(response);
      if (response.status === 204 || response.status === 304) this.#socket.endWithoutBody();
      else if (this.#isHead) this.#socket.endWithoutBody(sizeBytes, this.closeConnection);
      else this.#socket.end(body, this.closeConnection);
    });
    this.#end();
  }

  async #sendLarge(response: HttpResponse, body: Uint8Array): Promise<void> {
    const socket = this.#socket;
    this.#listenForRoom();
    const begin = socket.getWriteOffset();
    socket.cork(() => this.#writeHead(response));
    while (!this.#over) {
      const rest = body.subarray(socket.getWriteOffset() - begin);
      let room = false;
      let done = false;
      socket.cork(() => {
        [room, done] = socket.tryEnd(rest, body.byteLength);
      });
      if (done) return this.#end();
      if (!room) await this.#room();
    }
  }

  async #sendStream(response: HttpResponse, chunks: AsyncIterator<string | Uint8Array>): Promise<void> {
    const socket = this.#socket;
    try {
      if (!this.#over) {
        this.#listenForRoom();
        socket.cork(() => this.#writeHead(response));
      }
      while (!this.#over && !this.#isHead) {
        const next = await chunks.next();
        if (this.#over || next.done === true) break;
        // A write of no bytes would end the body.
        if (next.value.length === 0) continue;
        let room = false;
        socket.cork(() => {
          room = socket.write(next.value);
        });
        if (!room) await this.#room();
      }
      if (!this.#over) {
        socket.cork(() => (this.#isHead ? socket.endWithoutBody() : socket.end(undefined, this.closeConnection)));
        this.#end();
      }
    } catch (error) {
      if (this.#over) return;
      this.#options.log.error('a response ended early', { error });
      // What was written leaves at the end of the tick. Without its last chunk the client can tell the body is not whole.
      await new Promise((resolve) => setImmediate(resolve));
      if (!this.#over) socket.close();
    } finally {
      await chunks.return?.().catch((error: unknown) => this.#options.log.warn('closing a response body failed', { error }));
    }
  }

  #writeHead({ status, headers = {} }: HttpResponse): void {
    // 200 OK is what uWebSockets.js writes unless it is told otherwise.
    if (status !== 200) this.#socket.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`);
    const mirrored = this.#alias.responseHeaders(headers);
    for (const name in mirrored) this.#socket.writeHeader(name, withoutControls(mirrored[name] ?? ''));
  }

  #listenForRoom(): void {
    this.#socket.onWritable(() => {
      this.#wake?.();
      return true;
    });
  }

  /** Resolves when the client has read what was written, or went away, or stalled for too long and was cut off. */
  async #room(): Promise<void> {
    const deadline = setTimeout(() => {
      this.#options.log.warn('a client stopped reading its response', { maxIdleMs: this.#options.maxIdleMs });
      this.#socket.close();
    }, this.#options.maxIdleMs);
    // uWebSockets.js cuts a connection ten seconds after the last write; resuming it winds that clock up again.
    const rewind = setInterval(() => {
      this.#socket.pause();
      this.#socket.resume();
    }, REWIND_MS);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
    clearTimeout(deadline);
    clearInterval(rewind);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
  }
}

/** A value may carry what a client sent, such as a query id; it must not begin a header of its own. */
function withoutControls(value: string): string {
  return /[^\x20-\x7e]/.test(value) ? value.replace(/\p{Cc}+/gu, ' ') : value;
}
