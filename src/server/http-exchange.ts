// One request's hold on its connection, from its first byte to the last byte of the response.

import { STATUS_CODES } from 'node:http';
import { Canceller } from '../base/cancel-signal.js';
import { ServiceError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { beginRequest } from '../base/loop-turns.js';
import { createByName } from '../base/names.js';
import { type Caller, NOBODY_CALLER } from '../model/access/authorizer.js';
import type { Alias } from './alias.js';
import { packed } from './answer-encoding.js';
import { type BodyBudget, BodyIntake } from './body-intake.js';
import { unpacked } from './content-encoding.js';
import { decodeSegment } from './dispatch.js';
import { asServiceError } from './errors.js';
import type { HttpRequest, HttpResponse } from './http.types.js';
import type { Answerer } from './responder.js';
import { COMMON_HEADER, COPIED_BYTES_MAX, commonHeaders, pieces, withoutControls } from './socket-write.js';
import type { Socket, SocketRequest } from './sockets.js';
import type { WebGuard } from './web-guard.js';

export interface ExchangeOptions {
  /** `svc.server.http.maxRequestBytes`. */
  readonly maxRequestBytes: number;
  /** One for all ports of a process. */
  readonly bodies: BodyBudget;
  /** `svc.server.http.compressionLevel`. */
  readonly compressionLevel: number;
  /** `svc.server.http.maxIdleTime`. */
  readonly maxIdleMs: number;
  readonly log: Log;
}

/** State shared by the requests of one port. */
export interface Server {
  readonly options: ExchangeOptions;
  /** Whether requests come in over TLS, which tells the address of the client itself. */
  readonly isTls: boolean;
  readonly alias: Alias;
  readonly guard: WebGuard;
  /** Undefined until the port is known, which errors name. */
  answerer: Answerer | undefined;
  /** Requests that are not over. */
  readonly running: Set<Exchange>;
  /** Called when the last of them is over: no more are taken then. */
  whenIdle: (() => void) | undefined;
}

const REWIND_MS = 4000;
const NO_BODY = Buffer.alloc(0);

/**
 * One request's hold on its connection, from the first byte to the last byte of the response, or to the abort; and the
 * request as the routes see it. What uWebSockets.js lends for one turn is copied here in that turn.
 */
export class Exchange implements HttpRequest {
  readonly method: string;
  readonly rawUrl: string;
  readonly headers = createByName<string>();
  readonly viaAlias: boolean;
  caller: Caller = NOBODY_CALLER;
  body: Buffer = NO_BODY;
  readonly #path: string;
  readonly #queryText: string;
  readonly #socket: Socket;
  readonly #server: Server;
  #query: URLSearchParams | undefined;
  #remoteAddress: string | undefined;
  #abort: Canceller | undefined;
  /** uWebSockets.js is calling us for this request: what is written now leaves in one piece without being asked to. */
  #isInTurn = true;
  #closeConnection = false;
  /** The head of the response is written. */
  #begun = false;
  #over = false;
  /** A handler has the request, and its body, even if the client is gone. */
  #handled = false;
  #intake: BodyIntake | undefined;
  /** Set until it is known who sent the request; goes on with it then. */
  #whenAdmitted: (() => void) | undefined;
  /** Set while a body waits for the client to read. */
  #wake: (() => void) | undefined;
  readonly #wakeUp = (): void => this.#wake?.();

  constructor(socket: Socket, head: SocketRequest, server: Server) {
    this.#socket = socket;
    this.#server = server;
    server.running.add(this);
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
    this.#remoteAddress ??= this.#over ? '' : addressOf(this.#socket, this.#server.isTls);
    return this.#remoteAddress;
  }

  /** Signal of the client going away; made on first use, since most requests are over before anyone asks for it. */
  get signal(): HttpRequest['signal'] {
    if (this.#abort === undefined) {
      this.#abort = new Canceller();
      if (this.#over) this.#abort.abort(new ServiceError('cancelled', 'the client closed the connection'));
    }
    return this.#abort;
  }

  /** Answers a request that comes while the server shuts down. */
  turnAway(): void {
    const error = new ServiceError('unavailable', 'this process is shutting down');
    this.#closeConnection = true;
    this.#send(this.#server.answerer?.refuse(this, error) ?? { status: 503 });
  }

  /** A response that has not begun is the error; another one ends without its last chunk. */
  breakOff(error: ServiceError): void {
    this.#isInTurn = false;
    this.#closeConnection = true;
    if (!this.#begun) this.#send(this.#server.answerer?.refuse(this, error) ?? { status: 503 });
    this.#abort?.abort(error);
    if (!this.#over) this.#socket.close();
  }

  /** Reads the body, then answers. Of a body that exceeds a limit nothing is kept. */
  receive(answerer: Answerer): void {
    const refusal = this.#server.guard.refusal(this);
    if (refusal !== undefined) return this.#send(answerer.refuse(this, refusal));
    try {
      const admitted = answerer.admit(this);
      if (admitted instanceof Promise) this.#awaitAdmission(admitted, answerer);
      else this.caller = admitted;
    } catch (error) {
      return this.#send(answerer.refuse(this, asServiceError(error)));
    }
    const declared = Number(this.headers['content-length'] ?? 0);
    if (declared === 0 && this.headers['transfer-encoding'] === undefined) return this.#answer(answerer);
    const { maxRequestBytes, bodies } = this.#server.options;
    const intake = new BodyIntake(maxRequestBytes, bodies);
    this.#intake = intake;
    try {
      intake.expect(declared);
    } catch (error) {
      return this.#send(answerer.refuse(this, asServiceError(error)));
    }
    this.#socket.onData((lent, isLast) => {
      if (this.#over) return;
      try {
        intake.add(lent);
      } catch (error) {
        return this.#send(answerer.refuse(this, asServiceError(error)));
      }
      if (!isLast) return;
      this.body = intake.whole();
      if (this.headers['content-encoding'] === undefined) this.#answer(answerer);
      else void this.#unpack(answerer, intake, this.headers['content-encoding']);
    });
  }

  /** The body is taken meanwhile. */
  #awaitAdmission(admitted: Promise<Caller>, answerer: Answerer): void {
    this.#isInTurn = false;
    this.#whenAdmitted = () => undefined;
    admitted.then(
      (caller) => {
        this.caller = caller;
        const resume = this.#whenAdmitted;
        this.#whenAdmitted = undefined;
        resume?.();
      },
      (error: unknown) => {
        if (!this.#over) this.#send(answerer.refuse(this, asServiceError(error)));
      },
    );
  }

  /** Unpacks the body, so that handlers here and behind the router read it uncompressed. */
  async #unpack(answerer: Answerer, intake: BodyIntake, encoding: string): Promise<void> {
    this.#isInTurn = false;
    try {
      this.body = await unpacked(this.body, encoding, this.#server.options.maxRequestBytes, (bytes) => intake.take(bytes));
      delete this.headers['content-encoding'];
    } catch (error) {
      return this.#send(answerer.refuse(this, asServiceError(error)));
    }
    if (this.#over) intake.giveBack();
    else this.#answer(answerer);
  }

  #answer(answerer: Answerer): void {
    if (this.#whenAdmitted !== undefined) {
      this.#whenAdmitted = () => {
        if (!this.#over) this.#answer(answerer);
      };
      return;
    }
    beginRequest();
    const response = answerer.answer(this);
    if (!(response instanceof Promise)) return this.#send(response);
    this.#isInTurn = false;
    this.#handled = true;
    void response.then((made) => {
      this.#handled = false;
      if (this.#over) this.#intake?.giveBack();
      this.#send(made);
    });
  }

  #send(response: HttpResponse): void {
    if (this.method === 'HEAD') return this.#deliver(response);
    const made = packed(response, this.headers['accept-encoding'], this.#server.options.compressionLevel);
    if (!(made instanceof Promise)) return this.#deliver(made);
    this.#isInTurn = false;
    void made.catch(() => response).then((whole) => this.#deliver(whole));
  }

  #deliver(response: HttpResponse): void {
    const { body = '' } = response;
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) return void this.#sendStream(response, body[Symbol.asyncIterator]());
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
    // Asked for only when the client does not read as fast as the answer is made.
    let ended: HttpRequest['signal'] | undefined;
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
          ended ??= response.ended?.();
          ended?.addEventListener('abort', this.#wakeUp);
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
      // Written bytes leave at the end of the tick. A missing last chunk tells the client that the body is incomplete.
      await new Promise((resolve) => setImmediate(resolve));
      if (!this.#over) socket.close();
    } finally {
      ended?.removeEventListener('abort', this.#wakeUp);
      await chunks.return?.().catch((error: unknown) => this.#server.options.log.warn('closing a response body failed', { error }));
    }
  }

  #writeHead({ status, headers = {} }: HttpResponse): void {
    this.#begun = true;
    // 200 OK is what uWebSockets.js writes unless it is told otherwise.
    if (status !== 200) this.#socket.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`);
    const mirrored = this.#server.alias.responseHeaders(headers);
    for (const [name, value] of Object.entries(mirrored)) this.#socket.writeHeader(name, withoutControls(value));
    this.#socket.writeHeader(COMMON_HEADER, commonHeaders(this.#closeConnection, this.#server.isTls));
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
    if (!this.#handled) this.#intake?.giveBack();
    const { running, whenIdle } = this.#server;
    running.delete(this);
    if (running.size === 0) whenIdle?.();
  }
}

function addressOf(socket: Socket, isTls: boolean): string {
  return Buffer.from(isTls ? socket.getProxiedRemoteAddressAsText() : socket.getRemoteAddressAsText()).toString();
}
