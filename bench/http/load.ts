import { connect, type Socket } from 'node:net';

export interface Load {
  readonly url: string;
  /** Absent: a GET. A function makes each request's body. */
  readonly body?: string | (() => string);
  readonly headers?: Readonly<Record<string, string>>;
  /** Told some of the answers' bodies with the bodies of their requests. */
  readonly onAnswer?: (body: string, answer: string) => void;
  /** Told how long each request took, from the first byte sent to the last received. */
  readonly onTime?: (body: string, milliseconds: number) => void;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadFigure {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of this process over the time by the clock: near 1, it was the client that could not do more. */
  readonly clientLoad: number;
}

/** One answer in so many is told to `onAnswer`. */
const TOLD_EVERY = 101;

/**
 * Sends requests over so many connections, the next one of a connection when its answer is whole.
 * Written on sockets, because a client that costs as much a request as the servers do measures itself.
 * @throws Error with the first answer that is not 200
 */
export async function load({ url, body, headers = {}, connections, seconds, onAnswer, onTime }: Load): Promise<LoadFigure> {
  const { hostname, port, pathname, host } = new URL(url);
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const requests = requestsOf(`${pathname} HTTP/1.1\r\n${lines.join('')}`, body);
  const opened = await Promise.all(Array.from({ length: connections }, () => open(hostname, Number(port))));
  const latenciesMs: number[] = [];
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  await Promise.all(opened.map((socket) => repeat(socket, { requests, endMs, latenciesMs, onAnswer, onTime })));
  const elapsedMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const socket of opened) socket.destroy();
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (part: number): number => Math.round((sorted[Math.floor(sorted.length * part)] ?? Number.NaN) * 100) / 100;
  return {
    requests: sorted.length,
    requestsPerSecond: Math.round((sorted.length / elapsedMs) * 1000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    clientLoad: (user + system) / 1000 / elapsedMs,
  };
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** A request as its bytes. */
interface Request {
  readonly body: string;
  readonly bytes: Buffer;
}

function requestsOf(place: string, body: Load['body']): () => Request {
  const made = (text: string): Request => ({
    body: text,
    bytes: Buffer.from(`POST ${place}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`),
  });
  if (typeof body === 'function') return () => made(body());
  const always = body === undefined ? { body: '', bytes: Buffer.from(`GET ${place}\r\n`) } : made(body);
  return () => always;
}

interface Repeating {
  readonly requests: () => Request;
  readonly endMs: number;
  readonly latenciesMs: number[];
  readonly onAnswer: Load['onAnswer'];
  readonly onTime: Load['onTime'];
}

function repeat(socket: Socket, { requests, endMs, latenciesMs, onAnswer, onTime }: Repeating): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentMs = 0;
    let received = '';
    let request = requests();
    const send = () => {
      sentMs = performance.now();
      socket.write(request.bytes);
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed the connection')));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!isWhole(received)) return;
      const nowMs = performance.now();
      if (!received.startsWith('HTTP/1.1 200 ')) return reject(new Error(received.slice(0, 500)));
      if (latenciesMs.push(nowMs - sentMs) % TOLD_EVERY === 0) onAnswer?.(request.body, bodyOf(received));
      onTime?.(request.body, nowMs - sentMs);
      received = '';
      if (nowMs >= endMs) return resolve();
      request = requests();
      send();
    });
    send();
  });
}

/** Whether an answer is complete: by its length, or by the closing chunk. Requests are not pipelined, so nothing follows it. */
function isWhole(answer: string): boolean {
  const bodyAt = answer.indexOf('\r\n\r\n') + 4;
  if (bodyAt < 4) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer)?.[1];
  return length === undefined ? answer.endsWith('\r\n0\r\n\r\n') : answer.length >= bodyAt + Number(length);
}

/** The body of an answer that is complete. */
export function bodyOf(answer: string): string {
  const at = answer.indexOf('\r\n\r\n');
  const written = Buffer.from(answer.slice(at + 4), 'latin1').toString();
  if (!/\r\ntransfer-encoding: *chunked/i.test(answer.slice(0, at))) return written;
  let text = '';
  for (let rest = answer.slice(at + 4); ; ) {
    const end = rest.indexOf('\r\n');
    const length = Number.parseInt(rest.slice(0, end), 16);
    if (!(length > 0)) return Buffer.from(text, 'latin1').toString();
    text += rest.slice(end + 2, end + 2 + length);
    rest = rest.slice(end + 4 + length);
  }
}
