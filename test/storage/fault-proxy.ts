import { Buffer } from 'node:buffer';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Faults on the way of a request: `reset` before the server sees it, `lost` after it has answered, `cut` within the body of the
 * answer, `flip` of one bit of that body, `damage` of one bit of the body of the request, `stall` before any answer.
 */
export type Fault = number | 'reset' | 'lost' | 'cut' | 'flip' | 'damage' | 'stall';

/** A request as the choice of its fault sees it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Requests of this method that came before. */
  readonly before: number;
}

/** A proxy before a server of HTTP, which does to each request what it is told; undefined: it passes it on. */
export class FaultProxy {
  faultOf: (request: SeenRequest) => Fault | undefined = () => undefined;
  readonly seen: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #server: http.Server;

  private constructor(target: number) {
    this.#server = http.createServer((request, response) => void this.#pass(target, request, response));
  }

  static async open(target: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    await new Promise<void>((listening) => proxy.#server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Forgets what it has seen, and passes everything on. */
  reset(): void {
    this.faultOf = () => undefined;
    this.seen.length = 0;
    this.#counts.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  async #pass(port: number, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const before = this.#counts.get(method) ?? 0;
    this.#counts.set(method, before + 1);
    this.seen.push(`${method} ${url}`);
    const fault = this.faultOf({ method, path: url, headers: request.headers, before });
    const body = await bytesOf(request).catch(() => undefined);
    if (body === undefined || fault === 'stall') return;
    if (fault === 'reset') return void request.socket.destroy();
    if (typeof fault === 'number') {
      response.writeHead(fault, { 'content-type': 'application/xml' }).end('<Error><Code>Fault</Code></Error>');
      return;
    }
    const sent = fault === 'damage' ? flipped(body) : body;
    const target = http.request({ port, host: '127.0.0.1', method, path: url, headers: request.headers, agent: false });
    target.on('response', (answer) => {
      void bytesOf(answer).then((bytes) => {
        if (fault === 'lost') return void request.socket.destroy();
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        if (fault === 'cut') response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
        else response.end(fault === 'flip' ? flipped(bytes) : bytes);
      });
    });
    target.on('error', () => response.destroy());
    target.end(sent);
  }
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length >> 1;
  if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
