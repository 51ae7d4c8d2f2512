import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { median } from '../harness.js';
import { processorTime } from '../processor-time.js';
import type { DolmenProcess } from '../server.js';

export interface LoginOptions {
  readonly name: string;
  readonly server: DolmenProcess;
  /** Wrong passwords, half of them of users that are there. */
  readonly attempts: number;
  readonly admin: Readonly<Record<string, string>>;
}

/** Welch's t of known users' times less unknown ones', and the means of both. */
export interface Difference {
  readonly t: number;
  readonly known: number;
  readonly unknown: number;
}

export interface LoginFigures {
  readonly name: string;
  readonly statuses: Readonly<Record<string, number>>;
  /** Microseconds of the server for an attempt, by batch. */
  readonly byProcessor: Difference;
  /** Microseconds from the first byte sent to the last received, the median of each batch: what is sent together is slow together. */
  readonly byClock: Difference;
  /** Milliseconds of requests that somebody with the right password sent meanwhile. */
  readonly others: { readonly requests: number; readonly p50: number; readonly p99: number; readonly most: number };
}

const USERS = 10;
const BATCH = 50;
const CONNECTIONS = 8;
/** The slowest of each kind are left out: on a shared machine they tell of its neighbours. */
const KEPT = 0.95;

/** Tries wrong passwords of users that are there and that are not, in batches in a random order, while somebody works. */
export async function measureLogins({ name, server, attempts, admin }: LoginOptions): Promise<LoginFigures> {
  const base = `${server.url}/svc-ext/basic-security/authentication/db/basic/users`;
  const headers = { ...admin, 'Content-Type': 'application/json' };
  for (let user = 0; user < USERS; user++) {
    await must(fetch(`${base}/known_${user}`, { method: 'POST', headers }));
    await must(fetch(`${base}/known_${user}/credentials`, { method: 'POST', headers, body: '{"password":"right"}' }));
  }
  const { hostname, port } = new URL(server.url);
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(hostname, Number(port))));
  const statuses: Record<string, number> = {};
  const clock = { known: [] as number[], other: [] as number[] };
  const processor = { known: [] as number[], other: [] as number[] };
  let isOver = false;
  const others = work(server.url, headers, () => isOver);
  const pid = server.child.pid ?? 0;
  const kinds = shuffled(
    Array.from({ length: Math.floor(attempts / BATCH) }, (_, at) => (at % 2 === 0 ? 'known' : 'other') as 'known' | 'other'),
  );
  let attempt = 0;
  for (const kind of kinds) {
    const before = processorTime(pid);
    const taken: number[] = [];
    const left = Array.from({ length: BATCH }, () => `${kind}_${attempt % USERS}:wrong ${String(attempt++).padStart(8, '0')}`);
    await Promise.all(
      sockets.map(async (socket) => {
        for (let credentials = left.pop(); credentials !== undefined; credentials = left.pop()) {
          const { status, microseconds } = await send(socket, hostname, credentials);
          statuses[status] = (statuses[status] ?? 0) + 1;
          taken.push(microseconds);
        }
      }),
    );
    clock[kind].push(median(taken));
    processor[kind].push((processorTime(pid) - before) / 1000 / BATCH);
  }
  isOver = true;
  for (const socket of sockets) socket.destroy();
  const figures = { name, statuses, byProcessor: differenceOf(processor), byClock: differenceOf(clock), others: await others };
  print(figures, attempts);
  return figures;
}

function print({ name, statuses, byProcessor, byClock, others }: LoginFigures, attempts: number): void {
  const shown = ({ t, known, unknown }: Difference) => `known ${known.toFixed(1)} µs, unknown ${unknown.toFixed(1)} µs, t ${t.toFixed(2)}`;
  process.stdout.write(
    `${attempts} wrong passwords, ${name}: ${JSON.stringify(statuses)}\n  processor time: ${shown(byProcessor)}\n  by the clock: ${shown(byClock)}\n  others meanwhile: ${others.requests} requests, p50 ${others.p50.toFixed(1)} ms, p99 ${others.p99.toFixed(1)} ms, at most ${others.most.toFixed(1)} ms\n`,
  );
}

async function must(response: Promise<Response>): Promise<void> {
  const { status } = await response;
  if (status !== 200) throw new Error(`a user cannot be made: ${status}`);
}

/** Requests of somebody with the right password, one after the other. */
async function work(url: string, headers: Readonly<Record<string, string>>, isOver: () => boolean): Promise<LoginFigures['others']> {
  const taken: number[] = [];
  while (!isOver()) {
    const startMs = performance.now();
    const response = await fetch(`${url}/svc/v2/sql`, { method: 'POST', headers, body: '{"query":"SELECT 1"}' });
    await response.text();
    if (response.status !== 200) throw new Error(`somebody with the right password got ${response.status}`);
    taken.push(performance.now() - startMs);
    await wait(20);
  }
  taken.sort((a, b) => a - b);
  const at = (part: number) => taken[Math.min(taken.length - 1, Math.floor(taken.length * part))] ?? Number.NaN;
  return { requests: taken.length, p50: at(0.5), p99: at(0.99), most: at(1) };
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

function send(socket: Socket, host: string, credentials: string): Promise<{ readonly status: string; readonly microseconds: number }> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    let received = '';
    const read = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      // The body of a refusal is one object.
      if (!received.endsWith('}')) return;
      socket.off('data', read);
      resolve({ status: received.slice(9, 12), microseconds: (performance.now() - startMs) * 1000 });
    };
    socket.on('data', read);
    socket.write(`GET /status HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n\r\n`);
  });
}

function shuffled<Item>(items: Item[]): Item[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [items[at], items[other]] = [items[other] as Item, items[at] as Item];
  }
  return items;
}

function differenceOf({ known, other }: { readonly known: readonly number[]; readonly other: readonly number[] }): Difference {
  const [a, b] = [momentsOf(known), momentsOf(other)];
  return { t: (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count), known: a.mean, unknown: b.mean };
}

function momentsOf(times: readonly number[]): { readonly mean: number; readonly variance: number; readonly count: number } {
  const kept = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length * KEPT));
  const mean = kept.reduce((sum, each) => sum + each, 0) / kept.length;
  const variance = kept.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (kept.length - 1);
  return { mean, variance, count: kept.length };
}
