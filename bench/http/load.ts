import { connect, type Socket } from 'node:net';

export interface Load {
  readonly url: string;
  /** Absent: a GET. */
  readonly body?: string;
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

/**
 * Sends one request again and again over so many connections, the next one of a connection when its answer is whole.
 * Written on sockets, because a client that costs as much a request as the servers do measures itself.
 * @throws Error with the first answer that is not 200
 */
export async function load({ url, body, connections, seconds }: Load): Promise<LoadFigure> {
  const { hostname, port, pathname, host } = new URL(url);
  const head = `${body === undefined ? 'GET' : 'POST'} ${pathname} HTTP/1.1\r\nHost: ${host}\r\n`;
  const length = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  const request = Buffer.from(`${head}${length}\r\n${body ?? ''}`);
  const opened = await Promise.all(Array.from({ length: connections }, () => open(hostname, Number(port))));
  const latenciesMs: number[] = [];
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  await Promise.all(opened.map((socket) => repeat(socket, request, endMs, latenciesMs)));
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

function repeat(socket: Socket, request: Buffer, endMs: number, latenciesMs: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentMs = 0;
    let received = '';
    const send = () => {
      sentMs = performance.now();
      socket.write(request);
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed the connection')));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!isWhole(received)) return;
      const nowMs = performance.now();
      if (!received.startsWith('HTTP/1.1 200 ')) return reject(new Error(received.slice(0, 500)));
      latenciesMs.push(nowMs - sentMs);
      received = '';
      if (nowMs < endMs) send();
      else resolve();
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
