import type { HttpResponse as Socket, HttpRequest as SocketRequest } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { ServiceError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { createByName } from '../base/names.js';
import { type Alias, createAlias } from './alias.js';
import { unpacked } from './content-encoding.js';
import { decodeSegment } from './dispatch.js';
import { asServiceError } from './errors.js';
import type { HttpRequest, HttpResponse, Route } from './http.types.js';
import { type Answerer, createAnswerer } from './responder.js';

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

/**
 * uWebSockets.js gathers 16 KiB at a time. Of what does not fit beside what stands before it (headers, the length of a
 * chunk) it loses everything, without a word, where the client is behind with reading: no write may be that long.
 */
const GATHERED_BYTES_MAX = 12 * 1024;

/** Larger bodies go out as fast as the client reads, rather than into the socket's buffer at once. */
const COPIED_BYTES_MAX = GATHERED_BYTES_MAX;

/** @throws ServiceError `unavailable` when the port is taken */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const { host, log } = options;
  const alias = createAlias(options.apiName);
  const server: Server = { options, alias, answerer: undefined, running: 0, whenIdle: undefined };

  const app = App().any('/*', (socket, head) => {
    const exchange = new Exchange(socket, head, server);
    if (server.answerer === undefined || server.whenIdle !== undefined) exchange.turnAway();
    else exchange.receive(server.answerer);
  });

  const listening = await new Promise<ListenSocket | false>((resolve) =>
    (app as unknown as ExclusiveListener).listen(host, options.port, EXCLUSIVE_PORT, resolve),
  );
  if (listening === false)
    throw new ServiceError('unavailable', `cannot listen on ${host}:${options.port}: the port is in use or not permitted`);
  const port = us_socket_local_port(listening);
  server.answerer = createAnswerer({ routes: options.routes, alias, host: `${host}:${port}`, clusterKey: options.clusterKey, log });

  let closing: Promise<void> | undefined;
  const close = async (graceMs: number) => {
    us_listen_socket_close(listening);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      server.whenIdle = resolve;
      if (server.running === 0) resolve();
      else timer = setTimeout(resolve, graceMs);
    });
    clearTimeout(timer);
    app.close();
  };
  return { port, close: (graceMs) => (closing ??= close(graceMs)) };
}

/** What the requests of one port share. */
interface Server {
  readonly options: ServeOptions;
  readonly alias: Alias;
  /** Undefined until the port is known, which errors name. */
  answerer: Answerer | undefined;
  /** Requests that are not over. */
  running: number;
  /** Called when the last of them is over: no more are taken then. */
  whenIdle: (() => void) | undefined;
}

const NO_BODY = Buffer.alloc(0);

/**
 * One request's hold on its connection, from the first byte to the last byte of the response, or to the abort; and the
 * request as the routes see it. What uWebSockets.js lends for one turn is copied here in that turn.
 */
class Exchange implements HttpRequest {
  readonly method: string;
  readonly rawUrl: string;
  readonly headers = createByName<string>();
  readonly viaAlias: boolean;
  body: Buffer = NO_BODY;
  readonly #path: string;
  readonly #queryText: string;
  readonly #socket: Socket;
  readonly #server: Server;
  #query: URLSearchParams | undefined;
  #remoteAddress: string | undefined;
  #abort: AbortController | undefined;
  /** uWebSockets.js is calling us for this request: what is written now leaves in one piece without being asked to. */
  #isInTurn = true;
  #closeConnection = false;
  #over = false;
  /** Set while a body waits for the client to read. */
  #wake: (() => void) | undefined;

  constructor(socket: Socket, head: SocketRequest, server: Server) {
    this.#socket = socket;
    this.#server = server;
    server.running++;
    this.method = head.getCaseSensitiveMethod();
    const query: string | undefined = head.getQuery(); // absent when there is no '?', whatever its type says
    this.#queryText = query ?? '';
    const url = head.getUrl();
    this.rawUrl = this.#queryText === '' ? url : `${url}?${this.#queryText}`;
    head.forEach((name, value) => {
      // The first of several counts, as is documented for Content-Type.
      this.headers[name] ??= value;
    });
    server.alias.requestHeaders(this.headers);
    ({ path: this.#path, viaAlias: this.viaAlias } = server.alias.path(url));
    socket.onAborted(() => {
      this.#end();
      this.#abort?.abort(new ServiceError('cancelled', 'the client closed the connection'));
      this.#wake?.();
    });
  }

  get path(): string {
    const trimmed = this.#path.length > 1 && this.#path.endsWith('/') ? this.#path.slice(0, -1) : this.#path;
    return decodeSegment(trimmed);
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.#queryText));
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

  /** To a request that comes too late. */
  turnAway(): void {
    const error = new ServiceError('unavailable', 'this process is shutting down');
    this.#closeConnection = true;
    this.#send(this.#server.answerer?.refuse(this, error) ?? { status: 503 });
  }

  /** Reads the body, then answers. Of a body that exceeds the limit nothing is kept. */
  receive(answerer: Answerer): void {
    const bytesMax = this.#server.options.maxRequestBytes;
    const declared = Number(this.headers['content-length'] ?? 0);
    if (declared > bytesMax) return this.#send(answerer.refuse(this, tooLarge(bytesMax)));
    if (declared === 0 && this.headers['transfer-encoding'] === undefined) return this.#answer(answerer);
    let parts: Buffer[] | undefined;
    let sizeBytes = 0;
    this.#socket.onData((lent, isLast) => {
      const before = sizeBytes;
      sizeBytes += lent.byteLength;
      if (sizeBytes > bytesMax) {
        parts = undefined;
        if (before <= bytesMax) this.#send(answerer.refuse(this, tooLarge(bytesMax)));
        return;
      }
      // Copied, for it is lent; small ones side by side into memory that buffers share.
      const part = Buffer.from(new Uint8Array(lent));
      if (!isLast || parts !== undefined) (parts ??= []).push(part);
      if (!isLast) return;
      this.body = parts === undefined ? part : Buffer.concat(parts);
      if (this.headers['content-encoding'] === undefined) this.#answer(answerer);
      else void this.#unpack(answerer, this.headers['content-encoding']);
    });
  }

  /** Whoever answers, here or behind the router, reads a body that is not packed. */
  async #unpack(answerer: Answerer, encoding: string): Promise<void> {
    this.#isInTurn = false;
    try {
      this.body = await unpacked(this.body, encoding, this.#server.options.maxRequestBytes);
      delete this.headers['content-encoding'];
    } catch (error) {
      return this.#send(answerer.refuse(this, asServiceError(error)));
    }
    if (!this.#over) this.#answer(answerer);
  }

  #answer(answerer: Answerer): void {
    const response = answerer.answer(this);
    if (!(response instanceof Promise)) return this.#send(response);
    this.#isInTurn = false;
    void response.then((made) => this.#send(made));
  }

  #send(response: HttpResponse): void {
    const { body = '' } = response;
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
      void this.#sendStream(response, body[Symbol.asyncIterator]());
      return;
    }
    if (this.#over) return;
    const sizeBytes = Buffer.byteLength(body);
    if (sizeBytes > COPIED_BYTES_MAX && this.method !== 'HEAD') {
      void this.#sendLarge(response, typeof body === 'string' ? Buffer.from(body) : body);
      return;
    }
    if (this.#isInTurn) this.#write(response, body, sizeBytes);
    else this.#writeLater(response, body, sizeBytes);
    this.#end();
  }

  /** A method of its own: a closure costs what it is made from even where it is not called. */
  #writeLater(response: HttpResponse, body: string | Uint8Array, sizeBytes: number): void {
    this.#socket.cork(() => this.#write(response, body, sizeBytes));
  }

  #write(response: HttpResponse, body: string | Uint8Array, sizeBytes: number): void {
    this.#writeHead(response);
    if (response.status === 204 || response.status === 304) this.#socket.endWithoutBody();
    else if (this.method === 'HEAD') this.#socket.endWithoutBody(sizeBytes, this.#closeConnection);
    else this.#socket.end(body, this.#closeConnection);
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
    const { ended } = response;
    const wake = () => this.#wake?.();
    ended?.addEventListener('abort', wake);
    try {
      if (!this.#over) {
        this.#listenForRoom();
        socket.cork(() => this.#writeHead(response));
      }
      while (!this.#over && this.method !== 'HEAD') {
        const next = await chunks.next();
        if (this.#over || next.done === true) break;
        for (const piece of pieces(next.value)) {
          if (this.#over) break;
          let room = false;
          socket.cork(() => {
            room = socket.write(piece);
          });
          if (room) continue;
          if (ended?.aborted !== true) await this.#room();
          if (ended?.aborted === true) throw ended.reason;
        }
      }
      if (!this.#over) {
        socket.cork(() => (this.method === 'HEAD' ? socket.endWithoutBody() : socket.end(undefined, this.#closeConnection)));
        this.#end();
      }
    } catch (error) {
      if (this.#over) return;
      this.#server.options.log.error('a response ended early', { error });
      // What was written leaves at the end of the tick. Without its last chunk the client can tell the body is not whole.
      await new Promise((resolve) => setImmediate(resolve));
      if (!this.#over) socket.close();
    } finally {
      ended?.removeEventListener('abort', wake);
      await chunks.return?.().catch((error: unknown) => this.#server.options.log.warn('closing a response body failed', { error }));
    }
  }

  #writeHead({ status, headers = {} }: HttpResponse): void {
    // 200 OK is what uWebSockets.js writes unless it is told otherwise.
    if (status !== 200) this.#socket.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`);
    const mirrored = this.#server.alias.responseHeaders(headers);
    for (const [name, value] of Object.entries(mirrored)) this.#socket.writeHeader(name, withoutControls(value));
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
      this.#server.options.log.warn('a client stopped reading its response', { maxIdleMs: this.#server.options.maxIdleMs });
      this.#socket.close();
    }, this.#server.options.maxIdleMs);
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
    const server = this.#server;
    server.running--;
    if (server.running === 0) server.whenIdle?.();
  }
}

/** What can be written in one go each, and none that is empty: a write of no bytes would end the body. */
function* pieces(chunk: string | Uint8Array): Generator<string | Uint8Array> {
  // A character takes three bytes at most.
  const bytesMax = typeof chunk === 'string' ? chunk.length * 3 : chunk.length;
  if (bytesMax === 0) return;
  if (bytesMax <= GATHERED_BYTES_MAX) {
    yield chunk;
    return;
  }
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let at = 0; at < bytes.length; at += GATHERED_BYTES_MAX) yield bytes.subarray(at, at + GATHERED_BYTES_MAX);
}

function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError('body_too_large', `the request body is larger than svc.server.http.maxRequestBytes (${bytesMax} bytes)`);
}

/** A value may carry what a client sent, such as a query id; it must not begin a header of its own. */
function withoutControls(value: string): string {
  return /[^\x20-\x7e]/.test(value) ? value.replace(/\p{Cc}+/gu, ' ') : value;
}
