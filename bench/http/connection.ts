import { connect, type Socket } from 'node:net';
import { bodyOf } from './load.js';

/** Ends the head of an answer. */
const HEAD_END = '\r\n\r\n';

interface Waiting {
  resolve(answer: string): void;
  reject(error: Error): void;
}

/**
 * A connection to a server that takes one request after the other, and is opened again when the server has closed it. Written on
 * a socket: `fetch` takes 1 to 3 ms of this process for each of its first hundred requests, more than a server takes for a small question.
 */
export class Connection {
  readonly #url: URL;
  #socket: Socket | undefined;
  #received: Buffer[] = [];
  #waiting: Waiting | undefined;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  close(): void {
    this.#socket?.destroy();
  }

  /** Rows of a SQL query, as lists of values. */
  async sqlRows(query: string, context: Readonly<Record<string, unknown>> = {}): Promise<unknown[][]> {
    return (await this.post('/svc/v2/sql', { query, resultFormat: 'array', context })) as unknown[][];
  }

  /** The answer to a question in JSON; throws it where it is an error. */
  async post(path: string, question: unknown): Promise<unknown> {
    const body = JSON.stringify(question);
    const head = `POST ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    const answer = await this.#ask(`${head}\r\n\r\n${body}`);
    if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(answer.slice(0, 1000));
    return JSON.parse(bodyOf(answer));
  }

  /**
   * The answer to a request that changes nothing. A server may have closed a connection that was silent for a while, which shows only
   * when it is written to: the request is then sent once more.
   */
  async #ask(request: string): Promise<string> {
    const socket = this.#socket;
    if (socket !== undefined) {
      const answer = await this.#send(socket, request).catch((error: Error) => {
        if (this.#received.length > 0) throw error;
      });
      if (answer !== undefined) return answer;
    }
    return this.#send(await this.#open(), request);
  }

  #send(socket: Socket, request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#received = [];
      this.#waiting = { resolve, reject };
      socket.write(request);
    });
  }

  #open(): Promise<Socket> {
    const { hostname, port } = this.#url;
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () => {
        this.#socket = socket;
        resolve(socket);
      });
      const fail = (error: Error): void => {
        reject(error);
        // An error is followed by the event of closing, when another socket may be in use.
        if (socket !== this.#socket) return;
        this.#socket = undefined;
        this.#end((waiting) => waiting.reject(error));
      };
      socket.on('data', (chunk) => this.#receive(chunk));
      socket.on('error', fail);
      socket.on('close', () => fail(new Error('the server closed the connection')));
    });
  }

  #receive(chunk: Buffer): void {
    this.#received.push(chunk);
    if (!isWhole(this.#received)) return;
    const answer = Buffer.concat(this.#received).toString('latin1');
    this.#received = [];
    this.#end((waiting) => waiting.resolve(answer));
  }

  #end(tell: (waiting: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) tell(waiting);
  }
}

/** Whether an answer is complete, by its length or by the closing chunk; its head may come in several pieces. */
function isWhole(received: readonly Buffer[]): boolean {
  let head = '';
  for (let at = 0; at < received.length && !head.includes(HEAD_END); at++) head += received[at]?.toString('latin1') ?? '';
  const bodyAt = head.indexOf(HEAD_END) + HEAD_END.length;
  if (bodyAt < HEAD_END.length) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, bodyAt))?.[1];
  if (length !== undefined) return received.reduce((sum, { byteLength }) => sum + byteLength, 0) >= bodyAt + Number(length);
  return Buffer.concat(received.slice(-7)).subarray(-7).toString('latin1') === '\r\n0\r\n\r\n';
}
