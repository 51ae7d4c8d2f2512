// A connection to a broker of Kafka: requests and their answers, in order, each a length and that many bytes.

import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { AnswerBytes } from './answer-bytes.js';
import { type BrokerRequest, REQUEST_KINDS } from './requests.js';
import { WireReader, WireWriter } from './wire.js';

const KEEP_ALIVE_MS = 30_000;

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

const PORT = 9092;
const SERVER = /^(?:[A-Za-z_]+:\/\/)?(?:\[([^\s[\]]+)\]|([^\s:/[\]]+))(?::(\d{1,5}))?$/;

/** Brokers such as `localhost:9092`, `[::1]:9092` or `SASL_SSL://b-1:9096`, with commas between; null for anything else. */
export function addressesOf(servers: string): readonly BrokerAddress[] | null {
  const addresses: BrokerAddress[] = [];
  for (const server of servers.split(',').filter((each) => each.trim() !== '')) {
    const [whole, bracketed, bare, port = PORT] = SERVER.exec(server.trim()) ?? [];
    if (whole === undefined || Number(port) < 1 || Number(port) > 65_535) return null;
    addresses.push({ host: bracketed ?? bare ?? '', port: Number(port) });
  }
  return addresses.length === 0 ? null : addresses;
}

export interface ConnectionSettings extends BrokerAddress {
  readonly clientId: string;
  readonly timeoutMs: number;
  /** null: no TLS. */
  readonly tls: ConnectionOptions | null;
}

interface Waiting {
  readonly number: number;
  readonly answer: (bytes: Buffer) => void;
  readonly fail: (error: Error) => void;
  /** Told of each piece of an answer. */
  readonly more: () => void;
}

/** Connects. @throws Error of the socket */
export async function openConnection({ host, port, clientId, timeoutMs, tls }: ConnectionSettings): Promise<BrokerConnection> {
  const answers = new AnswerBytes();
  // Answers are read to where they stay: chunks of a socket would be joined, and collected.
  const onread = {
    buffer: () => answers.room(),
    callback(count: number) {
      answers.received(count);
      return true;
    },
  };
  const to = { host, port, onread };
  const socket = tls === null ? connect(to) : connectSecurely({ ...tls, ...to });
  socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
  try {
    await within(timeoutMs, 'connection', (done, fail) => {
      socket.once(tls === null ? 'connect' : 'secureConnect', done);
      socket.once('error', fail);
      socket.once('close', () => fail(new Error('the broker closed the connection')));
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return new BrokerConnection(socket, answers, clientId);
}

export class BrokerConnection {
  readonly #socket: Socket;
  readonly #clientId: string;
  #number = 0;
  /** In the order in which they were sent, which is that of answers. */
  readonly #waiting: Waiting[] = [];
  #failure: Error | null = null;

  constructor(socket: Socket, answers: AnswerBytes, clientId: string) {
    this.#socket = socket;
    this.#clientId = clientId;
    answers.listen({
      more: () => this.#waiting[0]?.more(),
      answer: (bytes) => this.#answer(bytes),
      refuse: (size) => this.#fail(new Error(`an answer of ${size} bytes is not one of Kafka`)),
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the broker closed the connection')));
  }

  get isOpen(): boolean {
    return this.#failure === null;
  }

  /** @throws Error when the connection is lost or closed, and the answer late or unreadable; the connection is closed then */
  async ask<Value>({ kind, write, read }: BrokerRequest<Value>, timeoutMs: number): Promise<Value> {
    if (this.#failure !== null) throw this.#failure;
    const { key, version } = REQUEST_KINDS[kind];
    const number = this.#number;
    this.#number = (number + 1) % 2 ** 31;
    const request = new WireWriter().int16(key).int16(version).int32(number).string(this.#clientId);
    write(request);
    try {
      return await within(timeoutMs, 'answer', (done, fail, more) => {
        this.#waiting.push({ number, answer: (bytes) => done(read(new WireReader(bytes))), fail, more });
        this.#socket.write(request.framed());
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#fail(new Error('the connection is closed'));
  }

  #fail(error: Error): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#socket.destroy();
    for (const { fail } of this.#waiting.splice(0)) fail(error);
  }

  #answer(bytes: Buffer): void {
    const [waiting] = this.#waiting;
    if (waiting === undefined || bytes.readInt32BE(0) !== waiting.number)
      return this.#fail(new Error('the broker answers what was not asked'));
    this.#waiting.shift();
    try {
      waiting.answer(bytes.subarray(4));
    } catch (error) {
      waiting.fail(new Error('the answer of the broker cannot be read', { cause: error }));
    }
  }
}

/** A value that comes within a time, which begins anew with `more`: a long answer over a slow network is not late while it comes. */
async function within<Value>(
  timeoutMs: number,
  what: string,
  start: (done: (value: Value) => void, fail: (error: Error) => void, more: () => void) => void,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((done, fail) => {
      timer = setTimeout(() => fail(new Error(`no ${what} within ${timeoutMs} ms`)), timeoutMs);
      start(done, fail, () => timer?.refresh());
    });
  } finally {
    clearTimeout(timer);
  }
}
